"""Memory of a GPU, as a process that trains on it sees it."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of a GPU, in bytes.

    Attributes:
        total: all of it.
        free: what no process holds.
        peak: the most that this process has held.
    """

    total: int
    free: int
    peak: int


def memory_of_torch() -> Memory | None:
    """Memory of the GPU that torch uses in this process; None where torch is not imported, or uses none.

    The platform does not import torch.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    try:
        if not torch.cuda.is_initialized():
            return None
        free, total = torch.cuda.mem_get_info()
        return Memory(int(total), int(free), int(torch.cuda.max_memory_reserved()))
    except (AttributeError, RuntimeError):  # torch is being imported; or the GPU answers with an error
        return None
