"""Faults of machines, told apart from those of the cells that they strike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from swingby.model.process_group import LostWorkerError, SpoiledError


@contextmanager
def retryable() -> Iterator[None]:
    """Raise faults of a GPU or of another process, inside the block, as errors that another attempt may mend.

    Raises:
        SpoiledError: CUDA answers this process with an error from now on, whatever it is asked (after an uncorrectable
            error of memory, say, or an access to memory that is not there).
        LostWorkerError: another process is gone, or does not answer in time; or a port was taken meanwhile.
    """
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        if isinstance(error, torch.distributed.DistError) or "/gloo/" in str(error):
            raise LostWorkerError(f"the processes lost each other: {_first(error)}") from error
        if isinstance(error, torch.AcceleratorError) or _spoiled():
            raise SpoiledError(f"this process cannot use its GPU any more: {_first(error)}") from error
        raise


def _spoiled() -> bool:
    """Whether CUDA answers with an error; other libraries put their own in the place of the one that came first."""
    if not torch.cuda.is_initialized():
        return False
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return True
    return False


def _first(error: Exception) -> str:
    """The first line of what a library says, without the place in its source, and without advice."""
    lines = str(error).splitlines() or [type(error).__name__]
    return re.sub(r"^\[[^]]*] ", "", lines[0]).split(". This is typically")[0]
