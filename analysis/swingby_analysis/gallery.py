"""The gallery: every figure of a set of named sweeps, trained where need be, each with its report, on one page."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swingby.data.files import utc_now, write_whole
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep, named_sweeps
from swingby.units import duration
from swingby_analysis.page import Block, Link, Page, Picture, Section, Several, Text
from swingby_analysis.page.html import html
from swingby_analysis.page.pictures import png
from swingby_analysis.report import Report, write_report
from swingby_analysis.report.prose import plural
from swingby_analysis.train import train

PREFIX = "figure-"
PAGE = "figures.html"
THUMBNAIL = 0.75
"""Pixels for each pixel of the figure."""
_IGNORED = (signal.SIGINT, signal.SIG_IGN)
"""Ctrl-C is for the process that leads."""
Say = Callable[[str], None]


@dataclass(frozen=True)
class Shown:
    """One sweep on the page: its report, and each figure's picture (PNG)."""

    report: Report
    pictures: Sequence[bytes]
    seconds: float


def figure_names(asked: Sequence[str], experiment: str) -> list[str]:
    """The named sweeps over an experiment that are called `figure-...`, or those asked for (by name or by its end).

    Raises:
        SwingbyError: no such figure; with the nearest one.
    """
    figures = (name for name in named_sweeps() if name.startswith(PREFIX))
    known = sorted((name for name in figures if _over(name) == experiment), key=_natural)
    wanted = [name if name.startswith(PREFIX) else PREFIX + name for name in asked]
    for name in wanted:
        if name not in known:
            raise SwingbyError(f"no figure is called {name!r}; {registry.nearest(name, known)}")
    return list(dict.fromkeys(wanted)) or known


def _over(name: str) -> str:
    return Sweep.load(name, confirm_above=None).experiment_name


def _natural(name: str) -> tuple[int, str]:
    """Figures in the order of their numbers: 2a, 2b, 3, ..., 10."""
    text = name.removeprefix(PREFIX)
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    return (int(digits) if digits.isdecimal() else 0, text)


def write_gallery(
    names: Sequence[str],
    data: Path,
    out: Path,
    *,
    overrides: Sequence[str] = (),
    run: Sequence[str] | None = (),
    kinds: Collection[str] = (),
    title: str = "Figures",
    lead: str = "",
    say: Say = lambda text: None,
) -> Path:
    """Trains what the sweeps lack, writes the report of each into `out`, and a page with all of them; gives its path.

    Args:
        names: named sweeps; see `figure_names`.
        overrides: laid over every sweep, such as "seeds.count=3".
        run: further options of `swingby run`; None: train nothing, and draw what there is.
        kinds: which of png, svg and pdf to write beside each report.
        title, lead: of the page.
        say: told what goes on.

    Raises:
        SwingbyError: a sweep cannot be trained or drawn (says which), or the disk refuses.
    """
    began = time.monotonic()
    sweeps = [Sweep.load(name, overrides) for name in names]
    if run is not None:
        train(names, data, overrides, run)
        say(f"every sweep is trained ({duration(time.monotonic() - began)})")
    _all_known(sweeps, data, overrides)
    trained = time.monotonic() - began
    shown = _drawn(sweeps, data, out, kinds, say)
    took = f"Training took {duration(trained)} and drawing {duration(time.monotonic() - began - trained)}."
    page = out.expanduser().absolute() / PAGE
    text = html(_page(sweeps, shown, title, lead, took))
    write_whole(page, lambda path: path.write_text(text, encoding="utf-8"))
    return page


def _all_known(sweeps: Sequence[Sweep], data: Path, overrides: Sequence[str]) -> None:
    """Every one of these very sweeps is in the store."""
    with Store.open(data) as store:
        known = {row.sweep_id for row in store.sql("select sweep_id from sweeps").rows()}
    lacking = [sweep.name for sweep in sweeps if sweep.sweep_id not in known]
    if lacking:
        asked = "".join(f" --set {override}" for override in overrides)
        raise SwingbyError(
            f"not run here yet: {', '.join(lacking)}; train with: swingby figures {' '.join(lacking)}{asked}"
        )


def _drawn(sweeps: Sequence[Sweep], data: Path, out: Path, kinds: Collection[str], say: Say) -> list[Shown]:
    """The reports, as many at once as there are cores: compiling figures takes most of the time."""
    tasks = [(sweep.sweep_id, sweep.name, data, out, tuple(kinds), sweep.presentation) for sweep in sweeps]
    workers = min(len(tasks), len(os.sched_getaffinity(0)))
    say(f"drawing {plural(len(tasks), 'report')} ...")
    found = []
    # A fresh process each: what a fork copies of DuckDB's and Arrow's threads is not usable.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), signal.signal, _IGNORED)
    try:
        for sweep, shown in zip(sweeps, pool.map(_one, tasks), strict=True):
            found.append(shown)
            told = f"{plural(len(shown.pictures), 'figure')}, {duration(shown.seconds)}"
            say(f"[{len(found)} of {len(tasks)}] {sweep.name}: {told}")
            for fault in shown.report.faults:
                say(f"warning: {sweep.name}: {fault}")
    except KeyboardInterrupt:
        raise SwingbyError("stopped while drawing; what is trained is kept, and the same command goes on") from None
    finally:
        pool.shutdown(cancel_futures=True)
    return found


def _one(task: tuple[str, str, Path, Path, tuple[str, ...], Mapping[str, Any]]) -> Shown:
    sweep_id, name, data, out, kinds, presentation = task
    began = time.monotonic()
    try:
        report = write_report(sweep_id, data, out, kinds, presentation=presentation)
    except SwingbyError as error:
        raise SwingbyError(f"{name}: {error}") from None
    pictures = [png(figure, THUMBNAIL) for figure in report.figures]
    return Shown(report, pictures, time.monotonic() - began)


def _page(sweeps: Sequence[Sweep], shown: Sequence[Shown], title: str, lead: str, took: str) -> Page:
    written = utc_now()[:16].replace("T", " ") + " UTC"
    return Page(
        kind="figures",
        title=title,
        lead=lead,
        byline=f"Written {written}. {took}",
        sections=[_section(sweep, one) for sweep, one in zip(sweeps, shown, strict=True)],
    )


def _section(sweep: Sweep, shown: Shown) -> Section:
    """One sweep: its warnings, its figures, each with the way to the report, and its size."""
    report = f"{shown.report.name}/{shown.report.page.name}"
    warnings = [Text(text, "warning") for text in (*shown.report.faults, *shown.report.warnings)]
    figures = [
        Picture(figure.slug, image, figure.title, figure.title, f"{report}#{figure.slug}")
        for figure, image in zip(shown.report.figures, shown.pictures, strict=True)
    ]
    size = f"{plural(len(sweep.points), 'point')}, {plural(len(sweep.seeds), 'seed')} each"
    size += ". How to read each figure, its SQL and its files: "
    blocks: list[Block] = [*warnings, Text(" ".join((sweep.description or "").split())), *figures]
    blocks.append(Text(Several([size, Link("the report", report), "."]), "byline"))
    return Section(sweep.name, sweep.title or sweep.name, blocks, contents=sweep.name, link=report)
