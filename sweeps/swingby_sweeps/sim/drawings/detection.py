"""The drawing `detection`: which bumps of twins without sampling noise are found in the SGD runs beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from swingby.select.intervals import wilson
from swingby_analysis.grid import plain
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn

from .charts.detection import Found, calls_chart, power_chart, table_chart
from .subject import SimQueryDrawing, Subject

EDGES = (0.01, 0.02, 0.05, 0.10, math.inf)
"""Heights over L_ref between which bumps are counted together."""
LARGE = 0.05
"""The table has one more column, with all bumps from this height on."""
MOST_FALSE = 0.02
"""The share of false calls at which the figure has a dashed line."""
MOST_RATES = 8
"""Lines of different colours that readers can tell apart."""
ALL = "all depths"
TWIN = (
    "The twin of a run starts from the run's weights and takes as many and as long steps, each down the loss over the "
    "run's whole training set: it has no sampling noise, so that what it shows is there to be found. "
)
KNOWN = (
    "Counted are runs whose twin shows transient memorization; the size of a bump is the highest rise of the twin's "
    "OOD loss between two descents, over L_ref. Found: the detector calls the OOD loss of the run itself non-monotone, "
    "through its noise. The run's own bump may be smaller or larger than its twin's, as noise moves it. "
)
INTERVALS = "Intervals are Wilson's, of 95 %, and take runs as independent, as those of independent seeds are."


class Detection(SimQueryDrawing):
    """The power of the detector `descents` by size of the bump, learning rate and depth, and its false calls."""

    name = "detection"
    recordings = ("twin_gd",)
    empty = "no run by SGD that ended has a twin by full-batch descent"

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterator[Drawn]:
        """The chart of power, the table of power, and the chart of false calls; those for which there are runs.

        Raises:
            SwingbyError: there are too many learning rates to tell apart.
        """
        rates, diverged = rows["lr"].n_unique(), subject.cells.filter(pl.col("status") == "diverged").height
        if rates > MOST_RATES:
            raise subject.cannot(self.name, f"{rates} learning rates are too many lines; allowed: {MOST_RATES}")
        left = f" {plural(diverged, 'run')} that diverged left out." if diverged else ""
        if bumps := list(counted(rows, of_size=classes())):
            titles = ("size of the twin's bump, in % of L_ref", "share of bumps that are found", "learning rate")
            yield Drawn(
                power_chart(bumps, [name for name, _, _ in classes()], titles),
                "The share of bumps that the detector finds under the noise of SGD: "
                f"{plural(rows.filter('transient').height, 'run')} whose twin has a bump, by its size, by learning "
                f"rate (lines) and by depth (panels).{left}",
                "Which bumps the detector finds",
                f"{TWIN}{KNOWN}Bars: the interval of each share. {INTERVALS}",
                "detection-power",
            )
            wide = [*classes(), (f"{_percent(LARGE)} and more", LARGE, math.inf)]
            titles = ("size of the twin's bump, in % of L_ref", "learning rate", "share of bumps that are found")
            yield Drawn(
                table_chart(list(counted(rows, of_size=wide)), [name for name, _, _ in wide], titles),
                f"How many of these bumps are found, with the share and its interval, as a table.{left}",
                "Bumps found, in numbers",
                f"{TWIN}{KNOWN}The last column counts those of the two before it together. A place without a tile has "
                f"no twin with such a bump. {INTERVALS}",
                "detection-table",
            )
        if calls := list(counted(rows)):
            yield Drawn(
                calls_chart(calls, MOST_FALSE, ("learning rate", "share of runs called non-monotone")),
                "False calls: the share of runs that the detector calls non-monotone, of "
                f"{plural(rows.filter('monotone').height, 'run')} whose twin is monotone to 0.1 % of L_ref.{left}",
                "False calls",
                f"{TWIN}Here it falls throughout, but for rises of less than 0.1 % of L_ref. Above each interval: how "
                f"many of how many runs are called. Dashed: {MOST_FALSE:.0%}. {INTERVALS}",
                "detection-false-calls",
            )


def classes() -> list[tuple[str, float, float]]:
    """The classes of size: what they are called, in percent of L_ref, and their edges."""
    return [
        (f"{_percent(low)} to {_percent(high)}" if high < math.inf else f"{_percent(low)} and more", low, high)
        for low, high in pairwise(EDGES)
    ]


def counted(runs: pl.DataFrame, of_size: Sequence[tuple[str, float, float]] = ()) -> Iterator[Found]:
    """Runs that are called non-monotone, for each depth (and all of them), learning rate and class of size.

    Args:
        runs: the rows of the query.
        of_size: of runs whose twin shows transient memorization, the classes of its bump; without any, runs whose twin
            is monotone are counted.
    """
    parts = [("", runs.filter("monotone"))]
    if of_size:
        shown = runs.filter("transient")
        parts = [(name, shown.filter((pl.col("bump") >= low) & (pl.col("bump") < high))) for name, low, high in of_size]
    depths = sorted(runs["layers"].unique().to_list())
    panels = [(plural(depth, "layer"), pl.col("layers") == depth) for depth in depths]
    for panel, chosen in [*panels, *([(ALL, pl.lit(value=True))] if len(depths) > 1 else [])]:
        for rate in sorted(runs["lr"].unique().to_list()):
            for name, part in parts:
                calls = part.filter(chosen & (pl.col("lr") == rate))["called"]
                k, n = int(calls.sum()), len(calls)
                if n:
                    low, high = (float(end) for end in wilson(k, n))
                    yield Found(panel, plain(rate), name, k, n, k / n, low, high)


def _percent(height: float) -> str:
    return f"{100 * height:g}"
