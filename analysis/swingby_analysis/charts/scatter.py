"""Theory against measurement on logarithmic axes: a panel a setting, the identity, and the band of 10 % about it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

PANEL = 236
"""The side in px of a panel; panels are square, so that the identity is a diagonal."""
BAND = 0.1
"""The band about the identity, as a share of the prediction."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b1478f", "#a67c00", "#3a3a3a", "#56b4e9", "#8c4a2f")


class Dot(NamedTuple):
    """One time or rate: as predicted and as measured; infinite is drawn as a triangle on the edge."""

    panel: str
    series: str
    entry: str
    seed: int
    predicted: float
    measured: float


def scatter(
    dots: Sequence[Dot], notes: Mapping[str, Sequence[str]], series: Mapping[str, str], titles: tuple[str, str]
) -> Any:
    """A panel for each key of `notes`, whose lines stand in its upper left corner.

    Args:
        notes: panel -> lines of text; the panels come in this order.
        series: series -> colour, in the order of the legend.
        titles: of the two axes.
    """
    # One range for both axes and every panel, with room for the marks.
    finite = [value for dot in dots for value in (dot.predicted, dot.measured) if 0 < value < math.inf]
    low, high = (min(finite), max(finite)) if finite else (1.0, 10.0)
    room = max(1.15, (high / low) ** 0.06)
    low, high = low / room, high * room
    places = {panel: place for place, panel in enumerate(notes)}
    rows: list[dict[str, Any]] = []
    for panel, lines in notes.items():
        # From beyond the edges, which clip it: the band is as wide there as anywhere.
        ends = [{"at": at, "low": at * (1 - BAND), "high": at * (1 + BAND)} for at in (low / 2, high * 2)]
        rows += [{"kind": "identity", "panel": places[panel], **end} for end in ends]
        rows.append({"kind": "note", "panel": places[panel], "text": "\n".join(lines)})
    for dot in dots:
        x, y = (min(max(value, low), high) for value in (dot.predicted, dot.measured))
        row = {"kind": "dot", "panel": places[dot.panel], "series": dot.series, "entry": dot.entry, "seed": dot.seed}
        row |= {"x": x, "y": y}
        if math.isinf(dot.measured) or math.isinf(dot.predicted):
            row |= {"kind": "edge", "edge": "up" if math.isinf(dot.measured) else "right"}
        rows.append(row)
    across = len(notes) if len(notes) <= 3 else (2 if len(notes) == 4 else 3)
    chart = alt.layer(*_layers(series, low, high, titles)).properties(width=PANEL, height=PANEL)
    # Panels go by number, so that their names do not stand in every row.
    header = alt.Header(title=None, labelLimit=PANEL + 10, labelExpr=f"{json.dumps(list(notes))}[datum.value]")
    chart = chart.facet(facet=alt.Facet("panel:O", header=header), columns=across, data=style.LATER)
    if len(notes) % across:  # else the empty place of the last row would get an axis, too
        chart = chart.resolve_axis(x="independent", y="independent")
    return style.finished(chart, rows, spacing=20)


def _layers(series: Mapping[str, str], low: float, high: float, titles: tuple[str, str]) -> list[alt.Chart]:
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    # Powers of ten, with 2 and 5 times these where there is room for them.
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps: tuple[float, ...] = (1,) if high / low > 1000 else ((1, 3) if high / low > 100 else (1, 2, 5))
    if high / low < 4:
        steps = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    ticks = [float(f"{step * 10.0**power:.3g}") for power in decades for step in steps]
    axis = {"values": [value for value in ticks if low <= value <= high], "format": "~g", "grid": False}
    x, y = (alt.Axis(title=title, **axis) for title in titles)
    identity = alt.Chart().transform_filter("datum.kind == 'identity'").encode(x=alt.X("at:Q", scale=scale, axis=x))
    band = identity.mark_area(color=style.RULE, opacity=0.7, clip=True)
    band = band.encode(y=alt.Y("low:Q", scale=scale, axis=y), y2=alt.Y2("high:Q"))
    line = identity.mark_line(color=style.FAINT, strokeWidth=1, clip=True).encode(y=alt.Y("at:Q", scale=scale, axis=y))
    legend = alt.Legend(title=None, orient="bottom", symbolOpacity=1, symbolType="circle", columns=6)
    colour = alt.Color("series:N", scale=alt.Scale(domain=[*series], range=[*series.values()]), legend=legend)
    marks = alt.Chart().encode(
        x=alt.X("x:Q", scale=scale, axis=x),
        y=alt.Y("y:Q", scale=scale, axis=y),
        color=colour,
        tooltip=[
            alt.Tooltip("entry:N", title="of"),
            alt.Tooltip("seed:Q"),
            alt.Tooltip("x:Q", title="predicted", format=".4~g"),
            alt.Tooltip("y:Q", title="measured", format=".4~g"),
        ],
    )
    dots = marks.transform_filter("datum.kind == 'dot'").mark_point(size=22, filled=False, strokeWidth=1, opacity=0.65)
    beyond = marks.transform_filter("datum.kind == 'edge'").mark_point(filled=True, size=45, opacity=0.9)
    shape = alt.Shape("edge:N", scale=alt.Scale(domain=["up", "right"], range=["triangle-up", "triangle-right"]))
    beyond = beyond.encode(shape=shape.legend(None))
    text = alt.Chart().transform_filter("datum.kind == 'note'").mark_text(
        align="left", baseline="top", lineBreak="\n", fontSize=10.5, lineHeight=13, color=style.INK
    ).encode(x=alt.value(8), y=alt.value(8), text=alt.Text("text:N"))  # fmt: skip
    return [band, line, dots, beyond, text]
