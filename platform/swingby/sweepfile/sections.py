"""The sections of a sweep file: seeds, recording, diagram, drawings and outcome."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.cell import SeedMode
from swingby.model.columns import scalar_outcomes
from swingby.model.experiment import Experiment, Recording, Spacing
from swingby.sweepfile.refinement import RefineSection, labelled_in
from swingby.sweepfile.yaml import Document, Path, shown


@dataclass(frozen=True)
class Diagram:
    """The diagram a sweep asks for.

    Attributes:
        x: an axis of the sweep.
        y: another one; without it a line is drawn instead of a map.
        outcome: the outcome that is drawn: one of a detector or of the sweep file, or a scalar of the experiment.
        facet: an axis whose every value gets a panel of its own.
        title: the heading.
    """

    x: str
    y: str | None
    outcome: str
    facet: str | None = None
    title: str | None = None


@dataclass(frozen=True)
class Drawn:
    """A drawing a sweep asks for: its name, and the options that are set, as plain values."""

    name: str
    options: Mapping[str, Any]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class _Seeds(_Section):
    count: int = Field(1, ge=1, le=10_000_000, description="how many seeds")
    first: int = Field(0, ge=0, le=2**62, description="the first of them")
    mode: SeedMode = Field(
        "common",
        description="common: points share a seed's random draws, so that diagrams are smooth and errors correlated; "
        "independent: each point has draws of its own",
    )


class _Record(_Section):
    steps: Spacing | None = Field(
        None,
        description="spacing of the recorded steps: all, what a function records (its default, unless points are "
        "set); log, every step at first (the default of other experiments); sqrt, from a fortieth of the run on; "
        "epoch, the start of each epoch; every",
    )
    points: int = Field(200, ge=2, le=1_000_000, description="about how many recorded steps, for log and sqrt")
    entries: int = Field(
        2000, ge=64, le=1_000_000, description="the most entries a curve has under all; longer ones are thinned"
    )
    also: list[str] = Field([], description="the experiment's recordings on request")


class _Resources(_Section):
    cpus: int | None = Field(
        None, ge=1, le=4096, description="CPUs, and so threads of torch; null: as the experiment declares"
    )
    gpus: float | None = Field(
        None,
        ge=0,
        le=4096,
        description="GPUs of a process: a part of one, such as 0.125 where eight runs share it, or a whole number; "
        "null: as the experiment declares, and on device cuda as many runs share one as its memory and a measured "
        "gain allow (with several processes a run, a whole one each)",
    )


class DiagramMap(_Section):
    """One map of a diagram on the page of findings."""

    outcome: str = Field(description="what is drawn at each point; of a share also a form of `refine.outcome`")
    drawn: Literal["share", "category", "median", "mean"] = Field(
        description="the share of the seeds, the most common category, or the median or mean of a number"
    )
    title: str = Field(description="heading of the map")
    legend: str = Field("", description="what the legend calls it; none: the outcome's own name")
    reading: str = Field("", description="how to read it, in place of the usual words")
    where: str = Field("", description="of which runs, as SQL over their outcomes; none: of all")
    ticks: list[float] = Field(
        [], description="of a median whose colours are those of its logarithm, from the first to the last"
    )
    fewest: int = Field(1, ge=1, description="runs from which on a point has a number")


class DiagramSection(_Section):
    """The keys of `diagram`."""

    x: str = Field(description="axis from left to right")
    y: str | None = Field(None, description="axis from bottom to top; without it the diagram is a line")
    outcome: str = Field(
        description="what is drawn: one of `outcomes`, an outcome of a detector, or a scalar of the experiment"
    )
    facet: str | None = Field(None, description="axis whose every value gets a panel of its own")
    title: str | None = Field(None, description="heading of the diagram")
    heading: str | None = Field(None, description="heading on the page of findings; none: the sweep's title")
    order: int = Field(0, ge=0, description="place among the experiment's diagrams on that page")
    maps: list[DiagramMap] = Field(
        [],
        description=f"its maps on that page, in order, each with the keys {', '.join(DiagramMap.model_fields)}",
    )
    maps_of: str | None = Field(None, description="a named sweep whose `maps` it has; none: its own")


SECTIONS: Mapping[str, type[BaseModel]] = {
    "seeds": _Seeds,
    "resources": _Resources,
    "record": _Record,
    "diagram": DiagramSection,
    "refine": RefineSection,
}
"""The keys of a sweep file that take a mapping, with its keys."""


TAG = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")


def read_tags(document: Document) -> tuple[str, ...]:
    """The tags, each once; those with a fault are left out."""
    tags = document.value.get("tags")
    if tags is None:
        return ()
    if not isinstance(tags, list):
        document.fault(("tags",), f"tags must be a list of words, got {shown(tags)}", "such as tags: [width, long]")
        return ()
    for index, tag in enumerate(tags):
        if not isinstance(tag, str) or not TAG.fullmatch(tag):
            rule = "allowed: up to 64 letters, digits, _, - and ., such as tags: [width, long]"
            document.fault(("tags", index), f"{shown(tag)} is no tag", rule)
        elif tag in tags[:index]:
            document.fault(("tags", index), f"tag {tag!r} is given twice")
    return tuple(tag for tag in tags if isinstance(tag, str))


def read_seeds(document: Document) -> tuple[Sequence[int], SeedMode]:
    """The seeds: a count, a list, or {count, first, mode}; empty where there is a fault."""
    values = document.value.get("seeds", 1)
    if isinstance(values, list):
        if not values:
            document.fault(("seeds",), "no seeds", "give at least one")
        seen: set[int] = set()
        for index, seed in enumerate(values):
            if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
                document.fault(("seeds", index), f"{shown(seed)} is no seed", "allowed: integers from 0 on")
                continue
            if seed in seen:
                document.fault(("seeds", index), f"seed {seed} is given twice")
            seen.add(seed)
        return tuple(values), "common"
    if isinstance(values, int) and not isinstance(values, bool):
        values = {"count": values}
    seeds = document.read(("seeds",), values, _Seeds)
    if seeds is None:
        return (), "common"
    return range(seeds.first, seeds.first + seeds.count), seeds.mode


def read_resources(document: Document) -> Mapping[str, float]:
    """The resources that the file sets, by the names of `Resources`; empty where there is a fault."""
    resources = document.read(("resources",), document.value.get("resources") or {}, _Resources)
    if resources is None:
        return {}
    gpus = resources.gpus or 0.0
    if (gpus > 1 and gpus != int(gpus)) or 0 < gpus < 1e-4:
        rule = "allowed: a part of one GPU, such as 0.5 (0.0001 is Ray's least), or a whole number of them"
        document.fault(("resources", "gpus"), f"no process has {gpus:g} GPUs", rule)
    return {name: float(value) for name, value in resources.model_dump(exclude_none=True).items()}


def read_recording(document: Document, experiment: Experiment | None) -> Recording:
    """The recording that a sweep asks for; its names are checked against those of the experiment, if it is known."""
    record = document.read(("record",), document.value.get("record") or {}, _Record)
    if record is None:
        return Recording()
    known = list(experiment.recordings) if experiment is not None else record.also
    for index, name in enumerate(record.also):
        if name not in known:
            document.fault(("record", "also", index), f"unknown recording {name!r}", registry.nearest(name, known))
    functions = experiment is not None and experiment.keeps_all
    fields = record.model_fields_set
    steps = record.steps or ("all" if functions and "points" not in fields else "log")
    if steps == "all" and experiment is not None and not functions:
        allowed = "allowed: " + ", ".join(name for name in get_args(Spacing) if name != "all")
        document.fault(("record", "steps"), f"{experiment.name} does not say itself when it records", allowed)
    if steps != "all" and "entries" in fields:
        document.fault(("record", "entries"), f"entries are of steps: all, and steps is {steps}", "points: how many")
    return Recording(steps, record.points, tuple(record.also), entries=record.entries)


def read_diagram(
    document: Document, experiment: Experiment | None, axes: list[str], outcomes: Mapping[str, str]
) -> Diagram | None:
    """The diagram, its axes checked against the sweep's, its outcome against those that there are.

    Args:
        outcomes: those that the file writes itself.
    """
    if document.value.get("diagram") is None:
        return None
    diagram = document.read(("diagram",), document.value["diagram"], DiagramSection)
    if diagram is None:
        return None
    drawn: dict[str, str] = {}
    for key in ("x", "y", "facet"):
        name = getattr(diagram, key)
        if name is not None and name not in axes:
            document.fault(("diagram", key), f"{name!r} is no axis of this sweep", registry.nearest(name, axes))
        elif name in drawn:
            document.fault(("diagram", key), f"{name!r} is {drawn[name]} already", "give x, y and facet an axis each")
        if name is not None:
            drawn.setdefault(name, key)
    if experiment is not None:
        _known_outcome(document, experiment, diagram.outcome, ("diagram", "outcome"), outcomes)
        _check_maps(document, experiment, diagram.maps, outcomes)
    if diagram.maps and diagram.maps_of is not None:
        document.fault(("diagram", "maps_of"), "maps_of stands beside maps", "drop one of the two")
    return Diagram(diagram.x, diagram.y, diagram.outcome, diagram.facet, diagram.title)


def _check_maps(
    document: Document, experiment: Experiment, maps: Sequence[DiagramMap], outcomes: Mapping[str, str]
) -> None:
    """Notes a fault for each map whose outcome is unknown, or is none that a share is of."""
    for index, one in enumerate(maps):
        path: Path = ("diagram", "maps", index, "outcome")
        if one.drawn != "share":
            _known_outcome(document, experiment, one.outcome, path, outcomes)
            continue
        try:
            labelled_in(one.outcome, experiment, outcomes)
        except SwingbyError as error:
            message, _, hint = str(error).partition("; ")
            document.fault(path, message, hint or None)


def read_outcome(
    document: Document, experiment: Experiment | None, diagram: Diagram | None, outcomes: Collection[str] = ()
) -> str | None:
    """The outcome that a report without a diagram sums up; None for none, or with the fault noted."""
    outcome = document.value.get("outcome")
    if outcome is None or experiment is None:
        return None
    if diagram is not None:
        document.fault(
            ("outcome",), "outcome stands beside a diagram", "the diagram's own outcome is summed up: drop one"
        )
    elif not isinstance(outcome, str):
        document.fault(("outcome",), f"outcome must be text, got {shown(outcome)}")
    else:
        _known_outcome(document, experiment, outcome, ("outcome",), outcomes)
        return outcome
    return None


def _known_outcome(
    document: Document, experiment: Experiment, outcome: str, path: Path, outcomes: Collection[str]
) -> None:
    """Notes a fault where an outcome is none of the sweep file's, of a detector's, and no scalar of the experiment."""
    if outcome in (document.value.get("outcomes") or ()) and outcome not in outcomes:
        return  # its own fault is noted
    try:
        detected = [kind for detector in registry.detectors_for(experiment.name) for kind in detector.kinds]
        known = [*outcomes, *detected, *scalar_outcomes(experiment)]
    except SwingbyError as error:
        document.fault(path, f"outcomes are not known: {error}")
        return
    if outcome not in known and not getattr(experiment, "discovers", False):
        broken = registry.broken_detectors(experiment.name).values()
        document.fault(path, f"unknown outcome {outcome!r}", registry.nearest_offered(outcome, known, broken))


def read_drawings(
    document: Document, experiment: Experiment | None, recording: Recording, axes: Sequence[str]
) -> tuple[Drawn, ...]:
    """The drawings: a list of names, or of mappings from one name to its options."""
    items = document.value.get("drawings")
    if items is None:
        return ()
    if not isinstance(items, list):
        wrong = f"drawings must be a list of names, got {shown(items)}"
        document.fault(("drawings",), wrong, "such as drawings: [losses, {paths: {along: width}}]")
        return ()
    read = [_drawn(document, index, item, experiment, recording, axes) for index, item in enumerate(items)]
    return tuple(drawn for drawn in read if drawn is not None)


def _drawn(
    document: Document, index: int, item: Any, experiment: Experiment | None, recording: Recording, axes: Sequence[str]
) -> Drawn | None:
    path: Path = ("drawings", index)
    name, options = next(iter(item.items())) if isinstance(item, dict) and len(item) == 1 else (item, {})
    known = list(registry.offered(registry.DRAWINGS))
    if not isinstance(name, str) or name not in known:
        document.fault(path, f"unknown drawing {shown(name)}", registry.nearest_offered(str(name), known))
        return None
    try:
        drawing = registry.drawing(name)
    except SwingbyError as error:
        document.fault(path, str(error))
        return None
    if experiment is not None and experiment.name not in drawing.experiments:
        document.fault(
            path, f"drawing {name!r} is not for {experiment.name}", f"it is for {', '.join(drawing.experiments)}"
        )
    for lacking in (needed for needed in drawing.recordings if needed not in recording.also):
        document.fault(
            path, f"drawing {name!r} needs the recording {lacking!r}", f"write record: {{also: [{lacking}]}}"
        )
    place = (*path, name) if isinstance(item, dict) else path
    checked = document.read(place, options or {}, drawing.Options)
    if checked is None:
        return None
    for option, message, hint in drawing.check(checked, axes):
        document.fault((*place, option), message, hint)
    return Drawn(name, checked.model_dump(mode="json"))


def axis_names(axes: Mapping[str, Any]) -> list[str]:
    """The names of all axes as written, those that advance together included."""
    zipped = axes.get("zip")
    inner = [name for item in zipped if isinstance(item, dict) for name in item] if isinstance(zipped, list) else []
    return [*(name for name in axes if name != "zip"), *inner]
