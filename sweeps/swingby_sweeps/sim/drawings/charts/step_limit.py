"""Errors against the length of a step on logarithmic axes: a panel a setting, seeds, means with intervals, a guide."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
from numpy.typing import NDArray

from swingby_analysis.charts import style
from swingby_analysis.stats.seeds import t_interval

PANEL = 230
"""The side in px of a panel."""
COLOURS = (style.BLUE, style.RED)


class Falls(NamedTuple):
    """The errors of one line of a panel: lengths of a step, the errors of the seeds at each, and the fitted exponent.

    The exponent is a mean over seeds with the ends of its interval; None where it cannot be fitted.
    """

    panel: str
    line: str
    lengths: Sequence[float]
    errors: Sequence[NDArray[np.float64]]
    exponent: tuple[float, float, float] | None


def step_limit_chart(panels: Sequence[str], falls: Sequence[Falls], lines: Sequence[str]) -> Any:
    """A panel for each name, in this order; `lines` is the order of the legend."""
    steps = [step for fall in falls for step in fall.lengths]
    every = np.concatenate([errors for fall in falls for errors in fall.errors])
    every = every[every > 0]
    x_range = min(steps) / 1.3, max(steps) * 1.3
    y_range = (every.min() / 1.5, every.max() * 6) if len(every) else (0.1, 1.0)  # notes stand in the upper corner
    places = {panel: place for place, panel in enumerate(panels)}
    rows: list[dict[str, Any]] = []
    for panel in panels:
        own = [fall for fall in falls if fall.panel == panel]
        notes = [_note(fall) for fall in own if fall.exponent is not None]
        rows.append({"kind": "note", "panel": places[panel], "text": "\n".join(notes)})
        rows += [{"panel": places[panel], **row} for fall in own for row in _rows(fall)]
        # The guide of exponent one goes through the longest step of the first line.
        if own and own[0].errors[-1].mean() > 0:
            far, high = own[0].lengths[-1], float(own[0].errors[-1].mean())
            rows += [{"kind": "guide", "panel": places[panel], "step": at, "error": high * at / far} for at in x_range]
    chart = alt.layer(*_layers(lines, x_range, y_range)).properties(width=PANEL, height=PANEL)
    header = alt.Header(title=None, labelLimit=PANEL + 10, labelExpr=f"{json.dumps(list(panels))}[datum.value]")
    columns = min(3, len(panels))
    chart = chart.facet(facet=alt.Facet("panel:O", header=header), columns=columns, data=style.LATER)
    return style.finished(chart, rows, spacing=20)


def _note(fall: Falls) -> str:
    assert fall.exponent is not None
    value, low, high = fall.exponent
    return f"{fall.line}: exponent {value:.2f} ({low:.2f} to {high:.2f})"


def _rows(fall: Falls) -> list[dict[str, Any]]:
    """A row a seed and length, and one a length: the mean with the interval, where there is one."""
    rows: list[dict[str, Any]] = []
    for step, errors in zip(fall.lengths, fall.errors, strict=True):
        mean = float(errors.mean())
        low, high = t_interval(errors, 0.95) if len(errors) > 1 else (mean, mean)
        rows.append(
            {"kind": "mean", "line": fall.line, "step": step, "error": mean, "low": max(low, mean / 100), "high": high}
        )
        rows += [{"kind": "seed", "line": fall.line, "step": step, "error": float(error)} for error in errors]
    return [row for row in rows if row["error"] > 0]


def _layers(lines: Sequence[str], x_range: tuple[float, float], y_range: tuple[float, float]) -> list[alt.Chart]:
    x = alt.X("step:Q", scale=_log(x_range), axis=_axis("length of a step (lr a_max)", x_range))
    title = "largest distance from Theorem 4.1 / ||x^||"
    y = alt.Y("error:Q", scale=_log(y_range), axis=_axis(title, y_range))
    legend = alt.Legend(title=None, orient="bottom", symbolOpacity=1)
    scale = alt.Scale(domain=list(lines), range=list(COLOURS[: len(lines)]))
    colour = alt.Color("line:N", scale=scale, legend=legend)
    base = alt.Chart().encode(x=x)
    guide = base.transform_filter("datum.kind == 'guide'").mark_line(
        color=style.FAINT, strokeDash=[5, 4], strokeWidth=1, clip=True
    ).encode(y=y)  # fmt: skip
    seeds = base.transform_filter("datum.kind == 'seed'").mark_point(filled=True, size=9, opacity=0.28, clip=True)
    means = base.transform_filter("datum.kind == 'mean'")
    tooltip = [
        alt.Tooltip("line:N", title="of"),
        alt.Tooltip("step:Q", title="length of a step", format=".3~g"),
        alt.Tooltip("error:Q", title="mean distance", format=".3~g"),
        alt.Tooltip("low:Q", title="from", format=".3~g"),
        alt.Tooltip("high:Q", title="to", format=".3~g"),
    ]
    text = alt.Chart().transform_filter("datum.kind == 'note'").mark_text(
        align="left", baseline="top", lineBreak="\n", fontSize=10.5, lineHeight=13, color=style.INK
    ).encode(x=alt.value(8), y=alt.value(6), text="text:N")  # fmt: skip
    return [
        guide,
        seeds.encode(y=y, color=colour),
        means.mark_rule(strokeWidth=1.6, clip=True).encode(
            y=alt.Y("low:Q", scale=_log(y_range)), y2="high:Q", color=colour
        ),
        means.mark_line(strokeWidth=1.6, clip=True).encode(y=y, color=colour),
        means.mark_point(filled=True, size=38, opacity=1).encode(y=y, color=colour, tooltip=tooltip),
        text,
    ]


def _log(ends: tuple[float, float]) -> alt.Scale:
    return alt.Scale(type="log", domain=list(ends), nice=False)


def _axis(title: str, ends: tuple[float, float]) -> alt.Axis:
    """Powers of ten, and three times these."""
    decades = range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])) + 1)
    ticks = [float(f"{step * 10.0**power:.3g}") for power in decades for step in (1, 3)]
    return alt.Axis(
        title=title, values=[value for value in ticks if ends[0] <= value <= ends[1]], format="~g", grid=False
    )
