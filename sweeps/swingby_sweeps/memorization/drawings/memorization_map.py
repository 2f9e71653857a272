"""The drawing `memorization_map`: the share of copies over steps and training points, and both clocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import altair as alt
import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.query import Parameter
from swingby_analysis.report.prose import between, plural
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject

CLOCKS = {"tau_gen": ("samples are good", "#ff6b6b"), "tau_mem": ("samples are copies", "#ffb000")}
"""What each clock is called, and its colour on the map."""
SIZES = ("points", "images", "train_share")
"""Parameters that decide how many training points there are."""


class MemorizationMap(QueryDrawing):
    """Training points against steps: the share of copies as colour, both clocks as lines ([B] Fig. 1)."""

    name = "memorization_map"
    experiments = ("memorization_mixture", "diffusion")
    title = "When samples are good, and when they are copies"
    empty = "no run is finished that recorded copies"
    reading = (
        "Colour: the share of samples that are copies of training points, the mean over the seeds; a tile reaches from "
        "one recorded step to the next. Red: the median of tau_gen, from which on samples are good; orange: that of "
        "tau_mem, from which on a tenth or more are copies. A clock is drawn where more than half of the seeds have "
        "it. Between the two lines a model makes new samples that are good."
    )

    def parameters(self, subject: Subject, options: Any) -> tuple[Parameter, ...]:
        """The sweep's id and its experiment.

        Raises:
            SwingbyError: no run in the store has recorded copies.
        """
        experiment = subject.data.sweep["experiment"]
        if "memorized" not in subject.store.columns(experiment):
            raise subject.cannot(self.name, self.empty)
        return subject.sweep_id, experiment

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart, a panel for each setting but for the number of points.

        Raises:
            SwingbyError: all runs have the same number of training points.
        """
        if rows["n"].n_unique() < 2:
            raise subject.cannot(self.name, "all of its runs have the same number of training points")
        tiles = [{**row, "panel": _panel(subject, row["point"])} for row in _tiles(rows)]
        marks = [*tiles, *_clocks(subject)]
        counts = rows["seeds"].to_list()
        seeds = between(min(counts), max(counts))
        panels = list(dict.fromkeys(row["panel"] for row in tiles))
        yield Drawn(
            chart(marks, panels),
            f"Copies over steps and training points, {plural(len(panels), 'panel')}, {seeds} seeds.",
        )


def _panel(subject: Subject, point: int) -> str:
    return subject.label(point, SIZES) or "all runs"


def _tiles(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """A tile for each record after step 0, from the record before to its own step; step 0 has no place on the axis."""
    for part in rows.partition_by("point"):
        before = 1
        for row in part.filter(pl.col("step") > 0).iter_rows(named=True):
            yield {"mark": "tile", "from": before, "to": row["step"], **row}
            before = row["step"]


def _clocks(subject: Subject) -> Iterator[dict[str, Any]]:
    """The medians of both times at each point where more than half of the seeds have them."""
    for point in subject.points:
        runs = subject.runs(point)
        for clock, (words, _) in CLOCKS.items():
            known = runs[clock].drop_nulls()
            if 2 * len(known) > len(runs):
                at = {"panel": _panel(subject, point), "n": runs["points"][0], "to": known.median()}
                yield {"mark": "clock", "clock": words, **at}


def chart(marks: list[dict[str, Any]], panels: list[str]) -> Any:
    """Panels side by side, each with its tiles and lines."""
    tiles = [row for row in marks if row["mark"] == "tile"]
    sizes = sorted({row["n"] for row in marks})
    steps = alt.Scale(type="log", domain=[min(row["to"] for row in tiles), max(row["to"] for row in tiles)], nice=False)
    x = {"title": "steps", "scale": steps, "axis": alt.Axis(format="~s", tickCount=6)}
    y = alt.Y("n:O", title="training points n", sort=sizes[::-1])
    share = alt.Fill(
        "share:Q",
        scale=alt.Scale(scheme="viridis", domain=[0, 1]),
        legend=alt.Legend(title="share of copies", format=".0%"),
    )
    heat = alt.Chart().transform_filter("datum.mark == 'tile'").mark_rect(clip=True, x2Offset=0.6, strokeWidth=0)
    heat = heat.encode(
        x=alt.X("from:Q", **x), x2="to:Q", y=y, fill=share, tooltip=["n:Q", "to:Q", "share:Q", "seeds:Q"]
    )
    names, hues = [words for words, _ in CLOCKS.values()], [colour for _, colour in CLOCKS.values()]
    legend = alt.Legend(title="median of the seeds", symbolType="circle")
    line = (
        alt.Chart().transform_filter("datum.mark == 'clock'").mark_line(point=alt.OverlayMarkDef(size=55, filled=True))
    )
    line = line.encode(
        x=alt.X("to:Q", **x),
        y=y,
        color=alt.Color("clock:N", scale=alt.Scale(domain=names, range=hues), legend=legend),
        order="n:Q",
    )
    layered = alt.layer(heat, line).properties(width=420 if len(panels) < 2 else 300, height=34 * len(sizes))
    facet = alt.Facet("panel:N", sort=panels, header=alt.Header(title=None))
    return style.finished(layered.facet(facet=facet, columns=2, data=style.LATER), marks, spacing=18)
