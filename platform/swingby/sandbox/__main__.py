"""The process that answers one query: limits first, then the files, then the lock, and only then the query.

Reads a request as JSON from standard input; writes the rows as an Arrow stream to standard output, and one line of JSON
(`cut`, or what went wrong) to standard error. Ends with code 0, or 3 if the query was refused or failed.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

if __name__ == "__main__":
    # Not there for DuckDB and Arrow, which need neither to answer in Arrow: NumPy takes as long to import as Arrow.
    sys.modules |= dict.fromkeys(("numpy", "pandas"))  # type: ignore[arg-type]

import duckdb
import pyarrow as pa

from swingby.sandbox.statement import RefusedError, readable

ROWS = 16_384
"""Rows in one batch of the answer."""
_BESIDE = 4 * 2**30
"""Address space beside DuckDB's memory: code, stacks of threads, reserves of the allocator; mostly never touched."""
BESIDE_FILES = 256
"""Files that may be open beside the databases, each of which may have a log."""
# PR_SET_PDEATHSIG of prctl(2).
_DIE_WITH_PARENT = 1
TEXT = frozenset(
    ("bignum", "bit", "geometry", "interval", "time", "time_ns", "time with time zone", "uhugeint", "union", "variant")
)
"""Types of DuckDB that an answer gives as text."""


def main() -> int:
    """Answers the request on standard input; the exit code."""
    request = json.load(sys.stdin)
    confine(request)
    # No other output may come between the rows.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    connection: duckdb.DuckDBPyConnection | None = None
    try:
        connection = locked(request)
        report: dict[str, Any] = {"cut": answer(connection, request, out)}
    except RefusedError as error:
        report = {"error": f"refused: {error}", "tables": []}
    except (MemoryError, duckdb.OutOfMemoryException):
        report = {"error": f"the query needs more than {request['memory']} of memory: give it more, or narrow it"}
    except duckdb.Error as error:
        report = {"error": str(error).strip(), "tables": [] if connection is None else _tables(connection)}
    # Short enough for the buffer of the pipe, which is read after the rows.
    report["error"] = report["error"][:10_000] if "error" in report else None
    sys.stderr.write(json.dumps(report) + "\n")
    return 3 if report["error"] else 0


def confine(request: dict[str, Any]) -> None:
    """Bounds this process, whatever DuckDB does: memory, time, its parent's life, and no byte to any file, or at most
    `file_bytes` of the request to each."""
    seconds = float(request["seconds"])
    _limit(resource.RLIMIT_NOFILE, BESIDE_FILES + 2 * len(request["files"]))
    _limit(resource.RLIMIT_FSIZE, int(request.get("file_bytes", 0)))
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, 2 * int(request["memory_bytes"]) + _BESIDE)
    _limit(resource.RLIMIT_CPU, math.ceil(seconds * (request["threads"] + 1)) + 5)
    # An alarm without a handler ends the process from the kernel's side, even while it sits in foreign code.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + 1)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != request["parent"]:
            os._exit(3)  # the parent died before it could be watched


def _limit(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def locked(request: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """A connection on the files of the request that can reach no other file, and whose settings cannot be changed.

    The links are removed as soon as the files are open, so that none is found by a query or left by a dead process.
    """
    config: dict[str, Any] = {
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "memory_limit": request["memory"],
        "python_enable_replacements": False,
        "temp_directory": "",
        "threads": request["threads"],
    }
    connection = duckdb.connect(":memory:", config=config)
    for statement in request["statements"]:
        if len(connection.extract_statements(statement)) != 1:  # what follows another one would be run with it
            raise duckdb.ParserException(f"the store's {statement[:60]!r} is not one statement")
        connection.execute(statement)
    for file in request["files"]:
        Path(file).unlink(missing_ok=True)
    connection.execute("set enable_external_access = false")
    connection.execute("set disabled_filesystems = 'LocalFileSystem'")
    connection.execute("set lock_configuration = true")
    return connection


def answer(connection: duckdb.DuckDBPyConnection, request: dict[str, Any], out: BinaryIO) -> bool:
    """Writes the rows of the query as an Arrow stream; whether some were cut off.

    Raises:
        RefusedError: the query is not allowed, or its answer is too large.
        duckdb.Error: the query fails.
    """
    left, room = int(request["limit_rows"]), int(request["limit_bytes"])
    statement = readable(connection, request["sql"])
    if statement.lower().startswith("explain"):
        reader = connection.execute(statement).to_arrow_reader(ROWS)
    else:
        # One row beyond the limit tells whether there are more; the others are not computed.
        reader = _spelled(connection.sql(statement)).limit(left + 1).to_arrow_reader(ROWS)
    if reader is None:
        raise RefusedError("the statement gives no rows")
    with pa.ipc.new_stream(out, reader.schema) as stream:
        for batch in _batches(reader):
            if batch.num_rows > left:
                stream.write_batch(batch.slice(0, left))
                return True
            room -= batch.nbytes
            if room < 0:
                most = f"{int(request['limit_bytes']):,} bytes"
                raise RefusedError(f"the answer is larger than {most}; select fewer columns or rows")
            stream.write_batch(batch)
            left -= batch.num_rows
    return False


def _spelled(rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The rows with DuckDB's text in the place of what Arrow has no type for, or takes for something else."""
    types = {place: (str(type_), _spelled_type(type_)) for place, type_ in enumerate(rows.types, start=1)}
    if all(one == other for one, other in types.values()):
        return rows
    columns = [
        (f"#{place}" if one == other else f"cast(#{place} as {other})") + ' as "' + name.replace('"', '""') + '"'
        for (place, (one, other)), name in zip(types.items(), rows.columns, strict=True)
    ]
    return rows.project(", ".join(columns))


def _spelled_type(type_: Any) -> str:
    """A type with VARCHAR in the place of those that cannot travel, however deep."""
    if type_.id in TEXT:
        return "VARCHAR"
    if type_.id not in ("list", "array", "struct", "map"):
        return str(type_)
    children = type_.children
    inner = [_spelled_type(child) for _, child in children if not isinstance(child, int)]
    if all(one == str(child) for one, (_, child) in zip(inner, children, strict=False)):
        return str(type_)
    if type_.id == "struct":
        return f"STRUCT({', '.join(_field(name, one) for (name, _), one in zip(children, inner, strict=True))})"
    if type_.id == "map":
        return f"MAP({', '.join(inner)})"
    return inner[0] + str(type_).removeprefix(str(children[0][1]))


def _field(name: str, type_: str) -> str:
    return '"' + name.replace('"', '""') + f'" {type_}'


def _batches(reader: Any) -> Iterator[pa.RecordBatch]:
    """The batches; an error of DuckDB that Arrow raised is raised as DuckDB's."""
    try:
        yield from reader
    except (pa.ArrowInvalid, OSError) as error:
        kind = duckdb.OutOfMemoryException if "Out of Memory" in str(error) else duckdb.Error
        raise kind(str(error)) from error


def _tables(connection: duckdb.DuckDBPyConnection) -> list[str]:
    try:
        rows = connection.execute("select view_name from duckdb_views() where not internal order by all").fetchall()
    except duckdb.Error:
        return []  # a fatal error closes the database; its message says enough
    return [name for (name,) in rows]


if __name__ == "__main__":
    sys.exit(main())
