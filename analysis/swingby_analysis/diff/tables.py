"""The tables of a comparison, as people read them and as programs do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from swingby_analysis.diff import Diff, words
from swingby_analysis.report.prose import percent
from swingby_analysis.stats.exact import LEVEL

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A table for readers: its heading, what it is about, columns and rows of texts."""

    heading: str
    about: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def tables(diff: Diff, worst: int, points: int) -> list[Table]:
    """What a reader is shown, in order: of the worst cells and the surest points so many; no table without rows."""
    found = [_over_all(diff), _at_points(diff, points), _columns(diff), _worst(diff, worst), _ended(diff, worst)]
    return [table for table in found if table.rows]


def _over_all(diff: Diff) -> Table:
    rows = diff.shares.filter(pl.col("point").is_null()).iter_rows(named=True)
    about = (
        "Shares of the runs (numbers: medians), with 95 % intervals; the corrected p is a dash where too few differ."
    )
    return Table("Outcomes over all points", about, _HEADS, [_outcome(diff, row) for row in rows])


_HEADS = ("outcome", "in A", "in B", "B less A", "pairs up/down", "p", "corrected", "test")


def _outcome(diff: Diff, row: Row) -> list[str]:
    both = "-" if row["up"] is None else f"{row['up']:,}/{row['down']:,}"
    tests = [words.chance(row, "p"), words.chance(row), row["test"]]
    if row["kind"] == "share":
        told = [_share(row, "a"), _share(row, "b")]
        told.append(f"{words.points(row['difference'])} ({words.points(row['low'])} to {words.points(row['high'])})")
    else:
        told = [f"median {words.number(row[side])}" for side in "ab"]
        interval = "" if row["low"] is None else f" ({words.number(row['low'])} to {words.number(row['high'])})"
        told.append(f"{words.number(row['difference'])}{interval}")
    return [diff.name_of(row), *told, both, *tests]


def _share(row: Row, side: str) -> str:
    low, high = percent(row[f"{side}_low"]), percent(row[f"{side}_high"])
    return f"{row[f'k_{side}']:,} of {row[f'n_{side}']:,}, {percent(row[side])} ({low} to {high})"


def _at_points(diff: Diff, count: int) -> Table:
    sure = diff.shares.filter((pl.col("corrected") <= LEVEL) & pl.col("point").is_not_null())
    sure = sure.sort("corrected", "p", "point")
    rows = [[diff.label(row["point"]), *_outcome(diff, row)] for row in sure.head(count).iter_rows(named=True)]
    more = f" The first {count} of {sure.height:,}." if sure.height > count else ""
    return Table("Points where A and B differ", f"After correction, the surest first.{more}", ("point", *_HEADS), rows)


def _columns(diff: Diff) -> Table:
    rows = []
    for row in diff.columns.iter_rows(named=True):
        differs = row["differ"] > 0
        alike = "same bit for bit" if row["left_a"] == row["left_b"] == 0 else "same where both have it"
        rows.append([
            row["column"], row["kind"], f"{row['pairs']:,}", f"{row['differ']:,}" if differs else alike,
            words.number(row["largest"]) if differs else "0", words.place(diff, row, "largest") if differs else "",
            words.number(row["relative"]) if differs else "0", words.place(diff, row, "relative") if differs else "",
        ])  # fmt: skip
    heads = ("column", "kind", "pairs", "differ", "largest difference", "at", "relative", "at")
    about = "Curves at common steps; relative: over the largest absolute value of both curves."
    return Table("Curves and scalars", about, heads, rows)


def _worst(diff: Diff, count: int) -> Table:
    rows = [
        [words.place(diff, row), row["column"], words.number(row["largest"]), words.number(row["relative"]),
         words.values(row), "\n".join(words.replays(row, diff))]
        for row in diff.worst(count).iter_rows(named=True)
    ]  # fmt: skip
    heads = ("cell", "column", "difference", "relative", "there", "again")
    return Table("Cells that lie farthest apart", "Each by its worst curve, relative to that curve.", heads, rows)


def _ended(diff: Diff, count: int) -> Table:
    rows = [
        [f"{diff.label(row['point'])}, seed {row['seed']}", row["status_a"], row["status_b"],
         "\n".join(words.replays(row, diff))]
        for row in diff.ended_otherwise.sort("point", "seed").head(count).iter_rows(named=True)
    ]  # fmt: skip
    total = diff.ended_otherwise.height
    about = f"The first {count} of {total:,}." if total > count else "Diverged or failed on one side only."
    return Table("Cells that ended otherwise", about, ("cell", "in A", "in B", "again"), rows)


def rows_of(diff: Diff, what: str) -> pa.Table:
    """The numbers themselves: `shares` (over all points, then at each), `curves` (over all pairs), or `cells`."""
    if what == "shares":
        labels = [None if point is None else diff.label(point) for point in diff.shares["point"]]
        return diff.shares.with_columns(at=pl.Series(labels, dtype=pl.String)).fill_nan(None).to_arrow()
    frame = diff.columns if what == "curves" else diff.cells.drop("shard_a", "shard_b")
    for name in [name for name in frame.columns if name.endswith("point")]:
        labels = pl.Series(name.replace("point", "at"), [diff.label(point) for point in frame[name]], dtype=pl.String)
        frame = frame.with_columns(labels)
    return frame.to_arrow()


def document(diff: Diff, worst: int) -> dict[str, Any]:
    """Everything but the single cells as plain JSON values; what is not finite is null or the text "infinity"."""
    return {
        "a": _side(diff, 0),
        "b": _side(diff, 1),
        "pairs": diff.pairing.pairs.height,
        "with_results": diff.finished.height,
        "same": diff.same,
        "curves_same": diff.curves_same,
        "said": words.sentences(diff),
        "shares": [_finite(row) for row in rows_of(diff, "shares").to_pylist()],
        "curves": [_finite(row) for row in diff.columns.iter_rows(named=True)],
        "worst": [
            {**_finite(row), "again": words.replays(row, diff)} for row in diff.worst(worst).iter_rows(named=True)
        ],
    }


def _side(diff: Diff, index: int) -> dict[str, Any]:
    side = diff.sides[index]
    left = diff.pairing.left["ab"[index]]
    return {
        "sweep": side.sweep["name"], "sweep_id": side.sweep["sweep_id"], "data": str(side.data),
        "stream_version": side.sweep["stream_version"], "planned": side.planned, "ended": side.ended,
        "under_way": side.begun, "only_here": left.cells,
    }  # fmt: skip


def _finite(row: Row) -> dict[str, Any]:
    return dict(_plain(row))


def _plain(row: Row) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            yield name, None if math.isnan(value) else ("infinity" if value > 0 else "-infinity")
        else:
            yield name, value
