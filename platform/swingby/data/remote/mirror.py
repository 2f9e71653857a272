"""Mirrors: data folders on this machine, each with the records of one address of object storage."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from swingby.data.files import (
    TEMPORARY,
    clear_os_errors,
    files_below,
    is_entry,
    is_locked,
    user_cache,
    write_json,
    write_whole,
)
from swingby.data.remote.address import DATA_MARK, MARK
from swingby.data.remote.bucket import Bucket, Held, StorageError
from swingby.data.remote.signals import Signals
from swingby.errors import SwingbyError

ROOT = "SWINGBY_MIRRORS"
"""Environment variable: the folder in which mirrors lie."""
RECORDS = ("plans", "retractions", "shards", "derived")
"""Folders of records: each file is written once under its name, so that a mirror and its address can be united."""
LEFT = "left-"
"""How the name of the note begins that a record could not be put."""
AT_ONCE = 8
"""Requests under way at a time."""
COST = 10.0
"""New records are fetched again after this many times the duration of the last fetch."""
STEADFAST = 240.0
"""Seconds for which the put of results is repeated: a run outlives a storage that is out for so long."""
SILENT = 60.0
"""Seconds for which a storage that did not answer is not asked again, where `forgive` is set."""
WORTH_TELLING = 200
"""Least number of records whose transfer is announced."""
T = TypeVar("T")


class Mirror:
    """One address and the folder on this machine that mirrors it; safe for several threads.

    Attributes:
        forgive: called with the reason when the storage does not answer; the records in the folder are then taken for
            all there are. None: a storage that does not answer is an error.
    """

    def __init__(self, folder: Path, bucket: Bucket) -> None:
        self.folder, self.bucket = folder, bucket
        self.signals = Signals(bucket)
        self.forgive: Callable[[str], object] | None = None
        self._uniting = threading.Lock()
        self._due = self._silent = 0.0

    def begin(self, create: bool, mark: bytes) -> None:
        """Makes folder and address data folders of one format; if the address is none yet, only if `create`.

        Args:
            mark: the content of the mark of a new data folder.

        Raises:
            SwingbyError: the address is no data folder; or the storage does not answer (unless `forgive` is set).
        """

        def ask() -> None:
            content, here = self.bucket.content(DATA_MARK), self.folder / DATA_MARK
            if content is None and here.exists():
                raise SwingbyError(
                    f"there is no data folder at {self.bucket.address} any more, and {self.folder} still holds what it "
                    f"had: copy that back, {DATA_MARK} first; or remove that folder, and begin anew"
                )
            if content is None and create:
                strange = self.bucket.listing(deep=False)
                if strange:  # asked again: another machine may begin the data folder just now
                    content = self.bucket.content(DATA_MARK)
                if strange and content is None:
                    raise SwingbyError(
                        f"{self.bucket.address} is not a data folder: it has objects ({strange[0].key}) but no "
                        f"{DATA_MARK}; choose another prefix"
                    )
                if content is None:
                    content = mark
                    self.bucket.put(DATA_MARK, content)
            if content is not None and not (here.exists() and here.read_bytes() == content):
                _keep(here, content)

        self._answer(ask, None)

    def unite(self, tell: Callable[[str], object] = lambda text: None) -> int:
        """Fetches the records that are only there, and puts those that are only here; returns how many.

        Raises:
            StorageError: the storage does not answer (unless `forgive` is set); every record that came is whole.
            SwingbyError: the disk refuses.
        """

        def ask() -> int:
            with self._uniting:
                # In reverse order: a later listing is at least as new, so that no shard comes before its plan.
                there = {name: self.bucket.listing(name) for name in reversed(RECORDS)}
                moved = 0
                for name in RECORDS:
                    moved += self._fetch(there[name], tell)
                    moved += self._put(name, {item.key for item in there[name]}, tell)
                return moved

        return self._answer(ask, 0)

    def fetch_new(self, folders: Iterable[str]) -> int:
        """Fetches the new records of some folders, unless the last fetch was too recent (`COST`); returns how many.

        Raises:
            StorageError: as `unite`.
        """
        began = time.monotonic()
        if began < self._due:
            return 0
        try:
            with self._uniting:
                return self._fetch([item for name in folders for item in self.bucket.listing(name)])
        finally:
            now = time.monotonic()
            self._due = now + COST * (now - began)

    def fetch_all(self, start: str) -> int:
        """Fetches the records whose keys begin with a text and that are not here; returns how many.

        Raises:
            StorageError: as `unite`.
        """
        items = self.bucket.listing(start.rpartition("/")[0])
        return self._fetch([item for item in items if item.key.startswith(start)])

    def fetch(self, key: str) -> None:
        """Fetches one record, if it is there and not here.

        Raises:
            StorageError: as `unite`.
        """
        if not (self.folder / key).exists():
            item = self._answer(lambda: self.bucket.find(key), None)
            self._fetch([] if item is None else [item])

    def publish(self, key: str, plan_id: str, alive: Callable[[], object] = lambda: None) -> bool:
        """Puts a new record of a plan, repeated for `STEADFAST` seconds; False, if another driver has taken over.

        Args:
            key: of the record.
            plan_id: its plan.
            alive: called again and again, however long it takes.

        Raises:
            StorageError: the storage does not answer; a note is left, by which `put_left` puts the record later.
        """
        try:
            if self.signals.is_over(plan_id, STEADFAST):
                return False
            self.put(key, None, STEADFAST, alive)
        except StorageError:
            self._left.mkdir(parents=True, exist_ok=True)
            (self._left / f"{LEFT}{uuid.uuid4().hex}").touch()
            raise
        return True

    def put_left(self) -> None:
        """Puts the shards of this machine that `publish` could not put.

        Raises:
            StorageError: the storage does not answer.
        """
        notes = list(self._left.glob(f"{LEFT}*"))  # before the listing: this may not put what is noted later
        if notes:
            self._put("shards", {item.key for item in self.bucket.listing("shards")}, lambda text: None)
        for note in notes:
            note.unlink(missing_ok=True)

    @property
    def _left(self) -> Path:
        """The folder with a note for each record that could not be put."""
        return self.folder / "work" / "put"

    def put(
        self,
        key: str,
        path: Path | None = None,
        patience: float | None = None,
        alive: Callable[[], object] = lambda: None,
    ) -> None:
        """Puts one record, from its file in the folder or from another path.

        Raises:
            StorageError: the storage does not answer.
        """
        self.bucket.put(key, path or self.folder / key, patience, alive)

    def _fetch(self, items: Iterable[Held], tell: Callable[[str], object] = lambda text: None) -> int:
        lacking = []
        for item in items:
            path = self.folder / item.key
            here = is_record(item.key) and path.exists()
            # The name of a plan does not say its content: another plan of that name may be here.
            if here and item.key.startswith("plans/"):
                here = path.stat().st_size == item.size
            if is_record(item.key) and not here:
                lacking.append(item)
        if len(lacking) >= WORTH_TELLING:
            tell(f"fetching {len(lacking):,} records from {self.bucket.address} ...")
        return _at_once(self._fetch_one, lacking)

    def _fetch_one(self, item: Held) -> None:
        content = self.bucket.content(item.key)
        if content is not None and len(content) != item.size:
            raise StorageError(f"{item.key} in {self.bucket.address} came with {len(content)} of {item.size} bytes")
        if content is not None:
            _keep(self.folder / item.key, content)

    def _put(self, name: str, there: set[str], tell: Callable[[str], object]) -> int:
        here = sorted(path for path in files_below(self.folder / name) if not path.name.startswith(TEMPORARY))
        missing = [key for path in here if (key := path.relative_to(self.folder).as_posix()) not in there]
        missing = [key for key in missing if is_record(key) and (self.folder / key).is_file()]
        missing = [key for key in missing if not is_locked(self.folder / key)]  # whoever publishes it may be refused
        if len(missing) >= WORTH_TELLING:
            tell(f"putting {len(missing):,} records to {self.bucket.address} ...")
        return _at_once(self.put, missing)

    def _answer(self, ask: Callable[[], T], otherwise: T) -> T:
        """The answer of the storage; `otherwise`, where it does not answer and `forgive` is set."""
        if self.forgive is not None and time.monotonic() < self._silent:
            return otherwise
        try:
            return ask()
        except StorageError as error:
            if self.forgive is None:
                raise
            self._silent = time.monotonic() + SILENT
            self.forgive(str(error))
            return otherwise


def _keep(path: Path, content: bytes) -> None:
    write_whole(path, lambda temporary: temporary.write_bytes(content))


def _at_once(work: Callable[[T], object], items: Sequence[T]) -> int:
    """Does `work` on every item, `AT_ONCE` at a time; returns how many items there were."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in pool.map(work, items):
            pass
    return len(items)


def is_record(key: str) -> bool:
    """Whether a key names a record, and no place outside of the folder; anybody may have written to the storage."""
    folder, *rest = key.split("/")
    return folder in RECORDS and 0 < len(rest) <= 2 and all(map(is_entry, rest)) and "\\" not in key


# which folder mirrors which address


def root() -> Path:
    """The folder in which this user's mirrors lie."""
    return user_cache("mirrors", ROOT)


def folder_of(address: str) -> Path:
    """The folder on this machine that mirrors an address; made, with its mark, but nothing is fetched.

    Raises:
        SwingbyError: no such kind of address; or the disk refuses.
    """
    bucket = Bucket(address)
    readable = re.sub(r"[^\w.-]+", "-", address.split("?")[0].split("://")[1]).strip("-")[:40]
    folder = root() / f"{readable}-{hashlib.sha256(bucket.address.encode()).hexdigest()[:12]}"
    with clear_os_errors(f"keep a mirror of {address} in {folder} ({ROOT} says where)"):
        root().mkdir(mode=0o700, parents=True, exist_ok=True)  # only those who may read the bucket may see its records
        if not (folder / MARK).exists():
            write_json(folder / MARK, {"address": bucket.address})
    return folder


_known: dict[Path, Mirror] = {}
_knowing = threading.Lock()


def mirrored(folder: Path) -> Mirror | None:
    """The mirror in a folder, one object a process; None if the folder is no mirror.

    Raises:
        SwingbyError: its mark cannot be read.
    """
    mark = folder / MARK
    try:
        address = json.loads(mark.read_bytes())["address"]
        with _knowing:
            if folder not in _known or _known[folder].bucket.address != address:
                _known[folder] = Mirror(folder, Bucket(address))
            return _known[folder]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise SwingbyError(f"{mark} cannot be read: it should say {{'address': 's3://...'}}") from error
