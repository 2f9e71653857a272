"""Laws of what is said of options: whoever reads it can write it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swingby.api import Results, Sweep
from swingby.errors import SwingbyError
from swingby.function.experiment import experiment
from swingby.options import of_command, option
from swingby.run.progress import Progress
from tests.support.places import ROOT

FLAG = re.compile(r"(?<![\w-])--[a-z]")
COMMAND = re.compile(r"\b(swingby|pip|ray|git|sbatch)\s|`[a-z ]+ --")
"""What begins a command, whose options are flags for everybody."""
WORD = re.compile(r"[A-Za-z]")
MODULES = sorted(
    path
    for folder in ("platform", "analysis", "sweeps")
    for path in (ROOT / folder).glob("swingby*/**/*.py")
    if "cli" not in (path.parent.name, path.stem)
)


def texts(tree: ast.AST) -> list[tuple[int, str]]:
    """The texts of a module, each whole and with its line, `{}` for what is put in; without docstrings."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    every = [(node, [node]) for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in parts]
    every += [(node, node.values) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    return [
        (node.lineno, "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in values))
        for node, values in every
        if id(node) not in docstrings
        and all(isinstance(one.value, str) for one in values if isinstance(one, ast.Constant))
    ]


@pytest.mark.parametrize("package", ["platform", "analysis", "sweeps"])
def test_no_message_spells_a_flag(package: str) -> None:
    """Outside the verbs a flag stands behind a command, or alone, as an argument; messages name options by `option`."""
    faults = list[str]()
    for path in (path for path in MODULES if path.is_relative_to(ROOT / package)):
        for line, text in texts(ast.parse(path.read_text())):
            for flag in FLAG.finditer(text):
                alone = not WORD.search(re.sub(r"--[a-z]\S*", "", text))
                if not alone and not COMMAND.search(text[: flag.end()]):
                    faults.append(f"{path.relative_to(ROOT)}:{line}: {text}")
    assert not faults, "\n".join(faults)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two cells of a function."""

    def falls(cell: Any, lr: float = 0.1) -> dict[str, float]:
        cell.record(0, loss=lr)
        return {"end": lr}

    sweep = Sweep.of(falls, axes={"lr": [0.1, 0.2]}, outcomes={"learned": "loss[-1] < 0.15"})
    return sweep.run(tmp_path_factory.mktemp("messages"), pilot=False, progress=Progress())


@experiment
def stays(cell: Any, lr: float = 0.1) -> None:
    """Nothing."""


def big() -> Sweep:
    """A sweep of a function of this file."""
    return Sweep.of(stays, axes={"lr": [0.1, 0.2]})


NEVER = "a folder that is not there"
Call = Callable[[Any, Path], Any]
FAULTY: list[dict[str, Any]] = [
    {"local": True, "address": "127.0.0.1:1"},
    {"code": "wheel"},
    {"code": "git", "address": "127.0.0.1:1"},
    {"device": "tpu"},
    {"older": "x"},
    {"processes": 0},
    {"processes": 2},
    {"deadline": -1.0},
    {"address": "x"},
    {"refine": True},
]
"""Options of a run that are refused."""
CALLS: dict[str, list[Call]] = {
    "Sweep.of": [
        lambda results, tmp: Sweep.of(stays, axes={"lr": "x"}),
        lambda results, tmp: Sweep.of(stays, axes={"lr": [1.0]}, seeds=10**9),
        lambda results, tmp: Sweep.of(stays, resources={"gpus": -1}),
    ],
    "Sweep.of_dict": [lambda results, tmp: Sweep.of_dict({"name": "x"})],
    "Sweep.load": [
        lambda results, tmp: Sweep.load("no such sweep"),
        lambda results, tmp: Sweep.load("transient-memorization", ["base.n"]),
        lambda results, tmp: Sweep.load("transient-memorization", ["basis.n=1"]),
        lambda results, tmp: Sweep.load("transient-memorization", ["axes.width.logspac.points=1"]),
    ],
    "Sweep.run": [lambda results, tmp, keys=keys: big().run(tmp, progress=Progress(), **keys) for keys in FAULTY],
    "Sweep.refine": [
        lambda results, tmp: big().refine(tmp),
        lambda results, tmp: big().refine(tmp, outcome="x"),
        lambda results, tmp: results.sweep.refine(tmp, outcome="learned", budget="x"),
    ],
    "Sweep.replicate": [
        lambda results, tmp: results.sweep.replicate(results.data, outcome="learned", top=0),
        lambda results, tmp: results.sweep.replicate(results.data),
        lambda results, tmp: big().replicate(results.data, outcome="learned"),
    ],
    "Results.load": [
        lambda results, tmp: Results.load("x", results.data),
        lambda results, tmp: Results.load("falls", tmp / NEVER),
    ],
    "Results.sql": [lambda results, tmp: results.sql("from nothing")],
    "Results.chart": [
        lambda results, tmp: results.chart("x"),
        lambda results, tmp: results.chart("learned", x="x"),
        lambda results, tmp: results.chart("learned", y="lr"),
    ],
    "Results.paper": [
        lambda results, tmp: results.paper(tmp, figure="x"),
        lambda results, tmp: results.paper(tmp, width="1mm"),
        lambda results, tmp: results.paper(tmp, font="no such font"),
        lambda results, tmp: results.paper(tmp, formats=["x"]),
    ],
    "Results.report": [lambda results, tmp: Results.load("falls", results.data).report("/dev/null/x")],
}
"""Calls that are refused, by the function of the interface."""
WITHOUT_INPUT = {"Results.polars", "Results.pandas"}


def test_every_function_is_called() -> None:
    """The table has each public function of the interface that takes something."""
    public = {
        f"{kind.__name__}.{name}"
        for kind in (Sweep, Results)
        for name, value in [*vars(kind).items(), *([("load", Sweep.load)] if kind is Sweep else [])]
        if not name.startswith("_") and (inspect.isroutine(value) or isinstance(value, classmethod))
    }
    assert public - WITHOUT_INPUT == CALLS.keys()


@pytest.mark.parametrize(
    "call", [pytest.param(call, id=f"{name} {place}") for name, of in CALLS.items() for place, call in enumerate(of)]
)
def test_python_reads_no_flag(results: Results, tmp_path: Path, call: Call) -> None:
    """A refusal names keywords where Python calls."""
    with pytest.raises(SwingbyError) as caught:
        call(results, tmp_path)
    assert not FLAG.search(str(caught.value))


def test_an_option_has_two_forms() -> None:
    """A flag for a command, a keyword else."""
    options = [("seed_mode", "common"), ("local", True), ("pilot", False), ("older", "keep"), ("outcome",)]
    with of_command():
        of_commands = [option(*one) for one in options]
    assert of_commands == ["--seed-mode common", "--local", "--no-pilot", "--keep", "--outcome"]
    assert [option(*one) for one in options] == [
        "seed_mode='common'", "local=True", "pilot=False", "older='keep'", "outcome",
    ]  # fmt: skip
