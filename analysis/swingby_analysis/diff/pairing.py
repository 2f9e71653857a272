"""Which cells of two sweeps belong together: those with the same seed at the same values of everything that varies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from swingby.errors import SwingbyError
from swingby.model.params import plain
from swingby.sweepfile.parameters import PRESET, split

EXAMPLES = 3
"""Pairs of values that are named of a parameter that differs."""
SIDES = ("a", "b")


class Swept(Protocol):
    """The part of `Side` that pairing needs."""

    @property
    def letter(self) -> str:
        """The letter of its side: A or B."""
        ...

    @property
    def axes(self) -> list[str]:
        """The parameters that vary in the sweep."""
        ...

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The resolved sweep."""
        ...

    @property
    def parameters(self) -> list[str]:
        """The parameters that its cells have as columns."""
        ...

    @property
    def cells(self) -> pl.DataFrame:
        """A row a cell that has come to an end: point, preset, seed, cell_id, status, parameters."""
        ...


@dataclass(frozen=True, slots=True)
class Differing:
    """A parameter that has another value in B than in A at matched points.

    Attributes:
        points: how many of the matched points.
        values: the values in A and in B, for the first few distinct pairs.
        more: whether there are other pairs of values.
    """

    name: str
    points: int
    values: Sequence[tuple[Any, Any]]
    more: bool


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Cells of one side that have come to an end and have no partner, by the reason.

    Attributes:
        off_grid: cells at points that the other side does not have, or of which it has finished nothing.
        values: for each parameter that varies, the values that only this side has.
        seeds: cells with seeds that the other side does not have.
        waiting: cells whose partner has no result on the other side.
    """

    off_grid: int
    values: Mapping[str, Sequence[Any]]
    seeds: int
    waiting: int

    @property
    def cells(self) -> int:
        """How many cells have no partner."""
        return self.off_grid + self.seeds + self.waiting


@dataclass(frozen=True)
class Pairing:
    """The cells of two sweeps that belong together, and those without a partner.

    Attributes:
        keys: the parameters that have to be equal, beside the seed: all that vary in either sweep.
        points: a row a matched point: point_a, point_b.
        pairs: a row a pair of cells: point (A's), seed, and of both sides cell_id, status, shard (`cell_a`, ...).
        unpaired: the cells without a partner, by side ("a", "b").
        differing: parameters that differ though the points are matched.
    """

    keys: Sequence[str]
    points: pl.DataFrame
    pairs: pl.DataFrame
    unpaired: Mapping[str, Unpaired]
    differing: Sequence[Differing]

    @property
    def by_seed(self) -> bool:
        """Whether any seed is in both sweeps; otherwise they are compared as independent samples."""
        return self.pairs.height > 0


def pair(a: Swept, b: Swept, introduced: Mapping[str, Any] | None = None) -> Pairing:
    """Matches the points of two sweeps over one experiment, and their cells by seed.

    Args:
        introduced: parameters that the experiment got later, with the value that older cells have for them.

    Raises:
        SwingbyError: no point of A is one of B, or a parameter that varies in one is unknown to the other.
    """
    keys = list(dict.fromkeys([*a.axes, *b.axes]))
    sides = {"a": _points(a, keys, introduced or {}), "b": _points(b, keys, introduced or {})}
    points = sides["a"].select("key", point_a="point").join(sides["b"].select("key", point_b="point"), on="key")
    points = points.select("point_a", "point_b").sort("point_a")
    if points.is_empty():
        lines = ["no point of A is one of B, so nothing can be compared"]
        for key in keys:
            labels = [list(_texts(sides[side], key)) for side in SIDES]
            texts = [", ".join(values[:8]) + (", ..." if len(values) > 8 else "") for values in labels]
            lines.append(f"{key}: {a.letter} has {texts[0]}; {b.letter} has {texts[1]}")
        raise SwingbyError("\n  ".join(lines))
    cells = []
    for side, swept in (("a", a), ("b", b)):
        renamed = {"cell_id": f"cell_{side}", "status": f"status_{side}", "shard": f"shard_{side}"}
        cells_of = swept.cells.select("point", "seed", *renamed).rename({"point": f"point_{side}", **renamed})
        cells.append(cells_of.join(points, on=f"point_{side}"))
    pairs = cells[0].join(cells[1].drop("point_b"), on=["point_a", "seed"]).sort("shard_a", "point_a", "seed")
    pairs = pairs.rename({"point_a": "point"})
    unpaired = {
        side: _unpaired(side, swept, other, sides, pairs, keys)
        for side, swept, other in (("a", a, b), ("b", b, a))
    }  # fmt: skip
    return Pairing(keys, points, pairs.drop("point_b"), unpaired, _differing(a, b, sides, points))


def _points(swept: Swept, keys: Sequence[str], introduced: Mapping[str, Any]) -> pl.DataFrame:
    """A row a point with a cell that has ended: point, parameters, and as `key` the values of `keys` in one text."""
    names = list(dict.fromkeys(split(key)[0] for key in keys))
    lacking = [name for name in names if name != PRESET and name not in swept.parameters and name not in introduced]
    if lacking:
        known = ", ".join(swept.parameters)
        raise SwingbyError(f"{swept.letter} knows no parameter {', '.join(lacking)}, which varies; it has: {known}")
    firsts = swept.cells.unique("point", keep="first", maintain_order=True).sort("point")
    firsts = firsts.select("point", PRESET, *swept.parameters)
    for name, value in introduced.items():
        if name not in firsts.columns:
            firsts = firsts.with_columns(pl.Series(name, [value] * firsts.height))
        elif value is not None:
            filled = [value if item is None else item for item in firsts[name].to_list()]
            firsts = firsts.with_columns(pl.Series(name, filled))
    texts = [json.dumps([plain(_value(row, key)) for key in keys]) for row in firsts.iter_rows(named=True)]
    return firsts.with_columns(pl.Series("key", texts, dtype=pl.String))


def _value(row: Mapping[str, Any], key: str) -> Any:
    """The value of `rates`, or of its entry `rates.1`, at a point; None where the vector is shorter."""
    name, entry = split(key)
    value = row[name]
    if entry is None or value is None:
        return value
    return value[entry] if entry < len(value) else None


def _texts(points: pl.DataFrame, key: str) -> dict[str, None]:
    """The distinct values of a key at these points as JSON, in order of appearance."""
    return {json.dumps(plain(_value(row, key))): None for row in points.iter_rows(named=True)}


def _unpaired(
    side: str, swept: Swept, other: Swept, sides: Mapping[str, pl.DataFrame], pairs: pl.DataFrame, keys: Sequence[str]
) -> Unpaired:
    """The cells of one side without a partner, and why they have none."""
    mine, theirs = sides[side], sides["b" if side == "a" else "a"]
    alone = swept.cells.join(pairs.select(cell_id=f"cell_{side}"), on="cell_id", how="anti")
    off = alone.join(mine.join(theirs.select("key"), on="key", how="anti").select("point"), on="point", how="semi")
    rest = alone.join(off.select("cell_id"), on="cell_id", how="anti")
    seeds = rest.filter(~pl.col("seed").is_in(list(other.resolved["seeds"]))).height
    values = {}
    if off.height:
        points_off = mine.filter(pl.col("point").is_in(off["point"].implode()))
        for key in keys:
            there = _texts(theirs, key)
            if only := [json.loads(text) for text in _texts(points_off, key) if text not in there]:
                values[key] = only
    return Unpaired(off.height, values, seeds, rest.height - seeds)


def _differing(a: Swept, b: Swept, sides: Mapping[str, pl.DataFrame], points: pl.DataFrame) -> list[Differing]:
    """Every parameter (and the preset) that is not equal at all matched points."""
    rows = {side: {row["point"]: row for row in sides[side].iter_rows(named=True)} for side in SIDES}
    matched = [(rows["a"][one], rows["b"][other]) for one, other in points.iter_rows()]
    differing = []
    for name in dict.fromkeys([PRESET, *a.parameters, *b.parameters]):
        both = [(plain(one.get(name)), plain(other.get(name))) for one, other in matched]
        unlike = [values for values in both if values[0] != values[1]]
        distinct = list({json.dumps(values): values for values in unlike}.values())
        if unlike:
            differing.append(Differing(name, len(unlike), distinct[:EXAMPLES], len(distinct) > EXAMPLES))
    return differing
