"""The drawing `trajectories`: the output at the test point in planes of two concepts ([S] Figs 2, 5, 8-13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from swingby.model import drawing, registry
from swingby.sweepfile.parameters import split
from swingby_analysis.charts import plane_rows
from swingby_analysis.charts.paths import Runs, runs_of
from swingby_analysis.charts.plane_rows import Name
from swingby_analysis.charts.planes import Corner, Mark, Row, planes
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.selection import names_of

from .along import figure_along
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
    ended,
    has_origin,
    in_rows,
    panel,
    plural_steps,
    seeds_drawn,
    spoken_planes,
    spots,
)
from .subject import MEDIAN_RUN, SQL, SimDrawing, Subject

READING = (
    PLACES + BANDS + "Black: the median over the seeds at each step, coordinate by coordinate, which blurs a bend that "
    "comes at different times. Red: one run, of the median seed. Violet, where that run has no bump in its OOD loss "
    "but others have: the median seed of those. Thin: single seeds. Lines may leave the panel. Dots and arrowheads, "
    "the same for all of these: " + MARKS
)


class TrajectoryOptions(PlaneOptions):
    """What a sweep file may set."""

    along: str | None = Field(None, description="the lines of one panel differ in this parameter")


class Trajectories(SimDrawing):
    """Paths with marks at equal times and bands over seeds."""

    name: ClassVar[str] = "trajectories"
    Options: ClassVar[type[drawing.Options]] = TrajectoryOptions

    def check(self, options: TrajectoryOptions, axis_names: Sequence[str]) -> Sequence[drawing.Wrong]:
        """Lines can differ only in what an axis changes."""
        if options.along is None or names_of(options.along, axis_names):
            return ()
        known = [*axis_names, *{split(name)[0]: None for name in axis_names}]
        wrong = f"the lines of a panel cannot differ in {options.along!r}: no axis changes it"
        return [drawing.Wrong("along", wrong, registry.nearest(options.along, list(dict.fromkeys(known))))]

    def draw(self, subject: Subject, options: TrajectoryOptions) -> Sequence[Figure]:
        """One figure: with `along` a panel of several lines for every other setting, else panels of single points."""
        asked, query = options.planes(subject, self.name), Query("paths", (subject.sweep_id,), SQL)
        runs = runs_of(subject.ask(query), "output", "mu")
        if options.along is None:
            return [_single(subject, runs, asked, query)]
        return [figure_along(subject, runs, options.along, asked[0], query)]


def _single(subject: Subject, runs: dict[int, Runs], asked: Sequence[tuple[int, int]], query: Query) -> Figure:
    heads: list[tuple[str, str, list[str], tuple[int, int]]] = []
    rows: list[Row] = []
    columns = columns_of(subject)
    for point, concepts in in_rows(list(runs), asked, columns):
        key, seed = f"{point}:{concepts[0]}", subject.median_seed(point)
        own = {MEDIAN_SEED: seed, BUMP_SEED: subject.bump_seed(point)}
        found, every = point_rows(key, runs[point].plane(*(k - 1 for k in concepts)), own)
        told = [subject.bumps_in_words(point), *ended(subject, point)]
        notes = [f"median seed {seed}; a mark every {plural_steps(every)}", *told]
        heads.append((key, subject.label(point) or "all runs", notes, concepts))
        rows += [*found, *spots(key, has_origin(subject, point))]
    panels = [panel(*head, plane_rows.shown_range(rows)) for head in heads]
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
