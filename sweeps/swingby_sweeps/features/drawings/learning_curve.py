"""The drawing `learning_curve`: test error and loss over training points, their break, and where kappa is 0.1."""

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

KAPPA = MINIMUM
MOST = 4
FEWEST = 5
"""Numbers of points from which on a broken line can be asked for."""
LEAST = 1e-4
"""An error of no point is drawn here."""
TITLES = {"error": "test error", "loss": "test loss", "kappa": "kappa on the test sample"}


class LearningCurve(QueryDrawing):
    """Test error, loss and kappa over training points, with the break of the power law by BIC."""

    name = "learning_curve"
    experiments = ("features",)
    reads_curves = False
    title = "Learning curve and features"
    empty = f"no setting has {FEWEST} numbers of training points"
    reading = (
        "Left and middle: test error and loss over the number of training points, both axes logarithmic; right: kappa. "
        "Thick: means over the seeds (of the logarithm, but for kappa); marks: single runs. Red: the pair of lines "
        "that fits the means best, where its BIC is smaller than that of one line by 2 or more, else one line. Dashed: "
        "the number of points at which the mean kappa falls through 0.1 for good. Intervals are over seeds, by "
        "bootstrap."
    )

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart, a row of three panels for each setting.

        Raises:
            SwingbyError: no setting has enough numbers of training points, or there are too many settings.
        """
        settings = {point: subject.label(point, without=("n",)) or "all runs" for point in subject.points}
        setting = pl.col("point").replace_strict(settings, default=None)
        rows = rows.with_columns(pl.col("error", "loss").clip(LEAST), setting=setting)
        groups = [
            (str(name), runs)
            for (name,), runs in rows.group_by("setting", maintain_order=True)
            if runs["n"].n_unique() >= FEWEST
        ]
        if not groups:
            raise subject.cannot(self.name, self.empty)
        if len(groups) > MOST:
            raise subject.cannot(self.name, f"it has {len(groups)} settings; allowed: at most {MOST}")
        drawn, marks = list[tuple[str, str, tuple[str, ...]]](), list[dict[str, Any]]()
        for place, (name, runs) in enumerate(groups):
            points, kappas = _matrix(runs, "kappa")
            crossed = trends.over_seeds(kappas, lambda values, points=points: _crossed(points, values))
            for column, title in TITLES.items():
                panel = f"{place} {column}"
                notes = _panel(runs, column, panel, crossed, marks)
                drawn.append((panel, title, (name, notes) if len(groups) > 1 else (notes,)))
        caption = f"Learning curves of {plural(len(rows), 'run')} and kappa of their features."
        yield Drawn(_chart(drawn, marks), caption)


def _matrix(runs: pl.DataFrame, column: str) -> tuple[trends.Floats, trends.Floats]:
    """Numbers of points, rising, and (seeds, numbers): logarithms, but of kappa; only seeds with a run at each."""
    wide = runs.sort("n").pivot(on="n", index="seed", values=column, aggregate_function="first").drop_nulls()
    values = wide.drop("seed").to_numpy().astype(float)
    return np.array([float(name) for name in wide.columns[1:]]), values if column == "kappa" else np.log(values)


def _crossed(points: trends.Floats, values: trends.Floats) -> float:
    return trends.crossing(points, values.mean(axis=0), KAPPA) if len(values) else math.nan


def _panel(runs: pl.DataFrame, column: str, panel: str, crossed: trends.Estimate, rows: list[dict[str, Any]]) -> str:
    """Adds the rows of one panel; returns the line below its title."""
    points, values = _matrix(runs, column)
    rows += [{"panel": panel, "kind": "run", "n": row["n"], "y": row[column]} for row in runs.iter_rows(named=True)]
    if math.isfinite(crossed.value):
        rows.append({"panel": panel, "kind": "crossed", "n": crossed.value})
    if not len(values):
        return "no seed has a run at every number of points"
    means = values.mean(axis=0)
    shown = means if column == "kappa" else np.exp(means)
    rows += [{"panel": panel, "kind": "mean", "n": n, "y": y} for n, y in zip(points, shown, strict=True)]
    if column == "kappa":
        return f"0.1 at n = {_estimate_text(crossed)}" if math.isfinite(crossed.value) else "does not fall through 0.1"
    fit = trends.broken_line(points, np.exp(means))
    if fit is None:
        return ""
    ends = [points[0], fit.at, points[-1]] if fit.gain > trends.LEAST_GAIN else [points[0], points[-1]]
    for n in ends:
        rows.append({"panel": panel, "kind": "fit", "n": n, "y": math.exp(_fitted(fit, n, points, means))})
    if fit.gain <= trends.LEAST_GAIN:
        return f"one line fits as well as two (BIC {fit.gain:+.1f}), exponent {fit.alone:.2f}"
    at = trends.over_seeds(values, lambda some: _break(points, some))
    return f"break at n = {_estimate_text(at)}; exponents {fit.before:.2f}, {fit.after:.2f}"


def _break(points: trends.Floats, values: trends.Floats) -> float:
    fit = trends.broken_line(points, np.exp(values.mean(axis=0)))
    return math.nan if fit is None else fit.at


def _fitted(fit: trends.Break, n: float, points: trends.Floats, means: trends.Floats) -> float:
    if fit.gain <= trends.LEAST_GAIN:
        return float(means.mean() + fit.alone * (math.log(n) - np.log(points).mean()))
    return fit.level + (fit.before if n <= fit.at else fit.after) * math.log(n / fit.at)


def _estimate_text(one: trends.Estimate) -> str:
    return f"{one.value:.0f}" + (f" ({one.low:.0f} to {one.high:.0f})" if math.isfinite(one.low) else "")


def _chart(drawn: Sequence[tuple[str, str, tuple[str, ...]]], rows: Sequence[Mapping[str, Any]]) -> Any:
    x = alt.X(
        "n:Q", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(title="training points", format="~s", tickCount=4)
    )
    charts = []
    for panel, title, notes in drawn:
        kind = "linear" if panel.endswith("kappa") else "log"
        scale = alt.Scale(type=kind, nice=kind == "linear", zero=kind == "linear")
        y = alt.Y("y:Q", scale=scale, axis=alt.Axis(title=title, format="~g", tickCount=5, gridColor=style.RULE))
        base = alt.Chart().transform_filter(f"datum.panel == '{panel}'").encode(x=x)
        layers = [
            base.transform_filter("datum.kind == 'crossed'").mark_rule(color=style.FAINT, strokeDash=[5, 3]),
            base.transform_filter("datum.kind == 'run'")
            .mark_point(size=14, opacity=0.45, color=style.BLUE)
            .encode(y=y),
            base.transform_filter("datum.kind == 'mean'").mark_line(color=style.BLUE, strokeWidth=2).encode(y=y),
            base.transform_filter("datum.kind == 'fit'").mark_line(color=style.RED, strokeWidth=1.5).encode(y=y),
        ]
        if kind == "linear":
            layers.insert(0, style.level(KAPPA))
        charts.append(alt.layer(*layers).properties(width=225, height=200, title=style.headed(title, notes)))
    chart = alt.concat(*charts, columns=len(TITLES), data=style.LATER, spacing=22)
    return style.finished(chart, rows)
