"""The drawing `modes`: what each mode a_j b_j contributes to the answer over training, as [T] Fig 6.2 sketches it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import altair as alt
import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject

MOST = 9
"""Points that are drawn."""
LONGEST = 12.0
"""Time up to which modes are drawn, in units of 1/(c E K_inf)."""
UNSAID = {"sd_b", "divisor"}
"""Parameters that panels do not name, for want of room."""
SIDES = {"aligned": style.BLUE, "opposed": style.RED}


class Modes(QueryDrawing):
    """A panel a point, a line a mode: of the first points by closed form or flow."""

    name = "modes"
    experiments = ("wide_scalar",)
    recordings = ("modes",)
    title = "Which modes carry the answer"
    empty = "no run by closed form or flow has a target other than 0"
    reading = (
        "Each line is a mode: a_j b_j / Z of one of the first 40 pairs, over |S|. Blue: aligned with S at the start, "
        "a_j b_j S > 0; red: opposed. Across: flow time in units of the time constant at the end of the run. In a rich "
        "run the modes grow. The opposed ones vanish where |a_j| = |b_j|, as from signs; others turn and carry it, "
        "too. In a lazy run every mode moves by a little, and both kinds stay. Each panel has a scale of its own: lazy "
        "modes are far larger than their sum, which is 1 at the end."
    )

    def kept(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The first runs whose modes were recorded, and whose target is not 0."""
        return rows.filter((pl.col("mode").list.len() > 0) & (pl.col("target") != 0)).head(MOST)

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart."""
        runs = rows.to_dicts()
        marks = [row for place, run in enumerate(runs) for row in _rows(place, run)]
        names = [f"{run['regime']}: {subject.label(run['point'], UNSAID) or 'all runs'}" for run in runs]
        yield Drawn(_chart(marks, names), f"The modes of one run at {plural(len(runs), 'point')}.")


def _rows(place: int, run: dict[str, Any]) -> list[dict[str, Any]]:
    sign = 1 if run["target"] > 0 else -1
    rows = []
    for step, modes in zip(run["step"], run["mode"], strict=True):
        at = step * run["step_at_end"]
        if at <= LONGEST:
            for j, (first, mode) in enumerate(zip(run["mode"][0], modes, strict=True)):
                side = "aligned" if first * sign > 0 else "opposed"
                rows.append({"panel": place, "at": at, "y": mode / abs(run["target"]), "j": j, "side": side})
    return rows


def _chart(rows: list[dict[str, Any]], names: list[str]) -> Any:
    colour = alt.Color(
        "side:N",
        scale=alt.Scale(domain=[*SIDES], range=[*SIDES.values()]),
        legend=alt.Legend(title=None, orient="bottom", symbolOpacity=1),
    )
    lines = alt.Chart().mark_line(strokeWidth=1, opacity=0.6).encode(
        x=alt.X("at:Q", axis=alt.Axis(title="time / (1 / c E K_inf)", grid=False)),
        y=alt.Y("y:Q", axis=alt.Axis(title="a_j b_j / (Z |S|)", grid=False, format="~g")),
        detail="j:N",
        color=colour,
    )  # fmt: skip
    header = alt.Header(title=None, labelLimit=290, labelFontSize=9.5, labelExpr=f"{json.dumps(names)}[datum.value]")
    chart = lines.properties(width=250, height=200).facet(
        facet=alt.Facet("panel:O", header=header), columns=min(3, len(names)), data=style.LATER
    )
    return style.finished(chart.resolve_scale(y="independent"), rows, spacing=20)
