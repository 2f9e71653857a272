"""Laws of what befalls a run of days, on small ones: drills without Ray, each once; `make drills` holds all."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from tests.drills.__main__ import hold, table
from tests.drills.faults import FAULTS


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, (_, options) in FAULTS.items() if options.get("local")])
def test_a_drill_loses_nothing(tmp_path: Path, name: str) -> None:
    """Whatever befalls it: finished by the same command, every cell is in the store once, and nothing is left over."""
    if "disk" in name and not _may_mount(tmp_path):
        pytest.skip("a small disk cannot be mounted here")
    found = hold(name, tmp_path / "field", Random(7))
    assert found.good, found
    assert found.most <= 2
    assert f"{found.cells}" in table({name: [found]})


def _may_mount(folder: Path) -> bool:
    where = folder / "disk"
    where.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(where)], capture_output=True)
    if done.returncode == 0:
        subprocess.run(["umount", "-l", str(where)], check=True)
    return done.returncode == 0
