"""How a finding is decided: the one row of its query chooses the wording, and fills in every number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from swingby.errors import SwingbyError
from swingby_analysis.statements.statement import NO, UNSURE, YES
from swingby_analysis.statements.template import Template

DECIDES = "holds"
"""The column that decides as true or false; else all columns that begin with `EFFECT` do, each a number a seed."""
EFFECT = "effect"
CONFIDENCE = 0.95
PERCENT = "\u00a0%"


@dataclass(frozen=True)
class OverSeeds:
    """A number measured once in every seed: its mean, with the t-interval of the mean over seeds at 95 %.

    As text `{x:.0%}` is "31 % (28 to 34 %)"; `{x:.2f}` is "0.31 (0.28 to 0.34)".
    """

    values: Sequence[float]

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return float(np.mean(self.values))

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the mean; all numbers with a single seed."""
        n = len(self.values)
        if n < 2:
            return -math.inf, math.inf
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * float(np.std(self.values, ddof=1)) / math.sqrt(n)
        return self.mean - half, self.mean + half

    @property
    def sign(self) -> int:
        """1 or -1 where the interval lies on one side of 0; else 0."""
        low, high = self.interval
        return int(low > 0) - int(high < 0)

    def __format__(self, form: str) -> str:
        if not self.values:
            return "no number"
        low, high = self.interval
        if all(0 <= value <= 1 for value in self.values):
            low, high = max(low, 0.0), min(high, 1.0)
        if low == high:
            return f"{_written(self.mean, form)} (every seed)"
        inner = f"{_written(low, form)} to {_written(high, form)}"
        return f"{_written(self.mean, form)} ({inner.replace(PERCENT, '', 1)})"


@dataclass(frozen=True)
class Number:
    """A single number of a query's row, written like the others."""

    value: float

    def __format__(self, form: str) -> str:
        return _written(self.value, form or (",d" if isinstance(self.value, int) else ".3g"))


def _written(value: float, form: str) -> str:
    """A number as a reader writes it: the sign of per cent stands apart."""
    if not math.isfinite(value):
        return "any number" if value > 0 else "none"
    text = format(value, form)
    text = text.removeprefix("-") if not text.strip("-0.%") else text
    return text.replace("%", PERCENT)


def decide(row: Mapping[str, Any], either: bool = False) -> str:
    """YES, NO or UNSURE: by `holds`; or whether the intervals of all effects lie above 0, or some below it.

    Args:
        either: NO is the contrary, a finding too: all effects have to lie below 0.

    Raises:
        SwingbyError: the row has neither.
    """
    if DECIDES in row:
        return UNSURE if row[DECIDES] is None else YES if row[DECIDES] else NO
    effects = [_finite(value) for name, value in row.items() if name.startswith(EFFECT)]
    if not effects:
        raise SwingbyError(f"its query returns neither {DECIDES!r} nor {EFFECT!r}; it has {list(row)}")
    signs = {OverSeeds(values).sign if values else 0 for values in effects}
    against = signs == {-1} if either else -1 in signs
    return NO if against else YES if signs == {1} else UNSURE


def written(template: str, row: Mapping[str, Any]) -> str:
    """A wording with the numbers of a row in it.

    Raises:
        SwingbyError: the row lacks one of them.
    """
    text = ""
    for piece in Template.of(template).pieces:
        if isinstance(piece, str):
            text += piece
        elif piece.expression not in row:
            raise SwingbyError(f"its query has no column {piece.expression!r}; it has {list(row)}")
        else:
            value = row[piece.expression]
            if value is None or isinstance(value, list):
                value = OverSeeds(_finite(value))
            elif isinstance(value, int | float) and not isinstance(value, bool):
                value = Number(value)
            text += format(value, piece.form)
    return text


def _finite(value: Any) -> list[float]:
    return [float(item) for item in value or () if item is not None and math.isfinite(item)]


def shown(value: Any) -> str:
    """A value of the result as the page lists it."""
    if isinstance(value, list):
        if any(isinstance(item, str) for item in value):
            return "; ".join(dict.fromkeys(filter(None, value)))
        return ", ".join("null" if item is None else f"{item:.3g}" for item in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
