"""A chart of strips: along an axis, from its first value to its last, which share of the runs is in each regime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

WIDTH, ROW, BAND = 430, 42, 0.5
"""Pixels of a strip's length and of a row, and the share of the row that the strip fills."""
UNTOLD = "no regime"
"""Runs that are in none of the regimes."""


class Strip(NamedTuple):
    """The runs of one sweep along one axis.

    Attributes:
        label: whose runs they are.
        axis: what is written above the strip, "" for nothing.
        ends: the first and the last value of the axis.
        shares: for each value of the axis, the share of its runs in each regime, and last that of the others.
    """

    label: str
    axis: str
    ends: tuple[str, str]
    shares: Sequence[Sequence[float]]


class Panel(NamedTuple):
    """Strips under one heading, with their regimes in order, and a colour of each."""

    heading: str
    regimes: Sequence[str]
    strips: Sequence[Strip]
    colours: Sequence[str]


def strips(panels: Sequence[Panel]) -> Any:
    """The panels below each other, each with its own colours: a column of a strip is a value of its axis."""
    rows, charts = list[dict[str, Any]](), list[Any]()
    for panel in panels:
        rows += _rows(panel)
        charts.append(_panel(panel))
    chart = alt.vconcat(*charts, data=style.LATER, spacing=26).resolve_scale(color="independent", y="independent")
    return style.finished(chart, rows)


def _rows(panel: Panel) -> list[dict[str, Any]]:
    rows = list[dict[str, Any]]()
    for number, strip in enumerate(panel.strips):
        place = {"panel": panel.heading, "row": number, "label": strip.label}
        rows.append({**place, "kind": "words", "axis": strip.axis, "low": strip.ends[0], "high": strip.ends[1]})
        for column, shares in enumerate(strip.shares):
            top = 0.0
            for regime, share in zip((*panel.regimes, UNTOLD), shares, strict=True):
                if share > 0:
                    ends = {"x": column / len(strip.shares), "x2": (column + 1) / len(strip.shares)}
                    y = {"y": number + 1 - BAND * (1 - top), "y2": number + 1 - BAND * (1 - top - share)}
                    rows.append({**place, "kind": "share", "regime": regime, "text": f"{share:.0%}", **ends, **y})
                top += share
    return rows


def _panel(panel: Panel) -> Any:
    kinds = [*panel.regimes, UNTOLD]
    colours = [*panel.colours, style.NO_RESULT]
    legend = alt.Legend(title=None, orient="top", direction="horizontal", symbolType="square", offset=4)
    count = len(panel.strips)
    scale = alt.Scale(domain=[count + 0.08, 0], nice=False)
    labels = [strip.label for strip in panel.strips]
    centres = [number + 1 - BAND / 2 for number in range(count)]
    words = alt.Axis(
        title=None, values=centres, labelExpr=f"{labels}[indexof({centres}, datum.value)]", labelLimit=330,
        ticks=False, domain=False, labelPadding=8,
    )  # fmt: skip
    x = {"scale": alt.Scale(domain=[0, 1], nice=False), "axis": None}
    here = alt.Chart().transform_filter(alt.datum.panel == panel.heading)
    tiles = (
        here.transform_filter("datum.kind == 'share'")
        .mark_rect()
        .encode(
            x=alt.X("x:Q", **x),
            x2=alt.X2("x2:Q"),
            y=alt.Y("y:Q", scale=scale, axis=words),
            y2=alt.Y2("y2:Q"),
            color=alt.Color("regime:N", scale=alt.Scale(domain=kinds, range=colours), legend=legend),
            tooltip=[alt.Tooltip("label:N"), alt.Tooltip("regime:N"), alt.Tooltip("text:N", title="share of runs")],
        )
    )
    above: Any = here.transform_filter("datum.kind == 'words'").transform_calculate(at=f"datum.row + {1 - BAND - 0.06}")
    texts = [
        above.mark_text(align=align, baseline="bottom", fontSize=10.5, color=style.INK).encode(
            x=alt.X(datum=at, **x), y=alt.Y("at:Q", scale=scale, axis=words), text=f"{field}:N"
        )
        for field, align, at in (("low", "left", 0), ("axis", "center", 0.5), ("high", "right", 1))
    ]
    title = alt.TitleParams(panel.heading, anchor="start", frame="group", fontSize=13, color=style.INK, offset=8)
    return alt.layer(tiles, *texts).properties(width=WIDTH, height=ROW * count, title=title)
