"""The page of a comparison: differences over the grid, with the curves of both sides at the point pointed at.

Where there are no curves of both sides to show, it is static HTML without a script, and the differences are pictures.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import polars as pl

from swingby_analysis.charts.maps import difference_map, reach_of
from swingby_analysis.charts.summaries import Difference
from swingby_analysis.diff import summary
from swingby_analysis.diff.comparison import Diff, names_of
from swingby_analysis.diff.curves import curve_query
from swingby_analysis.diff.panel import interactive
from swingby_analysis.diff.tables import AGAIN, tables
from swingby_analysis.page import (
    Badge,
    Block,
    Code,
    Figure,
    Fold,
    Items,
    Page,
    Picture,
    QueryRows,
    Section,
    Table,
    written,
)
from swingby_analysis.page.folder import replace_folder
from swingby_analysis.page.html import html
from swingby_analysis.page.pictures import pictures, png
from swingby_analysis.report.prose import plural
from swingby_analysis.stats.exact import LEVEL

PAGE = "diff.html"
MOST_FIGURES = 4
MOST_POINTS = 40
"""Rows of the table of points."""
SHARPNESS = 1.5
"""Pixels for each pixel of a figure on the page."""
READING = (
    "Each tile is one point of the grid; its colour is the share of the runs in B less that in A, white where they are "
    "equal. A dot marks points where A and B differ significantly (corrected test). All maps have the same scale. "
    "Points without colour were not compared."
)
READING_ALONG = (
    "Each mark is one point, with Newcombe's 95 % interval of the difference at that point alone; a filled mark is a "
    "point where A and B differ significantly (corrected test)."
)


def write_page(diff: Diff, out: Path, worst: int, kinds: Collection[str] = ()) -> Path:
    """Writes the page and each figure beside it as files of these kinds, whole or not at all; returns the page's path.

    Raises:
        SwingbyError: the disk refuses.
    """
    folder = out.expanduser().absolute() / f"diff-{'-'.join(names_of(diff.a, diff.b))}"
    drawn = figures(diff)
    data = interactive(diff, drawn)
    drawn = [replace(figure, points=data is not None) for figure in drawn]
    replace_folder(folder, {PAGE: html(page(diff, drawn, worst), data).encode(), **pictures(drawn, kinds)})
    return folder / PAGE


def figures(diff: Diff) -> list[Figure]:
    """The difference of shares over the grid, for the diagram's own outcome and for those that differ most."""
    at_points = diff.shares.filter(pl.col("point").is_not_null() & (pl.col("kind") == "share"))
    parts = at_points.partition_by("outcome", "value", maintain_order=True)
    ranked = []
    for part in parts:
        if part.height > 1:
            # The diagram's own outcome comes first, then those that differ after correction, then the largest.
            is_diagram = (diff.a.resolved["diagram"] or {}).get("outcome") == part["outcome"][0]
            sure = int((part["corrected"] <= LEVEL).sum())
            # Differences are numbers; by polars' types a largest value may be anything.
            largest = float(part["difference"].abs().max() or 0.0)  # pyright: ignore[reportArgumentType]
            ranked.append(((is_diagram, sure > 0, largest, sure, diff.name_of(part.row(0, named=True))), part))
    ranked.sort(key=lambda one: one[0], reverse=True)
    rows = {
        name: [
            Difference(row["point"], row["difference"], row["low"], row["high"], bool(row["corrected"] <= LEVEL),
                       summary.compared(row))
            for row in part.iter_rows(named=True)
        ]
        for (*_, name), part in ranked[:MOST_FIGURES]
    }  # fmt: skip
    reach = reach_of([row for part in rows.values() for row in part])
    a, b = (side.sweep["name"] for side in diff.sides)
    pairs = diff.pairing.pairs.height
    seeds = f"matched, {plural(pairs, 'pair')} of cells" if pairs else "not matched, independent samples"
    return [
        Figure(
            slug=f"difference-{number}",
            title=f"{name}: B less A",
            caption=f"{name}: share of the runs in B ({b}) less that in A ({a}), "
            f"at {plural(len(rows[name]), 'point')}; "
            f"{sum(row.sure for row in rows[name]):,} of them differ significantly.",
            reading=READING_ALONG if diff.grid.y is None else READING,
            spec=difference_map(diff.grid, rows[name], name, reach).to_dict(),
            facts={"Sweep": f"{a} against {b}", "Seeds": seeds},
        )
        for number, name in enumerate(rows, 1)
    ]


def page(diff: Diff, drawn: Collection[Figure], worst: int) -> Page:
    """The comparison as a page, with so many of the cells that lie farthest apart."""
    badge = Badge("the same", "yes") if diff.same else Badge("not the same", "some")
    maps: list[Block] = [
        one
        if one.points
        else Picture(one.slug, png(one, SHARPNESS), one.caption, f"{one.caption}{'' if number else f' {one.reading}'}")
        for number, one in enumerate(drawn)
    ]
    heads = ("", "sweep", "id", "data folder", "cells ended", "of", "stream version")
    sides = [
        [side.letter, side.sweep["name"], Code(side.sweep["sweep_id"]), Code(str(side.data)), f"{side.ended:,}",
         f"{side.planned:,}", str(side.sweep["stream_version"])]
        for side in diff.sides
    ]  # fmt: skip
    blocks: list[Block] = [Table(heads, sides, name="sides"), Items(summary.sentences(diff)[1:])]
    settings = [*summary.settings(diff, diff.pairing.points.height), *summary.origins(diff)]
    if settings:
        blocks.append(Table(("set or computed differently", "in A", "in B", ""), settings, name="settings"))
    sections = [Section("said", "In words", blocks)]
    if maps:
        sections.append(Section("maps", "Over the grid", maps))
    for number, table in enumerate(tables(diff, worst, MOST_POINTS), 1):
        rows = [
            [Code(text) if name == AGAIN else text for name, text in zip(table.columns, row, strict=True)]
            for row in table.rows
        ]
        block = Table(list(table.columns), rows, table.about, name="differences")
        sections.append(Section(f"table-{number}", table.heading, [block]))
    sections.append(Section("rules", "How it is compared", [Items(summary.RULES)]))
    sections.append(Section("made", "Where the numbers come from", _origins(diff)))
    return Page(
        kind="diff",
        title=f"{diff.a.sweep['name']} against {diff.b.sweep['name']}",
        lead=[badge, f" {summary.headline(diff)}"],
        byline=written(),
        notes=[text for side in diff.sides for text in side.warnings],
        sections=sections,
    )


def _origins(diff: Diff) -> list[Block]:
    """The plans that computed the cells, and the queries that read them."""
    rows, queries, worst = [], list[Block](), diff.worst(1)
    for side in diff.sides:
        for row in side.origins:
            times = f"{row['started']:%Y-%m-%d %H:%M} to {row['finished']:%Y-%m-%d %H:%M} UTC"
            changed = ", with uncommitted changes" if row["git_dirty"] else ""
            commit = f"{row['git_commit'] or 'unknown'}{changed}"
            where = f"{row['hosts']} ({row['devices']})"
            rows.append([side.letter, row["plan_id"], f"{row['cells']:,}", times, where, commit])
        side_queries = list(side.queries)
        if worst.height and worst["column"][0] in diff.common[0]:  # an example: the curves that lie farthest apart
            side_queries.append(curve_query(side, [worst[f"cell_{side.letter.lower()}"][0]], worst["column"][0]))
        queries.append(Fold(f"The queries of {side.letter}", [QueryRows(query) for query in side_queries]))
    return [Table(("", "plan", "cells", "trained", "on", "commit"), rows, name="origins"), *queries]
