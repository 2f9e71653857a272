"""Slices of a grid that has too many points to be drawn whole: some values of the axes that no map is drawn over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swingby.sweepfile.parameters import PRESET, split
from swingby_analysis.grid import plain

MOST = 50_000
"""Points of a grid from which on it is drawn in slices."""
SLICES = 6
"""Values that are drawn of each further axis, evenly chosen."""


def sliced(points: pa.Table, resolved: Mapping[str, Any]) -> tuple[pa.Table, str]:
    """The points that are drawn, and a sentence that says which; all points, and no sentence, of a smaller grid.

    Args:
        points: a row a point, as `Store.points` gives them.
        resolved: the resolved sweep.
    """
    if points.num_rows < MOST:
        return points, ""
    diagram = resolved["diagram"] or {}
    firsts = [axis["names"][0] for axis in resolved["axes"]]
    shown = {diagram.get("x"), diagram.get("y")} if diagram else set(firsts[:2])
    slices = list[str]()
    for axis in resolved["axes"]:
        name, values = axis["names"][0], [value[0] for value in axis["values"]]
        if shown & set(axis["names"]) or name == PRESET or len(values) <= SLICES:
            continue
        chosen = [values[place] for place in np.linspace(0, len(values) - 1, SLICES).round().astype(int)]
        parameter, entry = split(name)
        column = points[parameter] if entry is None else pc.call_function("list_element", [points[parameter], entry])
        lookup = pc.SetLookupOptions(value_set=pa.array(chosen, column.type))
        points = points.filter(pc.call_function("is_in", [column], lookup))
        slices.append(f"{name} at {len(chosen)} of {len(values)} values ({', '.join(map(plain, chosen))})")
    if not slices:
        return points, ""
    return points, f"The maps show slices: {'; '.join(slices)}. Fits use the results of all points."
