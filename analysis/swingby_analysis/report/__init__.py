"""The report of a sweep: one HTML page that works offline, and where they are wished for its figures as files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
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
from swingby_analysis.page import Block, Figure, Fold, Heading, Items, Page, Section, Table, Terms, Text
from swingby_analysis.page import Code as Name
from swingby_analysis.page.folder import replace_folder
from swingby_analysis.page.html import html
from swingby_analysis.page.pictures import files_of, pictures
from swingby_analysis.report import data as report_data
from swingby_analysis.report import summary
from swingby_analysis.report.drawings import attempt
from swingby_analysis.report.examples import Examples
from swingby_analysis.report.figures import Figures
from swingby_analysis.report.fresh import fresh_phases, replications
from swingby_analysis.report.interactive import interactive
from swingby_analysis.report.origins import common, differing, made_by
from swingby_analysis.unchanged import NOTE, made_from, note

PAGE = "report.html"
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

    Raises:
        SwingbyError: no such sweep (with the nearest name), no finished cell in it, or the disk refuses.
    """
    records = Records.open(data, create=False)
    as_published = refresh(records)
    with Store.open(records.data) as store:
        row = find_sweep(store, sweep)
        say(f"drawing {row.name} ...")
        shown = presentation_of(sweep, row.sweep_id) if presentation is None else presentation
        if as_published is None:
            outcomes = {row.sweep_id: shown["outcomes"]} if "outcomes" in shown else {}
            derive(records, [row.sweep_id, *replications(store, row.sweep_id)], outcomes)
        source_digest = made_from(sweep, records, kinds, plane) if noted and as_published is None else ""
        read = report_data.read(store, row.sweep_id, plane, shown)
        if as_published is not None:
            read = replace(read, remarks=summary.as_published(as_published, report_data.unseen(store, read)))
        read = replace(read, fresh=fresh_phases(store, read))
        examples = Examples.of(read, store) if read.curves else None
        sentences = registry.function(read.reported.summary)(read, store) if read.reported.summary else []
        figures = Figures(read, examples, *attempt(read, store), sentences)
    folder = entry(out.expanduser().absolute(), row.name)
    with debug_mode(False):  # Altair checks each part of a chart as it is made, and then the whole again
        every = figures.every
    contents = {PAGE: html(page(figures, kinds, written), interactive(figures)).encode(), **pictures(every, kinds)}
    if source_digest and source_digest == made_from(sweep, records, kinds, plane):  # nothing was published meanwhile
        contents[NOTE] = note(source_digest, PAGE, contents, [*read.remarks, *figures.faults])
    replace_folder(folder, contents)
    warnings = summary.warnings(figures.data)
    return Report(row.name, folder / PAGE, figures.every, warnings, figures.faults, read.remarks)


def presentation_of(sweep: str, sweep_id: str) -> Mapping[str, Any]:
    """How a sweep's file, or the packaged one of its name, has it shown; nothing if it is another sweep by now."""
    if not sweep.endswith((".yaml", ".yml")) and sweep not in named_sweeps():
        return {}
    written = Sweep.load(sweep, confirm_above=None)
    return written.presentation if written.sweep_id == sweep_id else {}


def page(figures: Figures, kinds: Collection[str] = (), written: str | None = None) -> Page:
    """The report as a page; `kinds` are the pictures that lie beside it."""
    data = figures.data
    table = summary.Table.of(data)
    points = Table(table.headings, table.rows)
    notes = [Text(text, "warning") for text in (*summary.warnings(data), *figures.faults)]
    apart = differing(data)
    terms = [Terms(made_by(data)), Heading("Conventions common to all points"), common(data)]
    if apart is not None:
        terms += [Heading("Conventions that differ: what follows from preset and axes"), apart]
    tags, kept = data.resolved.get("tags") or [], (data.resolved.get("notes") or "").strip()
    remembered = [Text(f"Notes: {kept}")] if kept else []
    main = figures.main.slug if figures.has_main else None
    extreme = _extremes(data)
    sentences = summary.sentences(data, figures.examples, figures.summary)
    sections = [
        Section("summary", "Summary", [*notes, Items(sentences), *remembered]),
        *(
            Section(
                figure.slug,
                f"({number}) {figure.title}",
                [figure, *(extreme if figure.slug == main else [])],
                contents=figure.title,
            )
            for number, figure in enumerate(figures.every, 1)
        ),
        Section(
            "numbers",
            "Every point as a table",
            [
                Text(table.caption),
                Fold(f"{len(table.rows)} points", [points], opened=len(table.rows) <= FEW_POINTS),
            ],
        ),
        Section("made", "How this was made", terms),
    ]
    name, sweep_id, experiment = (Name(data.sweep[key]) for key in ("name", "sweep_id", "experiment"))
    tagged = f"; tags {', '.join(tags)}" if tags else ""
    written = written or utc_now()[:16].replace("T", " ") + " UTC"
    return Page(
        kind="report",
        title=(data.sweep["title"] or data.sweep["name"]).strip(),
        lead=(data.resolved["description"] or "").strip(),
        byline=["Sweep ", name, ", id ", sweep_id, ", experiment ", experiment, f"{tagged}; written {written}."],
        sections=sections,
        files=files_of(kinds),
    )


def _extremes(data: report_data.ReportData) -> list[Block]:
    """The table beside the main map: its extreme points, shrunken, and on fresh seeds."""
    extremes = data.extremes.get(data.outcome)
    if extremes is None:
        return []
    headings, rows = extremes.table(data.grid.label)
    how = (
        f"The extreme points of {extremes.points:,}. The largest of many shares or medians is one that chance has "
        "lifted, the smallest one that chance has lowered: the column “its seeds” shows too much at both ends. "
        "Shrunken: what is left when the spread over all points is known (empirical Bayes), with its 95\u00a0% "
        "interval. Fresh seeds, "
        "which had no part in the choice, have no such fault:"
    )
    if data.coverage:
        how = f"{data.coverage}. {how}"
    trains = Name(f"swingby replicate {data.source}")
    words = [how, " ", trains, " trains them."]
    return [
        Fold(
            "The extreme points, shrunken and on fresh seeds",
            [Text(words), Table(headings, rows, name="extremes")],
            opened=True,
        )
    ]
