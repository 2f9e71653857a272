"""The drawing `training_loss`: the variational bound and its three terms over training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl

from swingby_analysis.charts.curves import SYMLOG, Axes, CurvePanel, Level, curve_panels
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject

TERMS = {
    "loss": ("variational bound", "#1d2733"),
    "loss_diffusion": ("diffusion term", "#2a6f97"),
    "loss_prior": ("prior term", "#2c8c5a"),
    "loss_reconstruction": ("reconstruction term", "#d1495b"),
}
"""Columns -> their names in the legend, and their colours."""
SEEDS = 12


class TrainingLoss(QueryDrawing):
    """The loss and its terms, one panel for each point."""

    name = "training_loss"
    experiments = ("diffusion",)
    sql = "losses"
    title = "Training loss"
    empty = "no run recorded a finite loss"
    reading = (
        "The loss that training descends, in bits a dimension, and the three terms that add up to it: means over the "
        "steps since the previous evaluation. The loss can be negative: the data are continuous, and the likelihood is "
        "a density. Thick: the median over the seeds; thin: single seeds; dashed: the bound. The axis is log(1 + value "
        f"/ {SYMLOG}) on either side of 0. A bump of the held-out class while the diffusion term rises comes from too "
        "large a step, and is no transient memorization."
    )

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart."""
        points = rows["point"].unique(maintain_order=True).to_list()
        panels = [CurvePanel(str(point), subject.label(point) or "all runs") for point in points]
        levels = [level for point in points for level in _rows(str(point), rows.filter(pl.col("point") == point))]
        if not levels:
            raise subject.cannot(self.name, self.empty)
        values = [level.value for level in levels if level.kind != "run"]
        last = max(level.step for level in levels)
        low, high = (end + side * 0.3 * (SYMLOG + abs(end)) for end, side in ((min(values), -1), (max(values), 1)))
        axes = Axes(0.0, last, low, high, "bits a dimension (symlog)", "symlog")
        most = max(subject.runs(point).height for point in points)
        caption = f"The training loss and its terms over training, up to {plural(most, 'seed')} in a panel."
        yield Drawn(curve_panels(panels, levels, axes, dict(TERMS.values()), min(len(panels), 4)), caption)


def _rows(key: str, table: pl.DataFrame) -> Iterator[Level]:
    runs = {row["seed"]: row for row in table.iter_rows(named=True) if row["step"]}
    steps = np.unique(np.concatenate([np.array(row["step"]) for row in runs.values()])) if runs else np.zeros(0)
    for column, (name, _) in TERMS.items():
        curves = np.full((len(runs), len(steps)), np.nan)
        for at, row in enumerate(runs.values()):
            losses = row[column] or []
            curves[at, np.searchsorted(steps, row["step"][: len(losses)])] = np.array(losses, dtype=np.float64)
        curves[~np.isfinite(curves)] = np.nan
        for at, seed in list(enumerate(runs))[:SEEDS] if column == "loss" and len(runs) > 1 else ():
            yield from _line(key, "run", name, seed, steps, curves[at])
        known = np.flatnonzero(np.isfinite(curves).any(axis=0))
        kind = "dashed" if column == "loss" else "line"
        yield from _line(key, kind, name, 0, steps[known], np.nanmedian(curves[:, known], axis=0))


def _line(key: str, kind: str, name: str, run: int, steps: np.ndarray, values: np.ndarray) -> Iterator[Level]:
    for step, value in zip(steps.tolist(), values.tolist(), strict=True):
        if np.isfinite(value):
            yield Level(key, kind, name, run, float(step), float(f"{value:.5g}"))
