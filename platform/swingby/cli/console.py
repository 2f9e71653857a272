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


def duration(seconds: float) -> str:
    """Seconds as a person says them: 42 s, 3 min 20 s, 2 h 05 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size(count: float) -> str:
    """Bytes as a person says them: 340 B, 1.2 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
