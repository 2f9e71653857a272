"""Two experiments on linear nets, which do not import each other, give the same numbers for the same net and task."""

from __future__ import annotations

import numpy as np
import pytest

from swingby.model.experiment import Batch, Recording
from swingby_sweeps.dynamics.recorder import Recorder
from swingby_sweeps.dynamics.training import Training
from swingby_sweeps.layerwise.net_engine import stepper_of
from swingby_sweeps.layerwise.nets import Nets
from swingby_sweeps.layerwise.observer import Observer
from swingby_sweeps.sim.experiment import Sim

LR, STEPS = 0.02, 600


@pytest.mark.parametrize("drive", ["gd", "flow"])
def test_sim_and_linear_net_agree(drive: str) -> None:
    """SIM's linear net of two layers without bias, on population moments, and `linear_net` with its weights, its target
    (the identity) and its moments: equal losses and equal singular values at every record."""
    weights = np.random.default_rng(5).normal(size=(8, 3)) / 10
    W1, W2 = weights[:4], weights[4:].reshape(3, 4)
    explicit = tuple(tuple(row) for layer in (W1, W2) for row in layer.tolist())
    point = Sim.point(
        "paper", drive=drive, moments="population", s=3, d=3, mu=(1.0, 2.0, 1.5), sigma=(0.1, 0.3, 0.2), width=4,
        rotate=False, init="explicit", init_weights=explicit, lr=LR, gd_steps=STEPS, dtype="float64", bias=False,
        zero_cluster=False,
    )  # fmt: skip
    recording = Recording(points=50, also=("jacobian",))
    (row,) = next(iter(Sim().run(Batch((point.cell(0),), recording)))).to_pylist()
    a = np.array(row["a"])
    order = np.argsort(-a)
    corners = np.eye(3)[:, order][None]
    nets = Nets(a[None], corners, corners, a[order][None], W1.T[None], W2.T[None])
    net, stepper = stepper_of(nets, drive, np.array([LR]), np.array([1e-8]))
    recorder = Recorder(recording.at(STEPS), Observer(nets, ()), ("loss",), np.array([1e6]))
    Training(net, stepper, recorder).run()
    columns = {name: column.to_pylist()[0] for name, column in recorder.columns().items()}
    assert recorder.steps.tolist() == row["step"]
    np.testing.assert_allclose(columns["loss"], row["train_loss"], rtol=1e-9)
    jacobian = np.array(row["jacobian"]).reshape(-1, 3, 3)
    np.testing.assert_allclose(columns["singular_values"], np.linalg.svd(jacobian)[1], rtol=1e-8, atol=1e-12)
    assert row["train_loss"][-1] < 0.1 * row["train_loss"][0]
