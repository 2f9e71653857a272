"""The gallery: one page with the figures of several named sweeps and their reports; missing cells are trained first."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swingby.data.files import write_whole
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep, experiment_of, named_sweeps
from swingby.units import duration
from swingby_analysis.page import Block, Link, Page, Picture, Section, Text, written
from swingby_analysis.page.html import html
from swingby_analysis.page.pictures import png
from swingby_analysis.report import Report, write_report
from swingby_analysis.report.prose import plural
from swingby_analysis.train import train

PREFIX = "figure-"
FOLDER = "figures"
"""The folder below a package's `sweeps` that holds the sweeps of figures and tables of its source."""
PAGE = "figures.html"
THUMBNAIL = 0.75
"""Pixels for each pixel of the figure."""
Say = Callable[[str], None]


@dataclass(frozen=True)
class Shown:
    """One sweep of the page: its report, the picture (PNG) of each figure, and the seconds that drawing took."""

    report: Report
    pictures: Sequence[bytes]
    seconds: float


def known_figures() -> dict[str, str]:
    """Every figure, a named sweep in a folder `figures`, with its experiment; sorted by experiment and number."""
    files = {name: file for name, file in named_sweeps().items() if Path(str(file)).parent.name == FOLDER}
    experiments = {name: experiment_of(file) for name, file in files.items()}
    return dict(sorted(experiments.items(), key=lambda item: (item[1], _number_and_name(item[0]))))


def figure_names(words: Sequence[str]) -> list[str]:
    """The figures that words ask for, each once, in the order of the words.

    Args:
        words: an experiment stands for all its figures; of `figure-3a` the `figure-` may be left out.

    Raises:
        SwingbyError: a word is neither an experiment with figures nor a figure; names the nearest one.
    """
    known, names = known_figures(), list[str]()
    experiments = sorted(set(known.values()))
    for word in words:
        name = word if word in known else PREFIX + word
        if name not in known and word not in experiments:
            near = registry.nearest_offered(word if word.startswith(PREFIX) else name, list(known))
            raise SwingbyError(f"no figure is called {word!r}; {near}; or an experiment: {', '.join(experiments)}")
        names += [figure for figure, experiment in known.items() if experiment == word] or [name]
    return list(dict.fromkeys(names))


def _number_and_name(name: str) -> tuple[bool, list[tuple[int, str]]]:
    """The key that sorts figures before tables, and by their numbers: 2a, 2b, 3, ..., 10."""
    parts = re.findall(r"(\d*)(\D*)", name.removeprefix(PREFIX))
    return not name.startswith(PREFIX), [(int(number or 0), text) for number, text in parts]


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
    """Trains missing cells, writes the report of each sweep into `out`, and one page with all; returns the page's path.

    Args:
        names: named sweeps; see `figure_names`.
        overrides: settings for every sweep, such as "seeds.count=3".
        run: further options of `swingby run`; None: train nothing and draw what is there.
        kinds: which of png, svg and pdf to write beside each report.
        title, lead: of the page.
        say: called with lines of progress.

    Raises:
        SwingbyError: a sweep cannot be trained or drawn (names it), or the disk refuses.
    """
    began = time.monotonic()
    sweeps = [Sweep.load(name, overrides) for name in names]
    if run is not None:
        train(names, data, overrides, run)
        say(f"every sweep is trained ({duration(time.monotonic() - began)})")
    with Store.open(data) as store:
        known = {row.sweep_id for row in store.sql("select sweep_id from sweeps").rows()}
    if unknown := [sweep.name for sweep in sweeps if sweep.sweep_id not in known]:
        options = "".join(f" --set {override}" for override in overrides)
        names_of = " ".join(unknown)
        raise SwingbyError(f"not run here yet: {', '.join(unknown)}; train with: swingby figures {names_of}{options}")
    trained = time.monotonic() - began
    shown = _draw(sweeps, data, out, kinds, say)
    timing = f"Training took {duration(trained)} and drawing {duration(time.monotonic() - began - trained)}."
    content = Page(
        kind="figures",
        title=title,
        lead=lead,
        byline=f"{written()} {timing}",
        sections=[_section(sweep, one) for sweep, one in zip(sweeps, shown, strict=True)],
    )
    page = out.expanduser().absolute() / PAGE
    text = html(content)
    write_whole(page, lambda path: path.write_text(text, encoding="utf-8"))
    return page


def _draw(sweeps: Sequence[Sweep], data: Path, out: Path, kinds: Collection[str], say: Say) -> list[Shown]:
    """Draws the reports, as many at once as there are cores: compiling figures takes most of the time."""
    tasks = [(sweep.sweep_id, sweep.name, data, out, tuple(kinds), sweep.presentation) for sweep in sweeps]
    workers = min(len(tasks), len(os.sched_getaffinity(0)))
    say(f"drawing {plural(len(tasks), 'report')} ...")
    reports = []
    # Spawned, not forked: what a fork copies of DuckDB's and Arrow's threads is not usable. Ctrl-C is for this process.
    no_interrupt = (signal.SIGINT, signal.SIG_IGN)
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), signal.signal, no_interrupt)
    try:
        for sweep, shown in zip(sweeps, pool.map(_draw_one, tasks), strict=True):
            reports.append(shown)
            size = f"{plural(len(shown.pictures), 'figure')}, {duration(shown.seconds)}"
            say(f"[{len(reports)} of {len(tasks)}] {sweep.name}: {size}")
            for fault in shown.report.faults:
                say(f"warning: {sweep.name}: {fault}")
    except KeyboardInterrupt:
        raise SwingbyError("stopped while drawing; what is trained is kept, and the same command goes on") from None
    finally:
        pool.shutdown(cancel_futures=True)
    return reports


def _draw_one(task: tuple[str, str, Path, Path, tuple[str, ...], Mapping[str, Any]]) -> Shown:
    sweep_id, name, data, out, kinds, presentation = task
    began = time.monotonic()
    try:
        report = write_report(sweep_id, data, out, kinds, presentation=presentation)
    except SwingbyError as error:
        raise SwingbyError(f"{name}: {error}") from None
    pictures = [png(figure, THUMBNAIL) for figure in report.figures]
    return Shown(report, pictures, time.monotonic() - began)


def _section(sweep: Sweep, shown: Shown) -> Section:
    """The section of one sweep: warnings, description, figures linked with the report, and the size of the sweep."""
    report = f"{shown.report.name}/{shown.report.page.name}"
    warnings = [Text(text, "warning") for text in (*shown.report.faults, *shown.report.warnings)]
    figures = [
        Picture(figure.slug, image, figure.title, figure.title, f"{report}#{figure.slug}")
        for figure, image in zip(shown.report.figures, shown.pictures, strict=True)
    ]
    size = f"{plural(len(sweep.points), 'point')}, {plural(len(sweep.seeds), 'seed')} each"
    size += ". How to read each figure, its SQL and its files: "
    blocks: list[Block] = [*warnings, Text(" ".join((sweep.description or "").split())), *figures]
    blocks.append(Text([size, Link("the report", report), "."], "byline"))
    return Section(sweep.name, sweep.title or sweep.name, blocks, contents=sweep.name, link=report)
