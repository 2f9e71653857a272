"""Diagrams of the page of findings: named sweeps with maps, and the lines of theory over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swingby.model import registry
from swingby.model.broken import LoadError
from swingby.sweepfile.sections import DiagramMap
from swingby_analysis.grid import Grid, GridLine

PREFIX = "diagram-"
"""What the names of the sweeps of diagrams begin with."""


Lines = Callable[[Mapping[str, Any], Grid], Sequence[GridLine]]
"""From a resolved sweep and its grid to the lines of theory: what a package offers by the name of a sweep."""


@dataclass(frozen=True)
class Diagram:
    """One phase diagram.

    Attributes:
        experiment: whose runs it is of.
        sweep: the name of its sweep.
        heading: the question it asks.
        maps: what is drawn.
    """

    experiment: str
    sweep: str
    heading: str
    maps: Sequence[DiagramMap]

    @property
    def slug(self) -> str:
        """The sweep's name without `PREFIX`."""
        return self.sweep.removeprefix(PREFIX)

    def lines(self, resolved: Mapping[str, Any], grid: Grid) -> Sequence[GridLine]:
        """What theory draws over its maps: nothing where no package offers a function for it, or a broken one."""
        if self.sweep not in registry.offered(registry.LINES):
            return ()
        try:
            drawn: Lines = registry.load(registry.LINES, self.sweep)
        except LoadError as error:
            error.broken.tell()
            return ()
        return drawn(resolved, grid)
