"""A folder is one science: without any one of them all else is there, and installed beside it is back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from swingby.model import registry
from tests.support.packages import install
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
import json
from swingby.model import package_files, registry
groups = (registry.EXPERIMENTS, registry.DETECTORS, registry.DRAWINGS, registry.COMMANDS, registry.LINES)
found = {group: {name: offer.value for name, offer in registry.offered(group).items()} for group in groups}
kinds = (("sweeps", ".yaml"), ("archive", ".parquet"), ("statements", ".sql"))
found |= {kind: {str(file): str(file) for file in package_files.data_files(kind, end)} for kind, end in kinds}
print(json.dumps(found))
"""
KINDS_OF_FILES = ("sweeps", "archive", "statements")
SOURCE_ROOTS = (("platform", "swingby"), ("analysis", "swingby_analysis"), ("sweeps", "swingby_sweeps"))
ITS_TESTS = (
    "sweeps/diffusion", "browser/test_diffusion_page.py", "benchmarks/diffusion.py", "support/diffusion.py",
    "support/synthetic_diffusion.py", "gpu",
)  # fmt: skip
"""Below `tests`: what tests diffusion, and goes with it."""
NOT_HERE = ("laws/test_one_folder.py", "laws/test_wheel.py", "platform/launch", "drills")
"""Below `tests`: what copies the checkout, builds it, or starts commands of the installed program by their path."""


HOUSE = ROOT / "sweeps" / "swingby_sweeps"
SCIENCES = sorted(path.parent.name for path in HOUSE.glob("*/__init__.py") if "PACKAGE" in path.read_text())


def linked(folder: Path, without: str) -> None:
    """Links to the three source roots, as installed packages lie, without one of the sciences, which lies beside."""
    site = folder / "site"
    (site / "swingby_sweeps").mkdir(parents=True)
    for root, package in SOURCE_ROOTS[:2]:
        (site / package).symlink_to(ROOT / root / package)
    for path in HOUSE.iterdir():
        (folder if path.name == without else site / "swingby_sweeps").joinpath(path.name).symlink_to(path)


def checkout(folder: Path) -> Path:
    """A copy of the three source roots, as installed packages lie, without diffusion, and what it offers."""
    site = folder / "site"
    for root, package in SOURCE_ROOTS:  # with their compiled kernels, which take long to make
        shutil.copytree(ROOT / root / package, site / package)
    shutil.move(site / "swingby_sweeps" / "diffusion", folder / "diffusion")
    return site


def beside(folder: Path, science: str = "diffusion") -> None:
    """Installs the folder of a science as a package of its own, beside swingby."""
    compiled = shutil.ignore_patterns("__pycache__")  # its kernels name the package that they were compiled in
    shutil.copytree(folder / science, folder / "beside" / f"swingby_{science}", ignore=compiled)
    install(folder / "beside", f"swingby-{science}", f"[swingby.packages]\nswingby_{science} = swingby_{science}\n")


def environment(folder: Path, sources: Sequence[Path]) -> dict[str, str]:
    """An environment in which these folders come before what is installed."""
    path = os.pathsep.join(map(str, sources))
    return {**os.environ, "PYTHONPATH": path, "SWINGBY_DATA": str(folder / "data"), "OMP_NUM_THREADS": "1"}


def run(folder: Path, *command: str, sources: Sequence[Path] = ()) -> str:
    """What a child process prints that finds the copy first, or these sources."""
    first = sources or [folder / "beside", folder / "site"]
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment(folder, first), capture_output=True, text=True,
        timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@cache
def listed_here() -> dict[str, dict[str, str]]:
    """What all sciences of this checkout offer: of each kind its names, and the modules or files behind them."""
    return json.loads(run(ROOT, "-c", LISTED, sources=[ROOT / root for root, _ in SOURCE_ROOTS]))


@pytest.mark.parametrize("science", SCIENCES)
def test_a_science_is_one_folder(tmp_path: Path, science: str) -> None:
    """Deleted it is gone from every list, and nothing else is; as a package of its own beside swingby all it offers is
    back."""
    linked(tmp_path, science)
    own, its_files = f"swingby_sweeps.{science}.", f"swingby_sweeps/{science}/"
    without = json.loads(run(tmp_path, "-c", LISTED))
    beside(tmp_path, science)
    again = json.loads(run(tmp_path, "-c", LISTED))
    gone = 0
    for kind, all_of_it in listed_here().items():
        files = kind in KINDS_OF_FILES
        kept = {name for name, place in all_of_it.items() if (its_files if files else own) not in place}
        gone += len(all_of_it) - len(kept)
        assert len(without[kind]) == len(kept)
        assert len(again[kind]) == len(all_of_it)
        if not files:
            assert without[kind].keys() == kept
            assert again[kind].keys() == all_of_it.keys()
    assert gone


def test_others_are_trained_without_it(tmp_path: Path) -> None:
    """Without diffusion's folder a sweep over SIM is trained and asked as before."""
    checkout(tmp_path)
    (tmp_path / "small.yaml").write_text(SIM)
    run(tmp_path, "-m", "swingby", "run", "small.yaml", "--local", "--no-pilot")
    assert "4" in run(tmp_path, "-m", "swingby", "sql", "select count(*) from sim")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_report_shows_the_outcomes_that_there_are(tmp_path: Path) -> None:
    """Without the folder of `features`, outcomes of whose detector SIM's report asks for, SIM is reported as it is."""
    linked(tmp_path, "features")
    (tmp_path / "small.yaml").write_text(SIM)
    for words in (("run", "small.yaml", "--local", "--no-pilot"), ("report", "small", "--png")):
        run(tmp_path, "-m", "swingby", *words)
    out = tmp_path / "out" / "small"
    assert "What became of the runs" in (out / "report.html").read_text()
    assert (out / "map-bump-height.png").exists()
    assert not [*out.glob("*regime*"), *out.glob("*kappa*")]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_verb_works_without_and_beside_it(tmp_path: Path) -> None:
    """Without its folder a sweep over SIM is validated, reported and judged; beside swingby its example is trained."""
    checkout(tmp_path)
    (tmp_path / "small.yaml").write_text(SIM)
    for words in (("validate", "small.yaml"), ("run", "small.yaml", "--local"), ("report", "small")):
        run(tmp_path, "-m", "swingby", *words)
    assert "4" in run(tmp_path, "-m", "swingby", "sql", "select count(*) from sim")
    page = tmp_path / "out" / "claims" / "claims.html"
    claims = [sys.executable, "-m", "swingby", "claims", "--no-run", "--only", "fig-2a-order"]
    judged = subprocess.run(
        claims,
        cwd=tmp_path,
        env=environment(tmp_path, [tmp_path / "site"]),
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert judged.returncode == 1, judged.stderr  # its sweep is not there
    assert "diffusion" not in page.read_text()

    beside(tmp_path)
    run(tmp_path, "-m", "swingby", "validate", "learning-order")
    run(tmp_path, "-m", "swingby", "run", str(tmp_path / "diffusion" / "examples" / "tiny.yaml"), "--local")
    assert "2" in run(tmp_path, "-m", "swingby", "sql", "select count(*) from diffusion where status = 'ok'")
    every = "import pkgutil, importlib, swingby_diffusion as own\n"
    every += "[importlib.import_module(m.name) for m in pkgutil.walk_packages(own.__path__, own.__name__ + '.')]"
    run(tmp_path, "-c", every)


def test_drawings_name_experiments_that_are_there() -> None:
    """A drawing may draw an experiment of another folder, which may be gone: in the whole tree none is."""
    drawings = map(registry.drawing, registry.offered(registry.DRAWINGS))
    named = {experiment for drawing in drawings for experiment in drawing.experiments}
    assert named <= registry.offered(registry.EXPERIMENTS).keys()


@pytest.mark.slow
@pytest.mark.timeout(5400)
def test_all_other_tests_pass_without_it(tmp_path: Path) -> None:
    """In a checkout without diffusion's folder and its tests, every other fast test passes; with the folder installed
    beside, the laws over experiments pass for it."""
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    copy = tmp_path / "checkout"
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    shutil.move(copy / "sweeps" / "swingby_sweeps" / "diffusion", tmp_path / "diffusion")
    for name in ITS_TESTS:
        path = copy / "tests" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    roots = [copy / root for root, _ in SOURCE_ROOTS]

    def tests(sources: Sequence[Path], *words: str) -> None:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", *words]
        done = subprocess.run(command, cwd=copy, env=environment(tmp_path, sources), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-20_000:]

    tests(roots, *(f"--ignore=tests/{name}" for name in NOT_HERE))
    beside(tmp_path)
    tests([tmp_path / "beside", *roots], "tests/laws/test_experiments.py", "-k", "diffusion")
