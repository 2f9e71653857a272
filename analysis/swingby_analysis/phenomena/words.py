"""What an axis explains, in words."""

from __future__ import annotations

from swingby_analysis.phenomena.counting import Mover
from swingby_analysis.report.prose import percent

UNTOLD = 0.8
"""Width of an interval of a share from which it says nothing."""


def explained(mover: Mover) -> str:
    """The share of the variance over the points that an axis explains, with its interval where there is one.

    An estimate may lie below 0 by chance, and a share does not; an interval that reaches over most of what is possible
    says nothing.
    """
    share, low, high = (min(max(value, 0.0), 1.0) for value in (mover.share, mover.low, mover.high))
    if mover.low != mover.low:
        return percent(share)
    doubt = "; too few seeds to tell" if high - low > UNTOLD else ""
    return f"{percent(share)} ({percent(low)} to {percent(high)}{doubt})"
