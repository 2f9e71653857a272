"""The drawing `spectra`: quality, utilization and intensity of single features, by number or over training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import altair as alt
import polars as pl
from pydantic import Field

from swingby.model import drawing
from swingby_analysis.charts import style
from swingby_analysis.charts.curves import log_steps
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject

MOST_PANELS, MOST_LINES, FIRST = 6, 9, 20
LEAST = 1e-4
"""A smaller intensity is drawn here."""
CUMULATIVE = {
    "quality_sum": "cumulative quality",
    "utilization_sum": "cumulative utilization",
    "intensity": "intensity / second one",
}
SINGLE = {"quality": "quality", "utilization": "utilization", "intensity": "intensity / second one"}


class Options(drawing.Options):
    """What a line stands for."""

    lines: Literal["points", "times", "features"] = Field(
        default="points",
        description="a line a point of the grid at the end; a recorded time; or a feature, over training",
    )
    cumulative: bool = Field(default=True, description="quality and utilization summed over the features up to k")


class Spectra(QueryDrawing):
    """Quality, utilization and intensity over the number of the feature, or of the first features over training."""

    name = "spectra"
    experiments = ("features",)
    recordings = ("spectra",)
    Options = Options
    title = "Quality, utilization, intensity"
    empty = "no run has recorded spectra"
    reading = (
        "Features are the eigenfunctions of the last layer's kernel on the test points, in the order of their "
        "intensities. Quality: how much of the target's space a feature carries; utilization: how much of the learned "
        "space. In the minimum feature regime with C classes both sums reach 1 at k = C, and the intensities from the "
        "second to the C-th are equal and the others small. Lines are medians over the seeds. Intensities are over the "
        "second one, since the first belongs to the constant."
    )

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Options) -> Iterable[Drawn]:
        """One chart: a row of three panels, or one such row a point.

        Raises:
            SwingbyError: there are more points than rows or lines can be told apart.
        """
        points = rows["point"].unique(maintain_order=True).to_list()
        most = MOST_LINES if options.lines == "points" else MOST_PANELS
        if len(points) > most:
            raise subject.cannot(self.name, f"it has {len(points)} points; allowed: at most {most}")
        names, features = {point: subject.label(point) or "all runs" for point in points}, options.lines == "features"
        lines = LINES[options.lines](rows.with_columns(pl.col("intensity").clip(LEAST)), names)
        groups = [""] if options.lines == "points" else list(names.values())
        what = SINGLE if features or not options.cumulative else CUMULATIVE
        chart = _chart(lines, groups, what, over="step" if features else "k")
        caption = f"Spectra of the last layer's features, medians over the seeds of {plural(len(points), 'point')}."
        yield Drawn(chart, caption, slug=f"spectra-{options.lines}")


def _ends(rows: pl.DataFrame, names: Mapping[int, str]) -> pl.DataFrame:
    last = rows.filter(pl.col("step") == pl.col("step").max().over("point"))
    return last.with_columns(group=pl.lit(""), line=pl.col("point").replace_strict(names, return_dtype=pl.String))


def _times(rows: pl.DataFrame, names: Mapping[int, str]) -> pl.DataFrame:
    """The first, the last and every second time: more lines cannot be told apart."""
    ranked = rows.with_columns(rank=pl.col("step").rank("dense").over("point"))
    last = pl.col("rank").max().over("point")
    kept = ranked.filter((pl.col("rank") == 1) | ((last - pl.col("rank")) % 2 == 0)).sort("step", "point", "k")
    return kept.with_columns(
        group=pl.col("point").replace_strict(names, return_dtype=pl.String), line=pl.format("step {}", pl.col("step"))
    )


def _features(rows: pl.DataFrame, names: Mapping[int, str]) -> pl.DataFrame:
    kept = rows.filter(pl.col("k") <= FIRST).sort("k", "point", "step")
    return kept.with_columns(
        group=pl.col("point").replace_strict(names, return_dtype=pl.String), line=pl.format("{}", pl.col("k"))
    )


LINES = {"points": _ends, "times": _times, "features": _features}


def _chart(rows: pl.DataFrame, groups: Sequence[str], what: Mapping[str, str], over: str) -> Any:
    lines = rows["line"].unique(maintain_order=True).to_list()
    colours = dict(zip(lines, style.ordered_colours(len(lines)), strict=True))
    colour = style.line_colour(colours, ("feature",) if over == "step" else (), 10 if over == "step" else 4)
    number = alt.Axis(title="k", format="~s", tickCount=5)
    x = alt.X("k:Q", scale=alt.Scale(type="log", nice=False), axis=number)
    if over == "step":
        x = log_steps(max(1, *rows["step"].to_list()))
    charts = []
    for group in groups:
        for column, title in what.items():
            scale = alt.Scale(zero=True, nice=False)
            if column == "intensity":
                scale = alt.Scale(type="log", nice=False)
            elif column in CUMULATIVE:
                scale = alt.Scale(domain=[0, 1])
            axis = alt.Axis(title=title, format="~g", tickCount=5, gridColor=style.RULE)
            base = alt.Chart().transform_filter(alt.datum.group == group).mark_line(strokeWidth=1.6, clip=True)
            drawn = base.encode(x=x, y=alt.Y(f"{column}:Q", scale=scale, axis=axis), color=colour, detail="line:N")
            titled = style.headed(group if column == next(iter(what)) else "", ())
            charts.append(drawn.properties(width=220, height=180, title=titled))
    chart = alt.concat(*charts, columns=len(what), data=style.LATER, spacing=20).resolve_scale(color="shared")
    kept = rows.select("group", "line", over, *what)
    return style.finished(chart, kept.iter_rows(named=True))
