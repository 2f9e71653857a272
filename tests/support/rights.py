"""A folder that may only be read, and a thread that, even as root, has no more rights than files give it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
_DAC_OVERRIDE = 1
_DROP_FROM_BOUNDING_SET = 24
_VERSION_3 = 0x20080522


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Sets(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]


def without_powers(work: Callable[[], T]) -> T:
    """What it gives, or raises, when done in a thread (its own threads and processes are like it) that may write only
    what anybody else may: capabilities(7) belong to threads."""
    found: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            _drop()
            found.append(work())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return found[0]


def _drop() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_DROP_FROM_BOUNDING_SET, _DAC_OVERRIDE, 0, 0, 0)  # who may not has nothing to drop
    header, sets = _Header(_VERSION_3, 0), (_Sets * 2)()
    assert libc.capget(ctypes.byref(header), sets) == 0
    for name in ("effective", "permitted", "inheritable"):
        setattr(sets[0], name, getattr(sets[0], name) & ~(1 << _DAC_OVERRIDE))
    assert libc.capset(ctypes.byref(header), sets) == 0


@contextmanager
def only_readable(folder: Path) -> Iterator[None]:
    """While nothing in the folder may be written."""
    places = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in places}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
