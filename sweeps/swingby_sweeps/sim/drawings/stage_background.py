"""Parts of charts over the steps of one run: the log axis, and the run's stages as a coloured background with names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

SHADES = {"growth": "#ecf5ee", "suppression": "#fce8d8", "terminal": "#e8ecf3"}
LONGEST = "second suppression"
"""The longest name of a stage; every panel has room for it."""
APART = 25
"""The least px between the names of two stages."""


class Shade(NamedTuple):
    """A stage of a run, in steps."""

    name: str
    kind: str
    start: int
    end: int


def stage_rows(shades: Sequence[Shade], span: tuple[int, int], width: int) -> list[dict[str, Any]]:
    """The rows of `background` and `names`: each stage, and as `step` the place of its name, apart from other names."""
    rows, before, decades = [], -math.inf, math.log(span[1] / span[0])
    for shade in shades:
        start, end = max(shade.start, span[0]), max(shade.end, span[0])
        at = max(width * math.log(math.sqrt(start * end) / span[0]) / decades, before + APART)
        before, step = at, span[0] * math.exp(at / width * decades)
        colour = SHADES[shade.kind]
        rows.append({"kind": "stage", "text": shade.name, "shade": colour, "start": start, "end": end, "step": step})
    return rows


def log_steps(span: tuple[int, int], labels: bool = True) -> alt.X:
    """Steps on a log axis with ticks at 1, 2 and 5 times the powers of ten, and labels at the powers."""
    powers = range(math.floor(math.log10(span[0])), math.floor(math.log10(span[1])) + 1)
    values = [k * 10**power for power in powers for k in (1, 2, 5) if span[0] <= k * 10**power <= span[1]]
    label = "test(/^10*$/, '' + datum.value) ? format(datum.value, ',d') : ''"
    axis = alt.Axis(title="step (log)", values=values, labelExpr=label, labelOverlap=False)
    if not labels:
        axis = alt.Axis(title=None, labels=False, ticks=False, domain=False)
    return alt.X("step:Q", scale=alt.Scale(type="log", domain=list(span), nice=False), axis=axis)


def background(panel: str, x: alt.X) -> alt.Chart:
    """The stages of one panel as a coloured background, with white lines between them."""
    start = alt.X("start:Q", scale=x["scale"], axis=x["axis"])
    rect = rows_of(panel, "stage").mark_rect(stroke="white", strokeWidth=1.5)
    return rect.encode(x=start, x2="end:Q", color=alt.Color("shade:N", scale=None))


def names(panel: str, x: alt.X) -> list[alt.Chart]:
    """The names of the stages, slanting, above a panel; their room does not depend on the names."""
    text_style = {"angle": 325, "align": "left", "baseline": "bottom", "fontSize": 10, "color": style.INK}
    text = rows_of(panel, "stage").mark_text(**text_style).encode(x=x, y=alt.value(-4), text="text:N")
    room = rows_of(panel, "stage").transform_aggregate(n="count()").mark_text(text=LONGEST, opacity=0, **text_style)
    return [text, room.encode(x=alt.value(0), y=alt.value(-4))]


def rows_of(panel: str, kind: str) -> alt.Chart:
    """The rows of one kind in one panel; `panel` is an expression that is true for the panel's rows."""
    return alt.Chart().transform_filter(f"{panel} && datum.kind == '{kind}'")
