"""Outcomes that compare a value with a constant: the parts of such an expression, so that the constant can be moved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from swingby.sandbox.scalar import ScalarError, syntax

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_CONDITION = re.compile(r"\s*([A-Za-z_]\w*)\s+and\s+(.*)", re.IGNORECASE | re.DOTALL)
_COMPARISON = re.compile(r"<=|>=|<|>")
_SIDES = (
    re.compile(rf"\s*(?P<number>{_NUMBER})\s*(?P<unit>)"),
    re.compile(rf"\s*(?P<number>{_NUMBER})\s*\*\s*(?P<unit>.+)", re.DOTALL),
    re.compile(rf"(?P<unit>.+?)\s*\*\s*(?P<number>{_NUMBER})\s*", re.DOTALL),
)
"""What the side with the constant may be: the constant, or the constant times a value."""


class Threshold(NamedTuple):
    """The parts of `[condition and] value <comparison> threshold [* unit]`.

    Attributes:
        value: the SQL of what is compared.
        comparison: one of <, <=, >, >=.
        threshold: the constant.
        unit: the SQL of what the constant is multiplied by; "" for nothing.
        condition: a column that has to be true, too; "" for none.
    """

    value: str
    comparison: str
    threshold: float
    unit: str = ""
    condition: str = ""

    def at(self, threshold: float | str) -> str:
        """The expression with another constant."""
        times = f" * ({self.unit})" if self.unit else ""
        return (
            f"{f'{self.condition} and ' if self.condition else ''}({self.value}) {self.comparison} {threshold}{times}"
        )


def threshold_of(text: str) -> Threshold | None:
    """The parts of an expression that compares a value with one constant; None for any other expression.

    Either side may have the constant, alone or times a value: `loss[-1] < 0.1`, `0.1 * loss[1] > loss[-1]`. A column of
    yes and no may stand before: `bumped and height >= 0.05`.
    """
    try:
        tree = _bare(syntax(text))
    except ScalarError:
        return None
    for parts, written in _candidates(text):
        try:
            if _bare(syntax(written)) == tree:
                return parts
        except ScalarError:  # it was cut within a text or a bracket
            continue
    return None


def _candidates(text: str) -> Iterator[tuple[Threshold, str]]:
    """Ways to cut a text into parts, each with the text that has these parts in brackets, in the order of the text."""
    match = _CONDITION.fullmatch(text)
    condition, compared = (match[1], match[2]) if match else ("", text)
    head = f"{condition} and " if condition else ""
    for comparison in _COMPARISON.finditer(compared):
        left, right = compared[: comparison.start()], compared[comparison.end() :]
        for value, other, flipped in ((left, right, False), (right, left, True)):
            for side in _SIDES:
                if (cut := side.fullmatch(other)) is None:
                    continue
                number, unit = cut["number"], cut["unit"].strip()
                sides = [
                    f"({value}\n)",
                    _product(number, unit, number_first=cut.start("number") <= cut.start("unit")),
                ]
                written = f"{head}{f' {comparison[0]} '.join(sides[::-1] if flipped else sides)}"
                way = FLIPPED[comparison[0]] if flipped else comparison[0]
                yield Threshold(value.strip(), way, float(number), unit, condition), written


def _product(number: str, unit: str, number_first: bool) -> str:
    if not unit:
        return number
    return f"{number} * ({unit}\n)" if number_first else f"({unit}\n) * {number}"


def _bare(tree: Any) -> Any:
    """A parsed expression without the places in its text."""
    if isinstance(tree, dict):
        return {key: _bare(value) for key, value in tree.items() if not key.startswith("query_location")}
    return [_bare(item) for item in tree] if isinstance(tree, list) else tree
