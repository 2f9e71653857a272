"""Whether a record that comes from somebody else is what its name says: read whole, before a byte of it is kept."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from swingby.data.parquet import check_size, read_parquet, require
from swingby.data.records import Records
from swingby.data.records.headers import PLAN_COLUMNS, Plan
from swingby.errors import SwingbyError

PLAN = r"[a-z0-9-]{1,64}-[0-9a-f]{8}-\d{4,9}"
TWIN = r"\+([0-9a-f]{12})"
"""What follows a plan's name where another plan of that name came from another folder: digits of its content."""
NAMES = {
    "plans": re.compile(rf"plans/({PLAN})(?:{TWIN})?\.parquet"),
    "shards": re.compile(rf"shards/({PLAN})/b(\d{{6,9}})-a(\d{{4,12}})-[0-9a-f]{{8}}\.parquet"),
    "derived": re.compile(r"derived/([a-z][a-z0-9_]*)/([\w.+]+)-[0-9a-f]{12}\.parquet", re.ASCII),
    "retractions": re.compile(r"retractions/[0-9T]+-[0-9a-f]{12}\.parquet"),
}
"""How records are called, by their folder. A name becomes a path here, so it has to be one of these."""

_SWEEP = re.compile(r"[0-9a-f]{16}")


def check(records: Records, key: str, content: bytes) -> Plan | None:
    """Refuses a record that is torn, none of this platform's, or another one than its name says.

    Args:
        records: any data folder's; nothing is read from it.
        key: the record's path, such as `plans/walks-01234567-0001.parquet`.

    Returns:
        The plan, if it is one.

    Raises:
        SwingbyError: what is wrong with it.
    """
    folder = key.partition("/")[0]
    match = NAMES[folder].fullmatch(key) if folder in NAMES else None
    if match is None:
        raise SwingbyError("its name is none that swingby gives a record")
    _check_size(content)
    return _CHECKS[folder](records, key.partition("/")[2], content, match)


def _check_size(content: bytes) -> None:
    try:
        check_size(pq.ParquetFile(io.BytesIO(content)).metadata)
    except (pa.ArrowException, OSError) as error:
        raise SwingbyError(f"it is torn or corrupt: {str(error).splitlines()[0]}") from error


def _check_plan(records: Records, name: str, content: bytes, match: re.Match[str]) -> Plan:
    header, table = read_parquet(Path(name), "plan", content=content)
    try:
        plan = Plan.of_header(header, Path(name))
    except (KeyError, TypeError) as error:
        raise SwingbyError(f"it is not a plan of this format: {error} is missing or wrong") from error
    if plan.plan_id != match[1] or not _SWEEP.fullmatch(plan.sweep_id):
        raise SwingbyError(f"it is plan {plan.plan_id!r:.80} of sweep {plan.sweep_id!r:.40}, and its name is another")
    if match[2] and match[2] != hashlib.sha256(content).hexdigest()[: len(match[2])]:
        raise SwingbyError("its content is not the one that its name says")
    require(table, PLAN_COLUMNS, "it is no plan")
    _check_cells(table)
    return plan


def _check_shard(records: Records, name: str, content: bytes, match: re.Match[str]) -> None:
    header, table = records.read_shard(name, content)
    if (header.plan_id, header.batch, header.attempt) != (match[1], int(match[2]), int(match[3])):
        raise SwingbyError(f"it is of batch {header.batch} of {header.plan_id!r:.80}, and its name says another")
    if not _SWEEP.fullmatch(header.sweep_id) or header.sweep_id[:8] != match[1].split("-")[-2]:
        raise SwingbyError(f"it is of sweep {header.sweep_id!r:.40}, and its plan of another")
    _check_cells(table)


def _check_derived(records: Records, name: str, content: bytes, match: re.Match[str]) -> None:
    header, _ = records.read_derived(name, content)
    if (header["kind"], header["version"]) != (match[1], match[2]):
        raise SwingbyError(f"it is {header['kind']!r:.60} of version {header['version']!r:.40}; its name says another")


def _check_retraction(records: Records, name: str, content: bytes, match: re.Match[str]) -> None:
    _check_cells(records.read_retraction(name, content).table)


def _check_cells(table: pa.Table) -> None:
    if table["cell_id"].null_count or (
        table.num_rows and pc.call_function("max", [pc.call_function("utf8_length", [table["cell_id"]])]).as_py() > 64
    ):
        raise SwingbyError("the id of a cell is missing, or has more than 64 characters")


_CHECKS: Mapping[str, Callable[[Records, str, bytes, re.Match[str]], Plan | None]] = {
    "plans": _check_plan,
    "shards": _check_shard,
    "derived": _check_derived,
    "retractions": _check_retraction,
}
