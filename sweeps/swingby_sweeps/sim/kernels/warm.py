"""Compiles what cells of some shapes need before they are trained: once on a machine, and told where it takes long."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager

from swingby.model.cell import Cell, Point
from swingby.model.experiment import Batch, Experiment, Recording
from swingby_sweeps.sim.kernels import engine_for
from swingby_sweeps.sim.kernels.points import kernel_of
from swingby_sweeps.sim.params import SimParams

TOLD_AFTER = 1.0
"""Seconds of silence: kernels that were compiled before are loaded in less."""


def warm(sim: Experiment, shapes: Iterable[SimParams], tell: Callable[[str], None]) -> None:
    """Train a tiny cell for each set of kernels that cells with these parameters need on a CPU."""
    needed = {_kernels(p): p for p in shapes if engine_for(p, "cpu") == "compiled"}
    with _told(tell):
        for p in needed.values():
            tiny = p.model_copy(update={"n": 8, "epochs": 2, "batch_size": 4, "gd_steps": 2})
            for _ in sim.run(Batch((Cell(Point(sim.name, sim.stream_version, tiny), 0),), Recording(points=3))):
                pass


def _kernels(p: SimParams) -> Hashable:
    """What decides which functions are compiled, and for which types."""
    kind = kernel_of(p) if p.model == "relu" else p.model == "symmetric"
    return kind, p.drive, p.shuffle, p.dtype


@contextmanager
def _told(tell: Callable[[str], None]) -> Iterator[None]:
    text = "loading kernels; where they are new to this machine they are compiled first, up to 20 s, once ..."
    timer = threading.Timer(TOLD_AFTER, tell, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
