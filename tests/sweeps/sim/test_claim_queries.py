"""Predicates of claims on made-up runs, each with a run that must hold and one that only nearly does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from swingby_analysis.statements.kinds import FAILS, HOLDS, NOT_SHOWN, UNTOLD
from tests.support.claims import answers

Row = dict[str, Any]


def ask(slug: str, runs: list[Row]) -> list[tuple[int, int]]:
    """n and k of each row that a claim's query gives of these runs, in the place of those of a store."""
    return [(row.outcome.n, row.outcome.k) for row in answers(slug, pa.Table.from_pylist(runs))]


def symmetric(seed: int, minor: list[float], major: list[float]) -> Row:
    """A run of two concepts, the first the stronger: |w_12| and w_22 at each record."""
    return {
        "preset": "paper",
        "seed": seed,
        "model": "symmetric",
        "drive": "flow",
        "s": 2,
        "d": 2,
        "mu": [2.0, 1.0],
        "sigma": [0.1, 0.1],
        "a": [4.0, 1.0],
        "step": list(range(len(minor))),
        "jacobian": [[1.0, w, w, v] for w, v in zip(minor, major, strict=True)],
    }


@pytest.mark.parametrize(
    ("minor", "suppressed", "peaks"),
    [
        ([0.1, 0.4, 0.2, 0.1, 0.0], 1, 1),  # half of its peak when the major one is at 0.1
        ([0.1, 0.4, 0.3, 0.1, 0.0], 0, 1),  # past its peak, and not yet down to half
        ([0.0, 0.1, 0.1, 0.3, 0.4], 0, 0),  # small as yet, and still to grow
    ],
)
def test_suppressed_is_less_than_past_the_peak(minor: list[float], suppressed: int, peaks: int) -> None:
    """Judged when the major entry is at 0.1, by half the peak; the weaker claim when it is at one half, by the peak."""
    runs = [symmetric(7, minor, [0.0, 0.05, 0.1, 0.5, 1.0])]
    assert ask("minor-suppressed-first", runs) == [(1, suppressed)]
    assert ask("minor-peaks-first", runs) == [(1, peaks)]


def hypercube(seed: int, losses: list[list[float]]) -> Row:
    """A run of one layer and two concepts: losses at the four test points after the start and epochs 1, 3 and 5."""
    return {
        "preset": "paper",
        "seed": seed,
        "model": "one_layer",
        "layers": 1,
        "s": 2,
        "d": 2,
        "drive": "sgd",
        "n": 50,
        "batch_size": 10,
        "zero_cluster": False,
        "steps_per_epoch": 10,
        "step": [0, 10, 30, 50],
        "hierarchy_loss": losses,
    }


def test_what_is_learned_tells_no_order() -> None:
    """With all losses within the tolerance a seed tells nothing; above it, order and disorder are told apart."""
    start = [0.0, 1.0, 2.0, 3.0]
    learned, right, wrong = [4e-4, 2e-4, 2e-4, 1e-4], [0.0, 0.1, 0.2, 0.3], [0.0, 0.1, 0.4, 0.3]
    runs = [hypercube(seed, [start, now, learned, learned]) for seed, now in enumerate((learned, right, wrong))]
    assert ask("fig-7-linear", runs) == [(2, 1), (2, 1)]
    assert ask("fig-7-linear", runs[:1]) == [(0, 0), (0, 0)]
    # Between the ends of epochs, too.
    runs[1]["step"] = [0, 14, 29, 50]
    assert ask("fig-7-throughout", runs) == [(2, 1), (2, 1)]


@pytest.mark.parametrize(
    ("seeds", "shift", "expected"),
    [(4, 0.0, UNTOLD), (400, 0.0, HOLDS), (400, 0.02, NOT_SHOWN), (400, 0.05, FAILS)],
)
def test_a_mean_is_told_by_enough_seeds_only(seeds: int, shift: float, expected: str) -> None:
    """Few seeds that agree tell nothing, many that agree hold, and many that are off do not."""
    width, tau = 4, 0.1
    mean = width * tau**2
    # Quantiles of a normal law in the place of draws: their mean is the shift.
    minor = np.sqrt(width) * tau**2 * (np.linspace(-2, 2, seeds) + shift * 10)
    common = {"preset": "paper", "model": "symmetric", "s": 2, "init": "normal", "width": width}
    runs = [
        {
            **common,
            "seed": seed,
            "start_sd": tau,
            "e_1_major": mean,
            "e_1_minor_spread": mean / np.sqrt(width),
            "jacobian": [[mean, w, w, 1.0]],
        }
        for seed, w in enumerate(minor)
    ]
    (found,) = answers("e-1-minor", pa.Table.from_pylist(runs))
    assert found.outcome.verdict == expected


def test_a_bottleneck_has_to_end_at_its_bound() -> None:
    """At the bound it holds; above it, or below 1 % of L_ref at the test point, it does not."""
    common = {"preset": "paper", "model": "symmetric", "drive": "flow", "s": 3, "rank0": 1, "l_ref": 1.0}
    ends = [(0.5, 0.3), (0.504, 0.3), (0.6, 0.3), (0.5, 0.001), (0.4, 0.3)]
    runs = [
        {**common, "seed": seed, "final_train_loss": train, "final_ood_loss": ood, "least_training_loss": 0.5}
        for seed, (train, ood) in enumerate(ends)
    ]
    assert ask("bottleneck-is-structural", runs) == [(5, 2)]


def grid(seed: int, first: list[bool | None], ends: list[tuple[float, float]] | None = None) -> list[Row]:
    """Runs of one layer at a_1 / a_2 = 1/4, 1/2, 2, 4: whether the order is right, and r_1 and r_2 at the end."""
    signals = [[1.0, 4.0], [1.0, 2.0], [2.0, 1.0], [4.0, 1.0]]
    mu = [2.0, 0.5]
    return [
        {
            "preset": "paper", "cell_id": f"{seed}-{k}", "seed": seed, "model": "one_layer", "layers": 1, "d": 64,
            "mu": mu, "a": a, "order_follows_a": right, "t90": [float("inf")] * 2,
            "output": [[0.0, 0.0], [mu[0] * end[0], mu[1] * end[1]]],
        }
        for k, (a, right, end) in enumerate(zip(signals, first, ends or [(1.0, 1.0)] * 4, strict=True))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("leads", "expected"),
    [
        ([-2.0, -1.0, 1.0, 2.0], (1, 1)),
        ([2.0, 1.0, -1.0, -2.0], (1, 0)),  # reversed the other way round
        ([-2.0, 1.0, 2.0, 2.0], (1, 0)),  # at a_1 / a_2 = 0.31
        ([-1.0, -1.0, 1.0, -1.0], (1, 0)),  # and back again
        ([1.0, 1.0, 1.0, 1.0], (1, 0)),  # never
    ],
)
def test_the_order_reverses_once_and_where_signals_are_equal(leads: list[float], expected: tuple[int, int]) -> None:
    """The sign of the area between r_1 and r_2 changes from - to + along a_1 / a_2, near 1."""
    runs = grid(0, [True] * 4)
    for row, lead in zip(runs, leads, strict=True):
        row |= {"step": [0, 1, 4], "output": [[0.0, 0.0], [2.0 * 0.1 * lead, 0.0], [2.0 * 0.1 * lead, 0.0]]}
    assert ask("fig-2a-reversal", runs) == [expected]


def deep(seed: int, **changes: Any) -> Row:
    """A run of a deep linear net in two dimensions that generalizes without a rise."""
    plain = {
        "preset": "paper", "cell_id": str(seed), "seed": seed, "model": "linear", "drive": "sgd", "layers": 4,
        "d": 2, "s": 2, "width": 4, "lr": 0.01, "mu": [2.0, 4.0], "a": [2.0, 8.0], "zero_cluster": True, "l_ref": 10.0,
        "non_monotone": False, "transient_memorization": False, "twin_gd_transient_memorization": False,
        "retreat": False, "bump_height": 0.0,
        "outcome": "generalized", "final_ood_loss": 0.01, "bump_start": None, "bump_peak": None, "step": [0, 10, 20],
        "output": [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]], "train_loss": [10.0, 5.0, 0.0],
    }  # fmt: skip
    return plain | changes


RISE: Row = {"non_monotone": True, "bump_height": 0.1, "bump_start": 0, "bump_peak": 10}


def test_each_claim_of_deep_nets_asks_for_its_own_outcome() -> None:
    """Rising, memorizing, and generalizing are told apart, and so are low and high dimension."""
    rises, memorizes = deep(1, **RISE), deep(2, **RISE, transient_memorization=True)
    runs = [deep(0), rises, memorizes, deep(3, outcome="plateau"), deep(4, outcome=None, non_monotone=None), deep(5)]
    for slug, k in (("fig-2c-low", 1), ("fig-3-low", 1), ("fig-14", 2), ("fig-2c-return", 4)):
        assert ask(slug, runs) == [(6, k)], slug
    runs[1] |= {"twin_gd_transient_memorization": True}  # the twin shows what noise hid of the run
    for slug, k in (("fig-2c-low", 1), ("fig-3-low", 2), ("fig-14", 2)):
        assert ask(slug, runs) == [(6, k)], slug
    assert ask("fig-3-high", runs) == []
    assert ask("fig-3-high", [row | {"d": 64} for row in runs]) == [(6, 3)]
    for slug in ("fig-2c-low", "fig-3-low", "fig-2c-return"):
        assert ask(slug, [row | {"d": 64} for row in runs]) == [], slug


@pytest.mark.parametrize(
    ("at", "origin", "k"),
    [
        ((0.5, 3.5), True, 1),
        ((1.9, 0.5), True, 0),
        ((0.0, 1.9), True, 0),  # 1.9 from the origin, 2.1 from (0, 4), 2.8 from (2, 0)
        ((0.0, 1.9), False, 1),
    ],
)
def test_a_swing_is_to_the_strongest_of_all_centres(at: tuple[float, float], origin: bool, k: int) -> None:
    """At the top of the rise the nearest centre is that of the largest a_p: neither the other one, nor the origin where
    a cluster lies there; a run without a rise tells nothing."""
    swung = deep(0, **RISE, zero_cluster=origin, output=[[0.0, 0.0], list(at), [2.0, 4.0]])
    assert ask("fig-2c-direction", [swung, deep(1)]) == [(1, k)]


def test_a_training_loss_only_falls_if_it_never_rises_above_its_least() -> None:
    """A rise by less than 1 % of L_ref is none; a larger one counts against, however long after the least value."""
    losses = ([10.0, 5.0, 5.09, 0.0], [10.0, 5.0, 5.06, 5.12], [0.0, 5.0, 2.0, 1.0])
    runs = [deep(seed, step=[0, 1, 2, 3], train_loss=loss) for seed, loss in enumerate(losses)]
    assert ask("fig-17", runs) == [(3, 1)]


def test_one_layer_is_monotone_without_descents_and_without_retreats() -> None:
    """A second descent or a retreat at any point of the grid counts against the seed; other models do not count."""
    runs = [deep(seed, model="one_layer", sigma=[0.1, 0.1], mu=[1.0, mu]) for seed in range(4) for mu in (2.0, 3.0)]
    runs[1] |= {"non_monotone": True}
    runs[2] |= {"retreat": True}
    assert ask("one-layer-monotone", [*runs, deep(4, **RISE, sigma=[0.1, 0.1])]) == [(4, 2)]
