"""A bucket of object storage: whole objects under a prefix, listed, read, put and removed; none is ever half there."""

from __future__ import annotations

import ctypes
import random
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from swingby.data.files import clear_os_errors
from swingby.data.remote.address import Address
from swingby.errors import SwingbyError

PATIENCE = 30.0
"""Seconds, from the first failure on, for which a storage that fails is asked again before that is an error."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds before the second try, and most seconds before any: each pause is twice the last, give or take a quarter."""
PIECE = 8 * 2**20
"""Bytes that are sent at once; S3 takes no smaller pieces than 5 MiB."""
T = TypeVar("T")


class StorageError(SwingbyError):
    """The storage failed for as long as a request was repeated."""


class Held(NamedTuple):
    """An object: its key below the prefix, its bytes, and when the storage took it (seconds since 1970)."""

    key: str
    size: int
    taken: float


class Bucket:
    """The objects under one prefix; cheap to make, and the storage is not asked before it is used.

    Args:
        address: see `swingby.data.remote.address.Address`.

    Attributes:
        patience: seconds for which a request without a patience of its own is repeated; None: `PATIENCE`.

    Raises:
        SwingbyError: no such kind of address, no bucket in it, or a secret in it.
    """

    def __init__(self, address: str) -> None:
        self._at = Address(address)
        self.address = self._at.text
        self.patience: float | None = None
        self._opened: dict[bool, tuple[Any, str]] = {}

    def _reached(self, delayed: bool = True) -> tuple[Any, str]:
        """The file system, opened once, and the path of the prefix in it.

        Not delayed, it is the one for objects in many pieces: if the storage is out, their streams do not open at all,
        and none is abandoned with a piece in memory.
        """
        if delayed not in self._opened:
            try:
                self._opened[delayed] = self._at.reached(delayed)
            except Exception as error:  # a vendor's library raises errors of its own
                raise StorageError(f"{self.address} cannot be used: {_in_a_line(error)}") from error
        return self._opened[delayed]

    def _tried(self, what: str, ask: Callable[[Any, str], T], patience: float | None = None) -> T:
        """The answer to a request, which is repeated while the storage fails: it may be busy, or out for a moment."""
        patience = next(seconds for seconds in (patience, self.patience, PATIENCE) if seconds is not None)
        system, base = self._reached()
        failed, pause = None, FIRST_PAUSE
        while True:
            try:
                return ask(system, base)
            except FileNotFoundError:
                raise
            except OSError as error:
                failed = time.monotonic() if failed is None else failed  # not from the start: a request may take long
                waited = time.monotonic() - failed
                if _hopeless(error) or waited + pause > patience:
                    tried = "" if _hopeless(error) else f" (tried for {waited:.0f} s)"
                    raise StorageError(f"cannot {what} in {self.address}{tried}: {_in_a_line(error)}") from error
            time.sleep(pause * random.uniform(0.75, 1.25))
            pause = min(2 * pause, LONGEST_PAUSE)

    def listing(self, folder: str = "", deep: bool = True) -> list[Held]:
        """Every object below a folder of the prefix, by key; not deep: only those directly in it.

        Raises:
            StorageError: the storage does not answer, there is no such bucket, or the rights are lacking.
        """
        from pyarrow.fs import FileSelector, FileType

        def ask(system: Any, base: str) -> list[Held]:
            at = f"{base}/{folder}".rstrip("/")
            infos = system.get_file_info(FileSelector(at, allow_not_found=True, recursive=deep))
            return [
                Held(info.path.removeprefix(f"{base}/"), info.size, (info.mtime or _NEVER).timestamp())
                for info in infos
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
        """The bytes of an object; None if there is none of that name.

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
        """Puts an object, a file piece by piece, in the place of any other of that name.

        Whoever reads meanwhile sees either the old object or the new one; so does everybody if this is interrupted.

        Args:
            key: its name.
            content: the bytes, or the file that has them.
            patience: seconds for which a failing request is repeated.
            alive: called when a try begins, and after each piece.

        Raises:
            StorageError: as `listing`.
            SwingbyError: the file cannot be read.
        """
        large = is_large(content)

        def ask(system: Any, base: str) -> None:
            if large:
                system, _ = self._reached(delayed=False)
            alive()
            upload(lambda: system.open_output_stream(f"{base}/{key}"), content, alive)

        try:
            self._tried(f"write {key}", ask, patience)
        except FileNotFoundError as error:
            raise StorageError(f"cannot write {key}: there is no bucket at {self.address}") from error

    def fetch(self, key: str, path: Path, alive: Callable[[], object] = lambda: None) -> bool:
        """Writes an object to a file, piece by piece, with `alive` as in `put`; False if there is none of that name.

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


def _in_a_line(error: Exception) -> str:
    """An error's own message, on one line."""
    return " ".join(str(error).split()).rstrip(".")[:300]


def _hopeless(error: OSError) -> bool:
    """Whether trying again would not help: no rights, no bucket, no keys."""
    words = ("ACCESS_DENIED", "InvalidAccessKeyId", "SignatureDoesNotMatch", "NO_SUCH_BUCKET", "NoSuchBucket")
    return any(word in str(error) for word in words)


# uploads


def upload(open_stream: Callable[[], Any], content: bytes | Path, alive: Callable[[], object]) -> None:
    """Tries once to put an object, whole or not at all, in a thread of its own, where no signal breaks in.

    `alive` is called after each piece.

    Raises:
        SwingbyError: the file cannot be read.
        OSError: the storage refuses.
    """
    from concurrent.futures import ThreadPoolExecutor

    stopped = threading.Event()
    with ThreadPoolExecutor(1, "upload") as pool:
        try:
            pool.submit(_send, open_stream, pieces(content), stopped, alive).result()
        finally:
            stopped.set()  # an interrupt waits for the piece that is on its way, and for no other


def _send(open_stream: Callable[[], Any], parts: Iterator[bytes], stopped: threading.Event, alive: Any) -> None:
    piece = next(parts, b"")  # before there is a stream: a file that cannot be read begins nothing
    stream = open_stream()
    try:
        while piece:
            stream.write(piece)
            stream.flush()  # pyarrow holds in memory, without a bound, what has not been sent
            alive()
            piece = next(parts, b"")
            if piece and stopped.is_set():
                raise InterruptedError("the upload was interrupted")
        stream.close()
    except BaseException:
        # The stream may never be closed, which would put the pieces that it was given as if they were all. pyarrow
        # closes it when its last reference goes, and has no way to abort it; where the storage refuses once to begin an
        # upload in pieces, closing begins it again and completes it with the first piece (pyarrow 26). So a reference
        # is kept for good; the pieces that the storage has are no object.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(stream))
        raise


def pieces(content: bytes | Path) -> Iterator[bytes]:
    """The content in the pieces that are sent one after the other.

    Raises:
        SwingbyError: the file cannot be read.
    """
    if isinstance(content, bytes):
        yield content
        return
    with clear_os_errors(f"read {content}"), content.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def is_large(content: bytes | Path) -> bool:
    """Whether the content is sent in several pieces.

    Raises:
        SwingbyError: the file cannot be read.
    """
    if isinstance(content, bytes):
        return len(content) > PIECE
    with clear_os_errors(f"read {content}"):
        return content.stat().st_size > PIECE
