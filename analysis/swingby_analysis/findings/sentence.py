"""A sentence whose wording the data choose: its query's one row decides which, and fills in every number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from swingby.errors import SwingbyError
from swingby.store import Store
from swingby_analysis.query import Query, ask

YES, NO, UNSURE, MISSING = "found", "not found", "cannot be told", "not run yet"
"""What became of a sentence: the data speak for it, against it, for neither; or are not there."""
DECIDES = "holds"
"""The column that decides as true or false; else all columns that begin with `EFFECT` do, each a number a seed."""
EFFECT = "effect"
CONFIDENCE = 0.95


@dataclass(frozen=True)
class OverSeeds:
    """A number measured once in every seed: its mean, with the t-interval of the mean over seeds at 95 %.

    As text `{x:.0%}` is "31 % (28 to 34 %)"; `{x:.2f}` is "0.31 (0.28 to 0.34)".
    """

    values: Sequence[float]

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return float(np.mean(self.values))

    @property
    def interval(self) -> tuple[float, float]:
        """Of the mean; all numbers with a single seed."""
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

    def __format__(self, spec: str) -> str:
        if not self.values:
            return "no number"
        low, high = self.interval
        bounded = all(0 <= value <= 1 for value in self.values)
        if bounded:
            low, high = max(low, 0.0), min(high, 1.0)
        if low == high:
            return f"{_number(self.mean, spec)} (every seed)"
        inner = f"{_number(low, spec)} to {_number(high, spec)}"
        return f"{_number(self.mean, spec)} ({inner.replace(PERCENT, '', 1)})"


PERCENT = "\u00a0%"


def _number(value: float, spec: str) -> str:
    """A number as a reader writes it: the sign of per cent stands apart."""
    if not math.isfinite(value):
        return "any number" if value > 0 else "none"
    text = format(value, spec)
    text = text.removeprefix("-") if not text.strip("-0.%") else text
    return text.replace("%", PERCENT)


@dataclass(frozen=True)
class Number:
    """A single number of a query's row, written like the others."""

    value: float

    def __format__(self, spec: str) -> str:
        return _number(self.value, spec or (",d" if isinstance(self.value, int) else ".3g"))


@dataclass(frozen=True)
class Sentence:
    """One thing that a diagram may show.

    Attributes:
        slug: names it and, unless `sql` does, its query `analysis/sql/findings/<slug>.sql`.
        words: a template for each of YES, NO and UNSURE; its fields are columns of the query's row.
        sweeps: the named sweeps it is asked of; () for the diagram's own.
        either: it compares two things, and either being more is something found.
    """

    slug: str
    words: Mapping[str, str]
    sweeps: tuple[str, ...] = ()
    sql: str = ""
    either: bool = False

    @property
    def name(self) -> str:
        """The query's name."""
        return f"findings/{self.sql or self.slug}"


@dataclass(frozen=True)
class Told:
    """A sentence with what its query said; without its sweeps: what is missing."""

    sentence: Sentence
    verdict: str
    text: str
    query: Query | None = None
    columns: Sequence[str] = ()
    row: Sequence[Any] = ()
    missing: Sequence[str] = field(default=())


def tell(store: Store, sentence: Sentence, sweep_ids: tuple[str, ...]) -> Told:
    """What the query says of these sweeps, in words.

    Raises:
        SwingbyError: the query is wrong, gives other than one row, or lacks a column that decides or is spoken of.
    """
    query = Query(sentence.name, (sweep_ids,))
    try:
        frame = ask(store, query)
    except SwingbyError as error:
        raise SwingbyError(f"sentence {sentence.slug}: {error}") from error
    if frame.height != 1:
        raise SwingbyError(f"sentence {sentence.slug}: its query gives {frame.height} rows; it must give one")
    row = frame.row(0, named=True)
    verdict = decide(sentence.slug, row)
    try:
        text = sentence.words[verdict].format(**{name: _field(value) for name, value in row.items()})
    except KeyError as error:
        raise SwingbyError(f"sentence {sentence.slug}: its query has no column {error}; it has {list(row)}") from error
    if sentence.either and verdict == NO:
        verdict = YES
    return Told(sentence, verdict, text, query, frame.columns, [_shown(value) for value in row.values()])


def decide(slug: str, row: Mapping[str, Any]) -> str:
    """YES, NO or UNSURE: by `holds`; or whether the intervals of all effects lie above 0, or some below it.

    Raises:
        SwingbyError: the row has neither.
    """
    if DECIDES in row:
        return UNSURE if row[DECIDES] is None else YES if row[DECIDES] else NO
    effects = [value for name, value in row.items() if name.startswith(EFFECT)]
    if not effects:
        raise SwingbyError(f"sentence {slug}: its query returns neither {DECIDES!r} nor {EFFECT!r}; it has {list(row)}")
    signs = {OverSeeds(_finite(value)).sign if _finite(value) else 0 for value in effects}
    return NO if -1 in signs else YES if signs == {1} else UNSURE


def _finite(value: Any) -> list[float]:
    return [float(item) for item in value or () if item is not None and math.isfinite(item)]


def _field(value: Any) -> Any:
    if value is None or isinstance(value, list):
        return OverSeeds(_finite(value))
    return Number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _shown(value: Any) -> str:
    """A value of the result as the page lists it."""
    if isinstance(value, list):
        return ", ".join("null" if item is None else f"{item:.3g}" for item in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def missing(sentence: Sentence, lacking: Sequence[str]) -> Told:
    """The sentence before its sweeps are finished."""
    return Told(sentence, MISSING, f"Not run yet: {'; '.join(lacking)}.", missing=lacking)
