"""The drawing `regime_plane`: where runs end in the plane of evenness and containment, whose product is 1 - kappa."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from pydantic import Field

from swingby.model import drawing
from swingby_analysis.charts import style
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject
from swingby_sweeps.dynamics.metrics import CONTAINED, MINIMUM

KAPPA = MINIMUM
WHOLE, CORNER = "all runs", "the corner"
FROM = {WHOLE: 0.0, CORNER: 0.8}
"""Where the axes of a panel begin."""
BEYOND = 0.02
"""How far an axis goes on behind 1, as a share of it, so that marks at 1 are whole."""
NAMES = {
    WHOLE: {"extended": (0.45, 0.04), "uneven \u2192": (0.85, 0.3), "minimum \u2192": (0.79, 0.975)},
    CORNER: {"extended": (0.87, 0.808), "uneven": (0.975, 0.808), "minimum": (0.975, 0.985)},
}
"""Regimes, and where their names stand; an arrow points from the name to a region that has no room for it."""
LINES = {"line": (f"kappa = {KAPPA:g}", [1, 0]), "edge": (f"containment = {CONTAINED:g}", [5, 3])}
"""Lines between the regimes: what is written in the legend, and their dashes."""


class Options(drawing.Options):
    """Which runs are drawn."""

    all: bool = Field(default=False, description="every run of the data folder, not only those of the sweep")


class RegimePlane(QueryDrawing):
    """A mark a run at its end, over containment and evenness, coloured by test accuracy, with the line kappa = 0.1."""

    name = "regime_plane"
    experiments = ("features",)
    reads_curves = False
    Options = Options
    title = "Evenness and containment"
    empty = "no run has ended with features of which kappa can be told"
    reading = (
        "Across: containment, the share of the features' kernel (in Frobenius norm, centred) that lies in the space of "
        "the learned function. Up: evenness, 1 where all directions inside that space are equally strong. Their "
        "product is 1 - kappa: on the line kappa = 0.1, and above and to the right of it lies the minimum feature "
        "regime. Dashed: containment 0.95; to its left features lie outside the learned space (extended), to its right "
        "they are few and unequal (uneven). Colour: test accuracy; the scale gives most of its range to the upper "
        "tenths, and marks lie on each other in an order that has nothing to do with it. Nets that have hardly learned "
        "may lie anywhere, since neither axis asks what is learned. Left: all runs; right: the corner in which most of "
        "them end."
    )

    def parameters(self, subject: Subject, options: Options) -> tuple[str]:
        """The sweep, or none for every run of the data folder."""
        return ("" if options.all else subject.sweep_id,)

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Options) -> Iterable[Drawn]:
        """One chart of two panels."""
        marks = [dict[str, Any](kind="run", **row) for row in rows.iter_rows(named=True)]
        for panel, low in FROM.items():
            line = [(float(at), (1 - KAPPA) / float(at)) for at in np.linspace(1 - KAPPA, 1, 41)]
            edge = [(CONTAINED, low), (CONTAINED, (1 - KAPPA) / CONTAINED)]
            for kind, places in (("line", line), ("edge", edge)):
                of = {"kind": "line", "panel": panel, "line": LINES[kind][0]}
                marks += [{**of, "containment": x, "evenness": y} for x, y in places]
            for name, (x, y) in NAMES[panel].items():
                marks.append({"kind": "name", "panel": panel, "name": name, "containment": x, "evenness": y})
        inside = rows.filter(pl.col("kappa") < KAPPA).height
        caption = (
            f"Features at the end of {plural(len(rows), 'run')} in the plane of containment and evenness; of "
            f"{inside:,} kappa is below {KAPPA:g}."
        )
        if not options.all:
            yield Drawn(_chart(marks), caption)
            return
        facts = {"Sweeps": "all of the data folder", "Runs": f"{len(rows):,}"}
        yield Drawn(_chart(marks), caption, f"{self.title}, every run of the data folder", facts=facts)


def _chart(rows: Sequence[Mapping[str, Any]]) -> Any:
    colour = alt.Color(
        "accuracy:Q",
        scale=alt.Scale(type="pow", exponent=4, domain=[0, 1], range=list(style.ORDERED)),
        legend=alt.Legend(
            title="test accuracy", orient="bottom", gradientLength=320, format="~g", values=[0, 0.6, 0.8, 0.9, 1]
        ),
    )
    # The edge between extended and uneven ends at the line of kappa.
    dashes = alt.Scale(domain=[name for name, _ in LINES.values()], range=[dash for _, dash in LINES.values()])
    dash = alt.StrokeDash(
        "line:N", scale=dashes, legend=alt.Legend(title=None, orient="bottom", symbolType="stroke", symbolSize=500)
    )
    panels = []
    for panel, low in FROM.items():
        scale = alt.Scale(domain=[low, 1 + BEYOND * (1 - low)], nice=False, zero=False)
        x = alt.X("containment:Q", scale=scale, axis=alt.Axis(title="containment", format="~g", tickCount=6))
        y = alt.Y("evenness:Q", scale=scale, axis=alt.Axis(title="evenness", format="~g", tickCount=6))
        base = alt.Chart().encode(x=x, y=y)
        runs = base.transform_filter("datum.kind == 'run'").mark_point(
            filled=True, size=16 if panel == WHOLE else 22, opacity=0.75, clip=True, strokeWidth=0
        )
        tips = ["data:N", "net:N", *(alt.Tooltip(f"{name}:Q", format=".3~f") for name in ("kappa", "accuracy"))]
        marks = runs.encode(color=colour, tooltip=tips)
        drawn = base.transform_filter(f"datum.kind == 'line' && datum.panel == '{panel}'")
        casing = drawn.mark_line(color="white", strokeWidth=2.6, clip=True).encode(detail="line:N")
        lines = drawn.mark_line(color=style.INK, strokeWidth=1.6, clip=True).encode(strokeDash=dash)
        texts = base.transform_filter(f"datum.kind == 'name' && datum.panel == '{panel}'").encode(text="name:N")
        halo = texts.mark_text(stroke="white", strokeWidth=4, fontSize=13, fontStyle="italic")
        names = texts.mark_text(color=style.INK, fontSize=13, fontStyle="italic")
        layers = alt.layer(marks, casing, lines, halo, names)
        panels.append(layers.properties(width=300, height=300, title=style.headed(panel, ())))
    return style.finished(alt.hconcat(*panels, data=style.LATER, spacing=26), rows)
