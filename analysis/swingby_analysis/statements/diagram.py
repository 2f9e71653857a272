"""Diagrams of the page of findings: a sweep, its maps, and the lines of theory over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from swingby_analysis.grid import Grid, GridLine

PREFIX = "diagram-"
"""What the names of the sweeps of diagrams begin with."""


Lines = Callable[[Mapping[str, Any], Grid], Sequence[GridLine]]
"""From the resolved sweep and its grid to the lines of theory."""


def none(resolved: Mapping[str, Any], grid: Grid) -> Sequence[GridLine]:
    """No line: theory says nothing of a boundary."""
    return ()


@dataclass(frozen=True)
class Map:
    """One map of a diagram.

    Attributes:
        outcome: what is drawn at each point; of a share also what makes an outcome a yes, in the forms of
            `refine.outcome`, such as "kind = late" or "height > 0.05".
        drawn: how: the share of the seeds, the most common category, or the median or mean of a number.
        title: of the figure.
        legend: what the legend calls it; "" for the outcome's own name.
        reading: how to read it, in place of the usual words.
        where: of which runs, as SQL over their outcomes; "" for all.
        ticks: of a median whose colours are those of its logarithm, from the first to the last; () for an even scale.
        fewest: runs from which on a point has a number.
        lines: what theory draws over this map alone; None: what it draws over all maps of the diagram.
    """

    outcome: str
    drawn: Literal["share", "category", "median", "mean"]
    title: str
    legend: str = ""
    reading: str = ""
    where: str = ""
    ticks: Sequence[float] = ()
    fewest: int = 1
    lines: Lines | None = None


@dataclass(frozen=True)
class Diagram:
    """One phase diagram.

    Attributes:
        experiment: whose runs it is of.
        slug: the sweep's name without `PREFIX`.
        heading: the question it asks.
        maps: what is drawn.
        lines: what theory draws over them.
    """

    experiment: str
    slug: str
    heading: str
    maps: Sequence[Map]
    lines: Lines = none

    @property
    def sweep(self) -> str:
        """The name of its sweep."""
        return f"{PREFIX}{self.slug}"
