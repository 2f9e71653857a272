"""One accelerate session: the only place that makes an Accelerator.

Accelerate keeps its state for as long as the process lives, and a worker trains one run after another: a session leaves
nothing of an Accelerator in the process.
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

from swingby.model.process_group import SpoiledError

PATIENCE = timedelta(minutes=10)
"""How long a process waits for the others at a step: an evaluation or the start of a slow node may delay them."""
_OURS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_MPI = (
    *("PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"),
    *(f"OMPI_COMM_WORLD_{name}" for name in ("SIZE", "RANK", "LOCAL_SIZE", "LOCAL_RANK")),
    *(f"MV2_COMM_WORLD_{name}" for name in ("SIZE", "RANK", "LOCAL_SIZE", "LOCAL_RANK")),
)
"""Variables in which launchers of MPI describe their processes; accelerate would take these for the session's."""


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
    """An Accelerator for this process, one of `size` that train together; everything is undone afterwards.

    Variables that a launcher (accelerate's own, or of MPI) left in the environment are hidden. Without half precision
    convolutions are computed in float32 proper; by default CUDA computes them in TF32, of 10 bits.

    Args:
        device: "cpu", "cuda" or "cuda:k"; of several processes each takes a GPU of its own.
        mixed_precision: "no", "bf16" or "fp16".
        accumulate: micro-batches a step.
        rank, size: number of this process, and how many there are.
        address, port: where rank 0 listens.

    Raises:
        SpoiledError: torch sees no GPU here: no run is at fault where one has disappeared.
        ValueError: the device has no such precision.
    """
    cpu = device == "cpu"
    if not cpu and not torch.cuda.is_available():
        raise SpoiledError(f"device {device!r} was asked for, and torch sees no GPU here; allowed: cpu")
    if cpu and mixed_precision == "fp16":
        raise ValueError("mixed_precision fp16 needs a GPU: a CPU has no scaling of gradients; allowed here: no, bf16")
    settings = _settings(device, rank, size, address, port)
    before = {name: os.environ.get(name) for name in settings}
    tf32 = torch.backends.cudnn.allow_tf32
    try:
        _set(settings)
        torch.backends.cudnn.allow_tf32 = tf32 and mixed_precision != "no"
        _forget()
        try:
            yield Accelerator(
                cpu=cpu,
                mixed_precision=mixed_precision,
                gradient_accumulation_steps=accumulate,
                kwargs_handlers=[InitProcessGroupKwargs(timeout=PATIENCE)],
            )
        except BaseException:
            with suppress(RuntimeError, ValueError, AssertionError):  # the first error is the one to report
                abort()
            raise
        finally:
            if torch.distributed.is_initialized():
                torch.distributed.destroy_process_group()
            _forget()
    finally:
        _set(before)
        torch.backends.cudnn.allow_tf32 = tf32


def abort() -> None:
    """Make this process raise where it waits on its GPU for others; any thread may call it.

    NCCL, unlike gloo, does not notice that another process is gone, and to leave the group in order would wait for that
    process too.
    """
    if torch.distributed.is_initialized() and torch.distributed.get_backend() == "nccl":
        torch.distributed.distributed_c10d._abort_process_group()


def _settings(device: str, rank: int, size: int, address: str, port: int) -> dict[str, str | None]:
    """The environment variables that accelerate reads; None: the variable must be absent."""
    others = [name for name in os.environ if name.startswith("ACCELERATE_")]
    absent: dict[str, str | None] = dict.fromkeys((*_OURS, *_MPI, *others, "ACCELERATE_TORCH_DEVICE"))
    if size == 1:
        return {**absent, "ACCELERATE_TORCH_DEVICE": device if ":" in device else None}
    # A process that was given a GPU of its own sees that one alone; else each sees all GPUs and takes that of its rank.
    local_rank = rank if device == "cpu" or torch.cuda.device_count() >= size else 0
    # Left to itself accelerate chooses how many threads to use, and warns that it did.
    threads = os.environ.get("OMP_NUM_THREADS") or str(torch.get_num_threads())
    values = (str(rank), str(size), str(local_rank), str(size), address, str(port))
    # After an error of NCCL the process is to raise it; left to itself torch ends the process.
    nccl = {} if device == "cpu" else {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "2"}
    return {**absent, **dict(zip(_OURS, values, strict=True)), "OMP_NUM_THREADS": threads, **nccl}


def _set(values: dict[str, str | None]) -> None:
    """Set environment variables, or remove those that are None."""
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _forget() -> None:
    """Remove the state of earlier sessions that accelerate keeps."""
    AcceleratorState._reset_state(reset_partial_state=True)
    GradientState._reset_state()
