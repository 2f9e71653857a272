"""Threads for what a host does for a GPU: draws and certificates of a batch, part by part, to the bit as in one thread.

A GPU trains a batch in less time than one core draws it. What is a cell's own does not depend on its company, and the
kernels that compute it let go of Python's lock: so parts of the batch's cells are computed at the same time. On a CPU
other runs have the other cores, and nothing of this is used.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar

_POOL: ContextVar[tuple[ThreadPoolExecutor, int] | None] = ContextVar("parts", default=None)


@contextmanager
def host_threads(count: int) -> Iterator[None]:
    """While inside, `in_parts` computes in so many threads; with fewer than two nothing changes."""
    if count < 2:
        yield
        return
    with ThreadPoolExecutor(count, "host", _begin) as pool:
        token = _POOL.set((pool, count))
        try:
            yield
        finally:
            _POOL.reset(token)


def in_parts(compute: Callable[[slice], object], size: int, whole: int = 1) -> None:
    """Calls a function with ranges that together are 0 .. size - 1: one, or one for each thread of `host_threads`.

    Args:
        compute: writes what belongs to its range, and nothing else.
        whole: ranges begin at multiples of this.

    Raises:
        Exception: as `compute`; all of them have ended by then.
    """
    pool, count = _POOL.get() or (None, 1)
    blocks = -(-size // whole)
    bounds = [min(size, whole * (blocks * part // count)) for part in range(count + 1)]
    ranges = [slice(low, high) for low, high in itertools.pairwise(bounds) if low < high]
    if pool is None or len(ranges) < 2:
        compute(slice(0, size))
        return
    for part in wait([pool.submit(compute, each) for each in ranges]).done:
        part.result()


def _begin() -> None:
    """A thread counts as the caller of `training.one_thread` does: these settings are each thread's own."""
    import torch

    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.set_grad_enabled(False)
