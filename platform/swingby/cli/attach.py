"""The verb attach: how the DuckDB client, Python or polars read the published store, while a sweep runs too."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder
from swingby.store.attach import Reader


def attach(
    data: DataFolder = DEFAULT_DATA,
    reader: Annotated[Reader, typer.Option("--for", help="The program that reads.")] = Reader.duckdb,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="A new folder that keeps this generation, and attach.sql, for good."),
    ] = None,
    comments: Annotated[
        bool | None,
        typer.Option(
            help="Have DuckDB's catalogue say what tables and columns mean; for DuckDB's client where nothing is said."
        ),
    ] = None,
) -> None:
    """Prints what another program runs to read the newest published results, read-only, also during a run.

    Any number of programs may read at once. Each publication makes new files, and those of the last two stay; a program
    that has older ones open keeps them. `--keep` links the files into a folder of yours, which takes no room on the
    same disk.

    Example:

        swingby attach --data data

    In a shell: `swingby attach > now.sql && duckdb -init now.sql`; in a notebook, paste what
    `swingby attach --for polars` prints. Comments say what each column means: `select column_name, comment from
    duckdb_columns() where table_name = 'sweeps'`.
    """
    from swingby.store import attach

    with_comments = reader is Reader.duckdb if comments is None else comments  # in a notebook they are many lines
    text = (
        attach.attach(data, reader, with_comments) if keep is None else attach.keep(data, keep, reader, with_comments)
    )
    if keep is not None and reader is Reader.duckdb:  # the text lies in the folder
        text = f"kept; to read it: duckdb -init {shlex.quote(str(keep / attach.ATTACH))}"
    typer.echo(text)
