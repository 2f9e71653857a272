"""Files of other tools: the error has the same values in the form of a sweep file, and that form is a sweep."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from swingby.errors import InputFaults
from swingby.sweepfile.elsewhere import parameter_of
from swingby.sweepfile.sweep import Sweep
from swingby.sweepfile.yaml import flow, read_yaml

HEAD = "name: read\nexperiment: toy\n"
WANDB = """
program: toy
method: grid
metric: {name: loss, goal: minimize}
parameters:
  width: {values: [3, 4]}
  gain: {distribution: log_uniform_values, min: 0.1, max: 10}
  kind: {value: relu}
  seed: {values: [0, 1, 2]}
early_terminate: {type: hyperband}
"""
HYDRA = """
defaults: [_self_]
hydra: {mode: MULTIRUN, sweeper: {params: {width: "3,4", gain: "choice(0.5, 1e0)", seed: "range(0, 3)"}}}
kind: relu
"""
SPACE = """
name: Read it
experiment: toy
search_space: {width: {type: int, low: 3, high: 4}, gain: {type: float, low: 0.5, high: 2.5, step: 0.5}, kind: relu}
"""


def faults(text: str, toy: str) -> list[str]:
    """Every fault of a text."""
    with pytest.raises(InputFaults) as caught:
        Sweep.parse(text, "read.yaml")
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(("text", "points", "seeds"), [(WANDB, 10, 3), (HYDRA, 4, 3), (SPACE, 10, 1)])
def test_a_whole_file_of_another_tool_is_answered_with_a_sweep(text: str, points: int, seeds: int, toy: str) -> None:
    """One fault, whose hint can be pasted: it is read, and has the values of the other file."""
    (fault,) = faults(text, toy)
    form = "\n".join(line.strip() for line in fault.splitlines()[2:]).replace("train.py", "toy")
    sweep = Sweep.parse(form, "read.yaml")
    assert (len(sweep.points), len(sweep.seeds)) == (points, seeds)
    assert {point.params.kind for point in sweep.points} == {"relu"}
    assert {point.params.width for point in sweep.points} == {3, 4}


@pytest.mark.parametrize(
    ("axis", "form"),
    [
        ("width: {values: [3, 4]}", "width: [3, 4]"),
        ("width: {grid_search: [3, 4]}", "width: [3, 4]"),
        ("kind: {type: categorical, choices: [relu, linear]}", "kind: [relu, linear]"),
        ("width: '3, 4'", "width: [3, 4]"),
        ("width: {min: 3, max: 5}", "width: [3, 4, 5]"),
        ("gain: {low: 1e-3, high: 1.0, log: true}", "gain: {logspace: {from: 0.001, to: 1.0, points: 5}}"),
        ("gain: {distribution: uniform, min: 0.5, max: 1}", "gain: {linspace: {from: 0.5, to: 1, points: 5}}"),
        (
            "gain: {distribution: q_uniform, min: 0.5, max: 1.1, q: 0.25}",
            "gain: {range: {from: 0.5, to: 1.0, step: 0.25}}",
        ),
        ("gain: interval(0.5, 1)", "gain: {linspace: {from: 0.5, to: 1, points: 5}}"),
    ],
)
def test_an_axis_in_another_tools_words_is_answered_with_its_own(axis: str, form: str, toy: str) -> None:
    """The hint is an axis with the same values."""
    (fault,) = faults(f"{HEAD}axes:\n  {axis}\n", toy)
    assert fault.startswith("line 4: ")
    assert fault.endswith(f"write {form}")
    assert len(Sweep.parse(f"{HEAD}axes:\n  {form}\n", "read.yaml").points) >= 2


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("axes: {seed: [0, 1, 2]}", "seeds: 3 at"),
        ("axes: {seed: {values: [4, 7]}}", r"seeds: \[4, 7\] at"),
        ("base: {seed: 5}", r"seeds: \[5\] at"),
        ("axes: {gain: {value: 0.5}}", "under base: gain: 0.5"),
        ("base: {<<: {gain: 0.5, width: 3}, width: 4}", "line 3.*\n.*entries out: gain: 0.5$"),
        ("base: {<<: [{gain: 0.5}, {gain: 1, width: 3}]}", "entries out: gain: 0.5, width: 3$"),
    ],
)
def test_seeds_single_values_and_merges_are_answered(text: str, hint: str, toy: str) -> None:
    """With the values that stand there."""
    (fault,) = faults(f"{HEAD}{text}\n", toy)
    assert re.search(hint, fault), fault


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    )
)
def test_nothing_that_stands_on_an_axis_breaks_the_hint(spec: Any) -> None:
    """A spec is none of another tool's, or values that YAML takes."""
    form = parameter_of(spec)
    if form is not None:
        assert form[0] in ("axes", "base")
        assert yaml.safe_load(flow(form[1])) is not None or form[1] is None


numbers = (
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.none()
)


@given(st.lists(numbers | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=9)))
def test_a_value_in_one_line_is_read_back(values: list[Any]) -> None:
    """By the reader of sweep files, in its type."""
    assert repr(read_yaml(flow(values), "").value) == repr(values)
