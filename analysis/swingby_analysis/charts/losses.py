"""Loss curves: the median and a band over seeds, outside and inside the training distribution, in units of L_ref."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

OOD_LOSS = "OOD loss"
TRAINING_LOSS = "training loss"
FLOOR = 1e-3
"""Losses below this many L_ref are drawn on the floor: a tenth of what counts as generalized."""


GENERALIZED = 0.01
"""At or below this many L_ref a run counts as generalized."""


class Band(NamedTuple):
    """The seeds of one point at one step: median, and `low` to `high` (10 % and 90 % quantiles), over L_ref."""

    group: str
    curve: str
    step: int
    median: float
    low: float
    high: float


class Run(NamedTuple):
    """One seed's loss at one step, over L_ref."""

    group: str
    curve: str
    seed: int
    step: int
    value: float


def loss_curves(bands: Sequence[Band], runs: Sequence[Run], top: float, width: int = 250) -> Any:
    """A panel for each group (in order of appearance): band, single runs (thin) and median of both losses.

    Args:
        top: upper end of the loss axis, over L_ref; larger losses are drawn there.
    """
    rows = [{"kind": "band", **band._asdict()} for band in bands] + [{"kind": "run", **run._asdict()} for run in runs]
    groups = list(dict.fromkeys(band.group for band in bands))
    last = max((band.step for band in bands), default=1)
    chart = alt.layer(*_layers(last, top)).properties(width=width, height=210)
    facet = alt.Facet("group:N", sort=groups, header=alt.Header(title=None))
    return style.finished(chart.facet(facet=facet, columns=3, data=style.LATER), rows, spacing=18)


def loss_panel(last: int, top: float) -> Any:
    """The same picture for the page: no rows yet, but the named data `curve`, which the page fills in."""
    return style.waiting(alt.layer(*_layers(last, top)), "curve", width=270, height=190)


def step_axis(last: int) -> alt.X:
    """Steps on a symlog axis (the logarithm of 1 + step), where step 0 has its true place."""
    ticks = [0, *(10**power for power in range(len(str(last))))]
    scale = alt.Scale(type="symlog", constant=1, domain=[0, last], nice=False)
    return alt.X(
        "step:Q", scale=scale, axis=alt.Axis(title="step (spaced as log(1 + step))", values=ticks, format=",d")
    )


def _layers(last: int, top: float) -> list[alt.Chart]:
    scale = alt.Scale(type="log", domain=[FLOOR, top], nice=False, clamp=True)
    axis = alt.Axis(
        title="loss / L_ref", values=[10.0**power for power in range(-3, 7) if 10.0**power <= top], format="~g"
    )
    x, colour = step_axis(last), _colour()
    band = alt.Chart().transform_filter("datum.kind == 'band'").encode(x=x, color=colour)
    area = band.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q")
    median = band.mark_line(strokeWidth=2.2).encode(y=alt.Y("median:Q", scale=scale))
    runs = alt.Chart().transform_filter("datum.kind == 'run'").mark_line(strokeWidth=0.6, opacity=0.35)
    runs = runs.encode(x=x, y=alt.Y("value:Q", scale=scale), color=colour, detail="seed:N")
    learned = style.level(GENERALIZED)
    return [learned, area, runs, median]


def _colour() -> alt.Color:
    legend = alt.Legend(
        title=None, orient="bottom", direction="horizontal", symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1
    )
    scale = alt.Scale(domain=[OOD_LOSS, TRAINING_LOSS], range=[style.OOD, style.TRAINING])
    return alt.Color("curve:N", scale=scale, legend=legend)
