"""Files that exist whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swingby.errors import SwingbyError

TEMPORARY = ".tmp-"
"""How the name of an unfinished file begins; nobody reads such a file."""
_TEMPORARY = re.compile(rf"{re.escape(TEMPORARY)}[0-9a-f]{{32}}-(\d+)-(.+)")
"""Such a name says who writes: process and host."""


def user_cache(kind: str, variable: str = "") -> Path:
    """The folder of this user for files that can be made or fetched again, unless an environment variable names one."""
    chosen = os.environ.get(variable) if variable else None
    return Path(chosen or Path.home() / ".cache" / "swingby" / kind).expanduser().absolute()


def files_below(folder: Path) -> list[Path]:
    """Every file below a folder; unlike `rglob`, it takes a folder that another process removes meanwhile for empty."""
    return [Path(place) / name for place, _, names in os.walk(folder) for name in names]


def is_entry(name: str) -> bool:
    """Whether a text can be the name of one file or folder in its place, and leads to no other."""
    long = len(name.encode(errors="replace")) > 200 or any("\ud800" <= char <= "\udfff" for char in name)
    return bool(name) and not long and not name.startswith(".") and not {"/", "\0"} & set(name)


def entry(folder: Path, name: str, suffix: str = "") -> Path:
    """Where something of that name lies in a folder; names come from records of anybody.

    Raises:
        SwingbyError: the name would lead elsewhere.
    """
    if not is_entry(name):
        raise SwingbyError(f"{name!r:.80} cannot be the name of a file: at most 200 bytes, no slash, no dot in front")
    return folder / f"{name}{suffix}"


def utc_now() -> str:
    """The time as ISO 8601 in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@contextmanager
def clear_os_errors(action: str) -> Iterator[None]:
    """Turns what the system refuses (full disk, missing rights) into a `SwingbyError` that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SwingbyError(
                f"cannot {action}: the disk is full; nothing was left half-written, free some space"
            ) from error
        raise SwingbyError(f"cannot {action}: {error.strerror or error}") from error


def sync_folder(folder: Path) -> None:
    """Makes renames in a folder last through a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_file(path: Path) -> None:
    """Makes a file's content last through a power cut."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_lasting: set[Path] = set()
"""Folders whose own names this process has synced: another process may have made one and not be that far."""
LEVELS = 4
"""How many folders above a file are synced: `shards/PLAN`, `shards`, the data folder, and where that lies."""


TRIES = 100
"""How often a folder is made that other processes remove with those above it, as the last of many batches does."""


def ensure_folder(folder: Path) -> None:
    """Makes a folder, and those above it, also while another process removes one of them because it is empty."""
    for tried in range(TRIES):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return
        except (FileNotFoundError, FileExistsError):  # one above is gone again; or this one was there, and is gone
            if tried == TRIES - 1:
                raise


def make_folder(folder: Path) -> None:
    """Makes a folder, and those above it, so that they last through a power cut; one that is there, too."""
    if folder in _lasting and folder.is_dir():
        return
    above = [folder, *folder.parents][:LEVELS]
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    ensure_folder(folder)
    for path in reversed([*missing, *(each for each in above if each not in missing and each not in _lasting)]):
        # What lies above the data folder may be somebody else's, and shut.
        with suppress(PermissionError if path in missing else OSError):
            sync_folder(path.parent)
        _lasting.add(path)


def remove_whole(folder: Path) -> None:
    """Removes a folder so that after a power cut it is there whole or not at all: renamed, synced, then removed."""
    aside = folder.with_name(_aside())
    folder.rename(aside)
    sync_folder(folder.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _aside() -> str:
    """A name for what is not finished, which says who writes it."""
    return f"{TEMPORARY}{uuid.uuid4().hex}-{os.getpid()}-{socket.gethostname()}"


def write_whole(path: Path, write: Callable[[Path], object], digits: int = 0) -> Path:
    """Writes a file that is there whole or not at all: aside, synced, renamed.

    Args:
        path: where it goes.
        write: writes the content to the path it is given.
        digits: if not 0, how many digits of the content's SHA-256 end the name, see `is_as_named`.

    Returns:
        Where it lies.

    Raises:
        SwingbyError: the operating system refused (disk full, no rights); nothing changed.
    """
    temporary = path.with_name(_aside())
    with clear_os_errors(f"write {path}"):
        make_folder(path.parent)
        with _being_written(temporary):
            try:
                write(temporary)
                sync_file(temporary)
                if digits:
                    path = path.with_name(f"{path.stem}-{_sha256(temporary.read_bytes())[:digits]}{path.suffix}")
                temporary.rename(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            sync_folder(path.parent)
    return path


@contextmanager
def _being_written(temporary: Path) -> Iterator[None]:
    """Makes an unfinished file and keeps a lock on it, by which `forsaken` sees that its writer lives."""
    while True:
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            with suppress(OSError):  # a file system without locks: there the name says who writes
                fcntl.flock(handle, fcntl.LOCK_SH)
            if os.fstat(handle).st_nlink:  # else somebody tidied it away before it was locked
                yield
                return
        finally:
            os.close(handle)


@contextmanager
def shared_lock(path: Path) -> Iterator[None]:
    """Holds a file, under whatever name it lies later: `is_locked` says so, until this is left or the process ends."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def is_locked(path: Path) -> bool:
    """Whether a process of this machine holds a file (`shared_lock`); not, if it is gone or nobody can say."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def forsaken(path: Path, seconds: float, remove: bool = False) -> bool:
    """Whether an unfinished file has no writer any more; with `remove`, such a file is removed under its lock.

    A file that is locked is being written. The writer of any other is dead if it was a process of this machine that is
    gone, and counts as dead if the file was not touched for `seconds`.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False  # a folder, somebody else's, or gone
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        dead = _writer_is_dead(path.name) or time.time() - os.fstat(handle).st_mtime >= seconds
        if dead and remove:
            path.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(handle)
    return dead


def _writer_is_dead(name: str) -> bool:
    """Whether the writer in the name of an unfinished file was a process of this machine, and is gone."""
    match = _TEMPORARY.fullmatch(name)
    if match is None or match[2] != socket.gethostname():
        return False
    try:
        os.kill(int(match[1]), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def is_as_named(path: Path, content: bytes, digits: int) -> bool:
    """Whether a file that `write_whole` named by its content still has it."""
    return path.stem.endswith(f"-{_sha256(content)[:digits]}")


def write_json(path: Path, value: Any) -> None:
    """Writes one JSON file whole.

    Raises:
        SwingbyError: as `write_whole`.
    """
    text = json.dumps(value, indent=1) + "\n"
    write_whole(path, lambda temporary: temporary.write_text(text))
