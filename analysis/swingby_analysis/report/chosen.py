"""The curves at a few telling points, with every single run, of an experiment that declares no figure for them."""

from __future__ import annotations

import numpy as np
import polars as pl

from swingby_analysis.charts.bands import Quantiles, SeedValue, chosen_panels
from swingby_analysis.page import Figure
from swingby_analysis.report import prose
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.examples import Examples
from swingby_analysis.report.origins import facts_of

READING = (
    "Each column is a point of the grid. A thin line is one run, the thick one their median, the band holds 10 % to "
    "90 % of the seeds. Of what is not finite only its rank counts: it lies above all else. What lies outside of the "
    "axes is cut off."
)


def chosen_curves(data: ReportData, examples: Examples) -> Figure:
    """A column for each example point, a row for each curve that is shown."""
    rows, runs = list[Quantiles](), list[SeedValue]()
    for one in data.shown:
        low, high = data.scales[one.title].near
        for point in examples.reasons:
            curve, label = data.curves[point], data.grid.label(point)
            values = np.concatenate([curve.values[one.title], curve.quartiles[one.title]])
            values = np.clip(np.nan_to_num(values, nan=high), low, high).T.tolist()
            steps = curve.step.tolist()
            rows += [
                Quantiles(label, one.title, *row, point=point)
                for row in zip(steps, *zip(*values, strict=True), strict=True)
            ]
        if one.title in examples.curves:
            seen = examples.curves[one.title].with_columns(
                pl.col("value").fill_nan(high).fill_null(high).clip(low, high)
            )
            runs += [
                SeedValue(data.grid.label(point), one.title, seed, step, value, point)
                for point, seed, step, value in seen.select("point", "seed", "step", "value").iter_rows()
            ]
    scales = {one.title: (one.axis, data.scales[one.title]) for one in data.shown}
    spec = chosen_panels(rows, runs, scales).to_dict(validate=False)
    caption = f"Single runs at points of the grid, chosen by their {data.title(data.outcome)}: {examples.why(data)}."
    facts = facts_of(data, prose.between(*data.phases.seeds()))
    queries = [*data.curve_queries, *examples.queries]
    return Figure(
        "chosen-points",
        "Curves at chosen points",
        caption,
        READING,
        spec,
        queries,
        facts,
        points=True,
        section="curves",
    )
