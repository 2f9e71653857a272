"""A fuzzer that is led by coverage (atheris) at what reads the texts and files of others.

`python -m tests.drills.fuzz sweep` tries sweep files.

A target ends in its result or in the error it declares; any other exception, a hang or a crash is a fault, and leaves
the input beside. Options of libFuzzer follow: -runs=20000 -seed=1 -max_total_time=60.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["swingby"]):  # pyright: ignore[reportAttributeAccessIssue]
    import duckdb

    from swingby.data.parquet import read_parquet
    from swingby.errors import SwingbyError
    from swingby.model import expression
    from swingby.sandbox.statement import RefusedError, readable
    from swingby.sweepfile.sweep import Sweep, named_sweeps

OPTIONS = ("-runs=20000", "-max_len=4096", "-timeout=20", "-rss_limit_mb=4096")
Target = Callable[[bytes], None]
Seeds = Callable[[], Iterator[bytes]]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape" if len(data) % 2 else "replace")


def sweep(data: bytes) -> None:
    """A sweep file is a sweep, or faults with their places."""
    with contextlib.suppress(SwingbyError):
        Sweep.parse(_text(data), "fuzz.yaml", confirm_above=10_000)


def named() -> Iterator[bytes]:
    """The sweep files that are shipped."""
    for path in named_sweeps().values():
        yield path.read_bytes()


def formula(data: bytes) -> None:
    """A condition of a sweep file is one, and holds or does not, or says why."""
    with contextlib.suppress(expression.ExpressionError):
        expression.parse(_text(data)).holds({"d": 3, "mu": (1.0, 2.0), "name": "x", "yes": True})


def formulas() -> Iterator[bytes]:
    """Some that are sound."""
    for text in (
        "d * 2 + 1 > 3",
        "mu.1 / mu.2 <= 0.5",
        "d in (2, 3) or d == 4",
        "name == 'x' and not yes",
        "-d ** 2 < 1",
    ):
        yield text.encode()


_DATABASE = duckdb.connect()
_DATABASE.execute("create table toy as select 1 as a, [1.0, 2.0] as curve")


def sql(data: bytes) -> None:
    """A text is one statement that only reads, or is refused; nothing is run here."""
    with contextlib.suppress(RefusedError, duckdb.Error):
        readable(_DATABASE, _text(data))


def queries() -> Iterator[bytes]:
    """Some that are sound, and some that are not."""
    yield from (b"select a, max(a) over () from toy", b"explain select 1", b"with t as (from toy) select * from t")
    yield from (b"pivot toy on a using sum(a)", b"copy toy to 'x'", b"select * from read_csv('/etc/passwd')")


def record(data: bytes) -> None:
    """A file among the records is one, or is told of."""
    with contextlib.suppress(SwingbyError):
        read_parquet(Path("fuzz.parquet"), "shard", content=data)


def records() -> Iterator[bytes]:
    """A record as it is written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"cell_id": ["a", "b"], "curve": [[1.0, 2.0], None]}).replace_schema_metadata({"swingby": "{}"})
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, f"{folder}/record.parquet")
        yield Path(folder, "record.parquet").read_bytes()


TARGETS: dict[str, tuple[Target, Seeds]] = {
    "sweep": (sweep, named),
    "expression": (formula, formulas),
    "sql": (sql, queries),
    "record": (record, records),
}


def main(arguments: list[str]) -> Any:
    """Fuzzes one target; libFuzzer ends the process, with 0 if nothing was found."""
    if not arguments or arguments[0] not in TARGETS:
        sys.exit(f"usage: python -m tests.drills.fuzz TARGET [options of libFuzzer]; targets: {', '.join(TARGETS)}")
    target, seeds = TARGETS[arguments[0]]
    corpus = Path(tempfile.mkdtemp(prefix=f"fuzz-{arguments[0]}-"))
    for number, content in enumerate(seeds()):
        (corpus / str(number)).write_bytes(content)
    os.chdir(corpus)  # what it finds is left here
    print(f"fuzzing {arguments[0]} in {corpus}", flush=True)
    atheris.Setup([sys.argv[0], *OPTIONS, *arguments[1:], str(corpus)], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
