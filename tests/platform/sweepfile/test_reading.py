"""What the runs of a sweep read: an axis without effect is a fault with its line, and so is one training twice."""

from __future__ import annotations

import pytest

from swingby.errors import InputFaults
from swingby.model import registry
from swingby.sweepfile.sweep import Sweep

READ_WHERE = {"gain": "kind == 'relu'", "later": "bias", "width": "s > 1 or bias"}


@pytest.fixture(autouse=True)
def reads(toy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy reads some parameters under conditions."""
    monkeypatch.setattr(type(registry.experiment(toy)), "read_where", READ_WHERE)


def parse(text: str, *overrides: str) -> Sweep:
    """The sweep of a text, whose first lines are name and experiment."""
    return Sweep.parse(f"name: read\nexperiment: toy\n{text}", "read.yaml", overrides)


def faults(text: str) -> list[str]:
    """Every fault of a text."""
    with pytest.raises(InputFaults) as told:
        parse(text)
    return [str(fault) for fault in told.value.faults]


def test_an_axis_that_no_point_reads_is_a_fault() -> None:
    """At the line of the axis, with the values under which it would be read, and those that it has here."""
    (fault,) = faults("axes:\n  width: [3, 4]\n  gain: [0.5, 1.0]\n")
    assert fault.startswith(
        "line 5: axis 'gain' has no effect: it is read where kind == 'relu', and here kind is 'linear'"
    )
    (fault,) = faults("axes: {gain: [0.5]}\n")
    assert "has no effect" in fault
    assert len(parse("base: {kind: relu}\naxes: {gain: [0.5, 1.0]}\n").points) == 2


def test_every_such_axis_is_told_at_once() -> None:
    """Also axes that advance together."""
    told = faults("axes:\n  gain: [1.0, 2.0]\n  later: [1.0, 2.0]\n")
    assert [fault.split(":")[0] for fault in told] == ["line 4", "line 5"]
    told = faults("axes:\n  zip:\n    - gain: [1.0, 2.0]\n      later: [1.0, 2.0]\n")
    assert [fault.split(":")[0] for fault in told] == ["line 5", "line 6"]


def test_points_that_differ_in_nothing_that_is_read_are_a_fault() -> None:
    """Where only some points read an axis: with the axis, one pair, how many there are, and how to keep one of each."""
    axes = "axes:\n  kind: [linear, relu]\n  gain: [0.5, 1.0, 2.0]\n"
    (fault,) = faults(axes)
    assert fault.startswith(
        "line 5: kind='linear', gain=0.5 and kind='linear', gain=1.0 are the same training: gain is read where "
        "kind == 'relu' (2 points repeat another one)"
    )
    hint = fault.split("where: ")[-1]
    assert hint == "(kind == 'relu') or gain == 0.5"
    kept = parse(axes + f"where: {hint}\n")
    assert [(point.params.kind, point.params.gain) for point in kept.points] == [  # type: ignore[attr-defined]
        ("linear", 0.5), ("relu", 0.5), ("relu", 1.0), ("relu", 2.0),
    ]  # fmt: skip
    zipped = "axes:\n  zip:\n    - kind: [linear, relu, relu]\n      gain: [0.5, 1.0, 2.0]\n"
    assert len(parse(zipped).points) == 3


def test_an_axis_counts_by_what_a_preset_derives_from_it(toy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parameter that runs do not read may decide others that they read; where it does not, points are equal."""
    derived = {"derived": lambda values: {"width": int(10 * values.get("gain", 1.0))}}
    monkeypatch.setattr(type(registry.experiment(toy)), "presets", derived)
    text = "preset: derived\naxes:\n  gain: [0.5, 1.0]\n"
    assert [point.params.width for point in parse(text).points] == [5, 10]  # type: ignore[attr-defined]
    (fault,) = faults(f"base: {{width: 7}}\n{text}")
    assert "gain=0.5 and gain=1.0 are the same training" in fault
    assert "take the axis out" in fault


def test_an_unread_value_of_base_is_noted_only() -> None:
    """Presets and people set more than a run reads; the sweep and its id are as they would be without the note."""
    loaded = parse("base: {gain: 3.0, width: 5, bias: false}\naxes: {s: [1, 2]}\nwhere: s == 2\n")
    assert loaded.unread == ("base.gain has no effect: it is read where kind == 'relu', and here kind is 'linear'",)
    assert parse("base: {gain: 3.0}\n", "base.kind=relu").unread == ()


def test_a_condition_that_is_none_is_told(toy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An experiment that says wrongly what it reads is named at its line."""
    monkeypatch.setattr(type(registry.experiment(toy)), "read_where", {"gain": "kind > 3"})
    (fault,) = faults("axes: {gain: [0.5, 1.0]}\n")
    assert fault.startswith("line 2: what toy reads is not known: kind > 3 compares 'linear' with 3")


def test_points_of_any_number_and_type_are_compared() -> None:
    """Columns are compared, not one point with another; a vector is a value like others."""
    (fault,) = faults("axes:\n  kind: [linear, relu]\n  mu: [[1.0, 2.0], [1.0, 3.0]]\n  gain: [1.0, 2.0]\n")
    assert "mu=(1.0, 2.0), gain=1.0 and kind='linear', mu=(1.0, 2.0), gain=2.0" in fault
    many = "  width: {range: {from: 1, to: 100, step: 1}}\n  gain: {linspace: {from: 0.1, to: 1.0, points: 300}}\n"
    assert len(parse(f"base: {{kind: relu}}\naxes:\n{many}").points) == 30_000
    (fault,) = faults(f"axes:\n  kind: [linear, relu]\n{many}")
    assert "(29,900 points repeat another one)" in fault
