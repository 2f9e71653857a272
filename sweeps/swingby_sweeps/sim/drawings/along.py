"""Paths along a parameter: a panel of several points' medians, for the drawing `trajectories`."""

from __future__ import annotations

from collections.abc import Sequence

from swingby.sweepfile.parameters import split
from swingby_analysis.charts import plane_rows
from swingby_analysis.charts.paths import Runs
from swingby_analysis.charts.plane_rows import Name
from swingby_analysis.charts.planes import Corner, Mark, Row, ordered_colours, planes
from swingby_analysis.grid import axis_title, plain, scalar
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.selection import Lines, along, names_of
from swingby_analysis.report.subject import indexed

from .panels import (
    BANDS,
    MARKS,
    PLACES,
    counted,
    ended_along,
    has_origin,
    panel,
    plural_steps,
    spoken_planes,
    spots,
)
from .subject import Subject

READING = (
    PLACES + BANDS + "Each band has the colour of its line. Lines: the median over the seeds at each step, coordinate "
    "by coordinate. Arrowheads, the same for all lines of a panel: " + MARKS
)


def figure_along(subject: Subject, runs: dict[int, Runs], name: str, concepts: tuple[int, int], query: Query) -> Figure:
    """A panel for every other setting, in it a line for each value of a parameter.

    Raises:
        SwingbyError: the parameter does not vary.
    """
    varying = {point: values for point, values in subject.varying.items() if point in runs}
    chosen = names_of(name, next(iter(varying.values()), {}))
    if not chosen:
        known = ", ".join(next(iter(varying.values()), {})) or "nothing"
        raise subject.cannot("trajectories", f"its lines should differ in {name!r}; what varies: {known}")
    groups = along(chosen, [axis["names"] for axis in subject.data.resolved["axes"]], varying)
    values = sorted({value for group in groups for value in group.values})
    colours = dict(zip(map(_said, values), ordered_colours(len(values)), strict=True))
    heads: list[tuple[str, str, list[str], tuple[int, int]]] = []
    rows: list[Row] = []
    for number, group in enumerate(groups):
        found, every = _lines(str(number), group, {p: runs[p].plane(*(k - 1 for k in concepts)) for p in group.points})
        title = subject.label(group.points[0], without=chosen) or "all runs"
        notes = [f"an arrowhead every {plural_steps(every)}", *ended_along(subject, group.points)]
        if any(split(one)[0] == "sigma" for one in chosen) and subject.is_variance(group.points[0]):
            notes.append("sigma is a variance")
        heads.append((str(number), title, notes, concepts))
        rows += [*found, *spots(str(number), has_origin(subject, group.points[0]))]
    panels = [panel(*head, plane_rows.shown_range(rows)) for head in heads]
    legend = [_titled(subject, chosen), "lines: median over the seeds; shaded: central half of the seeds"]
    spec = planes(panels, rows, colours, min(len(panels), 3), legend, side=300, shade=0.25).to_dict()
    caption = (
        f"The output at the test point over training in {spoken_planes([concepts])}, a line for each value of {name}: "
        f"the median over {counted(runs)} seeds a line, and the band of their central half."
    )
    return subject.figure(f"trajectories-along-{name}", f"Paths along {name}", caption, READING, spec, [query])


def _lines(key: str, group: Lines, runs: dict[int, Runs]) -> tuple[list[Corner | Mark], float]:
    medians = [plane_rows.places(runs[point].median, runs[point].step) for point in group.points]
    every = plane_rows.interval(medians)
    rows: list[Corner | Mark] = []
    for point, value, median in zip(group.points, group.values, medians, strict=True):
        name = Name(key, _said(value))
        rows += plane_rows.band(name, runs[point])
        rows += plane_rows.line(name, runs[point].median, run=point)
        rows += plane_rows.arrows(name, median, every)
    return rows, every


def _titled(subject: Subject, names: Sequence[str]) -> str:
    """What the legend calls the parameters, and each by its name."""
    titles = (
        axis_title(one, subject.data.sweep["experiment"]).replace(f"({one})", f"({indexed(one)})") for one in names
    )
    return "; ".join(titles)


def _said(value: tuple[object, ...]) -> str:
    return ", ".join(plain(scalar(part)) for part in value)
