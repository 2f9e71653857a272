"""Laws of the choice of a batch."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from swingby.select.boundary.choice import STEPS, Doubt, choose


def doubt(seed: int, count: int, told: float = 0.0) -> Doubt:
    """A doubt over points whose posterior is a random one, of which a share is told."""
    random = np.random.default_rng(seed)
    root = random.normal(size=(count, count))
    share = random.uniform(0.05, 0.95, count)
    open_ = (random.random(count) >= told).astype(float)
    return Doubt(random.normal(size=count), root @ root.T / count + 0.1 * np.eye(count), open_, share * (1 - share))


@given(
    st.integers(0, 2**32), st.lists(st.integers(0, 12), min_size=1, max_size=4), st.integers(0, 60), st.integers(0, 5)
)
def test_a_batch_asks_for_no_more_than_there_is(seed: int, sizes: list[int], count: int, seeds: int) -> None:
    """No more cells than wanted, and at no point more than are left there; as many as possible where doubt is left."""
    random = np.random.default_rng(seed)
    left = [random.integers(0, seeds + 1, size) for size in sizes]
    before = [each.copy() for each in left]
    turn = [np.arange(size) for size in sizes]
    found, _ = choose([[doubt(seed, size)] for size in sizes], left, [np.ones(size) for size in sizes], turn, count)
    for chosen, most, kept in zip(found, before, left, strict=True):
        assert np.all(np.bincount(chosen, minlength=len(most)) <= most)
        assert kept.tolist() == most.tolist(), "what is left is the caller's"
    assert sum(map(len, found)) == min(count, sum(int(each.sum()) for each in before))


@given(st.integers(0, 2**32), st.integers(2, 15))
def test_labels_that_will_come_are_exact_conditioning(seed: int, count: int) -> None:
    """The covariance after some labels is the inverse of the precision with theirs added."""
    one = doubt(seed, count)
    random = np.random.default_rng(seed)
    chosen = random.permutation(count)[: count // 2]
    labels = random.integers(1, 4, len(chosen)).astype(float)
    precision = np.linalg.inv(one.covariance)
    precision[chosen, chosen] += labels * one.information[chosen]
    one.take(chosen, labels)
    np.testing.assert_allclose(one.covariance, np.linalg.inv(precision), atol=1e-8)


@given(st.integers(0, 2**32), st.integers(2, 15))
def test_a_score_is_what_the_label_takes_away(seed: int, count: int) -> None:
    """The score of a point is the fall of the weighted variances if its label came."""
    one = doubt(seed, count, told=0.3)
    variance = np.diag(one.covariance).copy()
    weight = one.open * np.exp(-0.5 * one.mean**2 / variance) / variance
    scores = one.scores()
    for point in range(count):
        after = doubt(seed, count, told=0.3)
        after.take(np.array([point]), np.ones(1))
        np.testing.assert_allclose(scores[point], weight @ (variance - np.diag(after.covariance)), atol=1e-8)


def test_where_nothing_is_open_nothing_is_chosen() -> None:
    """All sides are told, or no point gives answers."""
    told = Doubt(np.ones(3), np.eye(3), np.zeros(3), np.full(3, 0.25))
    assert [len(each) for each in choose([[told]], [np.full(3, 9)], [np.ones(3)], [np.arange(3)], 5)[0]] == [0]
    open_ = Doubt(np.ones(3), np.eye(3), np.ones(3), np.full(3, 0.25))
    assert [len(each) for each in choose([[open_]], [np.full(3, 9)], [np.zeros(3)], [np.arange(3)], 5)[0]] == [0]


def test_equals_come_in_the_order_of_their_turn() -> None:
    """Ties are no matter of how points are numbered."""
    same = Doubt(np.zeros(4), np.eye(4), np.ones(4), np.full(4, 0.25))
    assert choose([[same]], [np.full(4, 1)], [np.ones(4)], [np.array([3, 1, 0, 2])], 2)[0][0].tolist() == [2, 1]


def test_the_correlated_are_not_chosen_in_one_step() -> None:
    """Of two points that tell the same the other one waits, and a third that tells less comes first."""
    covariance = np.array([[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 0.5]])
    one = Doubt(np.zeros(3), covariance, np.ones(3), np.full(3, 0.25))
    found, _ = choose([[one]], [np.full(3, 9)], [np.ones(3)], [np.arange(3)], 2 * STEPS)
    assert found[0][:2].tolist() == [0, 2]
