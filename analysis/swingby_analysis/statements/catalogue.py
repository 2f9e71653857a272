"""Every installed statement, found in the folders `statements` of experiments' packages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from swingby.errors import SwingbyError
from swingby.model import package_files, registry
from swingby.sweepfile.sweep import diagram_of, experiment_of, named_sweeps
from swingby_analysis.statements.diagram import PREFIX, Diagram
from swingby_analysis.statements.statement import Statement, statements_in

FOLDER = "statements"
"""The folder of a package that holds its statements."""


@cache
def catalogue() -> tuple[Statement, ...]:
    """Every statement, folder by folder in the order of the pages.

    Raises:
        SwingbyError: a file is wrong, or two statements have one slug.
    """
    every = [
        item
        for folder, package in package_files.homes(FOLDER)
        for item in statements_in(folder, tuple(package.experiments))
    ]
    slugs = [item.slug for item in every]
    for slug in slugs:
        if slugs.count(slug) > 1:
            raise SwingbyError(f"two statements are called {slug!r}")
    return tuple(every)


def notes(experiments: Collection[str], key: str) -> list[str]:
    """What the folders of these experiments say of themselves under a key, such as "title of figures"."""
    every = {id(item.shared): item.shared for item in catalogue() if {*item.shared.experiments} & {*experiments}}
    return [text for shared in every.values() for text in shared.notes_of(key)]


def claims(experiment: str | None = None, only: Sequence[str] = ()) -> list[Statement]:
    """The claims about an experiment (None: all), or those of these slugs.

    Raises:
        SwingbyError: nothing is claimed about it, or a slug is no claim's; with the nearest one.
    """
    every = [item for item in catalogue() if item.claims]
    experiments = _experiments(every) if experiment is not None else {}
    about = [item for item in every if experiment is None or experiment in experiments[item.slug]]
    if experiment is not None and not about:
        names = sorted(set[str]().union(*experiments.values()))
        raise SwingbyError(f"there is no claim about {experiment!r}; {registry.nearest_offered(experiment, names)}")
    known = [item.slug for item in about]
    for slug in only:
        if slug not in known:
            raise SwingbyError(f"no claim is called {slug!r}; {registry.nearest_offered(slug, known)}")
    return [item for item in about if not only or item.slug in only]


def _experiments(statements: Sequence[Statement]) -> dict[str, set[str]]:
    """By slug, the experiments that a statement's sweeps are over; a folder may offer several."""
    known = named_sweeps()
    several = {name for item in statements if len(item.shared.experiments) > 1 for name in item.sweeps}
    over = {name: experiment_of(known[name]) for name in several & known.keys()}
    return {
        item.slug: {over[name] for name in item.sweeps if name in over}
        if len(item.shared.experiments) > 1
        else {*item.shared.experiments}
        for item in statements
    }


def findings(diagram: Diagram) -> list[Statement]:
    """The findings about a diagram: those whose last sweep is the diagram's."""
    return [item for item in catalogue() if not item.claims and item.sweeps[-1] == diagram.sweep]


@cache
def every_diagram() -> tuple[Diagram, ...]:
    """The diagrams of all packages by experiment, those of one in their `order`.

    Raises:
        SwingbyError: the section `diagram` of a named sweep is wrong, or has the maps of one that is no diagram.
    """
    sections = {name: diagram_of(file) for name, file in named_sweeps().items() if name.startswith(PREFIX)}
    ordered = []
    for name, (content, section) in sections.items():
        like = section.maps_of or name
        if like not in sections:
            known = registry.nearest(like, list(sections))
            raise SwingbyError(f"{name}: diagram.maps_of: no diagram is called {like!r}; {known}")
        experiment, heading = content["experiment"], section.heading or content["title"]
        ordered.append(((experiment, section.order), Diagram(experiment, name, heading, sections[like][1].maps)))
    return tuple(diagram for _, diagram in sorted(ordered, key=lambda one: one[0]))


def diagrams(experiment: str | None = None, only: Sequence[str] = ()) -> list[Diagram]:
    """The diagrams of an experiment (None: all), or those of these names, with or without `PREFIX`.

    Raises:
        SwingbyError: it has none, or a name is no diagram's; with the nearest one.
    """
    about = [item for item in every_diagram() if experiment is None or item.experiment == experiment]
    if experiment is not None and not about:
        known = sorted({item.experiment for item in every_diagram()})
        raise SwingbyError(f"there is no diagram of {experiment!r}; {registry.nearest_offered(experiment, known)}")
    known = [item.slug for item in about]
    slugs = [name.removeprefix(PREFIX) for name in only]
    for name in slugs:
        if name not in known:
            raise SwingbyError(f"no diagram is called {name!r}; {registry.nearest_offered(name, known)}")
    return [item for item in about if not only or item.slug in slugs]
