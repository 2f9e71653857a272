"""Laws of reading YAML with its lines."""

from __future__ import annotations

import contextlib
import math
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from swingby.errors import InputFaults
from swingby.launch import kuberay
from swingby.sweepfile.yaml import flow, read_yaml

NUMBER = r"[-+]?(\d[\d_]*)?\.?[\d_]*(e[-+]?\d+)?"
"""What a YAML 1.1 writer takes for words and leaves without quotes, as 1e5 and +.1, and what is a number here."""
texts = st.text(max_size=8).filter(lambda text: not re.fullmatch(NUMBER, text, re.IGNORECASE | re.ASCII))
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=10,
)


def read(text: str) -> Any:
    lined = read_yaml(text, "file")
    lined.finish()
    return lined.value


@given(plain)
def test_what_was_written_is_read(value: Any) -> None:
    """Reading what a YAML writer wrote gives the value back."""
    assert read(yaml.safe_dump(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_spelling_of_a_float_is_a_float(number: float) -> None:
    """A float is a float however Python spells it (1e-3 is text to YAML 1.1)."""
    for spelling in (repr(number), f"{number:e}", f"{number:.17g}".replace("e+", "e"), f"{number:E}"):
        value = read(f"a: {spelling}")["a"]
        assert value == float(spelling)
        assert isinstance(value, float) or float(spelling).is_integer()


@pytest.mark.parametrize("word", ["on", "off", "yes", "no", "y", "n", "On", "1:30", "010", "0x10", "2024-01-01", "e5"])
def test_words_stay_words(word: str) -> None:
    """What only YAML 1.1 takes for a truth, a sexagesimal, octal or hexadecimal number or a date is text."""
    assert read(f"a: {word}") == {"a": word}


@pytest.mark.parametrize("word", ["1e5", "0E1", "+.1", ".5e3", "1_000", "12", "true", "~", "", ".nan"])
def test_what_is_quoted_is_text(word: str) -> None:
    """Also what would be a number, a truth or nothing without quotes."""
    assert read(f"a: '{word}'\nb: \"{word}\"") == {"a": word, "b": word}


@pytest.mark.parametrize("word", ["1e5", "0E1", "+.1", ".5e3", "-1.e+3", "12", "500m", "e5"])
def test_what_is_written_for_kubernetes_is_text_there(word: str) -> None:
    """A manifest's names and quantities are text for a reader that knows more numbers than PyYAML, as this one does."""
    assert read(yaml.dump({"a": word}, Dumper=kuberay._Dumper)) == {"a": word}


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e-3", 0.001), ("1_000", 1000), (".5", 0.5), ("5.", 5.0), ("+2", 2), ("true", True), ("~", None), ("", None)],
)
def test_scalars(text: str, value: object) -> None:
    """Numbers, truths and nothing are what they look like."""
    found = read(f"a: {text}")["a"]
    assert (found, type(found)) == (value, type(value))


def test_infinities_are_floats() -> None:
    """YAML's own words for what is not finite are read, so that the checks on values can name them."""
    assert read("[.inf, -.inf, 1e400]") == [math.inf, -math.inf, math.inf]
    assert math.isnan(read(".nan"))


@pytest.mark.parametrize(
    ("text", "line", "fragment"),
    [
        ("a: 1\n\tb: 2", 2, "tab in the indentation"),
        ("a:\t- 1", 1, "a tab where only blanks may stand"),
        ("a: 1\nb: 2\na: 3", 3, "'a' is given twice\n    first on line 1"),
        ("a: 1\n---\nb: 2", 2, "more than one document"),
        ("a: [1,\n2", 2, "not YAML"),
        ("a: 'x", 1, "not YAML"),
        ("\na: b: c", 2, "not YAML"),
        ("a: *nobody", 1, "undefined alias"),
        ("a: &a [*a]", 1, "too deep or too large"),
        ("a: !!python/object/apply:os.system [ls]\nb: !!python/name:os.system x", 2, "cannot be read as"),
        ("a: !mine x", 1, "cannot be read as !mine"),
        ("a: 99999999999999999999", 1, "cannot be read as int"),
        ("a: " + "9" * 5000, 1, "cannot be read as int"),
        ("? [1, 2]\n: 3", 1, "a key must be a plain word"),
        ("a: b\nc: \x01", 2, "not allowed"),
        ("[" * 100_000, 1, "too deep or too large"),
        ("[" * 40 + "]" * 40, 1, "too deep"),
        ("a" * 2_000_000, None, "allowed: 1,000,000"),
    ],
)
def test_text_that_is_refused(text: str, line: int | None, fragment: str) -> None:
    """Text that is no sound YAML is refused in plain words, with its line."""
    with pytest.raises(InputFaults) as caught:
        read(text)
    fault = next(fault for fault in caught.value.faults if fragment in str(fault))
    assert fault.line == line


def test_an_alias_bomb_is_refused() -> None:
    """Aliases are followed only as far as the budget of values allows."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 12):
        refer = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{refer}]")
    with pytest.raises(InputFaults, match="aliases followed"):
        read("\n".join(lines))


def test_an_alias_within_reason_is_its_anchor() -> None:
    """An alias stands for the value it names."""
    assert read("a: &x [1, 2]\nb: *x") == {"a": [1, 2], "b": [1, 2]}


def test_every_path_knows_its_line() -> None:
    """A key's line is its own, and an entry's line is its own, however deep."""
    lined = read_yaml("a:\n  b:\n    - 1\n    - x:\n        2\nc: 3", "file")
    paths = {("a",): 1, ("a", "b"): 2, ("a", "b", 0): 3, ("a", "b", 1): 4, ("a", "b", 1, "x"): 4, ("c",): 6}
    assert {path: lined.origin(path) for path in paths} == paths
    assert lined.origin(("a", "b", 7)) == 2


@given(st.from_regex(NUMBER, fullmatch=True) | st.text(max_size=8))
def test_what_swingby_writes_is_text_to_it(word: str) -> None:
    """A text that is written into a sweep file comes back as that text, also where it reads like a number here."""
    assert read(flow({"x": word}))["x"] == word


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text leads to anything but a value or faults."""
    with contextlib.suppress(InputFaults):
        read(text)
