"""The page of phenomena: what they are, where they appear, and the query behind each number."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from swingby import __version__
from swingby.archive import shipped, unpack
from swingby.data.files import utc_now, write_whole
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.outcomes import derive
from swingby.store import Store, ingest
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.charts.presence import Presence, presence
from swingby_analysis.page import (
    Block,
    Code,
    Figure,
    Fold,
    Items,
    Page,
    Part,
    Picture,
    QueryRows,
    Section,
    Several,
    Table,
    Text,
)
from swingby_analysis.page.html import html
from swingby_analysis.page.markdown import markdown
from swingby_analysis.page.pictures import together
from swingby_analysis.phenomena.catalogue import Phenomenon
from swingby_analysis.phenomena.counting import Counted, counted, sweeps_of
from swingby_analysis.report import replace_folder
from swingby_analysis.report.prose import percent, plural
from swingby_analysis.statements.catalogue import diagrams
from swingby_analysis.statements.needed import Say

NAME, TITLE = "phenomena", "Where phenomena appear"
LEAD = (
    "Each phenomenon is an expression in SQL over the runs of an experiment, with the outcomes of its detectors. A "
    "share of runs is that of the grid which was chosen, not of nature: what counts is where it is, and what moves it."
)
HEADINGS = ("experiment", "sweep", "runs that show it", "points: all, > half, <= half, none", "moved most by")
READING = (
    "A bar is a sweep, and its parts are the points of its grid: those at which every run that tells shows the "
    "phenomenon, more than half of them, at most half, and none. The table has the counts of these points in this "
    "order. With one run at a point there is no middle part."
)
MOVED = (
    "The axis that moves it most has the largest main effect: the share of the variance over the points that its "
    "values explain by themselves, with a 95 % bootstrap interval over the seeds where there are several. Sweeps whose "
    "cells were chosen by their results have none."
)


def write_phenomena(
    data: Path, out: Path, wanted: Sequence[Phenomenon], *, sweeps: Sequence[str] = (), recorded: bool = False, say: Say
) -> Path:
    """Writes the folder `out/phenomena` with page, Markdown and figures; returns the page's path.

    Args:
        data: the data folder.
        sweeps: names of sweeps to count; () for all in the folder.
        recorded: unpack the shipped results of the experiments' diagrams first.
        say: hears each step.

    Raises:
        SwingbyError: there is no data folder, no sweep of that name, no run of such an experiment, or the disk refuses.
    """
    records = Records.open(data, create=recorded)
    if recorded:
        _unpack(records, wanted, say)
    ingest(records)
    found = list[Counted]()
    with Store.open(records.data) as store:
        names = {row["name"] for item in wanted for row in sweeps_of(store, item.experiment)}
        if unknown := [name for name in sweeps if name not in names]:
            known = ", ".join(sorted(names)) or "(none)"
            raise SwingbyError(f"no sweep here that could show it is called {unknown[0]!r}; allowed: {known}")
        for item in wanted:
            own = [row for row in sweeps_of(store, item.experiment) if not sweeps or row["name"] in sweeps]
            derive(records, [row["sweep_id"] for row in own])
            found += [one for row in own if (one := counted(store, item, row)) is not None]
            say(f"{item.slug}, {item.experiment}: {plural(len(own), 'sweep')}")
    if not found:
        experiments = ", ".join(sorted({item.experiment for item in wanted}))
        raise SwingbyError(
            f"{data} has no run that tells; the phenomena are about {experiments}: swingby run trains a sweep, "
            "swingby phenomena --recorded takes the results that are shipped"
        )
    drawn = [_figure(slug, list(own)) for slug, own in itertools.groupby(found, lambda one: one.phenomenon.slug)]
    pictures = together(drawn, ("png", "svg"), 2.0, 1.0)
    inside = {figure.slug: picture.inside for figure, picture in zip(drawn, pictures, strict=True)}
    page = _page(wanted, found, inside)
    text = markdown(page)
    files = {
        f"{figure.slug}.{kind}": content
        for figure, picture in zip(drawn, pictures, strict=True)
        for kind, content in picture.files.items()
    }
    folder = out.expanduser().absolute() / NAME
    replace_folder(folder, {f"{NAME}.html": html(page).encode(), f"{NAME}.md": text.encode(), **files})
    return folder / f"{NAME}.html"


def write_markdown(page: Path, file: Path) -> None:
    """Copies the Markdown that lies beside a page to a file."""
    text = page.with_suffix(".md").read_text(encoding="utf-8")
    write_whole(file.expanduser().absolute(), lambda path: path.write_text(text, encoding="utf-8"))


def _unpack(records: Records, wanted: Sequence[Phenomenon], say: Say) -> None:
    """Brings in the shipped results of the diagrams of these experiments, those that are not here yet."""
    known, experiments = shipped(), {item.experiment for item in wanted}
    for diagram in diagrams():
        if diagram.experiment in experiments:
            path = known.get(Sweep.load(diagram.sweep, confirm_above=None).sweep_id)
            say(f"no recorded results of {diagram.sweep}" if path is None else str(unpack(records.data, path)))


def _figure(slug: str, own: Sequence[Counted]) -> Figure:
    title = own[0].phenomenon.title
    bars = [Presence(one.phenomenon.experiment, one.sweep, one.every, one.most, one.few, one.none) for one in own]
    caption = f"At which share of the points of each sweep's grid runs show it ({plural(len(own), 'sweep')})."
    return Figure(slug, title, caption, READING, presence(bars).to_dict())


def _page(wanted: Sequence[Phenomenon], found: Sequence[Counted], pictures: dict[str, bytes]) -> Page:
    slugs = list(dict.fromkeys(item.slug for item in wanted))
    sections = [
        _section([item for item in wanted if item.slug == slug], [one for one in found if one.phenomenon.slug == slug],
                 pictures.get(slug))
        for slug in slugs
    ]  # fmt: skip
    runs = plural(sum(one.told for one in found), "answer")
    return Page(
        kind="findings",
        tab="Phenomena",
        title=TITLE,
        lead=LEAD,
        byline=f"Written {utc_now()[:16].replace('T', ' ')} UTC by swingby {__version__}, from {runs} of runs.",
        sections=[*sections, Section("rule", "How to read it", [Text(READING), Text(MOVED)])],
        excerpt=[
            *sections,
            Text(Several(["Made by ", Code("swingby phenomena"), f" (swingby {__version__}). {MOVED}"])),
        ],
    )


def _section(declared: Sequence[Phenomenon], own: Sequence[Counted], picture: bytes | None) -> Section:
    slug, title = declared[0].slug, declared[0].title
    blocks: list[Block] = [Items([Several([Code(item.experiment), f": {item.meaning}"]) for item in declared])]
    silent = [item.experiment for item in declared if item.experiment not in {one.phenomenon.experiment for one in own}]
    if silent:
        blocks.append(Text(f"No run here tells for {', '.join(silent)}.", "note"))
    if own and picture is not None:
        blocks.append(Picture(slug, picture, title, "", f"{slug}.png", True))
    if own:
        blocks.append(Table(HEADINGS, [_row(one) for one in own]))
        blocks.append(Fold("The queries", [QueryRows(one.query) for one in own]))
    return Section(slug, title, blocks, name="diagram")


def _row(one: Counted) -> Sequence[Part]:
    low, high = one.seeds
    seeds = f"{low} a point" if low == high else f"{low} to {high} a point"
    runs = f"{one.shown:,} of {one.told:,} ({percent(one.shown / one.told)}), {seeds}"
    points = ", ".join(f"{count:,}" for count in (one.every, one.most, one.few, one.none))
    return [Code(one.phenomenon.experiment), Code(one.sweep), runs, points, _moved(one)]


def _moved(one: Counted) -> str:
    """The axis in words: what it explains, and towards which of its ends runs show the phenomenon."""
    if one.mover is None:
        return "nothing varies" if one.points in (one.every, one.none) else "not computed"
    side = {True: ", where large", False: ", where small", None: ""}[one.mover.rises]
    interval = ""
    if one.mover.low == one.mover.low:
        interval = f" ({percent(one.mover.low)} to {percent(one.mover.high)})"
    return f"{one.mover.axis}{side}: {percent(one.mover.share)}{interval}"
