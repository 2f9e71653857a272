"""The drawing `trajectories`: the output at the test point in planes of two concepts ([S] Figs 2, 5, 8-13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from swingby.model import drawing, registry
from swingby.sweepfile.parameters import split
from swingby_analysis.charts import marks, plane_lines
from swingby_analysis.charts.paths import Runs, runs_of
from swingby_analysis.charts.plane_lines import Name
from swingby_analysis.charts.planes import BAND, BUMP_SEED, MEDIAN, MEDIAN_SEED, PARTS, SEEDS, Corner, Mark, Row, planes
from swingby_analysis.query import Query
from swingby_analysis.report.page import Figure
from swingby_analysis.report.selection import names_of
from swingby_analysis.report.subject import MEDIAN_RUN, Subject

from .along import figure_along
from .panels import (
    BANDS,
    MARKS,
    PLACES,
    PlaneOptions,
    columns_of,
    ended,
    in_rows,
    panel,
    plane_of,
    plural_steps,
    seeds_drawn,
    spoken_planes,
    spots,
)

READING = (
    PLACES + BANDS + "Black: the median over the seeds at each step, coordinate by coordinate, which blurs a bend that "
    "comes at different times. Red: one run, of the median seed. Violet, where that run has no bump in its OOD loss "
    "but others have: the median seed of those. Thin: single seeds. Lines may leave the panel. Dots and arrowheads, "
    "the same for all of these: " + MARKS
)


class TrajectoryOptions(PlaneOptions):
    """What a sweep file may set."""

    along: str | None = Field(None, description="the lines of one panel differ in this parameter")


class Trajectories(drawing.Drawing):
    """Paths with marks at equal times and bands over seeds."""

    name: ClassVar[str] = "trajectories"
    experiments: ClassVar[tuple[str, ...]] = ("sim",)
    Options: ClassVar[type[drawing.Options]] = TrajectoryOptions

    def check(self, options: TrajectoryOptions, axis_names: Sequence[str]) -> Sequence[drawing.Wrong]:
        """Lines can differ only in what an axis changes."""
        if options.along is None or names_of(options.along, axis_names):
            return ()
        known = [*axis_names, *{split(name)[0]: None for name in axis_names}]
        wrong = f"the lines of a panel cannot differ in {options.along!r}: no axis changes it"
        return [drawing.Wrong("along", wrong, registry.nearest(options.along, list(dict.fromkeys(known))))]

    def figures(self, subject: Subject, options: TrajectoryOptions) -> Sequence[Figure]:
        """One figure: with `along` a panel of several lines for every other setting, else panels of single points."""
        asked, query = options.planes(subject, self.name), Query("paths", (subject.sweep_id,))
        runs = runs_of(subject.ask(query), "output")
        if options.along is None:
            return [_single(subject, runs, asked, query)]
        return [figure_along(subject, runs, options.along, asked[0], query)]


def _single(subject: Subject, runs: dict[int, Runs], asked: Sequence[tuple[int, int]], query: Query) -> Figure:
    heads: list[tuple[str, str, list[str], tuple[int, int]]] = []
    rows: list[Row] = []
    columns = columns_of(subject)
    for point, concepts in in_rows(list(runs), asked, columns):
        key, seed, plane = f"{point}:{concepts[0]}", subject.median_seed(point), plane_of(subject, point, concepts)
        own = {MEDIAN_SEED: seed, BUMP_SEED: subject.bump_seed(point)}
        found, every = point_rows(key, runs[point].plane(*(k - 1 for k in concepts)), own)
        told = [subject.told_bumps(point), *ended(subject, point)]
        notes = [f"median seed {seed}; a mark every {plural_steps(every)}", *told]
        heads.append((key, subject.label(point) or "all runs", notes, concepts))
        rows += [*found, *spots(key, plane)]
    panels = [panel(*head, plane_lines.shown_range(rows)) for head in heads]
    spec = planes(panels, rows, PARTS, columns).to_dict()
    caption = (
        f"The output at the test point over training, in {spoken_planes(asked)}, {seeds_drawn(runs)}. {MEDIAN_RUN}"
    )
    return subject.figure("trajectories", "Where the output goes", caption, READING, spec, [query])


def point_rows(key: str, runs: Runs, shown: Mapping[str, int | None]) -> tuple[list[Corner | Mark], float]:
    """The rows of one point's runs in a plane, and the interval of its marks.

    Args:
        shown: what the legend calls single runs -> their seed.
    """
    median = plane_lines.places(runs.median, runs.step)
    single = {name: runs.of(seed) for name, seed in shown.items() if seed is not None}
    every = marks.interval([median, *(plane_lines.places(path, runs.step) for path in single.values())])
    rows: list[Corner | Mark] = [
        *plane_lines.band(Name(key, BAND), runs),
        *plane_lines.thin(Name(key, SEEDS), runs),
        *plane_lines.line(Name(key, MEDIAN), runs.median),
        *marks.dots(Name(key, MEDIAN), median, every),
    ]
    for name, path in reversed(single.items()):
        rows += plane_lines.line(Name(key, name), path)
        rows += marks.arrows(Name(key, name), plane_lines.places(path, runs.step), every)
    return rows, every
