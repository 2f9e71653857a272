"""Merging: the records of another data folder are copied into this one, each file whole and checked, then ingested.

Records never change, so a merge is a union of files: it can be stopped and begun again, done twice, and done in any
order. Only the name of a plan does not say its content: where a sweep was run in both folders, the plan that was
created first has the name, and any other has the name with digits of its content, `NAME+0123456789ab`. Results of both
are kept. The row of a cell that was trained twice is chosen as always (`store/sql/resolve.sql`): a result before a
failure, more recordings before fewer, then the one that was finished first.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from swingby.data.files import is_as_named
from swingby.data.folder import place_of
from swingby.data.parquet import check_size, read_parquet, require
from swingby.data.records import Plan, Records
from swingby.data.records.headers import PLAN_COLUMNS
from swingby.data.records.records import DIGITS
from swingby.errors import SwingbyError
from swingby.run.commit_lock import commit_lock
from swingby.store import Taken, ingest
from swingby.units import counted, size

PLAN = r"[a-z0-9-]{1,64}-[0-9a-f]{8}-\d{4,9}"
TWIN_DIGITS = 12
"""Digits of the content that follow a plan's name if another plan has that name."""
NAMES = {
    "plans": re.compile(rf"plans/({PLAN})(?:\+([0-9a-f]{{{TWIN_DIGITS}}}))?\.parquet"),
    "shards": re.compile(rf"shards/({PLAN})/b(\d{{6,9}})-a(\d{{4,12}})-[0-9a-f]{{8}}\.parquet"),
    "derived": re.compile(r"derived/([a-z][a-z0-9_]*)/([\w.+]+)-[0-9a-f]{12}\.parquet", re.ASCII),
    "retractions": re.compile(r"retractions/[0-9T]+-[0-9a-f]{12}\.parquet"),
}
"""The names that records may have, by their folder: a name of another folder becomes a path in this one."""
_SWEEP = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Merged:
    """The outcome of a merge, or what it would be.

    Attributes:
        copied: how many records were copied, by folder.
        bytes: of all copied records.
        there: how many records were here already.
        left_out: records that are torn or foreign, with the reason.
        taken: the outcome of the ingest afterwards; None if nothing was written.
    """

    copied: Counter[str]
    bytes: int
    there: int
    left_out: tuple[tuple[str, str], ...]
    taken: Taken | None

    def __str__(self) -> str:
        named = {"plans": "plan", "shards": "shard", "derived": "derived file", "retractions": "retraction"}
        counts = ", ".join(counted(self.copied[folder], one) for folder, one in named.items() if self.copied[folder])
        verb = "would take in" if self.taken is None else "took in"
        here = f"; {counted(self.there, 'record')} here already" if self.there else ""
        return f"{verb} {counts or 'nothing'} ({size(self.bytes)}){here}"


def merge(data: str | Path, other: str | Path, dry_run: bool = False) -> Merged:
    """Copies the records of another data folder into this one (made if missing), and ingests them.

    Records that are torn or foreign are left out. The other folder is only read; a run may go on in it.

    Raises:
        SwingbyError: the folders are one; one is of an unknown format; or a sweep of which a plan would be copied is
            being run in this folder.
    """
    there = Records.open(other, create=False)
    folder = place_of(data)
    absent = dry_run and not folder.exists()
    here = Records(folder) if absent else Records.open(data, create=not dry_run)
    if here.data.exists() and here.data.samefile(there.data):
        raise SwingbyError(f"{other} and {data} are the same data folder")
    keys = there.paths()
    missing = [key for key in keys if not _is_here(here, there, key)]
    with ExitStack() as stack:
        # Nobody may run a sweep while plans of it come in: a run gives way to a plan that is newer than its own.
        plans = [_sound(there, key) for key in missing if key.startswith("plans/") and not dry_run]
        for sweep_id in sorted({plan.sweep_id for plan in plans if plan is not None}):
            stack.enter_context(here.lock(sweep_id))
            stack.enter_context(commit_lock(here, sweep_id))
        copied, left_out = _copy(here, there, missing, dry_run)
    done = Counter(key.partition("/")[0] for key in copied)
    taken = None if dry_run else ingest(here)
    return Merged(done, sum(copied.values()), len(keys) - len(missing), tuple(left_out), taken)


def _is_here(here: Records, there: Records, key: str) -> bool:
    """Whether this folder has the record; one that is torn here, and not there, counts as missing.

    A plan may be here under its own name, or under the name with digits of its content.
    """
    if key.startswith("plans/"):
        try:
            content = there.content(key)
            names = [name for name in (_plain(key), _twin(key, content)) if here.size(name) is not None]
            return any(here.content(name) == content for name in names)
        except SwingbyError:
            return False
    size = here.size(key)
    if size is None:
        return False
    digits = DIGITS[key.partition("/")[0]]
    return size == there.size(key) or is_as_named(Path(key), here.content(key), digits)


def _sound(records: Records, key: str) -> Plan | None:
    """The plan at a path; None if it is torn or foreign."""
    try:
        return check(records, key, records.content(key))
    except SwingbyError:
        return None


def _plain(key: str) -> str:
    """The path of a plan under its own name."""
    return f"{key.removesuffix('.parquet').partition('+')[0]}.parquet"


def _twin(key: str, content: bytes) -> str:
    """The path of a plan whose own name an older plan has."""
    return f"{_plain(key).removesuffix('.parquet')}+{hashlib.sha256(content).hexdigest()[:TWIN_DIGITS]}.parquet"


def _put_plan(here: Records, key: str, content: bytes) -> None:
    """Writes a sound plan here; of several of one name, the first created keeps the name."""
    name, coming = _plain(key), check(here, key, content)
    standing = _sound(here, name) if here.size(name) is not None else None
    if standing is None or coming is None:
        here.put(name, content)
        return
    known = here.content(name)
    if content == known:
        return
    first, second = sorted([(standing.created, known), (coming.created, content)])
    here.put(_twin(name, second[1]), second[1])
    if first[1] != known:
        here.put(name, first[1])


def _copy(
    here: Records, there: Records, keys: Sequence[str], dry_run: bool
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Copies the sound records; their sizes in bytes, and the others with the reason."""
    copied: dict[str, int] = {}
    left_out: list[tuple[str, str]] = []
    for key in keys:
        try:
            content = there.content(key)
            check(there, key, content)
        except SwingbyError as error:
            left_out.append((key if key.isprintable() else ascii(key), str(error)))
            continue
        if not dry_run:
            put = _put_plan if key.startswith("plans/") else Records.put
            put(here, key, content)
        copied[key] = len(content)
    return copied, left_out


# records of another folder


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
    folder, _, name = key.partition("/")
    match = NAMES[folder].fullmatch(key) if folder in NAMES else None
    if match is None:
        raise SwingbyError("its name is none that swingby gives a record")
    try:
        check_size(pq.ParquetFile(io.BytesIO(content)).metadata)
    except (pa.ArrowException, OSError) as error:
        raise SwingbyError(f"it is torn or corrupt: {str(error).splitlines()[0]}") from error
    if folder == "plans":
        return _checked_plan(name, content, match)
    if folder == "derived":
        header, _ = records.read_derived(name, content)
        if (header["kind"], header["version"]) != (match[1], match[2]):
            kind = f"{header['kind']!r:.60} of version {header['version']!r:.40}"
            raise SwingbyError(f"it is {kind}; its name says another")
        return None
    if folder == "retractions":
        _check_cells(records.read_retraction(name, content).table)
        return None
    shard, table = records.read_shard(name, content)
    if (shard.plan_id, shard.batch, shard.attempt) != (match[1], int(match[2]), int(match[3])):
        raise SwingbyError(f"it is of batch {shard.batch} of {shard.plan_id!r:.80}, and its name says another")
    if not _SWEEP.fullmatch(shard.sweep_id) or shard.sweep_id[:8] != match[1].split("-")[-2]:
        raise SwingbyError(f"it is of sweep {shard.sweep_id!r:.40}, and its plan of another")
    _check_cells(table)
    return None


def _checked_plan(name: str, content: bytes, match: re.Match[str]) -> Plan:
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


def _check_cells(table: pa.Table) -> None:
    if table["cell_id"].null_count or (
        table.num_rows and pc.call_function("max", [pc.call_function("utf8_length", [table["cell_id"]])]).as_py() > 64
    ):
        raise SwingbyError("the id of a cell is missing, or has more than 64 characters")
