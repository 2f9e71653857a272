"""Laws of the selector: what it asks for, and what it is told."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.select.boundary.boundary import FEWEST, FLOOR, Boundary, Evidence, fitted
from swingby.select.boundary.kernel import Indices
from swingby.select.boundary.space import Space
from swingby.select.boundary.verdicts import ABOVE, BELOW, NEAR, UNKNOWN, Goal
from tests.support.boundaries import Case, Cells, made_up, walk


def ask(case: Case, cells: Cells, budget: int, flying: Indices | None = None, memory: Any = None) -> list[int]:
    """What a selector asks for that is made for the purpose."""
    boundary = Boundary(case.space, [case.goal], budget, memory)
    boundary.tell(cells.evidence)
    return boundary.ask(flying).tolist()


@st.composite
def grids(draw: st.DrawFn) -> Case:
    """Small grids of any shape, some of whose points give no answers, in one panel or two."""
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    facets, seeds = draw(st.integers(1, 2)), draw(st.integers(1, 8))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = (facets, *shape) if facets > 1 else shape
    missing = (random.random(size) < draw(st.sampled_from([0.0, 0.3, 1.0]))).astype(float)
    return Case.of("small", random.random(size).round(1), seeds, missing, facets)


@settings(max_examples=40)
@given(grids(), st.integers(0, 300), st.integers(0, 5))
def test_never_more_than_the_budget_or_a_points_seeds(case: Case, budget: int, order: int) -> None:
    """It ends, within the budget, and no point gets more cells than it has seeds."""
    cells = Cells(case, order)
    for cells in walk(case, order, Boundary(case.space, [Goal(wrong=0.0)], budget)):
        assert cells.cells.max() <= case.space.seeds
    assert int(cells.cells.sum()) <= budget


@settings(max_examples=25)
@given(grids(), st.integers(1, 200), st.integers(0, 5), st.randoms(use_true_random=False))
def test_a_choice_depends_on_evidence_memory_and_what_is_in_flight(
    case: Case, budget: int, order: int, random: Any
) -> None:
    """A selector built anew from memory, through JSON, chooses what the one that went on chooses; asking twice, too."""
    going, cells = Boundary(case.space, [case.goal], budget), Cells(case, order)
    flying = np.zeros(len(case.space), np.int64)
    for _ in range(4):
        memory = json.loads(json.dumps(going.memory))
        going.tell(cells.evidence)
        points = going.ask(flying)
        assert ask(case, cells, budget, flying, memory) == points.tolist()
        assert going.ask(flying).tolist() == points.tolist()
        # Some of them, and of those in flight, end in any order.
        flying += np.bincount(points, minlength=len(flying))
        ended = [int(point) for point in np.repeat(np.arange(len(flying)), flying) if random.random() < 0.6]
        random.shuffle(ended)
        cells.train(ended)
        flying -= np.bincount(np.array(ended, dtype=np.int64), minlength=len(flying))
        assert np.all(cells.cells + flying <= case.space.seeds)
        assert int((cells.cells + flying).sum()) <= budget


def test_what_is_in_flight_is_not_asked_for_again() -> None:
    """With the first batch in flight nothing of it comes again, and a lost seed of a point is not made up for."""
    case = made_up(21)["sharp"]()
    boundary = Boundary(case.space, [case.goal], 400)
    first = boundary.ask()
    flying = np.bincount(first, minlength=len(case.space))
    assert flying.max() == 1
    then = boundary.ask(flying)
    assert not np.any(flying[then]), "all points are alike without labels, and others have none yet"
    full = np.full(len(case.space), case.space.seeds)
    assert not len(Boundary(case.space, [case.goal], case.space.cells).ask(full))


def test_the_first_batch_is_spread_and_no_larger_than_the_budget() -> None:
    """One cell a point at most, over all panels; a budget that is smaller than the batch is its size."""
    space = made_up(21)["facets, lengths 1 : 10"]().space
    first = Boundary(space, [Goal()], space.cells).ask()
    assert len(np.unique(first)) == len(first) == FEWEST
    assert np.bincount(space.panel[first]).tolist() == [FEWEST // 2] * 2
    assert len(Boundary(space, [Goal()], 5).ask()) == 5
    assert len(Boundary(space, [Goal()], 0).ask()) == 0


@pytest.mark.parametrize(("name", "verdict"), [("all yes", ABOVE), ("all no", BELOW)])
def test_where_all_labels_agree_it_ends_soon(name: str, verdict: int) -> None:
    """A few per cent of the cells tell every point, after a look at a quarter of the points."""
    case = made_up(21)[name]()
    boundary = Boundary(case.space, [case.goal], case.space.cells)
    *_, cells = walk(case, 0, boundary)
    assert FLOOR * len(case.space) <= cells.cells.sum() <= 0.03 * case.space.cells
    assert np.mean(boundary.standing().estimates[0].verdict == verdict) > 0.95


@pytest.mark.parametrize("shape", [(1,), (3, 3), (30,), (1, 12), (4, 3, 2)])
def test_grids_of_any_shape(shape: tuple[int, ...]) -> None:
    """One point, few points, one axis, an axis of one point: it ends, and tells a sharp boundary."""
    truth = np.where(np.arange(np.prod(shape)) < np.prod(shape) / 3, 0.05, 0.95).reshape(shape)
    case = Case.of("shape", truth, seeds=20)
    boundary = Boundary(case.space, [case.goal], case.space.cells)
    *_, _ = walk(case, 0, boundary)
    standing = boundary.standing()
    assert boundary.reached(standing)
    wrong = (standing.estimates[0].above > 0.5) != (case.truth > 0.5)
    assert wrong.mean() <= 0.1


def test_missing_labels_are_not_asked_for_for_ever() -> None:
    """Where no cell answers, few are spent; where none answers anywhere, it ends."""
    case = made_up(21)["a third without answers"]()
    boundary = Boundary(case.space, [case.goal], case.space.cells)
    *_, cells = walk(case, 0, boundary)
    assert cells.cells.sum() < 0.2 * case.space.cells
    assert cells.cells[~case.answered].mean() < cells.cells[case.answered].mean()
    assert cells.cells[~case.answered].max() < case.space.seeds / 2
    none = Case.of("none", np.full((12, 12), 0.5), missing=np.ones((12, 12)))
    boundary = Boundary(none.space, [none.goal], none.space.cells)
    *_, cells = walk(none, 0, boundary)
    assert cells.cells.sum() < 0.25 * none.space.cells
    assert np.all(boundary.standing().estimates[0].verdict == UNKNOWN)


@given(st.integers(0, 2**32))
@settings(max_examples=10)
def test_panels_tell_nothing_of_each_other(seed: int) -> None:
    """Labels of one panel change no verdict of the other."""
    random = np.random.default_rng(seed)
    space = Space((4, 4), np.repeat([0, 1], 16), np.tile(np.arange(16), 2), 9)
    n = random.integers(0, 4, 32).astype(float)
    yes, other = random.binomial(n.astype(int), 0.5).astype(float), random.binomial(n.astype(int), 0.5).astype(float)
    other[:16] = yes[:16]
    one, two = fitted(space, Goal(), yes, n), fitted(space, Goal(), other, n)
    np.testing.assert_array_equal(one.mean[:16], two.mean[:16])
    np.testing.assert_array_equal(one.verdict[:16], two.verdict[:16])
    alone = fitted(Space((4, 4), np.zeros(16, np.int64), np.arange(16), 9), Goal(), yes[:16], n[:16])
    np.testing.assert_allclose(one.mean[:16], alone.mean, atol=1e-9)


def test_the_order_of_points_is_kept_in_what_is_told() -> None:
    """Verdicts come by point, however points lie in panels."""
    random = np.random.default_rng(0)
    order = random.permutation(32)
    space = Space((16,), np.repeat([0, 1], 16)[order], np.tile(np.arange(16), 2)[order], 20)
    truth = np.where(space.place < 5 + 6 * space.panel, 0.02, 0.98)
    told = fitted(space, Goal(), np.where(truth > 0.5, 20.0, 0.0), np.full(32, 20.0))
    assert np.array_equal(told.verdict == ABOVE, truth > 0.5)


def test_several_goals_are_served_at_once() -> None:
    """Each has its own line, all share the cells, and it ends when all are told."""
    x = np.linspace(0, 1, 21)
    truths = [np.broadcast_to(1 / (1 + np.exp(-60 * (x - at))), (21, 21)).ravel() for at in (0.3, 0.7)]
    space, random = Case.of("two", truths[0].reshape(21, 21)).space, np.random.default_rng(0)
    goals = [Goal(), Goal(share=0.3, within=0.05)]
    boundary, cells = Boundary(space, goals, space.cells), np.zeros(len(space), np.int64)
    yes = np.zeros((2, len(space)))
    while len(points := boundary.ask()):
        for point in points:
            yes[:, point] += random.random(2) < [truth[point] for truth in truths]
            cells[point] += 1
        boundary.tell(Evidence(cells.copy(), yes.copy(), np.broadcast_to(cells, yes.shape).astype(float)))
    standing = boundary.standing()
    assert boundary.reached(standing)
    assert cells.sum() < 0.15 * space.cells
    for told, truth, goal in zip(standing.estimates, truths, goals, strict=True):
        wrong = (told.above > 0.5) != (truth > goal.share)
        assert wrong.mean() < 0.05


def test_a_space_without_points_asks_for_nothing() -> None:
    """Nothing to ask, nothing to tell."""
    space = Space.of([], {})
    boundary = Boundary(space, [Goal()], 10)
    assert not len(boundary.ask())
    assert not len(boundary.standing().estimates[0].verdict)


def test_a_plateau_at_the_level_is_near() -> None:
    """A share that is one half everywhere has no side, and the search for one ends."""
    case = Case.of("half", np.full((9, 9), 0.5), seeds=60)
    boundary = Boundary(case.space, [case.goal], case.space.cells)
    *_, cells = walk(case, 0, boundary)
    told = boundary.standing().estimates[0]
    assert cells.cells.sum() < 0.4 * case.space.cells
    assert np.mean((told.verdict == NEAR) | (told.verdict == UNKNOWN)) > 0.9
