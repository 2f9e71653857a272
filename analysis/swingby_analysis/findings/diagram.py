"""What a diagram of the page is: its sweep, its figures with the lines of theory, and its sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swingby_analysis.findings.sentence import Sentence
from swingby_analysis.grid import Grid
from swingby_sweeps.sim.theory_lines import Line

PREFIX = "diagram-"
Lines = Callable[[Mapping[str, Any], Grid], Sequence[Line]]
"""From the resolved sweep and its grid to the lines of theory."""


def none(resolved: Mapping[str, Any], grid: Grid) -> Sequence[Line]:
    """Theory says nothing of a boundary."""
    return ()


@dataclass(frozen=True)
class Diagram:
    """One phase diagram.

    Attributes:
        slug: the sweep's name without `PREFIX`.
        heading: the question it asks.
        sentences: what it may show.
        maps: the outcomes that are drawn.
        lines: what theory draws over them.
    """

    slug: str
    heading: str
    sentences: Sequence[Sentence]
    maps: tuple[str, ...] = ("transient_memorization", "outcome", "bump_height")
    lines: Lines = none

    @property
    def sweep(self) -> str:
        """The named sweep."""
        return f"{PREFIX}{self.slug}"

    @property
    def sweeps(self) -> list[str]:
        """Every sweep that it needs, its own first."""
        return list(dict.fromkeys([self.sweep, *(name for item in self.sentences for name in item.sweeps)]))
