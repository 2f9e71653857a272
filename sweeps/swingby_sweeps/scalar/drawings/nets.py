"""The drawings `laziness`, `modes` and `test_times`: wide nets from lazy to rich, and when diagonal nets generalize."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import altair as alt
import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.charts.scatter import COLOURS, Dot, scatter
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
        caption = f"{plural(len(runs), 'settled run')}: two measures of laziness over |S|/Sigma_0."
        yield Drawn(_laziness_chart(marks), caption)


def _laziness_chart(rows: list[dict[str, object]]) -> alt.Chart:
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


MOST_POINTS = 9
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
        return rows.filter((pl.col("mode").list.len() > 0) & (pl.col("target") != 0)).head(MOST_POINTS)

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart."""
        runs = rows.to_dicts()
        marks = [row for place, run in enumerate(runs) for row in _mode_rows(place, run)]
        names = [f"{run['regime']}: {subject.label(run['point'], UNSAID) or 'all runs'}" for run in runs]
        yield Drawn(_modes_chart(marks, names), f"The modes of one run at {plural(len(runs), 'point')}.")


def _mode_rows(place: int, run: dict[str, Any]) -> list[dict[str, Any]]:
    sign = 1 if run["target"] > 0 else -1
    rows = []
    for step, modes in zip(run["step"], run["mode"], strict=True):
        at = step * run["step_at_end"]
        if at <= LONGEST:
            for j, (first, mode) in enumerate(zip(run["mode"][0], modes, strict=True)):
                side = "aligned" if first * sign > 0 else "opposed"
                rows.append({"panel": place, "at": at, "y": mode / abs(run["target"]), "j": j, "side": side})
    return rows


def _modes_chart(rows: list[dict[str, Any]], names: list[str]) -> Any:
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


MOST_ALPHAS = 6
"""Panels, one a value of alpha."""


class TestTimes(QueryDrawing):
    """A panel a scale of the start, a mark a run, coloured by the decay."""

    name = "test_times"
    experiments = ("sparse_diagonal",)
    title = "The time of generalization"
    empty = "no run has a decay, a C* and a start with alpha^2 > C*"
    reading = (
        "Across: ln(alpha^2 / C*) / (2 decay), with C* computed from each run's own points before it is trained. Up: "
        "when |theta - w|^2 first was at most .05. Line: the identity; shaded: 10 % about it. Runs that are above it "
        "had not fitted their points exactly yet: the law takes the decay as small. Triangles on the upper edge: not "
        "by the end of the run. Left out: starts with alpha^2 <= C*, which generalize as they fit. Both axes are "
        "logarithmic."
    )

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart of all runs that the law speaks of."""
        alphas = rows["alpha"].unique().sort().to_list()
        alphas = alphas[:: math.ceil(len(alphas) / MOST_ALPHAS)]
        runs = rows.filter(pl.col("alpha").is_in(alphas)).to_dicts()
        decays = sorted({row["decay"] for row in runs})
        shown = {decay: _decade(decay) if len(decays) > len(COLOURS) else f"decay {decay:g}" for decay in decays}
        colours = dict(zip(dict.fromkeys(shown.values()), COLOURS, strict=False))
        dots = [_dot(row, shown[row["decay"]]) for row in runs]
        notes = {f"alpha = {alpha:g}": _note([row for row in runs if row["alpha"] == alpha]) for alpha in alphas}
        axes = ("predicted time of generalization", "measured time of generalization")
        caption = f"When {plural(len(runs), 'run')} generalized, predicted from their points and measured."
        yield Drawn(scatter(dots, notes, colours, axes), caption)


def _decade(decay: float) -> str:
    return f"decay from 1e{math.floor(math.log10(decay)):d}"


def _dot(row: dict[str, Any], series: str) -> Dot:
    panel, measured = f"alpha = {row['alpha']:g}", math.inf if row["test_time"] is None else row["test_time"]
    return Dot(panel, series, f"decay {row['decay']:g}", row["seed"], row["predicted_test_time"], measured)


def _note(rows: list[dict[str, Any]]) -> list[str]:
    near = [row for row in rows if row["test_time"] and abs(row["test_time"] / row["predicted_test_time"] - 1) <= 0.1]
    return [f"{len(near):,} of {len(rows):,} within 10 %"]
