"""Laws of large sweep files: what would take long to check, or to tell of, is refused by its size, which is named."""

from __future__ import annotations

import pytest

from swingby.errors import InputFaults
from swingby.model.registry import LONGEST, nearest
from swingby.sweepfile import loader, yaml
from swingby.sweepfile.loader import MOST_ENTRIES, MOST_WHERE
from swingby.sweepfile.sweep import Sweep
from swingby.sweepfile.yaml import MOST_FAULTS, MOST_NODES, MOST_NOTED, MOST_TOLD, read_yaml

HEAD = "name: try-1\nexperiment: toy\n"
pytestmark = pytest.mark.usefixtures("toy")


def refused(text: str) -> InputFaults:
    with pytest.raises(InputFaults) as caught:
        Sweep.parse(text, "try.yaml", confirm_above=10_000)
    return caught.value


def many(form: str, count: int) -> str:
    return ", ".join(form.format(place) for place in range(count))


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("axes", "axes: {{{}}}".format(many("a{}: [1]", 201))),
        ("axes", "axes: {{zip: [{}]}}".format(many("{{mu.{}: [1]}}", 201))),
        ("base", "base: {{{}}}".format(many("a{}: 1", 501))),
        ("drawings", f"drawings: [{many('losses', 101)}]"),
        ("drawings", f"drawings: [{many('{{paths: {{along: width}}}}', 3000)}]"),
        ("outcomes", "outcomes: {{{}}}".format(many("a{}: 1 > 0", 201))),
        ("record.also", f"record: {{also: [{many('a{}', 101)}]}}"),
        ("tags", f"tags: [{many('a{}', 101)}]"),
    ],
)
def test_a_list_that_is_too_long_is_all_that_is_told(key: str, text: str) -> None:
    """Its length and what is allowed stand in the only fault, with its line; nothing in it was looked at."""
    (fault,) = refused(f"{HEAD}{text}\n").faults
    assert fault.message.startswith(f"{key} has ")
    assert fault.hint == f"allowed: {MOST_ENTRIES[key.partition('.')[0]]:,}"
    assert fault.line == 3


def test_lists_at_their_limits_are_looked_at() -> None:
    """With as many entries as are allowed the faults are those of the entries."""
    told = str(refused(f"{HEAD}tags: [{many('?{}', MOST_ENTRIES['tags'])}]"))
    assert "no tag" in told


def test_a_filter_has_a_length() -> None:
    """A longer one is refused unread."""
    (fault,) = refused(f"{HEAD}where: {' or '.join(['d == 1'] * MOST_WHERE)}\n").faults
    assert f"allowed: {MOST_WHERE:,}" in str(fault)


def test_values_are_counted_while_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small maps by the thousand end at the limit, with the line; here a hundredth is allowed."""
    assert MOST_NODES == 50_000
    monkeypatch.setattr(yaml, "MOST_NODES", 500)
    text = "\n".join("- {a: 1, b: 2}" for _ in range(1000))
    with pytest.raises(InputFaults, match="500 values") as caught:
        read_yaml(text, "try.yaml")
    assert 95 <= (caught.value.faults[0].line or 0) <= 105
    assert len(read_yaml("\n".join("- {a: 1, b: 2}" for _ in range(90)), "try.yaml").value) == 90


@pytest.mark.parametrize("form", ["k{}: 1\n", "\tk{}: 1\n", "? {{a: {}}}\n: 1\n"])
def test_no_more_is_told_than_can_be_read(form: str) -> None:
    """Of thousands of faults some are told, and that the rest was not looked at; no text of the file is repeated at
    length."""
    found = refused(HEAD + "".join(form.format(place) for place in range(3000)))
    assert len(found.faults) == MOST_FAULTS + 1
    assert f"after {MOST_NOTED:,} nothing else was looked at" in str(found)
    long = refused(f'{HEAD}preset: "{"x" * 100_000}"\n')
    assert len(str(long)) < 10 * MOST_TOLD


def test_a_long_word_is_not_compared() -> None:
    """A text that is longer than any name is not taken for one misspelt."""
    assert "did you mean 'width'" in nearest("widht", ["width"])
    assert "did you mean" not in nearest("width" * LONGEST, ["width" * LONGEST + "s"])
    assert loader.MOST_ENTRIES["axes"] == 200
