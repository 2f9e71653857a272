"""Laws of the compiled flow: it takes the steps of the reference, and no cell feels its company."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import example, given, settings

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.flow import Flow
from swingby_sweeps.dynamics.kernels.flow import FlowKernel
from swingby_sweeps.dynamics.training import one_thread
from swingby_sweeps.sim.engine import Ready, build
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.init import Start
from swingby_sweeps.sim.params import SimParams
from tests.support.profiles import examples

Array = np.ndarray
STOPS = (1, 2, 10, 60, 200)


def drive(kind: type[Flow | FlowKernel], cells: Sequence[Cell], nudge: float = 0.0) -> Flow | FlowKernel:
    """A drive of either kind over fresh nets, whose weights are off by a relative `nudge` of random sign."""
    ready = [Ready(item) for item in cells]
    dtype = getattr(torch, ready[0].params.dtype)
    parts = zip(*(Start.of(item.cell).parameters for item in ready), strict=True)
    signs = np.random.default_rng(0)
    starts = (part * (1 + nudge * signs.choice([-1, 1], part.shape)) for part in map(np.stack, parts))
    net = build(ready[0].params, [torch.as_tensor(part).to(dtype) for part in starts])
    moments = torch.as_tensor(np.stack([item.moments for item in ready])).to(dtype)
    times, rtol = (np.array([getattr(item.params, name) for item in ready]) for name in ("time_per_step", "rtol"))
    return kind(net, moments, times, rtol)


def follow(kind: type[Flow | FlowKernel], cells: Sequence[Cell], nudge: float = 0.0) -> tuple[Array, Array]:
    """All weights at each of STOPS, shape (T, C, P), and the mask of cells that failed."""
    with one_thread():
        flow, seen = drive(kind, cells, nudge), []
        for start, stop in zip((0, *STOPS), STOPS, strict=False):
            flow.advance(start, stop)
            seen.append(torch.cat([parameter.flatten(1) for parameter in flow.net.parameters], dim=1).numpy())
        return np.stack(seen), flow.failed.numpy().copy()


def company(count: int = 11, **values: Any) -> list[Cell]:
    """Cells of one shape that differ in seed, tolerance and speed."""
    base = {"n": 20, "gd_steps": 200, "drive": "flow", "init": "normal", "dtype": "float64", **values}
    points = [
        Sim.point("paper", **{"lr": 0.02 * (1 + k % 5), "rtol": 10.0 ** -(5 + k % 3), **base}) for k in range(count)
    ]
    return [point.cell(seed) for seed, point in enumerate(points)]


shapes = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["linear", "one_layer", "symmetric"]),
        "s": st.integers(1, 3),
        "extra": st.integers(0, 3),
        "layers": st.integers(1, 5),
        "width": st.integers(1, 9),
        "bias": st.booleans(),
        "init_gain": st.sampled_from([0.1, 0.5, 1.0]),
        "moments": st.sampled_from(["sample", "population"]),
        "moment_power": st.sampled_from([1, 2]),
        "count": st.integers(1, 17),
    }
)


@settings(max_examples=examples(40, 20))
@given(shapes)
@example(
    {"model": "symmetric", "s": 3, "extra": 0, "layers": 1, "width": 2, "bias": False, "init_gain": 0.1}
    | {"moments": "sample", "moment_power": 2, "count": 15}
)
def test_the_kernel_takes_the_steps_of_the_reference(values: dict[str, Any]) -> None:
    """At every time asked for all weights agree to rounding; other steps would differ by rtol, 1e-5 to 1e-7. How far
    rounding takes a flow (away from a saddle, say) is told by the reference itself, off by a few bits at its start."""
    s = values["s"]
    values |= {"d": s + values.pop("extra"), "layers": 1 if values["model"] == "one_layer" else values["layers"]}
    values |= {"bias": False} if values["model"] == "symmetric" else {"moment_power": 1}
    cells = company(**values)
    (seen, failed), (expected, told) = follow(FlowKernel, cells), follow(Flow, cells)
    assert not failed.any()
    assert not told.any()
    off = np.abs(follow(Flow, cells, 16 * np.finfo(np.float64).eps)[0] - expected).max(axis=2, keepdims=True)
    assert np.all(np.abs(seen - expected) <= 1e-9 * max(1.0, np.abs(expected).max()) + 10 * off)
    assert np.median(off) < 1e-9


def test_in_float32_it_follows_the_flow_too() -> None:
    """A flow in float32 agrees with that in float64 within its own rounding and tolerance."""
    single, double = (
        company(model="linear", d=3, width=4, layers=3, dtype=dtype, rtol=1e-4) for dtype in ("float32", "float64")
    )
    (found, _), (expected, _) = follow(FlowKernel, single), follow(FlowKernel, double)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "values", [{"model": "symmetric", "d": 4, "width": 3}, {"layers": 3, "d": 3, "width": 5, "bias": True}]
)
def test_a_cell_is_the_same_to_the_last_bit_in_any_company(values: dict[str, Any], dtype: str) -> None:
    """Alone, in a batch of 19, and in another order."""
    cells = company(19, **{"dtype": dtype, "rtol": 1e-5, **values})
    together, _ = follow(FlowKernel, cells)
    order = np.random.default_rng(0).permutation(len(cells))
    assert np.array_equal(follow(FlowKernel, [cells[k] for k in order])[0], together[:, order])
    for k in (0, 7, 18):
        assert np.array_equal(follow(FlowKernel, [cells[k]])[0][:, 0], together[:, k])


def test_a_flow_that_cannot_be_followed_is_told_and_harms_nobody() -> None:
    """A start whose gradient overflows: that cell fails, as in the reference, and keeps its weights; others move on."""
    cells = company(9, layers=3, d=2, width=2)
    wild = company(9, layers=3, d=2, width=2, init_gain=1e120)[4]
    mixed = [*cells[:4], wild, *cells[5:]]
    (seen, failed), (expected, told) = follow(FlowKernel, mixed), follow(Flow, mixed)
    assert failed.tolist() == told.tolist() == [k == 4 for k in range(9)]
    assert np.array_equal(seen[:, 4], expected[:, 4])
    others = np.arange(9) != 4
    assert np.array_equal(seen[:, others], follow(FlowKernel, cells)[0][:, others])


def test_frozen_cells_rest_at_zero_and_their_neighbours_move_on() -> None:
    """`freeze` sets a cell to zero for good; the others are, to the last bit, what they are without it."""
    cells, mask = company(12, layers=2, d=3, width=4), torch.arange(12) == 9
    with one_thread():
        flow, plain = drive(FlowKernel, cells), drive(FlowKernel, cells)
        for flows in (flow, plain):
            flows.advance(0, 10)
        flow.freeze(mask)
        for flows in (flow, plain):
            flows.advance(10, 100)
    assert flow.failed.tolist() == mask.tolist()
    for found, expected in zip(flow.net.parameters, plain.net.parameters, strict=True):
        assert not found[mask].any()
        assert torch.equal(found[~mask], expected[~mask])


def test_a_diagonal_symmetric_flow_is_logistic() -> None:
    """U = diag(u), A = diag(a): u_p^2 = 1 / (1 + (1/u_p(0)^2 - 1) exp(-4 a_p t)), at every time asked for."""
    start = ((0.1, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.05))
    values = {"model": "symmetric", "s": 3, "d": 3, "width": 3, "init": "explicit", "init_weights": start}
    (item,) = company(1, **values, mu=(1.0, 1.5, 2.0), moments="population", rotate=False, rtol=1e-10)
    seen, _ = follow(FlowKernel, [item])
    assert isinstance(item.params, SimParams)
    a = np.square(item.params.sigma) + np.square(item.params.mu) / 3
    times = np.array(STOPS)[:, None] * item.params.time_per_step
    w = 1 / (1 + (1 / np.square(np.diag(start)) - 1) * np.exp(-4 * a * times))
    np.testing.assert_allclose(seen[:, 0].reshape(-1, 3, 3), np.sqrt(w)[:, None] * np.eye(3), rtol=1e-7, atol=1e-14)


def test_several_calls_may_land_on_one_time() -> None:
    """A call to the time where the cells already are changes nothing."""
    with one_thread():
        flow = drive(FlowKernel, company(3, d=2, width=2))
        flow.advance(0, 7)
        before = [parameter.clone() for parameter in flow.net.parameters]
        flow.advance(7, 7)
    assert all(torch.equal(a, b) for a, b in zip(before, flow.net.parameters, strict=True))
    assert not flow.failed.any()
