"""An upload that puts a whole object or none, whatever fails or interrupts it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from swingby.data.files import clear_os_errors

PIECE = 8 * 2**20
"""Bytes that are sent at once; S3 takes no smaller ones than 5 MiB."""


def upload(open_stream: Callable[[], Any], content: bytes | Path, alive: Callable[[], object]) -> None:
    """One try to put an object, in a thread of its own, where no signal breaks in; `alive` is called after each piece.

    Raises:
        SwingbyError: the file cannot be read.
        OSError: the storage refuses.
    """
    stopped = threading.Event()
    with ThreadPoolExecutor(1, "upload") as pool:
        try:
            pool.submit(_put, open_stream, pieces(content), stopped, alive).result()
        finally:
            stopped.set()  # whoever is interrupted waits for the piece that is on its way, and for no other


def _put(open_stream: Callable[[], Any], found: Iterator[bytes], stopped: threading.Event, alive: Any) -> None:
    piece = next(found, b"")  # before there is a stream: what cannot be read at all begins nothing
    stream = open_stream()
    try:
        while piece:
            stream.write(piece)
            stream.flush()  # pyarrow holds in memory, without a bound, what has not been sent
            alive()
            piece = next(found, b"")
            if piece and stopped.is_set():
                raise InterruptedError("the upload was interrupted")
        stream.close()
    except BaseException:
        _abandon(stream)
        raise


def _abandon(stream: Any) -> None:
    """Never lets a stream be closed, which would put what it was given as if that were all.

    pyarrow closes a stream when its last reference goes, and has no way to abort one. Where the beginning of an upload
    in pieces is refused once, closing begins it again and completes it with the first piece (pyarrow 26). So a
    reference is kept for good; the pieces that the storage has are no object.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(stream))


def pieces(content: bytes | Path) -> Iterator[bytes]:
    """What is sent one after the other.

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
    """Whether it is sent as several pieces.

    Raises:
        SwingbyError: the file cannot be read.
    """
    if isinstance(content, bytes):
        return len(content) > PIECE
    with clear_os_errors(f"read {content}"):
        return content.stat().st_size > PIECE
