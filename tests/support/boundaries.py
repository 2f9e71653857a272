"""Cases for the selector of boundaries: grids whose shares are known, labels drawn from them, and a walk over them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

from swingby.select.boundary.boundary import Boundary, Evidence
from swingby.select.boundary.kernel import Indices, Numbers
from swingby.select.boundary.space import Space
from swingby.select.boundary.verdicts import ABOVE, BELOW, NEAR, Estimates, Goal

SEEDS = 20
"""Seeds a point of the cases that are made up."""
NEARLY = 0.02
"""How far beyond an interval a share may lie."""


@dataclass(frozen=True)
class Case:
    """A grid whose shares are known.

    Attributes:
        truth: the share of each point, (N,).
        answers: the chance that a cell of each point gives a label, (N,).
    """

    name: str
    space: Space
    truth: Numbers
    answers: Numbers
    goal: Goal = field(default_factory=Goal)

    @classmethod
    def of(
        cls, name: str, truth: np.ndarray, seeds: int = SEEDS, missing: Numbers | None = None, facets: int = 1
    ) -> Case:
        """The case of an array of shares, whose first axis holds panels where there is more than one facet."""
        shape, count = truth.shape[1:] if facets > 1 else truth.shape, truth.size
        panel, place = np.divmod(np.arange(count), count // facets)
        answers = np.ones(count) if missing is None else 1.0 - missing.ravel()
        return cls(name, Space(shape, panel, place, seeds), truth.ravel().astype(float), answers)

    @property
    def answered(self) -> np.ndarray:
        """Mask of the points that give answers."""
        return self.answers > 0

    def labels(self, order: int) -> tuple[np.ndarray, np.ndarray]:
        """Labels of every cell, and whether the cell gives one, (N, seeds) each; another draw for each order."""
        random = np.random.default_rng([zlib.crc32(self.name.encode()), order])
        size = (len(self.space), self.space.seeds)
        return random.random(size) < self.truth[:, None], random.random(size) < self.answers[:, None]


class Cells:
    """The cells that were trained so far, revealed seed by seed.

    Attributes:
        cells, yes, n: of each point: cells, labels that are yes, and labels, (N,).
    """

    def __init__(self, case: Case, order: int) -> None:
        self._labels, self._given = case.labels(order)
        self.cells = np.zeros(len(case.space), np.int64)
        self.yes, self.n = np.zeros(len(case.space)), np.zeros(len(case.space))

    def train(self, points: Sequence[int] | Indices) -> None:
        """Reveals the next seed of each of these points, of which one may come several times.

        Raises:
            IndexError: a point has no seeds left.
        """
        for point in points:
            seed = self.cells[point]
            self.yes[point] += self._labels[point, seed] and self._given[point, seed]
            self.n[point] += self._given[point, seed]
            self.cells[point] += 1

    @property
    def share(self) -> Numbers:
        """The share of yes among each point's labels; one half where there is none."""
        return np.where(self.n > 0, self.yes / np.maximum(self.n, 1), 0.5)

    @property
    def evidence(self) -> Evidence:
        """All of it, as one goal's evidence."""
        return Evidence(self.cells.copy(), self.yes[None].copy(), self.n[None].copy())


def walk(case: Case, order: int, boundary: Boundary) -> Iterator[Cells]:
    """Asks and tells until nothing more is asked for; the cells after each batch."""
    cells = Cells(case, order)
    while len(points := boundary.ask()):
        cells.train(points)
        boundary.tell(cells.evidence)
        yield cells


@dataclass(frozen=True)
class Judged:
    """How verdicts compare with the truth, over the points that give answers; counts.

    Attributes:
        told, told_right: points told above or below; those that are.
        near, near_right: points told near; those whose share is that near.
        covered, points: points whose interval holds the true share, or ends within 0.02 of it; all points.
        line, held: pairs of neighbours on different sides; those of which neither is told the wrong side.
    """

    told: int
    told_right: int
    near: int
    near_right: int
    covered: int
    points: int
    line: int
    held: int


def judge(case: Case, told: Estimates) -> Judged:
    """Verdicts beside the truth. A share that is the level exactly is on neither side."""
    goal, truth, there = case.goal, case.truth, case.answered
    is_told = ((told.verdict == ABOVE) | (told.verdict == BELOW)) & there
    right = np.where(told.verdict == ABOVE, truth > goal.share, truth < goal.share) & is_told
    is_near = (told.verdict == NEAR) & there
    near_right = is_near & (np.abs(truth - goal.share) <= goal.within + 1e-9)
    # Nothing is asked for where a share is far from the level: whether it is 0.01 or 0.001 stays open.
    covered = there & (told.low <= truth + NEARLY) & (truth - NEARLY <= told.high)
    false = is_told & ~right
    first, second = neighbours(case)
    across = (truth[first] > goal.share) != (truth[second] > goal.share)
    held = across & ~false[first] & ~false[second]
    counts = (is_told, right, is_near, near_right, covered, there, across, held)
    return Judged(*(int(mask.sum()) for mask in counts))


def neighbours(case: Case) -> tuple[Indices, Indices]:
    """Pairs of points that are one step apart in a panel, both of which give answers."""
    space = case.space
    at = np.full((len(space.panels), *space.shape), -1)
    at.reshape(len(space.panels), -1)[space.panel, space.place] = np.where(case.answered, np.arange(len(space)), -1)
    pairs = [
        (np.moveaxis(at, axis, 0)[:-1].ravel(), np.moveaxis(at, axis, 0)[1:].ravel()) for axis in range(1, at.ndim)
    ]
    first, second = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
    known = (first >= 0) & (second >= 0)
    return first[known], second[known]


def made_up(points: int = 41) -> dict[str, Callable[[], Case]]:
    """The cases whose shares are a formula, by name."""
    x, y = np.meshgrid(np.linspace(0, 1, points), np.linspace(0, 1, points), indexing="ij")
    i, j = np.meshgrid(np.arange(points), np.arange(points), indexing="ij")

    def islands() -> Numbers:
        f = np.full(x.shape, -4.0)
        for a, b, radius in ((0.2, 0.3, 0.08), (0.7, 0.75, 0.1), (0.8, 0.2, 0.06)):
            f = np.maximum(f, 60 * (radius - np.hypot(x - a, y - b)))
        return expit(f)

    sharp = expit(60 * (y - 0.5 - 0.2 * np.sin(5 * x)))
    few = np.linspace(0, 1, min(points, 21))
    facet = np.stack([np.broadcast_to(expit(60 * (few - 0.35)), (len(few),) * 2),
                      np.broadcast_to(expit(6 * (few - 0.6)), (len(few),) * 2)])  # fmt: skip
    tiny = np.array([[0.02, 0.1, 0.5], [0.1, 0.5, 0.9], [0.5, 0.9, 0.98]])
    return {
        "sharp": lambda: Case.of("sharp", sharp),
        "broad": lambda: Case.of("broad", expit(5 * (x + 0.5 * y - 0.75))),
        "islands": lambda: Case.of("islands", islands()),
        "thin ridge": lambda: Case.of("thin ridge", expit(4 - np.abs(y - 0.3 - 0.4 * x) / 0.03 * 4)),
        "one-point thread": lambda: Case.of("one-point thread", np.where(j == 8 + i // 2, 0.95, 0.02)),
        "checkerboard": lambda: Case.of("checkerboard", 0.05 + 0.9 * ((i // 8 + j // 8) % 2)),
        "plateau at 1/2 beside a cliff": lambda: Case.of(
            "plateau at 1/2 beside a cliff", np.where(y < 0.36, 0.02, 0.5)
        ),
        "1/2 everywhere": lambda: Case.of("1/2 everywhere", np.full(x.shape, 0.5)),
        "all yes": lambda: Case.of("all yes", np.ones(x.shape)),
        "all no": lambda: Case.of("all no", np.zeros(x.shape)),
        "3 x 3": lambda: Case.of("3 x 3", tiny),
        "one axis": lambda: Case.of("one axis", expit(10 * (np.linspace(0, 1, 60) - 0.4))),
        "a third without answers": lambda: Case.of("a third without answers", sharp, missing=(x > 0.66).astype(float)),
        "facets, lengths 1 : 10": lambda: Case.of("facets, lengths 1 : 10", facet, facets=2),
    }
