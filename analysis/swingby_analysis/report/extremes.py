"""The extreme points of a map: what their seeds show, what holds after shrinking, and what fresh seeds show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from swingby.model.detector import OutcomeKind
from swingby_analysis.charts.summaries import BOUND, Share, Spread, written
from swingby_analysis.report.phases import Phases
from swingby_analysis.report.prose import percent, plural, share_text
from swingby_analysis.stats.shrinkage import Shrunken, shrunken_medians, shrunken_shares

ENDS = ("largest", "smallest")
TOP = 3
"""Points at either end that are listed."""
FEWEST = 2
"""Points from which on a map has extremes."""


@dataclass(frozen=True)
class Extreme:
    """A point at one end of a map.

    Attributes:
        end: one of `ENDS`.
        seen: what its own seeds show.
        estimate, low, high: the shrunken estimate with its 95 % interval.
        alike: how many points of the map are known to be the same, estimate, interval and seeds, this one among them.
        fresh: what seeds show by which the point was not chosen; None where there are none.
    """

    point: int
    end: str
    seen: Share | Spread
    estimate: float
    low: float
    high: float
    alike: int = 1
    fresh: Share | Spread | None = None


@dataclass(frozen=True)
class Extremes:
    """The points at both ends of the map of an outcome.

    Attributes:
        points: over how many points the map is; an extreme is one of so many.
        rows: the largest first, from the end inward; then the smallest. The same point never stands at both ends.
    """

    kind: OutcomeKind
    points: int
    rows: Sequence[Extreme]

    def at(self, end: str) -> list[Extreme]:
        """The points at one end, the outermost first."""
        return [row for row in self.rows if row.end == end]

    def number(self, value: float) -> str:
        """A share or a number as it is written here."""
        return percent(value) if self.kind == "yes_no" else written(value)

    def interval(self, low: float, high: float) -> str:
        """An interval as it is written here."""
        return f"{self.number(low)} to {self.number(high)}"

    def shrunken(self, row: Extreme) -> str:
        """The shrunken estimate in words; an interval of no width says nothing."""
        if self.number(row.low) == self.number(row.high):
            return f"{self.number(row.estimate)} (95\u00a0% interval: the same)"
        return f"{self.number(row.estimate)} (95\u00a0% interval {self.interval(row.low, row.high)})"

    def qualified(self, row: Extreme) -> str:
        """What has to stand behind a raw extreme: of how many it is one, the shrunken estimate, and fresh seeds."""
        whole = plural(self.points, "point")
        if not abs(row.estimate) < BOUND:
            return f"it is the {row.end} of {whole}, and no number that others could correct"
        text = f"shrunken towards the other points it is {self.shrunken(row)}"
        if row.alike > 1:
            text = f"{row.alike:,} of {whole} share this value; {text}"
        elif self.number(raw(row.seen)) == self.number(row.estimate):
            text = f"it is the {row.end} of {whole}; {text}, too"
        else:
            text = f"the {row.end} of {whole} is extreme partly by chance; {text}"
        return f"{text}, on fresh seeds {seen_text(row.fresh)}" if row.fresh is not None else text

    def table(self, label: Callable[[int], str]) -> tuple[list[str], list[list[str]]]:
        """Headings, and a row for each extreme point."""
        rows = []
        for row in self.rows:
            fresh = "not trained" if row.fresh is None else seen_text(row.fresh)
            rows.append([row.end, label(row.point), seen_text(row.seen), self.shrunken(row), fresh])
        return ["end", "point", "its seeds", "shrunken", "fresh seeds"], rows


def seen_text(seen: Share | Spread) -> str:
    """What the seeds of a point show, in words."""
    return share_text(seen) if isinstance(seen, Share) else seen.text


def raw(seen: Share | Spread) -> float:
    """What the seeds of a point show, as a share or a number."""
    return seen.share if isinstance(seen, Share) else seen.median


def extremes(
    phases: Phases,
    outcome: str,
    kind: OutcomeKind,
    top: int = TOP,
    fresh: Phases | None = None,
) -> Extremes | None:
    """The extreme points of the map of an outcome; None for a category, and where there are no two points to compare.

    Points are ranked by their shrunken estimates; of equal ones by the ends of the interval, then by what their seeds
    show; of points that are equal in all of this the first of the grid stands.

    Args:
        top: points at either end; of a map of fewer points, the upper half and the lower half.
        fresh: the same outcome on seeds that the map does not hold, at some of its points.
    """
    if kind == "category":
        return None
    seen: Mapping[int, Share | Spread]
    if kind == "yes_no":
        shares = phases.shares(outcome)
        seen, estimates = (
            {one.point: one for one in shares},
            shrunken_shares([s.k for s in shares], [s.n for s in shares]),
        )
        again: Mapping[int, Share | Spread] = {} if fresh is None else {s.point: s for s in fresh.shares(outcome)}
    else:
        samples, seen = phases.samples(outcome), {one.point: one for one in phases.spreads(outcome)}
        estimates = shrunken_medians([samples[point] for point in seen])
        again = {} if fresh is None else {one.point: one for one in fresh.spreads(outcome)}
    return _ends(kind, seen, estimates, top, again)


def _ends(
    kind: OutcomeKind,
    seen: Mapping[int, Share | Spread],
    estimates: Shrunken,
    top: int,
    fresh: Mapping[int, Share | Spread],
) -> Extremes | None:
    points = list(seen)
    if len(points) < FEWEST or np.isnan(estimates.estimate).any():
        return None
    known = [
        (float(estimates.estimate[place]), float(estimates.high[place]), float(estimates.low[place]), raw(seen[point]))
        for place, point in enumerate(points)
    ]
    alike = Counter(known)
    order = sorted(range(len(points)), key=lambda place: (*(-value for value in known[place]), points[place]))
    upper = order[: min(top, (len(order) + 1) // 2)]
    lower = sorted(set(order) - set(upper), key=lambda place: (*known[place], points[place]))[:top]
    rows = [
        Extreme(
            points[place],
            end,
            seen[points[place]],
            float(estimates.estimate[place]),
            float(estimates.low[place]),
            float(estimates.high[place]),
            alike[known[place]],
            fresh.get(points[place]),
        )
        for end, places in zip(ENDS, (upper, lower), strict=True)
        for place in places
    ]
    return Extremes(kind, len(points), rows)
