"""The forecast: core-hours, wall time and bytes of the batches of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from swingby.experiment import Resources
from swingby.records import BatchNote
from swingby.run.cost import Cost
from swingby.run.progress import duration, size

STORED = 2.0
"""Bytes on disk for each byte of shards: the shards themselves, and the store that is folded from them."""


@dataclass(frozen=True, slots=True)
class ShapeForecast:
    """What the missing cells of one shape will take; `measured` is False if carried over from another shape."""

    shape: str
    cells: int
    batches: int
    core_seconds: float
    disk_bytes: float
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
    free = [0.0] * workers
    shapes: dict[str, ShapeForecast] = {}
    for note in notes:
        cost, cpus = known[note.shape], max(1, round(resources[note.shape].cpus))
        seconds = cost.seconds(note.cells)
        taken = sorted(free)[: min(cpus, workers)]
        free = [*sorted(free)[len(taken) :], *[taken[-1] + seconds] * len(taken)]
        old = shapes.get(note.shape, ShapeForecast(note.shape, 0, 0, 0.0, 0.0, cost.measured))
        shapes[note.shape] = ShapeForecast(
            note.shape,
            old.cells + note.cells,
            old.batches + 1,
            old.core_seconds + seconds * cpus,
            old.disk_bytes + note.cells * cost.size * STORED,
            cost.measured,
        )
    rows = tuple(shapes.values())
    core, disk = sum(row.core_seconds for row in rows), sum(row.disk_bytes for row in rows)
    return Forecast(core, max(free), disk, rows)


def forecast_lines(found: Forecast | None) -> Iterable[str]:
    """The forecast as a reader wants it, and which shapes it was measured on."""
    if found is None:
        yield "  forecast: unmeasured (no batch of these shapes has run yet)"
        return
    yield (
        f"  forecast: {found.core_seconds / 3600:.3g} core-hours, {duration(found.wall_seconds)} on these workers, "
        f"{size(found.disk_bytes)} on disk"
    )
    measured = [row for row in found.shapes if row.measured]
    carried = [row for row in found.shapes if not row.measured]
    yield f"  measured: {_shapes(measured)}" + (f"; in proportion to work: {_shapes(carried)}" if carried else "")


def _shapes(rows: Sequence[ShapeForecast]) -> str:
    shown = [row.shape for row in rows[:3]]
    return f"{len(rows)} shapes ({'; '.join(shown)}{'; ...' if len(rows) > 3 else ''})"
