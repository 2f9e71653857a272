"""What became of the runs in A and in B: shares and medians with intervals, differences, and corrected exact tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from swingby.model.detector import OutcomeKind
from swingby.select.intervals import wilson
from swingby_analysis.stats import exact, intervals
from swingby_analysis.stats.intervals import Interval

STATUS = "status"
"""The column that says how a cell ended; it is compared like an outcome."""
STATUSES = ("ok", "diverged", "failed")
Kind = Literal["share", "median"]
Row = dict[str, Any]
SCHEMA: Mapping[str, Any] = {
    "point": pl.Int64, "outcome": pl.String, "value": pl.String, "kind": pl.String,
    "units_a": pl.Int64, "units_b": pl.Int64, "n_a": pl.Int64, "n_b": pl.Int64, "k_a": pl.Int64, "k_b": pl.Int64,
    "a": pl.Float64, "a_low": pl.Float64, "a_high": pl.Float64,
    "b": pl.Float64, "b_low": pl.Float64, "b_high": pl.Float64,
    "difference": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "up": pl.Int64, "down": pl.Int64, "test": pl.String,
    "p": pl.Float64, "least": pl.Float64, "corrected": pl.Float64,
}  # fmt: skip
"""A row of `compared`. `point` is null for all points together; `value` names one of a category's values; `k` of `n`
cells have it; `units_a` and `units_b` are how many of these cells, or of the seeds that they share, are independent:
intervals are by those; `difference` is B less A; `up` and `down` count pairs that are higher in B and in A (null if
there are no pairs); `corrected` is NaN for a test that took no part (see `exact.corrected`)."""


@dataclass(frozen=True, slots=True)
class Item:
    """An outcome that is compared, or one value of a categorical outcome."""

    outcome: str
    value: str | None
    kind: Kind


@dataclass(frozen=True)
class Samples:
    """The cells that are compared.

    Attributes:
        pairs: a row a pair: point, unit, and each outcome as `a:<name>` and `b:<name>`; None where no seed is in both.
        alone: for each side a row a cell: point, unit, and `a:<name>` or `b:<name>`.
        kinds: the outcomes that both have.
        orders: categorical outcome -> its values, in the order in which they are compared.
    """

    pairs: pl.DataFrame | None
    alone: tuple[pl.DataFrame, pl.DataFrame]
    kinds: Mapping[str, OutcomeKind]
    orders: Mapping[str, Sequence[str]]


def compared(samples: Samples) -> pl.DataFrame:
    """Every outcome over all points together and at each; see SCHEMA. Two families of tests are corrected apart."""
    rows: list[Row] = []
    for item in _items(samples):
        if samples.pairs is not None:
            pairs = samples.pairs.select("point", "unit", a=_column("a", item), b=_column("b", item)).drop_nulls()
            rows += _paired(item, pairs)
            continue
        sides = [frame.select("point", "unit", _column(side, item).alias(side)).drop_nulls()
                 for side, frame in zip("ab", samples.alone, strict=True)]  # fmt: skip
        if any(side.is_empty() for side in sides):
            continue
        rows.append(_independent(item, None, *sides))
        parts = [side.partition_by("point", as_dict=True) for side in sides]
        for key in sorted(parts[0].keys() & parts[1].keys()):
            rows.append(_independent(item, int(key[0]), parts[0][key], parts[1][key]))
    table = pl.DataFrame(rows, schema=SCHEMA)
    over_all = table["point"].is_null()
    return pl.concat([_corrected(table.filter(over_all)), _corrected(table.filter(~over_all))])


def _corrected(family: pl.DataFrame) -> pl.DataFrame:
    adjusted = exact.corrected(family["p"].to_numpy(), family["least"].to_numpy())
    return family.with_columns(corrected=pl.Series(adjusted, dtype=pl.Float64))


def _items(samples: Samples) -> Iterator[Item]:
    """Yes/no outcomes, every value of the categories that occurs on either side, numbers."""
    for name, kind in samples.kinds.items():
        if kind != "category":
            yield Item(name, None, "share" if kind == "yes_no" else "median")
            continue
        frames = samples.alone if samples.pairs is None else (samples.pairs, samples.pairs)
        seen = {
            value
            for side, frame in zip("ab", frames, strict=True)
            for value in frame[f"{side}:{name}"].drop_nulls().unique()
        }
        known = tuple(samples.orders.get(name, ()))
        ordered = [value for value in known if value in seen] + sorted(seen - set(known))
        for value in ordered if len(ordered) != 2 else ordered[:1]:  # of two, one tells of the other
            yield Item(name, value, "share")


def _column(side: str, item: Item) -> pl.Expr:
    """An item as 1 or 0, or as a number; null where it could not be told."""
    column = pl.col(f"{side}:{item.outcome}")
    if item.kind == "median":
        return column.cast(pl.Float64).fill_nan(None)
    return (column.cast(pl.Boolean) if item.value is None else column == item.value).cast(pl.Int64)


def _paired(item: Item, pairs: pl.DataFrame) -> Iterator[Row]:
    """The rows of one item from pairs of cells (point, unit, a, b): over all points, then at each."""
    if pairs.is_empty():
        return
    up, down = (pl.col("b") > pl.col("a")).cast(pl.Int64), (pl.col("b") < pl.col("a")).cast(pl.Int64)
    pairs = pairs.with_columns(net=up - down)
    points = pairs.group_by("point").agg(*_counts()).sort("point")
    p, least = exact.mcnemar(points["up"].to_numpy(), points["down"].to_numpy())
    units = pairs.group_by("unit").agg(*_counts(), net=pl.col("net").sum()).sort("unit")
    total = pairs.select(*_counts())
    test = exact.flips(units["net"].to_numpy())
    clustered = bool((units["n"] > 1).any())  # the cells of a seed may err together
    if item.kind == "median":
        # The interval is of independent pairs, which the runs of a seed are not.
        of_all = _medians(pairs) | ({"low": None, "high": None} if clustered else {})
        of_points = [_medians(part) for _, part in sorted(pairs.partition_by("point", as_dict=True).items())]
    else:
        of_all, of_points = _pairs(total)[0], _pairs(points)
        if clustered:
            n, k_a, k_b = (units[name].to_numpy() for name in ("n", "k_a", "k_b"))
            (a, of_a), (b, of_b) = intervals.by_units(k_a, n), intervals.by_units(k_b, n)
            alike = intervals.correlation(k_a, n, k_b, n)
            of_both = intervals.newcombe(a, of_a, b, of_b, alike)
            nets = units["net"].to_numpy()
            if {a, b} & {0.0, 1.0} and nets.any() and len(nets) > 1:
                # A share that does not vary has the interval of as many runs as seeds, which says little of the pairs.
                of_both = intervals.of_nets(nets, n)
            of_all = _shares([a], of_a, [b], of_b, of_both)[0]
    counts = {**total.row(0, named=True), "units_a": units.height, "units_b": units.height}
    yield _row(item, None, counts, of_all, "sign flips by seed" if clustered else "McNemar", test)
    for place, row in enumerate(points.iter_rows(named=True)):
        at_point = exact.Test(float(p[place]), float(least[place]))
        yield _row(item, row["point"], row, of_points[place], "McNemar", at_point)


def _counts() -> list[pl.Expr]:
    up, down = (pl.col("net") > 0).sum(), (pl.col("net") < 0).sum()
    return [n.cast(pl.Int64).alias(name) for name, n in (
        ("n", pl.len()), ("k_a", pl.col("a").cast(pl.Int64, strict=False).sum()),
        ("k_b", pl.col("b").cast(pl.Int64, strict=False).sum()), ("up", up), ("down", down),
    )]  # fmt: skip


def _pairs(counts: pl.DataFrame) -> list[Row]:
    """Wilson's intervals of both shares and Newcombe's of their difference, for independent pairs."""
    n, k_a, k_b, up, down = (counts[name].to_numpy() for name in ("n", "k_a", "k_b", "up", "down"))
    of_a, of_b = Interval(*wilson(k_a, n)), Interval(*wilson(k_b, n))
    both = k_a - down
    alike = intervals.phi(both, up, down, n - both - up - down)
    return _shares(k_a / n, of_a, k_b / n, of_b, intervals.newcombe(k_a / n, of_a, k_b / n, of_b, alike))


def _shares(a: Any, of_a: Interval, b: Any, of_b: Interval, of_both: Interval) -> list[Row]:
    """A row for each pair of shares, with their intervals and that of their difference."""
    columns = np.broadcast_arrays(*map(np.atleast_1d, (a, *of_a, b, *of_b, *of_both)))
    names = ("a", "a_low", "a_high", "b", "b_low", "b_high", "low", "high")
    rows = [dict(zip(names, map(float, values), strict=True)) for values in zip(*columns, strict=True)]
    return [{**row, "difference": row["b"] - row["a"]} for row in rows]


def _medians(pairs: pl.DataFrame) -> Row:
    """The medians of A and of B, and the median of the differences with its interval."""
    a, b = pairs["a"].to_numpy(), pairs["b"].to_numpy()
    with np.errstate(invalid="ignore"):
        differences = np.where(a == b, 0.0, b - a)
    middle, low, high = intervals.median_of(differences[~np.isnan(differences)])
    return {"a": _median(a), "b": _median(b), "difference": middle, "low": low, "high": high}


def _median(values: np.ndarray) -> float:
    return intervals.median_of(values)[0]


def _row(item: Item, point: int | None, counts: Mapping[str, Any], measured: Row, name: str, test: exact.Test) -> Row:
    n = counts.get("n")
    shared = item.kind == "share"
    return {
        "point": point, "outcome": item.outcome, "value": item.value, "kind": item.kind,
        "units_a": counts.get("units_a", n), "units_b": counts.get("units_b", n),
        "n_a": counts.get("n_a", n), "n_b": counts.get("n_b", n),
        "k_a": counts["k_a"] if shared else None, "k_b": counts["k_b"] if shared else None,
        **measured, "up": counts.get("up"), "down": counts.get("down"),
        "test": name if shared or "flips" in name else name.replace("McNemar", "sign test"),
        "p": test.p, "least": test.least, "corrected": None,
    }  # fmt: skip


def _independent(item: Item, point: int | None, of_a: pl.DataFrame, of_b: pl.DataFrame) -> Row:
    """The row of one item from two independent samples of cells (unit, and a or b)."""
    n_a, n_b = of_a.height, of_b.height
    units = [_units(of_a, "a"), _units(of_b, "b")]
    clustered = any(bool((table["n"] > 1).any()) for table in units)
    a, b = of_a["a"].to_numpy(), of_b["b"].to_numpy()
    counts = {"n_a": n_a, "n_b": n_b, "units_a": units[0].height, "units_b": units[1].height}
    if item.kind == "median":
        middles = (table["median"].to_numpy() for table in units) if clustered else (a, b)
        name = "rank sum of the seeds' medians" if clustered else "rank sum"
        medians = {"a": _median(a), "b": _median(b)}
        medians["difference"] = 0.0 if medians["a"] == medians["b"] else medians["b"] - medians["a"]
        return _row(item, point, {**counts, "k_a": None, "k_b": None}, medians, name, exact.rank_sum(*middles))
    k_a, k_b = int(a.sum()), int(b.sum())
    counts |= {"k_a": k_a, "k_b": k_b}
    if clustered:
        (share_a, low_a), (share_b, low_b) = (intervals.by_units(table["k"], table["n"]) for table in units)
        test, name = exact.rank_sum(*(table["k"] / table["n"] for table in units)), "rank sum of the seeds' shares"
    else:
        share_a, low_a, share_b, low_b = k_a / n_a, Interval(*wilson(k_a, n_a)), k_b / n_b, Interval(*wilson(k_b, n_b))
        test, name = exact.fisher(k_a, n_a, k_b, n_b), "Fisher"
    measured = _shares([share_a], low_a, [share_b], low_b, intervals.newcombe(share_a, low_a, share_b, low_b))[0]
    return _row(item, point, counts, measured, name, test)


def _units(table: pl.DataFrame, side: str) -> pl.DataFrame:
    """A row a unit: its cells (n), how many have the outcome (k), and the median of their numbers."""
    column = pl.col(side)
    return table.group_by("unit").agg(n=pl.len(), k=column.sum(), median=column.median()).sort("unit")


def samples(
    a: pl.DataFrame,
    b: pl.DataFrame,
    pairs: pl.DataFrame | None,
    kinds: Mapping[str, OutcomeKind],
    orders: Mapping[str, Sequence[str]] | None = None,
) -> Samples:
    """The cells to compare.

    Args:
        a, b: the cells of both sides at matched points, with cell_id, `point` (A's), `unit`, and the outcomes.
        pairs: `cell_a` and `cell_b` of each pair; None: no seed is in both.
        kinds: the outcomes that both sides have.
        orders: the values of the categories among them, in order; others are compared in the order of the alphabet.
    """
    kinds, orders = {**kinds, STATUS: "category"}, {**(orders or {}), STATUS: STATUSES}
    names = list(kinds)
    alone = tuple(
        frame.select("point", "unit", "cell_id", *(pl.col(name).alias(f"{side}:{name}") for name in names))
        for side, frame in (("a", a), ("b", b))
    )
    if pairs is None:
        return Samples(None, (alone[0], alone[1]), kinds, orders)
    first = pairs.select(cell_id="cell_a", other="cell_b").join(alone[0], on="cell_id", how="inner")
    both = first.join(alone[1].drop("point", "unit").rename({"cell_id": "other"}), on="other", how="inner")
    return Samples(both, (alone[0], alone[1]), kinds, orders)


def common_kinds(one: Mapping[str, OutcomeKind], other: Mapping[str, OutcomeKind]) -> dict[str, OutcomeKind]:
    """The outcomes that both sides have, in the order of the first."""
    return {name: kind for name, kind in one.items() if other.get(name) == kind}
