"""Merging: the records of another data folder are copied into this one, each file whole and checked, then ingested.

A record is what its name says for good, so a merge is a union of files: it can be stopped and begun again, done twice,
and done in any order, and the store of the union is what comes of it. Only the name of a plan does not say its content:
where the same sweep was run in both folders, the plan that was created first has the name, and every other the name
with digits of its content, `NAME+0123456789ab`. Results of both lie side by side; which row stands for a cell that was
trained twice is what it always is (`swingby.store.resolve`): a result before a failure, more recordings before fewer,
then the one that was finished first.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from swingby.data.files import is_as_named
from swingby.data.folder import place_of
from swingby.data.records import Plan, Records
from swingby.errors import SwingbyError
from swingby.maintenance.check import check
from swingby.run.commit_lock import commit_lock
from swingby.store import Taken, ingest
from swingby.units import counted, size

DIGITS = {"shards": 8, "derived": 12, "retractions": 12}
"""Digits of the content that end the names of the records in these folders."""
TWIN_DIGITS = 12
"""The same, for plans whose name another one has."""


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did, or would do.

    Attributes:
        copied: records that came in, by folder; bytes: of them all.
        there: records that were here already.
        left_out: records that are torn or foreign, with the reason.
        taken: what the ingest afterwards said; None if nothing was written.
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

    What is torn there, or none of swingby's, is left out. The other folder is only read; a run may go on in it.

    Raises:
        SwingbyError: the folders are one; one is of an unknown format; somebody runs, in this folder, a sweep of which
            a plan would come in.
    """
    there = Records.open(other, create=False)
    here = _opened(data, dry_run)
    if here.data.exists() and here.data.samefile(there.data):
        raise SwingbyError(f"{other} and {data} are the same data folder")
    keys = there.paths()
    missing = [key for key in keys if not _is_here(here, there, key)]
    with ExitStack() as stack:
        if not dry_run:
            _exclude_runs(stack, here, there, missing)
        copied, left_out = _copy(here, there, missing, dry_run)
    done = Counter(key.partition("/")[0] for key in copied)
    taken = None if dry_run else ingest(here)
    return Merged(done, sum(copied.values()), len(keys) - len(missing), tuple(left_out), taken)


def _opened(data: str | Path, dry_run: bool) -> Records:
    folder = place_of(data)
    return Records(folder) if dry_run and not folder.exists() else Records.open(data, create=not dry_run)


def _is_here(here: Records, there: Records, key: str) -> bool:
    """Whether this folder has the record; one that is torn here, and not there, counts as missing."""
    if key.startswith("plans/"):
        return _plan_is_here(here, there, key)
    found = here.size(key)
    if found is None:
        return False
    digits = DIGITS[key.partition("/")[0]]
    return found == there.size(key) or is_as_named(Path(key), here.content(key), digits)


def _sound(records: Records, key: str) -> Plan | None:
    """The plan of that path; None if it is torn or foreign."""
    try:
        return check(records, key, records.content(key))
    except SwingbyError:
        return None


def _plan_is_here(here: Records, there: Records, key: str) -> bool:
    """Whether this folder has the plan, under its own name or under that with its content."""
    with suppress(SwingbyError):
        content = there.content(key)
        names = (_plain(key), _twin(key, content))
        return any(here.content(name) == content for name in names if here.size(name) is not None)
    return False


def _plain(key: str) -> str:
    """The name that a plan was given when it was written."""
    return f"{key.removesuffix('.parquet').partition('+')[0]}.parquet"


def _twin(key: str, content: bytes) -> str:
    """The name of a plan whose own name an older one has."""
    return f"{_plain(key).removesuffix('.parquet')}+{hashlib.sha256(content).hexdigest()[:TWIN_DIGITS]}.parquet"


def _put_plan(here: Records, key: str, content: bytes) -> None:
    """Puts a sound plan here; of those of one name the first created has it, wherever it came from."""
    name, coming = _plain(key), check(here, key, content)
    own = _sound(here, name) if here.size(name) is not None else None
    if own is None or coming is None:
        here.put(name, content)
        return
    known = here.content(name)
    if content == known:
        return
    first, second = sorted([(own.created, known), (coming.created, content)])
    here.put(_twin(name, second[1]), second[1])
    if first[1] != known:
        here.put(name, first[1])


def _exclude_runs(stack: ExitStack, here: Records, there: Records, missing: Sequence[str]) -> None:
    """Nobody runs a sweep while plans of it come in: a run gives way to a plan that is newer than its own."""
    plans = [_sound(there, key) for key in missing if key.startswith("plans/")]
    for sweep_id in sorted({plan.sweep_id for plan in plans if plan is not None}):
        stack.enter_context(here.lock(sweep_id))
        stack.enter_context(commit_lock(here, sweep_id))


def _copy(
    here: Records, there: Records, keys: Sequence[str], dry_run: bool
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The records that are sound, with their bytes, and the others with the reason."""
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
