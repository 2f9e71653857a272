"""Laws of the descent that stays on a GPU, most of them tried without one: graphs apart it runs on any device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.descent import BatchStream, Descent, MomentBatches, PointBatches
from swingby_sweeps.dynamics.flow import DormandPrince
from swingby_sweeps.dynamics.nets import Net
from swingby_sweeps.dynamics.resident import ResidentDescent
from swingby_sweeps.dynamics.shapes import Batching, Order
from swingby_sweeps.dynamics.training import one_thread
from swingby_sweeps.sim import draws, task
from swingby_sweeps.sim.engine import Ready, build
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.init import Start
from swingby_sweeps.sim.params import SimParams

KINDS: dict[str, dict[str, Any]] = {
    "linear": {"layers": 3, "width": 5},
    "linear with bias, new orders": {"layers": 2, "width": 4, "bias": True, "shuffle": "every_epoch"},
    "symmetric": {"model": "symmetric", "drive": "sgd", "width": 3, "init_gain": 0.5},
    "gd": {"drive": "gd", "width": 4, "gd_steps": 200},
    "recurrence": {"model": "w_recurrence", "drive": "gd", "width": 3, "init_gain": 0.5, "gd_steps": 200},
    "relu": {"model": "relu", "width": 6},
    "relu with bias, new orders": {"model": "relu", "layers": 3, "width": 4, "bias": True, "shuffle": "every_epoch"},
}


def cells_of(kind: str) -> list[Cell]:
    """Five cells of different speed; 50 points in batches of 12 leave a smaller last one."""
    base = {"d": 3, "n": 25, "batch_size": 12, "epochs": 40, "dtype": "float64", **KINDS[kind]}
    return [Sim.point("paper", **{"lr": 0.02 + 0.01 * seed, **base}).cell(seed) for seed in range(5)]


def nets(cells: list[Cell], device: str = "cpu") -> Net:
    """Fresh nets."""
    parts = zip(*(Start.of(item).parameters for item in cells), strict=True)
    p = cells[0].params
    assert isinstance(p, SimParams)
    return build(p, [torch.as_tensor(np.stack(part)).to(device) for part in parts])


def points(cells: list[Cell], device: str = "cpu") -> torch.Tensor:
    """The training sets, (C, N, k)."""
    drawn = [Ready(item).points for item in cells]
    p = cells[0].params
    assert isinstance(p, SimParams)
    return torch.as_tensor(np.stack([task.with_constant(own, p.bias) for own in drawn if own is not None])).to(device)


def batches(cells: list[Cell]) -> tuple[list[Order], np.ndarray, Batching]:
    """Orders of the points, times of a step, and mini-batches."""
    p = cells[0].params
    assert isinstance(p, SimParams)
    return [task.order(item) for item in cells], draws.rates(cells), p.batching


def plain(cells: list[Cell]) -> Descent:
    """The reference."""
    net = nets(cells)
    return Descent(net, stream(cells, net))


def resident(cells: list[Cell], device: str = "cpu", capture: bool = False) -> ResidentDescent:
    """What is tested."""
    net = nets(cells, device)
    return ResidentDescent(net, stream(cells, net), capture)


def stream(cells: list[Cell], net: Net) -> BatchStream:
    """What the nets descend on."""
    if is_relu(cells):
        return PointBatches(points(cells, net.device.type), *batches(cells))
    return MomentBatches(draws.moment_stream(cells), torch.float64, net.device)


def is_relu(cells: list[Cell]) -> bool:
    """Whether steps are taken on points."""
    p = cells[0].params
    assert isinstance(p, SimParams)
    return p.model == "relu"


def assert_equal_weights(found: Net, expected: Net, atol: float = 1e-12) -> None:
    for a, b in zip(found.parameters, expected.parameters, strict=True):
        torch.testing.assert_close(a.cpu(), b.cpu(), rtol=1e-10, atol=atol)


@pytest.mark.parametrize("kind", KINDS)
def test_it_takes_the_steps_of_the_reference(kind: str) -> None:
    """Over stretches short and long, through the ends of epochs, and with a cell frozen on the way."""
    cells, mask = cells_of(kind), torch.arange(5) == 2
    with one_thread():
        found, expected = resident(cells), plain(cells)
        for start, stop in ((0, 1), (1, 3), (3, 3), (3, 20), (20, 150)):
            for drive in (found, expected):
                drive.advance(start, stop)
            assert_equal_weights(found.net, expected.net)
            if stop == 20:
                for drive in (found, expected):
                    drive.freeze(mask)
    assert all(not parameter[mask].any() for parameter in found.net.parameters)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device captures")
def test_where_nothing_can_be_captured_it_says_so_and_goes_on() -> None:
    """Without a CUDA device a graph cannot be made: one warning, and the same steps."""
    cells = cells_of("linear")
    with one_thread():
        found, expected = resident(cells, capture=True), plain(cells)
        with pytest.warns(UserWarning, match="no CUDA graphs here"):
            found.advance(0, 7)
        found.advance(7, 90)
        expected.advance(0, 90)
    assert_equal_weights(found.net, expected.net)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_graphs_take_the_steps_that_they_were_captured_from(kind: str) -> None:
    """On a GPU a replayed graph gives, within rounding, what the CPU gives step by step."""
    cells = cells_of(kind)
    with one_thread():
        found, expected = resident(cells, "cuda", capture=True), plain(cells)
        for start, stop in ((0, 1), (1, 70), (70, 150)):
            found.advance(start, stop)
            expected.advance(start, stop)
            assert_equal_weights(found.net, expected.net, atol=1e-9)


def test_tries_that_nobody_asked_for_change_nothing() -> None:
    """A flow that tries some steps before it asks whether all have arrived ends at the same bits."""
    y = torch.tensor([[1.0, 2.0], [0.5, 0.1]], dtype=torch.float64)
    rates, tolerance = torch.tensor([[0.1], [5.0]], dtype=torch.float64), torch.full((2,), 1e-9, dtype=torch.float64)
    ends = []
    for unasked in (0, 200):
        solver = DormandPrince(lambda y: -rates * y, y, tolerance, tolerance * 1e-3)
        for time in (0.3, 1.0):
            solver.unasked = unasked
            solver.advance(torch.full((2,), time, dtype=torch.float64))
        ends.append((solver.y, solver.time, solver.failed))
    assert all(torch.equal(a, b) for a, b in zip(*ends, strict=True))
