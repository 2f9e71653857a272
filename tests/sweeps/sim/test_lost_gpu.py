"""A GPU that is lost under SIM cells: the machine is at fault, and no cell is."""

from __future__ import annotations

import pytest
import torch

from swingby.model.experiment import Batch, Recording
from swingby.model.process_group import SpoiledError
from swingby_sweeps.sim import engine
from swingby_sweeps.sim.experiment import Sim


def test_a_gpu_that_is_lost_costs_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of SIM cells whose GPU is lost is not narrowed down to cells at fault: there are none."""

    def lost(self: engine.SimTraining, watch: object = None) -> None:
        raise torch.AcceleratorError("CUDA error: uncorrectable ECC error encountered")

    monkeypatch.setattr(engine.SimTraining, "run", lost)
    point = Sim.point(d=2, epochs=1)
    with pytest.raises(SpoiledError, match="uncorrectable ECC error"):
        list(Sim().run(Batch((point.cell(0), point.cell(1)), Recording(points=3))))
