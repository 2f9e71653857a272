"""Losses over training, a panel a point on the same axes: bands over seeds, single runs, and where bumps are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.curves import log_steps

from ...report import GENERALIZED, OOD_LOSS, TRAINING_LOSS

MEDIAN_SEED = "OOD loss of the median seed"
BUMP_SEED = "OOD loss of the median seed of those with a bump"
TICKS = [0, 0.01, 0.1, 0.25, 0.5, 1, 1.5, 2]
COLOURS = {OOD_LOSS: style.RED, MEDIAN_SEED: style.INK, BUMP_SEED: style.VIOLET, TRAINING_LOSS: style.BLUE}

PEAK = "#8c1c2d"
"""The peaks of runs that are not drawn whole."""


class LossPanel(NamedTuple):
    """One panel: its key in the rows, and its title with smaller lines below."""

    key: str
    title: str
    notes: tuple[str, ...]


class Level(NamedTuple):
    """A loss over L_ref at a step of a line; `run` tells lines of one name apart. `kind`: run (thin), line or seed."""

    panel: str
    kind: str
    curve: str
    run: int
    step: float
    value: float


class Spread(NamedTuple):
    """The 10 % and 90 % quantile of a loss over the seeds at a step."""

    panel: str
    curve: str
    step: float
    low: float
    high: float
    kind: str = "band"


class BumpMark(NamedTuple):
    """Where the detector has the bump of a run that is drawn whole: `kind` start, peak or end; or `other`, a peak."""

    panel: str
    kind: str
    curve: str
    step: float
    value: float


def loss_panels(
    panels: Sequence[LossPanel],
    rows: Sequence[Level | Spread | BumpMark],
    last: int,
    top: float,
    columns: int,
    width: int = 250,
) -> Any:
    """The panels side by side, losses from 0 to `top` on a square-root axis.

    On it a height is the relative distance of the output from the right answer, ||f(x^) - x^|| / ||x^||, and 0 has its
    place; later stages, which a linear axis presses to the bottom, can be seen.
    """
    charts = [_panel(panel, last, top, width) for panel in panels]
    chart = alt.concat(*charts, columns=columns, data=style.LATER, spacing={"row": 24, "column": 26})
    return style.finished(chart.resolve_scale(color="shared"), (row._asdict() for row in rows))


def _panel(panel: LossPanel, last: int, top: float, width: int) -> Any:
    base = alt.Chart().transform_filter(f"datum.panel == '{panel.key}'").encode(x=log_steps(last))
    axis = alt.Axis(
        title="loss / L_ref (square-root axis)", values=TICKS, tickCount=len(TICKS), labelOverlap=False, format="~g",
        grid=True, gridColor=style.RULE,
    )  # fmt: skip
    scale = alt.Scale(type="sqrt", domain=[0, top], nice=False, clamp=False)
    layers = [style.level(GENERALIZED), *_curves(base, scale, axis), *_bump(base, scale)]
    return alt.layer(*layers).properties(width=width, height=200, title=style.headed(panel.title, panel.notes))


def _curves(base: alt.Chart, scale: alt.Scale, axis: alt.Axis) -> list[Any]:
    legend = alt.Legend(
        title=None, orient="bottom", direction="horizontal", symbolType="stroke", symbolStrokeWidth=4, symbolOpacity=1,
        symbolSize=260, columns=2,
    )  # fmt: skip
    colour = alt.Color("curve:N", scale=_hues(), legend=legend)
    value = alt.Y("value:Q", scale=scale, axis=axis)
    band = _only(base, "band").mark_area(opacity=1, fillOpacity=0.2, clip=True)
    looks: dict[str, dict[str, Any]] = {
        "run": {"strokeWidth": 0.6, "strokeOpacity": 0.4},
        "line": {"strokeWidth": 2.2},
        "seed": {"strokeWidth": 2.2, "strokeDash": [6, 3]},
    }
    lines = [_only(base, kind).mark_line(clip=True, **look) for kind, look in looks.items()]
    return [
        band.encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q", color=colour),
        *(chart.encode(y=value, color=colour, detail="run:N") for chart in lines),
    ]


def _bump(base: alt.Chart, scale: alt.Scale) -> list[Any]:
    """Of runs drawn whole: triangles below the start and above the peak, a dot at the end. Small: others' peaks."""
    y = alt.Y("value:Q", scale=scale)
    said = [alt.Tooltip("kind:N", title="bump"), alt.Tooltip("step:Q", format=",d")]
    look = {"filled": True, "size": 75, "opacity": 1, "stroke": "white", "strokeWidth": 1}
    small = {"size": 26, "strokeWidth": 0, "opacity": 1, "fillOpacity": 0.85, "filled": True}
    shapes: list[tuple[str, dict[str, Any]]] = [
        ("other", {**small, "shape": "triangle-up", "yOffset": -4}),
        ("start", {**look, "shape": "triangle-down", "yOffset": 7}),
        ("peak", {**look, "shape": "triangle-up", "yOffset": -7}),
        ("end", {**look, "shape": "circle"}),
    ]
    own = alt.Color("curve:N", scale=_hues())
    hues = {"other": alt.value(PEAK)}
    return [
        _only(base, kind).mark_point(clip=True, **look).encode(y=y, color=hues.get(kind, own), tooltip=said)
        for kind, look in shapes
    ]


def _hues() -> alt.Scale:
    return alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))


def _only(base: alt.Chart, kind: str) -> alt.Chart:
    return base.transform_filter(f"datum.kind == '{kind}'")
