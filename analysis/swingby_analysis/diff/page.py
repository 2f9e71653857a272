"""The page of a comparison: static HTML without a script; the differences over the grid are pictures in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from swingby import __version__
from swingby.data.files import utc_now
from swingby_analysis.diff import Diff, names_of, words
from swingby_analysis.diff.curves import curve_query
from swingby_analysis.diff.figures import figures
from swingby_analysis.diff.tables import tables
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
    Several,
    Table,
)
from swingby_analysis.page.html import html
from swingby_analysis.page.pictures import pictures, png
from swingby_analysis.query import Query
from swingby_analysis.report import replace_folder

PAGE = "diff.html"
MOST_POINTS = 40
"""Rows of the table of points."""
SHARPNESS = 1.5
"""Pixels for each pixel of a figure on the page."""


def write_page(diff: Diff, out: Path, worst: int, kinds: Collection[str] = ()) -> Path:
    """Writes the page, and each figure beside it as files of these kinds, whole or not at all; where it lies.

    Raises:
        SwingbyError: the disk refuses.
    """
    folder = out.expanduser().absolute() / f"diff-{'-'.join(names_of(diff.a, diff.b))}"
    drawn = figures(diff)
    replace_folder(folder, {PAGE: html(page(diff, drawn, worst)).encode(), **pictures(drawn, kinds)})
    return folder / PAGE


def page(diff: Diff, drawn: Collection[Figure], worst: int) -> Page:
    """The comparison as a page, with so many of the cells that lie farthest apart."""
    badge = Badge("the same", "yes") if diff.same else Badge("not the same", "some")
    maps = [
        Picture(one.slug, png(one, SHARPNESS), one.caption, f"{one.caption}{'' if number else f' {one.reading}'}")
        for number, one in enumerate(drawn)
    ]
    found = tables(diff, worst, MOST_POINTS)
    return Page(
        kind="diff",
        title=f"{diff.a.sweep['name']} against {diff.b.sweep['name']}",
        lead=Several([badge, f" {words.headline(diff)}"]),
        byline=f"Written {utc_now()[:16].replace('T', ' ')} UTC by swingby {__version__}.",
        notes=[text for side in diff.sides for text in side.warnings],
        sections=[
            Section("said", "In words", list(_said(diff))),
            *([Section("maps", "Over the grid", maps)] if maps else []),
            *(
                Section(f"table-{number}", table.heading, [_table(table.columns, table.rows, table.about)])
                for number, table in enumerate(found, 1)
            ),
            Section("rules", "How it is compared", [Items(words.RULES)]),
            Section("made", "Where the numbers come from", list(_made(diff))),
        ],
    )


def _said(diff: Diff) -> Iterator[Block]:
    heads = ("", "sweep", "id", "data folder", "cells ended", "of", "stream version")
    rows = [
        [side.letter, side.sweep["name"], Code(side.sweep["sweep_id"]), Code(str(side.data)), f"{side.ended:,}",
         f"{side.planned:,}", str(side.sweep["stream_version"])]
        for side in diff.sides
    ]  # fmt: skip
    yield Table(heads, rows, name="sides")
    yield Items(words.sentences(diff)[1:])
    settings = [*words.settings(diff, diff.pairing.points.height), *words.makings(diff)]
    if settings:
        yield Table(("set or made otherwise", "in A", "in B", ""), settings, name="settings")


def _table(heads: Collection[str], rows: Collection[Collection[str]], about: str) -> Table:
    """A table of texts, those of the column `again` as commands."""
    names = list(heads)
    parts = [[Code(text) if name == "again" else text for name, text in zip(names, row, strict=True)] for row in rows]
    return Table(names, parts, about, name="differences")


def _made(diff: Diff) -> Iterator[Block]:
    rows = []
    for side in diff.sides:
        for row in side.origins:
            times = f"{row['started']:%Y-%m-%d %H:%M} to {row['finished']:%Y-%m-%d %H:%M} UTC"
            changed = ", with changes that no commit holds" if row["git_dirty"] else ""
            commit = f"{row['git_commit'] or 'unknown'}{changed}"
            where = f"{row['hosts']} ({row['devices']})"
            rows.append([side.letter, row["plan_id"], f"{row['cells']:,}", times, where, commit])
    yield Table(("", "plan", "cells", "trained", "on", "commit"), rows, name="origins")
    for side in diff.sides:
        asked = [*side.queries, *_example(diff, side.letter)]
        yield Fold(f"The queries of {side.letter}", [QueryRows(query) for query in asked])


def _example(diff: Diff, letter: str) -> list[Query]:
    """The query that read the first curve, of the pair that lies farthest apart."""
    worst = diff.worst(1)
    if worst.is_empty() or worst["column"][0] not in diff.common[0]:
        return []
    side = diff.a if letter == "A" else diff.b
    return [curve_query(side, [worst[f"cell_{letter.lower()}"][0]], worst["column"][0])]
