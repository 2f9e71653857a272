"""The verbs that read results and keep the store: sql, export, ingest, rebuild."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, complain, err, say
from swingby.cli.rows import Format, write_file, write_rows
from swingby.errors import SwingbyError
from swingby.units import duration

if TYPE_CHECKING:  # imported where they are used: every verb, and --help, begins with this module
    from swingby.store import Taken

BAD_FILES = 2


def sql(
    query: Annotated[
        str | None,
        typer.Argument(
            help="One SELECT; without it, or with '-', it is read from a pipe, or a terminal has a prompt.",
            show_default=False,
        ),
    ] = None,
    data: DataFolder = DEFAULT_DATA,
    format: Annotated[Format, typer.Option(help="The format of the rows.")] = Format.table,  # noqa: A002
    out: Annotated[Path | None, typer.Option(help="A file to write instead of standard output.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="The most rows that are printed or written.")] = 1_000_000,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds until the query is killed.")] = 30.0,
    memory: Annotated[str, typer.Option(help="Memory the query may use.")] = "2GB",
    sweep: Annotated[
        str | None,
        typer.Option(help="Read the cells of this sweep (name, id or file) as it recorded them.", show_default=False),
    ] = None,
) -> None:
    """Runs one SQL query over all results, read-only and sandboxed; works while a sweep runs.

    On a terminal, without a query, it is a prompt with a history: each query ends with a semicolon.

    Example:

        swingby sql "select name, experiment, cells from sweeps order by created"

    The tables: EXPERIMENT (a row for each cell: parameters, scalars, curves as lists), EXPERIMENT`_points` (a row for
    each recorded step), `outcomes_`DETECTOR, `outcomes_of_`EXPERIMENT (outcomes that sweep files write), `sweeps`,
    `members`, `plans`, `shards`; `show tables` lists them.

    A cell that was recorded in several ways has a result for each. A table shows the finest; a query that names a
    sweep's id, or `--sweep`, reads what that sweep recorded.
    """
    from swingby.data.arrow import arrow_without

    arrow_without("numpy", "pandas")  # rows are only written here, and both take longer to import than a query takes
    from swingby import sandbox

    as_sweeps: tuple[str, ...] = ()
    if sweep is not None:
        from swingby.store import Store
        from swingby.store.lookup import find_sweep

        with Store.open(data) as store:
            as_sweeps = (find_sweep(store, sweep).sweep_id,)

    def answer(text: str) -> None:
        rows = sandbox.query(data, text, limit_rows=limit, timeout=timeout, memory=memory, read_as=as_sweeps)
        if (rows.schema.metadata or {}).get(b"cut") == b"true":
            err.print(f"cut at {limit:,} rows; --limit raises this", markup=False)
        write_rows(rows, format, out)

    if query is None and sys.stdin.isatty():
        if out is not None or not sys.stdout.isatty():
            raise SwingbyError('no query: write swingby sql "select ..."; the prompt answers on a terminal only')
        from swingby.cli.prompt import typed

        for text in typed():
            try:
                answer(text)
            except SwingbyError as error:
                complain(str(error))
        return
    text = sys.stdin.read() if query in (None, "-") else query
    if not text.strip():
        raise SwingbyError('no query: write swingby sql "select ...", or send one through a pipe')
    answer(text)


def export(
    sweep: Annotated[str, typer.Argument(help="A sweep's name, id or file.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The file; its ending sets the format: .parquet .csv .json")],
    data: DataFolder = DEFAULT_DATA,
    points: Annotated[
        bool, typer.Option("--points", help="A row for each recorded step instead of one for each cell.")
    ] = False,
) -> None:
    """Writes the results of one sweep to a file: parameters, scalars, curves and outcomes.

    Example:

        swingby export transient-memorization --out results.parquet
    """
    from swingby.store.lookup import sweep_stream

    endings = {f".{form.value}": form for form in Format if form is not Format.table}
    if out.suffix not in endings:
        raise SwingbyError(f"--out {out}: the ending says the format; allowed: {', '.join(endings)}")
    with sweep_stream(data, sweep, points) as tables:
        write_file(tables, endings[out.suffix], out)


def ingest(data: DataFolder = DEFAULT_DATA) -> None:
    """Ingests every new file of the data folder into the store, and publishes the store.

    A run does this while it trains. Use it after files were copied in, or after a driver was killed. A store whose
    files are damaged is made again from the records, which is told on standard error.
    Exit code 2: some files are torn or foreign; they are named and left out, and all others are ingested.

    Example:

        swingby ingest --data data
    """
    from swingby.data.records import Records
    from swingby.store import ingest as ingest_records

    _say_taken(ingest_records(Records.open(data, create=False)))


def rebuild(data: DataFolder = DEFAULT_DATA) -> None:
    """Builds the store again from the records; the old store is readable until the new one is whole.

    Exit code 2: some files are torn or foreign; they are named and left out, and all others are ingested.

    Example:

        swingby rebuild --data data
    """
    from swingby.data.records import Records
    from swingby.store import rebuild as rebuild_store

    _say_taken(rebuild_store(Records.open(data, create=False)))


def _say_taken(taken: Taken) -> None:
    """Prints what an ingest took in, and complains about files that it left out."""
    if taken.upgrade:
        say(taken.upgrade)
    retractions = f"{taken.retractions} retractions, " if taken.retractions else ""
    say(
        f"took in {taken.plans} plans, {retractions}{taken.shards} shards with {taken.rows:,} rows, "
        f"{taken.derived} derived files in {duration(taken.seconds)}"
    )
    for name, reason in taken.bad:
        complain(f"left out {name}: {reason}")
    if taken.bad:
        raise typer.Exit(BAD_FILES)
