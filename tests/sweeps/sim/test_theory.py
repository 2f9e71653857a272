"""Where theory speaks of trained nets: Theorem 4.1 under SGD, the order of concepts, the order of test points (B.2)."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from swingby.model.experiment import Batch, Recording
from swingby_sweeps.sim import task
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.init import draw_layers
from swingby_sweeps.sim.params import SimParams

SIM = Sim()
PRESETS = ("paper", "authors")


def run(preset: str, seeds: int, recording: Recording, **values: Any) -> list[dict[str, Any]]:
    point = Sim.point(preset, **values)
    (table,) = SIM.run(Batch(tuple(point.cell(seed) for seed in range(seeds)), recording))
    return table.to_pylist()


@pytest.mark.parametrize("preset", PRESETS)
def test_one_layer_under_sgd_follows_theorem_4_1(preset: str) -> None:
    """One layer without bias, by mini-batch SGD at the paper's size, stays within 1 % of mu_k of eq 4.2 at every step.

    The a_p and the time are those of the cell's own conventions; small steps (lr 0.01) keep discretisation below this.
    """
    values: dict[str, Any] = {"model": "one_layer", "bias": False, "lr": 0.01, "epochs": 20}
    point = Sim.point(preset, **values)
    p = point.params
    assert isinstance(p, SimParams)
    for seed, row in enumerate(run(preset, 4, Recording(), **values)):
        R = task.random_rotation(point.cell(seed))
        W0 = (R.T @ draw_layers(point.cell(seed))[0][0] @ R)[:2, :2]
        decay = np.exp(-np.outer(np.array(row["step"]) * p.time_per_step, row["a"]))
        expected = (1 - decay) * p.mu + (decay * p.mu) @ W0.T
        assert np.all(np.abs(np.array(row["output"]) - expected) <= 0.01 * np.array(p.mu))


def learning_time(row: dict[str, Any], concept: int, level: float = 0.9) -> float:
    """Start of the final stretch with f_k/mu_k >= level; infinite if it does not end so."""
    below = np.flatnonzero(np.array(row["output"])[:, concept] / row["mu"][concept] < level)
    if not len(below):
        return 0.0
    return float(row["step"][below[-1] + 1]) if below[-1] + 1 < len(row["step"]) else np.inf


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("model", [{"model": "one_layer"}, {"model": "linear", "layers": 2}], ids=["one_layer", "two"])
def test_concepts_are_learned_in_the_order_of_a(preset: str, model: dict[str, Any]) -> None:
    """The concept of larger a_p is learned first, though its signal be the weaker; the order reverses at a_1 = a_2.

    mu = (1/2, 1), sigma_1 such that a_1/a_2 = 1/2, 4/5, 5/4, 2: sign of the median over 8 seeds of t_2(.9) - t_1(.9).
    """
    differences = []
    for ratio in (0.5, 0.8, 1.25, 2.0):
        a_2 = 1.0 / (3 if preset == "authors" else 2) + 0.05
        a_1 = ratio * a_2
        clusters = 3 if preset == "authors" else 2
        variances = (a_1 - 0.25 / clusters, 0.05)
        sigma = variances if preset == "authors" else tuple(np.sqrt(variances))
        mu = (0.5, 1.0)
        # The mean over d = 64 coordinates makes a step 32 times shorter.
        lr = {"lr": 1.0 if preset == "authors" else 0.05}
        rows = run(preset, 8, Recording(), mu=mu, sigma=tuple(float(x) for x in sigma), n=2000, **model, **lr)
        np.testing.assert_allclose(rows[0]["a"], [a_1, a_2], rtol=1e-12)
        times = [[learning_time({**row, "mu": mu}, k) for k in range(2)] for row in rows]
        assert np.isfinite(times).all()
        differences.append(float(np.median(np.diff(times, axis=1))))
    assert differences[0] < 0
    assert differences[1] < 0
    assert differences[2] > 0
    assert differences[3] > 0


def comparable(s: int) -> np.ndarray:
    """Pairs (u, v), u != v, of test points with u <= v componentwise and u not the origin; shape (pairs, 2)."""
    pairs = itertools.product(range(1, 2**s), repeat=2)
    return np.array([(u, v) for u, v in pairs if u != v and u & v == u])


def losses_of_fig_7(preset: str, model: str) -> np.ndarray:
    """Losses at the test points after epochs 1, 3 and 5 of Fig 7's setting, mu = (1, 2, 3, 4); (seeds, 3, 2^s)."""
    rows = run(preset, 4, Recording("epoch", also=("hierarchy",)), s=4, epochs=6, model=model)
    return np.array([row["hierarchy_loss"] for row in rows])[:, [1, 3, 5]]


def out_of_order(lower: np.ndarray, upper: np.ndarray) -> float:
    """The share of pairs with l(u) > 1.02 l(v) + 1e-3."""
    return float(np.mean(lower > 1.02 * upper + 1e-3))


TELLING = [("authors", "one_layer"), ("authors", "linear"), ("authors", "relu"), ("paper", "relu")]


@pytest.mark.parametrize(("preset", "model"), TELLING)
def test_test_points_are_learned_in_their_order(preset: str, model: str) -> None:
    """B.2 at epochs 1, 3, 5 of Fig 7: l(u) <= 1.02 l(v) + 1e-3 for 95 % of the pairs u <= v or more.

    Most pairs could break it: read the other way round it is broken by most. The origin is left out: without biases
    its loss is 0 and the claim empty, with biases it is not claimed.
    """
    losses, (u, v) = losses_of_fig_7(preset, model), comparable(4).T
    assert out_of_order(losses[..., u], losses[..., v]) <= 0.05
    assert out_of_order(losses[..., v], losses[..., u]) > 0.5


@pytest.mark.parametrize("model", ["one_layer", "linear"])
def test_at_the_epochs_of_fig_7_the_papers_linear_nets_have_no_order_to_keep(model: str) -> None:
    """After one epoch of the paper's steps every test point is learned: no loss reaches the slack of 1e-3."""
    assert losses_of_fig_7("paper", model).max() < 1e-3
