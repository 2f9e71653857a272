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
class Rate:
    """Cells a minute, and the seconds that this was measured over, up to now."""

    per_minute: float
    over: float


def measured_rate(marks: Sequence[tuple[float, int]], planned: float, published: float, now: float) -> Rate | None:
    """The rate of a run over its last minutes.

    Args:
        marks: when cells were finished (seconds since 1970), and how many, in any order.
        planned: when the run was planned; what was finished before does not count.
        published: when the store that knows the marks was made.
        now: the time.

    Returns:
        None if nothing has been finished since.
    """
    since = sorted(mark for mark in marks if mark[0] > planned)
    if not since:
        return None
    until = max(since[-1][0], published if published > now - STALE else now - STALE)
    start = min(until - WINDOW, since[-ENOUGH - 1][0] if len(since) > ENOUGH else planned)
    start = max(start, planned)
    cells = sum(count for finished, count in since if finished > start)
    over = until - start
    return Rate(60 * cells / over, over) if over > 0 else None


def seconds_left(missing: int, shares: Sequence[float], found: Rate | None, elapsed: float) -> float | None:
    """Seconds until every cell has its result; None if nothing is known to say it from.

    Args:
        missing: cells without a result.
        shares: how much is done of those among them that are in progress.
        found: the rate, if something was finished.
        elapsed: seconds since the run was planned.
    """
    if not missing:
        return 0.0
    ahead = max(0.0, missing - sum(shares))
    if found is not None:
        return 60 * ahead / found.per_minute if found.per_minute > 0 else None
    return max(0.0, elapsed) * ahead / sum(shares) if sum(shares) > 0 else None
