"""The velocity of W's entries over a run: growth, suppression and noise of eq 4.3, a small panel for each entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

from ...theory import Velocity
from .stage_background import Shade, background, log_steps, names, stage_rows

TERMS = ("G: growth", "-S: suppression", "-N: noise", "W' = G - S - N")
COLOURS = ("#2c8c5a", "#d9650d", "#7a5bb5", style.INK)
WIDTH, HEIGHT = 270, 130


class EntryVelocity(NamedTuple):
    """The velocity of one entry at one step, in 1/time of eq 4.3; its terms are numbers."""

    entry: str
    step: int
    velocity: Velocity


def velocity_chart(rows: Sequence[EntryVelocity], shades: Sequence[Shade], span: tuple[int, int], title: str) -> Any:
    """A panel an entry, in order of appearance, each with its own scale: G, -S, -N and their sum, and the stages.

    Args:
        span: first and last step of the axis.
        title: which run it is.
    """
    entries = list(dict.fromkeys(row.entry for row in rows))
    columns = 3
    table: list[dict[str, Any]] = [
        {"panel": 0, "kind": "term", "entry": row.entry, "step": row.step, "term": term, "value": value}
        for row in rows
        if row.step >= span[0]
        for term, value in zip(TERMS, terms(row), strict=True)
    ]
    table += [{"panel": 0, **row} for row in stage_rows(shades, span, WIDTH)]
    charts = [_panel(entry, number < columns, span) for number, entry in enumerate(entries)]
    head = alt.TitleParams(title, anchor="start", fontSize=13, color=style.INK, offset=10)
    return style.finished(alt.concat(*charts, columns=columns, spacing={"row": 18, "column": 26}), table, title=head)


def terms(row: EntryVelocity) -> tuple[float, float, float, float]:
    """G, -S, -N, and W', their sum."""
    velocity = row.velocity
    return float(velocity.growth), -float(velocity.suppression), -float(velocity.noise), float(velocity.total)


def _panel(entry: str, first: bool, span: tuple[int, int]) -> Any:
    """One entry; only the panels of the first row name the stages."""
    x = log_steps(span)
    y = alt.Y("value:Q", axis=alt.Axis(title="velocity (1 / time)", tickCount=5, grid=False, format="~g"))
    legend = alt.Legend(
        title=None, orient="bottom", direction="horizontal", symbolType="stroke", symbolStrokeWidth=3, symbolSize=300
    )
    colour = alt.Color("term:N", scale=alt.Scale(domain=list(TERMS), range=list(COLOURS)), legend=legend)
    width = alt.StrokeWidth("term:N", scale=alt.Scale(domain=list(TERMS), range=[1.6, 1.6, 1.6, 3]), legend=None)
    lines = alt.Chart().transform_filter(f"datum.kind == 'term' && datum.entry == '{entry}'").mark_line()
    zero = alt.Chart().transform_aggregate(n="count()").mark_rule(color=style.FAINT, strokeWidth=0.6)
    layers = [
        background("datum.panel == 0", x),
        zero.encode(y=alt.datum(0)),
        lines.encode(x=x, y=y, color=colour, strokeWidth=width),
    ]
    layers += names("datum.panel == 0", x) if first else []
    title = alt.TitleParams(entry, anchor="start", fontSize=12, color=style.INK, frame="group", offset=4)
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title)
