"""Tables of benchmarks: what each is called, its columns, and what measures its rows; and their printing."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


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


def add_quick(arguments: argparse.ArgumentParser) -> None:
    """The option --quick."""
    arguments.add_argument("--quick", action="store_true", help="fewer shapes and cells, one repeat")
