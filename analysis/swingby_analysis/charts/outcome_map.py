"""The outcome map: the most common outcome at every point of the grid, and how common it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.axes import Grid

# Okabe and Ito's colours (jfly.uni-koeln.de/color), which colour-blind readers can tell apart; worst news darkest.
PALETTE = ("#009e73", "#e69f00", "#d55e00", "#cc79a7", "#56b4e9", "#222222", "#f0e442", "#0072b2")


class MostCommon(NamedTuple):
    """What happened most often at one point: `k` of `n` seeds ended in `outcome`; `counts` tells all of them."""

    point: int
    outcome: str
    k: int
    n: int
    counts: str


def outcome_map(grid: Grid, rows: Sequence[MostCommon], outcomes: Sequence[str], title: str) -> Any:
    """The most common outcome as colour, its share of the seeds as the area of the mark.

    Args:
        outcomes: every possible outcome; the legend lists all of them in this order, also those that never occurred.
    """
    table = [{**style.tile(grid, row.point), **row._asdict(), "share": row.k / row.n} for row in rows]
    for row in table:
        row["text"] = f"{row['outcome']}: {row['k']} of {row['n']} seeds"
    layers = _along_one(grid, outcomes, title) if grid.y is None else _map(grid, outcomes, title)
    return style.faceted(layers, table, grid)


def _map(grid: Grid, outcomes: Sequence[str], title: str) -> list[alt.Chart]:
    tip = [
        alt.Tooltip("label:N", title="at"),
        alt.Tooltip("text:N", title="most common"),
        alt.Tooltip("counts:N", title="all"),
    ]
    area = style.tile_area(grid)
    ground = alt.Chart().mark_rect(color=style.NO_RESULT, stroke="white", strokeWidth=0.5).encode(**area, tooltip=tip)
    side = style.smallest_tile(grid)
    marks = alt.Chart().mark_square(opacity=1).encode(
        x=style.grid_x(grid), y=style.grid_y(grid), color=_colour(outcomes, title), size=_size(side), tooltip=tip
    )  # fmt: skip
    outline = alt.Chart().transform_filter("datum.point == picked").mark_rect(
        filled=False, fill=None, stroke=style.OOD, strokeWidth=2.5
    ).encode(**area)  # fmt: skip
    return [ground, marks, outline]


def _along_one(grid: Grid, outcomes: Sequence[str], title: str) -> list[alt.Chart]:
    tip = [
        alt.Tooltip("label:N", title="at"),
        alt.Tooltip("text:N", title="most common"),
        alt.Tooltip("counts:N", title="all"),
    ]
    y = alt.Y(
        "share:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(title="share of the most common outcome", format=".0%")
    )
    marks = alt.Chart().mark_circle(opacity=1, size=90).encode(
        x=style.grid_x(grid), y=y, color=_colour(outcomes, title), tooltip=tip
    )  # fmt: skip
    return [marks]


def _colour(outcomes: Sequence[str], title: str) -> alt.Color:
    colours = [PALETTE[i % len(PALETTE)] for i in range(len(outcomes))]
    legend = alt.Legend(
        title=title, orient="bottom", direction="horizontal", symbolType="square", symbolSize=110, columns=6
    )
    return alt.Color("outcome:N", scale=alt.Scale(domain=list(outcomes), range=colours), legend=legend)


def _size(side: float) -> alt.Size:
    """Area in proportion to the share; all seeds alike fill the tile."""
    legend = alt.Legend(
        title="area: its share of the seeds", orient="bottom", direction="horizontal",
        values=[0.25, 0.5, 0.75, 1], format=".0%",
        symbolFillColor=style.FAINT,
    )  # fmt: skip
    return alt.Size("share:Q", scale=alt.Scale(domain=[0, 1], range=[0, (0.94 * side) ** 2]), legend=legend)
