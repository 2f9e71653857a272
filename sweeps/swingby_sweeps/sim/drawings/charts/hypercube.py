"""The hierarchy of test points as the graph of a cube, coloured by loss ([S] B, Fig 7): a panel a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

from ...detect.order import SLACK, breaks

TOP = 1.0
"""Losses above this are coloured like it, as in the source."""
BROKEN = "#e0218a"
APART, ABOVE = 68, 41
"""Px between two columns, and between two nodes of a column."""
LIGHT = 0.55
"""The text of nodes of more than this loss is dark."""


class Cube(NamedTuple):
    """One panel: the loss (1/2 ||.||^2) at x^(v) for v = 0, 1, ... 2^s - 1, where bit p of v is v_(p+1)."""

    title: Sequence[str]
    losses: Sequence[float]


def edges(concepts: int) -> list[tuple[int, int]]:
    """Pairs (u, v) of nodes at Hamming distance 1, u below v: s 2^(s-1) of them."""
    return [(u, u | 1 << p) for u in range(2**concepts) for p in range(concepts) if not u >> p & 1]


def index(v: int, concepts: int) -> str:
    """v_1 ... v_s as the source prints them."""
    return "".join(str(v >> p & 1) for p in range(concepts))


def places(concepts: int) -> list[tuple[float, float]]:
    """The place of each node, in px: a column for each Hamming weight, with the first concepts at its top."""
    columns = [[v for v in range(2**concepts) if v.bit_count() == weight] for weight in range(concepts + 1)]
    middle = (max(map(len, columns)) - 1) / 2
    nodes = [(0.0, 0.0)] * 2**concepts
    for weight, column in enumerate(columns):
        for rank, v in enumerate(sorted(column, key=lambda v: index(v, concepts), reverse=True)):
            nodes[v] = (APART * weight, ABOVE * (middle + rank - (len(column) - 1) / 2))
    return nodes


def hypercube_chart(panels: Sequence[Cube], columns: int) -> Any:
    """A panel for each cube, `columns` side by side; edges that break B.2 stand out.

    Raises:
        ValueError: panels of different numbers of concepts.
    """
    sizes = {len(panel.losses) for panel in panels}
    if len(sizes) != 1:
        raise ValueError(f"cubes of {sorted(sizes)} nodes; allowed: all of one size")
    concepts = sizes.pop().bit_length() - 1
    at, rows = places(concepts), list[dict[str, Any]]()
    for number, (_, loss) in enumerate(panels):
        for u, v in edges(concepts):
            (x, y), (x2, y2) = at[u], at[v]
            kind = "broken" if breaks(loss[u], loss[v]) else "edge"
            rows.append({"panel": number, "kind": kind, "x": x, "y": y, "x2": x2, "y2": y2})
        for v, (x, y) in enumerate(at):
            shown = min(loss[v], TOP)
            ink = style.INK if shown > LIGHT else "white"
            node = {"x": x, "y": y, "index": index(v, concepts), "loss": shown, "text": written(loss[v]), "ink": ink}
            rows.append({"panel": number, "kind": "node", **node})
    charts = [_panel(number, panel, concepts) for number, panel in enumerate(panels)]
    return style.finished(alt.concat(*charts, columns=columns, spacing={"row": 26, "column": 40}), rows)


def written(loss: float) -> str:
    """A loss in the few characters that a node has room for; those below the slack of B.2 are alike."""
    if not math.isfinite(loss):
        return "inf"
    return "<.001" if loss < SLACK else f"{loss:.2g}" if loss < 100 else f"{loss:.0e}"


def _panel(number: int, panel: Cube, concepts: int) -> Any:
    width, tallest = APART * concepts, math.comb(concepts, concepts // 2)
    height = ABOVE * (tallest - 1)

    def of(kind: str) -> alt.Chart:
        chart = alt.Chart().transform_filter(f"datum.panel == {number} && datum.kind == '{kind}'")
        x = alt.X("x:Q", scale=alt.Scale(domain=[-26, width + 26], nice=False), axis=None)
        return chart.encode(x=x, y=alt.Y("y:Q", scale=alt.Scale(domain=[height + 20, -20], nice=False), axis=None))

    legend = alt.Legend(
        title=f"loss 1/2 ||f(x) - x||^2 at the test point; {TOP:g} and more alike", orient="bottom",
        direction="horizontal", gradientLength=260, gradientThickness=10, values=[0, 0.25, 0.5, 0.75, 1],
        format=".2~f",
    )  # fmt: skip
    colour = alt.Color("loss:Q", scale=alt.Scale(scheme="cividis", domain=[0, TOP]), legend=legend)
    ink = alt.Color("ink:N", scale=None)
    layers = [
        of("edge").mark_rule(color="#b7bfc8", strokeWidth=1).encode(x2="x2:Q", y2="y2:Q"),
        of("broken").mark_rule(color=BROKEN, strokeWidth=3).encode(x2="x2:Q", y2="y2:Q"),
        of("node")
        .mark_circle(size=1150, opacity=1, stroke="white", strokeWidth=1)
        .encode(color=colour, tooltip=[alt.Tooltip("index:N", title="v"), alt.Tooltip("text:N", title="loss")]),
        of("node").mark_text(fontSize=10, dy=-4).encode(text="index:N", color=ink),
        of("node").mark_text(fontSize=8, dy=7).encode(text="text:N", color=ink),
    ]
    title = alt.TitleParams(list(panel.title), anchor="start", fontSize=12, color=style.INK, frame="group", offset=6)
    return alt.layer(*layers).properties(width=width + 52, height=height + 40, title=title)
