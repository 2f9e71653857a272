"""The forecast: core-hours, wall time and bytes of the batches of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from swingby.data.records import BatchNote
from swingby.model.experiment import Resources
from swingby.run.cost import Cost
from swingby.store.writer import SEGMENT_ROWS
from swingby.units import counted, duration, size

STORE = 1.75
"""Bytes of the store for each byte of shards (1.6 for curves and 0.15 for the index, measured on 6,720 SIM cells)."""
COPIES = 3
"""How often the store holds what is not sealed: to work on, and in the last two publications."""


@dataclass(frozen=True, slots=True)
class ShapeForecast:
    """What the missing cells of one shape will take; `measured` is False if carried over from another shape."""

    shape: str
    cells: int
    batches: int
    core_seconds: float
    measured: bool


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the missing cells will take: seconds of one core, wall seconds on all workers, bytes on disk."""

    core_seconds: float
    wall_seconds: float
    disk_bytes: float
    shapes: tuple[ShapeForecast, ...]


def forecast(
    notes: Sequence[BatchNote], known: Mapping[str, Cost], resources: Mapping[str, Resources], workers: int
) -> Forecast | None:
    """What batches will take; None if there are none, or their cost is unknown.

    The wall time is that of handing the batches in order to whichever worker is free.
    """
    if not notes or not known:
        return None
    free, shards = [0.0] * workers, 0.0
    shapes: dict[str, ShapeForecast] = {}
    for note in notes:
        cost, cpus = known[note.shape], max(1, round(resources[note.shape].cpus))
        seconds = cost.seconds(note.cells)
        taken = sorted(free)[: min(cpus, workers)]
        free = [*sorted(free)[len(taken) :], *[taken[-1] + seconds] * len(taken)]
        shards += note.cells * cost.size
        old = shapes.get(note.shape, ShapeForecast(note.shape, 0, 0, 0.0, cost.measured))
        shapes[note.shape] = ShapeForecast(
            note.shape,
            old.cells + note.cells,
            old.batches + 1,
            old.core_seconds + seconds * cpus,
            cost.measured,
        )
    rows = tuple(shapes.values())
    open_share = min(1.0, SEGMENT_ROWS / sum(row.cells for row in rows))
    disk = shards * (1 + STORE * (1 + (COPIES - 1) * open_share))
    return Forecast(sum(row.core_seconds for row in rows), max(free), disk, rows)


def forecast_lines(found: Forecast | None) -> Iterable[str]:
    """The forecast as a reader wants it, and which shapes it was measured on."""
    if found is None:
        yield "  forecast: unmeasured (no batch of these shapes has run yet)"
        return
    yield (
        f"  forecast: {found.core_seconds / 3600:.3g} core-hours, {duration(found.wall_seconds)} on these workers, "
        f"{size(found.disk_bytes)} on disk"
    )
    measured = [row.shape for row in found.shapes if row.measured]
    carried = len(found.shapes) - len(measured)
    if not measured:
        yield f"  carried over to {counted(carried, 'shape')} from measured ones, in proportion to the work"
        return
    shown = "; ".join(measured) if len(measured) <= 3 else f"{len(measured)} shapes"
    other = f"; {counted(carried, 'other shape')} in proportion to the work" if carried else ""
    yield f"  measured on {shown}{other}"
