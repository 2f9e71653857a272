"""Files of runs as rows of a database: DuckDB reads CSV, Parquet and JSON, and each column gets one of few kinds."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from swingby.data.files import clear_os_errors
from swingby.errors import SwingbyError
from swingby.imports.exports import Export
from swingby.sandbox.scalar import interrupted_after
from swingby.store.database import Database, FullError, OverdueError, clear_errors, connect
from swingby.store.sql import quoted

LONGEST_LINE = 16 * 2**20
"""Bytes of a line of a CSV, and of an object of JSON."""
_CSV = f"read_csv(?, sample_size = -1, null_padding = false, hive_partitioning = false, max_line_size = {LONGEST_LINE})"
_SEMICOLONS = ", delim = ';', decimal_separator = ',')"
"""The end of the call for a CSV of a spreadsheet whose language has a decimal comma."""
_JSON = (
    "read_json(?, sample_size = -1, map_inference_threshold = -1, hive_partitioning = false, "
    f"maximum_object_size = {LONGEST_LINE})"
)
READERS: Mapping[str, str] = {
    ".csv": _CSV,
    ".tsv": _CSV,
    ".parquet": "read_parquet(?, hive_partitioning = false)",
    ".json": _JSON,
    ".jsonl": _JSON,
    ".ndjson": _JSON,
}
"""The endings of files, before that of a compression, and how DuckDB reads them."""
PACKED = (".gz", ".zst")
"""Endings of compressions that DuckDB undoes."""
MEMORY = "4GB"
"""Memory that the rows of a file may take, unpacked."""
SECONDS = 900.0
"""Seconds that reading a file may take."""
MOST_COLUMNS = 5_000
"""Columns of a file."""
MOST_COUNTED = 1_000_000
"""Runs that a table of counts may have."""
ROW = "row of the file"
"""The column with the number of a row, from 1 on; the header of a CSV is not counted."""
TYPES: Mapping[str, str] = {
    "bool": "boolean", "int": "bigint", "float": "double", "str": "varchar", "vector": "double[]",
    "matrix": "double[][]",
}  # fmt: skip
"""The kinds of columns, and the types that they get."""
UNUSED = ""
"""The kind of a column that is left out."""
_INTEGERS = {"tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint", "hugeint",
             "uhugeint"}  # fmt: skip
_FLOATS = {"float", "double", "decimal"}
_TEXTS = {"varchar", "enum", "uuid"}


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column as the file has it.

    Attributes:
        name: its name; parts of nested values are joined by dots, such as config.rate.
        kind: one of `TYPES`; UNUSED for what no column of results can hold.
        value: its values in that type, as SQL over the table `source`.
        why: of an unused one, what it holds.
    """

    name: str
    kind: str
    value: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class RunsFile:
    """A file that was read: its rows are the table `source` of a database in memory.

    Attributes:
        path: as it was named.
        digest: SHA-256 of its content.
        rows: how many it has.
        columns: in the order of the file.
        export: what its columns mean, where the tool that left it is known; None: they say it by their names.
        names: of the runs, where a row is one and has a name.
        notes: what was left out before there were rows.
        title: what the runs are called together: a project, an experiment, a study; "": nothing says it.
    """

    path: Path
    digest: str
    rows: int
    columns: Sequence[FileColumn]
    database: Database
    export: Export | None = None
    names: Sequence[str] = ()
    notes: tuple[str, ...] = ()
    title: str = ""

    def ask(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a query over its tables.

        Raises:
            SwingbyError: DuckDB cannot answer it.
        """
        with clear_errors(f"import {self.path}"):
            return self.database.execute(query, list(parameters)).fetchall()


@contextmanager
def read_runs(path: Path) -> Iterator[RunsFile]:
    """Reads a file into a database that is closed in the end.

    Raises:
        SwingbyError: there is no such file, its ending says no format, DuckDB cannot read it, or it has no rows.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in PACKED else ""
    ending = suffixes[-1] if suffixes else ""
    if ending not in READERS:
        allowed = ", ".join(READERS)
        raise SwingbyError(f"{path}: the ending says the format; allowed: {allowed}, and {' or '.join(PACKED)} behind")
    if not path.is_file():
        raise SwingbyError(f"no file {path}")
    with clear_os_errors(f"read {path}"), path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with (
        connect(memory_limit=MEMORY, temp_directory="") as database,
        tempfile.TemporaryDirectory(prefix="swingby-import-") as folder,
    ):
        link = Path(folder) / f"runs{ending}{packed}"  # DuckDB would take a [ or * in the path for a pattern
        link.symlink_to(path.resolve())
        with clear_errors(f"read {path}"), _bounded(database, path):
            _check_names(database, path, link, ending)
            reader = READERS[ending]
            if reader is _CSV and not packed and _has_semicolons(path):
                reader = f"{reader.removesuffix(')')}{_SEMICOLONS}"
            database.execute(f"create temp table source as select * from {reader}", [str(link)])
            leaves = list(_leaves(database.sql("select * from source")))
            if len(leaves) > MOST_COLUMNS:
                raise SwingbyError(
                    f"{path} has {len(leaves):,} columns; allowed: {MOST_COLUMNS:,}, each part of a nested one counted"
                )
            (rows,) = database.execute("select count(*) from source").fetchone() or (0,)
            if not rows:
                raise SwingbyError(f"{path} has no rows")
            columns = [_file_column(database, name, value, id_) for name, value, id_ in leaves]
        yield RunsFile(path, digest, int(rows), columns, database)


@contextmanager
def read_frame(path: Path, table: pa.Table, digest: str, **about: Any) -> Iterator[RunsFile]:
    """Takes a table of runs, that some tool left at a path, into a database that is closed in the end.

    Args:
        about: the last fields of the file, by their names.

    Raises:
        SwingbyError: it has more columns than are allowed.
    """
    if table.num_columns > MOST_COLUMNS:
        raise SwingbyError(f"{path} has {table.num_columns:,} settings and results; allowed: {MOST_COLUMNS:,}")
    path = path if path.name else path.resolve()
    with connect(memory_limit=MEMORY, temp_directory="") as database, clear_errors(f"read {path}"):
        with _bounded(database, path):
            database.register("frame", table)
            database.execute("create temp table source as select * from frame")
            leaves = list(_leaves(database.sql("select * from source")))
            columns = [_file_column(database, name, value, id_) for name, value, id_ in leaves]
        yield RunsFile(path, digest, table.num_rows, columns, database, **about)


def of_counts(file: RunsFile, yes: str, total: str) -> RunsFile:
    """A table of counts as one of runs: of each row as many as were counted, of which the first are a yes.

    All columns but these two are parameters, and the seed is a number within the row: nobody knows which run was which.

    Raises:
        SwingbyError: a column is missing, or holds no counts.
    """
    by_name = {one.name: one for one in file.columns}
    for name in (yes, total):
        if by_name.get(name) is None or by_name[name].kind != "int":
            raise SwingbyError(f"{file.path} has no column {name!r} of whole numbers; it has {', '.join(by_name)}")
    if "seed" in by_name:
        raise SwingbyError(f"{file.path} has counts and a column 'seed': one of both says what a row is")
    k, n = by_name[yes].value, by_name[total].value
    wrong = file.ask(f"select rowid + 1, {k}, {n} from source where not coalesce(0 <= {k} and {k} <= {n}, false)")
    for row, some, of in wrong:
        raise SwingbyError(f"row {row} has {some} of {of}; allowed: from 0 to all of them")
    ((runs,),) = file.ask(f"select sum({n}) from source")
    if not 0 < runs <= MOST_COUNTED:
        raise SwingbyError(f"{file.path} counts {runs:,} runs; allowed: up to {MOST_COUNTED:,}")
    file.ask(
        f"""create temp table expanded as
            select s.* exclude (place, {quoted(total)}) replace (seed < {k} as {quoted(yes)})
            from (select *, rowid as place, unnest(range({n})) as seed from source) s order by place, seed"""
    )
    file.ask("drop table source")
    file.ask("alter table expanded rename to source")
    leaves = list(_leaves(file.database.sql("select * from source")))
    columns = [_file_column(file.database, name, value, id_) for name, value, id_ in leaves]
    params = tuple(name for name in by_name if name not in (yes, total))
    note = f"{yes} of {total} runs are a yes: which of them is not known, and seeds count them"
    export = Export("a table of counts", params=params, seed="seed")
    return replace(file, rows=int(runs), columns=columns, export=export, notes=(note,))


@contextmanager
def _bounded(database: Database, path: Path) -> Iterator[None]:
    """Ends what takes too long or too much memory, as a file that says more than it holds.

    Raises:
        SwingbyError: it does; says which.
    """
    try:
        with interrupted_after(database, SECONDS):
            yield
    except OverdueError as error:
        raise SwingbyError(f"reading {path} takes longer than {SECONDS:g} s, and was ended") from error
    except FullError as error:
        raise SwingbyError(f"{path} needs more than {MEMORY} of memory, unpacked: import it in parts") from error


def _check_names(database: Database, path: Path, link: Path, ending: str) -> None:
    """Refuses a file of which two columns have one name, upper and lower case alike: a query would mix them up.

    Raises:
        SwingbyError: names both.
    """
    if ending == ".parquet":
        query = "select name from parquet_schema(?) where num_children is null"
    elif READERS[ending] is _JSON:
        query = "select distinct unnest(json_keys(json)) from read_json_objects(?, format = 'auto')"
    else:
        query = (
            "select unnest(columns) from (select [*columns(*)] as columns from read_csv(?, header = false, "
            f"all_varchar = true, null_padding = true, max_line_size = {LONGEST_LINE}) limit 1)"
        )
    names = [str(name) for (name,) in database.execute(query, [str(link)]).fetchall() if name is not None]
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(name.lower(), name)
        if other != name or (ending != ".parquet" and READERS[ending] is _CSV and names.count(name) > 1):
            alike = "are one name" if other == name else "differ in upper and lower case alone"
            raise SwingbyError(f"{path}: the columns {other!r} and {name!r} {alike}: rename one in the file")


def _has_semicolons(path: Path) -> bool:
    """Whether the header of a CSV has semicolons, and no other character that may stand between columns."""
    with path.open("rb") as file:
        head = file.readline(LONGEST_LINE)
    return b";" in head and not any(mark in head for mark in b",\t|")


def _leaves(relation: Any) -> Iterator[tuple[str, str, Any]]:
    """Name, SQL and type of every column, and of every part of a nested one."""

    def below(name: str, value: str, type_: Any) -> Iterator[tuple[str, str, Any]]:
        if type_.id == "struct":
            for part, inner in type_.children:
                yield from below(f"{name}.{part}", f"{value}.{quoted(part)}", inner)
        else:
            yield name, value, type_

    for name, type_ in zip(relation.columns, relation.types, strict=True):
        yield from below(name, quoted(name), type_)


def _file_column(database: Database, name: str, value: str, type_: Any) -> FileColumn:
    """A column with the kind that all its values fit."""
    id_, depth = type_.id, 0
    while id_ in ("list", "array"):
        type_, depth = dict(type_.children)["child"], depth + 1
        id_ = type_.id
    if depth:
        if id_ in _INTEGERS | _FLOATS and depth < 3:
            kind = "vector" if depth == 1 else "matrix"
            return FileColumn(name, kind, f"{value}::{TYPES[kind]}")
        return FileColumn(name, UNUSED, value, f"lists of {id_}")
    if id_ == "boolean":
        return FileColumn(name, "bool", value)
    if id_ in _INTEGERS:
        fits = f"select count({value}) = count(try_cast({value} as bigint)) from source"
        ((fit,),) = database.execute(fits).fetchall()
        return FileColumn(name, "int" if fit else "float", f"{value}::{'bigint' if fit else 'double'}")
    if id_ in _FLOATS:
        return FileColumn(name, "float", f"{value}::double")
    if id_ in _TEXTS:
        text = f"({value} ->> '$')" if str(type_) == "JSON" else f"{value}::varchar"
        return _of_text(database, name, text)
    return FileColumn(name, UNUSED, value, "nothing" if id_ == "null" else f"values of type {id_}")


def _listed(text: str, type_: str, depth: int = 0) -> str:
    """The condition that a text is a list of this type; DuckDB makes null of an entry that it cannot read."""
    inner, entry = type_.removesuffix("[]"), f"y{depth}"
    wrong = f"try_cast({entry} as {inner}) is null" if inner == "double" else f"not {_listed(entry, inner, depth + 1)}"
    entries = f"list_filter(try_cast({text} as varchar[]), lambda {entry}: {entry} is not null and {wrong})"
    return f"coalesce(try_cast({text} as {type_}) is not null and len({entries}) = 0, false)"


def _of_text(database: Database, name: str, text: str) -> FileColumn:
    """A column of texts, in the first kind in which all of them can be read."""
    counts = database.execute(
        f"""select count(x), case when bool_or(lower(x) in ('true', 'false'))
                                  then count(*) filter (lower(x) in ('true', 'false', '1', '0')) else 0 end,
                   count(*) filter (regexp_full_match(x, '[+-]?[0-9]{{1,18}}')), count(try_cast(x as double)),
                   count(*) filter (x like '[%' and {_listed("x", "double[]")}),
                   count(*) filter (x like '[%' and {_listed("x", "double[][]")})
            from (select {text} as x from source)"""
    ).fetchone()
    total, *fits = counts or (0,)
    if not total:
        return FileColumn(name, UNUSED, text, "nothing")
    kinds = ("bool", "int", "float", "vector", "matrix")
    kind = next((kind for kind, count in zip(kinds, fits, strict=True) if count == total), "str")
    return FileColumn(name, kind, text if kind == "str" else f"({text})::{TYPES[kind]}")
