"""Trains a batch of pairs of scalar layers by the compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics import nets
from swingby_sweeps.dynamics.columns import Columns
from swingby_sweeps.dynamics.descent import MiniBatchMoments
from swingby_sweeps.dynamics.kernels.flow import FlowKernel
from swingby_sweeps.dynamics.kernels.lane_nets import LaneDescent, LaneNet
from swingby_sweeps.dynamics.kernels.mixture import Mixture, MixtureDraws
from swingby_sweeps.dynamics.kernels.streams import keys
from swingby_sweeps.dynamics.recorder import Recorder, on_host
from swingby_sweeps.dynamics.shapes import Batching, NetShape
from swingby_sweeps.dynamics.training import Training, final_rows

from .params import ScalarParams

SHAPE = NetShape("linear", s=1, d=1, hidden=(1,))


def train(cells: Sequence[Cell[ScalarParams]], recording: Recording) -> Columns:
    """The columns of finished cells of one shape."""
    params = [cell.params for cell in cells]
    p, dtype = params[0], np.dtype(params[0].dtype)
    a, rates, start = (np.array([getattr(q, name) for q in params]) for name in ("a", "lr", "start"))
    weights = [start[:, None, None].astype(dtype)] * 2
    if p.drive == "flow":
        net: nets.Net = nets.build(SHAPE, [torch.as_tensor(part.copy()) for part in weights])
        moments = torch.as_tensor(a[:, None, None].astype(dtype))
        stepper = FlowKernel(net, moments, rates, np.full(len(cells), 1e-8))
    else:
        net = LaneNet(SHAPE, weights, dtype)
        draws = MixtureDraws(_points(cells, p.n, a), Batching(p.batch_size, reshuffle=True))
        stepper = LaneDescent(net, MiniBatchMoments(rates, draws), dtype)
    one = torch.ones(len(cells), 1, 1, dtype=getattr(torch, p.dtype))

    def observe(net: nets.Net, going: np.ndarray) -> dict[str, np.ndarray]:
        u = on_host({"product": net.outputs(one)[:, 0, 0]})["product"]
        return {"product": u, "loss": 0.5 * a * (1 - u) ** 2}

    recorder = Recorder(recording.at(p.training_steps), observe, ("loss",), 1e6 * a)
    training = Training(net, stepper, recorder)
    training.run()
    return final_rows(training, cells, "1e+06 E[x^2]")


def _points(cells: Sequence[Cell], n: int, a: np.ndarray) -> Mixture:
    """One cluster around 0 of second moment a."""
    C = len(cells)
    streams = np.stack([keys(cells, name) for name in ("order", "data")], axis=1)
    return Mixture(n, streams, np.zeros((C, 1, 1)), np.sqrt(a)[:, None], np.zeros((C, 1)), np.zeros(C))
