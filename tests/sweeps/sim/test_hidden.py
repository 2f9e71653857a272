"""Metrics of the last hidden layer of SIM nets: what is measured, at which points, and of which models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Recording
from swingby_sweeps.dynamics.metrics import kappa
from swingby_sweeps.sim import task
from swingby_sweeps.sim.engine import Ready, SimTraining
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.hidden import NAMES, last_hidden

TINY: dict[str, Any] = {"d": 3, "s": 2, "mu": [1.0, 2.0], "n": 20, "epochs": 3, "batch_size": 10, "width": 4}
MODELS: dict[str, dict[str, Any]] = {
    "relu": {"model": "relu", "layers": 3},
    "relu with biases": {"model": "relu", "layers": 2, "bias": True},
    "linear": {"model": "linear", "layers": 3},
    "linear with biases": {"model": "linear", "layers": 2, "bias": True},
    "symmetric": {"model": "symmetric"},
}
NONE: dict[str, dict[str, Any]] = {
    "one_layer": {"model": "one_layer"},
    "w_recurrence": {"model": "w_recurrence", "gd_steps": 5},
    "linear of 1 layer": {"model": "linear", "layers": 1},
}


def cell(values: dict[str, Any], seed: int = 5) -> Cell:
    return Cell(Sim.point(**{**TINY, **values}), seed)


@pytest.mark.parametrize("values", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("engine", ["compiled", "torch"])
def test_the_last_layer_reads_it(values: dict[str, Any], engine: Any) -> None:
    """What is measured, under the last weights, is the output; the curves are its metrics at fresh points."""
    own = cell(values)
    training = SimTraining([Ready(own)], Recording(points=20, also=("features",)), engine=engine)
    training.run()
    points = task.evaluation_points(own)
    p: Any = own.params
    net: Any = training.net
    x = torch.as_tensor(task.with_constant(points[None], p.bias)).to(net.parameters[0].dtype)
    hidden = last_hidden(net, x)
    assert hidden is not None
    last = net.parameters[-2 if p.bias else -1]
    outputs = hidden @ last.mT + (net.parameters[-1][:, None] if p.bias else 0)
    torch.testing.assert_close(outputs, net.outputs(x), rtol=1e-5, atol=1e-6)
    phi, f = hidden[0].double().numpy(), net.outputs(x)[0].double().numpy()
    assert training.recorder.columns()["kappa_cka"][0][-1].as_py() == pytest.approx(
        kappa(phi, f, classes=False).kappa, rel=1e-6
    )
    assert len(points) == 500 + len(points) % p.clusters
    assert not np.isin(points, task.draw_points(own)).any()


@pytest.mark.parametrize("values", NONE.values(), ids=NONE)
def test_a_net_without_a_hidden_layer_is_refused(values: dict[str, Any]) -> None:
    """Where features are asked for; a replay, which records whatever there is, has null."""
    own = cell(values)
    with pytest.raises(SwingbyError, match="has no hidden layer; allowed: linear and relu of 2 layers or more"):
        list(Sim().run(Batch((own,), Recording(also=("features",)))))
    (table,) = Sim().replay(own)
    for name in NAMES:
        assert {*table[name].to_pylist()[0]} == {None}
