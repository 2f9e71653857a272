"""Lines of theory in diagrams: each is a function of the resolved sweep and its grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swingby_analysis.grid import Grid, GridLine


def as_large(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """Where the target is as large as the net's first outputs (`theory.target_ratio` = 1), over weight scale."""
    common, weights = resolved["common"], grid.x.positions
    if grid.rows_axis.name == "target_scale":
        edge = [common["output_scale"] * weight for weight in weights]
    else:
        edge = [common["target_scale"] / weight for weight in weights]
    corners = zip(weights, edge, strict=True)
    return [GridLine.through("target = output scale x weight scale", corners).inside(grid)]
