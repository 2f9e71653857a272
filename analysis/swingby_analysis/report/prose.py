"""The wording of reports: how numbers, outcomes and parameters are written, and how each figure is read."""

from __future__ import annotations

import math
from typing import Any

from swingby_analysis.charts.summaries import Share
from swingby_analysis.grid import plain

FITTED = (
    "The fitted share is that of a smooth surface through the results of all points (a Gaussian process on the logit "
    "of the share), so that neighbours inform each other; pointing at a tile shows it."
)
ONE_IN_TWENTY = "Each Wilson interval is for its own point: over the whole grid about one in twenty misses the truth."
BOUNDARY = (
    "The thick line is where the fitted share is one half; beyond the thin lines the fit is 95 % certain of the side. "
    f"Faint tiles were never trained: their colour is the fitted share. {FITTED} Tiles without colour have no result. "
    f"{ONE_IN_TWENTY}"
)
UNCERTAIN = (
    "where the share may be on either side of one half: the fit is less than 95 % certain of the side, or, where there "
    "is no fit, the point's 95 % Wilson interval includes one half"
)
SHARES = (
    "Each tile is one point of the grid; its colour is the share of the seeds. The square inside grows with the "
    "width of the 95 % Wilson interval of that share: the larger, the less is known, and it fills the tile if nothing "
    f"is. A dot marks points {UNCERTAIN}. {BOUNDARY}"
)
SHARES_FINE = (
    "Each tile is one point of the grid; its colour is the share of the seeds. A white dot marks points "
    f"{UNCERTAIN}; the legend says how wide these intervals are at most. {BOUNDARY}"
)
SHARES_ALONG = (
    "Each mark is one point of the grid, with the 95 % Wilson interval of its share. The line is the fitted share with "
    "its 95 % band: that of a smooth curve through the results of all points (a Gaussian process on the logit of the "
    f"share). Open marks are points {UNCERTAIN}. {ONE_IN_TWENTY}"
)
SPENT = (
    "The colour of a tile is the number of seeds that have a result at that point of the grid; a tile without colour "
    "has none."
)
OUTCOMES = (
    "The colour of a tile is the most common outcome at that point of the grid, and it is the stronger the more of the "
    "seeds ended so. Of equally common outcomes the one named first in the legend is "
    "drawn. The legend lists the outcomes that are drawn. Tiles without colour have no result."
)
OUTCOMES_ALONG = (
    "The height of a mark is the share of the seeds that ended in the most common outcome at that point of the grid, "
    "its colour says which outcome that is. Of equally common outcomes the one named first in the legend is drawn."
)
NUMBERS = (
    "Each tile is the median over the seeds at one point of the grid; pointing at it shows the 95 % bootstrap "
    "interval of the median and the quartiles of the seeds. Tiles without colour have no result."
)
NUMBERS_ALONG = (
    "Each mark is the median over the seeds at one point of the grid, its bar the 95 % bootstrap interval of that "
    "median. Numbers over two decades and more stand on a log scale, and the axis says so."
)
SEED_MODES = {
    "common": "common: a seed has the same draws at every point, so neighbouring points err together",
    "independent": "independent: no two points share a draw",
}


def percent(share: float) -> str:
    """A share as a reader writes it; number and sign stay on one line."""
    return f"{100 * share:.0f}\u00a0%"


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 point, 2,000 points."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def share_text(share: Share) -> str:
    """A share in words, with its count and interval."""
    interval = f"95\u00a0% interval {percent(share.low)} to {percent(share.high)}"
    return f"{share.k} of {plural(share.n, 'seed')}, {percent(share.share)} ({interval})"


def between(low: int, high: int) -> str:
    """A range of counts: 20, or 17 to 20."""
    return str(low) if low == high else f"{low} to {high}"


def coverage(trained: int, whole: int, low: int, high: int, runs: str = "cells") -> str:
    """How many points have cells, or `runs` of some kind, and how many seeds each of them has."""
    seeds = f"{plural(low, 'seed')} each" if low == high else f"seeds per point from {low:,} to {high:,}"
    return f"{trained:,} of {plural(whole, 'point')} have {runs}; {seeds}"


def number(value: float | None) -> str:
    """A number with three digits, such as 0.00123; a dash for none."""
    if value is None or math.isnan(value):
        return "-"
    return "infinity" if math.isinf(value) else f"{value:.3g}"


def points(share: float | None) -> str:
    """A difference of shares in percentage points, with its sign."""
    return "-" if share is None else f"{100 * share:+.1f}"


def chance(value: float | None) -> str:
    """A p-value; a dash for none."""
    if value is None or math.isnan(value):
        return "-"
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"


def shown(value: Any) -> str:
    """A parameter's value as text."""
    return f"({', '.join(map(shown, value))})" if isinstance(value, list | tuple) else plain(value)
