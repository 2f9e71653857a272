"""The lines of theory in the diagrams of the findings, held against what they are derived from."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from swingby_analysis.grid import GridLine
from swingby_sweeps.sim import theory, theory_lines
from swingby_sweeps.sim.assumptions import assumptions
from swingby_sweeps.sim.detect.theory import CONSTANTS
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.params import SimParams
from swingby_sweeps.sim.theory_lines import rise_at, signals
from tests.support.grids import grid

COMMON: dict[str, Any] = {
    "mu": [1.0, 2.0], "sigma": [0.05, 0.05], "sigma_is": "sd", "zero_cluster": False, "n": 5000, "batch_size": 128,
    "epochs": 40, "reduction": "half_sum", "lr": 0.02, "d": 2, "width": 4, "layers": 4,
}  # fmt: skip
A = signals(COMMON)


def without(*names: str) -> dict[str, Any]:
    """A resolved sweep whose points share all parameters but these."""
    return {"common": {name: value for name, value in COMMON.items() if name not in names}}


def test_signals_follow_the_conventions() -> None:
    """a_p = sigma_p^2 + mu_p^2 / C, whatever sigma is, and with a cluster at the origin C is one more."""
    assert pytest.approx([0.0025 + 0.5, 0.0025 + 2.0]) == A
    assert signals(COMMON, sigma_is="variance") == pytest.approx([0.55, 2.05])
    assert signals(COMMON, zero_cluster=True) == pytest.approx([0.0025 + 1 / 3, 0.0025 + 4 / 3])


def _curvature(layers: list[np.ndarray], a: np.ndarray) -> float:
    """The largest curvature of 1/2 E|W_L ... W_1 x - x|^2 at a solution: of J^T (I x A) J, there all of the Hessian."""
    columns = []
    for place, weight in enumerate(layers):
        for index in np.ndindex(weight.shape):
            step = [np.zeros_like(w) if i == place else w for i, w in enumerate(layers)]
            step[place][index] = 1
            columns.append((np.linalg.multi_dot(step[::-1]) @ np.diag(np.sqrt(a))).ravel())
    jacobian = np.array(columns).T
    return float(np.linalg.eigvalsh(jacobian.T @ jacobian)[-1])


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_no_solution_is_flatter_than_the_line_of_the_learning_rate(depth: int) -> None:
    """At random solutions the largest curvature is above L a_max; at orthogonal layers it is just that."""
    rng = np.random.default_rng(depth)
    (line,) = theory_lines.steepest_rate(
        without("layers"), grid(("lr", [0.001, 10.0]), ("layers", [1.0, 2.0, 3.0, 4.0, 5.0]))
    )
    least = 2 / dict(zip(np.round(line.y, 9), line.x, strict=True))[depth]
    assert least == pytest.approx(depth * A.max())
    for _ in range(20):
        free = [rng.normal(size=(2, 2)) for _ in range(depth - 1)]
        solution = [*free, np.linalg.inv(np.linalg.multi_dot([*free[::-1], np.eye(2)]))]
        assert _curvature(solution, A) >= least - 1e-9
    turns = [np.linalg.qr(rng.normal(size=(2, 2)))[0] for _ in range(depth - 1)]
    flat = [*turns, np.linalg.multi_dot([*turns[::-1], np.eye(2)]).T]
    assert _curvature(flat, A) == pytest.approx(least)


@pytest.mark.parametrize("depth", [3, 4, 6])
def test_on_the_line_of_the_first_plateau_the_run_is_as_long_as_it(depth: int) -> None:
    """k' = a k^(L - 1) from the line's gain, stretched by the first layer, would be infinite at the end of the run."""
    axes = grid(("init_gain", [0.001, 10.0]), ("layers", [float(n) for n in range(1, 9)]))
    slow, _ = theory_lines.plateau_and_steepness(without("layers", "init_gain"), axes)
    gain = dict(zip(np.round(slow.y, 9), slow.x, strict=True))[depth]
    start = gain * (COMMON["width"] / COMMON["d"]) ** (1 / (2 * depth))
    grown = solve_ivp(lambda t, k: A.min() * k ** (depth - 1), (0, 70), [start], rtol=1e-9, events=[_far(6 * start)])
    assert grown.t_events is not None
    assert grown.t_events[0][0] == pytest.approx(40 * 79 * 0.02 * (1 - 6.0 ** (2 - depth)), rel=1e-3)


def _far(bound: float) -> Any:
    def passed(t: float, k: np.ndarray) -> float:
        return float(k[0] - bound)

    passed.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    return passed


def test_on_the_line_of_steepness_a_normal_start_has_that_curvature_in_the_mean() -> None:
    """The mean over starts of the curvature along e_2 (input and output alike turned) times lr is 2, within a tenth."""
    axes = grid(("init_gain", [0.001, 10.0]), ("width", [4.0, 64.0, 256.0]))
    _, steep = theory_lines.plateau_and_steepness(without("width", "init_gain"), axes)
    gain = dict(zip(np.round(steep.y, 9), steep.x, strict=True))[256]
    rng, width, total = np.random.default_rng(0), 256, 0.0
    draws = 40
    for _ in range(draws):
        sizes = [2, width, width, width, 2]
        layers = [rng.normal(size=(b, a)) * gain / np.sqrt(a) for a, b in pairwise(sizes)]
        u, v = (np.linalg.qr(rng.normal(size=(2, 2)))[0][0] for _ in range(2))
        for place in range(4):
            left, right = u, v
            for weight in layers[:place]:
                right = weight @ right
            for weight in layers[:place:-1]:
                left = left @ weight
            total += float(left @ left) * float(right @ right) / draws
    assert 0.02 * A.max() * total == pytest.approx(2, rel=0.1)


def _rise(mu: tuple[float, float], common: dict[str, Any], name: str, scale: float) -> float:
    """The rise over L_ref of eq 4.3, integrated from the typical start."""
    major, minor = theory_lines._typical(common, name, scale)
    start, a = np.array([major, minor, minor, major]), signals(common, mu=mu)

    def flow(t: float, w: np.ndarray) -> np.ndarray:
        return theory.velocity(w.reshape(2, 2), a).total.ravel()

    found = solve_ivp(flow, (0, 60), start, "LSODA", rtol=1e-10, atol=1e-22, max_step=0.05)
    output = np.einsum("ijt,j->it", found.y.reshape(2, 2, -1), np.array(mu))
    loss = ((output - np.array(mu)[:, None]) ** 2).sum(axis=0) / np.square(mu).sum()
    return float((loss - np.minimum.accumulate(loss)).max())


@pytest.mark.parametrize("name", ["init_gain", "init_high"])
def test_the_predicted_rise_is_that_of_eq_4_3_as_the_start_goes_to_zero(name: str) -> None:
    """To leading order: it is never less than the rise, and nears it as the scale falls."""
    mu, common = (1.0, 2.5), {**COMMON, "width": 2}
    ratios = [_rise(mu, common, name, scale) / rise_at(mu, common, name, scale) for scale in (1e-2, 1e-4, 1e-6)]
    assert ratios == sorted(ratios)
    assert ratios[-1] == pytest.approx(1, abs=0.01)
    assert ratios[-1] <= 1 + 1e-3


STARTS: dict[str, Any] = {**COMMON, "width": 2}
RATIOS, SCALES = np.linspace(1.0, 5.0, 41).tolist(), np.geomspace(1e-3, 1.0, 61).tolist()


@pytest.mark.parametrize("name", ["init_gain", "init_high"])
def test_the_typical_start_is_the_mean_of_starts(name: str) -> None:
    """w_pp(0) and w_12(0) in the mean; of a normal start w_12(0) is 0 in the mean, and its deviation is taken."""
    rng, width, scale = np.random.default_rng(0), 5, 0.3
    drawn = (
        rng.normal(size=(100_000, 2, width)) / np.sqrt(width)
        if name == "init_gain"
        else rng.random((100_000, 2, width))
    )
    W = (scale * drawn) @ (scale * drawn).mT
    minor = W[:, 0, 1].std() if name == "init_gain" else W[:, 0, 1].mean()
    found = theory_lines._typical({**COMMON, "width": width}, name, scale)
    assert found == pytest.approx((W[:, 0, 0].mean(), minor), rel=0.02)


@pytest.mark.parametrize("name", ["init_gain", "init_high"])
def test_app_ds_lines_are_where_its_assumptions_turn(name: str) -> None:
    """Signals are apart to the right of D.5's line, a typical start is small below D.4's: as `theory` judges them."""
    axes = grid(("mu.1", RATIOS), (name, np.geomspace(1e-6, 1.0, 13).tolist()))
    *_, apart, small = theory_lines.symmetric_start({"common": STARTS}, axes)
    assert len(small.x) > 10
    assert len(set(apart.x)) == 1

    def judged(ratio: float, scale: float) -> Any:
        major, minor = theory_lines._typical(STARTS, name, scale)
        return assumptions(np.array([[major, minor], [minor, major]]), signals(STARTS, mu=(1.0, ratio)), CONSTANTS)

    assert [judged(apart.x[0] * off, 1e-3).gap_ascending for off in (0.999, 1.001)] == [False, True]
    for ratio, scale in zip(small.x, small.y, strict=True):
        if 1 < ratio < 5:
            assert [judged(ratio, scale * off).small_start for off in (0.999, 1.001)] == [True, False]


def test_the_predicted_rise_is_one_per_cent_on_its_line() -> None:
    """Of L_ref, the threshold of the detector; between the points of a fine grid to a twentieth."""
    found = theory_lines.predicted_rise({"common": STARTS}, grid(("mu.1", RATIOS), ("init_gain", SCALES)))
    corners = [corner for line in found for corner in zip(line.x, line.y, strict=True)]
    assert len(corners) > 20
    rises = [rise_at((1.0, ratio), STARTS, "init_gain", scale) for ratio, scale in corners]
    assert rises == pytest.approx([0.01] * len(rises), rel=0.05)


@pytest.mark.parametrize("zero_cluster", [False, True])
@pytest.mark.parametrize("reduction", ["half_sum", "mean", "quarter_sum"])
def test_the_time_of_a_run_is_that_of_its_steps(reduction: str, zero_cluster: bool) -> None:
    """Steps times the time of one, under every convention, as the runs themselves have it."""
    common = {**COMMON, "s": 2, "d": 6, "reduction": reduction, "zero_cluster": zero_cluster}
    p = Sim.point("paper", **{**common, "model": "relu"}).params
    assert isinstance(p, SimParams)
    assert theory_lines.parameters(common).time == p.time == pytest.approx(p.total_steps * p.time_per_step)


def test_one_training_point_in_the_mean_lies_near_the_test_point_on_its_line() -> None:
    """Drawn as the task draws them: at the line's ratio about one of 10,000 points is closer than mu_1 / 2."""
    axes = grid(("mu.0", [0.5, 1.0, 2.0]), ("sigma.0", [0.05, 0.3, 2.0]))
    near, equal = theory_lines.points_near(without("mu", "sigma"), axes)
    assert equal.x == pytest.approx(equal.y)
    ratio = near.x[0] / near.y[0]
    rng, trials = np.random.default_rng(0), 200
    centres = np.array([[1.0, 0.0], [0.0, 2.0]])
    counts = [
        (np.linalg.norm(c + rng.normal(size=(trials * 5000, 2)) / ratio - [1.0, 2.0], axis=1) < 0.5).sum() / trials
        for c in centres
    ]
    assert sum(counts) == pytest.approx(1, abs=4 / np.sqrt(trials))


def test_the_spread_that_takes_the_time_of_the_run() -> None:
    """sigma^2 T / C = 1 at every number of epochs: 79 steps of 0.02 each, two clusters."""
    resolved = without("epochs", "sigma")
    resolved["common"] |= {"s": 2}
    (line,) = theory_lines.spread_needed(resolved, grid(("epochs", [5.0, 40.0]), ("sigma.0", [0.05, 0.3, 2.0])))
    assert [y**2 * epochs * 79 * 0.02 / 2 for y, epochs in zip(line.y, line.x, strict=True)] == pytest.approx([1, 1])
    fixed = grid(("mu.0", [0.5, 2.0]), ("sigma.0", [0.05, 0.3, 2.0]))
    (level,) = theory_lines.spread_needed({"common": {**COMMON, "s": 2}}, fixed)
    assert level.y == pytest.approx([math.sqrt(2 / (40 * 79 * 0.02))] * 2)


def test_the_bottleneck_runs_under_the_first_width_that_is_enough() -> None:
    """Of every number of concepts; above all widths where none is."""
    axes = grid(("s", [1.0, 2.0, 5.0]), ("width", [1.0, 2.0, 3.0]))
    (line,) = theory_lines.bottleneck({}, axes)
    assert axes.y is not None
    assert line.y == [axes.y.edges[0]] * 2 + [axes.y.edges[1]] * 2 + [axes.y.edges[3]] * 2


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=8))
def test_lines_end_at_the_border_of_the_diagram(corners: list[tuple[float, float]]) -> None:
    """What is kept lies inside, and corners that lie inside are kept."""
    axes = grid(("x", [0.0, 1.0, 2.0]), ("y", [0.0, 1.0, 2.0]))
    kept = theory_lines._within(axes, GridLine("", [x for x, _ in corners], [y for _, y in corners]))
    assert all(-0.5 - 1e-9 <= at <= 2.5 + 1e-9 for at in (*kept.x, *kept.y))
    inside = [(x, y) for x, y in corners if -0.5 < x < 2.5 and -0.5 < y < 2.5]
    there = list(zip(kept.x, kept.y, strict=True))
    assert all(any(abs(x - a) + abs(y - b) < 1e-6 for a, b in there) for x, y in inside)
