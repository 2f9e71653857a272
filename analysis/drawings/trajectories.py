"""The drawing `trajectories`: the output at the test point in planes of two concepts ([S] Figs 2, 5, 8-13)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from analysis.charts.grid import plain
from analysis.charts.planes import (
    BAND,
    MEDIAN,
    MEDIAN_SEED,
    PARTS,
    SEEDS,
    Corner,
    Mark,
    Panel,
    Row,
    Spot,
    ordered_colours,
    planes,
)
from analysis.charts.trajectory import Plane, landmarks
from analysis.drawings import lines
from analysis.drawings.lines import Name
from analysis.drawings.paths import Runs, runs_of
from analysis.drawings.selection import Lines, along, names_of
from analysis.drawings.subject import MEDIAN_RUN, Subject
from analysis.report.grid import axis_title, scalar
from analysis.report.page import Figure
from analysis.report.prose import plural
from analysis.report.queries import Query
from swingby import drawing

PLACES = (
    "The output at the test point, each concept in units of its own mu, so that the right answer is (1, 1) in every "
    "panel (diamond); the centres of the training clusters are squares. "
)
BANDS = (
    "Shaded: the region that the paths of the central half of the seeds run through, those that lie nearest to all "
    "others, whenever they pass; it is their spread and not a confidence interval, and gaps below 0.16 are filled. "
)
READING_ALONG = (
    PLACES + BANDS + "Lines: the median over the seeds at each step, coordinate by coordinate. Arrowheads: equal "
    "intervals of training steps, the same for all lines of a panel, so that arrowheads far apart mean fast, and dense "
    "ones that the learning slows down; there are none once a line is at rest."
)
READING = (
    PLACES + BANDS + "Black: the median over the seeds at each step, coordinate by coordinate, which blurs a bend that "
    "comes at different times. Red: one run, of the median seed. Dots and arrowheads: equal intervals of training "
    "steps, the same for both, so that marks far apart mean fast. Thin: single seeds. Lines may leave the panel."
)


class PlaneOptions(drawing.Options):
    """Which concepts span the panels."""

    plane: Annotated[tuple[int, int] | None, BeforeValidator(lambda v: tuple(v) if isinstance(v, list) else v)] = Field(
        None, description="two concepts, counted from 1; without it every two neighbours, or with along the first two"
    )

    def planes(self, subject: Subject, name: str) -> list[tuple[int, int]]:
        """The planes that are drawn.

        Raises:
            SwingbyError: the sweep has no such plane.
        """
        concepts = min(subject.cells["s"].to_list())
        asked = [self.plane] if self.plane else [(k, k + 1) for k in range(1, concepts)]
        if not asked or not all(1 <= k <= concepts for k in asked[0]) or asked[0][0] == asked[0][1]:
            raise subject.cannot(name, f"a plane takes two different concepts from 1 to {concepts}")
        return asked


class TrajectoryOptions(PlaneOptions):
    """What a sweep file may set."""

    along: str | None = Field(None, description="the lines of one panel differ in this parameter")


class Trajectories(drawing.Drawing):
    """Paths with marks at equal times and bands over seeds."""

    name: ClassVar[str] = "trajectories"
    experiments: ClassVar[tuple[str, ...]] = ("sim",)
    Options: ClassVar[type[drawing.Options]] = TrajectoryOptions

    def figures(self, subject: Subject, options: TrajectoryOptions) -> Sequence[Figure]:
        """One figure: with `along` a panel of several lines for every other setting, else panels of single points."""
        asked, query = options.planes(subject, self.name), Query("paths", (subject.sweep_id,))
        runs = runs_of(subject.ask(query), "output")
        if options.along is None:
            return [_single(subject, runs, asked, query)]
        return [_along(subject, runs, options.along, asked[0], query)]


def plane_of(subject: Subject, point: int, concepts: tuple[int, int]) -> Plane:
    """The plane, with a training cluster drawn at the origin where one lies there, or is seen there."""
    own = subject.runs(point).row(0, named=True)
    return Plane(*concepts, origin=bool(own["zero_cluster"]) or own["s"] > 2)


def panel(key: str, title: str, notes: Sequence[str], concepts: tuple[int, int], shown: tuple[float, float]) -> Panel:
    """A panel in units of mu."""
    x, y = (f"output along concept {k}, over mu" for k in concepts)
    return Panel(key, title, tuple(notes), x, y, shown, shown)


def spots(key: str, plane: Plane) -> list[Spot]:
    """The landmarks of a plane in units of mu."""
    kinds = {"training": "centre", "test point": "target"}
    return [Spot(key, kinds[row["what"]], row["what"], row["x"], row["y"]) for row in landmarks(plane)]


def _single(subject: Subject, runs: dict[int, Runs], asked: Sequence[tuple[int, int]], query: Query) -> Figure:
    heads: list[tuple[str, str, list[str], tuple[int, int]]] = []
    rows: list[Row] = []
    columns = columns_of(subject)
    for point, concepts in in_rows(list(runs), asked, columns):
        key, seed, plane = f"{point}:{concepts[0]}", subject.median_seed(point), plane_of(subject, point, concepts)
        found, every = point_rows(key, runs[point].plane(*(k - 1 for k in concepts)), seed)
        notes = [f"median seed {seed}; a mark every {plural_steps(every)}", *ended(subject, point)]
        heads.append((key, subject.label(point) or "all runs", notes, concepts))
        rows += [*found, *spots(key, plane)]
    panels = [panel(*head, lines.shown_range(rows)) for head in heads]
    spec = planes(panels, rows, PARTS, columns).to_dict()
    caption = (
        f"The output at the test point over training, in {spoken_planes(asked)}, {seeds_drawn(runs)}. {MEDIAN_RUN}"
    )
    return subject.figure("trajectories", "Where the output goes", caption, READING, spec, [query])


def columns_of(subject: Subject) -> int:
    """Panels in a row: the last axis of the sweep side by side, if they are not too many."""
    counts = [len(axis["values"]) for axis in subject.data.resolved["axes"] if len(axis["values"]) > 1] or [1]
    return counts[-1] if counts[-1] <= 3 else (2 if counts == [4] else 3 + (counts[-1] % 4 == 0))


def in_rows(
    points: Sequence[int], asked: Sequence[tuple[int, int]], columns: int
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Points side by side, and under each other the planes of the same points."""
    for start in range(0, len(points), columns):
        for plane in asked:
            yield from ((point, plane) for point in points[start : start + columns])


def point_rows(key: str, runs: Runs, seed: int) -> tuple[list[Corner | Mark], float]:
    """The rows of one point's runs in a plane, and the interval of its marks."""
    median, own = lines.places(runs.median, runs.step), lines.places(runs.of(seed), runs.step)
    every = lines.interval([median, own])
    rows: list[Corner | Mark] = [
        *lines.band(Name(key, BAND), runs),
        *lines.thin(Name(key, SEEDS), runs),
        *lines.line(Name(key, MEDIAN), runs.median),
        *lines.line(Name(key, MEDIAN_SEED), runs.of(seed)),
        *lines.dots(Name(key, MEDIAN), median, every),
        *lines.arrows(Name(key, MEDIAN_SEED), own, every),
    ]
    return rows, every


def _along(subject: Subject, runs: dict[int, Runs], name: str, concepts: tuple[int, int], query: Query) -> Figure:
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
        plane = plane_of(subject, group.points[0], concepts)
        title = subject.label(group.points[0], without=chosen) or "all runs"
        heads.append((str(number), title, [f"an arrowhead every {plural_steps(every)}"], concepts))
        rows += [*found, *spots(str(number), plane)]
    panels = [panel(*head, lines.shown_range(rows)) for head in heads]
    title = "; ".join(axis_title(one, subject.data.sweep["experiment"]) for one in chosen)
    spec = planes(panels, rows, colours, min(len(panels), 3), title, side=300, shade=0.25).to_dict()
    caption = (
        f"The output at the test point over training in {spoken_planes([concepts])}, a line for each value of {name}: "
        f"the median over {counted(runs)} seeds a line, and the band of their central half."
    )
    return subject.figure(f"trajectories-along-{name}", f"Paths along {name}", caption, READING_ALONG, spec, [query])


def _lines(key: str, group: Lines, runs: dict[int, Runs]) -> tuple[list[Corner | Mark], float]:
    medians = [lines.places(runs[point].median, runs[point].step) for point in group.points]
    every = lines.interval(medians)
    rows: list[Corner | Mark] = []
    for point, value, median in zip(group.points, group.values, medians, strict=True):
        name = Name(key, _said(value))
        rows += lines.band(name, runs[point])
        rows += lines.line(name, runs[point].median, run=point)
        rows += lines.arrows(name, median, every)
    return rows, every


def _said(value: tuple[object, ...]) -> str:
    return ", ".join(plain(scalar(part)) for part in value)


def spoken_planes(asked: Sequence[tuple[int, int]]) -> str:
    """Planes in words."""
    texts = [f"{a} and {b}" for a, b in asked]
    return f"the plane{'s' if len(texts) > 1 else ''} of concepts {'; '.join(texts)}"


def counted(runs: dict[int, Runs]) -> str:
    """How many seeds there are a point."""
    counts = sorted({len(own.seeds) for own in runs.values()})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def seeds_drawn(runs: dict[int, Runs]) -> str:
    """How many seeds there are a point, and how many of them are drawn as thin lines."""
    most = max(len(own.seeds) for own in runs.values())
    thin = f", the first {lines.MOST_SEEDS} of them drawn singly" if most > lines.MOST_SEEDS else ""
    return f"{counted(runs)} seeds a panel{thin}"


def ended(subject: Subject, point: int) -> list[str]:
    """How many runs of a point diverged, if some did."""
    runs = subject.runs(point)
    diverged = int((runs["status"] == "diverged").sum())
    return [f"{diverged} of {plural(runs.height, 'seed')} diverged"] if diverged else []


def plural_steps(every: float) -> str:
    """An interval of steps in words."""
    return plural(round(every), "step")
