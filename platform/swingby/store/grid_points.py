"""The points of a refined sweep that no cell was asked for: where they stand on its axes, from what its plan says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.function.signature import params_declared
from swingby.model.params import reads_of
from swingby.sweepfile.parameters import PRESET, split


def ranges(places: np.ndarray) -> list[list[int]]:
    """Rising numbers as stretches, [first, one beyond the last] each."""
    if not len(places):
        return []
    edges = np.flatnonzero(np.diff(places) != 1) + 1
    return [[int(part[0]), int(part[-1]) + 1] for part in np.split(places, edges)]


def other_points(resolved: Mapping[str, Any], left: Sequence[Sequence[int]] | None, known: pa.Table) -> pa.Table:
    """The points of a grid that are not among the known ones, with the columns of these: `point`, `planned` (0), and
    the parameters, which are null where no axis sets them.

    Args:
        resolved: the resolved sweep.
        left: of the product of its axes, the stretches that its filter leaves; None: all.
        known: points with a cell.
    """
    axes = [([str(name) for name in axis["names"]], axis["values"]) for axis in resolved["axes"]]
    shape = tuple(len(values) for _, values in axes)
    stretches = [[0, math.prod(shape)]] if left is None else left
    places = np.concatenate([np.zeros(0, np.int64), *(np.arange(first, beyond) for first, beyond in stretches)])
    points = np.setdiff1d(np.arange(min(len(places), int(resolved["points"]))), known["point"].to_numpy())
    indices = np.unravel_index(places[points], shape) if shape else ()
    columns: dict[str, Any] = {"point": points, "planned": np.zeros(len(points), np.int64)}
    for (names, values), index in zip(axes, indices, strict=True):
        for entry, name in enumerate(names):
            if name == PRESET:
                continue
            parameter, place = split(name)
            taken = [values[at][entry] for at in index.tolist()]
            if place is not None:
                vectors = columns.get(parameter) or [[] for _ in taken]
                taken = [_with(vector, place, value) for vector, value in zip(vectors, taken, strict=True)]
            columns[parameter] = taken
    _forget_unread(columns, resolved, len(points))
    arrays = [
        pa.array(columns[field.name], field.type) if field.name in columns else pa.nulls(len(points), field.type)
        for field in known.schema
    ]
    return pa.Table.from_arrays(arrays, schema=known.schema)


def _forget_unread(columns: dict[str, Any], resolved: Mapping[str, Any], count: int) -> None:
    """Makes null what points do not read, where the experiment is a function that says so."""
    declared = resolved.get("declared") or {}
    if not any("reads" in of for of in declared.get("params", {}).values()):
        return
    params = params_declared(declared["params"])
    reads, varying = reads_of(params), [name for name in columns if name in params.model_fields]
    for place in range(count):
        values = {**resolved["common"], **{name: columns[name][place] for name in varying}}
        for name in reads.unread(values) & set(varying):
            columns[name][place] = None


def _with(vector: Sequence[Any], place: int, value: Any) -> list[Any]:
    """A vector with a value at a place; what nobody says is null."""
    longer = [*vector, *[None] * (place + 1 - len(vector))]
    longer[place] = value
    return longer
