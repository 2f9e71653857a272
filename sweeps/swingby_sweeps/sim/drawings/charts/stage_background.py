"""What charts over the steps of one run share: the log axis, and its stages as coloured ground with names on top."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

SHADES = {"growth": "#ecf5ee", "suppression": "#fce8d8", "terminal": "#e8ecf3"}
LONGEST = "second suppression"
"""Room for this name is kept above every panel."""
APART = 25
"""The least px between the names of two stages."""


class Shade(NamedTuple):
    """A stage of a run, in steps."""

    name: str
    kind: str
    start: int
    end: int


def stage_rows(shades: Sequence[Shade], span: tuple[int, int], width: int) -> list[dict[str, Any]]:
    """What `ground` and `names` draw: each stage, and as `step` where its name stands, apart from the one before."""
    rows, before, decades = [], -math.inf, math.log(span[1] / span[0])
    for shade in shades:
        start, end = max(shade.start, span[0]), max(shade.end, span[0])
        at = max(width * math.log(math.sqrt(start * end) / span[0]) / decades, before + APART)
        before, step = at, span[0] * math.exp(at / width * decades)
        ground = SHADES[shade.kind]
        rows.append({"kind": "stage", "text": shade.name, "shade": ground, "start": start, "end": end, "step": step})
    return rows


def log_steps(span: tuple[int, int], labels: bool = True) -> alt.X:
    """Steps on a log axis with ticks at 1, 2 and 5 times the powers of ten, which have a label."""
    powers = range(math.floor(math.log10(span[0])), math.floor(math.log10(span[1])) + 1)
    values = [k * 10**power for power in powers for k in (1, 2, 5) if span[0] <= k * 10**power <= span[1]]
    label = "test(/^10*$/, '' + datum.value) ? format(datum.value, ',d') : ''"
    axis = alt.Axis(title="step (log)", values=values, labelExpr=label, labelOverlap=False)
    if not labels:
        axis = alt.Axis(title=None, labels=False, ticks=False, domain=False)
    return alt.X("step:Q", scale=alt.Scale(type="log", domain=list(span), nice=False), axis=axis)


def ground(panel: str, x: alt.X) -> alt.Chart:
    """The stages of one panel as coloured ground, with a white line between two."""
    start = alt.X("start:Q", scale=x["scale"], axis=x["axis"])
    rect = rows_of(panel, "stage").mark_rect(stroke="white", strokeWidth=1.5)
    return rect.encode(x=start, x2="end:Q", color=alt.Color("shade:N", scale=None))


def names(panel: str, x: alt.X) -> list[alt.Chart]:
    """The stages' names, slanting, above a panel; they take the same room whatever the names are."""
    look = {"angle": 325, "align": "left", "baseline": "bottom", "fontSize": 10, "color": style.INK}
    text = rows_of(panel, "stage").mark_text(**look).encode(x=x, y=alt.value(-4), text="text:N")
    room = rows_of(panel, "stage").transform_aggregate(n="count()").mark_text(text=LONGEST, opacity=0, **look)
    return [text, room.encode(x=alt.value(0), y=alt.value(-4))]


def rows_of(panel: str, kind: str) -> alt.Chart:
    """The rows of one kind in one panel, which an expression over a row picks out."""
    return alt.Chart().transform_filter(f"{panel} && datum.kind == '{kind}'")
