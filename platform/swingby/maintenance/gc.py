"""Collecting what nobody needs any more: unfinished files, checkpoints of finished cells, and copies of the store."""

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

from swingby.data.files import TEMPORARY, clear_os_errors, forsaken
from swingby.data.records import Records
from swingby.data.remote.bucket import Held
from swingby.errors import SwingbyError
from swingby.maintenance.retract import batches_of
from swingby.run.commit_lock import commit_lock
from swingby.store import Store, ingest, tidy

HOURS = 24.0
"""Nobody who lives leaves a file untouched for so long while writing it."""
SETTLING = 60.0
"""Seconds that the folder of a query has until its process works in it."""
_SWEEP = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Collected:
    """What was, or would be, removed: paths below the data folder with their bytes; and what was left, with why."""

    removed: tuple[tuple[str, int], ...]
    left: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """What it frees."""
        return sum(size for _, size in self.removed)


def collect(data: str | Path, dry_run: bool = False, older_than: float = HOURS) -> Collected:
    """Removes what no reader, no writer and no later run needs; records are never touched.

    Args:
        older_than: hours after which a file that is being written is taken for forsaken, where it cannot be seen
            whether its writer lives (on another machine, say).

    Raises:
        SwingbyError: no such data folder, or the disk refuses.
    """
    records = Records.open(data, create=False)
    removed: list[tuple[str, int]] = []
    left: list[str] = []
    with clear_os_errors(f"tidy {records.data}"):
        removed += _unfinished(records, older_than * 3600, dry_run)
        removed += _sandboxes(records, max(older_than * 3600, SETTLING), dry_run)
        removed += _asides(records, max(older_than * 3600, SETTLING), dry_run)
        removed += _checkpoints(records, left, dry_run)
        try:
            removed += [one for one in tidy(records, dry_run) if one not in removed]
        except SwingbyError as error:
            left.append(str(error))
    return Collected(tuple(removed), tuple(left))


def _unfinished(records: Records, seconds: float, dry_run: bool) -> Iterator[tuple[str, int]]:
    for path in records.unfinished():
        with suppress(FileNotFoundError):
            told = _told(records, path)
            if forsaken(path, seconds, remove=not dry_run):
                yield told


def _told(records: Records, path: Path) -> tuple[str, int]:
    """A path below the data folder, and what removing it frees: nothing, of a file with another name elsewhere."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    freed = sum(stat.st_size for stat in (file.lstat() for file in files) if stat.st_nlink == 1)
    return path.relative_to(records.data).as_posix(), freed


def _sandboxes(records: Records, seconds: float, dry_run: bool) -> Iterator[tuple[str, int]]:
    """The folders of queries whose processes are gone."""
    found = sorted(records.data.glob(".sandbox-*"))
    places = _working_places() if found else set[Path]()
    for folder in found:
        with suppress(FileNotFoundError):
            if folder.resolve() in places or time.time() - folder.stat().st_mtime < seconds:
                continue
            told = _told(records, folder)
            if not dry_run:
                shutil.rmtree(folder, ignore_errors=True)
            yield told


def _asides(records: Records, seconds: float, dry_run: bool) -> Iterator[tuple[str, int]]:
    """Folders in which drivers and workers that were killed did what is not done: of Tune, and of checkpoints."""
    work = records.data / "work"
    found = sorted([*work.glob(".tune-*"), *(work / "put").glob(f"{TEMPORARY}*")])
    sweeps = {records.read_plan(plan).sweep_id for plan in records.plans()} if found else set[str]()
    # They do not say whose they are, and that of a run of days may not be touched for days.
    if any(map(records.holder, sweeps)):
        return
    for folder in found:
        with suppress(FileNotFoundError):
            newest = max(path.lstat().st_mtime for path in [folder, *folder.rglob("*")])
            if folder.is_dir() and time.time() - newest >= seconds:
                told = _told(records, folder)
                if not dry_run:
                    shutil.rmtree(folder, ignore_errors=True)
                yield told


def _working_places() -> set[Path]:
    """The folders in which this machine's processes work, as far as they may be seen."""
    found = set[Path]()
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            found.add(Path(process.cwd()))
    return found


# checkpoints


def _checkpoints(records: Records, left: list[str], dry_run: bool) -> list[tuple[str, int]]:
    """Folders of checkpoints that no run goes on from, and flags of runs that have ended."""
    work, away = records.data / "work", _away(records)
    if not work.is_dir() and not away:
        return []
    removed: list[tuple[str, int]] = []
    if records.plans() and not dry_run:
        ingest(records)
    for sweep_id in sorted(_sweeps(records, work) | away.keys()):
        try:
            with records.lock(sweep_id), commit_lock(records, sweep_id):
                for path in _needless(records, work, sweep_id):
                    removed.append(_told(records, path))
                    if not dry_run:
                        _remove(path)
                for item in _needless_away(records, sweep_id, away.get(sweep_id, [])):
                    removed.append((item.key, item.size))
                    if not dry_run and records.mirror is not None:
                        records.mirror.bucket.remove(item.key)
        except SwingbyError as error:
            left.append(f"checkpoints in work/{sweep_id}: {error}")
    return removed


def _sweeps(records: Records, work: Path) -> set[str]:
    """The sweeps that have something in the folder of checkpoints."""
    if not work.is_dir():
        return set()
    folders = {path.name for path in work.iterdir() if _SWEEP.fullmatch(path.name)}
    flags = {_start_of(path) for path in _flags(work)}
    plans = [plan for plan in records.plans() if plan.count("-") > 1 and plan.split("-")[-2] in flags]
    return folders | {records.read_plan(plan).sweep_id for plan in plans}


def _flags(work: Path) -> list[Path]:
    """Flag files by which drivers ask workers to stop, and notes of watchdogs on how a worker died."""
    return [*work.glob("*-*-*.drain"), *work.glob("*-*-*.b*-*.died")]


def _start_of(flag: Path) -> str:
    """The first digits of the sweep that a flag is of, by the plan in its name."""
    return flag.name.split(".")[0].split("-")[-2]


def _needless(records: Records, work: Path, sweep_id: str) -> list[Path]:
    """What of a sweep that nobody runs can go."""
    flags = [path for path in _flags(work) if _start_of(path) == sweep_id[:8]]
    folders = [path for path in sorted((work / sweep_id).glob("*")) if path.is_dir()]
    if not folders:
        return [*flags, *([work / sweep_id] if (work / sweep_id).is_dir() else [])]
    finished = _finished_folders(records, sweep_id)
    gone = folders if finished is None else [folder for folder in folders if folder in finished]
    whole = len(gone) == len(folders) == len(list((work / sweep_id).iterdir()))
    return [*flags, *([work / sweep_id] if whole else gone)]


def _finished_folders(records: Records, sweep_id: str) -> set[Path] | None:
    """The folders of batches whose every cell has a result; None, for all, if the whole sweep has, or no plan."""
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
    """What lies beside the records on object storage: checkpoints and flags, by the sweep that they are of."""
    found: dict[str, list[Held]] = {}
    for item in records.mirror.bucket.listing("work") if records.mirror is not None else ():
        _, name, *rest = item.key.split("/")
        if not rest and name.removesuffix(".drain") in records.plans():
            name = records.read_plan(name.removesuffix(".drain")).sweep_id
        if _SWEEP.fullmatch(name):
            found.setdefault(name, []).append(item)
    return found


def _needless_away(records: Records, sweep_id: str, items: list[Held]) -> list[Held]:
    """Of a sweep that nobody runs: the flags, and checkpoints that no run goes on from."""
    finished = _finished_folders(records, sweep_id) if items else None
    names = None if finished is None else {folder.name for folder in finished}
    return [item for item in items if names is None or item.key.endswith(".drain") or Path(item.key).stem in names]


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
