"""The drawings `mode_times` and `net_times`: times of modes, predicted by theory and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from swingby.model.drawing import Drawing
from swingby_analysis.charts.scatter import COLOURS, Dot, scatter
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.prose import plural
from swingby_analysis.report.subject import Subject

MOST = 40
"""Seeds of a point that are drawn."""
MARKS = (
    "Line: the identity. Shaded: 10 % about it. Both axes are logarithmic, and the same in all panels. In each panel: "
    "the largest relative error of each kind of time. Modes that are not there by the end of the run are left out."
)


class _Times(Drawing):
    """A scatter of theory against measurement, with a panel for each point and a colour for each kind of time."""

    title: ClassVar[str]
    said: ClassVar[str]

    def figures(self, subject: Subject, options: Any) -> Sequence[Figure]:
        """The scatter of every point with predictions.

        Raises:
            SwingbyError: no finished cell of the sweep has predictions and times.
        """
        query = Query(self.name, (subject.sweep_id,), __package__ or "")
        rows = subject.ask(query).drop_nulls().filter((pl.col("predicted") > 0) & pl.col("predicted").is_finite())
        if rows.is_empty():
            raise subject.cannot(self.name, "no mode has a predicted and a measured time")
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
        spec = scatter(dots, _notes(rows, panels), colours, axes).to_dict()
        runs = rows.select("point", "seed").n_unique()
        caption = f"{self.title}: {plural(runs, 'run')}, at most {MOST} seeds of a point drawn."
        return [subject.figure(self.name.replace("_", "-"), self.title, caption, self.said + MARKS, spec, [query])]


def _notes(rows: pl.DataFrame, panels: Mapping[int, str]) -> dict[str, list[str]]:
    """Panel -> a line for each kind of time, in the order of the grid: its largest relative error."""
    errors = rows.with_columns(((pl.col("measured") / pl.col("predicted")) - 1).abs().alias("error"))
    largest = errors.group_by("point", "kind", maintain_order=True).agg(pl.col("error").max())
    return {
        panels[point]: [f"{kind}: {error:.2g}" for kind, error in own.select("kind", "error").iter_rows()]
        for point in panels
        if not (own := largest.filter(pl.col("point") == point)).is_empty()
    }


class ModeTimes(_Times):
    """Times of modes to 5 % and 50 %, and from 5 to 95 %, beside their closed forms (3.12)."""

    name: ClassVar[str] = "mode_times"
    experiments: ClassVar[tuple[str, ...]] = ("modes",)
    title: ClassVar[str] = "When modes emerge and saturate: theory and experiment"
    said: ClassVar[str] = "A mark is a mode of a run. "


class NetTimes(_Times):
    """Times at which modes of linear nets are half learned, beside (3.15) with Gram-Schmidt and without."""

    name: ClassVar[str] = "net_times"
    experiments: ClassVar[tuple[str, ...]] = ("linear_net",)
    title: ClassVar[str] = "When a linear net learns its modes: both laws and experiment"
    said: ClassVar[str] = (
        "A mark is a mode of a run: (3.15) from |m_i| alone (naive), or from what Gram-Schmidt leaves of m_i. Modes "
        "above the line come later than predicted. "
    )
