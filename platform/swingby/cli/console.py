"""Printing of every verb: results to standard output, everything else to standard error, and no text that steers a
terminal.

Names and messages come from sweep files, shards and databases of anybody. What is printed through `out` and `err` is
made legible first; data for a pipe or a file (`give`) stays as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any, Literal, TypeVar

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from swingby.data.remote.address import MARK, is_address
from swingby.text import fitted, legible


class Legible(Console):
    """A console that prints texts without what steers a terminal."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(legible(item) if isinstance(item, str) else item for item in objects), **options)


Verb = TypeVar("Verb", bound=Callable[..., Any])

out = Legible(highlight=False, soft_wrap=True)
err = Legible(stderr=True, highlight=False, soft_wrap=True)

MARKS = {"ok": ("ok   ", "green"), "warn": ("warn ", "yellow"), "fault": ("FAULT", "bold red")}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: its subject, the verdict with its reason, what to do about a fault, and its group."""

    subject: str
    verdict: Literal["ok", "warn", "fault"]
    detail: str
    remedy: str = ""
    group: str = ""

    def show(self) -> None:
        """Prints the verdict and the detail on a line, and what to do about a fault on the next."""
        mark, style = MARKS[self.verdict]
        out.print(mark, style=style, end=" ")
        line = fitted(f"{mark} {self.subject}: {self.detail}", out.file, len(mark) + 1)
        out.print(line[len(mark) + 1 :], markup=False)
        if self.remedy and self.verdict != "ok":
            say(f"      -> {self.remedy}")


def _place(data: str | Path) -> Path:
    from swingby.data.folder import place_of

    return place_of(data) if is_address(str(data)) else Path(data)


def _fetched(data: Path | None) -> Path | None:
    """The folder; where it stands for an address of object storage, after what is new there was fetched."""
    if data is not None and (data / MARK).exists():
        from swingby.store.remote_ingest import fetch_and_ingest

        fetch_and_ingest(data, tell)
    return data


ANYWHERE: dict[str, Any] = {"metavar": "FOLDER", "parser": _place, "callback": _fetched}
"""Settings of a parameter that names a data folder, or an address: the verb gets the folder that stands for it."""
DataFolder = Annotated[
    Path,
    typer.Option(
        "--data",
        envvar="SWINGBY_DATA",
        help="The folder that holds plans, shards and the store; or s3://bucket/prefix.",
        **ANYWHERE,
    ),
]
DEFAULT_DATA = Path("data")
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Override one value, e.g. seeds.count=3 or base.n=500; repeatable."
    ),
]
RUN, LOOK, KEEP, PAPERS = "Run", "Look", "Keep", "Papers"
"""The groups of verbs in the help of the command."""
READABLE = 10
"""The fewest characters that a column of a table may be folded to."""


def panel(name: str) -> Callable[[Verb], Verb]:
    """Puts a verb into a group of the command's help."""

    def put(verb: Verb) -> Verb:
        verb.help_panel = name  # type: ignore[attr-defined]
        return verb

    return put


def sweep_names(incomplete: str) -> list[str]:
    """Completions of a sweep: named sweeps, and sweep files and folders that are there."""
    from swingby.model import package_files

    with redirect_stderr(StringIO()):  # a shell would show it amid the line that is being typed
        names = [file.name.removesuffix(".yaml") for file in package_files.data_files("sweeps", ".yaml")]
    before, slash, begun = incomplete.rpartition("/")
    folder = Path(before + slash or ".")
    there = sorted(path for path in folder.iterdir() if path.name.startswith(begun)) if folder.is_dir() else []
    files = [path.name for path in there if path.suffix in (".yaml", ".yml")]
    files += [f"{path.name}/" for path in there if path.is_dir() and (begun or not path.name.startswith("."))]
    return [*sorted(name for name in names if name.startswith(incomplete)), *(f"{before}{slash}{one}" for one in files)]


def complain(message: str) -> None:
    """Prints an error for the user, without a traceback; the text is data, never markup."""
    begin, _, rest = fitted(f"error: {message}", err.file).partition(" ")
    err.print(f"{begin} ", style="bold red", end="")
    err.print(rest, markup=False)


def say(message: str = "", hang: int = 4) -> None:
    """Prints a line of results; on a terminal it is broken at spaces to fit, its rest indented by `hang` more."""
    out.print(fitted(message, out.file, hang), markup=False)


def tell(message: str) -> None:
    """Prints a line about what goes on, beside the results."""
    err.print(fitted(message, err.file), markup=False)


def give(data: str) -> None:
    """Prints data in a text format: as it is into a pipe or a file, legible on a terminal."""
    if out.is_terminal:
        out.print(data, markup=False)
    else:
        sys.stdout.write(f"{data}\n")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], in_lines: bool = False, cut: bool = False) -> None:
    """Prints a plain table; cells are text, never markup.

    On a terminal (or where COLUMNS is set) it keeps to the width: a table whose columns would have to be folded beyond
    reading is printed as a block for each row, with a line for each column. Into a pipe or a file it is as wide as it
    needs.

    Args:
        in_lines: a table that does not fit is printed as a paragraph a row, which takes fewer lines than a block.
        cut: the first column of a table that does not fit is cut, and each row has one line.
    """
    columns = list(map(legible, columns))
    texts = [["" if value is None else legible(value) for value in row] for row in rows]
    widest = [max(map(len, column)) for column in zip(columns, *texts, strict=True)]
    gaps = 3 * (len(columns) - 1)
    if not (out.is_terminal or "COLUMNS" in os.environ):
        Console(highlight=False, width=max(out.width, sum(widest) + gaps)).print(_drawn(columns, texts))
    elif cut:
        room = max(READABLE, out.width - sum(widest[1:]) - gaps)
        short = [f"{row[0][: room - 1]}…" if len(row[0]) > room else row[0] for row in texts]
        out.print(_drawn(columns, [[first, *row[1:]] for first, row in zip(short, texts, strict=True)]))
    elif in_lines and sum(widest) + gaps > out.width:
        for row in texts:
            named = "; ".join(f"{name} {text}" for name, text in zip(columns[1:], row[1:], strict=True) if text)
            lines = [line for part in f"{row[0]}: {named}".splitlines() for line in wrap(part, max(out.width - 4, 20))]
            say("\n    ".join(lines))
    elif sum(min(width, READABLE) for width in widest) + gaps <= out.width:
        out.print(_drawn(columns, texts))
    else:
        margin = max(map(len, columns))
        for index, row in enumerate(texts):
            if index:
                say()
            for name, text in zip(columns, row, strict=True):
                # A line of a value never looks like another column.
                indented = text.replace("\n", "\n" + " " * (margin + 2))
                say(f"{name:<{margin}}  {indented}".rstrip(), margin + 2)


def _drawn(columns: Sequence[str], texts: Sequence[Sequence[str]]) -> Table:
    drawn = Table(show_edge=False, pad_edge=False)
    for name in columns:
        drawn.add_column(Text(name), overflow="fold")
    for row in texts:
        drawn.add_row(*map(Text, row))
    return drawn
