"""Laws of the compiled loops for ReLU nets: they are the torch engine, and a cell computes as if it were alone."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.kernels import patterns, points_lanes, points_two, points_wide
from swingby_sweeps.dynamics.kernels.points import PackedRelu, kernel_of
from swingby_sweeps.dynamics.training import one_thread
from swingby_sweeps.sim.engine import Ready, SimTraining, drawn
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.params import SimParams
from swingby_sweeps.sim.task import with_constant

Array = np.ndarray
CURVES = ("ood_loss", "train_loss", "output", "jacobian", "hierarchy_loss", "centre_output")
RECORDING = Recording(points=12, also=("jacobian", "hierarchy", "centres"))
KERNELS = (points_lanes, points_wide)

shapes = st.fixed_dictionaries(
    {
        "s": st.integers(1, 5),
        "extra": st.integers(0, 20),
        "layers": st.integers(1, 5),
        "width": st.one_of(st.integers(1, 9), st.integers(10, 70)),
        "bias": st.booleans(),
        "shuffle": st.sampled_from(["once", "every_epoch"]),
        "batch_size": st.integers(1, 40),
        "n": st.integers(1, 30),
        "seed": st.integers(0, 10**6),
    }
)


def cells_of(shape: dict[str, Any], count: int = 3, dtype: str = "float64", **values: Any) -> list[Cell]:
    """Cells of one shape that differ in all that a batch allows."""
    s = shape["s"]
    fixed = {name: shape[name] for name in ("s", "layers", "width", "bias", "shuffle", "batch_size", "n")}
    fixed |= {"model": "relu", "d": s + shape["extra"], "epochs": 3, "dtype": dtype, **values}
    own = [
        {"mu": tuple(1 + 0.1 * k + p for p in range(s)), "sigma": (0.3,) * s, "lr": 0.002 * (1 + k)}
        for k in range(count)
    ]
    return [Sim.point(**{**fixed, **mine}).cell(shape["seed"] + k) for k, mine in enumerate(own)]


def trained(cells: list[Cell], engine: Any = "compiled", kernel: Any = None, watch: Any = None) -> SimTraining:
    """The cells, trained by an engine; by this family of compiled loops if it is told; each record is watched."""
    with one_thread():
        training = SimTraining([Ready(cell) for cell in cells], RECORDING, engine=engine)
        if kernel is not None:
            assert isinstance(training.net, PackedRelu)
            training.net.use(kernel)
        training.run(watch)
    return training


def curves(training: SimTraining) -> dict[str, list[Any]]:
    """The curves of all cells, a list each: as long as a cell's own."""
    columns = training.recorder.columns()
    return {name: columns[name].to_pylist() for name in CURVES}


def assert_bits(one: SimTraining, other: SimTraining, places: list[int]) -> None:
    """All curves and final weights of `one` are those of these places in `other`, to the last bit."""
    others = curves(other)
    for name, curve in curves(one).items():
        assert curve == [others[name][place] for place in places], name
    for a, b in zip(one.parameters, other.parameters, strict=True):
        np.testing.assert_array_equal(a, b[places])


@settings(max_examples=60, deadline=None)
@given(shapes, st.sampled_from(KERNELS))
def test_every_kernel_is_the_torch_engine(shape: dict[str, Any], kernel: Any) -> None:
    """Whatever depth, width, bias, mini-batch and order of points: all curves and final weights equal to rounding."""
    cells = cells_of(shape)
    reference, found = trained(cells, "torch"), trained(cells, kernel=kernel)
    wanted = curves(reference)
    for name, curve in curves(found).items():
        np.testing.assert_allclose(curve, wanted[name], rtol=1e-9, atol=1e-13, err_msg=name)
    for a, b in zip(found.parameters, reference.parameters, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@settings(max_examples=10, deadline=None)
@given(shapes, st.sampled_from(KERNELS))
def test_single_precision_is_close_to_double(shape: dict[str, Any], kernel: Any) -> None:
    """float32 stays within 1e-4 of float64 over a short run."""
    single, double = (curves(trained(cells_of(shape, dtype=dtype), kernel=kernel)) for dtype in ("float32", "float64"))
    for name in ("ood_loss", "train_loss"):
        np.testing.assert_allclose(single[name], double[name], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=10, deadline=None)
@given(shapes)
def test_a_cell_is_the_same_in_any_company_to_the_last_bit(kernel: Any, dtype: str, shape: dict[str, Any]) -> None:
    """Alone, in a batch, or in another order: the same bits in all curves and weights."""
    cells = cells_of(shape, 4, dtype)
    together = trained(cells, kernel=kernel)
    assert_bits(trained([cells[2]], kernel=kernel), together, [2])
    assert_bits(trained(cells[::-1], kernel=kernel), together, [3, 2, 1, 0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_a_cell_that_diverges_is_noticed_and_frozen_and_leaves_its_neighbours_alone(
    kernel: Any, dtype: str, layers: int
) -> None:
    """It comes back diverged with zero weights; the others are what they are without it, bit for bit."""
    shape = {"s": 2, "extra": 1, "layers": layers, "width": 14, "bias": True, "shuffle": "once", "batch_size": 8}
    shape |= {"n": 40, "seed": 3}
    cells = cells_of(shape, 3, dtype)
    lost = Sim.point(**{**cells[1].params.model_dump(), "lr": 1e4, "preset": "paper"}).cell(1)
    beside = trained([cells[0], lost, cells[2]], kernel=kernel)
    assert beside.recorder.diverged.tolist() == [False, True, False]
    assert all(not part[1].any() for part in beside.parameters)
    assert_bits(trained([cells[0], cells[2]], kernel=kernel), beside, [0, 2])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@settings(max_examples=15, deadline=None)
@given(shapes, st.integers(1, 700))
def test_nets_of_two_inputs_and_two_outputs_are_those_of_the_general_loops(
    dtype: str, shape: dict[str, Any], count: int
) -> None:
    """One hidden layer of any width, biases or not, any mini-batches: the same bits in all curves and weights."""
    shape = {**shape, "s": 2, "extra": 0, "layers": 2, "n": count}
    cells = cells_of(shape, 3, dtype)
    found = trained(cells)
    assert isinstance(found.net, PackedRelu)
    assert found.net.kernel is points_two
    assert_bits(found, trained(cells, kernel=points_lanes), [0, 1, 2])


@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("rate", [0.01, 3.0, 1e4])
def test_records_taken_together_are_those_taken_one_at_a_time(rate: float, layers: int) -> None:
    """A run that is watched is recorded step by step, others some steps at a time: the same bits, diverged or not."""
    shape = {"s": 2, "extra": 0, "layers": layers, "width": 5, "bias": False, "shuffle": "once", "batch_size": 8}
    cells = cells_of({**shape, "n": 40, "seed": 3}, 3, "float32")
    lost = Sim.point(**{**cells[1].params.model_dump(), "lr": rate, "preset": "paper"}).cell(1)
    cells = [cells[0], lost, cells[2]]
    steps: list[int] = []
    together, alone = trained(cells), trained(cells, watch=lambda step, _: steps.append(step))
    assert steps == together.recorder.steps.tolist()
    assert together.net.together > 1
    assert_bits(together, alone, [0, 1, 2])
    assert together.recorder.diverged.tolist() == alone.recorder.diverged.tolist()
    assert bool(together.recorder.diverged[1]) or rate < 1e4
    assert together.recorder.diverged_place.tolist() == alone.recorder.diverged_place.tolist()


@settings(max_examples=20, deadline=None)
@given(shapes, st.sampled_from(KERNELS), st.integers(1, 700))
def test_losses_outputs_and_gradients_are_as_in_torch(shape: dict[str, Any], kernel: Any, count: int) -> None:
    """L, its gradient and f at any number of points, below, at and above the size in which they are worked through."""
    cells = cells_of({**shape, "n": count})
    training = trained([Sim.point(**{**c.params.model_dump(), "epochs": 1}).cell(c.seed) for c in cells], "torch")
    p = cells[0].params
    assert isinstance(p, SimParams)
    packed = PackedRelu(p.net_shape, training.net.parameters)
    packed.use(kernel)
    x = torch.as_tensor(np.stack([with_constant(drawn(item), p.bias) for item in training.ready]))
    np.testing.assert_allclose(packed.loss(x), training.net.loss(x), rtol=1e-11)
    np.testing.assert_allclose(packed.outputs(x), training.net.outputs(x), rtol=1e-9, atol=1e-13)
    slopes = [torch.zeros_like(part) for part in training.net.parameters]
    training.net.push((x, torch.full((len(cells), 1, 1), 1 / x.shape[1], dtype=x.dtype)), slopes)
    wanted = torch.cat([slope.flatten(1) for slope in slopes], dim=1)
    np.testing.assert_allclose(packed.gradient(x), wanted, rtol=1e-9, atol=1e-13)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 400), st.integers(1, 3), st.integers(1, 4), st.integers(1, 200), st.integers(0, 10**6))
def test_points_are_grouped_by_their_codes(count: int, words: int, k: int, kinds: int, seed: int) -> None:
    """As many groups as different codes, each with the moments of its own points: those that numpy finds by sorting."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 2**64, (kinds, words), np.uint64, endpoint=False)
    codes, x = pool[rng.integers(0, kinds, count)], rng.standard_normal((count, k))
    first, moments = np.empty(count, np.int64), np.zeros((count, k, k))
    groups = patterns.group(codes, x, first, moments)
    wanted, where = np.unique(codes, axis=0, return_inverse=True)
    assert sorted(codes[first[:groups]].tolist()) == wanted.tolist()
    for q in range(groups):
        own = x[where.reshape(-1) == where.reshape(-1)[first[q]]]
        np.testing.assert_allclose(moments[q], own.T @ own / count, rtol=1e-12, atol=1e-15)


def test_narrow_and_wide_nets_have_their_kernels() -> None:
    """Small nets go side by side, large products by BLAS; without hidden layer there is none."""
    for values, kernel in (
        ({"d": 2, "width": 2}, points_two),
        ({"d": 2, "width": 2, "layers": 3}, points_lanes),
        ({"d": 12, "width": 12, "layers": 4}, points_lanes),
        ({"d": 64, "layers": 1}, points_lanes),
        ({"d": 64, "width": 64}, points_wide),
        ({"d": 2, "width": 64, "layers": 2}, points_two),
    ):
        p = Sim.point(**{"model": "relu", **values}).params
        assert isinstance(p, SimParams)
        assert kernel_of(p.net_shape) is kernel
