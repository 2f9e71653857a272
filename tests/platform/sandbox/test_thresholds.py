"""Expressions that compare a value with a constant: the parts are those written, and can be put together again."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.model import registry
from swingby.sandbox.scalar import columns_of, evaluate
from swingby.sandbox.thresholds import FLIPPED, Threshold, threshold_of

VALUES = (
    "a",
    "a + b",
    "curve[-1]",
    "list_max(curve)",
    "len(list_filter(curve, lambda one: one > 2))",
    "if(b < 1, a, b)",
)
CONSTANTS = st.floats(-1e6, 1e6).map(lambda number: f"{number:.6g}")
FLOATS = st.floats(allow_nan=True, width=64) | st.none()


@given(
    st.sampled_from(VALUES), st.sampled_from(sorted(FLIPPED)), CONSTANTS, st.sampled_from(["", "b", "curve[1]"]),
    st.sampled_from(["", "c"]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_the_parts_are_those_that_were_written(
    value: str, comparison: str, constant: str, unit: str, condition: str, flipped: bool, unit_first: bool
) -> None:
    """Of a comparison written either way round, with and without a unit and a condition."""
    product = constant if not unit else f"{unit} * {constant}" if unit_first else f"{constant} * {unit}"
    compared = f"{product} {FLIPPED[comparison]} {value}" if flipped else f"{value} {comparison} {product}"
    parts = threshold_of(f"{condition} and {compared}" if condition else compared)
    assert parts == Threshold(value, comparison, float(constant), unit, condition)


@given(st.lists(st.tuples(FLOATS, FLOATS, st.booleans() | st.none()), min_size=1, max_size=20), CONSTANTS, CONSTANTS)
def test_the_expression_with_another_constant_is_that_comparison(
    rows: list[tuple[float | None, float | None, bool | None]], constant: str, other: str
) -> None:
    """What `at` writes gives, row by row, what the expression with that constant gives; NaN and null included."""
    a, b, c = (
        pa.array([row[i] for row in rows], type_) for i, type_ in enumerate((pa.float64(), pa.float64(), pa.bool_()))
    )
    table = pa.table({"a": a, "b": b, "c": c})
    parts = threshold_of(f"c and {constant} * b >= a")
    assert parts is not None
    assert evaluate(parts.at(other), table, "yes_no") == evaluate(f"c and {other} * b >= a", table, "yes_no")


@pytest.mark.parametrize(
    "text",
    [
        "a < b",
        "a < 1 or b < 2",
        "a = 1",
        "a < 1 and b < 2 and c",
        "a between 1 and 2",
        "a < 2 * b + 1",
        "a <",
        "'a<1' = b",
    ],
)
def test_other_expressions_have_no_parts(text: str) -> None:
    """What is no comparison with one constant is none."""
    assert threshold_of(text) is None


@given(st.text(alphabet="ab12.<>=*+-()[]' \n,and", max_size=30))
def test_any_text_is_taken_apart_or_not(text: str) -> None:
    """No text raises; and whatever is taken apart has the columns of the text."""
    parts = threshold_of(text)
    if parts is not None:
        assert columns_of(parts.at(1.0)) == columns_of(parts.at(parts.threshold))


def test_what_detectors_compare_is_such_an_expression_over_their_outcomes() -> None:
    """Every outcome for which a detector writes an expression is one of yes and no, of its own columns."""
    declared = 0
    for name in registry.offered(registry.DETECTORS):
        detector = registry.detector(name)
        for outcome, text in detector.compared.items():
            assert detector.kinds[outcome] == "yes_no"
            assert threshold_of(text) is not None
            assert set(columns_of(text)) <= set(detector.outcomes)
            declared += 1
    assert declared
