"""The selector: told the labels so far, it is asked for the points that the next cells are to be trained at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swingby.select.boundary.choice import ACTIVE, Doubt, choose
from swingby.select.boundary.company import Company
from swingby.select.boundary.kernel import Indices, Numbers, Setting
from swingby.select.boundary.laplace import Labels
from swingby.select.boundary.space import Space
from swingby.select.boundary.surface import Surface, settle, surface
from swingby.select.boundary.verdicts import UNKNOWN, Estimates, Goal, estimates

FIRST = 0.03
"""Share of the points that the first batch visits, one cell each."""
FEWEST = 32
"""Cells of the first batch, and of each later one, at least."""
GROWTH = 0.15
"""Cells of a later batch, as a share of the cells so far: a choice costs the same for few as for many."""
EXPLORE = 0.1
"""Share of a later batch that goes where the fewest cells are: this is what finds islands."""
FLOOR = 0.25
"""Cells, as a share of the points, before which it does not stop, if half of the budget allows: what was never looked
at is not told by few labels that agree."""
LOOKED = 20_000
"""The most points that a choice looks at; the whole map is told at the end."""
AT_ONCE = 0.1
"""The most cells of a round that lanes are filled to, as a share of the budget."""
RETUNE = 1.3
"""Growth of the number of labels after which lengths and amplitude are searched again."""
CONFIRM = 1.3
"""Growth of the number of cells over which the goals have to stay reached: few labels may agree by chance."""
REACH = 2.0
"""Grid steps over which cells without an answer speak for their neighbours."""


@dataclass(frozen=True)
class Evidence:
    """Everything that is known of the points.

    Attributes:
        cells: finished cells of each point, with an answer or without one, (N,).
        yes, n: of each goal, the labels that are yes, and all labels, (G, N).
    """

    cells: Indices
    yes: Numbers
    n: Numbers


@dataclass(frozen=True)
class Standing:
    """What is known of some points at some moment.

    Attributes:
        points: these points, (M,).
        estimates: of each goal.
        odds: the chance that a cell gives an answer, (M,).
    """

    points: Indices
    estimates: tuple[Estimates, ...]
    odds: Numbers

    def wrong(self, goal: int) -> float:
        """The expected share of points that are told wrongly by more than `within`."""
        total = float(self.odds.sum())
        return float(self.estimates[goal].wrong @ self.odds) / total if total else 0.0


class Boundary:
    """Asks for few cells, so that the line where shares cross a level is known.

    Attributes:
        space, goals, budget, company: as given.
        evidence: what was told last.
        last: what was known when it was asked last; nothing at all before the first labels.

    Args:
        goals: what is to be told, an outcome each; all share the cells.
        budget: the most cells, of the space's.
        memory: that of an earlier selector of the same space and goals, to go on as it would have.
        company: which points are trained together, at the cost of one; None: each alone.
    """

    def __init__(
        self,
        space: Space,
        goals: Sequence[Goal],
        budget: int,
        memory: Mapping[str, Any] | None = None,
        company: Company | None = None,
    ) -> None:
        self.space, self.goals, self.budget, self.company = space, tuple(goals), budget, company
        none = np.zeros((len(goals), len(space)))
        self.evidence = Evidence(np.zeros(len(space), np.int64), none, none)
        panels = range(len(space.panels))
        self.last = self._unknown()
        self._settings: list[list[tuple[Setting, ...]]] = [[() for _ in panels] for _ in goals]
        self._tuned = np.zeros((len(goals), len(panels)))
        self._held: int | None = None
        self._known: Standing | None = None
        self._fitted: dict[tuple[int, int], tuple[tuple[Setting, ...], Surface]] = {}
        if memory is not None:
            self._settings = [
                [tuple(Setting(tuple(each["lengths"]), each["scale"]) for each in panel) for panel in goal]
                for goal in memory["settings"]
            ]
            self._tuned = np.array(memory["labels"], dtype=float).reshape(self._tuned.shape)
            self._held = memory.get("held")

    @property
    def memory(self) -> dict[str, Any]:
        """What a later selector has to know to go on as this one would, as plain JSON values."""
        plain = [
            [[{"lengths": list(each.lengths), "scale": each.scale} for each in panel] for panel in goal]
            for goal in self._settings
        ]
        return {"settings": plain, "labels": self._tuned.tolist(), "held": self._held}

    def tell(self, evidence: Evidence) -> None:
        """Takes all that is known, in place of what was told before."""
        self.evidence = evidence
        self._known = None
        self._fitted.clear()

    def ask(self, in_flight: Indices | None = None) -> Indices:
        """The points of the next cells, one for each cell, so that a point may come several times; empty: no more.

        Args:
            in_flight: cells of each point that are being trained, (N,).
        """
        flying = np.zeros(len(self.space), np.int64) if in_flight is None else in_flight
        cells = self.evidence.cells + flying
        free = min(self.budget, self.space.cells) - int(cells.sum())
        if free <= 0:
            self.last = self._standing(self._surfaces(), self._looked(cells, flying))
            return np.zeros(0, np.int64)
        first = min(max(FEWEST, round(FIRST * len(self.space))), len(self.space), self.budget)
        if cells.sum() < first:
            return self._filled(self._fewest(cells, first - int(cells.sum())), cells, free, np.zeros(len(cells)))
        surfaces = self._surfaces(retune=True)
        standing = self.last = self._standing(surfaces, self._looked(cells, flying))
        if self._lasts(standing):
            return np.zeros(0, np.int64)
        count = min(free, max(FEWEST, round(GROWTH * int(self.evidence.cells.sum()))))
        explored = round(EXPLORE * count)
        chosen, worth = self._best(surfaces, standing, cells, flying, count - explored)
        then = cells + np.bincount(chosen, minlength=len(cells))
        return self._filled(np.concatenate([chosen, self._fewest(then, count - len(chosen))]), cells, free, worth)

    def _filled(self, points: Indices, cells: Indices, free: int, worth: Numbers) -> Indices:
        """The points of a round, and what is trained beside them at no cost."""
        most = min(free, max(len(points), round(AT_ONCE * self.budget))) - len(points)
        if self.company is None or most <= 0:
            return points
        then = cells + np.bincount(points, minlength=len(cells))
        more = self.company.beside(points, then, self.space.seeds, worth, self.space.turn, most)
        return np.concatenate([points, more])

    def _unknown(self) -> Standing:
        """What is known of points without any label."""
        count = len(self.space)
        none, doubt = np.zeros(count), np.ones(count)
        nothing = Estimates(none, doubt, doubt / 2, none, doubt, doubt / 2, np.full(count, UNKNOWN), doubt)
        return Standing(np.arange(count), (nothing,) * len(self.goals), doubt)

    def standing(self) -> Standing:
        """What is known of all points now."""
        if self._known is None:
            self._known = self._standing(self._surfaces(), np.arange(len(self.space)))
        return self._known

    def _looked(self, cells: Indices, flying: Indices) -> Indices:
        """The points that a choice looks at: all, or of very many a stretch of the spread, and those in flight."""
        if len(self.space) <= LOOKED:
            return np.arange(len(self.space))
        stretch = np.take(self.space.spread, np.arange(LOOKED) + int(cells.sum()), mode="wrap")
        return np.union1d(stretch, self._fliers(flying))

    def _fliers(self, flying: Indices) -> Indices:
        """Points with cells in flight, at most ACTIVE, in the order of the spread."""
        fliers = np.flatnonzero(flying)
        return fliers[np.argsort(self.space.turn[fliers])][:ACTIVE]

    def reached(self, standing: Standing) -> bool:
        """Whether every goal is reached, or hardly a point gives answers."""
        if standing.odds.mean() <= min(goal.wrong for goal in self.goals):
            return True
        return all(standing.wrong(number) <= goal.wrong for number, goal in enumerate(self.goals))

    def _lasts(self, standing: Standing) -> bool:
        """Whether the goals are reached, and were so with fewer labels and other settings; it remembers since when."""
        cells = int(self.evidence.cells.sum())
        if cells < min(FLOOR * len(self.space), self.budget / 2) or not self.reached(standing):
            self._held = None
            return False
        self._held = cells if self._held is None else self._held
        return cells >= CONFIRM * self._held

    def _fewest(self, cells: Indices, count: int) -> Indices:
        """Points with the fewest cells, in the order of the spread; none that has all its cells."""
        order = np.lexsort([self.space.turn, cells])
        open_, parts = order[cells[order] < self.space.seeds], list[Indices]()
        while count > 0 and len(open_):
            parts.append(open_[:count])
            count -= len(parts[-1])
            cells = cells + np.bincount(parts[-1], minlength=len(cells))
            open_ = open_[cells[open_] < self.space.seeds]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def _labels(self, goal: int, panel: int) -> Labels:
        """The labels of one panel, in the order of the spread."""
        points = self.space.panels[panel]
        points = points[self.evidence.n[goal, points] > 0]
        points = points[np.argsort(self.space.turn[points])]
        return Labels(self.space.place[points], self.evidence.yes[goal, points], self.evidence.n[goal, points])

    def _surfaces(self, retune: bool = False) -> list[list[Surface]]:
        """The surface of each panel, for each goal."""
        fits: list[list[Surface]] = []
        for goal in range(len(self.goals)):
            fits.append([])
            for panel in range(len(self.space.panels)):
                labels, known = self._labels(goal, panel), self._settings[goal][panel]
                total = float(labels.n.sum())
                if not known or (retune and total >= RETUNE * self._tuned[goal, panel]):
                    known = settle(self.space.shape, labels, known[0] if known else None)
                    if retune:
                        self._settings[goal][panel], self._tuned[goal, panel] = known, total
                before, fit = self._fitted.get((goal, panel), ((), None))
                if fit is None or before != known:
                    fit = surface(self.space.shape, labels, known)
                    self._fitted[goal, panel] = known, fit
                fits[-1].append(fit)
        return fits

    def _standing(self, surfaces: Sequence[Sequence[Surface]], points: Indices) -> Standing:
        """What is known of some points."""
        panels, each = self.space.panel[points], list[Estimates]()
        order = np.argsort(np.argsort(panels, kind="stable"), kind="stable")
        for goal, models in zip(self.goals, surfaces, strict=True):
            parts = [
                estimates(one.at(self.space.place[points[panels == number]]), goal) for number, one in enumerate(models)
            ]
            columns = {
                name: np.concatenate([getattr(part, name) for part in parts])[order] for name in Estimates.__slots__
            }
            each.append(Estimates(**columns))
        return Standing(points, tuple(each), self._odds()[points])

    def _odds(self) -> Numbers:
        """The chance that a cell of each point gives an answer.

        It is that of the point's own cells, and of one more like those nearby; of these, too, one more is like all.
        """
        cells, answers = self.evidence.cells, self.evidence.n.mean(axis=0)
        odds = np.ones(len(self.space))
        if (answers >= cells).all():
            return odds
        overall = float((answers.sum() + 1) / (cells.sum() + 1))
        for points in self.space.panels:
            answered, spent = np.zeros(self.space.shape).ravel(), np.zeros(self.space.shape).ravel()
            answered[self.space.place[points]], spent[self.space.place[points]] = answers[points], cells[points]
            for axis, count in enumerate(self.space.shape):
                step = np.subtract.outer(np.arange(count), np.arange(count)) / REACH
                kernel = np.exp(-0.5 * step**2)
                answered, spent = (
                    np.moveaxis(np.tensordot(kernel, one.reshape(self.space.shape), (1, axis)), 0, axis).ravel()
                    for one in (answered, spent)
                )
            nearby = ((answered + overall) / (spent + 1))[self.space.place[points]]
            odds[points] = (answers[points] + nearby) / (cells[points] + 1)
        return np.minimum(odds, 1.0)

    def _best(
        self, surfaces: Sequence[Sequence[Surface]], standing: Standing, cells: Indices, flying: Indices, count: int
    ) -> tuple[Indices, Numbers]:
        """The points where labels take away most doubt, and what one more label would be worth at each point, (N,)."""
        space, open_ = self.space, np.zeros((len(self.goals), len(self.space)))
        share, odds = np.full(open_.shape, 0.5), np.ones(len(space))
        odds[standing.points] = standing.odds
        for number, one in enumerate(standing.estimates):
            open_[number, standing.points] = np.where(one.verdict == UNKNOWN, standing.odds, 0.0)
            share[number, standing.points] = one.share
        pending = open_.max(axis=0) > 0
        candidates = space.spread[pending[space.spread]]
        if len(candidates) > ACTIVE:
            candidates = candidates[np.linspace(0, len(candidates) - 1, ACTIVE).astype(np.int64)]
        # Points in flight are there for what their labels will tell.
        active = np.zeros(len(space), bool)
        active[candidates] = True
        active[self._fliers(flying)] = True
        members, doubts = [], []
        for panel, points in enumerate(space.panels):
            here = points[active[points]]
            members.append(here)
            doubts.append(list[Doubt]())
            for number, goal in enumerate(self.goals):
                fit = surfaces[number][panel].fits[0]
                doubt = Doubt.of(fit, space.place[here], goal.levels[1], open_[number, here], share[number, here])
                moving = np.flatnonzero(flying[here])
                doubt.take(moving, flying[here][moving].astype(float))
                doubts[-1].append(doubt)
        places, worth = choose(
            doubts,
            [space.seeds - cells[here] for here in members],
            [odds[here] for here in members],
            [space.turn[here] for here in members],
            count,
        )
        left = np.zeros(len(space))
        for here, each in zip(members, worth, strict=True):
            left[here] = each
        left = np.round(left / max(float(left.max(initial=0)), 1e-300), 9)
        return np.concatenate([here[chosen] for here, chosen in zip(members, places, strict=True)]), left


def fitted(space: Space, goal: Goal, yes: Numbers, n: Numbers) -> Estimates:
    """What labels say of all points of a space, from nothing: the surface of a grid that is whole, or of a part.

    Args:
        yes, n: labels of each point that are yes, and all of its labels, (N,).
    """
    boundary = Boundary(space, [goal], space.cells)
    boundary.tell(Evidence(n.astype(np.int64), yes[None].astype(float), n[None].astype(float)))
    return boundary.standing().estimates[0]
