"""How far two columns of cells lie apart: entry by entry where both sides recorded one, with the worst place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from swingby_analysis.diff.nested import NULL, Nested, Places, spread

SCHEMA = {
    "place": pl.Int64, "column": pl.String, "entries": pl.Int64, "left_a": pl.Int64, "left_b": pl.Int64,
    "unlike": pl.Int64, "differ": pl.Int64, "same": pl.Boolean, "largest": pl.Float64, "relative": pl.Float64,
    "step": pl.Int64, "entry": pl.Int64, "a": pl.Float64, "b": pl.Float64,
}  # fmt: skip
"""A row for each pair of cells and column that either cell has.

- `entries`: how many entries were compared; `left_a`, `left_b`: entries of one cell only (at other steps, or because
  only that cell has the column).
- `differ`: compared entries that are not the same; `unlike`: those of them that hold another number of values in A than
  in B; `same`: whether all entries are bit for bit the same and none is left.
- `largest`: the largest absolute difference (of texts and bytes 1; infinite where one value is not a number or entries
  are unlike); `relative`: that over the largest absolute value of the two compared curves.
- Where the largest difference is: at `step` (null: the column has no steps) and, where an entry has several values, at
  `entry` (from 1); A and B have `a` and `b` there.
"""


@dataclass(frozen=True)
class Aligned:
    """Which entries of A are compared with which of B: N pairs of entries, cell by cell, of C cells.

    Attributes:
        cell: the place of the cell, (N,).
        one, other: the entry in A's and in B's `Nested.inner`, (N,).
        left: entries of each cell that are only in A, only in B, (C, 2).
    """

    cell: Places
    one: Places
    other: Places
    left: Places


def gaps(name: str, one: Nested, other: Nested, steps: tuple[Nested, Nested] | None, first: int = 0) -> pl.DataFrame:
    """Compares a column cell by cell.

    Args:
        one, other: the column of the same C cells in A and in B.
        steps: the recorded steps of both; None: the column has none.
        first: the number of the first cell.

    Returns:
        A row a cell that has the column on either side; see SCHEMA.
    """
    aligned = _aligned(one, other, steps)
    sizes = [np.diff(side.inner)[entry] for side, entry in ((one, aligned.one), (other, aligned.other))]
    fits = sizes[0] == sizes[1]
    cell, size = aligned.cell[fits], sizes[0][fits]
    at_one, at_other = one.inner[aligned.one[fits]], other.inner[aligned.other[fits]]
    values = [side.flat[spread(at, size)] for side, at in ((one, at_one), (other, at_other))]
    gap, alike = _difference(*values)
    of_cell, count = np.repeat(cell, size), len(one.there)
    entry = np.repeat(np.arange(len(cell)), size)
    largest, scale, worst = _worst(of_cell, gap, values, count)
    broken = np.zeros(len(cell), dtype=bool)
    broken[entry[~alike]] = True
    unlike = np.bincount(aligned.cell[~fits], minlength=count)
    differ = np.bincount(cell[broken], minlength=count) + unlike
    step = None if steps is None else _steps_of(steps[0], one, aligned.one[fits])
    with np.errstate(invalid="ignore", over="ignore"):
        ratio = np.where(scale > 0, largest / np.where(scale > 0, scale, 1), np.inf)
    relative = np.where(largest == 0, 0.0, ratio)
    seen, places = worst >= 0, np.maximum(worst, 0)
    # Of nothing there is no worst place.
    pick = (
        (lambda column: [column[i] if ok else None for i, ok in zip(places, seen, strict=True)]) if len(gap) else None
    )
    none: list[Any] = [None] * count
    inside = np.arange(len(gap)) - np.repeat(np.cumsum(size) - size, size)
    single = np.repeat(size, size) == 1
    rows = pl.DataFrame(
        {
            "place": first + np.arange(count),
            "column": [name] * count,
            "entries": np.bincount(aligned.cell, minlength=count),
            "left_a": aligned.left[:, 0],
            "left_b": aligned.left[:, 1],
            "unlike": unlike,
            "differ": differ,
            "same": (differ == 0) & (aligned.left.sum(axis=1) == 0),
            "largest": np.where(unlike > 0, np.inf, largest),
            "relative": np.where(unlike > 0, np.inf, relative),
            "step": none if pick is None or step is None else pick(step[entry].tolist()),
            "entry": none if pick is None else [
                None if value is None or alone else value + 1
                for value, alone in zip(pick(inside.tolist()), pick(single.tolist()), strict=True)
            ],
            "a": none if pick is None or not one.is_number else pick(values[0].tolist()),
            "b": none if pick is None or not other.is_number else pick(values[1].tolist()),
        },
        schema=SCHEMA,
    )  # fmt: skip
    return rows.filter(pl.Series(one.there | other.there))


def _difference(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The absolute difference of each pair of values, and whether both are bit for bit the same.

    All NaN are the same; null is another value than NaN.
    """
    if one.dtype == object or other.dtype == object:
        alike = np.array([a == b for a, b in zip(one.tolist(), other.tolist(), strict=True)], dtype=bool)
        return (~alike).astype(float), alike
    bits = one.view(np.int64), other.view(np.int64)
    nan = np.isnan(one), np.isnan(other)
    both = nan[0] & nan[1] & ((bits[0] == NULL) == (bits[1] == NULL))
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.where(one == other, 0.0, np.abs(other - one))
    gap = np.where(both, 0.0, np.where(nan[0] | nan[1], np.inf, gap))
    return gap, (bits[0] == bits[1]) | both


def _worst(
    of_cell: Places, gap: np.ndarray, values: list[np.ndarray], count: int
) -> tuple[np.ndarray, np.ndarray, Places]:
    """Of each cell the largest gap, the largest finite absolute value on either side, and where the gap is first."""
    largest, scale = np.zeros(count), np.zeros(count)
    np.maximum.at(largest, of_cell, gap)
    if all(side.dtype != object for side in values):
        for side in values:
            np.maximum.at(scale, of_cell, np.where(np.isfinite(side), np.abs(side), 0.0))
    else:
        scale[:] = 1.0
    worst = np.full(count, -1)
    hits = np.flatnonzero((gap == largest[of_cell]) & (gap > 0))
    worst[of_cell[hits[::-1]]] = hits[::-1]  # the first one is written last
    return largest, scale, worst


def _aligned(one: Nested, other: Nested, steps: tuple[Nested, Nested] | None) -> Aligned:
    """Entries at the same recorded step, where a cell has one entry a step; else entries in their order."""
    cells, ones, others = list[Places](), list[Places](), list[Places]()
    left = np.stack([np.where(side.there, side.lengths, 0) for side in (one, other)], axis=1)
    lengths = one.lengths, other.lengths
    for place in np.flatnonzero(one.there & other.there).tolist():
        of_one, of_other = int(lengths[0][place]), int(lengths[1][place])
        at = np.arange(min(of_one, of_other)), np.arange(min(of_one, of_other))
        if steps is not None:
            recorded = steps[0].cell(place), steps[1].cell(place)
            if (len(recorded[0]), len(recorded[1])) == (of_one, of_other):
                at = _common(recorded[0].tobytes(), recorded[1].tobytes())
        cells.append(np.full(len(at[0]), place))
        ones.append(one.outer[place] + at[0])
        others.append(other.outer[place] + at[1])
        left[place] = of_one - len(at[0]), of_other - len(at[1])
    empty = np.zeros(0, dtype=np.int64)
    cell, at_one, at_other = (np.concatenate([empty, *parts]) for parts in (cells, ones, others))
    return Aligned(cell, at_one, at_other, left)


@lru_cache(maxsize=512)
def _common(one: bytes, other: bytes) -> tuple[Places, Places]:
    """Where the steps that both cells recorded stand on either side. Cached: most cells recorded the same steps."""
    if one == other:
        everything = np.arange(len(one) // 8)
        return everything, everything
    _, at_one, at_other = np.intersect1d(np.frombuffer(one), np.frombuffer(other), return_indices=True)
    return at_one, at_other


def _steps_of(steps: Nested, curve: Nested, entries: Places) -> Places | None:
    """The step of each of these entries of a curve, (N,); None where a cell has not one entry a step."""
    cell = np.searchsorted(curve.outer, entries, side="right") - 1
    matches = steps.lengths[cell] == curve.lengths[cell]
    at = np.where(matches, steps.outer[cell] + entries - curve.outer[cell], 0)
    if not len(steps.flat) or not matches.all():
        return None
    return steps.flat[at].astype(np.int64)
