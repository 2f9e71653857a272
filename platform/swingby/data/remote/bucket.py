"""Object storage as a place for whole objects under a prefix: listed, read, put, removed; never half there."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from swingby.data.remote.address import Address
from swingby.data.remote.upload import PIECE, is_large, upload
from swingby.errors import SwingbyError

PATIENCE = 30.0
"""Seconds, from the first failure on, for which a storage that fails is asked again before that is an error."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds before the second try, and before any: each pause is twice the last, give or take a quarter."""
T = TypeVar("T")


class StorageError(SwingbyError):
    """The storage did not do what it was asked, for as long as it was asked."""


class Held(NamedTuple):
    """An object: its key below the prefix, its bytes, and when the storage took it (seconds since 1970)."""

    key: str
    size: int
    taken: float


class Bucket:
    """The objects under one prefix; cheap to make, and silent until it is asked.

    Args:
        address: see `swingby.data.remote.address.Address`.

    Attributes:
        patience: for how many seconds it is asked where nobody says; None: `PATIENCE`.

    Raises:
        SwingbyError: no such kind of address, no bucket in it, or a secret in it.
    """

    def __init__(self, address: str) -> None:
        self._at = Address(address)
        self.address = self._at.text
        self.patience: float | None = None

    @cached_property
    def _place(self) -> tuple[Any, str]:
        """The file system, and the path of the prefix in it."""
        return self._reached()

    @cached_property
    def _for_pieces(self) -> Any:
        """The file system by which objects in many pieces are put: where the storage is out their streams do not open,
        and none is abandoned with a piece in memory."""
        return self._reached(delayed=False)[0]

    def _reached(self, delayed: bool = True) -> tuple[Any, str]:
        try:
            return self._at.reached(delayed)
        except Exception as error:  # what a vendor's library raises is its own affair
            raise StorageError(f"{self.address} cannot be used: {_said(error)}") from error

    def _tried(self, what: str, ask: Callable[[Any, str], T], patience: float | None = None) -> T:
        """What is asked, tried again while the storage fails: it may be busy, or out for a moment."""
        patience = next(given for given in (patience, self.patience, PATIENCE) if given is not None)
        system, base = self._place
        failed, pause = None, FIRST_PAUSE
        while True:
            try:
                return ask(system, base)
            except FileNotFoundError:
                raise
            except OSError as error:
                failed = time.monotonic() if failed is None else failed  # what takes long is tried again, too
                waited = time.monotonic() - failed
                if _hopeless(error) or waited + pause > patience:
                    tried = "" if _hopeless(error) else f" (tried for {waited:.0f} s)"
                    raise StorageError(f"cannot {what} in {self.address}{tried}: {_said(error)}") from error
            time.sleep(pause * random.uniform(0.75, 1.25))
            pause = min(2 * pause, LONGEST_PAUSE)

    def listing(self, folder: str = "", deep: bool = True) -> list[Held]:
        """Every object below a folder of the prefix, by key; or, not deep, those that lie in it and in no other.

        Raises:
            StorageError: the storage does not answer, there is no such bucket, or the rights are lacking.
        """
        from pyarrow.fs import FileSelector, FileType

        def ask(system: Any, base: str) -> list[Held]:
            at = f"{base}/{folder}".rstrip("/")
            found = system.get_file_info(FileSelector(at, allow_not_found=True, recursive=deep))
            return [
                Held(info.path.removeprefix(f"{base}/"), info.size, (info.mtime or _NEVER).timestamp())
                for info in found
                if info.type == FileType.File
            ]

        return sorted(self._tried(f"list {folder or 'objects'}", ask))

    def find(self, key: str, patience: float | None = None) -> Held | None:
        """An object without its content; None if there is none of that name.

        Raises:
            StorageError: as `listing`.
        """
        from pyarrow.fs import FileType

        def ask(system: Any, base: str) -> Held | None:
            info = system.get_file_info(f"{base}/{key}")
            known = info.type == FileType.File
            return Held(key, info.size, (info.mtime or _NEVER).timestamp()) if known else None

        return self._tried(f"look for {key}", ask, patience)

    def content(self, key: str, patience: float | None = None) -> bytes | None:
        """What is in an object; None if there is none of that name.

        Raises:
            StorageError: as `listing`.
        """

        def ask(system: Any, base: str) -> bytes:
            with system.open_input_stream(f"{base}/{key}") as stream:
                return stream.read()

        try:
            return self._tried(f"read {key}", ask, patience)
        except FileNotFoundError:
            return None

    def put(
        self,
        key: str,
        content: bytes | Path,
        patience: float | None = None,
        alive: Callable[[], object] = lambda: None,
    ) -> None:
        """Puts an object (of a file: piece by piece) in the place of the last one of that name; whoever reads meanwhile
        sees either, and so does everybody if this is interrupted.

        Args:
            key: its name.
            content: it, or the file that has it.
            patience: seconds for which a storage that fails is asked again.
            alive: called when a try begins, and after each piece.

        Raises:
            StorageError: as `listing`.
            SwingbyError: the file cannot be read.
        """
        large = is_large(content)

        def ask(system: Any, base: str) -> None:
            opened = self._for_pieces if large else system
            alive()
            upload(lambda: opened.open_output_stream(f"{base}/{key}"), content, alive)

        try:
            self._tried(f"write {key}", ask, patience)
        except FileNotFoundError as error:
            raise StorageError(f"cannot write {key}: there is no bucket at {self.address}") from error

    def fetch(self, key: str, path: Path, alive: Callable[[], object] = lambda: None) -> bool:
        """Writes what is in an object to a file, piece by piece, as in `put`; False if there is none of that name.

        Raises:
            StorageError: as `listing`.
        """

        def ask(system: Any, base: str) -> None:
            alive()
            with system.open_input_stream(f"{base}/{key}") as stream, path.open("wb") as file:
                while piece := stream.read(PIECE):
                    file.write(piece)
                    alive()

        try:
            self._tried(f"read {key}", ask)
        except FileNotFoundError:
            return False
        return True

    def remove(self, key: str, patience: float | None = None) -> None:
        """Removes an object; one that is not there is no fault.

        Raises:
            StorageError: as `listing`.
        """
        try:
            self._tried(f"remove {key}", lambda system, base: system.delete_file(f"{base}/{key}"), patience)
        except FileNotFoundError:
            return


_NEVER = datetime.fromtimestamp(0, UTC)


def _said(error: Exception) -> str:
    """The storage's own words, in a line."""
    return " ".join(str(error).split()).rstrip(".")[:300]


def _hopeless(error: OSError) -> bool:
    """Whether trying again would not help: no rights, no bucket, no keys."""
    words = ("ACCESS_DENIED", "InvalidAccessKeyId", "SignatureDoesNotMatch", "NO_SUCH_BUCKET", "NoSuchBucket")
    return any(word in str(error) for word in words)
