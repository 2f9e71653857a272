"""Cells that failed, by their reason and by what they have in common: for commands, watching and pages alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from swingby.options import option
from swingby.store.reader import Store
from swingby.store.sql import query
from swingby.store.sweep_grid import SweepGrid, plain, scalar, sweep_grid
from swingby.text import plain as plain_line
from swingby.units import counted

MOST_VALUES = 3
"""Values of an axis that are written where failures have them in common."""
MOST_REASONS = 5
"""Reasons that are listed where other things are told, too."""
NUMBER = re.compile(r"[-+]?[0-9][0-9.,eE+-]*")


class Failed(NamedTuple):
    """A cell that failed: its point, what it raised, its id, and when (seconds since 1970)."""

    point: int
    message: str | None
    cell_id: str = ""
    finished: float = 0.0


class Failure(NamedTuple):
    """Cells that failed for one reason: how many, where they are, the reason with its place in the code; of the cell
    that failed last its id, its whole message, and when that was (seconds since 1970)."""

    cells: int
    where: str
    reason: str
    cell_id: str
    message: str
    last: float

    def __str__(self) -> str:
        return f"{counted(self.cells, 'cell')}{f' at {self.where}' if self.where else ''}: {self.reason}"


def failures(failed: Iterable[Failed], grid: SweepGrid) -> list[Failure]:
    """The failed cells by their reason, the most frequent first; reasons that differ in numbers only are one.

    Args:
        grid: where the points stand.
    """
    kinds: dict[str, list[Failed]] = {}
    for cell in failed:
        kinds.setdefault(NUMBER.sub("#", _first_line(cell.message)), []).append(cell)
    groups = list[Failure]()
    for cells in kinds.values():
        last = max(cells, key=lambda cell: (cell.finished, cell.cell_id))
        where = _common(grid, sorted({cell.point for cell in cells}))
        reason = _reason(_first_line(cells[0].message))
        groups.append(Failure(len(cells), where, reason, last.cell_id, last.message or "", last.finished))
    return sorted(groups, key=lambda one: -one.cells)


def failures_of(store: Store, experiment: str, sweep_id: str) -> tuple[Failure, ...]:
    """The failures of a sweep in the store, as `failures` has them."""
    if experiment not in store.names():
        return ()
    rows = store.sql(query("failed_cells", experiment), [sweep_id]).rows()
    if not rows:
        return ()
    return tuple(failures((Failed(*row) for row in rows), sweep_grid(store, experiment, sweep_id)))


def failure_lines(grouped: Sequence[Failure], sweep: str, imported: bool = False) -> list[str]:
    """Lines about failures of a sweep, and what can be done about them unless they were imported."""
    lines = [f"  {plain_line(one)}" for one in grouped[:MOST_REASONS]]
    more = len(grouped) - MOST_REASONS
    if more > 0:
        cells = sum(one.cells for one in grouped[MOST_REASONS:])
        lines.append(f"  and {counted(cells, 'cell')} for {counted(more, 'reason')} more")
    if grouped:
        again = "" if imported else f"; {option('retry_failed', True)} trains them again"
        lines.append(f"  whole messages: swingby failures {sweep}{again}")
    return lines


def _first_line(message: str | None) -> str:
    return ((message or "").splitlines() or ["no message"])[0]


def _reason(line: str) -> str:
    """A message with its place behind a comma: "KeyError: 'a', train.py line 8"."""
    return re.sub(r" \(([^(),]+), line (\d+)\)$", r", \1 line \2", line.rstrip("."))


def _common(grid: SweepGrid, points: Sequence[int]) -> str:
    """The values that these points have in common on axes that have others, too; else how many points they are."""
    parts, known = list[str](), [point for point in points if point in grid.places]
    for number, axis in enumerate(grid.axes):
        ranks = sorted({grid.places[point][number] for point in known})
        if 0 < len(ranks) <= min(MOST_VALUES, len(axis.values) - 1):
            values = [plain(scalar(axis.values[rank])) for rank in ranks]
            parts.append(f"{axis.name} = {' or '.join(values)}")
    whole = len(grid.places)
    return ", ".join(parts) or (f"{len(points):,} of {counted(whole, 'point')}" if len(points) < whole else "")
