"""The page of phenomena: what they are, where they appear, and the query behind each number."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swingby import __version__
from swingby.store import Store
from swingby_analysis.charts.presence import Presence, presence
from swingby_analysis.page import (
    Code,
    Figure,
    Fold,
    Page,
    Part,
    Picture,
    QueryRows,
    Section,
    Table,
    Text,
    written,
)
from swingby_analysis.page.folder import write_page
from swingby_analysis.phenomena import regimes_page
from swingby_analysis.phenomena.asking import answers
from swingby_analysis.phenomena.catalogue import Phenomenon
from swingby_analysis.phenomena.counting import Counted, counted
from swingby_analysis.phenomena.regimes import Placed, placed
from swingby_analysis.report.prose import percent, plural
from swingby_analysis.statements.needed import Say

NAME, TITLE = "phenomena", "Where phenomena appear"
LEAD = (
    "Each phenomenon is defined by an SQL expression over the runs of an experiment and the outcomes of its detectors. "
    "How many runs show it depends on the grid that was chosen; what counts is where on the grid they lie, and which "
    "parameter it depends on most."
)
HEADINGS = ("experiment", "sweep", "runs that show it", "points: all, > half, <= half, none", "depends most on")
READING = (
    "A bar is a sweep, and its parts are the points of its grid: those at which all runs show it, more than half, at "
    "most half, and none. The table has the counts of these points in this order. Runs for which the expression is "
    "unknown are left out. With one run at a point there is no middle part."
)
MOVED = (
    "A phenomenon depends most on the axis with the largest main effect: the share of the variance over the points "
    "that this axis explains by itself, with a 95 % jackknife interval over the seeds where there are several. It is "
    "not computed for sweeps whose cells were chosen by their results."
)


def write_phenomena(
    data: Path,
    out: Path,
    phenomena: Sequence[Phenomenon],
    *,
    sweeps: Sequence[str] = (),
    recorded: bool = False,
    markdown_file: Path | None = None,
    say: Say,
) -> Path:
    """Writes the folder `out/phenomena` with page, Markdown and figures; returns the page's path.

    Args:
        data: the data folder.
        sweeps: names of sweeps to count; () for all in the folder.
        recorded: unpack the shipped results of the experiments' diagrams first.
        markdown_file: where the Markdown goes besides.
        say: hears each step.

    Raises:
        SwingbyError: there is no data folder, no sweep of that name, no run of such an experiment, or the disk refuses.
    """
    every = answers(data, phenomena, _count, sweeps=sweeps, recorded=recorded, say=say)
    counted = [one for one in every if isinstance(one, Counted)]
    regimes = [one for one in every if isinstance(one, Placed)]
    drawn = [_figure(slug, list(group)) for slug, group in itertools.groupby(counted, lambda one: one.phenomenon.slug)]
    drawn = [*([regimes_page.map_of(regimes)] if regimes else []), *drawn]

    def page(inside: Mapping[str, bytes]) -> Page:
        above = regimes_page.sections(phenomena, regimes, inside[regimes_page.NAME]) if regimes else []
        return _page(
            [item for item in phenomena if not item.regimes], counted, inside, above, sum(one.telling for one in every)
        )

    return write_page(out / NAME / f"{NAME}.html", page, drawn, ("png", "svg"), markdown_file)


def _figure(slug: str, counted: Sequence[Counted]) -> Figure:
    title = counted[0].phenomenon.title
    bars = [Presence(one.phenomenon.experiment, one.sweep, one.every, one.most, one.few, one.none) for one in counted]
    caption = f"At which share of the points of each sweep's grid runs show it ({plural(len(counted), 'sweep')})."
    return Figure(slug, title, caption, READING, presence(bars).to_dict())


def _count(store: Store, phenomenon: Phenomenon, sweep: dict[str, Any]) -> Counted | Placed | None:
    return (placed if phenomenon.regimes else counted)(store, phenomenon, sweep)


def _page(
    phenomena: Sequence[Phenomenon],
    counted: Sequence[Counted],
    pictures: Mapping[str, bytes],
    above: Sequence[Section],
    answered: int,
) -> Page:
    sections = list(above)
    for slug in dict.fromkeys(item.slug for item in phenomena):
        declared = [item for item in phenomena if item.slug == slug]
        group = [one for one in counted if one.phenomenon.slug == slug]
        sections.append(_section(declared, group, pictures.get(slug)))
    return Page(
        kind="findings",
        tab="Phenomena",
        title=TITLE,
        lead=LEAD,
        byline=written(f", from {answered:,} runs"),
        sections=[*sections, Section("rule", "How to read it", [Text(READING), Text(MOVED)])],
        excerpt=[
            *sections,
            Text(["Made by ", Code("swingby phenomena"), f" (swingby {__version__}). {MOVED}"]),
        ],
    )


def _section(declared: Sequence[Phenomenon], counted: Sequence[Counted], picture: bytes | None) -> Section:
    slug, title = declared[0].slug, declared[0].title
    blocks = regimes_page.meanings(declared, counted)
    if counted and picture is not None:
        blocks.append(Picture(slug, picture, title, "", f"{slug}.png", True))
    if counted:
        blocks.append(Table(HEADINGS, [_row(one) for one in counted]))
        blocks.append(Fold("The queries", [QueryRows(one.query) for one in counted]))
    return Section(slug, title, blocks, name="diagram")


def _row(one: Counted) -> Sequence[Part]:
    low, high = one.seeds
    seeds = f"{low} a point" if low == high else f"{low} to {high} a point"
    runs = f"{one.shown:,} of {one.telling:,} ({percent(one.shown / one.telling)}), {seeds}"
    points = ", ".join(f"{count:,}" for count in (one.every, one.most, one.few, one.none))
    return [Code(one.phenomenon.experiment), Code(one.sweep), runs, points, _moved(one)]


def _moved(one: Counted) -> str:
    """The axis in words: what it explains, and towards which of its ends runs show the phenomenon."""
    if one.mover is None:
        return "the same everywhere" if one.points in (one.every, one.none) else "not computed"
    side = {True: ", where large", False: ", where small", None: ""}[one.mover.rises]
    return f"{one.mover.axis}{side}: {one.mover}"
