"""The drawing `emergence`: the strength of each skill over time, samples or units, beside what one skill predicts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject

from .. import theory
from ..calibration import calibrated

AXIS = {"time": "steps", "data": "training points D", "width": "hidden units N"}
RESOURCE = {"data": "samples", "width": "width"}
LAWS = {"time": "(5.2)", "data": "min(1, d/D_c)", "width": "(5.9)"}
DASHES = {"solid": [1, 0], "dashed": [6, 3], "dotted": [2, 3]}
WIDEST = 300
"""Of the axis of the resource, from end to end: before that nothing has emerged."""
READING = (
    "A colour is a skill, from the most frequent (1) to the rarest. Solid: the median over seeds; shaded: from the 10 "
    "to the 90 % quantile. Dashed: {law}, with the constant of nets of one skill on other seeds. "
)
PRINTED = "Dotted: (5.5) as printed; the mean of its model is the dashed line. "


class Emergence(QueryDrawing):
    """R_k/S of each skill, measured and predicted, a panel a point but for the resource: [T] Figs 5.1 and 5.2."""

    name = "emergence"
    experiments = ("parity_net",)
    empty = "no run ended"

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart.

        Raises:
            SwingbyError: the sweep has runs of several bottlenecks.
        """
        kinds = subject.cells["bottleneck"].unique().to_list()
        if len(kinds) != 1:
            raise subject.cannot(self.name, f"its runs lack different resources: {', '.join(sorted(kinds))}")
        (kind,) = kinds
        marks = [row for part in rows.iter_rows(named=True) for row in _rows(subject, kind, part)]
        names = {"solid": "measured, median", "dashed": f"predicted, {LAWS[kind]}", "dotted": "predicted, (5.5)"}
        yield Drawn(
            chart(marks, AXIS[kind], rows["skill"].unique().sort().to_list(), names),
            f"The strength of each skill over {AXIS[kind]}, up to {rows['n'].max()} seeds a point.",
            f"Skills over {AXIS[kind]}: measured and predicted",
            READING.format(law=LAWS[kind]) + (PRINTED if kind == "data" else ""),
        )


def _rows(subject: Subject, kind: str, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What is drawn of one skill at one place: the seeds, and each prediction there is."""
    panel = subject.label(row["point"], [RESOURCE[kind]] if kind in RESOURCE else [])
    shared = {"panel": panel or "all runs", "skill": str(row["skill"]), "x": row["x"]}
    yield {**shared, "line": "solid", "value": row["middle"], "low": row["low"], "high": row["high"]}
    lines = {"dashed": row["mean_law"] if kind == "data" else row["by_width"], "dotted": row["printed"]}
    if kind == "time":
        lines = {"dashed": _in_time(subject.runs(row["point"]), row["x"], row["skill"])}
    for line, value in lines.items():
        if value is not None:
            yield {**shared, "line": line, "value": value}


def _in_time(runs: pl.DataFrame, step: int, skill: int) -> float | None:
    """(5.2) at a step; None where it was not calibrated."""
    p = runs.row(0, named=True)
    constants = calibrated(p["m"], p["bits"])
    if constants is None:
        return None
    share = theory.frequencies(p["alpha"], p["skills"])[skill - 1]
    arguments = constants.inverse_b2, p["loss_factor"], p["lr"], p["target"], theory.start_strength(p["sigma"])
    return float(theory.strength_in_time(step, share, *arguments))


def chart(rows: Sequence[Mapping[str, Any]], axis: str, skills: Sequence[int], names: Mapping[str, str]) -> Any:
    """Lines and bands of every skill, panels side by side; x is logarithmic, over at most a factor of `WIDEST`.

    Args:
        names: what the legend calls each kind of line.
    """
    last = max(row["x"] for row in rows)
    drawn = [row for row in rows if row["x"] * WIDEST >= last]
    ends = [min(row["x"] for row in drawn), last]
    x = alt.X(
        "x:Q", title=axis, scale=alt.Scale(type="log", domain=ends, nice=False), axis=alt.Axis(format="~s", tickCount=6)
    )
    y = {"scale": alt.Scale(domain=[-0.1, 1.2], nice=False), "title": "R_k / S"}
    hues = [style.ORDERED[k % len(style.ORDERED)] for k in range(len(skills))]
    domain = [str(k) for k in skills]
    legend = alt.Legend(title="skill", symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1)
    colour = alt.Color("skill:N", scale=alt.Scale(domain=domain, range=hues), legend=legend)
    kinds = [kind for kind in DASHES if any(row["line"] == kind for row in drawn)]
    key = alt.Legend(title="R_k / S", symbolType="stroke", labelExpr=f"{json.dumps(dict(names))}[datum.label]")
    dash = alt.StrokeDash(
        "line:N", scale=alt.Scale(domain=kinds, range=[DASHES[kind] for kind in kinds]), legend=key
    )  # fmt: skip
    base = alt.Chart().encode(x=x, color=colour)
    solid = base.transform_filter("datum.line == 'solid'")
    band = solid.mark_area(opacity=0.15, clip=True).encode(y=alt.Y("low:Q", **y), y2="high:Q")
    lines = base.mark_line(clip=True, strokeWidth=1.8).encode(y=alt.Y("value:Q", **y), strokeDash=dash)
    panels = list(dict.fromkeys(row["panel"] for row in drawn))
    facet = alt.Facet("panel:N", sort=panels, header=alt.Header(title=None))
    layered = alt.layer(band, lines).properties(width=340 if len(panels) < 3 else 250, height=230)
    return style.finished(layered.facet(facet=facet, columns=3, data=style.LATER), drawn, spacing=18)
