"""The statements by which other programs read the store while it grows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from swingby.data.files import clear_os_errors, write_whole
from swingby.errors import SwingbyError
from swingby.store.layout import Generation, Layout

TRIES = 10
ATTACH = "attach.sql"


class Reader(StrEnum):
    """Programs that read the store."""

    duckdb = "duckdb"
    python = "python"
    polars = "polars"


def attach(data: str | Path, reader: Reader = Reader.duckdb, comments: bool = True) -> str:
    """The statements by which a reader sees the newest generation as one schema.

    The files stay until two more generations are published, and for readers that have them open.

    Args:
        comments: whether the catalogue says what tables and columns mean, as far as their experiments are installed.

    Raises:
        SwingbyError: no data folder, nothing was ever ingested there, or the store cannot be read.
    """
    from swingby.data.folder import opened

    layout = Layout(opened(data, create=False)[0])
    generation = _newest(layout)
    statements = [*layout.statements(generation, layout.paths(generation)), *_comments(layout, generation, comments)]
    return _spelled(reader, statements, generation)


def keep(data: str | Path, folder: Path, reader: Reader = Reader.duckdb, comments: bool = True) -> str:
    """Keeps the newest generation in a new folder, by links to its files (copies on another disk); returns as `attach`.

    The statements for the DuckDB client are written there too, as `attach.sql`.

    Raises:
        SwingbyError: as `attach`; the folder has something in it, or cannot be written.
    """
    from swingby.data.folder import opened

    layout = Layout(opened(data, create=False)[0])
    folder = folder.expanduser().absolute()
    with clear_os_errors(f"keep a snapshot in {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise SwingbyError(f"{folder} has something in it; give a new folder, or an empty one")
        for _ in range(TRIES):
            generation = _newest(layout)
            with suppress(FileNotFoundError):  # published again since the pointer was read
                paths = {alias: _linked(path, folder) for alias, path in layout.paths(generation).items()}
                statements = [*layout.statements(generation, paths), *_comments(layout, generation, comments)]
                script = f"{_spelled(Reader.duckdb, statements, generation)}\n"
                write_whole(folder / ATTACH, lambda temporary, script=script: temporary.write_text(script))
                return _spelled(reader, statements, generation)
            for path in folder.iterdir():
                path.unlink()
    raise SwingbyError(f"the store in {layout.root} is published faster than it can be read")


def _newest(layout: Layout) -> Generation:
    from swingby.store.database import clear_errors, connect, one_each

    generation = layout.newest()
    if generation is None:
        raise SwingbyError(f"nothing was ingested in {layout.root.parent} yet; `swingby ingest` does it")
    with clear_errors(f"read {layout.pointer}"), connect() as connection:
        one_each(connection, generation.views)
    return generation


def _comments(layout: Layout, generation: Generation, with_comments: bool) -> Sequence[str]:
    """The statements that write comments; none that are not of this generation."""
    from swingby.store.comments import comments_of

    return comments_of(layout.root.parent, generation.number) if with_comments else ()


def _linked(path: Path, folder: Path) -> Path:
    link = folder / path.name
    try:
        os.link(path, link)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(path, link)
    return link


def _spelled(reader: Reader, statements: list[str], generation: Generation) -> str:
    about = f"generation {generation.number} of the store, read-only; `show tables` lists what there is"
    if reader is Reader.duckdb:
        return "\n".join([f"-- {about}", *(f"{statement};" for statement in statements)])
    lines = [f"# {about}", "import duckdb", "", "db = duckdb.connect()", "for statement in ["]
    lines += [f"    {statement!r}," for statement in statements]
    lines += ["]:", "    db.execute(statement)"]
    ask = 'db.sql("select name, experiment, cells from sweeps")'
    return "\n".join([*lines, f"frame = {ask}.pl()" if reader is Reader.polars else f"print({ask})"])
