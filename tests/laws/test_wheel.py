"""Laws of the wheel: alone in an empty environment, far from the checkout, it does what the README shows."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tests.support.places import ROOT

pytestmark = pytest.mark.slow

SOURCES = {"swingby": "platform", "swingby_analysis": "analysis", "swingby_sweeps": "sweeps"}
SMALL = ("base.n=30", "base.epochs=2", "axes.width=[2,3]", "axes.layers=[2,3]", "axes.mu.1=[1.0,2.0]", "seeds.count=2")
INSIDE = """
import json, sys
import swingby, swingby_analysis, swingby_sweeps
from swingby.model import registry
from swingby.sweepfile.sweep import Sweep, named_sweeps
offered, load = registry.offered, registry.load
groups = (registry.EXPERIMENTS, registry.DETECTORS, registry.DRAWINGS, registry.COMMANDS)
print(json.dumps({
    "places": [module.__file__ for module in (swingby, swingby_analysis, swingby_sweeps)],
    "loaded": {group: sorted(name for name in offered(group) if load(group, name)) for group in groups},
    "sweeps": sorted(named_sweeps()),
    "cells": sum(len(Sweep.load(name)) for name in ("transient-memorization", "figure-5", "claim-rank")),
}))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment in which the wheel is installed; all other packages are found where they are."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder / "built"), str(ROOT)]
    subprocess.run(build, check=True, timeout=300)
    (wheel,) = (folder / "built").glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "empty")], check=True, timeout=300)
    python = folder / "empty" / "bin" / "python"
    install = [*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, timeout=300)
    # A path in a .pth file is looked through for packages, but for no .pth files: the editable install is not seen.
    (site,) = (folder / "empty").glob("lib/python*/site-packages")
    (site / "others.pth").write_text("\n".join(entry for entry in sys.path if entry.endswith("site-packages")) + "\n")
    return python


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which somebody works."""
    return tmp_path_factory.mktemp("elsewhere")


def done(command: list[str], folder: Path) -> str:
    """What a command prints that has to end well, in an environment without the checkout."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SWINGBY", "VIRTUAL"))}
    ended = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=900, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def swingby(python: Path, folder: Path, *words: str) -> str:
    """What the installed command prints."""
    return done([str(python.with_name("swingby")), *words], folder)


def test_it_holds_the_three_packages_and_nothing_else(python: Path) -> None:
    """At the top level of what is installed are names of this project only, and every source file is there."""
    (site,) = python.parents[1].glob("lib/python*/site-packages")
    (own,) = (item for item in distributions(path=[str(site)]) if item.name == "swingby")
    record = [row[0] for row in csv.reader((own.read_text("RECORD") or "").splitlines())]
    inside = {name for name in record if not name.startswith("../")}
    assert {name.partition("/")[0].partition("-")[0] for name in inside} == set(SOURCES)
    kept = {
        path.relative_to(ROOT / wing).as_posix()
        for package, wing in SOURCES.items()
        for path in (ROOT / wing / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert kept <= inside
    assert {f"{package}/py.typed" for package in SOURCES} <= kept


def test_everything_that_it_offers_is_found(python: Path, folder: Path) -> None:
    """Experiments, detectors, drawings, verbs and named sweeps are found where it is installed, and each is loaded."""
    found = json.loads(done([str(python), "-c", INSIDE], folder))
    here = json.loads(done([sys.executable, "-c", INSIDE], folder))
    assert all(Path(place).is_relative_to(python.parents[1]) for place in found["places"])
    assert {name: found[name] for name in ("loaded", "sweeps", "cells")} == {
        name: here[name] for name in ("loaded", "sweeps", "cells")
    }
    assert all(found["loaded"].values())
    assert found["cells"] >= 2000
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["swingby"] == "swingby.cli:main"


def test_it_trains_and_draws_the_demo(python: Path, folder: Path) -> None:
    """A small form of the demo's sweep is trained on Ray and drawn."""
    small = [word for setting in SMALL for word in ("--set", setting)]
    assert "16 cells: 16 ok" in swingby(python, folder, "run", "transient-memorization", *small)
    swingby(python, folder, "report", "transient-memorization", "--figures")
    made = folder / "out" / "transient-memorization"
    assert "transient" in (made / "report.html").read_text()
    pictures = [path.stat().st_size for path in made.glob("*.png")]
    assert pictures
    assert min(pictures) > 10_000


def test_it_judges_a_claim(python: Path, folder: Path) -> None:
    """The sweep of one claim is trained with a few seeds, and the claim is judged."""
    swingby(python, folder, "claims", "sim", "--quick", "--local", "--only", "fig-2a-order")
    assert list((folder / "out").rglob("*.html"))


def test_it_examines_itself(python: Path, folder: Path) -> None:
    """The command that says whether an installation works finds no fault."""
    assert "FAULT" not in swingby(python, folder, "doctor", "--self-test")
