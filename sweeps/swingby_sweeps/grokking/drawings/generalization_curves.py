"""The drawing `generalization_curves`: accuracies and kappa over training, as in [T] Figs 6.4 (a) and 6.5."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.charts.curves import Axes, CurvePanel, curve_panels, medians
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject
from swingby_sweeps.dynamics.metrics import MINIMUM

NAMES = {"train_accuracy": "training accuracy", "test_accuracy": "test accuracy", "kappa": "kappa of the features"}
COLOURS = {
    "training accuracy": style.BLUE,
    "test accuracy": style.RED,
    "kappa of the features": style.VIOLET,
}
MOST = 20
"""The most points with a panel each."""


class GeneralizationCurves(QueryDrawing):
    """Accuracies and kappa over training, a panel a point, on axes that all panels share."""

    name = "generalization_curves"
    experiments = ("mlp_regimes",)
    title = "Accuracies and kappa"
    empty = "no run is finished"
    reading = (
        "Blue: the share of the training points whose label is told; red: the share of the test points. Where the red "
        "line rises long after the blue one, the net groks. Violet: kappa of the last hidden layer on the training "
        "points, 0 where the features span what is learned and all are equally strong; below 0.1 is the minimum "
        "feature regime. Lines are medians over the seeds; shaded is the range from the 10 % to the 90 % quantile, "
        "which is their spread and not a confidence interval. Dashed: 0.1. Steps are spaced as log(1 + step); a step "
        "is one mini-batch."
    )

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart.

        Raises:
            SwingbyError: the sweep has more points than panels can be told apart.
        """
        points = subject.points
        if len(points) > MOST:
            raise subject.cannot(self.name, f"it has {len(points)} points; allowed: at most {MOST}")
        lines = medians(rows.drop_nulls().with_columns(pl.col("line").replace(NAMES)))
        panels = [CurvePanel(str(point), *_headed(subject, point)) for point in points]
        last = max((row.step for row in lines), default=1)
        axes = Axes(0, last, 0, 1, "accuracy, kappa", steps="log", level=MINIMUM)
        columns = next((k for k in (5, 4, 3) if len(points) % k == 0), min(len(points), 4))
        chart = curve_panels(panels, lines, axes, COLOURS, columns, compact=True, width=215)
        yield Drawn(chart, f"Accuracies and kappa over training, {plural(len(points), 'panel')}.")


def _headed(subject: Subject, point: int) -> tuple[str, tuple[str, ...]]:
    """The title of a panel and the smaller lines below it, of one or two values each."""
    first, *values = (subject.label(point) or "all runs").split(", ")
    return first, tuple(", ".join(values[at : at + 2]) for at in range(0, len(values), 2))
