"""Faults of disks: each is a small one of its own, on which the data folder lies."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.drills.field import Field


@contextmanager
def _disk(field: Field) -> Iterator[Callable[[str], None]]:
    """The data folder is a small disk of its own; gives what mounts it anew."""
    field.kit.data.mkdir(exist_ok=True)
    where = str(field.kit.data)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", where], check=True, capture_output=True)

    def anew(how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", where], check=True, capture_output=True)

    try:
        yield anew
    finally:
        kept = field.kit.folder / "kept"
        subprocess.run(["cp", "-a", where, str(kept)], check=True)
        subprocess.run(["umount", "-l", where], check=True)
        field.kit.data.rmdir()
        kept.rename(field.kit.data)


def disk_full(field: Field) -> None:
    """The disk is full in the middle, until somebody makes room."""
    with _disk(field):
        child = field.start()
        field.trained(field.rng.randint(3, 15), child)
        filler = field.kit.data / ".filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):  # with a buffer, closing it would raise, too
            while True:
                file.write(bytes(65536))
        code = child.wait(timeout=300)
        if code != 2 or "disk is full" not in field.said():
            raise RuntimeError(f"a full disk was not told of (exit code {code}): {field.said()[-500:]}")
        filler.unlink()


def disk_read_only(field: Field) -> None:
    """The disk can only be read from some moment on, until somebody mends it."""
    with _disk(field) as anew:
        child = field.start()
        field.trained(field.rng.randint(3, 15), child)
        try:
            anew("ro")
        except subprocess.CalledProcessError:  # somebody writes just now, and the kernel refuses
            field.end(child)
            anew("ro")
        child.wait(timeout=300)
        anew("rw")
