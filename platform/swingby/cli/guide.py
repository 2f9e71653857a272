"""The verb `list`: what installed packages offer, a line each."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, NamedTuple

import typer

from swingby.cli.console import say, tell
from swingby.errors import SwingbyError
from swingby.model import package_files, registry
from swingby.model.broken import Broken
from swingby.text import first_sentence


class Kind(StrEnum):
    """A kind of things that packages offer."""

    experiments = "experiments"
    sweeps = "sweeps"
    detectors = "detectors"
    drawings = "drawings"


class Listed(NamedTuple):
    """One thing that a package offers: its name, a title of one line, the package, and its tags."""

    name: str
    title: str
    package: str
    tags: tuple[str, ...] = ()


def offers(
    kind: Annotated[Kind | None, typer.Argument(help="What to list; without it, all four.", show_default=False)] = None,
    tag: Annotated[str | None, typer.Option(help="Only sweeps with this tag in their file.")] = None,
) -> None:
    """Lists the experiments, named sweeps, detectors and drawings that are installed: name, title and package.

    Example:

        swingby list sweeps
    """
    if tag is not None:
        if kind not in (None, Kind.sweeps):
            raise SwingbyError(f"--tag is for sweeps; {kind} have no tags")
        kind = Kind.sweeps
    for one in Kind if kind is None else (kind,):
        listed = sorted(_sweeps() if one is Kind.sweeps else _parts(one))
        if tag is not None:
            known = sorted({each for item in listed for each in item.tags})
            listed = [item for item in listed if tag in item.tags]
            if not listed:
                raise SwingbyError(f"no named sweep has the tag {tag!r}; {registry.nearest(tag, known)}")
        if kind is None:
            say(f"{one}:")
        margin = "  " if kind is None else ""
        widest = max((len(item.name) for item in listed), default=0)
        for item in listed:
            tags = f" [{', '.join(item.tags)}]" if item.tags else ""
            say(f"{margin}{item.name:<{widest}}  {item.title} ({item.package}){tags}", widest + 2)
        if not listed:
            say(f"{margin}none is installed")


def _parts(kind: Kind) -> Iterator[Listed]:
    """Experiments, detectors or drawings, each with the first sentence of its class; broken ones are told."""
    group = {Kind.experiments: registry.EXPERIMENTS, Kind.detectors: registry.DETECTORS}.get(kind, registry.DRAWINGS)
    for name, offer in registry.offered(group).items():
        part = registry.sound(group, name)
        if not isinstance(part, Broken):
            yield Listed(name, first_sentence(part.__doc__), registry.package_of(offer))


def _sweeps() -> Iterator[Listed]:
    """Named sweeps, each with the title in its file; a file that cannot be read is told and left out."""
    from swingby.sweepfile.sweep import named_sweeps
    from swingby.sweepfile.yaml import read_yaml

    for name, file in named_sweeps().items():
        try:
            document = read_yaml(file.read_text(encoding="utf-8-sig"), str(file))
        except (OSError, UnicodeDecodeError):
            document = None
        if document is None or not isinstance(document.value, dict):
            tell(f"warning: {file} is no sweep file; `swingby validate {file}` says why")
            continue
        tags = document.value.get("tags")
        yield Listed(
            name,
            " ".join(str(document.value.get("title") or "").split()),
            package_files.package_of_file(file),
            tuple(map(str, tags)) if isinstance(tags, list) else (),
        )
