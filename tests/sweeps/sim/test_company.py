"""A cell does not know its company: alone, among others, or in another order it draws and trains the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Recording
from swingby_sweeps.dynamics.descent import Descent
from swingby_sweeps.dynamics.kernels import LANES
from swingby_sweeps.dynamics.kernels.lane_nets import LaneDescent
from swingby_sweeps.sim.engine import Engine, Ready, SimTraining
from swingby_sweeps.sim.experiment import Sim

ENGINES: tuple[Engine, ...] = ("compiled", "torch")
RECORDING = Recording(points=60, also=("jacobian", "hierarchy", "centres"))
CURVES = ("ood_loss", "train_loss", "output", "jacobian", "hierarchy_loss", "centre_output")
KINDS: dict[str, dict[str, Any]] = {
    "linear": {"layers": 3, "width": 7},
    "linear with bias": {"layers": 2, "width": 20, "bias": True, "shuffle": "every_epoch"},
    "relu": {"model": "relu", "layers": 3, "width": 9, "bias": True},
    "relu without bias": {"model": "relu", "layers": 2, "width": 20, "shuffle": "every_epoch"},
    "one layer": {"model": "one_layer"},
    "one layer with bias": {"model": "one_layer", "bias": True},
    "symmetric, sgd": {"model": "symmetric", "drive": "sgd", "d": 4, "width": 3, "init_gain": 0.5},
    "symmetric, flow": {"model": "symmetric", "d": 4, "moments": "sample", "gd_steps": 200},
    "symmetric, gd": {"model": "symmetric", "drive": "gd", "d": 4, "width": 5, "gd_steps": 200},
    "linear flow with bias": {"drive": "flow", "layers": 2, "width": 5, "bias": True, "gd_steps": 200},
    "gd": {"drive": "gd", "layers": 3, "width": 7, "gd_steps": 200},
    "closed form": {"model": "one_layer", "drive": "closed_form", "gd_steps": 500},
}
FLOWS = {"symmetric, flow", "linear flow with bias"}


def company(values: dict[str, Any], dtype: str, count: int = 8) -> list[Cell]:
    """Cells of one shape that differ in everything a batch allows."""
    base = {"d": 4, "n": 60, "epochs": 8, "batch_size": 32, "rotate": True, "dtype": dtype, **values}
    cells = []
    for seed in range(count):
        own = {"mu": (1.0, 1.0 + 0.3 * seed), "sigma": (0.05 * seed, 0.2), "lr": 0.02 + 0.01 * seed}
        own["reduction"] = ("half_sum", "mean", "quarter_sum")[seed % 3]
        cells.append(Sim.point(**{**base, **own}, seeds="independent" if seed % 2 else "common").cell(seed))
    assert len({Sim().shape(item.params) for item in cells}) == 1
    return cells


def rows(cells: Sequence[Cell], engine: Engine | None = None) -> dict[str, dict[str, Any]]:
    (table,) = Sim(engine).run(Batch(tuple(cells), RECORDING))
    assert table["cell_id"].to_pylist() == [item.cell_id for item in cells]
    return {row["cell_id"]: row for row in table.to_pylist()}


def trained_on(training: SimTraining) -> list[np.ndarray]:
    """The data of a batch with a leading cell axis: whole training sets, and where steps have data, those of the first.

    Of packed nets they are unpacked, sixteen to a vector.
    """
    whole, stepper = training._whole.numpy(), training.stepper
    if isinstance(stepper, LaneDescent):
        stepper._load(0)
        side_by_side = stepper._now.reshape(len(stepper._now), -1, LANES)
        rows = side_by_side.swapaxes(1, 2).reshape(-1, side_by_side.shape[1])
        return [whole, rows[: len(training.cells)]]
    if not isinstance(stepper, Descent):
        return [whole]
    stepper.stream.load()
    first = stepper.stream.pick(0)
    return [whole, *(part.numpy() for part in (first if isinstance(first, tuple) else (first,)))]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_what_enters_a_batch_is_the_cells_own(kind: str, dtype: str, engine: Engine) -> None:
    """Initial weights and training data that reach the engine are the same to the last bit alone and in any batch."""
    cells = company(KINDS[kind], dtype)
    together = SimTraining([Ready(item) for item in cells[::-1]], RECORDING, engine=engine)
    of_all = trained_on(together)
    for place, item in enumerate(cells[::-1]):
        alone = SimTraining([Ready(item)], RECORDING, engine=engine)
        for a, b in zip(alone.net.parameters, together.net.parameters, strict=True):
            assert torch.equal(a[0], b[place])
        for a, b in zip(trained_on(alone), of_all, strict=True):
            assert np.array_equal(a[0], b[place])


@pytest.mark.parametrize("kind", KINDS)
def test_the_engines_agree(kind: str) -> None:
    """In float64 every curve and every scalar by compiled kernels and by torch agrees within 1e-8 of the largest.

    A flow's adaptive steps hang on rounding, and agree as two runs of one cell do: within `Sim.tolerance`.
    """
    cells = company(KINDS[kind], "float64")
    compiled, reference = rows(cells, "compiled"), rows(cells, "torch")
    scalars = ("gradient_norm", "growth_rate", "smallest_eigenvalue", "trace", "rank0", "narrowest", "time_per_step")
    for item in cells:
        a, b = compiled[item.cell_id], reference[item.cell_id]
        assert [a[key] for key in ("status", "step", "message")] == [b[key] for key in ("status", "step", "message")]
        for name in CURVES:
            largest = np.abs(b[name]).max()
            limit = max(1e-8, Sim().tolerance(item.params)) * largest
            np.testing.assert_allclose(np.array(a[name]), np.array(b[name]), rtol=0, atol=limit)
        for name in scalars:
            assert (a[name] is None) == (b[name] is None), name
            limit = max(1e-8, Sim().tolerance(item.params))
            assert b[name] is None or a[name] == pytest.approx(b[name], rel=1e-6, abs=limit), name


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
def test_curves_are_the_cells_own(kind: str, engine: Engine) -> None:
    """In float64 every curve alone, in a batch of 8, and in another order agrees within 1e-9 of it plus 1e-12 L_ref.

    Four of the eight are trained alone: every reduction, both kinds of draws, and both ends of the batch.

    Flows in torch agree within `Sim.tolerance`: a sum over a batch is rounded otherwise than alone on some processors
    (as with OPENBLAS_CORETYPE=Haswell ATEN_CPU_CAPABILITY=avx2), and the lengths of adaptive steps hang on that.
    """
    cells = company(KINDS[kind], "float64")
    together, reordered = rows(cells, engine), rows([cells[k] for k in (5, 2, 7, 0, 1, 6, 3, 4)], engine)
    for item in (cells[place] for place in (0, 1, 2, 7)):
        row, others = rows([item], engine)[item.cell_id], (together[item.cell_id], reordered[item.cell_id])
        assert row["status"] == "ok"
        for other in others:
            assert other["step"] == row["step"]
            for name in CURVES:
                atol = 1e-12 * row["l_ref"]
                if kind in FLOWS and engine == "torch":
                    atol = Sim().tolerance(item.params) * np.abs(row[name]).max()
                np.testing.assert_allclose(np.array(other[name]), np.array(row[name]), rtol=1e-9, atol=atol)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["linear", "relu", "one layer with bias", "symmetric, sgd", "gd"])
def test_a_diverging_curve_is_the_cells_own_up_to_there(kind: str, engine: Engine) -> None:
    """A cell whose learning rate is too large leaves at the same step in any company, by the same curve until then."""
    values = {**KINDS[kind], "d": 4, "n": 60, "epochs": 8, "batch_size": 32, "dtype": "float64"}
    wild = Sim.point(**{**values, "lr": 3.0}).cell(0)
    cells = [wild, *(Sim.point(**{**values, "lr": 0.02}).cell(seed) for seed in range(1, 8))]
    alone = rows([wild], engine)[wild.cell_id]
    assert alone["status"] == "diverged"
    assert len(alone["step"]) > 2
    for order in (cells, cells[::-1]):
        other = rows(order, engine)[wild.cell_id]
        assert (other["status"], other["step"], other["message"]) == ("diverged", alone["step"], alone["message"])
        for name in CURVES:
            np.testing.assert_allclose(other[name], alone[name], rtol=1e-9, atol=1e-12 * alone["l_ref"])


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_cuda_trains_what_the_cpu_trains(kind: str) -> None:
    """The same cells on a GPU, in float64, have curves equal within 1e-9 of the value plus 1e-12 of L_ref.

    A GPU sums in another order. Steps of descent keep that at rounding, and a flow does not: the lengths of its
    adaptive steps hang on their estimated errors, to the last digit, so the two take different steps, each with an
    error of up to `rtol` of its own. The curves agree within what those errors grow to, which `Sim.tolerance` states
    as 100 rtol of the largest value (5 rtol were met between devices, as between batches).
    """
    cells = company(KINDS[kind], "float64")
    (on_cpu,), (on_gpu,) = (Sim("torch").run(Batch(tuple(cells), RECORDING, device)) for device in ("cpu", "cuda"))
    for item, cpu, gpu in zip(cells, on_cpu.to_pylist(), on_gpu.to_pylist(), strict=True):
        assert (gpu["cell_id"], gpu["status"], gpu["step"]) == (cpu["cell_id"], "ok", cpu["step"])
        for name in CURVES:
            atol = 1e-12 * cpu["l_ref"]
            if kind in FLOWS:
                atol = Sim().tolerance(item.params) * np.abs(cpu[name]).max()
            np.testing.assert_allclose(np.array(gpu[name]), np.array(cpu[name]), rtol=1e-9, atol=atol)
