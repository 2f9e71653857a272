"""The choice of the cells to train next. A selector is asked for cells and told results by the driver; it starts no
process, and reads no clock and no store.

`grid` asks for all cells of a sweep file once; `replicate` asks for more seeds until the shares are known well enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from swingby.sweepfile.sweep import Sweep


@dataclass(frozen=True, slots=True)
class Share:
    """The share of an outcome at a point: `k` of the `n` seeds whose outcome is known show it."""

    point: int
    k: int
    n: int


class Selector(Protocol):
    """The choice of cells in rounds: `ask`, train what was asked for, `tell`, and so on."""

    def ask(self) -> Sweep | None:
        """The sweep whose missing cells are to be trained next; None: no more.

        Raises:
            SwingbyError: the goal is out of reach.
        """
        ...

    def tell(self, evidence: Sequence[Share]) -> str:
        """Takes the shares at the points of the sweep asked for, now that it is trained; returns a line for the user.

        Raises:
            SwingbyError: the goal is out of reach.
        """
        ...
