"""Tables of benchmarks: what each is called, its columns, and what measures its rows; and their printing."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from swingby.model import registry
from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Recording
from tests.support import cells

RATES = ("what", "cells", "plain loop, cells/s", "engine, cells/s", "ratio")
"""Columns of rows that `rates` measures."""


@dataclass(frozen=True)
class Benchmark:
    """One table.

    Attributes:
        title, columns: its heads.
        rows: measures them; fewer shapes and cells, and one repeat, where its argument is true.
    """

    title: str
    columns: Sequence[str]
    rows: Callable[[bool], list[tuple[str, ...]]]


def show(console: Console, tables: Sequence[Benchmark], quick: bool) -> None:
    """Measure and print tables, one after the other."""
    for table in tables:
        draw(console, table.title, table.columns, table.rows(quick))


def draw(console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print one table of measured rows."""
    drawn = Table(*columns, title=title, title_justify="left")
    for row in rows:
        drawn.add_row(*row)
    console.print(drawn)


def alone(tables: Sequence[Benchmark]) -> None:
    """Print the tables of one module, which is run by itself; their small form with --quick."""
    arguments = argparse.ArgumentParser(description=tables[0].title)
    add_quick(arguments)
    show(Console(width=190), tables, arguments.parse_args().quick)


@dataclass(frozen=True)
class Case:
    """Cells of one point, for an engine and for a plain loop.

    Attributes:
        name: of the row.
        experiment, values: of the point.
        cells: how many seeds a batch has.
        plain: what a plain loop does for one of them.
        plain_cells: for how many of them it does so.
    """

    name: str
    experiment: str
    values: Mapping[str, Any]
    cells: int
    plain: Callable[[Cell], object]
    plain_cells: int = 1


def rates(cases: Sequence[Case], quick: bool, points: int = 200) -> list[tuple[str, ...]]:
    """A row a case: cells a second of CPU time by the plain loop and by the engine, median of three turns (one with
    `quick`)."""
    recording, rows = Recording(points=points), []
    for case in cases:
        seeds = range(case.cells // 10 if quick else case.cells)
        batch = [cells.cell(case.experiment, seed, **case.values) for seed in seeds]
        run(batch[:2], recording)  # compiles
        case.plain(batch[0])
        plain, engine = list[float](), list[float]()
        for _ in range(1 if quick else 3):
            plain.append(seconds(lambda case=case, batch=batch: [*map(case.plain, batch[: case.plain_cells])]))
            engine.append(seconds(lambda batch=batch: run(batch, recording)))
        loop, own = case.plain_cells / statistics.median(plain), len(batch) / statistics.median(engine)
        rows.append((case.name, f"{len(batch):,}", f"{loop:,.3g}", f"{own:,.3g}", f"{own / loop:,.0f} x"))
    return rows


def run(batch: Sequence[Cell], recording: Recording) -> None:
    """Trains a batch; its tables are made, and left."""
    list(registry.experiment(batch[0].point.experiment).run(Batch(tuple(batch), recording)))


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    began = time.process_time()
    work()
    return time.process_time() - began


def add_quick(arguments: argparse.ArgumentParser) -> None:
    """The option --quick."""
    arguments.add_argument("--quick", action="store_true", help="fewer shapes and cells, one repeat")
