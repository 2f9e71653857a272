"""The drawing `mode_curves`: strengths of modes and the loss over time ([T] Figs 3.3, 3.4, C.2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.charts.curves import Axes, CurvePanel, curve_panels, medians
from swingby_analysis.report.prose import between, plural
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject

LOSS = "loss"


class ModeCurves(QueryDrawing):
    """Strengths with bands over seeds, a panel for each point, on axes that all panels share."""

    name = "mode_curves"
    experiments = ("modes",)
    sql = "curves"
    title = "Modes over training"
    empty = "no run is finished"
    reading = (
        "Coloured: the strength of each mode, its product of weights over its target (of the parity net: alpha^2, "
        "beta^2, gamma^2 over their ends); black: the loss over that of the start. Thick: the median over the seeds at "
        "each step; shaded: from the 10 % to the 90 % quantile of the seeds. Grey dashes: 5 %, at which a mode has "
        "emerged. Steps are spaced as log(1 + step); the time of the flow is step x lr. Values above 1.2 are cut off."
    )

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart, with a panel for each point."""
        table = rows.with_columns(pl.col("median", "low", "high").clip(0, 1.2))
        lines = sorted(set(table["line"].to_list()) - {LOSS}, key=lambda line: int(line.split()[1]))
        colours = dict(zip([*lines, LOSS], [*style.ordered_colours(len(lines)), style.INK], strict=True))
        drawn = set(table["point"])
        panels = [CurvePanel(str(p), subject.label(p) or "all runs") for p in subject.points if p in drawn]
        axes = Axes(0, max(table["step"].to_list()), 0, 1.2, "strength, loss over its start", steps="log", level=0.05)
        chart = curve_panels(panels, medians(table), axes, colours, min(len(panels), 3), width=270)
        panels_of_seeds = f"{plural(len(panels), 'panel')} of {between(*subject.data.phases.seeds())} seeds"
        yield Drawn(chart, f"Strengths of the modes and the loss over training, {panels_of_seeds}.")
