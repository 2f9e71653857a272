"""Laws of the language of `where`."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.model.expression import ExpressionError, parse

VALUES = {"d": 3, "s": 2, "gain": 0.5, "mu": (1.0, 2.0, 3.0), "kind": "linear", "bias": True, "weights": None}

numbers = st.recursive(
    st.sampled_from(["d", "s", "gain", "mu.0", "mu.2", "1", "2.5", "1e-3", "7"]),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*/%"), inner) | inner.map("-{}".format),
    max_leaves=6,
)
conditions = st.recursive(
    st.builds("{} {} {}".format, numbers, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), numbers)
    | st.sampled_from(["bias", "kind == 'linear'", "weights != null", "1 < d <= s"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner) | inner.map("(not {})".format)
    ),
    max_leaves=6,
)


def python_value(text: str) -> object:
    """What Python itself makes of the expression."""
    names = {**VALUES, "null": None}
    spelt = text.replace("mu.0", "mu[0]").replace("mu.2", "mu[2]")
    return eval(spelt, {"__builtins__": {}}, names)


@given(conditions)
def test_it_means_what_python_means(text: str) -> None:
    """A condition holds exactly where Python says so, and divides by zero exactly where Python does."""
    try:
        expected = python_value(text)
    except ZeroDivisionError:
        with pytest.raises(ExpressionError, match="divides by zero"):
            parse(text).holds(VALUES)
    else:
        assert parse(text).holds(VALUES) is expected


def test_the_names_it_speaks_of() -> None:
    """Every parameter is known by name, and an entry of a vector with its place."""
    assert parse("d >= s and mu.1 / mu[0] > 1.5 or d > 1").names == (("d", None), ("s", None), ("mu", 1), ("mu", 0))


def test_it_may_span_lines_and_carry_a_comment() -> None:
    """A line break or a comment changes nothing, and hides nothing."""
    assert parse("d >=\n  s # enough room\nand bias").names == (("d", None), ("s", None), ("bias", None))


def test_and_or_look_no_further_than_they_must() -> None:
    """A guard keeps what stands behind it from being computed."""
    assert not parse("s > 2 and 1 / (s - 2) > 0").holds(VALUES)
    assert parse("s == 2 or 1 / (s - 2) > 0").holds(VALUES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "d >",
        "d >= s)",
        "d; s",
        "d = 3",
        "x := 3",
        "import os",
        "__import__('os').system('ls') == 0",
        "d.__class__ == 1",
        "mu.real > 1",
        "(lambda: 1)() > 0",
        "[x for x in mu] == 1",
        "d if bias else s",
        "d in (1, 2)",
        "weights is None",
        "f'{d}' == '3'",
        "b'x' == kind",
        "1j > d",
        "... == d",
        "~d > 1",
        "d & 1 == 1",
        "d @ s > 1",
        "d << 9 > 1",
        "mu[0:1] == 1",
        "mu[-1] > 1",
        "mu[d] > 1",
        "mu.0.1 > 1",
        "mu.1e3 > 1",
        "*mu == 1",
        "d > 1e999",
        "print(d)",
        "await d",
        "d > 1 " + "+ 1" * 600,
        "(" * 900 + "d > 1" + ")" * 900,
        "d > 1 or " * 1000 + "d > 1",
        "d > 1\x00",
    ],
)
def test_everything_else_is_a_fault(text: str) -> None:
    """No call, no attribute, no statement, nothing but conditions over parameters is read."""
    with pytest.raises(ExpressionError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("d", "must be a condition"),
        ("d and bias", "'and' needs conditions"),
        ("not d", "'not' needs conditions"),
        ("kind + 'x' == 'y'", "'+' needs numbers"),
        ("'a' * 1000000000 == kind", "'*' needs numbers"),
        ("bias + 1 > 1", "'+' needs numbers"),
        ("kind > 1", "compares 'linear' with 1"),
        ("kind == 1", "compares 'linear' with 1"),
        ("mu > 1", "compares"),
        ("weights > 1", "compares None with 1"),
        ("mu.7 > 1", "mu has 3 entries"),
        ("d.0 > 1", "has no entries"),
        ("9 ** 9 ** 9 ** 9 > 1", "cannot be computed"),
        ("1e308 * 10 > 1", "not finite"),
        ("(0 - 2) ** 0.5 > 1", "cannot be computed"),
        ("unknown > 1", "not set here"),
    ],
)
def test_a_condition_without_an_answer_says_why(text: str, fragment: str) -> None:
    """Where a condition has no yes or no at a point, it says what stands in the way."""
    with pytest.raises(ExpressionError) as caught:
        parse(text).holds(VALUES)
    assert fragment in str(caught.value)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text leads to anything but an answer or a clear error."""
    with contextlib.suppress(ExpressionError):
        parse(text).holds(VALUES)
