"""A data folder on this machine that stands for one on object storage: what either has comes to the other."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from swingby.data.files import TEMPORARY, is_entry, write_whole
from swingby.data.remote.bucket import Bucket, Held, StorageError
from swingby.data.remote.signals import Signals
from swingby.errors import SwingbyError

FORMAT = "swingby.json"
"""What makes a data folder one; on object storage, too."""
RECORDS = ("plans", "retractions", "shards", "derived")
"""Folders whose files are the truth: each is written once under its name, so that both sides can be united."""
LEFT = "left-"
"""With what the note begins of a record that could not be put."""
AT_ONCE = 8
COST = 10.0
"""A run looks for what others leave after so many times what its last look took."""
STEADFAST = 240.0
"""Seconds for which what was trained is tried to be put: a run outlives a storage that is out for so long."""
SILENT = 60.0
"""Seconds for which a storage that did not answer is not asked again, where that is forgiven."""
WORTH_TELLING = 200
"""Records; of fewer nobody is told that they are on their way."""
T = TypeVar("T")


class Mirror:
    """What this process knows of one address and the folder that stands for it; several threads may ask at once.

    Attributes:
        forgive: called with the reason when the storage does not answer; what is here is then taken for all there is.
            None: that is an error.
    """

    def __init__(self, folder: Path, bucket: Bucket) -> None:
        self.folder, self.bucket = folder, bucket
        self.signals = Signals(bucket)
        self.forgive: Callable[[str], object] | None = None
        self._uniting = threading.Lock()
        self._due = self._silent = 0.0

    # records

    def begin(self, create: bool, mark: bytes) -> None:
        """Sees to it that both sides are data folders, of one format; if there is none and `create`, they become one.

        Raises:
            SwingbyError: there is none, or something else; or the storage does not answer (unless that is forgiven).
        """
        self._asked(lambda: self._begin(create, mark), None)

    def _begin(self, create: bool, mark: bytes) -> None:
        content, here = self.bucket.content(FORMAT), self.folder / FORMAT
        if content is None and here.exists():
            raise SwingbyError(
                f"there is no data folder at {self.bucket.address} any more, and {self.folder} still holds what it "
                f"had: copy that back, {FORMAT} first; or remove that folder, and begin anew"
            )
        if content is None and create:
            if strange := self.bucket.listing(deep=False):
                raise SwingbyError(
                    f"{self.bucket.address} is not a data folder: it has objects ({strange[0].key}) but no {FORMAT}; "
                    "choose another prefix"
                )
            content = mark
            self.bucket.put(FORMAT, content)
        if content is not None and not (here.exists() and here.read_bytes() == content):
            _keep(here, content)

    def unite(self, tell: Callable[[str], object] = lambda text: None) -> int:
        """Fetches the records that are only there, and puts those that are only here; how many there were.

        Raises:
            StorageError: the storage does not answer (unless that is forgiven); what came is whole.
            SwingbyError: the disk refuses.
        """
        return self._asked(lambda: self._unite(tell), 0)

    def _unite(self, tell: Callable[[str], object]) -> int:
        with self._uniting:
            # The last first: what is listed afterwards is at least as new, so that no shard comes before its plan.
            there = {name: self.bucket.listing(name) for name in reversed(RECORDS)}
            moved = 0
            for name in RECORDS:
                moved += self._fetch(there[name], tell)
                moved += self._put(name, {item.key for item in there[name]}, tell)
            return moved

    def look(self, folders: Iterable[str]) -> int:
        """Fetches what is new in some folders, not more often than it is worth; how many records that were.

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
        """Fetches the records whose keys begin so; how many there were that are not here.

        Raises:
            StorageError: as `unite`.
        """
        found = self.bucket.listing(start.rpartition("/")[0])
        return self._fetch([item for item in found if item.key.startswith(start)])

    def fetch(self, key: str) -> None:
        """Fetches one record, if it is there and not here.

        Raises:
            StorageError: as `unite`.
        """
        if not (self.folder / key).exists() and (found := self._asked(lambda: self.bucket.find(key), None)) is not None:
            self._fetch([found])

    def publish(self, key: str, plan_id: str, alive: Callable[[], object] = lambda: None) -> bool:
        """Puts a record of a plan that was written here just now, and tries that for long; one that could not be put is
        noted. False, and nothing is put, if another driver has taken over.

        Args:
            key: of the record.
            plan_id: its plan.
            alive: called again and again, however long it takes.

        Raises:
            StorageError: the storage does not answer; `put_left` puts it later.
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
        notes = list(self._left.glob(f"{LEFT}*"))  # before looking: what is noted later may not be put by this
        if notes:
            self._put("shards", {item.key for item in self.bucket.listing("shards")}, lambda text: None)
        for note in notes:
            note.unlink(missing_ok=True)

    @property
    def _left(self) -> Path:
        """Has a note for each record that was left."""
        return self.folder / "work" / "put"

    def put(
        self,
        key: str,
        path: Path | None = None,
        patience: float | None = None,
        alive: Callable[[], object] = lambda: None,
    ) -> None:
        """Puts one record that is here, or (under its name) in another file.

        Raises:
            StorageError: the storage does not answer.
        """
        self.bucket.put(key, path or self.folder / key, patience, alive)

    def _fetch(self, found: Iterable[Held], tell: Callable[[str], object] = lambda text: None) -> int:
        lacking = [item for item in found if is_record(item.key) and self._lacks(item)]
        if len(lacking) >= WORTH_TELLING:
            tell(f"fetching {len(lacking):,} records from {self.bucket.address} ...")
        return _at_once(self._bring, lacking)

    def _lacks(self, item: Held) -> bool:
        """Whether it is not here; of plans, whose names say no content, also whether another one is."""
        path = self.folder / item.key
        return not path.exists() or (item.key.startswith("plans/") and path.stat().st_size != item.size)

    def _bring(self, item: Held) -> None:
        content = self.bucket.content(item.key)
        if content is not None and len(content) != item.size:
            raise StorageError(f"{item.key} in {self.bucket.address} came with {len(content)} of {item.size} bytes")
        if content is not None:
            _keep(self.folder / item.key, content)

    def _put(self, name: str, there: set[str], tell: Callable[[str], object]) -> int:
        here = sorted(path for path in (self.folder / name).rglob("*") if not path.name.startswith(TEMPORARY))
        missing = [key for path in here if (key := path.relative_to(self.folder).as_posix()) not in there]
        missing = [key for key in missing if is_record(key) and (self.folder / key).is_file()]
        if len(missing) >= WORTH_TELLING:
            tell(f"putting {len(missing):,} records to {self.bucket.address} ...")
        return _at_once(self.put, missing)

    def _asked(self, ask: Callable[[], T], otherwise: T) -> T:
        """What the storage says; where it does not answer and that is forgiven, something else."""
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
    """Does so many at a time; how many there were."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in pool.map(work, items):
            pass
    return len(items)


def is_record(key: str) -> bool:
    """Whether a key names a record, and no place outside of the folder: who may write to the storage is not known."""
    folder, *rest = key.split("/")
    return folder in RECORDS and 0 < len(rest) <= 2 and all(map(is_entry, rest)) and "\\" not in key
