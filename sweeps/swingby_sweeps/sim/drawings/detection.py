"""The drawing `detection`: which bumps of twins without sampling noise are found in the SGD runs beside them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import altair as alt
import polars as pl

from swingby.select.intervals import wilson
from swingby_analysis.charts import style
from swingby_analysis.grid import plain
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn

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


def counted(runs: pl.DataFrame, of_size: Sequence[tuple[str, float, float]] = ()) -> Iterator[CallShare]:
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
                    yield CallShare(panel, plain(rate), name, k, n, k / n, low, high)


def _percent(height: float) -> str:
    return f"{100 * height:g}"


WIDTH, HEIGHT = 250, 200
DODGE = 0.09
"""By how much of the distance between two sizes the lines stand apart, so that their intervals do not overlap."""
TILE = (112, 40)
"""Width and height in px of a tile of a table."""
LIGHT = 0.7
"""Shares above this have colours on which dark text is read better than white."""


class CallShare(NamedTuple):
    """Runs of one panel, line and column: `k` of `n`, their share, and its 95 % Wilson interval."""

    panel: str
    line: str
    column: str
    k: int
    n: int
    share: float
    low: float
    high: float


def power_chart(rows: Sequence[CallShare], columns: Sequence[str], titles: tuple[str, str, str]) -> Any:
    """A panel each, in order of appearance: the share over the columns, a line each with its intervals.

    Args:
        columns: from left to right.
        titles: of the columns, of the shares, and of the lines.
    """
    lines = list(dict.fromkeys(row.line for row in rows))
    middle = (len(lines) - 1) / 2
    table = [{**_known(row), "x": columns.index(row.column) + DODGE * (lines.index(row.line) - middle)} for row in rows]
    axis = alt.Axis(
        title=titles[0], values=list(range(len(columns))), labelExpr=f"{json.dumps(list(columns))}[datum.value]"
    )
    x = alt.X("x:Q", scale=alt.Scale(domain=[-0.5, len(columns) - 0.5], nice=False, zero=False), axis=axis)
    scale = alt.Scale(domain=[0, 1], nice=False)
    shares = alt.Axis(title=titles[1], format=".0%", values=[0, 0.25, 0.5, 0.75, 1], grid=True, gridColor=style.RULE)
    colours = dict(zip(lines, style.ordered_colours(len(lines)), strict=True))
    base = alt.Chart().encode(x=x, color=style.line_colour(colours, [titles[2]], 8), tooltip=_tip(titles[2]))
    y = alt.Y("share:Q", scale=scale, axis=shares)
    bars = base.mark_rule(strokeWidth=1.6).encode(y=alt.Y("low:Q", scale=scale, axis=shares), y2="high:Q")
    layers = [bars, base.mark_line(strokeWidth=1.6, opacity=0.7).encode(y=y), _marks(base).encode(y=y)]
    return _panels(layers, table, WIDTH, HEIGHT)


def calls_chart(rows: Sequence[CallShare], level: float, titles: tuple[str, str]) -> Any:
    """A panel each: the share of calls on each line, with its interval and its count; dashed: `level`.

    Args:
        titles: of the lines, which stand side by side, and of the shares.
    """
    lines = list(dict.fromkeys(row.line for row in rows))
    top = min(1.0, 1.25 * max([2 * level, *(row.high for row in rows)]))
    table = [{**_known(row), "x": lines.index(row.line), "count": f"{row.k} of {row.n}"} for row in rows]
    axis = alt.Axis(title=titles[0], values=list(range(len(lines))), labelExpr=f"{json.dumps(lines)}[datum.value]")
    x = alt.X("x:Q", scale=alt.Scale(domain=[-0.5, len(lines) - 0.5], nice=False, zero=False), axis=axis)
    scale = alt.Scale(domain=[0, top], nice=False)
    shares = alt.Axis(title=titles[1], format=".1%", tickCount=5, grid=True, gridColor=style.RULE)
    base = alt.Chart().encode(x=x, tooltip=_tip(titles[0]))
    low, y = alt.Y("low:Q", scale=scale, axis=shares), alt.Y("share:Q", scale=scale, axis=shares)
    bars = base.mark_rule(color=style.BLUE, strokeWidth=1.6).encode(y=low, y2="high:Q")
    text = base.mark_text(dy=-8, fontSize=10.5, color=style.INK).encode(y=alt.Y("high:Q", scale=scale), text="count:N")
    layers = [style.level(level), bars, _marks(base).encode(y=y, color=alt.value(style.BLUE)), text]
    return _panels(layers, table, WIDTH, 150)


def table_chart(rows: Sequence[CallShare], columns: Sequence[str], titles: tuple[str, str, str]) -> Any:
    """A panel each: a tile for every line and column, with its count, its share as colour, and the interval.

    Args:
        columns: from left to right.
        titles: of the columns, of the lines, and of the shares.
    """
    lines = list(dict.fromkeys(row.line for row in rows))
    table = [{**_known(row), "interval": _interval(row), "count": f"{row.k} of {row.n}"} for row in rows]
    across = alt.Axis(title=titles[0], labelAngle=0, orient="top")
    x = alt.X("column:N", sort=list(columns), axis=across, scale=alt.Scale(domain=list(columns)))
    y = alt.Y("line:N", sort=lines, axis=alt.Axis(title=titles[1]), scale=alt.Scale(domain=lines))
    legend = alt.Legend(title=titles[2], format=".0%", orient="bottom", gradientLength=220, gradientThickness=10)
    colour = alt.Color("share:Q", scale=alt.Scale(scheme="viridis", domain=[0, 1]), legend=legend)
    base = alt.Chart().encode(x=x, y=y, tooltip=_tip(titles[1]))
    ink = alt.condition(f"datum.share > {LIGHT}", alt.value(style.INK), alt.value("white"))
    words = [
        base.mark_text(dy=shift, fontSize=size).encode(text=f"{field}:N", color=ink)
        for field, shift, size in (("interval", -6, 11), ("count", 8, 10))
    ]
    tiles = base.mark_rect(stroke="white", strokeWidth=1).encode(color=colour)
    return _panels([tiles, *words], table, TILE[0] * len(columns), TILE[1] * len(lines), across=1)


def _known(row: CallShare) -> dict[str, Any]:
    text = f"{row.k} of {row.n}: {row.share:.1%} (95 % interval {row.low:.1%} to {row.high:.1%})"
    return {**row._asdict(), "text": text}


def _interval(row: CallShare) -> str:
    return f"{100 * row.share:.0f} % ({100 * row.low:.0f} to {100 * row.high:.0f})"


def _tip(line: str) -> list[alt.Tooltip]:
    return [alt.Tooltip("panel:N"), alt.Tooltip("line:N", title=line), alt.Tooltip("text:N", title="share")]


def _marks(base: alt.Chart) -> alt.Chart:
    return base.mark_point(filled=True, opacity=1, size=46)


def _panels(layers: Sequence[alt.Chart], table: Sequence[style.Row], width: int, height: int, across: int = 4) -> Any:
    panels = list(dict.fromkeys(row["panel"] for row in table))
    chart = alt.layer(*layers).properties(width=width, height=height)
    facet = alt.Facet("panel:N", sort=panels, header=alt.Header(title=None))
    return style.finished(chart.facet(facet=facet, columns=across, data=style.LATER), table, spacing=18)
