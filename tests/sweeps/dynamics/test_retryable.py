"""Laws of faults: what a machine is at fault for is told apart from what the cells are, and costs none of them."""

from __future__ import annotations

import socket

import pytest
import torch

from swingby.model.experiment import Batch, Recording
from swingby.model.process_group import LostWorkerError, SpoiledError
from swingby_sweeps.dynamics.retryable import retryable
from swingby_sweeps.sim import engine
from swingby_sweeps.sim.experiment import Sim

GLOO = "[/t/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:14253. This is typically caused"


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (torch.AcceleratorError("CUDA error: device-side assert triggered\nmore"), SpoiledError, "GPU any more: CUDA"),
        (
            RuntimeError(GLOO),
            LostWorkerError,
            r"lost each other: Connection closed by peer \[127.0.0.1\]:14253$",
        ),
        (torch.distributed.DistStoreError("wait timeout after 300000ms"), LostWorkerError, "wait timeout"),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to"), torch.OutOfMemoryError, "out of memory"),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), RuntimeError, "shapes cannot be multiplied"),
        (FloatingPointError("no number"), FloatingPointError, "no number"),
    ],
)
def test_what_is_at_fault(error: Exception, kind: type[Exception], said: str) -> None:
    """A GPU that answers no more spoils the process, a line that broke loses the others; all else is the cell's."""
    with pytest.raises(kind, match=said) as raised, retryable():
        raise error
    assert type(raised.value) is kind


def test_a_gpu_that_answers_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it spoils the process, though a library raises its own error in the place of CUDA's; want of memory is told
    as that."""
    monkeypatch.setattr("swingby_sweeps.dynamics.retryable._spoiled", lambda: True)
    with pytest.raises(SpoiledError, match="no kernel image"), retryable():
        raise RuntimeError("no kernel image")
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"), retryable():
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to")


def test_a_port_that_was_taken_meanwhile() -> None:
    """Who cannot listen where the others look for it loses the group and no cell."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LostWorkerError, match="EADDRINUSE"), retryable():
            torch.distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=0, world_size=2)


def test_a_gpu_that_is_lost_costs_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of SIM cells whose GPU is lost is not narrowed down to cells at fault: there are none."""

    def lost(self: engine.SimTraining, watch: object = None) -> None:
        raise torch.AcceleratorError("CUDA error: uncorrectable ECC error encountered")

    monkeypatch.setattr(engine.SimTraining, "run", lost)
    point = Sim.point(d=2, epochs=1)
    with pytest.raises(SpoiledError, match="uncorrectable ECC error"):
        list(Sim().run(Batch((point.cell(0), point.cell(1)), Recording(points=3))))
