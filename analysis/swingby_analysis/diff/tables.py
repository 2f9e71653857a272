"""The tables of a comparison: texts for people, Arrow tables and JSON for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from swingby.options import option
from swingby_analysis.diff import summary
from swingby_analysis.diff.comparison import Diff
from swingby_analysis.report import prose
from swingby_analysis.report.prose import percent, plural
from swingby_analysis.stats.exact import LEVEL

Row = Mapping[str, Any]
AGAIN = "train again"
"""The heading of the column with the commands that train both cells again."""


@dataclass(frozen=True)
class Table:
    """A table for readers: its heading, what it is about, columns and rows of texts, and which rows are left out."""

    heading: str
    about: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    rest: str = ""


_HEADS = ("outcome", "in A", "in B", "B less A", "pairs up/down", "p", "corrected", "test")


def tables(diff: Diff, worst: int, points: int, every: bool = True) -> list[Table]:
    """The tables for a reader, in order; those with nothing to say are left out.

    Args:
        every: whether outcomes, curves and scalars that are equal in A and in B have rows, too, or are only counted.
        worst: so many of the cells that lie farthest apart.
        points: so many of the points at which outcomes differ, those of the smallest corrected p first.
    """
    whole = diff.shares.filter(pl.col("point").is_null())
    differs = pl.coalesce(pl.col("up") + pl.col("down"), pl.col("difference").abs()) > 0
    moved = whole if every else whole.filter(differs)
    over_all = [_outcome(diff, row) for row in moved.iter_rows(named=True)]
    equal = whole.height - moved.height
    alike = "of which no pair differs" if diff.pairing.by_seed else "with equal shares or medians"
    of_outcomes = f"{plural(equal, 'outcome')} {alike}: {option('every', True)} shows them" if equal else ""
    about = "Shares of the runs (numbers: medians), with 95 % intervals. A dash as corrected p: too few seeds differ."
    sure = diff.shares.filter((pl.col("corrected") <= LEVEL) & pl.col("point").is_not_null())
    sure = sure.sort("corrected", "p", "point")
    at = [[diff.label(row["point"]), *_outcome(diff, row)] for row in sure.head(points).iter_rows(named=True)]
    more = f" The first {points} of {sure.height:,}." if sure.height > points else ""
    columns, same = [], 0 if every or diff.columns.is_empty() else int((diff.columns["differ"] == 0).sum())
    of_columns = (
        f"{plural(same, 'column')} of curves and scalars that are identical: {option('every', True)} shows them"
        if same
        else ""
    )
    for row in diff.columns.iter_rows(named=True) if every or same < diff.columns.height else ():
        if not (every or row["differ"]):
            continue
        sizes = [row["column"], row["kind"], f"{row['pairs']:,}"]
        if row["differ"] > 0:
            largest, relative = prose.number(row["largest"]), prose.number(row["relative"])
            at_largest, at_relative = summary.place(diff, row, "largest"), summary.place(diff, row, "relative")
            columns.append([*sizes, f"{row['differ']:,}", largest, at_largest, relative, at_relative])
        else:
            alike = "identical" if row["left_a"] == row["left_b"] == 0 else "identical where both have it"
            columns.append([*sizes, alike, "0", "", "0", ""])
    heads = ("column", "kind", "pairs", "differ", "largest difference", "at", "relative", "at")
    common = "Curves at common steps; relative: over the largest absolute value of both curves."
    candidates = [
        Table("Outcomes over all points", about, _HEADS, over_all, of_outcomes),
        Table("Points where A and B differ", f"After correction, the smallest p first.{more}", ("point", *_HEADS), at),
        Table("Curves and scalars", common, heads, columns, of_columns),
        *_cells(diff, worst),
    ]
    return [table for table in candidates if table.rows or table.rest]


def _outcome(diff: Diff, row: Row) -> list[str]:
    """A row of `diff.shares` as texts, under `_HEADS`."""
    both = "-" if row["up"] is None else f"{row['up']:,}/{row['down']:,}"
    tests = [prose.chance(row["p"]), prose.chance(row["corrected"]), row["test"]]
    if row["kind"] == "share":
        texts = [_share(row, "a"), _share(row, "b")]
        interval = f"{prose.points(row['low'])} to {prose.points(row['high'])}"
        # Where no pair differs, the interval of two unrelated shares would be as wide as few seeds make it.
        agree = row["up"] == row["down"] == 0
        difference = prose.points(row["difference"])
        texts.append("no pair differs" if agree else f"{difference} ({summary.by_units(row, *'ab')}{interval})")
    else:
        texts = [f"median {prose.number(row[side])}" for side in "ab"]
        interval = "" if row["low"] is None else f" ({prose.number(row['low'])} to {prose.number(row['high'])})"
        texts.append(f"{prose.number(row['difference'])}{interval}")
    return [diff.name_of(row), *texts, both, *tests]


def _share(row: Row, side: str) -> str:
    low, high = percent(row[f"{side}_low"]), percent(row[f"{side}_high"])
    by = summary.by_units(row, side)
    return f"{row[f'k_{side}']:,} of {row[f'n_{side}']:,}, {percent(row[side])} ({by}{low} to {high})"


def _cells(diff: Diff, count: int) -> Iterator[Table]:
    """The cells that lie farthest apart, and those that ended differently, so many of each."""
    farthest = [
        [summary.place(diff, row), row["column"], prose.number(row["largest"]), prose.number(row["relative"]),
         summary.values(row), "\n".join(summary.replays(row, diff))]
        for row in diff.worst(count).iter_rows(named=True)
    ]  # fmt: skip
    heads = ("cell", "column", "difference", "relative", "values there", AGAIN)
    yield Table(
        "Cells that lie farthest apart",
        "Each by its worst curve, relative to the largest value of that curve.",
        heads,
        farthest,
    )
    ended = [
        [f"{diff.label(row['point'])}, seed {row['seed']}", row["status_a"], row["status_b"],
         "\n".join(summary.replays(row, diff))]
        for row in diff.ended_differently.sort("point", "seed").head(count).iter_rows(named=True)
    ]  # fmt: skip
    total = diff.ended_differently.height
    about = f"The first {count} of {total:,}." if total > count else "Pairs whose cells have different statuses."
    yield Table("Cells that ended differently", about, ("cell", "in A", "in B", AGAIN), ended)


def rows_of(diff: Diff, what: str) -> pa.Table:
    """The numbers: `shares` (over all points, then at each), `curves` (over all pairs), or `cells`."""
    if what == "shares":
        labels = [None if point is None else diff.label(point) for point in diff.shares["point"]]
        return diff.shares.with_columns(at=pl.Series(labels, dtype=pl.String)).fill_nan(None).to_arrow()
    frame = diff.columns if what == "curves" else diff.cells.drop("shard_a", "shard_b")
    for name in [name for name in frame.columns if name.endswith("point")]:
        labels = pl.Series(name.replace("point", "at"), [diff.label(point) for point in frame[name]], dtype=pl.String)
        frame = frame.with_columns(labels)
    return frame.to_arrow()


def document(diff: Diff, worst: int) -> dict[str, Any]:
    """The comparison without the single cells as plain JSON values; a NaN is null, an infinity the text "infinity"."""
    return {
        "a": _side_json(diff, 0),
        "b": _side_json(diff, 1),
        "pairs": diff.pairing.pairs.height,
        "with_results": diff.finished.height,
        "same": diff.same,
        "curves_same": diff.curves_same,
        "said": summary.sentences(diff),
        "shares": [_finite(row) for row in rows_of(diff, "shares").to_pylist()],
        "curves": [_finite(row) for row in diff.columns.iter_rows(named=True)],
        "worst": [
            {**_finite(row), "again": summary.replays(row, diff)} for row in diff.worst(worst).iter_rows(named=True)
        ],
    }


def _side_json(diff: Diff, index: int) -> dict[str, Any]:
    side = diff.sides[index]
    return {
        "sweep": side.sweep["name"], "sweep_id": side.sweep["sweep_id"], "data": str(side.data),
        "stream_version": side.sweep["stream_version"], "planned": side.planned, "ended": side.ended,
        "under_way": side.in_progress, "only_here": diff.pairing.unpaired["ab"[index]].cells,
    }  # fmt: skip


def _finite(row: Row) -> dict[str, Any]:
    """A row whose values JSON can hold."""
    values = dict(row)
    for name, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            values[name] = None if math.isnan(value) else ("infinity" if value > 0 else "-infinity")
    return values
