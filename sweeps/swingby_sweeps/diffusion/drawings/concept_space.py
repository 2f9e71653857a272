"""The drawing `concept_space`: where the held-out class goes in concept space over training ([S] Fig 6 a)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from swingby_analysis.charts import plane_rows
from swingby_analysis.charts.plane_rows import Name
from swingby_analysis.charts.planes import Corner, Mark, Panel, Row, Spot, planes
from swingby_analysis.page import Figure
from swingby_analysis.report.subject import Subject

from ..detect.path import CLASSES, corner
from ..detect.runs import Runs
from .concept_bend import bend_figures
from .concepts import (
    SEEDS,
    ConceptDrawing,
    ConceptOptions,
    Group,
    counted,
    groups_of,
    smoothing_told,
)

ELLIPSES = 6
"""About so many evaluations of a line have an ellipse, evenly spaced along its way."""
READING = (
    "Each line is the mean over the seeds of where the images generated of the held-out class lie: to the right by "
    "color (0 the trained red, 1 the trained blue), upward by size (0 big, 1 small). Squares are the corners of the "
    "classes trained on, the diamond that of the held-out class. Ellipses: in each coordinate the 95 % t-interval of "
    "the mean over the seeds, which the noise of the images is part of; with a single seed, the interval from its "
    "images alone. Dots are evaluations with an ellipse, more of them where training is slow. Thin: single seeds. An "
    "evaluation counts where half of the seeds have a place; a seed has one where a circle is found in half of its "
    "images, for before that there is neither color nor size, and gaps between two places are bridged by straight "
    "ways. Where a seed enters or leaves, the thick line is broken: that the mean is then one of other seeds is no "
    "move. The measured judge reads color and size off the image and can leave the square; the trained one gives "
    "probabilities, which cannot. Lines may leave the panel."
)


class ConceptSpace(ConceptDrawing):
    """Trajectories in concept space, a line a point of the grid."""

    name: ClassVar[str] = "concept_space"

    def figures(self, subject: Subject, options: ConceptOptions) -> Sequence[Figure]:
        """The paths, a panel a judge and setting; and how far they bend over the seeds, where two or more are there."""
        found = groups_of(subject, options, self.name)
        rows = [row for group in found.groups for row in _rows(group)]
        shown = plane_rows.shown_range(rows)
        panels = [
            Panel(group.key, group.title, (), "color (0 red, 1 blue)", "size (0 big, 1 small)", shown, shown)
            for group in found.groups
        ]
        legend = [*found.legend, "lines: mean over the seeds; ellipses: 95 % intervals"]
        columns = 2 if len(panels) == 4 else min(len(panels), 3)
        side = 340 if columns < 3 else 280
        spec = planes(panels, rows, found.colours, columns, legend, side=side, shade=0.22).to_dict()
        held = CLASSES[found.groups[0].lines[0].runs.number]
        caption = (
            f"The images generated of the class {held}, which no training image shows, in concept space over training: "
            f"{counted(found)}. {smoothing_told(options)}"
        )
        paths = subject.figure("concept-space", "Paths in concept space", caption, READING, spec, [found.query])
        return [paths, *bend_figures(subject, options, found)]


def _rows(group: Group) -> Iterator[Row]:
    first = group.lines[0].drawn
    for number in first.trained:
        yield Spot(group.key, "centre", CLASSES[number], *corner(number).tolist())
    yield Spot(group.key, "target", CLASSES[first.number], *corner(first.number).tolist())
    for line in group.lines:
        name, runs = Name(group.key, line.name), line.drawn
        yield from _ellipses(name, runs)
        for seed, path in list(zip(runs.seeds, runs.place, strict=True))[:SEEDS]:
            known = np.isfinite(path[:, 0])
            yield from plane_rows.line(name, path[known], "run", seed)
        for number, at in enumerate(runs.stretches):
            yield from plane_rows.line(name, runs.mean.value[at], run=number)


def _ellipses(name: Name, runs: Runs) -> Iterator[Corner | Mark]:
    """Ellipses at evaluations that are about equally far apart along the way, and dots in them."""
    if not runs.stretches:
        return
    at = np.concatenate(runs.stretches)
    place, half = runs.mean.value[at], np.nan_to_num(runs.mean.half[at])
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(place, axis=0), axis=1))])
    kept = np.unique([int(np.abs(way - part).argmin()) for part in np.linspace(0, way[-1], ELLIPSES)])
    turn = np.linspace(0, 2 * np.pi, 25)
    for number, k in enumerate(kept.tolist()):
        around = place[k] + half[k] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        for order, (x, y) in enumerate(around.round(4).tolist()):
            yield Corner(name.panel, "region", name.line, number, order, x, y)
        yield Mark(name.panel, "dot", name.line, float(runs.steps[at[k]]), *place[k].round(4).tolist())
