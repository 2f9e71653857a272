"""Laws of outcomes in sweep files: each is checked as the file is read, and none of them changes what is trained."""

from __future__ import annotations

import json
from typing import Any

import pytest

from swingby.errors import InputFaults
from swingby.model import registry
from swingby.sweepfile.sweep import Sweep

HEAD = "name: walks\nexperiment: walk\naxes: {width: [1, 2]}\n"


def parse(text: str, *overrides: str) -> Sweep:
    """The sweep with this text below its head."""
    return Sweep.parse(HEAD + text, "walks.yaml", overrides)


def test_outcomes_are_presentation(walk: Any) -> None:
    """Outcomes leave the ids of the sweep and of its cells alone, and stand as written in what a plan keeps."""
    plain = parse("")
    own = parse("outcomes: {high: 'position[-1] > 0'}\ndiagram: {x: width, outcome: high}")
    assert own.sweep_id == plain.sweep_id
    assert own.cell_ids() == plain.cell_ids()
    assert own.outcomes == {"high": "position[-1] > 0"}
    assert json.loads(json.dumps(own.resolved))["outcomes"] == own.presentation["outcomes"] == own.outcomes
    assert parse("outcomes: {high: rate > 1}", "outcomes.high=rate > 2").outcomes == {"high": "rate > 2"}
    assert parse("", "outcomes.high=rate > 2").outcomes == {"high": "rate > 2"}


@pytest.mark.parametrize("outcome", ["final_position", "height"])
def test_scalars_and_detectors_need_nothing_else(walk: Any, outcome: str) -> None:
    """A scalar of the experiment is an outcome by its name, as one of a detector is."""
    assert parse(f"outcome: {outcome}").outcome == outcome
    diagram = parse(f"diagram: {{x: width, outcome: {outcome}}}").diagram
    assert diagram is not None
    assert diagram.outcome == outcome


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("high: posiion[-1] > 0", "outcomes.high: unknown column 'posiion'", "did you mean 'position'?"),
        ("high: noise[1] > 0", "outcomes.high: unknown column 'noise'", "record: {also: [noise]}"),
        ("high: position", "outcomes.high: gives DOUBLE[]", "take an entry"),
        ("high: (select 1)", "outcomes.high: a subquery is not allowed", "one expression"),
        ("high: 3", "outcomes.high must be text, got 3", "write an expression"),
        ("width: rate > 1", "outcomes.width is a column of walk", "another name"),
        ("final_position: rate > 1", "outcomes.final_position is a column of walk", "another name"),
        ("height: rate > 1", "outcomes.height is an outcome of the detector 'walk_height'", "another name"),
        ("cell_id: rate > 1", "outcomes.cell_id is the name of a column that every table has", "another name"),
        ("High: rate > 1", "'High' cannot name an outcome", "a-z"),
        ("high: len(list_filter(position, lambda p: p > 0))", "not YAML: mapping values", "in quotes"),
    ],
)
def test_a_fault_has_the_line_of_its_outcome(walk: Any, text: str, message: str, hint: str) -> None:
    """A faulty outcome is one fault at its own line, which says what is allowed."""
    with pytest.raises(InputFaults) as caught:
        parse(f"outcomes:\n  good: rate > 1\n  {text}\ndiagram: {{x: width, outcome: good}}")
    (fault,) = caught.value.faults
    assert fault.line == 6
    assert fault.message.startswith(message)
    assert hint in (fault.hint or "")


def test_a_diagram_of_a_faulty_outcome_is_no_second_fault(walk: Any) -> None:
    """Of an outcome with a fault the fault is told once; an unknown outcome is told with the names that there are."""
    with pytest.raises(InputFaults) as caught:
        parse("outcomes: {high: rate >}\noutcome: high")
    assert len(caught.value.faults) == 1
    with pytest.raises(InputFaults, match=r"unknown outcome 'hihg'\n.*did you mean 'high'\?.*final_position"):
        parse("outcomes: {high: rate > 1}\noutcome: hihg")


def test_columns_that_only_runs_tell_are_not_asked_for(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an experiment that discovers its columns the form of an expression is checked, and no name."""
    monkeypatch.setattr(type(registry.experiment("walk")), "discovers", True, raising=False)
    assert parse("outcomes: {high: 'whatever[-1] > 0'}").outcomes == {"high": "whatever[-1] > 0"}
    with pytest.raises(InputFaults, match="a subquery is not allowed"):
        parse("outcomes: {high: (select 1)}")
