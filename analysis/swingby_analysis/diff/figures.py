"""The figures of a comparison: for the outcomes that matter most, the difference of the shares over the grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from swingby_analysis.charts.maps import Difference, difference_map, reach_of
from swingby_analysis.diff import Diff, words
from swingby_analysis.page import Figure
from swingby_analysis.report.prose import plural
from swingby_analysis.stats.exact import LEVEL

MOST = 4
"""Figures of a page."""
READING = (
    "Each tile is one point of the grid; its colour is the share of the runs in B less that in A, white where they are "
    "equal. A dot marks points where the corrected test says that they differ. All maps have the same scale. Tiles "
    "without colour were not compared."
)
READING_ALONG = (
    "Each mark is one point, with Newcombe's 95 % interval of the difference, which speaks for its own point; filled "
    "where the corrected test says that A and B differ."
)


def figures(diff: Diff) -> list[Figure]:
    """The difference of shares over the grid, of the diagram's own outcome and of those that differ most."""
    tables = {name: table for name, table in _by_outcome(diff) if table.height > 1}
    chosen = sorted(tables, key=lambda name: _rank(diff, name, tables[name]), reverse=True)[:MOST]
    rows = {name: [_drawn(row) for row in tables[name].iter_rows(named=True)] for name in chosen}
    reach = reach_of([row for part in rows.values() for row in part])
    return [_figure(diff, number, name, rows[name], reach) for number, name in enumerate(chosen)]


def _by_outcome(diff: Diff) -> list[tuple[str, pl.DataFrame]]:
    at_points = diff.shares.filter(pl.col("point").is_not_null() & (pl.col("kind") == "share"))
    parts = at_points.partition_by("outcome", "value", maintain_order=True)
    return [(diff.name_of(part.row(0, named=True)), part) for part in parts]


def _rank(diff: Diff, name: str, table: pl.DataFrame) -> tuple[Any, ...]:
    """What comes first: the diagram's own outcome, then what differs after correction, then the largest."""
    sure = int((table["corrected"] <= LEVEL).sum())
    asked = (diff.a.resolved["diagram"] or {}).get("outcome") == table["outcome"][0]
    largest = float(table["difference"].abs().max() or 0.0)  # pyright: ignore[reportArgumentType]
    return asked, sure > 0, largest, sure, name


def _drawn(row: Mapping[str, Any]) -> Difference:
    sure = bool(row["corrected"] <= LEVEL)
    return Difference(row["point"], row["difference"], row["low"], row["high"], sure, words.compared(row))


def _figure(diff: Diff, number: int, name: str, rows: list[Difference], reach: float) -> Figure:
    a, b = (side.sweep["name"] for side in diff.sides)
    sure = sum(row.sure for row in rows)
    return Figure(
        slug=f"difference-{number + 1}",
        title=f"{name}: B less A",
        caption=f"{name}: share of the runs in B ({b}) less that in A ({a}), at {plural(len(rows), 'point')}; "
        f"{sure:,} of them differ after correction.",
        reading=READING_ALONG if diff.grid.y is None else READING,
        spec=difference_map(diff.grid, rows, name, reach).to_dict(),
        facts={"Sweep": f"{a} against {b}", "Seeds": _seeds(diff)},
    )


def _seeds(diff: Diff) -> str:
    paired = diff.pairing.pairs.height
    return f"matched, {plural(paired, 'pair')} of cells" if paired else "not matched, independent samples"
