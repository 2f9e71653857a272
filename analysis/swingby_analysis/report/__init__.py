"""The report of a sweep: one HTML page that works offline, and every figure beside it as PNG, SVG and PDF."""

from __future__ import annotations

import shutil
import textwrap
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import vl_convert

from swingby import __version__
from swingby.data.files import TEMPORARY, clear_os_errors, entry, sync_file, sync_folder, utc_now
from swingby.data.records import Records
from swingby.model import registry
from swingby.run.outcomes import derive
from swingby.run.refresh import freshen
from swingby.store import Store
from swingby.store.lookup import find_sweep
from swingby.sweepfile.sweep import Sweep, named_sweeps
from swingby_analysis.report import data as report_data
from swingby_analysis.report import words
from swingby_analysis.report.conventions import Conventions
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.examples import Examples
from swingby_analysis.report.facts import code_of
from swingby_analysis.report.figures import Figures
from swingby_analysis.report.interactive import interactive
from swingby_analysis.report.page import VEGA_LITE, Figure, render
from swingby_analysis.report.prose import shown

PAGE = "report.html"
KINDS = ("png", "svg", "pdf")
SUBTITLE = 88
"""Characters of a line under the title of a picture."""
SHARPNESS = 3.0
"""Pixels of the PNG for each pixel of the figure: about 300 dpi where a figure fills the width of a page."""


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
    kinds: Collection[str] = KINDS,
    plane: tuple[int, int] = (1, 2),
    presentation: Mapping[str, Any] | None = None,
    tell: Callable[[str], object] = lambda text: None,
) -> Report:
    """Writes the report of a sweep into the folder `out/<sweep's name>`, whole or not at all.

    Cells that the detectors have not seen yet are shown to them first. Of a data folder that cannot be written it shows
    what was published there, and says so.

    Args:
        sweep: a sweep's name, its id (or the first digits), or a sweep file.
        data: the data folder.
        kinds: which of png, svg and pdf to write beside the page.
        plane: the two concepts (counted from 1) of the trajectories.
        presentation: how to show it (`Sweep.presentation`); None: as its file or its packaged name has it now, else as
            its last run had it.
        tell: hears what is drawn, once it is known that there is such a sweep.

    Raises:
        SwingbyError: no such sweep (with the nearest name), no finished cell in it, or the disk refuses.
    """
    # Both are made of pieces of this package.
    from swingby_analysis.report.drawings import attempt
    from swingby_sweeps.diffusion.summary import sentences

    records = Records.open(data, create=False)
    as_published = freshen(records)
    with Store.open(records.data) as store:
        found = find_sweep(store, sweep)
        tell(f"drawing {found.name} ...")
        shown = _written_now(sweep, found.sweep_id) if presentation is None else presentation
        if as_published is None:
            derive(records, [found.sweep_id])
        read = report_data.read(store, found.sweep_id, plane, shown)
        if as_published is not None:
            read = replace(read, remarks=words.as_published(as_published, report_data.untold(store, read)))
        examples = Examples.of(read, store) if read.reported.points else None
        figures = Figures(read, examples, *attempt(read, store), sentences(read, store))
    folder = entry(out.expanduser().absolute(), found.name)
    contents = {PAGE: page(figures, kinds).encode(), **pictures(figures.every, kinds)}
    replace_folder(folder, contents)
    warnings = words.warnings(figures.data)
    return Report(found.name, folder / PAGE, figures.every, warnings, figures.faults, read.remarks)


def _written_now(sweep: str, sweep_id: str) -> Mapping[str, Any]:
    """How its file or packaged name shows a sweep now, if it still asks for that very sweep; else nothing."""
    if not sweep.endswith((".yaml", ".yml")) and sweep not in named_sweeps():
        return {}
    written = Sweep.load(sweep, confirm_above=None)
    return written.presentation if written.sweep_id == sweep_id else {}


def pictures(figures: Collection[Figure], kinds: Collection[str]) -> dict[str, bytes]:
    """Each figure as files for a paper, by file name: png, svg, pdf, as far as they are asked for."""
    found = {}
    for figure in figures if kinds else ():
        svg = vl_convert.vegalite_to_svg(titled(figure), vl_version=VEGA_LITE)
        for kind in kinds:
            found[f"{figure.slug}.{kind}"] = _converted(svg, kind)
    return found


def titled(figure: Figure) -> dict[str, Any]:
    """A figure's drawing with its own title, for a picture that leaves the page and its headings behind."""
    # In lines: one of its whole length would make a small figure a wide picture that is mostly empty.
    subtitle = textwrap.wrap(f"sweep {figure.facts['Sweep']}; seeds {figure.facts['Seeds']}", SUBTITLE)
    title = {"text": figure.title, "subtitle": subtitle, "anchor": "start", "fontSize": 15, "subtitleFontSize": 11}
    return {**figure.spec, "title": {**title, "subtitlePadding": 4, "offset": 14}}


def _converted(svg: str, kind: str) -> bytes:
    if kind == "png":
        return vl_convert.svg_to_png(svg, scale=SHARPNESS)
    return vl_convert.svg_to_pdf(svg) if kind == "pdf" else svg.encode()


def replace_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Puts a folder with these files in the place of `folder`: there is never a half-written one under its name.

    Raises:
        SwingbyError: the operating system refused; the folder is as it was before.
    """
    fresh, old = (folder.with_name(f"{TEMPORARY}{uuid.uuid4().hex}") for _ in range(2))
    with clear_os_errors(f"write the report {folder}"):
        try:
            fresh.mkdir(parents=True)
            for name, content in contents.items():
                (fresh / name).write_bytes(content)
                sync_file(fresh / name)
            if folder.exists():
                folder.rename(old)
            fresh.rename(folder)
            sync_folder(folder.parent)
        finally:
            for leftover in (fresh, old):
                shutil.rmtree(leftover, ignore_errors=True)


def page(figures: Figures, kinds: Collection[str] = ()) -> str:
    """The HTML page; `kinds` are the pictures that lie beside it."""
    data = figures.data
    content = {
        "title": (data.sweep["title"] or data.sweep["name"]).strip(),
        "description": (data.resolved["description"] or "").strip(),
        "name": data.sweep["name"],
        "sweep_id": data.sweep["sweep_id"],
        "experiment": data.sweep["experiment"],
        "written": utc_now()[:16].replace("T", " ") + " UTC",
        "figures": figures.every,
        "warnings": [*words.warnings(data), *figures.faults],
        "summary": words.summary(data, figures.examples, figures.said),
        "files": [kind for kind in KINDS if kind in kinds],
        "table": words.Table.of(data),
        "made": _made(data),
        "conventions": Conventions.common(data),
        "differing": Conventions.differing(data),
    }
    return render(content, interactive(figures))


def _made(data: ReportData) -> dict[str, list[str]]:
    """How the report came about, beyond what each figure says; a list of lines for each term."""
    resolved, recording = data.resolved, data.resolved["recording"]
    axes = [f"{' + '.join(a['names'])}: {', '.join(_value(v) for v in a['values'])}" for a in resolved["axes"]]
    return {
        "Grid": [*axes, *([f"where {resolved['where']}"] if resolved["where"] else [])],
        "Plans": [_plan(row) for row in data.origins],
        "Detectors": [
            f"{item.name}, version {item.version}" for item in registry.detectors_for(resolved["experiment"])
        ],
        "Recorded": [", ".join([f"{recording['steps']} ({recording['points']} points)", *recording["also"]])],
        "Written by": [f"swingby {__version__}"],
    }


def _value(value: list[Any]) -> str:
    return shown(value[0] if len(value) == 1 else value)


def _plan(row: Mapping[str, Any]) -> str:
    times = f"{row['started']:%Y-%m-%d %H:%M} to {row['finished']:%Y-%m-%d %H:%M} UTC"
    engines = f" ({row['engines']})" if row["engines"] else ""
    return f"{row['plan_id']}: {row['cells']:,} cells, {times}, on {row['hosts']}{engines}, {code_of(row)}"
