"""How fast results come, and when the last will be there: from the times at which cells were finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WINDOW = 300.0
"""Seconds that a rate is taken over, where enough came in them."""
ENOUGH = 5
"""Shards that a rate is taken over where fewer came in the window: a cell may take hours."""
STALE = 30.0
"""The store is published with some delay; results that are missing longer than this have not come."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Cells a minute, and the seconds that this was measured over, up to now."""

    rate: float
    over: float


def pace(marks: Sequence[tuple[float, int]], begun: float, published: float, now: float) -> Pace | None:
    """The pace of a run over its last minutes.

    Args:
        marks: when cells were finished (seconds since 1970), and how many, in any order.
        begun: when the run was planned; what was finished before does not count.
        published: when the store that knows the marks was made.
        now: the time.

    Returns:
        None if nothing has been finished since.
    """
    since = sorted(mark for mark in marks if mark[0] > begun)
    if not since:
        return None
    until = max(since[-1][0], published if published > now - STALE else now - STALE)
    start = min(until - WINDOW, since[-ENOUGH - 1][0] if len(since) > ENOUGH else begun)
    start = max(start, begun)
    cells = sum(count for finished, count in since if finished > start)
    over = until - start
    return Pace(60 * cells / over, over) if over > 0 else None


def left(missing: int, shares: Sequence[float], found: Pace | None, elapsed: float) -> float | None:
    """Seconds until every cell has its result; None if nothing is known to say it from.

    Args:
        missing: cells without a result.
        shares: how much is done of those among them that have begun.
        found: the pace, if something was finished.
        elapsed: seconds since the run was planned.
    """
    if not missing:
        return 0.0
    ahead = max(0.0, missing - sum(shares))
    if found is not None:
        return 60 * ahead / found.rate if found.rate > 0 else None
    return max(0.0, elapsed) * ahead / sum(shares) if sum(shares) > 0 else None
