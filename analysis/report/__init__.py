"""The report of a sweep: one HTML page that works offline, and every figure beside it as PNG, SVG and PDF."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import vl_convert

from analysis.charts.grid import plain
from analysis.charts.losses import OOD_LOSS, TRAINING_LOSS, loss_panel
from analysis.charts.number_map import told
from analysis.charts.trajectory import trajectory_panel
from analysis.report import data as report_data
from analysis.report import phases, words
from analysis.report.curves import packed
from analysis.report.data import ReportData
from analysis.report.figures import Made, shown, spoken, top_of, unit
from analysis.report.page import VEGA_LITE, Figure, render
from swingby import __version__, plugins
from swingby.files import TEMPORARY, clear_os_errors, sync_folder, utc_now
from swingby.records import Records
from swingby.run.derive import derive
from swingby.run.lookup import find_sweep
from swingby.store import Store, ingest

PAGE = "report.html"
KINDS = ("png", "svg", "pdf")
SHARPNESS = 3.0
"""Pixels of the PNG for each pixel of the figure: 300 dpi at the width of a page."""


def write_report(
    sweep: str, data: Path, out: Path, kinds: Collection[str] = KINDS, plane: tuple[int, int] = (1, 2)
) -> Path:
    """Writes the report of a sweep into the folder `out/<sweep's name>`, whole or not at all, and gives the page's path.

    What the detectors have not seen yet they are shown first.

    Args:
        sweep: a sweep's name, its id (or the first digits), or a sweep file.
        data: the data folder.
        kinds: which of png, svg and pdf to write beside the page.
        plane: the two concepts (counted from 1) of the trajectories.

    Raises:
        SwingbyError: no such sweep (with the nearest name), no finished cell in it, or the disk refuses.
    """
    records = Records.open(data, create=False)
    ingest(records)
    with Store.open(data) as store:
        found = find_sweep(store, sweep)
        derive(records, [found.sweep_id])
        made = Made.of(report_data.read(store, found.sweep_id, plane), store)
    folder = out.expanduser().absolute() / found.name
    with clear_os_errors(f"write the report {folder}"):
        _replace(folder, _files(made, kinds))
    return folder / PAGE


def _files(made: Made, kinds: Collection[str]) -> dict[str, bytes]:
    """Every file of the report by its name."""
    found = {PAGE: page(made, kinds).encode()}
    for figure in made.figures:
        for kind, content in pictures(figure, kinds).items():
            found[f"{figure.slug}.{kind}"] = content
    return found


def pictures(figure: Figure, kinds: Collection[str]) -> dict[str, bytes]:
    """A figure as files for a paper: png, svg, pdf, as far as they are asked for."""
    if not kinds:
        return {}
    svg = vl_convert.vegalite_to_svg(figure.spec, vl_version=VEGA_LITE)
    drawn = {
        "png": lambda: vl_convert.svg_to_png(svg, scale=SHARPNESS),
        "svg": svg.encode,
        "pdf": lambda: vl_convert.svg_to_pdf(svg),
    }
    return {kind: drawn[kind]() for kind in kinds}


def _replace(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Puts a folder with these files in the place of `folder`: readers see the old one or the new one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh, old = (folder.with_name(f"{TEMPORARY}{uuid.uuid4().hex}") for _ in range(2))
    try:
        fresh.mkdir()
        for name, content in contents.items():
            with (fresh / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
        sync_folder(folder.parent)
    finally:
        for leftover in (fresh, old):
            shutil.rmtree(leftover, ignore_errors=True)


def page(made: Made, kinds: Collection[str]) -> str:
    """The HTML page."""
    data, figures = made.data, made.figures
    content = {
        "title": (data.sweep["title"] or data.sweep["name"]).strip(),
        "description": (data.resolved["description"] or "").strip(),
        "name": data.sweep["name"],
        "sweep_id": data.sweep["sweep_id"],
        "experiment": data.sweep["experiment"],
        "written": utc_now()[:16].replace("T", " ") + " UTC",
        "figures": figures,
        "warnings": words.warnings(data),
        "summary": words.summary(made),
        "files": [kind for kind in KINDS if kind in kinds],
        "table": words.table(data),
        "made": _made(data),
        "conventions": {name: shown(value) for name, value in data.resolved["common"].items()},
    }
    return render(content, {"figures": {figure.slug: figure.spec for figure in figures}, **_interactive(made)})


def _made(data: ReportData) -> dict[str, str]:
    """How the report came about, beyond what each figure says."""
    detectors = plugins.detectors_for(data.sweep["experiment"])
    rows = [
        f"{row['plan_id']}: {row['cells']:,} cells, {row['started']:%Y-%m-%d %H:%M} to {row['finished']:%H:%M} UTC on {row['hosts']}, "
        f"commit {row['git_commit'] or 'unknown'}{' with local changes' if row['git_dirty'] else ''}, {row['engines']}"
        for row in data.origins
    ]
    axes = [
        f"{' + '.join(axis['names'])}: {', '.join(map(shown, _flat(axis['values'])))}" for axis in data.resolved["axes"]
    ]
    return {
        "Grid": "; ".join(axes) + (f"; where {data.resolved['where']}" if data.resolved["where"] else ""),
        "Plans": " | ".join(rows),
        "Detectors": ", ".join(f"{detector.name} version {detector.version}" for detector in detectors),
        "Recorded": ", ".join([data.resolved["recording"]["steps"], *data.resolved["recording"]["also"]]),
        "Written by": f"swingby {__version__}",
    }


def _flat(values: Sequence[Sequence[Any]]) -> list[Any]:
    return [value[0] if len(value) == 1 else list(value) for value in values]


def _interactive(made: Made) -> dict[str, Any]:
    """What the page's script needs to show the curves of a point."""
    data, grid = made.data, made.data.grid
    last = max((int(curve.step[-1]) for curve in data.curves.values()), default=1)
    axes = [(grid.x.name, map(plain, grid.x.values))]
    axes.append(("", iter(("",))) if grid.y is None else (grid.y.name, map(plain, grid.y.values)))
    axes.append(("panel", iter(grid.facets)))
    return {
        "panel": {
            "figure": made.main.slug,
            "losses": loss_panel(last, top_of(data)).to_dict(),
            "path": None if data.plane is None else trajectory_panel(data.plane, made.plane_range).to_dict(),
            "names": [OOD_LOSS, TRAINING_LOSS],
            "first": next(iter(made.examples)),
        },
        "grid": [{"name": name, "values": list(values)} for name, values in axes],
        "points": _points(data),
        "curves": packed(data.curves),
    }


def _points(data: ReportData) -> dict[str, Any]:
    """Of every point: where it stands, what it is called, and its number in words."""
    text = _texts(data)
    found = {}
    for point, place in data.grid.places.items():
        n = data.curves[point].n if point in data.curves else 0
        found[str(point)] = {
            "place": place,
            "label": data.grid.label(point),
            "text": text.get(point, "no result"),
            "note": f"Median and 10 % to 90 % band over {words.plural(n, 'seed')}; dots at equal times.",
        }
    return found


def _texts(data: ReportData) -> dict[int, str]:
    name = spoken(data.outcome)
    if data.kind == "yes_no":
        return {share.point: f"{name}: {words.told(share)}" for share in phases.shares(data.cells, data.outcome)}
    if data.kind == "category":
        order = phases.categories(data.cells, data.outcome)
        return {row.point: f"{name}: {row.counts}" for row in phases.most_common(data.cells, data.outcome, order)}
    return {row.point: f"{name}{unit(data.outcome)}: {told(row)}" for row in phases.spreads(data.cells, data.outcome)}
