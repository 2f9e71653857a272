"""Laws of what has to be installed: reading results needs no torch and no ray, and training says what it lacks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from swingby.api import Sweep
from swingby.model import registry
from swingby.run.driver import run_sweep
from swingby.run.outcomes import derive
from tests.support import synthetic_sim
from tests.support.command import in_child
from tests.support.places import ROOT

HIDDEN = (
    *("torch", "ray", "diffusers", "accelerate", "safetensors", "threadpoolctl", "PIL", "numba", "llvmlite"),
    *("pandas", "tensorboardX", "transformers", "huggingface_hub", "requests", "fsspec"),
)
"""What training alone needs, with what that brings along; and numba, which computes outcomes that are not there yet."""
WITHOUT = f"""
from importlib.machinery import PathFinder

found = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in {HIDDEN!r} else found(name, path, target)

PathFinder.find_spec = find_spec
"""
"""For Python such packages are not there: neither for an import nor for whoever asks whether they are."""
TRAIN = '''
from swingby import experiment


@experiment(curves={"loss": "squared error"})
def slope(cell, lr: float, steps: int = 8):
    """Goes down."""
    for step in range(steps + 1):
        cell.record(step, loss=lr**step)
    return {"last": lr**steps}
'''
SLOPE = "name: down\nexperiment: train.py\naxes: {lr: [0.1, 0.2, 0.3]}\nseeds: 2\ndiagram: {x: lr, outcome: last}\n"


ASK = """
import json, sys, traceback
from typer.testing import CliRunner
from swingby.cli import app

told = []
for words in json.loads(sys.argv[1]):
    done = CliRunner().invoke(app, words)
    fault = "" if done.exc_info is None else "".join(traceback.format_exception(*done.exc_info))
    fault = "" if isinstance(done.exception, SystemExit) else fault
    told.append([done.exit_code, done.stdout, done.stderr + fault])
print(json.dumps(told))
"""
"""Gives commands to the verbs, one after the other: what hides packages hides them from each."""
COUNT = ["sql", "select count(*) as cells from members"]
READ = (
    (COUNT, "18"),
    (["status"], "small"),
    (["list"], "diffusion"),
    (["describe", "sim"], "ood_loss"),
    (["describe", "down"], "squared error"),
    (["describe", "diffusion"], "parameter"),
    (["validate", "small.yaml"], "12 cells"),
    (["validate", "figure-6-tiny"], "cells"),
    (["report", "small", "--figures"], "report.html"),
    (["report", "down", "--figures"], "report.html"),
    (["diff", "small", "small"], "small"),
    (["watch", "--once"], "down"),
    (["run", "small.yaml"], ""),
    (["doctor"], "lacks torch"),
)
"""Commands that train nothing, and what each says."""
LACK = (
    (["run", "transient-memorization", "--set", "seeds.count=1"], "training sim needs torch and threadpoolctl"),
    (["plan", "transient-memorization", "--set", "seeds.count=1"], "training sim needs torch"),
    (["run", "down.yaml", "--set", "seeds=3", "--ray"], "training on Ray needs ray, which is not installed here"),
)
"""Commands that would train, and why each does not."""
Told = tuple[int, str, str]
"""The exit code of a command, what it printed, and what it said beside that."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two finished sweeps, of an installed experiment and of a function, that a normal process made."""
    folder = tmp_path_factory.mktemp("extras")
    derive(synthetic_sim.write(folder / "data", synthetic_sim.square("small", 2, 3)))
    (folder / "small.yaml").write_text(synthetic_sim.SQUARE.format(name="small", title="Curves", points=2, seeds=3))
    (folder / "train.py").write_text(TRAIN)
    (folder / "down.yaml").write_text(SLOPE)
    run_sweep(Sweep.load(folder / "down.yaml"), folder / "data", local=True, pilot=False)
    (folder / "without").mkdir()
    (folder / "without" / "sitecustomize.py").write_text(WITHOUT)
    return folder


def hidden(folder: Path) -> dict[str, str]:
    """The environment of a process that, like its children, cannot import what is hidden."""
    paths = [str(folder / "without"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(paths), "SWINGBY_DATA": "data", "COLUMNS": "300"}


@pytest.fixture(scope="module")
def told(folder: Path) -> Callable[[list[str]], Told]:
    """What each command tells in a process that cannot import what is hidden.

    One process for all: to load takes longer than most of them take. A query has its own: Arrow has no numpy there.
    """
    asked = [words for words, _ in (*READ, *LACK) if words != COUNT]
    done = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(asked)], cwd=folder, env={**os.environ, **hidden(folder)},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answers: list[Told] = [(code, out, beside) for code, out, beside in json.loads(done.stdout.splitlines()[-1])]
    alone = in_child(folder, *COUNT, **hidden(folder))
    answers.append((alone.returncode, alone.stdout, alone.stderr))
    asked.append(COUNT)
    return lambda words: answers[asked.index(words)]


@pytest.mark.parametrize(
    ("words", "said"),
    READ,
    ids=lambda value: "-".join(value[:2]).replace(" ", "_") if isinstance(value, list) else "",
)
def test_results_are_read_without_what_trains(
    folder: Path, told: Callable[[list[str]], Told], words: list[str], said: str
) -> None:
    """Every verb that reads does its work where nothing is installed that training needs; so do runs without work."""
    code, out, beside = told(words)
    assert code == 0, out + beside
    assert said in out + beside
    for line in out.splitlines():
        if line.endswith("report.html"):
            assert (folder / line).stat().st_size > 10_000
            assert list((folder / line).parent.glob("*.png"))


@pytest.mark.parametrize(("words", "purpose"), LACK, ids=("run", "plan", "ray"))
def test_training_says_in_one_line_what_it_lacks(
    told: Callable[[list[str]], Told], words: list[str], purpose: str
) -> None:
    """Nothing is trained, no cell has failed, and the line can be copied into a shell."""
    code, _, beside = told(words)
    assert code == 2
    (line,) = [line for line in beside.splitlines() if "error:" in line]
    assert purpose in line
    assert "pip install 'swingby[run]'" in line
    assert "Traceback" not in beside


def test_a_function_trains_with_what_it_imports_itself(folder: Path) -> None:
    """A loop that needs no torch needs no extra, either: a for-loop and worker processes of the command train it."""
    for count, options in (("4", ["--local"]), ("5", [])):
        done = in_child(folder, "run", "down.yaml", "--set", f"seeds={count}", *options, **hidden(folder))
        assert done.returncode == 0, done.stderr


def project() -> dict[str, list[Requirement]]:
    """The requirements of the package, and of each of its extras, with those that they name."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: list(map(Requirement, lines)) for name, lines in content["optional-dependencies"].items()}

    def whole(name: str) -> list[Requirement]:
        own = extras[name]
        return [one for one in own if one.name != "swingby"] + [
            each for one in own if one.name == "swingby" for extra in one.extras for each in whole(extra)
        ]

    return {"": list(map(Requirement, content["dependencies"])), **{name: whole(name) for name in extras}}


@cache
def homes_of_modules() -> Mapping[str, list[str]]:
    """The distributions that each module is from: a look into every one that is installed."""
    return packages_distributions()


def test_the_core_brings_nothing_that_trains() -> None:
    """Neither it nor what it requires in turn; and whoever develops has everything."""
    found, left = set[str](), [canonicalize_name(one.name) for one in project()[""]]
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        try:
            lines = requires(name) or []
        except PackageNotFoundError:  # of another platform
            continue
        needed = [line for line in map(Requirement, lines) if not line.marker or line.marker.evaluate({"extra": ""})]
        left += [canonicalize_name(line.name) for line in needed]
    assert not found & ({canonicalize_name(name) for name in HIDDEN} | {"pillow"})
    developed = {one.name for one in project()["dev"]}
    assert {one.name for name in ("run", "diffusion") for one in project()[name]} <= developed


@pytest.mark.parametrize("name", sorted(registry.offered(registry.EXPERIMENTS)))
def test_what_an_experiment_requires_is_what_is_installed_for_it(name: str) -> None:
    """The extra that its message names brings every module that it lists."""
    extras, homes = project(), homes_of_modules()
    for module, source in registry.experiment(name).requires.items():
        extra = re.fullmatch(r"swingby\[(\w+)\]", source)
        assert extra is not None
        brought = {canonicalize_name(one.name) for one in extras[extra[1]]}
        assert {canonicalize_name(home) for home in homes[module]} & brought, module
