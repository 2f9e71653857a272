"""Charts of many axes at once: shares of variance as bars, and points as lines across parallel axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

KINDS: Mapping[str, str] = {
    "an axis by itself": style.BLUE,
    "axes together (interactions)": "#8fa3b5",
    "chance of the seeds": "#c3ccd5",
}
"""What a bar stands for, and its colour."""
STEP = 165
"""Pixels from one parallel axis to the next."""
HEIGHT = 300


class EffectBar(NamedTuple):
    """The share of the variance of an outcome that something explains, its interval (NaN for none), and its words."""

    outcome: str
    name: str
    kind: str
    share: float
    low: float
    high: float
    text: str


class Corner(NamedTuple):
    """A point's place on one of the parallel axes, from 0 to 1; `value` is its outcome."""

    point: int
    axis: str
    place: float
    value: float | str
    label: str
    text: str


class Tick(NamedTuple):
    """A value of a parallel axis, and where it stands."""

    axis: str
    at: float
    label: str


def effect_bars(bars: Sequence[EffectBar]) -> Any:
    """A panel for each outcome, a bar for each axis with its interval, and what is left below them."""
    rows = []
    for bar in bars:
        ends = {"from": max(bar.low, -0.1), "to": min(bar.high, 1.0)}
        shown = {"at": max(0.0, min(1.0, bar.share)), "label_at": max(0.0, min(1.0, bar.share), ends["to"] or 0.0)}
        if bar.low != bar.low:  # no interval
            ends, shown["label_at"] = {"from": shown["at"], "to": shown["at"]}, shown["at"]
        rows.append({**bar._asdict(), **ends, **shown})
    names = list(dict.fromkeys(bar.name for bar in bars if bar.kind == next(iter(KINDS))))
    names += list(dict.fromkeys(bar.name for bar in bars if bar.name not in names))
    axis = alt.Axis(
        title="share of the variance over the points", format=".0%", values=[0, 0.25, 0.5, 0.75, 1], grid=True,
        gridColor=style.RULE,
    )  # fmt: skip
    x = alt.X("at:Q", scale=alt.Scale(domain=[-0.1, 1.45], nice=False), axis=axis)
    legend = alt.Legend(title=None, orient="bottom", direction="horizontal", symbolType="square", symbolSize=110)
    colour = alt.Color("kind:N", scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())), legend=legend)
    y = alt.Y("name:N", sort=names, axis=alt.Axis(title=None, labelLimit=260))
    tip = [alt.Tooltip("name:N", title="by"), alt.Tooltip("text:N", title="explains")]
    base = alt.Chart().encode(y=y, tooltip=tip)
    layers = [
        base.mark_bar(height={"band": 0.62}).encode(x=x, x2=alt.X2Datum(0), color=colour),
        base.mark_rule(color=style.INK, strokeWidth=1.4).encode(x=alt.X("from:Q"), x2=alt.X2("to:Q")),
        base.mark_text(align="left", dx=6, fontSize=11, color=style.INK).encode(
            x=alt.X("label_at:Q"), text=alt.Text("text:N")
        ),
    ]
    outcomes = list(dict.fromkeys(bar.outcome for bar in bars))
    chart = alt.layer(*layers).properties(width=280, height=26 * len(names))
    if len(outcomes) > 1:
        facet = alt.Facet("outcome:N", sort=outcomes, header=alt.Header(title=None))
        chart = chart.facet(facet=facet, columns=2, data=style.LATER).properties(spacing=22)
    else:
        chart = chart.properties(title=style.headed(outcomes[0], ()))
    return style.finished(chart, rows)


def parallel(
    corners: Sequence[Corner], ticks: Sequence[Tick], axes: Sequence[str], colour: alt.Color, last: str
) -> Any:
    """Points as lines across parallel axes.

    Args:
        corners: of every line.
        ticks: of every axis.
        axes: from left to right; the last one is that of the outcome.
        colour: of a line, encoding `value`.
        last: the title of the last axis, which may say more than its name.
    """
    order = [*axes]
    rows = [{"kind": "line", **corner._asdict()} for corner in corners]
    rows += [{"kind": "tick", **tick._asdict()} for tick in ticks]
    x = alt.X(
        "axis:N", sort=order, scale=alt.Scale(padding=0.5),
        axis=alt.Axis(
            title=None, orient="top", labelAngle=0, labelLimit=STEP - 5, domain=False, ticks=False, grid=True,
            gridColor=style.FAINT, labelPadding=10, labelFontWeight="bold",
        ),
    )  # fmt: skip
    scale = alt.Scale(domain=[-0.04, 1.04], nice=False, zero=False)
    lines = alt.Chart().transform_filter("datum.kind == 'line'").mark_line(strokeWidth=1.3, opacity=0.6)
    tips = [alt.Tooltip("label:N", title="at"), alt.Tooltip("text:N", title=last)]
    drawn = lines.encode(
        x=x, y=alt.Y("place:Q", scale=scale, axis=None), color=colour, detail=alt.Detail("point:N"), tooltip=tips
    )  # fmt: skip
    look = {"color": style.RED, "strokeWidth": 2.6}
    picked = alt.Chart().transform_filter("datum.kind == 'line' && datum.point == picked").mark_line(**look)
    outlined = picked.encode(x=x, y=alt.Y("place:Q", scale=scale, axis=None))
    names = alt.Chart().transform_filter("datum.kind == 'tick'")
    look = {"align": "right", "dx": -5, "fontSize": 11}
    y = alt.Y("at:Q", scale=scale, axis=None)
    casing = names.mark_text(stroke="white", strokeWidth=3.5, strokeJoin="round", **look).encode(
        x=x, y=y, text=alt.Text("label:N")
    )
    labels = names.mark_text(color=style.INK, **look).encode(x=x, y=y, text=alt.Text("label:N"))
    chart = alt.layer(drawn, outlined, casing, labels).properties(width=STEP * len(order), height=HEIGHT)
    return style.finished(chart.add_params(alt.param(name="picked", value=-1)), rows)
