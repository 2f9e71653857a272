"""Predicates of claims on made-up runs, each with a run that must hold and one that only nearly does."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from analysis.claims import chosen
from analysis.report.queries import text_of

RUNS = text_of("claims/shared/runs").strip()
Row = dict[str, Any]


def ask(slug: str, runs: list[Row]) -> list[tuple[int, int]]:
    """n and k of each row that a claim's query gives of these runs, in the place of those of a store."""
    query = text_of(chosen([slug])[0].name)
    assert RUNS in query
    with duckdb.connect() as connection:
        connection.register("runs", pa.Table.from_pylist(runs))
        found = connection.execute(query.replace(RUNS, "chosen as (select $1 as ids)"), [["none"]]).fetchall()
    return [(n, k) for _, _, n, k, _ in found]


def symmetric(seed: int, minor: list[float], major: list[float]) -> Row:
    """A run of two concepts, the first the stronger: |w_12| and w_22 at each record."""
    return {
        "convention": "paper",
        "seed": seed,
        "model": "symmetric",
        "drive": "flow",
        "s": 2,
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
        "convention": "paper",
        "seed": seed,
        "model": "one_layer",
        "layers": 1,
        "s": 2,
        "d": 2,
        "drive": "sgd",
        "n": 50,
        "batch_size": 10,
        "zero_cluster": False,
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
    [(4, 0.0, (0, 0)), (4000, 0.0, (1, 1)), (4000, 0.05, (1, 0))],
)
def test_a_mean_is_told_by_enough_seeds_only(seeds: int, shift: float, expected: tuple[int, int]) -> None:
    """Few seeds that agree tell nothing, many that agree hold, and many that are off do not."""
    width, tau = 4, 0.1
    # Quantiles of a normal law in the place of draws: their mean is the shift.
    minor = np.sqrt(width) * tau**2 * (np.linspace(-2, 2, seeds) + shift * 10)
    common = {"convention": "paper", "model": "symmetric", "s": 2, "init": "normal", "width": width}
    runs = [
        {**common, "seed": seed, "init_gain": tau * np.sqrt(width), "jacobian": [[width * tau**2, w, w, 1.0]]}
        for seed, w in enumerate(minor)
    ]
    assert ask("e-1-minor", runs) == [expected]


def test_a_bottleneck_has_to_end_at_its_bound() -> None:
    """At the bound it holds; above it, or below 1 % of L_ref at the test point, it does not."""
    common = {"convention": "paper", "model": "symmetric", "drive": "flow", "s": 3, "rank0": 1, "l_ref": 1.0}
    ends = [(0.5, 0.3), (0.504, 0.3), (0.6, 0.3), (0.5, 0.001), (0.4, 0.3)]
    runs = [
        {**common, "cell_id": str(seed), "shard": "one", "seed": seed, "final_train_loss": train, "final_ood_loss": ood}
        for seed, (train, ood) in enumerate(ends)
    ]
    theory = [{"cell_id": row["cell_id"], "of_shard": "one", "least_training_loss": 0.5} for row in runs]
    query = text_of("claims/bottleneck-is-structural").replace(RUNS, "chosen as (select $1 as ids)")
    with duckdb.connect() as connection:
        connection.register("runs", pa.Table.from_pylist(runs))
        connection.register("outcomes_theory", pa.Table.from_pylist(theory))
        ((_, _, n, k, _),) = connection.execute(query, [["none"]]).fetchall()
    assert (n, k) == (5, 2)
