"""The selector of seeds: more seeds at every point until the interval of an outcome's share is narrow everywhere."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import numpy as np

from swingby.errors import SwingbyError
from swingby.select import Share
from swingby.select.intervals import wilson
from swingby.sweepfile.sweep import Sweep

ROUNDS = 20
"""Rounds after which the selector gives up."""
BLOCK = 1000
"""Numbers of seeds that are tried at once."""


class Replicate:
    """Asks for more seeds until no point's share has a wider interval than allowed.

    All points get the same seeds, so that the sweep stays a whole grid. The next number is the least that the widest
    interval needs at the share seen so far; it is computed again once those seeds are there.

    Attributes:
        count: the number of seeds asked for last.

    Args:
        sized: makes the sweep with a given number of seeds.
        count: the number of seeds of the first round.
        outcome: the name of the outcome, for messages.
        half_width: the largest allowed half of an interval.
        most: the most seeds.

    Raises:
        SwingbyError: the half-width is no bound.
    """

    def __init__(self, sized: Callable[[int], Sweep], count: int, outcome: str, half_width: float, most: int) -> None:
        check_half_width(half_width)
        self._sized, self._outcome, self._half_width, self._most = sized, outcome, half_width, most
        self.count, self._rounds, self._done = count, 0, False

    def ask(self) -> Sweep | None:
        if self._done:
            return None
        if self._rounds == ROUNDS:
            raise SwingbyError(
                f"{ROUNDS} rounds did not reach --half-width {self._half_width:g}; results so far are kept"
            )
        self._rounds += 1
        return self._sized(self.count)

    def tell(self, evidence: Sequence[Share]) -> str:
        low, high = wilson([one.k for one in evidence], [one.n for one in evidence])
        half_widths = (high - low) / 2
        place = int(np.argmax(half_widths))
        widest, half_width, count = evidence[place], float(half_widths[place]), self.count
        if half_width <= self._half_width:
            self._done = True
        else:
            seeds = needed(widest.k / max(widest.n, 1), self._half_width, widest.n + 1, self._most)
            # The outcome of some runs may stay unknown: seeds are added in proportion.
            self.count = max(count + 1, min(self._most, round(seeds * count / max(widest.n, 1))))
        return (
            f"{count} seeds: the widest interval is +- {half_width:.3f}, "
            f"at point {widest.point} ({widest.k} of {widest.n} show {self._outcome})"
        )


def check_half_width(half_width: float) -> None:
    """Refuses a half-width that bounds no interval.

    Raises:
        SwingbyError: it is not between 0 and 0.5.
    """
    if not 0 < half_width < 0.5:
        raise SwingbyError(f"--half-width {half_width:g} is no bound on half an interval; allowed: above 0, below 0.5")


def needed(share: float, half_width: float, start: int, most: int) -> int:
    """The least number of seeds from `start` on at which such a share has an interval of that half-width.

    Of n seeds, the whole number k nearest to share * n shows the outcome; because of this rounding the half-width does
    not fall steadily with n. Its lower bound does: the half-width at a k that lies half a seed further from n / 2. So
    the least n is not below the first one at which this bound is narrow enough, and the search begins there.

    Raises:
        SwingbyError: the number is more than `most`.
    """
    away = 0.5 if share >= 0.5 else -0.5

    def may_suffice(count: int) -> bool:
        low, high = wilson(np.clip(share * count + away, 0, count), count)
        return bool((high - low) / 2 <= half_width)

    for first in range(start + bisect_left(range(start, most + 1), True, key=may_suffice), most + 1, BLOCK):
        counts = np.arange(first, min(first + BLOCK, most + 1))
        low, high = wilson(np.round(share * counts), counts)
        enough = np.flatnonzero((high - low) / 2 <= half_width)
        if len(enough):
            return int(counts[enough[0]])
    raise SwingbyError(
        f"a half-width of {half_width:g} would take more than --most {most} seeds; results so far are kept"
    )
