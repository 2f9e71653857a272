"""The drawing `hypercube`: the loss at every test point at given times, on the graph of a cube ([S] B, Fig 7)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, NamedTuple

import altair as alt
import numpy as np
import polars as pl
from pydantic import Field

from swingby.model import drawing
from swingby_analysis.charts import style
from swingby_analysis.query import Query
from swingby_analysis.report.prose import percent, plural
from swingby_analysis.report.query_drawing import Drawn
from swingby_analysis.signals.extrema import Floats

from ..detect import order
from ..detect.order import SLACK, breaks
from .subject import SQL, SimDrawing, Subject, parameters_of

SHARES = ("B.2 broken by", "without the origin:")
TITLE = "The loss over the hierarchy of test points"
MOST = 5
"""The most concepts whose 2^s nodes can still be read."""


class HypercubeOptions(drawing.Options):
    """Times of the panels."""

    epochs: list[Annotated[int, Field(ge=0)]] = Field(
        [1, 3, 5],
        min_length=1,
        max_length=6,
        description="passes over the training points, each of ceil(points / batch_size) steps, that have a panel",
    )
    steps: list[Annotated[int, Field(ge=0)]] = Field(
        default=[],
        max_length=6,
        description="steps that have a panel in a figure of their own, for changes within the first epoch",
    )


class Hypercube(SimDrawing):
    """Fig 7 of [S]: a row of panels for each point, one panel a time."""

    name = "hypercube"
    recordings = ("hierarchy",)
    Options = HypercubeOptions
    reading = (
        "Each circle is a test point x^(v) of B.1, with v_1 ... v_s printed on it, the concepts that it combines, and "
        "below that its loss 1/2 ||f(x) - x||^2: the median over the seeds, in units of the data and not over L_ref. "
        "The colour shows that loss too; as in the source all losses of 1 and more have one colour. A column holds the "
        "points that combine equally many concepts, from none (the origin) to all; lines join points that differ in "
        "one. B.2 says that the loss never falls along a line from left to right. Lines along which the median falls, "
        "by more than 2 % and 0.001, are thick and pink. The share above each panel is counted in each run on its own, "
        "over all comparable pairs u <= v and not only over the lines: median, and in brackets the 10 % and 90 % "
        "quantiles of the seeds. The origin is a test point too: a net with a bias starts with a loss there. Where all "
        "losses of all seeds are below 0.001, the slack of B.2, no pair can break it, and the panel says so instead."
    )

    def charts(self, subject: Subject, options: HypercubeOptions) -> Iterable[Drawn]:
        """One chart over the epochs, and one over the steps if there are any.

        Raises:
            SwingbyError: its points have different numbers of concepts, or too many to draw.
        """
        concepts = subject.cells["s"].unique().to_list()
        if len(concepts) != 1 or concepts[0] > MOST:
            numbers = ", ".join(map(str, sorted(concepts)))
            raise subject.cannot(self.name, f"s is {numbers}; allowed: the same s at all points, at most {MOST}")
        times = {"epoch": options.epochs, "step": options.steps}
        return [_at_times(subject, unit, after, concepts[0]) for unit, after in times.items() if after]


def _at_times(subject: Subject, unit: str, times: Sequence[int], concepts: int) -> Drawn:
    """A row of panels for each point, one panel for each time, in epochs or in steps."""
    steps_of = {point: parameters_of(subject.runs(point)).steps_per_epoch for point in subject.points}
    pairs = [(point, after) for point in subject.points for after in times]
    steps = [after * (steps_of[point] if unit == "epoch" else 1) for point, after in pairs]
    query = Query("hypercube", (subject.sweep_id, *map(tuple, zip(*pairs, strict=True)), tuple(steps)), SQL)
    tables = subject.ask(query).partition_by("point", "after", as_dict=True)
    cubes: list[Cube] = []
    for point, after in pairs:
        losses, recorded = losses_of(tables[point, after], concepts), sorted({*tables[point, after]["step"].to_list()})
        at = f"step {recorded[0]:,}" if len(recorded) == 1 else f"steps {recorded[0]:,} to {recorded[-1]:,}"
        title = [subject.label(point), f"after {plural(after, unit)} ({at})", *broken_shares(losses, concepts)]
        cubes.append(Cube([line for line in title if line], np.median(losses, axis=0).tolist()))
    when = "the end of each epoch" if unit == "epoch" else f"each of the steps {', '.join(map(str, times))}"
    caption = (
        f"The loss at the {2**concepts} test points x^(v), v in {{0, 1}}^{concepts}, at the recorded step nearest to "
        f"{when}, and where it breaks the order of u <= v (B.2); {len(order.comparable_pairs(concepts))} pairs."
    )
    slug, title = ("hypercube", TITLE) if unit == "epoch" else ("hypercube-steps", f"{TITLE}, in the first steps")
    return Drawn(hypercube_chart(cubes, len(times)), caption, title, slug=slug, queries=[query])


def losses_of(runs: pl.DataFrame, concepts: int) -> Floats:
    """Loss at every test point of every run, (R, 2^s); infinite where the run diverged before that time."""
    never = [float("inf")] * 2**concepts
    return np.array([never if loss is None else loss for loss in runs["loss"].to_list()], dtype=float)


def broken_shares(hierarchy: Floats, concepts: int) -> list[str]:
    """Lines with the share of comparable pairs that break B.2 over the seeds, with and without the origin (if s > 1).

    Where every loss of every seed, (R, 2^s), is below the slack, no pair can break it, and one line says so instead.
    """
    if (hierarchy < order.SLACK).all():
        return [f"all losses below {order.SLACK:g}: no order to see"]
    lines: list[str] = []
    for name, shares in zip(SHARES, order.violations(hierarchy[:, None], concepts), strict=True):
        if np.isfinite(shares).all():
            low, middle, high = map(percent, np.quantile(shares, [0.1, 0.5, 0.9]))
            lines.append(f"{name} {middle} of pairs (10-90 % of seeds: {low} to {high})")
    return lines


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
