"""A group of processes that may have little memory: who takes more is killed by the system, as on a full machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")


def _place() -> tuple[Path, str] | None:
    """Where a group may be made, below this process's own, and the file that limits it; None: nowhere here."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, names, path = line.split(":", 2)
        if names == "memory":
            return GROUPS / "memory" / path.lstrip("/"), "memory.limit_in_bytes"
        if number == "0" and (GROUPS / "cgroup.controllers").exists():
            return GROUPS / path.lstrip("/"), "memory.max"
    return None


@contextmanager
def little_memory(limit: int = 48 * 2**20) -> Iterator[Path | None]:
    """While inside, a group of processes that may have so many bytes: its folder; None where none can be made."""
    place = _place()
    if place is None:
        yield None
        return
    group = place[0] / f"walk-{os.getpid()}"
    try:
        group.mkdir()
        (group / place[1]).write_text(str(limit))
        with suppress(OSError):  # what is not in memory is not to be on a disk
            (group / "memory.swap.max").write_text("0")
    except OSError:
        _remove(group)
        yield None
        return
    try:
        yield group
    finally:
        _remove(group)


def _remove(group: Path) -> None:
    """Whoever is left in it was killed, or is the reason why it stays."""
    with suppress(OSError):
        group.rmdir()
