"""The drawing `mode_curves`: strengths of modes and the loss over time ([T] Figs 3.3, 3.4, C.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import polars as pl

from swingby.model.drawing import Drawing
from swingby_analysis.charts import style
from swingby_analysis.charts.curves import Axes, CurvePanel, Level, Spread, curve_panels
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.prose import between, plural
from swingby_analysis.report.subject import Subject

LOSS = "loss"
READING = (
    "Coloured: the strength of each mode, its product of weights over its target (of the parity net: alpha^2, beta^2, "
    "gamma^2 over their ends); black: the loss over that of the start. Thick: the median over the seeds at each step; "
    "shaded: from the 10 % to the 90 % quantile of the seeds. Grey dashes: 5 %, at which a mode has emerged. Steps are "
    "spaced as log(1 + step); the time of the flow is step x lr. Values above 1.2 are cut off."
)


class ModeCurves(Drawing):
    """Strengths with bands over seeds, a panel for each point, on axes that all panels share."""

    name: ClassVar[str] = "mode_curves"
    experiments: ClassVar[tuple[str, ...]] = ("modes",)

    def figures(self, subject: Subject, options: Any) -> Sequence[Figure]:
        """One figure, with a panel for each point."""
        query = Query("curves", (subject.sweep_id,), __package__ or "")
        table = subject.ask(query).with_columns(pl.col("median", "low", "high").clip(0, 1.2))
        lines = sorted(set(table["line"].to_list()) - {LOSS}, key=lambda line: int(line.split()[1]))
        hues = style.ordered_colours(len(lines))
        colours = {**dict(zip(lines, hues, strict=True)), LOSS: style.INK}
        points = [point for point in subject.points if not table.filter(pl.col("point") == point).is_empty()]
        panels = [CurvePanel(str(point), subject.label(point) or "all runs") for point in points]
        # A step is a number; by polars' types a largest value may be anything.
        last = int(table["step"].max())  # pyright: ignore[reportArgumentType]
        axes = Axes(0, last, 0, 1.2, "strength, loss over its start", steps="log", level=0.05)
        spec = curve_panels(panels, list(_rows(table)), axes, colours, min(len(points), 3), width=270).to_dict()
        seeds = between(*subject.data.phases.seeds())
        caption = f"Strengths of the modes and the loss over training, {plural(len(points), 'panel')} of {seeds} seeds."
        title = "Modes over training"
        return [subject.figure("mode-curves", title, caption, READING, spec, [query])]


def _rows(table: pl.DataFrame) -> Iterator[Level | Spread]:
    for row in table.iter_rows(named=True):
        yield Spread(str(row["point"]), row["line"], row["step"], row["low"], row["high"])
        yield Level(str(row["point"]), "line", row["line"], 0, row["step"], row["median"])
