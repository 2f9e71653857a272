"""The drawing `concept_space`: paths of the held-out class over training ([S] Fig 6 a), and bends that seeds share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from swingby_analysis.charts import plane_rows
from swingby_analysis.charts.along import means_along
from swingby_analysis.charts.maps import mean_map
from swingby_analysis.charts.plane_rows import Name
from swingby_analysis.charts.planes import Corner, Mark, Panel, Row, Spot, planes
from swingby_analysis.charts.summaries import OPEN, SignedMean
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn
from swingby_analysis.report.subject import Subject

from ..detect.bend import SharedBend
from ..detect.path import CLASSES, corner
from .concepts import (
    SEEDS,
    ConceptDrawing,
    ConceptOptions,
    Group,
    Groups,
    left_out,
    seeds_per_line,
    smoothing_note,
)

ELLIPSES = 6
"""Number of evaluations of a line with an ellipse, evenly spaced along its way; fewer where the line hardly moves."""
KINDS = {"measured judge": "#1d2733", "trained judge": "#d1495b"}
STATES = {OPEN: "circle", "on one side": "circle", "on one side, comes back": "diamond"}
BEND_READING = (
    "How far the path of the held-out class leaves the straight way from its first evaluation to its own corner: the "
    "signed distance at the evaluation where the mean path of all seeds but one is farthest from its straight way, "
    "measured on the seed left out, and averaged over all choices of that seed. Above 0: toward the corner with the "
    "right color and the wrong size, so color is ahead; below: toward the corner with the right size. {marks} Straight "
    "ways with noise pass this test in about one sample of ten at 3 to 8 seeds, and in one of twenty or fewer the 99 % "
    "interval, at 3 to 5 seeds. At 5 seeds or fewer the test has little power: an interval that holds 0 is no evidence "
    "of a straight way. A path begins where a circle is found in half of the images; what came before is not seen."
)
ALONG = (
    "Bars: 95 % t-interval over the seeds, cut off at the edge of the panel. The interval of an open mark holds 0. "
    "Diamonds come back: the part of the distance that is gone at the last evaluation has an interval above 0."
)
MAP = (
    "The 95 % t-interval over the seeds of a bold number does not hold 0; pointing at a tile shows it. Tiles without a "
    "number have too few seeds that could be measured."
)


class ConceptSpace(ConceptDrawing):
    """Trajectories in concept space, one line for each point of the grid."""

    name = "concept_space"
    title = "Paths in concept space"
    reading = (
        "Each line is the mean over the seeds of the places of the images generated of the held-out class: to the "
        "right by color (0 the trained red, 1 the trained blue), upward by size (0 big, 1 small). Squares are the "
        "corners of the classes trained on, the diamond that of the held-out class. Ellipses: in each coordinate the "
        "95 % t-interval of the mean over the seeds, which includes the noise of the images; with a single seed, the "
        "interval from its images alone. Dots are the evaluations with an ellipse, about evenly spaced along the line. "
        "Thin: single seeds. An evaluation counts where half of the seeds have a place; a seed has one where a circle "
        "is found in half of its images, for without circles there is neither color nor size. Gaps between two places "
        "are bridged by straight lines. The thick line is broken where a seed enters or leaves: beyond it the mean is "
        "one of other seeds, and the jump is no movement. The measured judge reads color and size off the image, and "
        "its places can lie outside the square; the trained judge gives probabilities, which cannot. Lines may leave "
        "the panel."
    )

    def of_groups(self, groups: Groups, subject: Subject, options: ConceptOptions) -> Iterable[Drawn]:
        """The paths, one panel for each judge and setting; and the bends over seeds, where there are two or more."""
        rows = [row for group in groups.groups for row in _rows(group)]
        shown = plane_rows.shown_range(rows)
        panels = [
            Panel(group.key, group.title, (), "color (0 red, 1 blue)", "size (0 big, 1 small)", shown, shown)
            for group in groups.groups
        ]
        legend = [*groups.legend, "lines: mean over the seeds; ellipses: 95 % intervals"]
        columns = 2 if len(panels) == 4 else min(len(panels), 3)
        side = 340 if columns < 3 else 280
        chart = planes(panels, rows, groups.colours, columns, legend, side=side, shade=0.22)
        held = CLASSES[groups.groups[0].lines[0].runs.number]
        caption = (
            f"The images generated of the class {held}, which no training image shows, in concept space over training: "
            f"{seeds_per_line(groups)}. {smoothing_note(options)}"
        )
        yield Drawn(chart, caption)
        yield from _bends(subject, options, groups)


def _rows(group: Group) -> Iterator[Row]:
    """The corners of the classes; of every line the mean, single seeds, and ellipses with a dot in each.

    Ellipses stand at evaluations that are about equally far apart along the way of the mean.
    """
    first = group.lines[0].drawn
    for number in first.trained:
        yield Spot(group.key, "centre", CLASSES[number], *corner(number).tolist())
    yield Spot(group.key, "target", CLASSES[first.number], *corner(first.number).tolist())
    turn = np.linspace(0, 2 * np.pi, 25)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    for line in group.lines:
        name, runs = Name(group.key, line.name), line.drawn
        at = np.concatenate([np.zeros(0, dtype=np.int64), *runs.stretches])
        place, half = runs.mean.value[at], np.nan_to_num(runs.mean.half[at])
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(place, axis=0), axis=1))])
        kept = np.unique([int(np.abs(way - part).argmin()) for part in np.linspace(0, way[-1], ELLIPSES)])
        for number, k in enumerate(kept.tolist() if len(at) else ()):
            for order, (x, y) in enumerate((place[k] + half[k] * circle).round(4).tolist()):
                yield Corner(name.panel, "region", name.line, number, order, x, y)
            yield Mark(name.panel, "dot", name.line, float(runs.steps[at[k]]), *place[k].round(4).tolist())
        for seed, path in list(zip(runs.seeds, runs.place, strict=True))[:SEEDS]:
            known = np.isfinite(path[:, 0])
            yield from plane_rows.line(name, path[known], "run", seed)
        for number, at in enumerate(runs.stretches):
            yield from plane_rows.line(name, runs.mean.value[at], run=number)


def _bends(subject: Subject, options: ConceptOptions, groups: Groups) -> Iterator[Drawn]:
    """One chart over one parameter, one for each judge over two; none where no point has two measured seeds."""
    grid = subject.data.grid
    rows: list[SignedMean] = []
    for group in groups.groups:
        for line in group.lines:
            if (bend := line.runs.bend()) is not None:
                state = list(STATES)[bend.significant + bend.returns]
                numbers = bend.size, bend.low, bend.high
                rows.append(SignedMean(line.point, f"{group.judge} judge", *numbers, state, bend_text(bend)))
    # Of each figure the end of its name, the end of its title, and its rows.
    parts: list[tuple[str, str, list[SignedMean]]] = [("", "", rows)] if rows else []
    if grid.y is not None:
        by_kind = {kind: [row for row in rows if row.kind == kind] for kind in KINDS}
        ends = {"measured judge": "", "trained judge": "-by-trained"}
        parts = [(ends[kind], f", {kind}", state_rows) for kind, state_rows in by_kind.items() if state_rows]
    for end, of, state_rows in parts:
        if grid.y is None:
            kinds = {kind: colour for kind, colour in KINDS.items() if any(row.kind == kind for row in state_rows)}
            chart = means_along(grid, state_rows, kinds, STATES, ("toward size", "toward color"), "judge")
        else:
            chart = mean_map(grid, state_rows, "mean signed bend (+ toward color, - toward size)")
        caption = (
            f"The bend that the seeds share, at each point of the grid{of}. Nothing is smoothed.{left_out(options)}"
        )
        reading = BEND_READING.format(marks=ALONG if grid.y is None else MAP)
        yield Drawn(chart, caption, f"Bends over seeds{of}", reading, f"bend-over-seeds{end}")


def bend_text(bend: SharedBend) -> str:
    """The result of the test in a few words."""
    strict = ", 99 % too" if bend.sure else ""
    back = f"comes back by {bend.back:+.2f} ({bend.back_low:+.2f} to {bend.back_high:+.2f})"
    return f"{bend.size:+.2f} ({bend.low:+.2f} to {bend.high:+.2f}{strict}), {plural(bend.n, 'seed')}; {back}"
