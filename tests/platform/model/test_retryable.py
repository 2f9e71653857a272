"""Errors of machines are told apart from those of cells, whatever library raises them."""

from __future__ import annotations

import socket

import pytest
import torch

from swingby.model.process_group import LostWorkerError, SpoiledError
from swingby.model.retryable import retryable

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
    with pytest.raises(kind, match=said) as raised, retryable(list):
        raise error
    assert type(raised.value) is kind


def test_a_gpu_that_answers_no_more() -> None:
    """It spoils the process, though a library raises its own error in the place of CUDA's; want of memory stays want of
    memory."""

    def probe() -> None:
        raise RuntimeError("CUDA error")

    with pytest.raises(SpoiledError, match="no kernel image"), retryable(probe):
        raise RuntimeError("no kernel image")
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"), retryable(probe):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to")


def test_a_port_that_was_taken_meanwhile() -> None:
    """Who cannot listen where the others look for it loses the group and no cell."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LostWorkerError, match="EADDRINUSE"), retryable(list):
            torch.distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=0, world_size=2)
