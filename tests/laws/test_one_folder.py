"""A folder is one science: without diffusion's folder all else works, and installed beside it works again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

SIM = """
name: small
experiment: sim
base: {d: 2, n: 20, epochs: 2, batch_size: 8}
axes: {width: [2, 3]}
seeds: 2
outcome: outcome
"""
LISTED = """
from swingby.model import registry
print(sorted(registry.offered(registry.EXPERIMENTS)), sorted(registry.offered(registry.DETECTORS)))
print(sorted(str(file) for kind, end in (("sweeps", ".yaml"), ("archive", ".parquet"), ("statements", ".sql"))
    for file in registry.data_files(kind, end)))
"""


def checkout(folder: Path) -> Path:
    """A copy of the three source roots, as installed packages lie, without diffusion, and what it offers."""
    site = folder / "site"
    hide = shutil.ignore_patterns("__pycache__", "*.pyc")
    for root, package in (("platform", "swingby"), ("analysis", "swingby_analysis"), ("sweeps", "swingby_sweeps")):
        shutil.copytree(ROOT / root / package, site / package, ignore=hide)
    shutil.move(site / "swingby_sweeps" / "diffusion", folder / "diffusion")
    return site


def run(folder: Path, *command: str) -> str:
    """What a child process prints that finds the copy first."""
    path = os.pathsep.join([str(folder / "beside"), str(folder / "site")])
    environment = {**os.environ, "PYTHONPATH": path, "SWINGBY_DATA": str(folder / "data")}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.timeout(900)
def test_a_science_is_one_folder(tmp_path: Path) -> None:
    """Deleted it is gone from every list, and a sweep over SIM is validated, trained, reported and asked as before;
    as a package of its own beside swingby its experiment, detector, sweeps, archive and statements are back."""
    checkout(tmp_path)
    assert "diffusion" not in run(tmp_path, "-c", LISTED)
    (tmp_path / "small.yaml").write_text(SIM)
    for words in (("validate", "small.yaml"), ("run", "small.yaml", "--local"), ("report", "small")):
        run(tmp_path, "-m", "swingby", *words)
    assert "4" in run(tmp_path, "-m", "swingby", "sql", "select count(*) from sim")

    beside = tmp_path / "beside"
    shutil.copytree(tmp_path / "diffusion", beside / "swingby_diffusion")
    info = beside / "swingby_diffusion-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: swingby-diffusion\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[swingby.packages]\nswingby_diffusion = swingby_diffusion\n")
    listed = run(tmp_path, "-c", LISTED)
    assert "'diffusion'" in listed
    assert "'bends'" in listed
    for kind in ("sweeps", "archive", "statements"):
        assert f"swingby_diffusion/{kind}/" in listed
    run(tmp_path, "-m", "swingby", "validate", "learning-order")
    every = "import pkgutil, importlib, swingby_diffusion as own\n"
    every += "[importlib.import_module(m.name) for m in pkgutil.walk_packages(own.__path__, own.__name__ + '.')]"
    run(tmp_path, "-c", every)
