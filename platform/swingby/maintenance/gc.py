"""Garbage collection: unfinished files, checkpoints of finished cells, old copies of the store, folders of queries."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyarrow as pa

from swingby.data.files import TEMPORARY, clear_os_errors, files_below, forsaken
from swingby.data.records import Records
from swingby.data.remote.bucket import Held
from swingby.errors import SwingbyError
from swingby.maintenance.retract import batches_of
from swingby.run.commit_lock import commit_lock
from swingby.store import Store, ingest, tidy

HOURS = 24.0
"""Hours after which an untouched unfinished file counts as forsaken: no living writer pauses for so long."""
SETTLING = 60.0
"""Seconds after which a query's process surely works in its folder."""
_SWEEP = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Collected:
    """The outcome of `collect`: removed paths below the data folder with their bytes, and reasons for what was left."""

    removed: tuple[tuple[str, int], ...]
    left: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """The bytes that are freed."""
        return sum(size for _, size in self.removed)


def collect(data: str | Path, dry_run: bool = False, older_than: float = HOURS) -> Collected:
    """Removes files that no reader, no writer and no later run needs; records are never touched.

    Args:
        dry_run: remove nothing.
        older_than: hours after which an unfinished file counts as forsaken, where it is not known whether its writer
            lives, as on another machine.

    Raises:
        SwingbyError: no such data folder, or the disk refuses.
    """
    records = Records.open(data, create=False)
    removed: list[tuple[str, int]] = []
    left: list[str] = []
    with clear_os_errors(f"tidy {records.data}"):
        for path in records.unfinished(store=False):  # those of the store: `tidy`
            with suppress(FileNotFoundError):
                entry = _entry(records, path)
                if forsaken(path, older_than * 3600, remove=not dry_run):
                    removed.append(entry)
        removed += _sandboxes(records, max(older_than * 3600, SETTLING), dry_run)
        removed += _asides(records, max(older_than * 3600, SETTLING), dry_run)
        removed += _checkpoints(records, left, dry_run)
        try:
            removed += [one for one in tidy(records, dry_run, older_than) if one not in removed]
        except SwingbyError as error:
            left.append(str(error))
    return Collected(tuple(removed), tuple(left))


def _entry(records: Records, path: Path) -> tuple[str, int]:
    """A path below the data folder, and the bytes that its removal frees: none, of a file with other hard links."""
    files = [path] if path.is_file() else files_below(path)
    freed = sum(stat.st_size for stat in (file.lstat() for file in files) if stat.st_nlink == 1)
    return path.relative_to(records.data).as_posix(), freed


def _sandboxes(records: Records, seconds: float, dry_run: bool) -> Iterator[tuple[str, int]]:
    """The folders of queries whose processes are gone."""
    folders = sorted(records.data.glob(".sandbox-*"))
    places = set[Path]()
    for process in psutil.process_iter() if folders else ():
        with suppress(psutil.Error, OSError):  # of another user, or gone
            places.add(Path(process.cwd()))
    for folder in folders:
        with suppress(FileNotFoundError):
            if folder.resolve() in places or time.time() - folder.stat().st_mtime < seconds:
                continue
            entry = _entry(records, folder)
            if not dry_run:
                shutil.rmtree(folder, ignore_errors=True)
            yield entry


def _asides(records: Records, seconds: float, dry_run: bool) -> Iterator[tuple[str, int]]:
    """Folders that drivers and workers left when they were killed: those of Tune, and of checkpoints being packed."""
    work = records.data / "work"
    folders = sorted([*work.glob(".tune-*"), *(work / "put").glob(f"{TEMPORARY}*")])
    sweeps = {records.read_plan(plan).sweep_id for plan in records.plans()} if folders else set[str]()
    # Their names do not say whose they are, and a run of days may not touch its own for days.
    if any(map(records.holder, sweeps)):
        return
    for folder in folders:
        with suppress(FileNotFoundError):
            newest = max(path.lstat().st_mtime for path in [folder, *files_below(folder)])
            if folder.is_dir() and time.time() - newest >= seconds:
                entry = _entry(records, folder)
                if not dry_run:
                    shutil.rmtree(folder, ignore_errors=True)
                yield entry


# checkpoints


def _checkpoints(records: Records, left: list[str], dry_run: bool) -> list[tuple[str, int]]:
    """Folders of checkpoints that no run continues from, and flags of runs that have ended."""
    work, away = records.data / "work", _away(records)
    if not work.is_dir() and not away:
        return []
    removed: list[tuple[str, int]] = []
    if records.plans() and not dry_run:
        ingest(records)
    folders = {path.name for path in work.iterdir() if _SWEEP.fullmatch(path.name)} if work.is_dir() else set[str]()
    flags = {_start_of(path) for path in _flags(work)}
    plans = [plan for plan in records.plans() if plan.count("-") > 1 and plan.split("-")[-2] in flags]
    flagged = {records.read_plan(plan).sweep_id for plan in plans}
    for sweep_id in sorted(folders | flagged | away.keys()):
        try:
            with records.lock(sweep_id), commit_lock(records, sweep_id):
                paths, items = _needless(records, work, sweep_id, away.get(sweep_id, []))
                for path in paths:
                    removed.append(_entry(records, path))
                    if path.is_dir() and not dry_run:
                        shutil.rmtree(path)
                    elif not dry_run:
                        path.unlink(missing_ok=True)
                for item in items:
                    removed.append((item.key, item.size))
                    if not dry_run and records.mirror is not None:
                        records.mirror.bucket.remove(item.key)
        except SwingbyError as error:
            left.append(f"checkpoints in work/{sweep_id}: {error}")
    return removed


def _flags(work: Path) -> list[Path]:
    """Flag files by which drivers ask workers to stop, notes on how a worker died, and reports of how far it is."""
    return [path for name in ("drain", "b*-*.died", "b*-*.meter*") for path in work.glob(f"*-*-*.{name}")]


def _start_of(flag: Path) -> str:
    """The first digits of the sweep of a flag, from the plan in the flag's name."""
    return flag.name.split(".")[0].split("-")[-2]


def _needless(records: Records, work: Path, sweep_id: str, items: list[Held]) -> tuple[list[Path], list[Held]]:
    """The paths here, and the objects among `items`, that a sweep which nobody runs does not need."""
    flags = [path for path in _flags(work) if _start_of(path) == sweep_id[:8]]
    folders = [path for path in sorted((work / sweep_id).glob("*")) if path.is_dir()]
    finished = _finished_folders(records, sweep_id) if folders or items else None
    names = None if finished is None else {folder.name for folder in finished}
    items = [item for item in items if names is None or item.key.endswith(".drain") or Path(item.key).stem in names]
    if not folders:
        return [*flags, *([work / sweep_id] if (work / sweep_id).is_dir() else [])], items
    if finished is not None:
        needless = [folder for folder in folders if folder in finished or folder.name.startswith(TEMPORARY)]
    else:
        needless = folders
    whole = len(needless) == len(folders) == len(list((work / sweep_id).iterdir()))
    return [*flags, *([work / sweep_id] if whole else needless)], items


def _finished_folders(records: Records, sweep_id: str) -> set[Path] | None:
    """The folders of batches whose every cell has a result; None for all: every cell has one, or no cell is planned."""
    same_start = [records.read_plan(plan) for plan in records.plans() if plan.split("-")[-2:-1] == [sweep_id[:8]]]
    plans = [plan for plan in same_start if plan.sweep_id == sweep_id]
    if not plans:
        return None
    newest = max(plans, key=lambda plan: plan.sequence)
    ids = newest.table["cell_id"].combine_chunks()
    with Store.open(records.data) as store:
        letters = store.states(newest.experiment, ids, newest.recording.tokens)
    missing = set(ids.filter(pa.array(letters == "m")).to_pylist())
    if not missing:
        return None
    done = (cells for cells in batches_of(records, sweep_id) if missing.isdisjoint(cells))
    return {records.workdir(sweep_id, cells) for cells in done}


def _away(records: Records) -> dict[str, list[Held]]:
    """The checkpoints and flags on object storage, by their sweep."""
    items: dict[str, list[Held]] = {}
    for item in records.mirror.bucket.listing("work") if records.mirror is not None else ():
        _, name, *rest = item.key.split("/")
        if not rest and name.removesuffix(".drain") in records.plans():
            name = records.read_plan(name.removesuffix(".drain")).sweep_id
        if _SWEEP.fullmatch(name):
            items.setdefault(name, []).append(item)
    return items
