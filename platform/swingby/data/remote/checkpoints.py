"""The checkpoints of a batch on object storage: its folder as one object, from which any machine can continue."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from swingby.data.files import TEMPORARY, clear_os_errors, ensure_folder, entry, is_entry
from swingby.data.remote.bucket import Held
from swingby.data.remote.mirror import STEADFAST, Mirror
from swingby.errors import SwingbyError

COST = 10.0
"""Checkpoints are put again after this many times the duration of the last put, so that a run pays a tenth at most."""
LEAST = 1.0
"""Least seconds between two puts."""


class Checkpoints:
    """The folder of a batch's checkpoints, and the object that holds its files; without a mirror, nothing to do.

    One process at a time trains a batch, so folder and object never change at once. A note beside the folder says which
    object was put last from this machine. If the storage has another object, the batch was continued elsewhere, and
    that object counts; if it has none, the batch was finished elsewhere, or its results were taken back.
    """

    def __init__(self, mirror: Mirror | None, folder: Path) -> None:
        self._mirror, self._folder = mirror, folder
        self._key = f"work/{folder.parent.name}/{folder.name}.tar"
        self._due, self._put_files = 0.0, ""

    @property
    def _note(self) -> Path:
        return entry(self._folder.parents[1] / "put", f"{self._folder.parent.name}-{self._folder.name}")

    def fetch(self, alive: Callable[[], object] = lambda: None) -> None:
        """Makes the folder what it was when these cells were last trained, on whatever machine.

        Args:
            alive: called again and again, however long it takes.

        Raises:
            SwingbyError: the storage does not answer, or the disk refuses.
        """
        if self._mirror is None:
            return
        there = self._mirror.bucket.find(self._key)
        if _identity(there) == self._put_last():
            return
        with clear_os_errors(f"fetch the checkpoints {self._folder}"):
            self._note.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=self._note.parent) as aside:
                fetched = Path(aside) / "fetched"
                fetched.mkdir()
                if there is not None and self._mirror.bucket.fetch(self._key, Path(aside) / "object", alive):
                    _unpack(Path(aside) / "object", fetched, f"{self._key} in {self._mirror.bucket.address}")
                shutil.rmtree(self._folder, ignore_errors=True)
                ensure_folder(self._folder.parent)
                fetched.rename(self._folder)
            self._write_note(_identity(there))

    def put(self, at_last: bool = False, alive: Callable[[], object] = lambda: None) -> None:
        """Puts the files of the folder, if any changed, and seldom enough that a run pays little for it.

        Args:
            at_last: put them however recent the last put is, since this is the last chance.
            alive: as in `fetch`.

        Raises:
            SwingbyError: the storage does not answer, or the disk refuses.
        """
        if self._mirror is None or (time.monotonic() < self._due and not at_last):
            return
        began = time.monotonic()
        stats = [(path, path.stat()) for path in sorted(self._folder.rglob("*")) if path.is_file()]
        files = " ".join(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stats)
        if not files or files == self._put_files:
            return
        with clear_os_errors(f"put the checkpoints {self._folder}"):
            self._note.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=self._note.parent) as aside:
                packed = Path(aside) / "object"
                _pack(self._folder, packed)
                self._mirror.put(self._key, packed, STEADFAST, alive)
            self._write_note(_identity(self._mirror.bucket.find(self._key, STEADFAST)))
        now = time.monotonic()
        self._put_files, self._due = files, now + max(LEAST, COST * (now - began))

    def drop(self) -> None:
        """Removes the object: the batch is finished, and nothing is continued from it.

        Raises:
            SwingbyError: the storage does not answer.
        """
        if self._mirror is not None and self._put_last():
            self._mirror.bucket.remove(self._key)
            self._note.unlink(missing_ok=True)

    def _put_last(self) -> str:
        return self._note.read_text() if self._note.exists() else ""

    def _write_note(self, identity: str) -> None:
        if identity:
            self._note.write_text(identity)
        else:
            self._note.unlink(missing_ok=True)


def _identity(item: Held | None) -> str:
    """A text that tells an object from any other that was put under its name; empty for no object."""
    return "" if item is None else f"{item.size} {item.taken}"


def _pack(folder: Path, packed: Path) -> None:
    """Makes one file of a folder's files."""
    with tarfile.open(packed, "w") as tar:
        tar.add(folder, ".")


def _unpack(packed: Path, folder: Path, what: str) -> None:
    """Writes the plain files with plain names of an archive; whatever else somebody may have put there is left out."""
    try:
        with tarfile.open(packed) as tar:
            for member in tar:
                parts = member.name.removeprefix("./").split("/")
                source = tar.extractfile(member) if member.isreg() and all(map(is_entry, parts)) else None
                if source is not None:
                    path = folder.joinpath(*parts)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with path.open("wb") as file:
                        shutil.copyfileobj(source, file)
    except tarfile.TarError as error:
        raise SwingbyError(f"{what} is no checkpoint ({error}); remove it") from error
