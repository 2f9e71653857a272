"""Parameters of a curve in rows of the experiment's table, and what theory makes of them."""

from __future__ import annotations

from swingby.model.row_detector import Row

from .. import theory

PARAMETERS = ("model", "bottleneck", "alpha", "skills", "s", "r0", "lr", "data", "width", "drawn")
"""The parameters that a curve's theory reads."""
REQUIRED = tuple(name for name in PARAMETERS if name not in ("skills", "data", "width"))
"""Those that no row lacks; the others may be null: no limit."""


def lag(row: Row) -> float:
    """The lag c of a row's curve, by `theory.lag`."""
    return theory.lag(row["model"], row["s"], row["r0"])


def pace(row: Row) -> float:
    """The pace of a row's curve, by `theory.pace`."""
    return theory.pace(row["model"], row["s"], row["lr"])
