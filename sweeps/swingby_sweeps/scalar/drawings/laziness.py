"""The drawing `laziness`: two measures of laziness over S/Sigma_0, beside the law of the kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import altair as alt
import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject

from ..wide import theory

CHANGE, BENT = "|ln K_inf/K_0|", "nonlinearity"
LEAST = 1e-6
"""What is smaller is drawn here."""


class Laziness(QueryDrawing):
    """One panel with a mark a run for each of the two measures."""

    name = "laziness"
    experiments = ("wide_scalar",)
    title = "From lazy to rich"
    empty = "no run with a target other than 0 has settled"
    reading = (
        "Across: |S|/Sigma_0, the target in units of the start. Blue: how much the kernel changed, |ln K_inf/K_0|; "
        "line: the law ln sqrt(1 + rho^2) of a start with S_0 = 0, from which runs with another S_0 depart where they "
        "are lazy. Red: how far the output was from that of the kernel frozen at its start, where it was farthest, "
        "over the way |S - S_0|. Dashed: changes by 10 % and by a factor of 2, between which a run is neither lazy nor "
        "rich. Both axes are logarithmic."
    )

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart of all runs that settled."""
        runs = rows.to_dicts()
        marks = list[dict[str, object]]()
        for row in runs:
            for series, value in ((CHANGE, row["change"]), (BENT, row["nonlinearity"])):
                marks.append({"kind": series, "rho": row["rho"], "y": max(value or 0.0, LEAST), "seed": row["seed"]})
        low, high = (math.log10(edge(row["rho"] for row in runs)) for edge in (min, max))
        for place in range(101):
            rho = 10 ** (low + (high - low) * place / 100)
            law = math.log(float(theory.kernel_ratio(rho, 0.0)))
            marks.append({"kind": "law", "rho": rho, "y": max(law, LEAST)})
        marks += [{"kind": "edge", "y": math.log(edge)} for edge in (theory.LAZY, theory.RICH)]
        yield Drawn(_chart(marks), f"{plural(len(runs), 'settled run')}: two measures of laziness over |S|/Sigma_0.")


def _chart(rows: list[dict[str, object]]) -> alt.Chart:
    log = alt.Scale(type="log", nice=False)
    x = alt.X("rho:Q", scale=log, axis=alt.Axis(title="|S| / Sigma_0", format="~g", grid=False))
    y = alt.Y("y:Q", scale=log, axis=alt.Axis(title="deviation from the frozen kernel", format="~g", grid=False))
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=[CHANGE, BENT], range=[style.BLUE, style.RED]),
        legend=alt.Legend(title=None, orient="bottom", symbolOpacity=1),
    )
    runs = alt.Chart().transform_filter(f"datum.kind == '{CHANGE}' || datum.kind == '{BENT}'")
    marks = runs.mark_point(size=16, opacity=0.5, strokeWidth=1).encode(x=x, y=y, color=colour)
    law = alt.Chart().transform_filter("datum.kind == 'law'").mark_line(color=style.INK, strokeWidth=1).encode(x=x, y=y)
    edges = alt.Chart().transform_filter("datum.kind == 'edge'").mark_rule(color=style.FAINT, strokeDash=[4, 3])
    layered = alt.layer(marks, law, edges.encode(y=y), data=style.LATER).properties(width=460, height=320)
    return style.finished(layered, rows)
