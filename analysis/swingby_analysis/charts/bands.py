"""Bands over seeds along the steps, on a logarithmic or an even scale, in panels of one chart."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from swingby_analysis.charts import style
from swingby_analysis.charts.curves import COLOURS, even_steps, log_steps

FEW_STEPS = 40
"""At most so many steps are spaced evenly."""
DECADES = 2
"""Positive medians over so many decades are drawn, coloured and explained by their logarithm."""
REACH = 6
"""Decades that a logarithmic axis may reach to either side of the median value, and above the start of a curve."""
ROUNDING = 1e-14
"""Values so many times smaller than the start of a curve are what rounding leaves of nothing."""
EXPLODED = 1e6
"""Values whose largest is so many times their median are those of runs that explode."""
RATIO = 30
"""Positive values whose largest is so many times their smallest are drawn on a logarithmic axis."""
TITLE = 34
"""Characters of a line of the title of an axis of values."""


class ValueScale(NamedTuple):
    """How the values of a curve are spaced: logarithmically or evenly, and the ends of their axis."""

    log: bool
    low: float
    high: float

    @property
    def near(self) -> tuple[float, float]:
        """Where values that are beyond the ends of the axis are drawn, so that a line leaves the plot there."""
        room = self.high - self.low
        return (self.low / 10, self.high * 10) if self.log else (self.low - room, self.high + room)

    @property
    def in_words(self) -> str:
        """The spacing in words."""
        return "log scale" if self.log else "linear scale"


class Quantiles(NamedTuple):
    """What is known over the seeds of a point at one step; `group` is the title of its panel, `line` its name there."""

    group: str
    line: str
    step: int
    median: float
    low: float
    high: float
    quartile_low: float
    quartile_high: float
    point: int | None = None


class SeedValue(NamedTuple):
    """A curve of one seed at one step; `group` is the point's name, `line` the curve's."""

    group: str
    line: str
    seed: int
    step: int
    value: float
    point: int | None = None


def band_panels(
    rows: Sequence[Quantiles],
    colours: Mapping[str, str],
    legend: str,
    title: str,
    scale: ValueScale,
    numbered: str = "",
) -> Any:
    """A panel a group, in order of appearance: of each line 10 % to 90 % (light), the central half, and the median.

    Args:
        rows: a group's title may go on in a second line, behind a "|".
        colours: name of a line -> its colour, in the legend's order.
        legend: title of the legend.
        title: of the axis of values.
        scale: of that axis; what lies outside is cut off.
        numbered: what steps number where they are none of a training; "": steps.
    """
    groups = list(dict.fromkeys(row.group for row in rows))
    columns = {1: 1, 2: 2, 4: 2}.get(len(groups), 3)
    width = {1: 430, 2: 310}.get(columns, 204)
    last = max((row.step for row in rows), default=1)
    colour = style.line_colour(colours, textwrap.wrap(legend, 80), 6)
    base = alt.Chart().encode(x=steps_axis(last, numbered), color=colour, detail=alt.Detail("line:N"))
    chart = alt.layer(*_layers(base, title, scale)).properties(width=width, height=round(0.72 * width))
    if len(groups) > 1:
        header = alt.Header(title=None, labelExpr="split(datum.label, '|')", labelLineHeight=15)
        facet = alt.Facet("group:N", sort=groups, header=header)
        chart = chart.facet(facet=facet, columns=columns, data=style.LATER).properties(spacing=18)
    return style.finished(chart, (row._asdict() for row in rows))


def waiting_bands(curves: Mapping[str, tuple[str, ValueScale]], last: int) -> Any:
    """A panel a curve, each on its own scale, for the page: no rows yet, but the named data `curve`.

    Args:
        curves: name of the curve -> title of its axis, and its scale.
        last: step.
    """
    panels = []
    for place, (name, (title, scale)) in enumerate(curves.items()):
        base = alt.Chart().transform_filter(f"datum.curve == {json.dumps(name)}").encode(x=steps_axis(last))
        layers = _layers(base, title, scale, COLOURS[place % len(COLOURS)])
        panels.append(alt.layer(*layers).properties(width=215, height=140))
    data = alt.InlineData(values=[], name="curve")
    return alt.vconcat(*panels, data=data, spacing=12).properties(config=alt.Config(**style.LOOK))


def chosen_panels(
    rows: Sequence[Quantiles], runs: Sequence[SeedValue], curves: Mapping[str, tuple[str, ValueScale]]
) -> Any:
    """A row of panels for each curve, a column for each group: median, 10 % to 90 %, and single runs.

    Args:
        rows, runs: their `line` is the name of a curve.
        curves: name of the curve -> title of its axis, and its scale.
    """
    groups, last = list(dict.fromkeys(row.group for row in rows)), max((row.step for row in rows), default=1)
    table = [{"kind": "band", **row._asdict()} for row in rows] + [{"kind": "run", **run._asdict()} for run in runs]
    panels = []
    for place, (name, (title, scale)) in enumerate(curves.items()):
        for group in groups:
            test = f"datum.line == {json.dumps(name)} && datum.group == {json.dumps(group)}"
            base = alt.Chart().transform_filter(test).encode(x=steps_axis(last))
            layers = _layers(base, title, scale, COLOURS[place % len(COLOURS)])
            panels.append(
                alt.layer(*layers).properties(
                    width=190, height=145, title=style.headed("" if place else textwrap.wrap(group, 32), ())
                )
            )
    chart = alt.concat(*panels, columns=len(groups), data=style.LATER, spacing=16)
    return style.finished(chart, table)


def steps_axis(last: int, numbered: str = "") -> alt.X:
    """Steps: evenly spaced where they are few or number something else, otherwise as the logarithm of 1 + step."""
    return log_steps(last) if last > FEW_STEPS and not numbered else even_steps(last, numbered or "step")


def scale_of(values: Iterable[np.ndarray], start: float = 0.0) -> ValueScale:
    """The scale on which a curve's values are drawn.

    It is logarithmic where they are positive (a few zeros lie below it) and their largest is `RATIO` times their
    smallest or more, else linear. A few values that are far beyond all others lie outside of it.

    Args:
        values: of any shape; what is not finite, or beyond 1e299, is left out.
        start: where a positive curve begins; what is only rounding beside it (`ROUNDING`) lies below the axis. 0: not
            known.
    """
    parts = [part[np.isfinite(part) & (np.abs(part) < 1e299)] for part in values]
    known = np.concatenate(parts) if parts else np.empty(0)
    if not known.size:
        return ValueScale(log=False, low=0.0, high=1.0)
    positive = known[known > 0]
    if known.min() >= 0 and positive.size >= 0.5 * known.size:
        seen = np.log10(positive[positive >= ROUNDING * start])
        seen = seen if seen.size else np.log10(positive)
        low, high = ends(seen, 10.0)
        low, high, middle = math.log10(low), math.log10(high), float(np.median(seen))
        high = min(high, max(middle, math.log10(start) if start > 0 else middle) + REACH)
        low = max(low, middle - REACH)
        if high - low >= math.log10(RATIO):
            return ValueScale(log=True, low=10**low, high=10**high)
    low, high = ends(known)
    room = 0.03 * (high - low) or 0.05 * abs(high) or 0.5
    return ValueScale(log=False, low=low if low == 0 else low - room, high=high + room)


def ends(values: np.ndarray, base: float | None = None) -> tuple[float, float]:
    """The least and the largest of what is not far beyond the others; as powers of `base`, if one is given."""
    low, high = float(values.min()), float(values.max())
    # Where a few runs explode, all others would be a flat line.
    exploded = np.abs(values).max() > EXPLODED * np.median(np.abs(values)) > 0
    usual = np.quantile(values, [0.1, 0.9] if exploded else [0.01, 0.99])
    reach = 2.0 * float(usual[1] - usual[0])
    if reach > 0:
        low, high = max(low, float(usual[0]) - reach), min(high, float(usual[1]) + reach)
    return (low, high) if base is None else (base**low, base**high)


def decades_of(medians: Sequence[float]) -> ValueScale | None:
    """The scale of positive medians that lie over at least `DECADES` decades; None for any others."""
    scale = scale_of([np.array(medians, dtype=float)])
    return scale if scale.log and scale.high >= 10**DECADES * scale.low else None


def scale_ticks(scale: ValueScale) -> list[float]:
    """Powers of ten on a logarithmic axis, at most seven of them, or 1, 2 and 5 times these; [] for an even axis."""
    if not scale.log:
        return []
    first, last = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
    powers = [p for p in range(first, last + 1) if scale.low <= 10.0**p * 1.001 and 10.0**p <= scale.high * 1.001]
    if len(powers) > 2:
        return [10.0**p for p in powers[:: -(-len(powers) // 7)]]
    finer = [digit * 10.0**p for p in range(first, last + 1) for digit in (1, 2, 5)]
    return [value for value in finer if scale.low <= value <= scale.high]


def _layers(base: alt.Chart, title: str, scale: ValueScale, hue: str | None = None) -> list[alt.Chart]:
    """The two bands and the median; in one colour where one is given, which then has the wide band and single runs."""
    ticks = scale_ticks(scale)
    # As powers where some would have many zeros.
    written = "~e" if any(tick < 1e-4 or tick >= 1e6 for tick in ticks) else "~g" if ticks else ".4~g"
    options: dict[str, Any] = {"values": ticks} if ticks else {"tickCount": 5}
    titled = textwrap.wrap(f"{title} ({scale.in_words})", TITLE)
    axis = alt.Axis(title=titled, grid=True, gridColor=style.RULE, format=written, **options)
    zero = alt.Undefined if scale.log else False
    kind = "log" if scale.log else "linear"
    values = alt.Scale(type=kind, domain=[scale.low, scale.high], nice=False, zero=zero)
    look: dict[str, Any] = {"clip": True} if hue is None else {"clip": True, "color": hue}
    single, base = base, base if hue is None else base.transform_filter("datum.kind == 'band'")
    wide = base.mark_area(opacity=0.13 if hue is None else 0.2, **look)
    layers = [wide.encode(y=alt.Y("low:Q", scale=values, axis=axis), y2=alt.Y2("high:Q"))]
    if hue is not None:
        runs = single.transform_filter("datum.kind == 'run'").mark_line(strokeWidth=0.7, opacity=0.45, **look)
        layers.append(runs.encode(y=alt.Y("value:Q", scale=values, axis=axis), detail=alt.Detail("seed:N")))
    if hue is None:
        half = base.mark_area(opacity=0.24, **look)
        layers.append(half.encode(y=alt.Y("quartile_low:Q", scale=values, axis=axis), y2=alt.Y2("quartile_high:Q")))
    median = base.mark_line(strokeWidth=2.0, strokeJoin="round", **look)
    return [*layers, median.encode(y=alt.Y("median:Q", scale=values, axis=axis))]
