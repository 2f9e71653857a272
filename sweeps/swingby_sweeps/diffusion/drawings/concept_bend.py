"""The figures of bends over seeds, part of the drawing `concept_space`: to which side the paths of all seeds leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swingby_analysis.charts.along import means_along
from swingby_analysis.charts.maps import mean_map
from swingby_analysis.charts.summaries import OPEN, SignedMean
from swingby_analysis.grid import Grid
from swingby_analysis.page import Figure
from swingby_analysis.report.prose import plural
from swingby_analysis.report.subject import Subject

from ..detect.path import JUDGES, Judge
from ..detect.shared_bend import SharedBend
from .concepts import ConceptOptions, Groups, left_out

KINDS = {"measured judge": "#1d2733", "trained judge": "#d1495b"}
STATES = {OPEN: "circle", "on one side": "circle", "on one side, comes back": "diamond"}
READING = (
    "How far the held-out class's path leaves the straight way from its first evaluation to its own corner: the "
    "signed distance where the mean path of all seeds but one is farthest from it, measured on the seed left out, and "
    "averaged over which one that is. Above 0: toward the corner with the right color and the wrong size, so color "
    "runs ahead; below: toward that with the right size. {marks} Straight ways with noise pass this test in about one "
    "sample of ten at 3 to 8 seeds, and in one of twenty or fewer the 99 % interval, at 3 to 5 seeds. At 5 seeds or "
    "fewer the test has little power: an interval that holds 0 is no evidence of a straight way. A path begins where "
    "a circle is found in half of the images, and what came before is not seen."
)
ALONG = (
    "Bars: 95 % t-interval over the seeds, cut off at the edge of the panel. Open marks have one that holds 0. "
    "Diamonds come back: the part of the distance that is gone at the last evaluation has an interval above 0."
)
MAP = (
    "Bold numbers have a 95 % t-interval over the seeds that does not hold 0; pointing at a tile shows it. Tiles "
    "without a number have too few seeds that were measured."
)


def bend_figures(subject: Subject, options: ConceptOptions, found: Groups) -> list[Figure]:
    """One figure along one parameter, one a judge over two; none where no point has two seeds to be measured."""
    rows = [
        row
        for judge in JUDGES
        for group in found.groups
        if group.judge == judge
        for line in group.lines
        if (bend := line.runs.bend()) is not None
        for row in [_row(line.point, judge, bend)]
    ]
    return [_figure(subject, options, found, *part) for part in _parts(subject.data.grid, rows)]


def _parts(grid: Grid, rows: Sequence[SignedMean]) -> Iterator[tuple[str, str, Sequence[SignedMean]]]:
    """Of every figure the end of its name, that of its title, and its rows."""
    if not rows:
        return
    if grid.y is None:
        yield "", "", rows
        return
    for kind in KINDS:
        own = [row for row in rows if row.kind == kind]
        if own:
            yield ("" if kind == "measured judge" else "-by-trained"), f", {kind}", own


def _figure(
    subject: Subject, options: ConceptOptions, found: Groups, end: str, of: str, rows: Sequence[SignedMean]
) -> Figure:
    grid = subject.data.grid
    marks = MAP
    if grid.y is None:
        kinds = {kind: colour for kind, colour in KINDS.items() if any(row.kind == kind for row in rows)}
        spec = means_along(grid, rows, kinds, STATES, ("toward size", "toward color"), "judge").to_dict()
        marks = ALONG
    else:
        spec = mean_map(grid, rows, "mean signed bend (+ toward color, - toward size)").to_dict()
    caption = f"The bend that the seeds share, at each point of the grid{of}. Nothing is smoothed.{left_out(options)}"
    slug, title = f"bend-over-seeds{end}", f"Bends over seeds{of}"
    return subject.figure(slug, title, caption, READING.format(marks=marks), spec, [found.query])


def _row(point: int, judge: Judge, bend: SharedBend) -> SignedMean:
    state = list(STATES)[bend.found + bend.returns]
    return SignedMean(point, f"{judge} judge", bend.size, bend.low, bend.high, state, told(bend))


def told(bend: SharedBend) -> str:
    """The test in a few words."""
    strict = ", 99 % too" if bend.sure else ""
    back = f"comes back by {bend.back:+.2f} ({bend.back_low:+.2f} to {bend.back_high:+.2f})"
    return f"{bend.size:+.2f} ({bend.low:+.2f} to {bend.high:+.2f}{strict}), {plural(bend.n, 'seed')}; {back}"
