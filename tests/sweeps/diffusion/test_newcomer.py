"""A newcomer's first diffusion run learns what it is trained on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from swingby.store import Store
from swingby_sweeps.diffusion.params import CLASSES


@pytest.mark.slow
def test_figure_6_tiny_learns_its_classes(tmp_path: Path) -> None:
    """`swingby run figure-6-tiny`: of 64 images of each trained class the measured judge finds the colour right in 95 %
    or more, and the size in 90 % or more."""
    environment = os.environ | {"RAY_USAGE_STATS_ENABLED": "0"}
    command = [sys.executable, "-m", "swingby", "run", "figure-6-tiny", "--data", str(tmp_path / "data")]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "data") as store:
        (row,) = store.sql("select color_right, size_right, judged_trained, seconds from diffusion").rows()
    print(f"trained and evaluated in {row.seconds:.0f} s; colour {row.color_right[-1]}, size {row.size_right[-1]}")
    assert row.judged_trained == 64
    for number, name in enumerate(CLASSES[:3]):
        assert row.color_right[-1][number] >= 0.95, name
        assert row.size_right[-1][number] >= 0.9, name
