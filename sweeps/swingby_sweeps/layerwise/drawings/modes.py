"""The drawings `mode_curves`, `mode_times` and `net_times`: modes over time, and their times beside theory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.charts.curves import Axes, CurvePanel, curve_panels, medians
from swingby_analysis.charts.scatter import COLOURS, Dot, scatter
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


MOST = 40
"""Seeds of a point that are drawn."""
MARKS = (
    "Line: the identity. Shaded: 10 % about it. Both axes are logarithmic, and the same in all panels. In each panel: "
    "the largest relative error of each kind of time. Modes that are not there by the end of the run are left out."
)


class _Times(QueryDrawing):
    """A scatter of theory against measurement, with a panel for each point and a colour for each kind of time."""

    empty = "no mode has a predicted and a measured time"

    def kept(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Times that are predicted and measured."""
        return rows.drop_nulls().filter((pl.col("predicted") > 0) & pl.col("predicted").is_finite())

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """The scatter of every point with predictions."""
        kinds = rows["kind"].unique(maintain_order=True).to_list()
        colours = dict(zip(kinds, COLOURS, strict=False))
        seeds = rows.group_by("point").agg(pl.col("seed").unique().sort().head(MOST))
        drawn = rows.join(seeds.explode("seed"), on=["point", "seed"], how="semi")
        panels = {point: subject.label(point) or "all runs" for point in subject.points}
        dots = [
            Dot(
                panels[row["point"]], row["kind"], f"mode {row['mode']}", row["seed"], row["predicted"], row["measured"]
            )
            for row in drawn.iter_rows(named=True)
        ]
        axes = ("predicted time of the flow", "measured time of the flow")
        runs = rows.select("point", "seed").n_unique()
        caption = f"{self.title}: {plural(runs, 'run')}, at most {MOST} seeds of a point drawn."
        yield Drawn(scatter(dots, _notes(rows, panels), colours, axes), caption)


def _notes(rows: pl.DataFrame, panels: Mapping[int, str]) -> dict[str, list[str]]:
    """Panel -> a line for each kind of time, in the order of the grid: its largest relative error."""
    errors = rows.with_columns(((pl.col("measured") / pl.col("predicted")) - 1).abs().alias("error"))
    largest = errors.group_by("point", "kind", maintain_order=True).agg(pl.col("error").max())
    return {
        panels[point]: [f"{kind}: {error:.2g}" for kind, error in point_errors.select("kind", "error").iter_rows()]
        for point in panels
        if not (point_errors := largest.filter(pl.col("point") == point)).is_empty()
    }


class ModeTimes(_Times):
    """Times of modes to 5 % and 50 %, and from 5 to 95 %, beside their closed forms (3.12)."""

    name = "mode_times"
    experiments = ("modes",)
    title = "When modes emerge and saturate: theory and experiment"
    reading = "A mark is a mode of a run. " + MARKS


class NetTimes(_Times):
    """Times at which modes of linear nets are half learned, beside (3.15) with Gram-Schmidt and without."""

    name = "net_times"
    experiments = ("linear_net",)
    title = "When a linear net learns its modes: both laws and experiment"
    reading = (
        "A mark is a mode of a run: (3.15) from |m_i| alone (naive), or from what Gram-Schmidt leaves of m_i. Modes "
        "above the line come later than predicted. " + MARKS
    )
