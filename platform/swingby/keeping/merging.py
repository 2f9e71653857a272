"""Merging: the records of another data folder are copied into this one, each file whole and checked, then ingested.

A record is what its name says for good, so a merge is a union of files: it can be stopped and begun again, done twice,
and done in any order, and the store of the union is what comes of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from swingby.errors import SwingbyError
from swingby.files import is_as_named
from swingby.keeping.checking import check
from swingby.records import Plan, Records
from swingby.run.batch import committing
from swingby.run.progress import counted, size
from swingby.store import Taken, ingest

DIGITS = {"shards": 8, "derived": 12, "retractions": 12}
"""Digits of the content that end the names of the records in these folders."""


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
        SwingbyError: the folders are one; one is of an unknown format; a plan of the same name differs in them, and
            then nothing is copied; somebody runs, in this folder, a sweep of which a plan would come in.
    """
    there = Records.open(other, create=False)
    here = _opened(data, dry_run)
    if here.data.exists() and here.data.samefile(there.data):
        raise SwingbyError(f"{other} and {data} are the same data folder")
    keys = there.paths()
    missing = [key for key in keys if not _is_here(here, there, key)]
    _refuse_collisions(here, there, missing)
    with ExitStack() as stack:
        if not dry_run:
            _exclude_runs(stack, here, there, missing)
        copied, left_out = _copy(here, there, missing, dry_run)
    done = Counter(key.partition("/")[0] for key in copied)
    taken = None if dry_run else ingest(here)
    return Merged(done, sum(copied.values()), len(keys) - len(missing), tuple(left_out), taken)


def _opened(data: str | Path, dry_run: bool) -> Records:
    folder = Path(data).expanduser().absolute()
    return Records(folder) if dry_run and not folder.exists() else Records.open(folder, create=not dry_run)


def _is_here(here: Records, there: Records, key: str) -> bool:
    """Whether this folder has the record; one that is torn here, and not there, counts as missing."""
    found = here.size(key)
    if found is None:
        return False
    digits = DIGITS.get(key.partition("/")[0])
    if digits is None:
        return here.content(key) == there.content(key)
    return found == there.size(key) or is_as_named(Path(key), here.content(key), digits)


def _sound(records: Records, key: str) -> Plan | None:
    """The plan of that path; None if it is torn or foreign."""
    try:
        return check(records, key, records.content(key))
    except SwingbyError:
        return None


def _refuse_collisions(here: Records, there: Records, missing: Sequence[str]) -> None:
    """A plan's name says no content: two sound ones may share it, where the same sweep was run in both folders."""
    both = [key for key in missing if key.startswith("plans/") and here.size(key) is not None]
    differ = [Path(key).stem for key in both if _sound(here, key) and _sound(there, key)]
    if differ:
        more = f" (and {len(differ) - 3:,} more)" if len(differ) > 3 else ""
        raise SwingbyError(
            f"the same sweep was run in both folders: {', '.join(differ[:3])}{more} is one plan in {here.data} and "
            f"another in {there.data}; nothing was merged. To merge the rest, copy {there.data} without these plans "
            "(plans/NAME.parquet) and their shards (shards/NAME), and merge the copy"
        )


def _exclude_runs(stack: ExitStack, here: Records, there: Records, missing: Sequence[str]) -> None:
    """Nobody runs a sweep while plans of it come in: a run gives way to a plan that is newer than its own."""
    plans = [_sound(there, key) for key in missing if key.startswith("plans/")]
    for sweep_id in sorted({plan.sweep_id for plan in plans if plan is not None}):
        stack.enter_context(here.lock(sweep_id))
        stack.enter_context(committing(here, sweep_id))


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
            here.put(key, content)
        copied[key] = len(content)
    return copied, left_out
