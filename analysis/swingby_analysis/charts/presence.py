"""A chart of where something is: for each sweep, at how many of its points how many of the runs show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

KINDS: Mapping[str, str] = {
    "every run": "#17496b", "more than half": "#4d8db5", "at most half": "#b5d2e2", "no run": style.NO_RESULT,
}  # fmt: skip
"""Which of the runs at a point show it, and the colour of such points."""


class Presence(NamedTuple):
    """The points of one sweep, under a heading: those at which each of KINDS of the runs show a thing."""

    heading: str
    sweep: str
    every: int
    most: int
    few: int
    none: int


def presence(bars: Sequence[Presence]) -> Any:
    """A panel for each heading, with a bar of length 1 for each sweep."""
    rows = list[dict[str, Any]]()
    for bar in bars:
        whole, start = sum(bar[2:]), 0
        for kind, count in zip(KINDS, bar[2:], strict=True):
            if count:
                text = f"{count:,} of {whole:,} points ({count / whole:.1%})"
                ends = {"from": start / whole, "to": (start + count) / whole}
                rows.append({"heading": bar.heading, "sweep": bar.sweep, "kind": kind, **ends, "text": text})
            start += count
    axis = alt.Axis(title="share of the points of the grid", format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    legend = alt.Legend(title="at a point, shown by", orient="top", direction="horizontal", symbolType="square")
    tip = [alt.Tooltip("sweep:N"), alt.Tooltip("kind:N", title="shown by"), alt.Tooltip("text:N", title="at")]
    chart = (
        alt.Chart(style.LATER)
        .mark_bar(height={"band": 0.7}, stroke=style.FAINT, strokeWidth=0.4)
        .encode(
            x=alt.X("from:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis),
            x2=alt.X2("to:Q"),
            y=alt.Y("sweep:N", axis=alt.Axis(title=None, labelLimit=300), sort=[bar.sweep for bar in bars]),
            color=alt.Color("kind:N", scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())), legend=legend),
            tooltip=tip,
        )
        .properties(width=420, height=alt.Step(22))
    )
    header = alt.Header(title=None, labelAnchor="start", labelOrient="top")
    headings = list(dict.fromkeys(bar.heading for bar in bars))
    facet = chart.facet(row=alt.Row("heading:N", sort=headings, header=header)).resolve_scale(y="independent")
    return style.finished(facet.properties(spacing=14), rows)
