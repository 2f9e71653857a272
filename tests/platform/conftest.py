"""What laws of records and of the store begin with."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from swingby.data.records import Records
from swingby.options import of_command


@pytest.fixture(scope="module")
def as_a_command() -> Iterator[None]:
    """Messages name options as a command has them."""
    with of_command():
        yield


@pytest.fixture
def records(tmp_path: Path) -> Records:
    """An empty data folder."""
    return Records.open(tmp_path / "data")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Mounts a disk of so many MB, and gives its folder; where none can be mounted the test is skipped."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mounted(megabytes: int) -> Path:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
        done = subprocess.run(mount, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
        return folder

    yield mounted
    if folder.is_mount():
        subprocess.run(["umount", "-l", str(folder)], check=True)
