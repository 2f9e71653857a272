"""Rows of maps, and of marks along one parameter: what is known over the seeds at each point of a grid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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


class Fitted(NamedTuple):
    """What a fitted surface says at one point: the mean of the share, its 95 % interval, and the side of the level.

    `verdict` is above, below, near (the share lies close to the level) or unknown.
    """

    mean: float
    low: float
    high: float
    verdict: str
    level: float = 0.5

    @property
    def decided(self) -> bool:
        """Whether the share lies on one side of the level."""
        return self.verdict in ("above", "below")

    @property
    def between(self) -> str:
        """The fitted share with its interval."""
        return f"{self.mean:.0%} ({self.low:.0%} to {self.high:.0%})"

    @property
    def brief(self) -> str:
        """The fitted share with its interval, and the side."""
        return f"{self.between}, {self.verdict}"

    @property
    def text(self) -> str:
        """The fitted share in words."""
        level = level_text(self.level)
        side = f"side of {level} unknown" if self.verdict == "unknown" else f"{self.verdict} {level}"
        return f"fitted {self.mean:.0%} (95 % interval {self.low:.0%} to {self.high:.0%}), {side}"


class Corner(NamedTuple):
    """A corner of a line over a map: its panel, what the line is, its number and the corner's along it, its position.

    `part` is LINE, where the fitted share is at the level, or BAND, where its side begins to be told.
    """

    facet: str
    part: str
    line: int
    order: int
    x: float
    y: float


LINE, BAND = "line", "95 % band around it"


def level_text(level: float) -> str:
    """A share in words."""
    return "one half" if level == 0.5 else f"{100 * level:.3g} %"


class Surface(NamedTuple):
    """The surface fitted to the shares of a grid: what it says at each point, its lines, and the level of these."""

    at: Mapping[int, Fitted]
    corners: Sequence[Corner]
    level: float = 0.5


BOUND = 1e100
"""Numbers beyond this are those of runs that diverged: their squares are no numbers, and no scale shows them."""


def written(value: float) -> str:
    """A number with three digits; of one beyond `BOUND` its digits say nothing."""
    if abs(value) < BOUND:
        return f"{value:.3g}"
    return "no number" if math.isnan(value) else "more than 1e100" if value > 0 else "less than -1e100"


class MostCommon(NamedTuple):
    """What happened most often at one point: `k` of `n` seeds ended in `outcome`; `counts` has all of them in words."""

    point: int
    outcome: str
    k: int
    n: int
    counts: str


FEW = 5
"""Runs up to which no interval of a median holds it with 95 %: all of them together hold it with 1 - 2^(1 - n)."""


class Spread(NamedTuple):
    """A number over the seeds of one point, from the `n` runs that have it.

    `low` to `high` is the 95 % bootstrap interval of the median; of `FEW` runs and less it is all of them, and is not
    called an interval. The quartiles are those of the seeds themselves.
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
        if self.n == 1:
            return f"{written(self.median)}, 1 run"
        if not abs(self.median) < BOUND:
            return f"median {written(self.median)}, {self.n} runs"
        if self.n <= FEW:
            return f"median {written(self.median)}, all {self.n} runs {written(self.low)} to {written(self.high)}"
        interval = f"95\u00a0% interval {written(self.low)} to {written(self.high)}"
        quartiles = f"quartiles {written(self.quartile_low)} to {written(self.quartile_high)}"
        return f"median {written(self.median)} ({interval}), {quartiles}, {self.n} runs"


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
