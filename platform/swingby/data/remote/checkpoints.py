"""The checkpoints of a batch on object storage: its folder as one object, so that another machine can go on from it."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from swingby.data.files import TEMPORARY, clear_os_errors, entry, is_entry
from swingby.data.remote.bucket import Held
from swingby.data.remote.mirror import STEADFAST, Mirror
from swingby.errors import SwingbyError

COST = 10.0
"""Checkpoints are put again after so many times what it took the last time: a run pays a tenth at most."""
LEAST = 1.0
"""The same in seconds, at least."""


class Checkpoints:
    """The folder of a batch's checkpoints, and the object that stands for it; without a mirror, nothing to do.

    One process at a time trains a batch, so what is here and what is there follow each other: beside the folder a note
    says what was put last from here. If the object is another one, somebody went on elsewhere, and that counts; if it
    is gone, the batch was finished elsewhere, or taken back.
    """

    def __init__(self, mirror: Mirror | None, folder: Path) -> None:
        self._mirror, self._folder = mirror, folder
        self._key = f"work/{folder.parent.name}/{folder.name}.tar"
        self._due, self._seen = 0.0, ""

    @property
    def _note(self) -> Path:
        return entry(self._folder.parents[1] / "put", f"{self._folder.parent.name}-{self._folder.name}")

    def bring(self, alive: Callable[[], object] = lambda: None) -> None:
        """Makes the folder what it was when a batch of these cells was last trained, wherever that was.

        Args:
            alive: called again and again, however long it takes.

        Raises:
            SwingbyError: the storage does not answer, or the disk refuses.
        """
        if self._mirror is None:
            return
        there, here = self._mirror.bucket.find(self._key), self._put_last()
        if _told(there) == here:
            return
        with clear_os_errors(f"fetch the checkpoints {self._folder}"):
            self._note.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=self._note.parent) as aside:
                fetched = Path(aside) / "fetched"
                fetched.mkdir()
                if there is not None and self._mirror.bucket.fetch(self._key, Path(aside) / "object", alive):
                    self._unpack(Path(aside) / "object", fetched)
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder.parent.mkdir(parents=True, exist_ok=True)
                fetched.rename(self._folder)
            self._write_note(_told(there))

    def _unpack(self, packed: Path, folder: Path) -> None:
        try:
            _unpack(packed, folder)
        except tarfile.TarError as error:
            where = "" if self._mirror is None else self._mirror.bucket.address
            raise SwingbyError(f"{self._key} in {where} is no checkpoint ({error}); remove it") from error

    def put(self, at_last: bool = False, alive: Callable[[], object] = lambda: None) -> None:
        """Puts what is in the folder, not more often than it is worth, unless it is the last time.

        Args:
            at_last: it is.
            alive: as in `bring`.

        Raises:
            SwingbyError: the storage does not answer, or the disk refuses.
        """
        if self._mirror is None or (time.monotonic() < self._due and not at_last):
            return
        began, seen = time.monotonic(), self._stand()
        if not seen or seen == self._seen:
            return
        with clear_os_errors(f"put the checkpoints {self._folder}"):
            self._note.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=self._note.parent) as aside:
                packed = Path(aside) / "object"
                with tarfile.open(packed, "w") as tar:
                    tar.add(self._folder, ".")
                self._mirror.put(self._key, packed, STEADFAST, alive)
            self._write_note(_told(self._mirror.bucket.find(self._key, STEADFAST)))
        now = time.monotonic()
        self._seen, self._due = seen, now + max(LEAST, COST * (now - began))

    def drop(self) -> None:
        """There is nothing to go on from any more.

        Raises:
            SwingbyError: the storage does not answer.
        """
        if self._mirror is not None and self._put_last():
            self._mirror.bucket.remove(self._key)
            self._note.unlink(missing_ok=True)

    def _put_last(self) -> str:
        return self._note.read_text() if self._note.exists() else ""

    def _write_note(self, told: str) -> None:
        if told:
            self._note.write_text(told)
        else:
            self._note.unlink(missing_ok=True)

    def _stand(self) -> str:
        """Changes when something in the folder does; empty while there is nothing."""
        files = sorted(path for path in self._folder.rglob("*") if path.is_file())
        stats = [(path, path.stat()) for path in files]
        return " ".join(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stats)


def _told(found: Held | None) -> str:
    """Tells an object from any other that was put under its name; empty for none."""
    return "" if found is None else f"{found.size} {found.taken}"


def _unpack(packed: Path, folder: Path) -> None:
    """Plain files with plain names; whatever else somebody may have put there is passed over."""
    with tarfile.open(packed) as tar:
        for member in tar:
            parts = member.name.removeprefix("./").split("/")
            source = tar.extractfile(member) if member.isreg() and all(map(is_entry, parts)) else None
            if source is not None:
                path = folder.joinpath(*parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as file:
                    shutil.copyfileobj(source, file)
