"""Ways to find a boundary, each a walk over one case: after each batch it says on which side every point lies."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.interpolate import LinearNDInterpolator
from scipy.spatial import KDTree, QhullError

from swingby.select.boundary.boundary import Boundary
from swingby.select.boundary.kernel import Indices, Numbers
from tests.support.boundaries import Case, Cells

Sides = np.ndarray
Walk = Iterator[tuple[int, Sides]]
SHARE = 0.25
"""Share of the grid's cells at which the ways end that could go on."""
FEW = 5
"""Seeds of a point where a way takes few of them."""
EVIDENCE = float(np.log(19))
"""Log-likelihood ratio at which a sequential test decides: 5 % either way (Wald 1947)."""
APART = (0.3, 0.7)
"""The two shares that it tells apart."""
WIDE = 8
"""Steps along the edge of the first boxes of the quadtree."""


def full(case: Case, order: int) -> Walk:
    """Every point, seed by seed; the side of each is that of most of its labels."""
    cells = Cells(case, order)
    for _ in range(case.space.seeds):
        cells.train(np.arange(len(case.space)))
        yield int(cells.cells.sum()), cells.share > case.goal.share


def random(case: Case, order: int) -> Walk:
    """Cells at random over the grid; the same surface as the selector's, tuned as it tunes it."""
    cells, space = Cells(case, order), case.space
    drawn = np.random.default_rng(order).permutation(space.cells) % len(space)
    boundary, done, wanted = Boundary(space, [case.goal], space.cells), 0, 0.01 * space.cells
    while done < SHARE * space.cells:
        cells.train(drawn[done : (done := round(min(wanted, SHARE * space.cells)))])
        boundary.tell(cells.evidence)
        boundary.ask()
        yield done, boundary.standing().estimates[0].above > 0.5
        wanted *= 1.3


def racing(case: Case, order: int) -> Walk:
    """A seed at a time for every point of which a sequential test has not told the side."""
    cells, step = Cells(case, order), float(np.log(APART[1] / APART[0]))
    for _ in range(case.space.seeds):
        open_ = np.abs(2 * cells.yes - cells.n) * step < EVIDENCE
        cells.train(np.flatnonzero(open_))
        yield int(cells.cells.sum()), cells.share > case.goal.share


def quadtree(case: Case, order: int, seeds: int) -> Walk:
    """Corners of boxes; a box whose corners are not all on one side is halved along each axis."""
    cells, space = Cells(case, order), case.space
    edges = [sorted({*range(0, count - 1, WIDE), count - 1}) if count > 1 else [0] for count in space.shape]
    spans = [list(itertools.pairwise(edge)) or [(0, 0)] for edge in edges]
    boxes = [(panel, box) for box in itertools.product(*spans) for panel in range(len(space.panels))]
    points = {(int(p), int(at)): number for number, (p, at) in enumerate(zip(space.panel, space.place, strict=True))}
    while boxes:
        split = list[tuple[int, tuple[tuple[int, int], ...]]]()
        for count, (panel, box) in enumerate(boxes, 1):
            places = [int(np.ravel_multi_index(corner, space.shape)) for corner in itertools.product(*box)]
            corners = np.array([points[panel, at] for at in dict.fromkeys(places) if (panel, at) in points], dtype=int)
            cells.train(np.repeat(corners[cells.cells[corners] == 0], seeds))
            sides = cells.share[corners] > case.goal.share
            if len(corners) and sides.any() != sides.all() and any(high - low > 1 for low, high in box):
                split += [(panel, part) for part in itertools.product(*map(_halves, box))]
            if count % 50 == 0 or count == len(boxes):
                yield int(cells.cells.sum()), _between(case, cells) > case.goal.share
        boxes = split


def _halves(span: tuple[int, int]) -> list[tuple[int, int]]:
    low, high = span
    middle = (low + high) // 2
    return [(low, middle), (middle, high)] if high - low > 1 else [span]


def adaptive(case: Case, order: int) -> Walk:
    """python-adaptive, a learner for each panel of one or two axes: it asks for places, whose nearest point answers."""
    package: Any = importlib.import_module("adaptive")

    cells, space, end = Cells(case, order), case.space, SHARE * case.space.cells
    axes = [axis for axis, count in enumerate(space.shape) if count > 1] or [0]
    if len(axes) > 2:  # Its triangulation of three axes takes minutes for a thousand points.
        return
    kind: Any = package.Learner1D if len(axes) == 1 else package.Learner2D
    bounds: Any = (0.0, 1.0) if len(axes) == 1 else [(0.0, 1.0)] * 2
    learners = [kind(lambda x: x, bounds=bounds) for _ in space.panels]
    size, idle = np.array(space.shape) - 1, 0
    while cells.cells.sum() < end and idle < 10:
        before = int(cells.cells.sum())
        for learner, points in zip(learners, space.panels, strict=True):
            asked, _ = learner.ask(20)
            for one in asked:
                at = np.zeros(len(space.shape), np.int64)
                at[axes] = np.rint(np.atleast_1d(one) * size[axes]).astype(np.int64)
                found = points[space.place[points] == np.ravel_multi_index(tuple(at), space.shape)]
                if len(found) and cells.cells[found[0]] == 0:
                    cells.train([found[0]] * min(FEW, space.seeds))
                learner.tell(one, float(cells.share[found[0]]) if len(found) else 0.5)
        idle = 0 if cells.cells.sum() > before else idle + 1
        yield int(cells.cells.sum()), _between(case, cells) > case.goal.share


def _between(case: Case, cells: Cells) -> Numbers:
    """The share of every point, linear between points with labels, and that of the nearest outside of them."""
    found = np.full(len(case.space), 0.5)
    for points in case.space.panels:
        known = points[cells.n[points] > 0]
        if len(known):
            at, of, wanted = _coordinates(case, known), cells.share[known], _coordinates(case, points)
            found[points] = of[KDTree(at).query(wanted)[1]]
            try:
                linear = LinearNDInterpolator(at, of)(wanted)
            except (QhullError, ValueError):  # Too few points, or all on one line.
                continue
            found[points] = np.where(np.isnan(linear), found[points], linear)
    return found


def _coordinates(case: Case, points: Indices) -> Numbers:
    return np.stack(np.unravel_index(case.space.place[points], case.space.shape), axis=1).astype(float)


RIVALS: dict[str, Callable[[Case, int], Walk]] = {
    "full grid": full,
    "random, same surface": random,
    "racing": racing,
    "quadtree, all seeds": lambda case, order: quadtree(case, order, case.space.seeds),
    "quadtree, 5 seeds": lambda case, order: quadtree(case, order, min(FEW, case.space.seeds)),
}
if importlib.util.find_spec("adaptive"):
    RIVALS["python-adaptive"] = adaptive
