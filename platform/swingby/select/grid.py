"""The selector of a sweep file: all cells of the grid, in one round."""

from __future__ import annotations

from collections.abc import Sequence

from swingby.select import Share
from swingby.sweepfile.sweep import Sweep


class Grid:
    """Asks for every cell of a sweep, once."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep: Sweep | None = sweep

    def ask(self) -> Sweep | None:
        sweep, self._sweep = self._sweep, None
        return sweep

    def tell(self, evidence: Sequence[Share]) -> str:
        return f"{len(evidence)} points are trained"
