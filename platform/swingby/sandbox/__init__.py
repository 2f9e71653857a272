"""The sandbox: anybody's SQL on the newest published store, away from all files, in a process that can be killed."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from swingby.errors import SwingbyError, plain_words
from swingby.units import count_of_bytes

if TYPE_CHECKING:  # the query's process, which imports this package first, says what Arrow does without
    import pyarrow as pa

LIMIT_BYTES = 2 * 2**30
"""The largest answer, in bytes of Arrow."""
_STALE = 24 * 3600.0
"""Seconds after which the folder of a process that died is removed."""


class SandboxError(SwingbyError):
    """A query was refused, failed, or was stopped; the message says which and why."""


def query(
    data: str | Path,
    sql: str,
    *,
    limit_rows: int = 1_000_000,
    timeout: float = 30.0,
    memory: str = "1GB",
    threads: int = 2,
    limit_bytes: int = LIMIT_BYTES,
    read_as: Sequence[str] = (),
) -> pa.Table:
    """The rows of one SELECT (or EXPLAIN of one) that may come from anybody.

    Args:
        data: the data folder; the newest published generation of its store is read.
        sql: the query.
        limit_rows: more rows are cut off; the table's schema metadata then says `cut: true`.
        timeout: seconds after which the query's process is killed.
        memory: what the query may use, such as "500MB" or "4GiB"; nothing is spilled to disk.
        threads: how many threads it may use.
        limit_bytes: a larger answer, in bytes of Arrow, is refused.
        read_as: ids of the sweeps as which cells are read, see `Store.reading_as`; (): those that the query names.

    Raises:
        SandboxError: the query is not allowed, is wrong, takes too long, or needs too much memory.
        SwingbyError: there is no such data folder, or nothing was published in it yet.
    """
    # Not at the top: the query's process imports this package too, and starts twice as fast without the store.
    from swingby.data.folder import opened
    from swingby.store import reading
    from swingby.store.layout import CATALOGUE, REBUILD, Layout

    layout = Layout(opened(data, create=False)[0])
    with _throwaway(layout.root.parent) as folder:
        for _ in range(10):
            generation = layout.newest()
            if generation is None:
                raise SwingbyError(f"nothing was ingested in {data} yet; `swingby ingest` does it")
            with suppress(FileNotFoundError):  # published again since the pointer was read
                files = link(layout.paths(generation), folder)
                statements = layout.statements(generation, files)
                if sweep_ids := tuple(read_as) or reading.sweeps_named(sql):
                    statements.append(reading.read_as(sweep_ids))
                if CATALOGUE.search(sql):  # else nobody sees them, and they take longer than most queries
                    from swingby.store.comments import comments_of

                    statements += comments_of(layout.root.parent, generation.number)
                try:
                    return run(files, statements, sql, folder, limit_rows, timeout, memory, threads, limit_bytes)
                except SandboxError as error:
                    if re.search(r"not a valid DuckDB|checksum|[Cc]orrupt", str(error)):
                        raise SandboxError(f"{error}; {REBUILD}") from error
                    raise
    raise SwingbyError(f"the store in {layout.root} is published faster than it can be opened")


def link(files: Mapping[str, Path], folder: Path) -> dict[str, Path]:
    """Links to files in a folder, by the keys of `files`: a query never sees the folder of the store.

    Whatever file DuckDB lets a query write beside an attached one falls into this folder. The links are hard links;
    where there can be none (another device, files of another user), symbolic links to files that may only be read, and
    copies of others.
    """
    links = {key: folder / f"{number}.duckdb" for number, key in enumerate(files)}
    for key, path in files.items():
        try:
            os.link(path, links[key])
        except FileNotFoundError:
            raise
        except OSError:
            if os.access(path, os.W_OK):
                shutil.copyfile(path, links[key])
            else:  # a store of gigabytes is not copied for each query
                links[key].symlink_to(path.resolve(strict=True))
    return links


def run(
    files: Mapping[str, Path],
    statements: Sequence[str],
    sql: str,
    folder: Path,
    limit_rows: int,
    timeout: float,
    memory: str,
    threads: int,
    limit_bytes: int = LIMIT_BYTES,
) -> pa.Table:
    """The rows of a query in a process of its own, on database files that `statements` attach; the files are removed.

    Raises:
        SandboxError: as `query`.
    """
    import pyarrow as pa

    request = {
        "sql": sql,
        "statements": list(statements),
        "files": [str(path) for path in files.values()],
        "limit_rows": limit_rows,
        "limit_bytes": limit_bytes,
        "memory": memory,
        "memory_bytes": _bytes(memory),
        "threads": threads,
        "seconds": timeout,
        "parent": os.getpid(),
    }
    with tempfile.TemporaryFile(dir=folder) as request_file:
        # A file: a pipe would block, or break, if the process ends before it has read everything.
        request_file.write(json.dumps(request).encode())
        request_file.seek(0)
        process = _process(folder, request_file)
    with process, _deadline(process, timeout) as passed:
        assert process.stdout is not None
        table = None
        with suppress(OSError, pa.ArrowInvalid):  # it ended before it had an answer, or in the midst of one
            table = pa.ipc.open_stream(process.stdout).read_all()
        errors = process.stderr.read() if process.stderr is not None else b""
        code = process.wait()
    if passed.is_set() or code in (-signal.SIGALRM, -signal.SIGXCPU):
        raise SandboxError(f"the query was stopped after {timeout:g} s; narrow it, or allow it more time")
    lines = errors.decode(errors="replace").strip().splitlines()
    try:
        report = json.loads(lines[-1])
    except (ValueError, IndexError):
        report = {"crash": lines[-1] if lines else ""}
    if code != 0 or table is None:
        raise SandboxError(_failure(code, report, memory))
    return table.replace_schema_metadata({"cut": "true"}) if report.get("cut") else table


def _process(folder: Path, request_file: IO[bytes]) -> subprocess.Popen[bytes]:
    # Nothing of this process's environment is passed on: it may hold tokens.
    environment = {"HOME": str(folder), "LANG": "C.UTF-8", "PYTHONPATH": os.pathsep.join(_found_at())}
    return subprocess.Popen(
        [sys.executable, "-P", "-s", "-B", "-m", "swingby.sandbox"],
        stdin=request_file,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )


def _found_at() -> list[str]:
    """Where this package lies, and what it needs for a query, if Python does not look there by itself.

    Packages may come by PYTHONPATH, as by a cluster's modules. Other folders of this process's path are left out: files
    of users in them would stand before Python's own.
    """
    standard = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
    paths = [str(Path(__file__).parents[2])]
    for name in ("duckdb", "pyarrow"):
        place = next((place for place in sys.path if place and (Path(place) / name / "__init__.py").is_file()), None)
        if place is not None and place not in standard and place not in paths:
            paths.append(str(Path(place).absolute()))
    return paths


@contextmanager
def _deadline(process: subprocess.Popen[bytes], seconds: float) -> Iterator[threading.Event]:
    """Kills the process with its group when its time is up (the event then says so), or when the caller gives up."""
    passed = threading.Event()

    def kill() -> None:
        if process.poll() is None:
            passed.set()
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        yield passed
    finally:
        timer.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def _failure(code: int, report: Mapping[str, Any], memory: str) -> str:
    if not report.get("error"):
        how = signal.Signals(-code).name if code < 0 else f"code {code}: {report.get('crash', '')}"
        return f"the query's process ended by {how}; it may have needed more than {memory} of memory"
    error, tables = plain_words(report["error"]), list(report.get("tables", ()))
    missing = re.search(r"Table with name (\S+) does not exist", error)
    if missing is None:
        return error
    close = difflib.get_close_matches(missing[1], tables, n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    # DuckDB's own guess may be one of its system tables.
    error = re.sub(r'\s*Did you mean "[^"]*"\?', "", error)
    return f"{error}\n{guess}tables: {', '.join(tables) or '(none)'}"


def _bytes(memory: str) -> int:
    try:
        return count_of_bytes(memory, "memory")
    except SwingbyError as error:
        raise SandboxError(str(error)) from None


@contextmanager
def _throwaway(data: Path) -> Iterator[Path]:
    """A folder for one query, on the store's own device if it can be written there, removed in the end."""
    for left in data.glob(".sandbox-*"):
        # No query runs for so long: a process that was killed left it. Other folders come and go meanwhile.
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left, ignore_errors=True)
    try:
        folder = Path(tempfile.mkdtemp(prefix=".sandbox-", dir=data))
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="swingby-sandbox-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
