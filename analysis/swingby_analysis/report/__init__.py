"""The report of a sweep: one HTML page that works offline, and where they are wished for its figures as files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from altair.utils.schemapi import debug_mode

from swingby.data.files import entry, utc_now
from swingby.data.records import Records
from swingby.model import registry
from swingby.run.outcomes import derive, refresh
from swingby.store import Store
from swingby.store.lookup import find_sweep
from swingby.sweepfile.sweep import Sweep, named_sweeps
from swingby_analysis.page import (
    Block,
    Figure,
    Fold,
    Heading,
    Items,
    Page,
    Part,
    Section,
    Statements,
    Table,
    Terms,
    Text,
)
from swingby_analysis.page import Code as Name
from swingby_analysis.page.engine import engine as engine_of_pages
from swingby_analysis.page.folder import replace_folder
from swingby_analysis.page.html import html
from swingby_analysis.page.pictures import files_of, pictures
from swingby_analysis.report import data as report_data
from swingby_analysis.report import summary
from swingby_analysis.report.drawings import attempt
from swingby_analysis.report.examples import Examples
from swingby_analysis.report.figures import Figures, maps_of
from swingby_analysis.report.finding import finding
from swingby_analysis.report.fresh import fresh_phases, replications
from swingby_analysis.report.front import front_lines
from swingby_analysis.report.interactive import interactive
from swingby_analysis.report.origins import account, common, differing, made_by
from swingby_analysis.report.questions import questions
from swingby_analysis.unchanged import NOTE, made_from, note

PAGE, SUPPLEMENT = "report.html", "supplement.html"
"""The light page, and the one that has an engine for SQL in it."""
FEW_POINTS = 30
"""A table of at most so many points is open."""


@dataclass(frozen=True)
class Report:
    """A report that was written.

    Attributes:
        name: of the sweep.
        page: where it lies.
        figures: what it shows.
        warnings: what a reader must know first.
        faults: which drawings failed, and why.
        remarks: those of the warnings that are about the data folder, and not about the sweep.
    """

    name: str
    page: Path
    figures: Sequence[Figure]
    warnings: Sequence[str]
    faults: Sequence[str]
    remarks: Sequence[str] = ()


def write_report(
    sweep: str,
    data: Path,
    out: Path,
    kinds: Collection[str] = (),
    plane: tuple[int, int] = (1, 2),
    presentation: Mapping[str, Any] | None = None,
    say: Callable[[str], object] = lambda text: None,
    noted: bool = False,
    written: str | None = None,
    supplement: bool = False,
    served: str = "",
) -> Report:
    """Writes the report of a sweep into the folder `out/<sweep's name>`, whole or not at all.

    Cells that the detectors have not seen yet are shown to them first. Of a data folder that cannot be written it shows
    what was published there, and says so.

    Args:
        sweep: a sweep's name, its id (or the first digits), or a sweep file.
        data: the data folder.
        kinds: which of png, svg and pdf to write beside the page.
        plane: the two entries (counted from 1) of the plane of paths.
        presentation: how to show it (`Sweep.presentation`); None: as its file or its packaged name has it now, else as
            its last run had it.
        say: hears which sweep is drawn, once it is found.
        noted: leave a note beside the page on what it was made from (see `unchanged`).
        written: when the page says that it was written; None: now.
        supplement: write a second page beside it, which answers SQL over every run without a network.
        served: the path at which a server answers SQL, for a page that it shows; "" for a page that lies alone.

    Raises:
        SwingbyError: no such sweep (with the nearest name), no finished cell in it, no engine for a supplement, or the
            disk refuses.
    """
    engine = engine_of_pages(say) if supplement else None
    kinds_asked = [*kinds, *([SUPPLEMENT] if supplement else [])]
    records = Records.open(data, create=False)
    as_published = refresh(records)
    with Store.open(records.data) as store, ThreadPoolExecutor(2) as pool:
        row = find_sweep(store, sweep)
        say(f"drawing {row.name} ...")
        shown = presentation_of(sweep, row.sweep_id) if presentation is None else presentation
        if as_published is None:
            outcomes = {row.sweep_id: shown["outcomes"]} if "outcomes" in shown else {}
            derive(records, [row.sweep_id, *replications(store, row.sweep_id)], outcomes)
        source_digest = made_from(sweep, records, kinds_asked, plane) if noted and as_published is None else ""
        read = report_data.read(store, row.sweep_id, plane, shown, pool=pool)
        if as_published is not None:
            read = replace(read, remarks=summary.as_published(as_published, report_data.unseen(store, read)))
        remarks = read.remarks
        if row.choice:  # standard error has said so
            read = replace(read, remarks=[f"{row.choice}.", *remarks])
        read = replace(read, fresh=fresh_phases(store, read))
        with debug_mode(False):  # Altair checks each part of a chart as it is made, and then the whole again
            maps = maps_of(read)  # while the curves are read
        examples = Examples.of(read, store) if read.curves else None
        sentences = registry.function(read.reported.summary)(read, store) if read.reported.summary else []
        figures = Figures(read, examples, *attempt(read, store), sentences, maps)
        asking = {PAGE: questions(read, store, served=served)}
        if engine is not None:
            asking[SUPPLEMENT] = questions(read, store, engine)
    folder = entry(out.expanduser().absolute(), row.folder)
    with debug_mode(False):
        every = figures.every
    specs = interactive(figures)
    contents = {
        name: html(
            page(figures, kinds, written, of.blocks),
            {**specs, **of.data},
            of.attachments,
            of.scripts,
            allowed=of.allowed,
        ).encode()
        for name, of in asking.items()
    }
    shown_page = [*contents][-1]
    contents |= pictures(every, kinds)
    unchanged = source_digest and source_digest == made_from(sweep, records, kinds_asked, plane)
    if unchanged:  # nothing was published meanwhile
        contents[NOTE] = note(source_digest, shown_page, contents, [*remarks, *figures.faults])
    replace_folder(folder, contents)
    warnings = summary.warnings(figures.data)
    return Report(row.name, folder / shown_page, figures.every, warnings, figures.faults, remarks)


def presentation_of(sweep: str, sweep_id: str) -> Mapping[str, Any]:
    """How a sweep's file, or the packaged one of its name, has it shown; nothing if it is another sweep by now."""
    if not sweep.endswith((".yaml", ".yml")) and sweep not in named_sweeps():
        return {}
    written = Sweep.load(sweep, confirm_above=None)
    return written.presentation if written.sweep_id == sweep_id else {}


def page(
    figures: Figures, kinds: Collection[str] = (), written: str | None = None, asking: Sequence[Block] = ()
) -> Page:
    """The report as a page; `kinds` are the pictures beside it, `asking` what answers questions of its readers."""
    data, every = figures.data, figures.every
    front, rest = every[0], every[1:]
    if figures.has_main:  # the diagram, also where the sweep file has drawings of its own
        front = next((one for one in every if one.slug == figures.main.slug), front)
        rest = [one for one in every if one is not front]
    of = {name: [one for one in rest if one.section == name] for name, *_ in PARTS}
    blocks: dict[str, list[Block]] = {
        name: [block for one in of[name] for block in (Heading(one.title), one)] for name in of
    }
    stated = summary.sentences(data, figures.examples, figures.summary)
    blocks[""] = [*([Items(stated)] if stated else []), *blocks[""]]
    blocks["explore"] = list(asking)
    blocks["numbers"], blocks["made"] = _numbers(data), _origins(data)
    kept = (data.resolved.get("notes") or "").strip()
    described = [(data.resolved["description"] or "").strip(), f"Notes: {kept}" if kept else ""]
    notes = [Text(text, "warning") for text in (*summary.warnings(data), *figures.faults)]
    lines = Statements(front_lines(data))
    first = Section(
        "map", front.title, [front, *notes, lines, *(Text(text) for text in described if text)], name="front"
    )
    tags = data.resolved.get("tags") or []
    name, sweep_id, experiment = (Name(data.sweep[key]) for key in ("name", "sweep_id", "experiment"))
    tagged = f"; tags {', '.join(tags)}" if tags else ""
    written = written or utc_now()[:16].replace("T", " ") + " UTC"
    return Page(
        kind="",
        title=(data.sweep["title"] or data.sweep["name"]).strip(),
        lead=finding(data) if figures.has_main else "",
        byline=["Sweep ", name, ", id ", sweep_id, ", experiment ", experiment, f"{tagged}; written {written}."],
        sections=[
            first,
            *(
                Section(slug, heading, blocks[key], folded=True, about=about)
                for key, slug, heading, about in (*PARTS, TRAINED_HERE if data.imported is None else IMPORTED)
                if blocks[key]
            ),
        ],
        files=files_of(kinds),
    )


PARTS = (
    ("explore", "explore", "Explore", "your own question: axes, thresholds, runs, SQL"),
    ("maps", "maps", "Maps", "the other outcomes over the same axes"),
    ("curves", "curves", "Curves", "how runs went on over the steps"),
    ("axes", "axes", "Axes", "which of them matters how much, and where runs were spent"),
    ("", "statements", "Statements", "the results in words, and drawings of their own"),
    ("numbers", "numbers", "Data", "every point as a table, what failed, and queries"),
)
"""The sections below the map: what figures belong to it, its anchor, its heading, and what it holds."""
TRAINED_HERE = ("made", "made", "How it was made", "conventions, plans, code and versions")
IMPORTED = ("made", "made", "How it came", "what was taken for what, and what was left out and why; plans and versions")
"""The last section, of results that were trained here, and of imported ones."""


def _numbers(data: report_data.ReportData) -> list[Block]:
    """Every point as a table, the failures, and commands that read more."""
    table, blocks, experiment = summary.Table.of(data), list[Block](), data.sweep["experiment"]
    if data.failures:
        again: Part = [" ", Name(f"swingby run {data.source} --retry-failed"), " trains them again."]
        blocks += [Heading("What failed"), Items([str(one) for one in data.failures])]
        blocks += [Text(["Fix the cause first;", again])] if data.imported is None else []
    blocks += [
        Heading("Every point"),
        Text(table.caption),
        Fold(f"{len(table.rows)} points", [Table(table.headings, table.rows)], opened=len(table.rows) <= FEW_POINTS),
        Heading("Every run"),
        Text(["With parameters, scalars and curves: ", Name(f"swingby export {data.source} --out runs.parquet"), "."]),
        Text(["A question in SQL: ", Name(f'swingby sql "select * from {experiment} limit 10"'), "."]),
        Text(["What each column means: ", Name(f"swingby describe {experiment}"), "."]),
    ]  # fmt: skip
    return blocks


def _origins(data: report_data.ReportData) -> list[Block]:
    """Grid, plans, versions and conventions."""
    apart = differing(data)
    blocks: list[Block] = [
        *account(data),
        Terms(made_by(data)),
        Heading("Conventions common to all points"),
        common(data),
    ]
    if apart is not None:
        blocks += [Heading("Conventions that differ: what follows from preset and axes"), apart]
    return blocks
