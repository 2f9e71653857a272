"""Laws of a run's options: one frozen value, which the command fills and which refuses what does not fit together."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
from typing import Any, get_type_hints

import pytest

from swingby.cli import sweeps
from swingby.errors import SwingbyError
from swingby.run import options
from swingby.run.options import RunKeywords, RunOptions

OF_THE_SWEEP = {"sweeps", "data", "overrides", "confirm_above", "dry_run", "keep", "retrain", "refine", "budget"}
"""Options of `swingby run` that say what is run, and whether."""
IN_PYTHON = {"workers", "target_seconds", "older", "refine"}
"""Options that the Python API alone offers, or that the command words otherwise."""


def test_options_are_frozen() -> None:
    """Nobody changes them on the way from the command to the worker, and equal ones are equal."""
    given = RunOptions(local=True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        given.local = False  # type: ignore[misc]
    assert given == RunOptions(local=True)
    assert hash(given) == hash(RunOptions(local=True))


def test_the_command_offers_every_option() -> None:
    """Each option of `swingby run` is a field with the same default, and the other way round."""
    offered = inspect.signature(sweeps.run).parameters
    fields = {field.name: field.default for field in dataclasses.fields(RunOptions)}
    assert offered.keys() - OF_THE_SWEEP == fields.keys() - IN_PYTHON
    assert {name: offered[name].default for name in fields.keys() - IN_PYTHON} == {
        name: default for name, default in fields.items() if name not in IN_PYTHON
    }


def test_every_field_is_described() -> None:
    """Below each field stands what it means."""
    classes = {node.name: node for node in ast.parse(inspect.getsource(options)).body if isinstance(node, ast.ClassDef)}
    body = classes[RunOptions.__name__].body
    for field, text in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign):
            assert isinstance(text, ast.Expr), ast.unparse(field)
            assert isinstance(text.value, ast.Constant), ast.unparse(field)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"local": True, "address": "10.0.0.5:6379"}, "exclude each other"),
        ({"code": "wheel"}, "goes with address"),
        ({"code": "git", "address": "10.0.0.5:6379"}, "code='git'"),
        ({"device": "tpu"}, "device='tpu'"),
        ({"processes": 0}, "0 processes"),
        ({"deadline": 0.0}, "deadline=0"),
        ({"deadline": 1e9}, "at most a year"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], said: str) -> None:
    """Whoever asks, by the command or in Python."""
    with pytest.raises(SwingbyError, match=said):
        RunOptions(**given)


def test_keywords_are_the_options() -> None:
    """Whoever calls `Sweep.run` is offered every option by name and type, and no other."""
    assert get_type_hints(RunKeywords) == get_type_hints(RunOptions)
