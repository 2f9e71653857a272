"""Rows of maps, and of marks along one parameter: what is known over the seeds at each point of a grid."""

from __future__ import annotations

from typing import NamedTuple

OPEN = "interval holds 0 (open)"
"""The state of a mean whose interval holds 0."""


class Share(NamedTuple):
    """What is known at one point: `k` of `n` seeds have the outcome; `low` to `high` is the 95 % Wilson interval."""

    point: int
    k: int
    n: int
    share: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the interval's width, in shares."""
        return (self.high - self.low) / 2

    @property
    def undecided(self) -> bool:
        """Whether the interval contains one half."""
        return self.low <= 0.5 <= self.high


class Segment(NamedTuple):
    """A piece of a contour, in the positions of the grid's axes."""

    facet: str
    x: float
    y: float
    x2: float
    y2: float


class MostCommon(NamedTuple):
    """What happened most often at one point: `k` of `n` seeds ended in `outcome`; `counts` has all of them in words."""

    point: int
    outcome: str
    k: int
    n: int
    counts: str


class Spread(NamedTuple):
    """A number over the seeds of one point, from the `n` runs that have it.

    `low` to `high` is the 95 % bootstrap interval of the median; the quartiles are those of the seeds themselves.
    """

    point: int
    n: int
    median: float
    low: float
    high: float
    quartile_low: float
    quartile_high: float

    @property
    def text(self) -> str:
        """The number in words."""
        interval = f"95\u00a0% interval {self.low:.3g} to {self.high:.3g}"
        quartiles = f"quartiles {self.quartile_low:.3g} to {self.quartile_high:.3g}"
        return f"median {self.median:.3g} ({interval}), {quartiles}, {self.n} runs"


class Difference(NamedTuple):
    """B less A at one point, in shares, with its interval; `sure`: the corrected test says that they differ."""

    point: int
    difference: float
    low: float
    high: float
    sure: bool
    text: str


class SignedMean(NamedTuple):
    """A mean over the seeds of a point; `kind` tells series apart, `state` is one of the names given to the chart."""

    point: int
    kind: str
    mean: float
    low: float
    high: float
    state: str
    text: str
