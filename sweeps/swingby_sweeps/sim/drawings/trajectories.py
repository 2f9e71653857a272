"""The drawing `trajectories`: the output at the test point in planes of two concepts ([S] Figs 2, 5, 8-13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl
from pydantic import Field

from swingby.model import drawing, registry
from swingby.sweepfile.parameters import split
from swingby_analysis.charts import plane_rows
from swingby_analysis.charts.paths import Runs, runs_of
from swingby_analysis.charts.plane_rows import Name
from swingby_analysis.charts.planes import Corner, Mark, Row, planes
from swingby_analysis.charts.style import plasma_colours
from swingby_analysis.grid import axis_title, plain, scalar
from swingby_analysis.report.query_drawing import Drawn
from swingby_analysis.report.selection import Lines, along, names_of
from swingby_analysis.report.subject import indexed

from .panels import (
    BAND,
    BANDS,
    BUMP_SEED,
    MARKS,
    MEDIAN,
    MEDIAN_SEED,
    PARTS,
    PLACES,
    SEEDS,
    PlaneOptions,
    columns_of,
    counted,
    ended,
    ended_along,
    has_origin,
    in_rows,
    panel,
    plural_steps,
    seeds_drawn,
    spoken_planes,
    spots,
)
from .subject import MEDIAN_RUN, SimQueryDrawing, Subject

READING = (
    PLACES + BANDS + "Black: the median over the seeds at each step, coordinate by coordinate, which blurs a bend that "
    "comes at different times. Red: one run, of the median seed. Violet, where that run has no bump in its OOD loss "
    "but others have: the median seed of those. Thin: single seeds. Lines may leave the panel. Dots and arrowheads "
    "mark, for all of these lines alike, " + MARKS
)

READING_ALONG = (
    PLACES + BANDS + "Each band has the colour of its line. Lines: the median over the seeds at each step, coordinate "
    "by coordinate. Arrowheads mark, for all lines of a panel alike, " + MARKS
)


class TrajectoryOptions(PlaneOptions):
    """Options of the drawing in a sweep file."""

    along: str | None = Field(default=None, description="the lines of one panel differ in this parameter")


class Trajectories(SimQueryDrawing):
    """Paths with marks at equal times and bands over seeds."""

    name = "trajectories"
    Options = TrajectoryOptions
    sql = "paths"
    title = "Where the output goes"
    reading = READING
    empty = "no run is finished"

    def check(self, options: TrajectoryOptions, axis_names: Sequence[str]) -> Sequence[drawing.Wrong]:
        """The fault of `along` where no axis changes that parameter."""
        if options.along is None or names_of(options.along, axis_names):
            return ()
        known = [*axis_names, *{split(name)[0]: None for name in axis_names}]
        wrong = f"the lines of a panel cannot differ in {options.along!r}: no axis changes it"
        return [drawing.Wrong("along", wrong, registry.nearest(options.along, list(dict.fromkeys(known))))]

    def draw(self, rows: pl.DataFrame, subject: Subject, options: TrajectoryOptions) -> Iterator[Drawn]:
        """One chart: with `along` a panel of several lines for every other setting, else panels of single points."""
        pairs, runs = options.planes(subject, self.name), runs_of(rows, "output", "mu")
        if options.along is not None:
            yield chart_along(subject, runs, options.along, pairs[0])
            return
        heads: list[tuple[str, str, list[str], tuple[int, int]]] = []
        marks: list[Row] = []
        columns = columns_of(subject)
        for point, concepts in in_rows(list(runs), pairs, columns):
            key, seed = f"{point}:{concepts[0]}", subject.median_seed(point)
            single = {MEDIAN_SEED: seed, BUMP_SEED: subject.bump_seed(point)}
            lines, every = point_rows(key, runs[point].plane(*(k - 1 for k in concepts)), single)
            notes = [f"median seed {seed}; a mark every {plural_steps(every)}"]
            notes += [subject.bumps_in_words(point), *ended(subject, point)]
            heads.append((key, subject.label(point) or "all runs", notes, concepts))
            marks += [*lines, *spots(key, has_origin(subject, point))]
        panels = [panel(*head, plane_rows.shown_range(marks)) for head in heads]
        caption = (
            f"The output at the test point over training, in {spoken_planes(pairs)}, {seeds_drawn(runs)}. {MEDIAN_RUN}"
        )
        yield Drawn(planes(panels, marks, PARTS, columns), caption)


def point_rows(key: str, runs: Runs, shown: Mapping[str, int | None]) -> tuple[list[Corner | Mark], float]:
    """The rows of one point's runs in a plane, and the interval of its marks.

    Args:
        shown: names of single runs in the legend -> their seeds.
    """
    median = plane_rows.places(runs.median, runs.step)
    single = {name: runs.of(seed) for name, seed in shown.items() if seed is not None}
    every = plane_rows.interval([median, *(plane_rows.places(path, runs.step) for path in single.values())])
    rows: list[Corner | Mark] = [
        *plane_rows.band(Name(key, BAND), runs),
        *plane_rows.thin(Name(key, SEEDS), runs),
        *plane_rows.line(Name(key, MEDIAN), runs.median),
        *plane_rows.dots(Name(key, MEDIAN), median, every),
    ]
    for name, path in reversed(single.items()):
        rows += plane_rows.line(Name(key, name), path)
        rows += plane_rows.arrows(Name(key, name), plane_rows.places(path, runs.step), every)
    return rows, every


def chart_along(subject: Subject, runs: dict[int, Runs], name: str, concepts: tuple[int, int]) -> Drawn:
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
    colours = dict(zip(map(_value_text, values), plasma_colours(len(values)), strict=True))
    heads: list[tuple[str, str, list[str], tuple[int, int]]] = []
    rows: list[Row] = []
    for number, group in enumerate(groups):
        lines, every = _lines(str(number), group, {p: runs[p].plane(*(k - 1 for k in concepts)) for p in group.points})
        title = subject.label(group.points[0], without=chosen) or "all runs"
        notes = [f"an arrowhead every {plural_steps(every)}", *ended_along(subject, group.points)]
        if any(split(one)[0] == "sigma" for one in chosen) and subject.is_variance(group.points[0]):
            notes.append("sigma is a variance")
        heads.append((str(number), title, notes, concepts))
        rows += [*lines, *spots(str(number), has_origin(subject, group.points[0]))]
    panels = [panel(*head, plane_rows.shown_range(rows)) for head in heads]
    titles = [
        axis_title(one, subject.data.sweep["experiment"]).replace(f"({one})", f"({indexed(one)})") for one in chosen
    ]
    legend = ["; ".join(titles), "lines: median over the seeds; shaded: central half of the seeds"]
    chart = planes(panels, rows, colours, min(len(panels), 3), legend, side=300, shade=0.25)
    caption = (
        f"The output at the test point over training in {spoken_planes([concepts])}, a line for each value of {name}: "
        f"the median over the {counted(runs)} seeds of each line, and the band of their central half."
    )
    return Drawn(chart, caption, f"Paths along {name}", READING_ALONG, f"trajectories-along-{name}")


def _lines(key: str, group: Lines, runs: dict[int, Runs]) -> tuple[list[Corner | Mark], float]:
    """The rows of one panel's lines, and the interval of their arrowheads in steps."""
    medians = [plane_rows.places(runs[point].median, runs[point].step) for point in group.points]
    every = plane_rows.interval(medians)
    rows: list[Corner | Mark] = []
    for point, value, median in zip(group.points, group.values, medians, strict=True):
        name = Name(key, _value_text(value))
        rows += plane_rows.band(name, runs[point])
        rows += plane_rows.line(name, runs[point].median, run=point)
        rows += plane_rows.arrows(name, median, every)
    return rows, every


def _value_text(value: tuple[object, ...]) -> str:
    """Values of the parameters in which lines differ, as the legend names them."""
    return ", ".join(plain(scalar(part)) for part in value)
