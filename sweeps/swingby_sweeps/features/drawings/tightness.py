"""The drawing `tightness`: test error over kappa, with their rank correlation within and across architectures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject
from swingby_sweeps.dynamics.metrics import MINIMUM

from .. import trends

LEARNED = 0.9
"""Training accuracy from which on a run has learned its points."""
LEAST = 3e-4
"""A smaller test error or kappa is drawn here."""
KAPPA = MINIMUM
MOST = 8
"""Architectures with a colour each."""


class Tightness(QueryDrawing):
    """A mark a run, test error over kappa, a colour an architecture, a panel a data set."""

    name = "tightness"
    experiments = ("features",)
    reads_curves = False
    title = "Is tighter better?"
    empty = f"no run has learned {LEARNED:.0%} of its training points"
    reading = (
        "Across: kappa of the features on the test sample, 0 where they are the minimum; up: the share of the test "
        "points that is told wrong; both axes are logarithmic. A mark is a run at its end, if it has learned nine "
        "tenths of its training points; a colour is an architecture, a panel a data set. Dashed: kappa 0.1. Spearman's "
        "rank correlation is over all marks of a colour or panel, its 95 % interval by bootstrap over seeds. Above 0: "
        "tighter is better."
    )

    def parameters(self, subject: Subject, options: Any) -> tuple[str, float]:
        """The sweep, and the training accuracy of runs that have learned."""
        return subject.sweep_id, LEARNED

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart.

        Raises:
            SwingbyError: there are too many architectures.
        """
        rows = rows.with_columns(pl.col("kappa", "error").clip(LEAST))
        names = sorted(rows["architecture"].unique())
        if len(names) > MOST:
            raise subject.cannot(self.name, f"it has {len(names)} architectures; allowed: at most {MOST}")
        panels = dict[str, tuple[str, ...]]()
        for (data,), runs in rows.group_by("data", maintain_order=True):
            parts = [("across", runs)] if len(names) > 1 else []
            parts += [(str(name), some) for (name,), some in runs.group_by("architecture", maintain_order=True)]
            panels[str(data)] = tuple(f"{name}: {_correlation_text(some)}" for name, some in parts)
        colours = dict(zip(names, style.ordered_colours(len(names)), strict=True))
        caption = f"Test error over kappa of {plural(len(rows), 'run')} that learned their training points."
        yield Drawn(_chart(panels, colours, rows.to_dicts()), caption)


def _correlation_text(runs: pl.DataFrame) -> str:
    """Spearman's correlation of kappa and error, and its interval over seeds."""
    seeds = np.array(sorted(runs["seed"].unique()))
    of_seed = {seed: runs.filter(pl.col("seed") == seed).select("kappa", "error").to_numpy() for seed in seeds.tolist()}

    def correlation(chosen: trends.Floats) -> float:
        pairs = np.concatenate([of_seed[int(seed)] for seed in chosen])
        return trends.spearman(pairs[:, 0], pairs[:, 1])

    trend = trends.over_seeds(seeds.astype(float), correlation)
    if not math.isfinite(trend.value):
        return "cannot be told"
    return f"{trend.value:+.2f}" + (f" ({trend.low:+.2f} to {trend.high:+.2f})" if math.isfinite(trend.low) else "")


def _chart(panels: Mapping[str, Sequence[str]], colours: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> Any:
    scale = alt.Scale(type="log", nice=False, padding=8)
    x = alt.X("kappa:Q", scale=scale, axis=alt.Axis(title="kappa", format="~g", tickCount=5))
    y = alt.Y("error:Q", scale=scale, axis=alt.Axis(title="test error", format="~g", tickCount=5))
    legend = alt.Legend(title=None, orient="bottom", columns=2, symbolType="circle", symbolOpacity=1, symbolSize=60)
    shades = alt.Scale(domain=list(colours), range=list(colours.values()))
    colour = alt.Color("architecture:N", scale=shades, legend=legend)
    charts = []
    for data, notes in panels.items():
        base = alt.Chart().transform_filter(f"datum.data == '{data}'")
        marks = base.mark_point(filled=True, size=22, opacity=0.7).encode(x=x, y=y, color=colour)
        edge = alt.Chart(alt.InlineData(values=[{"kappa": KAPPA}]))
        rule = edge.mark_rule(color=style.FAINT, strokeDash=[4, 3]).encode(x=x)
        charts.append(alt.layer(rule, marks).properties(width=330, height=280, title=style.headed(data, notes)))
    chart = alt.hconcat(*charts, data=style.LATER, spacing=26).resolve_scale(color="shared")
    return style.finished(chart, rows)
