"""Signed means over the seeds with their intervals: along one parameter as marks, over two as a map of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.axes import Grid

SIDES = ("#2c7fb8", "#f7f7f5", "#d95f0e")
"""Colours of a map: below 0, 0, above."""
OPEN = "interval holds 0 (open)"


class SignedMean(NamedTuple):
    """A mean over the seeds of a point; `kind` tells series apart, `state` is one of the names given to the chart."""

    point: int
    kind: str
    mean: float
    low: float
    high: float
    state: str
    text: str


def signed_along(
    grid: Grid, rows: Sequence[SignedMean], kinds: Mapping[str, str], states: Mapping[str, str], sides: tuple[str, str]
) -> Any:
    """Marks with their intervals along one parameter, the kinds side by side; open where the interval holds 0.

    Args:
        kinds: name -> colour.
        states: name -> shape; that called OPEN is drawn open.
        sides: titles of the axis below and above 0.
    """
    order, width = list(kinds), style.panel_size(grid)[0]
    gap = min(9.0, 0.25 * grid.x.narrowest * width)
    table = [{**style.tile(grid, row.point), **row._asdict()} for row in rows]
    reach = 1.1 * max((abs(end) for row in rows for end in (row.mean, row.low, row.high)), default=1.0)
    reach = min(reach, 3 * max((abs(row.mean) for row in rows), default=1.0)) or 1.0
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    axis = alt.Axis(title=f"← {sides[0]}  |  {sides[1]} →", grid=True, gridColor=style.RULE, tickCount=6)
    colour = alt.Color("kind:N", scale=alt.Scale(domain=order, range=list(kinds.values())), legend=_legend("judge"))
    layers = [style.level(0)]
    for number, kind in enumerate(order):
        shift = gap * (number - (len(order) - 1) / 2)
        base = alt.Chart().transform_filter(f"datum.kind == '{kind}'").encode(
            x=style.grid_x(grid), color=colour, tooltip=[alt.Tooltip("label:N", title="at"), alt.Tooltip("text:N")]
        )  # fmt: skip
        bar = base.mark_rule(strokeWidth=1.5, xOffset=shift, clip=True)
        layers.append(bar.encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q"))
        layers += _marks(base, shift, states, scale)
    return style.faceted(layers, table, grid)


def _marks(base: alt.Chart, shift: float, states: Mapping[str, str], scale: alt.Scale) -> list[alt.Chart]:
    legend = _legend("interval").copy(deep=False)
    legend.symbolFillColor = legend.symbolStrokeColor = style.FAINT
    shape = alt.Shape("state:N", scale=alt.Scale(domain=list(states), range=list(states.values())), legend=legend)
    looks: list[tuple[str, dict[str, Any]]] = [("!=", {"filled": True}), ("==", {"filled": False, "fill": "white"})]
    return [
        base.transform_filter(f"datum.state {test} '{OPEN}'")
        .mark_point(opacity=1, size=75, xOffset=shift, strokeWidth=1.6, **look)
        .encode(y=alt.Y("mean:Q", scale=scale), shape=shape)
        for test, look in looks
    ]


def signed_map(grid: Grid, rows: Sequence[SignedMean], title: str) -> Any:
    """Tiles coloured by the mean, from one side over white at 0 to the other, with the number in them.

    The number is bold where its interval lies on one side of 0, plain where it does not.
    """
    table = [{**style.tile(grid, row.point), **row._asdict(), "said": f"{row.mean:+.2f}"} for row in rows]
    reach = max((abs(row.mean) for row in rows), default=1.0) or 1.0
    scale = alt.Scale(domain=[-reach, 0, reach], range=list(SIDES))
    legend = alt.Legend(title=title, orient="bottom", gradientLength=220, gradientThickness=10, format="+.2~g")
    tip = [alt.Tooltip("label:N", title="at"), alt.Tooltip("text:N", title=title)]
    tiles = alt.Chart().mark_rect(**style.OVERLAP).encode(
        **style.tile_area(grid), color=alt.Color("mean:Q", scale=scale, legend=legend), tooltip=tip
    )  # fmt: skip
    layers = [tiles]
    looks: list[tuple[str, dict[str, Any]]] = [
        ("!=", {"fontWeight": "bold", "color": style.INK}),
        ("==", {"color": style.INK}),
    ]
    for test, look in looks:
        text = alt.Chart().transform_filter(f"datum.state {test} '{OPEN}'")
        words = text.mark_text(fontSize=11, **look)
        layers.append(words.encode(x=style.grid_x(grid), y=style.grid_y(grid), text="said:N"))
    return style.faceted(layers, table, grid)


def _legend(title: str) -> alt.Legend:
    return alt.Legend(title=title or None, orient="bottom", direction="horizontal", columns=4, labelLimit=0)
