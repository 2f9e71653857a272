"""Compiles what cells of some shapes need before they are trained: once on a machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager

from swingby.model.cell import Cell, Point
from swingby.model.experiment import Batch, Experiment, Recording
from swingby_sweeps.dynamics.kernels import side_by_side

from .params import SimParams

SILENT_FOR = 1.0
"""Seconds until the message: kernels that were compiled before are loaded in less."""


def warm(sim: Experiment, shapes: Iterable[SimParams], tell: Callable[[str], None]) -> None:
    """Train a tiny cell for each set of kernels that cells with these parameters need on a CPU."""
    needed = {_kernels(p): p for p in shapes if p.compiled}
    with _message_if_slow(tell):
        for p in needed.values():
            tiny = p.model_copy(update={"n": 8, "epochs": 2, "batch_size": 4, "gd_steps": 2})
            for _ in sim.run(Batch((Cell(Point(sim.name, sim.stream_version, tiny), 0),), Recording(points=3))):
                pass


def _kernels(p: SimParams) -> Hashable:
    """What decides which functions are compiled, and for which types."""
    shape = p.net_shape
    return shape.kind, side_by_side(shape), p.drive, p.shuffle, p.dtype


@contextmanager
def _message_if_slow(tell: Callable[[str], None]) -> Iterator[None]:
    text = "loading kernels; where they are new to this machine they are compiled first, up to 20 s, once ..."
    timer = threading.Timer(SILENT_FOR, tell, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
