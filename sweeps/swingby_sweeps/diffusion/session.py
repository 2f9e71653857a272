"""One accelerate session: the only place that makes an Accelerator, and that leaves no trace of it in the process.

Accelerate keeps its state for as long as the process lives, and a worker trains one run after another.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, GradientState
from accelerate.utils import InitProcessGroupKwargs

PATIENCE = timedelta(minutes=10)
"""How long a process waits for the others at a step: an evaluation, or the start of a slow node, may come between."""
_OURS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_MPI = (
    *("PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"),
    *(f"OMPI_COMM_WORLD_{name}" for name in ("SIZE", "RANK", "LOCAL_SIZE", "LOCAL_RANK")),
    *(f"MV2_COMM_WORLD_{name}" for name in ("SIZE", "RANK", "LOCAL_SIZE", "LOCAL_RANK")),
)
"""In these a launcher of MPI tells of its processes, which accelerate takes for those of the session."""


@contextmanager
def session(
    device: str,
    mixed_precision: str = "no",
    accumulate: int = 1,
    rank: int = 0,
    size: int = 1,
    address: str = "127.0.0.1",
    port: int = 0,
) -> Iterator[Accelerator]:
    """An Accelerator for this process, one of `size` that train together; all of it is undone afterwards.

    What launchers (of accelerate itself, or of MPI) left in the environment does not count. Without half precision
    convolutions are computed in float32 proper, where CUDA's would take TF32, of 10 bits, by default.

    Args:
        device: "cpu", "cuda" or "cuda:k"; with several processes each takes a GPU of its own.
        mixed_precision: "no", "bf16" or "fp16".
        accumulate: micro-batches a step.
        rank, size, address, port: this process among all, and where rank 0 listens.

    Raises:
        ValueError: no such device here, or it has no such precision.
    """
    cpu = device == "cpu"
    if not cpu and not torch.cuda.is_available():
        raise ValueError(f"device {device!r} was asked for, and torch sees no GPU here; allowed: cpu")
    if cpu and mixed_precision == "fp16":
        raise ValueError("mixed_precision fp16 needs a GPU: a CPU has no scaling of gradients; allowed here: no, bf16")
    settings = _settings(device, rank, size, address, port)
    with _environment(settings), _convolutions(exact=mixed_precision == "no"):
        _forget()
        try:
            yield Accelerator(
                cpu=cpu,
                mixed_precision=mixed_precision,
                gradient_accumulation_steps=accumulate,
                kwargs_handlers=[InitProcessGroupKwargs(timeout=PATIENCE)],
            )
        except BaseException:
            with suppress(RuntimeError, ValueError, AssertionError):  # what was raised first is what counts
                abort()
            raise
        finally:
            if torch.distributed.is_initialized():
                torch.distributed.destroy_process_group()
            _forget()


def abort() -> None:
    """Ends what this process waits for on its GPU, which then raises; any thread may call it.

    NCCL does not notice that another process is gone, as gloo does, and leaving in order would wait for it as well.
    """
    if torch.distributed.is_initialized() and torch.distributed.get_backend() == "nccl":
        torch.distributed.distributed_c10d._abort_process_group()


def _settings(device: str, rank: int, size: int, address: str, port: int) -> dict[str, str | None]:
    """What accelerate reads of the environment; None: the variable must not be there."""
    own = [name for name in os.environ if name.startswith("ACCELERATE_")]
    found: dict[str, str | None] = dict.fromkeys((*_OURS, *_MPI, *own, "ACCELERATE_TORCH_DEVICE"))
    if size == 1:
        return {**found, "ACCELERATE_TORCH_DEVICE": device if ":" in device else None}
    # A process that was given a GPU of its own sees that one alone; else all see all, and take that of their rank.
    own = rank if device == "cpu" or torch.cuda.device_count() >= size else 0
    # Left to itself accelerate chooses how many threads to use, and warns that it did.
    threads = os.environ.get("OMP_NUM_THREADS") or str(torch.get_num_threads())
    values = (str(rank), str(size), str(own), str(size), address, str(port))
    return {**found, **dict(zip(_OURS, values, strict=True)), "OMP_NUM_THREADS": threads}


@contextmanager
def _environment(values: dict[str, str | None]) -> Iterator[None]:
    """These environment variables inside, what was there before outside."""
    before = {name: os.environ.get(name) for name in values}
    try:
        _set(values)
        yield
    finally:
        _set(before)


def _set(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextmanager
def _convolutions(exact: bool) -> Iterator[None]:
    """Inside, cuDNN computes in float32 proper if that is wanted; outside as before."""
    before = torch.backends.cudnn.allow_tf32
    try:
        torch.backends.cudnn.allow_tf32 = before and not exact
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before


def _forget() -> None:
    """Accelerate's own memory of earlier sessions."""
    AcceleratorState._reset_state(reset_partial_state=True)
    GradientState._reset_state()
