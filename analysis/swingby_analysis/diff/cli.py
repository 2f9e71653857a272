"""The verb `diff` of the command."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swingby.cli.console import ANYWHERE, DEFAULT_DATA, LOOK, DataFolder, give, out, panel, say, table, tell
from swingby.errors import SwingbyError

if TYPE_CHECKING:
    from swingby_analysis.diff.comparison import Diff

NOT_SAME = 1
"""The exit code of --same where cells differ."""


class Format(StrEnum):
    """The formats of the printed comparison."""

    table = "table"
    csv = "csv"
    json = "json"


class Rows(StrEnum):
    """The parts of the comparison that can be printed alone."""

    all = "all"
    shares = "shares"
    curves = "curves"
    cells = "cells"


@panel(LOOK)
def diff(
    a: Annotated[
        str, typer.Argument(help="A sweep's name, its id (or the first digits), or a sweep file.", show_default=False)
    ],
    b: Annotated[
        str | None, typer.Argument(help="The other sweep; default: A, looked up in --other-data.", show_default=False)
    ] = None,
    data: DataFolder = DEFAULT_DATA,
    other_data: Annotated[
        Path | None, typer.Option(help="The data folder of B; default: that of A.", **ANYWHERE)
    ] = None,
    format: Annotated[Format, typer.Option(help="How the comparison is printed.")] = Format.table,  # noqa: A002
    rows: Annotated[
        Rows,
        typer.Option(
            help="What is printed: shares (at every point), curves (over all cells), cells. CSV takes one of them."
        ),
    ] = Rows.all,
    folder: Annotated[
        Path, typer.Option("--out", help="The folder in which the page gets a folder of its own.")
    ] = Path("out"),
    page: Annotated[bool, typer.Option("--page/--no-page", help="Whether to write the page, or only to print.")] = True,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Write each figure as PNG, SVG and PDF too.")
    ] = False,
    worst: Annotated[int, typer.Option(min=1, help="How many of the cells that lie farthest apart are shown.")] = 10,
    every: Annotated[
        bool, typer.Option("--all", help="Print the outcomes, curves and scalars that are equal, too.")
    ] = False,
    same: Annotated[
        bool, typer.Option("--same", help="Exit code 1 unless every cell compared is bit for bit the same.")
    ] = False,
) -> None:
    """Compares two sweeps, or one before and after a change of the code: cell by cell, and by how the runs ended.

    Cells belong together where all parameters that vary have the same values, and the seed is the same. Prints the
    largest difference of every curve and where it is, and the shares of every outcome with intervals and a corrected
    test. Of a sweep that still runs, the finished cells are compared. Also writes a page that shows the differences
    over the grid, and prints its path.

    Example:

        swingby diff transient-memorization --data data --other-data data-before --same
    """
    from swingby_analysis.diff.comparison import compared
    from swingby_analysis.diff.page import write_page
    from swingby_analysis.page.pictures import KINDS

    if b is None and other_data is None:
        raise SwingbyError("name two sweeps, or one sweep and --other-data: a second data folder that has it")
    if format is Format.csv and rows is Rows.all:
        raise SwingbyError("--format csv prints one table: add --rows shares, --rows curves or --rows cells")
    with compared(a, a if b is None else b, data, other_data) as comparison:
        for text in (text for side in comparison.sides for text in side.warnings):
            tell(f"warning: {text}")
        _print(comparison, format, rows, worst, every)
        if page:
            path = write_page(comparison, folder, worst, KINDS if pictures else ())
            (say if format is Format.table else tell)(str(path))
        if same and not comparison.same:
            raise typer.Exit(NOT_SAME)


def _print(comparison: Diff, form: Format, rows: Rows, worst: int, every: bool) -> None:
    from swingby.cli.rows import Format as Written
    from swingby.cli.rows import write_rows
    from swingby_analysis.diff import summary, tables

    if rows is not Rows.all:
        write_rows(tables.rows_of(comparison, rows.value), Written(form.value), None)
    elif form is Format.json:
        give(json.dumps(tables.document(comparison, worst), indent=1, default=str))
    else:
        for side in comparison.sides:
            say(f"{side.title} in {side.data}")
        say()
        for sentence in summary.sentences(comparison):
            say(f"- {sentence}")
        for shown in tables.tables(comparison, worst, worst, every):
            say()
            out.print(shown.heading, style="bold", markup=False)
            if shown.rows:
                table(shown.columns, shown.rows, in_lines=True)
            if shown.rest:
                say(f"and {shown.rest}" if shown.rows else shown.rest)
        say()
