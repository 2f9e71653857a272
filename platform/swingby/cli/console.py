"""What every verb prints with: results to standard output, everything else to standard error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

DataFolder = Annotated[
    Path, typer.Option("--data", envvar="SWINGBY_DATA", help="The folder that holds plans, shards and the store.")
]
DEFAULT_DATA = Path("data")


def complain(message: str) -> None:
    """An error for the user, without a traceback; the text is data, never markup."""
    err.print("error: ", style="bold red", end="")
    err.print(message, markup=False)


def say(message: str = "") -> None:
    """A line for the reader of the terminal."""
    out.print(message, markup=False)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str | None = None) -> None:
    """A plain table; cells are text, never markup."""
    from rich.text import Text

    drawn = Table(title=title, title_justify="left", show_edge=False, pad_edge=False)
    for name in columns:
        drawn.add_column(name, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text("" if value is None else str(value)) for value in row))
    out.print(drawn)
