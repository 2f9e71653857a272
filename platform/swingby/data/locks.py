"""Locks that name their holder, and are free when it dies."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from swingby.data.files import clear_os_errors, utc_now
from swingby.errors import SwingbyError

READ = 65536
"""Bytes of a lock file that are read."""


class HeldError(SwingbyError):
    """Somebody else holds a lock."""


def _content(handle: int) -> dict[str, Any]:
    """What the last holder of the lock wrote into its file; nothing, if that cannot be read."""
    try:
        content = json.loads(os.pread(handle, READ, 0))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def in_words(holder: Mapping[str, Any]) -> str:
    """The holder of a lock, in words, from what its file says."""
    try:
        since = f"{holder['since'][:16].replace('T', ' ')} UTC"
        return f"process {holder['pid']} on {holder['host']} since {since} ({holder['command']})"
    except (KeyError, TypeError):
        return "another process"


def _take(handle: int, what: str, wait: float, waiting: Callable[[], object]) -> None:
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise HeldError(f"{what} is held by {in_words(_content(handle))}; wait for it or stop it") from None
        waiting()
        time.sleep(0.02)


class Hold:
    """A lock that is held: its file says by whom, and perhaps more."""

    def __init__(self, handle: int, command: str) -> None:
        self._handle = handle
        self._who = {"host": socket.gethostname(), "pid": os.getpid(), "since": utc_now(), "command": command}

    def say(self, **more: Any) -> None:
        """Writes who holds the lock, and `more`, in the place of what the file said before.

        Raises:
            SwingbyError: the disk refuses.
        """
        with clear_os_errors("write a lock file"):
            self.write(more)
            os.fsync(self._handle)  # a network file system would keep it on this machine until the lock is free

    def write(self, more: Mapping[str, Any]) -> None:
        """Writes as `say` does, but does not make other machines see it at once."""
        text = json.dumps({**self._who, **more})
        # Over the old text: that needs no room on a full disk, and no reader sees half of it.
        os.pwrite(self._handle, text.ljust(min(os.fstat(self._handle).st_size, READ)).encode(), 0)


@contextmanager
def held(
    path: Path, what: str, command: str | None = None, wait: float = 0.0, waiting: Callable[[], object] = lambda: None
) -> Iterator[Hold]:
    """Holds an exclusive lock (flock) on `path`, naming the holder inside; a holder that dies lets go.

    Args:
        path: the lock file; made if missing, never removed.
        what: what is locked, in the words of the error.
        command: what the holder does; the process's own command line if None.
        wait: seconds to wait for another holder.
        waiting: called again and again meanwhile.

    Raises:
        HeldError: somebody else holds it for longer than `wait`; says who.
        SwingbyError: the disk refuses.
    """
    with clear_os_errors(f"lock {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        _take(handle, what, wait, waiting)
        hold = Hold(handle, " ".join(sys.argv) if command is None else command)
        with clear_os_errors(f"lock {path}"):
            hold.write({})
        yield hold
    finally:
        os.close(handle)


def holding(path: Path) -> dict[str, Any] | None:
    """What the holder of the lock on `path` wrote there; None if nobody holds it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # it may be a pipe, made by an attacker
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _content(handle)
    finally:
        os.close(handle)
    return None


def holder(path: Path) -> str | None:
    """Who holds the lock on `path` now, in words; None if nobody does."""
    content = holding(path)
    return None if content is None else in_words(content)
