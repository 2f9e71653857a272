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
"""How many pairs of values of a parameter that differs are told."""
SIDES = ("a", "b")


class Swept(Protocol):
    """What is asked here of a sweep; see `Side`."""

    @property
    def letter(self) -> str:
        """A or B."""
        ...

    @property
    def axes(self) -> list[str]:
        """What varies in it."""
        ...

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The resolved sweep."""
        ...

    @property
    def parameters(self) -> list[str]:
        """Its parameters."""
        ...

    @property
    def cells(self) -> pl.DataFrame:
        """A row a cell that has come to an end: point, preset, seed, cell_id, status, parameters."""
        ...


@dataclass(frozen=True, slots=True)
class Differing:
    """A parameter whose value is not the same at matched points.

    Attributes:
        points: at how many of the matched points it differs.
        values: what stands in A and in B, for the first few distinct pairs.
        more: whether there are other pairs of values.
    """

    name: str
    points: int
    values: Sequence[tuple[Any, Any]]
    more: bool


@dataclass(frozen=True, slots=True)
class Left:
    """Cells of one side that have come to an end and have no partner, by the reason.

    Attributes:
        off_grid: at points that the other side has not, or has not begun.
        values: for each thing that varies, the values of it that only this side has.
        seeds: with seeds that the other side has not.
        waiting: the other side has not finished their partner.
    """

    off_grid: int
    values: Mapping[str, Sequence[Any]]
    seeds: int
    waiting: int

    @property
    def cells(self) -> int:
        """How many they are."""
        return self.off_grid + self.seeds + self.waiting


@dataclass(frozen=True)
class Pairing:
    """Two sweeps, laid beside each other.

    Attributes:
        keys: what has to be equal in both, beside the seed: everything that varies in either.
        points: a row a matched point: point_a, point_b.
        pairs: a row a pair of cells: point (A's), seed, and of both sides cell_id, status, shard (`cell_a`, ...).
        left: by side, a and b.
        differing: parameters that differ though the points are matched.
    """

    keys: Sequence[str]
    points: pl.DataFrame
    pairs: pl.DataFrame
    left: Mapping[str, Left]
    differing: Sequence[Differing]

    @property
    def by_seed(self) -> bool:
        """Whether any seed is in both: else the two are compared as independent samples."""
        return self.pairs.height > 0


def pair(a: Swept, b: Swept, introduced: Mapping[str, Any] | None = None) -> Pairing:
    """Matches the points of two sweeps over one experiment, and their cells by seed.

    Args:
        introduced: parameters that were added later, with what stands for them in cells that are older.

    Raises:
        SwingbyError: no point of A is one of B, or something varies in one that the other does not know.
    """
    keys = list(dict.fromkeys([*a.axes, *b.axes]))
    sides = {"a": _points(a, keys, introduced or {}), "b": _points(b, keys, introduced or {})}
    points = sides["a"].select("key", point_a="point").join(sides["b"].select("key", point_b="point"), on="key")
    points = points.select("point_a", "point_b").sort("point_a")
    if points.is_empty():
        raise _nothing(a, b, keys, sides)
    cells = {side: _cells(swept, points, side) for side, swept in zip(SIDES, (a, b), strict=True)}
    on = ["point_a", "seed"]
    pairs = cells["a"].join(cells["b"], on=on).sort("shard_a", "point_a", "seed").rename({"point_a": "point"})
    left = {
        side: _left(side, swept, other, sides, pairs, keys)
        for side, swept, other in (("a", a, b), ("b", b, a))
    }  # fmt: skip
    return Pairing(keys, points, pairs.drop("point_b"), left, _differing(a, b, sides, points))


def _points(swept: Swept, keys: Sequence[str], introduced: Mapping[str, Any]) -> pl.DataFrame:
    """A row a point that has begun: point, its parameters, and as `key` the values of `keys` in one text."""
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
    rows = firsts.iter_rows(named=True)
    return firsts.with_columns(pl.Series("key", [_key(row, keys) for row in rows], dtype=pl.String))


def _key(row: Mapping[str, Any], keys: Sequence[str]) -> str:
    return json.dumps([plain(_value(row, key)) for key in keys])


def _value(row: Mapping[str, Any], key: str) -> Any:
    """The value of `rates`, or of its entry `rates.1`, at a point; None where the vector is shorter."""
    name, entry = split(key)
    value = row[name]
    if entry is None or value is None:
        return value
    return value[entry] if entry < len(value) else None


def _cells(swept: Swept, points: pl.DataFrame, side: str) -> pl.DataFrame:
    """The cells at matched points, with their point in A."""
    renamed = {"cell_id": f"cell_{side}", "status": f"status_{side}", "shard": f"shard_{side}"}
    cells = swept.cells.select("point", "seed", *renamed).rename({"point": f"point_{side}", **renamed})
    joined = cells.join(points, on=f"point_{side}")
    return joined if side == "a" else joined.drop("point_b")


def _left(
    side: str, swept: Swept, other: Swept, sides: Mapping[str, pl.DataFrame], pairs: pl.DataFrame, keys: Sequence[str]
) -> Left:
    """What of one side has no partner, and why."""
    own, theirs = sides[side], sides["b" if side == "a" else "a"]
    alone = swept.cells.join(pairs.select(cell_id=f"cell_{side}"), on="cell_id", how="anti")
    off = alone.join(own.join(theirs.select("key"), on="key", how="anti").select("point"), on="point", how="semi")
    rest = alone.join(off.select("cell_id"), on="cell_id", how="anti")
    seeds = rest.filter(~pl.col("seed").is_in(list(other.resolved["seeds"]))).height
    values = _only(own.filter(pl.col("point").is_in(off["point"].implode())), theirs, keys) if off.height else {}
    return Left(off.height, values, seeds, rest.height - seeds)


def _only(own: pl.DataFrame, theirs: pl.DataFrame, keys: Sequence[str]) -> dict[str, list[Any]]:
    """For each key, the values that stand in these points and in none of the other side's."""
    found = {}
    for key in keys:
        there = {json.dumps(plain(_value(row, key))) for row in theirs.iter_rows(named=True)}
        here = {json.dumps(plain(_value(row, key))): None for row in own.iter_rows(named=True)}
        if only := [json.loads(text) for text in here if text not in there]:
            found[key] = only
    return found


def _differing(a: Swept, b: Swept, sides: Mapping[str, pl.DataFrame], points: pl.DataFrame) -> list[Differing]:
    """Every parameter (and the preset) that is not equal at all matched points."""
    rows = {side: {row["point"]: row for row in sides[side].iter_rows(named=True)} for side in SIDES}
    matched = [(rows["a"][one], rows["b"][other]) for one, other in points.iter_rows()]
    found = []
    for name in dict.fromkeys([PRESET, *a.parameters, *b.parameters]):
        both = [(plain(one.get(name)), plain(other.get(name))) for one, other in matched]
        unlike = [values for values in both if values[0] != values[1]]
        distinct = list({json.dumps(values): values for values in unlike}.values())
        if unlike:
            found.append(Differing(name, len(unlike), distinct[:EXAMPLES], len(distinct) > EXAMPLES))
    return found


def _nothing(a: Swept, b: Swept, keys: Sequence[str], sides: Mapping[str, pl.DataFrame]) -> SwingbyError:
    """Says for each key which values stand in A and which in B."""
    told = []
    for key in keys:
        texts = []
        for side in SIDES:
            values = {json.dumps(plain(_value(row, key))): None for row in sides[side].iter_rows(named=True)}
            texts.append(", ".join(list(values)[:8]) + (", ..." if len(values) > 8 else ""))
        told.append(f"{key}: {a.letter} has {texts[0]}; {b.letter} has {texts[1]}")
    return SwingbyError("no point of A is one of B, so nothing can be compared\n  " + "\n  ".join(told))
