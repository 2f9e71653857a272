"""Lines of theory in the diagrams of unconstrained features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from swingby_analysis.grid import Grid, GridLine

from . import theory


def boundary(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """l_H = m / (N^2 l_W): beyond it a mode costs more in decay than it gains in fit (`theory.threshold`)."""
    common = resolved["common"]
    C, m = float(common.get("classes", 4)), float(common.get("points_per_class", 100))
    l_w = np.geomspace(grid.x.edges[0], grid.x.edges[-1], 400)
    l_h = m / theory.threshold(C * m, l_w, 1.0) ** 2  # the threshold grows as sqrt(l_H)
    return [GridLine.through("N sqrt(l_W l_H) = sqrt(m)", zip(l_w, l_h, strict=True)).inside(grid)]
