"""The folder of a published sweep: page, figures, Parquet, code and descriptions, written whole or not at all."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Collection
from pathlib import Path, PurePosixPath

from swingby.archive import pack
from swingby.archive.file import read_header
from swingby.archive.origins import computed
from swingby.archive.publication import MANIFEST, Published, listed
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.options import option
from swingby.run.outcomes import refresh
from swingby.store import Store
from swingby.store.lookup import KnownSweep, find_sweep
from swingby_analysis.page.engine import engine as engine_of_pages
from swingby_analysis.page.folder import put_folder
from swingby_analysis.page.pictures import pictures
from swingby_analysis.publish.about import About, Options
from swingby_analysis.publish.cards import citation, readme
from swingby_analysis.publish.crate import crate
from swingby_analysis.publish.croissant import croissant
from swingby_analysis.publish.sources import Sources, sources_of
from swingby_analysis.publish.tables import CELLS, CURVES, Columns, cell_columns, write_cells
from swingby_analysis.report import Report, write_report

PAGE = "supplement.html"
FIGURES = "figures"
KINDS = ("png", "svg", "pdf")
EXACT = 17
"""Digits with which no double is rounded."""
ROW_GROUP = 2048
"""Cells of a row group of the curves: a few points of a diagram."""


def publish(
    sweep: str,
    data: Path,
    to: Path,
    options: Options | None = None,
    kinds: Collection[str] = KINDS,
    engine: bool = True,
    say: Callable[[str], object] = lambda text: None,
) -> Path:
    """Writes everything about a finished sweep into the folder `to`, whole or not at all; returns its path.

    The same results give the same bytes. A folder that was published before is replaced.

    Args:
        kinds: of the figures' files.
        engine: whether the page answers SQL by itself; where the engine cannot be had, `say` hears of it, and the page
            is written without.

    Raises:
        SwingbyError: no such sweep, a cell without a result, nobody is named as its author, its licence is not said, or
            `to` is a folder of something else.
    """
    folder = to.expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / MANIFEST).is_file())):
        raise SwingbyError(f"{folder} was not published before, and is not empty; choose another for {option('to')}")
    records = Records.open(data, create=False)
    refresh(records)
    with Store.open(records.data) as store:
        row = find_sweep(store, sweep)
        entries, _ = computed(store, row.experiment, row.sweep_id)
        newest = "select plan_id from plans where sweep_id = ? order by sequence desc, plan_id limit 1"
        plan = records.read_plan(store.sql(newest, [row.sweep_id]).rows()[0].plan_id)
    if not entries:
        raise SwingbyError(f"{row.name} has no finished cell: swingby run {row.name}")
    about = About.of(
        options or Options(), {**plan.resolved, "name": row.name}, max(str(entry["finished"]) for entry in entries)[:10]
    )
    sources = sources_of(sweep, row, plan.resolved, plan.provenance)

    def fill(fresh: Path) -> None:
        say(f"{row.name}: writing cells and curves ...")
        packed = pack(
            data,
            row.sweep_id,
            fresh,
            whole=True,
            digits=EXACT,
            row_group=ROW_GROUP,
            packed=f"{about.date}T00:00:00+00:00",
        )
        packed.path.rename(fresh / CURVES)
        with Store.open(records.data) as store:
            find_sweep(store, row.sweep_id)
            columns = cell_columns(store, row)
            write_cells(store, row, columns, fresh / CELLS)
        say(f"{row.name}: drawing the page and its figures ...")
        report = supplement(sweep, data, fresh, about.date, engine, say)
        for name, content in pictures(report.figures, kinds).items():
            _write(fresh, f"{FIGURES}/{name}", numbered(content) if name.endswith(".svg") else content)
        for name, content in sources.files.items():
            _write(fresh, name, content)
        _describe(fresh, row, about, columns, report, sources)

    put_folder(folder, fill, "publication")
    return folder


def supplement(sweep: str, data: Path, folder: Path, date: str, engine: bool, say: Callable[[str], object]) -> Report:
    """Writes the page into a folder, without files of figures beside it."""
    if engine:
        try:
            engine_of_pages(say)
        except SwingbyError as error:
            say(f"warning: the page answers no SQL: {error}")
            engine = False
    report = write_report(sweep, data, folder / "drawn", kinds=(), written=date, supplement=engine)
    report.page.rename(folder / PAGE)
    shutil.rmtree(folder / "drawn")
    return report


def _describe(folder: Path, row: KnownSweep, about: About, columns: Columns, report: Report, sources: Sources) -> None:
    """Writes what says what the other files are: data card, citation, Croissant, RO-Crate, manifest."""
    header = read_header(folder / CURVES)
    _write(folder, "README.md", readme(about, header, columns, report, sources).encode())
    _write(folder, "CITATION.cff", citation(about).encode())
    _write(folder, "croissant.json", croissant(about, header, columns, folder))
    _write(folder, "ro-crate-metadata.json", crate(about, header, sources, folder))
    published = Published(
        name=row.name,
        sweep_id=row.sweep_id,
        experiment=row.experiment,
        title=about.title,
        authors=[author.name for author in about.authors],
        licence=about.licence.name,
        published=about.date,
        archive=CURVES,
        files=listed(folder),
    )
    _write(folder, MANIFEST, published.to_bytes())


def numbered(svg: bytes) -> bytes:
    """An SVG of Vega whose clips and gradients are numbered from 0 on: Vega counts on through a process."""
    numbers: dict[bytes, bytes] = {}

    def number(match: re.Match[bytes]) -> bytes:
        return match[1] + numbers.setdefault(match[0], str(len(numbers)).encode())

    return re.sub(rb"(?<=[\"#])(clip|gradient_)\d+(?=[\")])", number, svg)


def _write(folder: Path, name: str, content: bytes) -> None:
    path = folder / PurePosixPath(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
