"""The drawing `step_limit`: how one layer nears the closed form of Theorem 4.1 as its steps shrink."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl

from swingby.model import drawing
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.prose import plural
from swingby_analysis.stats.seeds import t_interval

from .charts.step_limit import Falls, step_limit_chart
from .subject import SQL, SimDrawing, Subject

NAMES = {"gd": "full-batch descent", "sgd": "mini-batch SGD"}
"""The drives, in the order of the legend."""
CONFIDENCE = 0.95
OF_A_STEP = {"lr", "epochs", "gd_steps", "batch_size", "drive", "moments"}
"""Parameters that differ within a panel."""
READING = (
    "Theorem 4.1 is about a flow; an experiment takes steps. Across: the length of a step, the learning rate times the "
    "largest a_p in the time of the flow, so 1 is one time constant of the fastest concept. Upward: the largest "
    "distance, over all records, of the output from the closed form on the moments of the same points, from the same "
    "weights, over the length of the test point. Small dots: single seeds; large ones with bars: their mean and its 95 "
    "% t-interval; lines join the means. Both axes are logarithmic, and the same in all panels: an error that goes "
    "with the length of a step falls by a decade in a decade (dashed), as that of full-batch descent has to. "
    "Mini-batches add noise that goes with the square root of it, as of a random walk, until a time constant is many "
    "epochs long, over which one order of the points evens out. Above each panel: the mean over the seeds of the "
    "exponent, the slope of log error against log step of one seed, with its 95 % t-interval."
)


class StepLimit(SimDrawing):
    """The distance from Theorem 4.1 against the length of a step: a panel a setting, a line a drive."""

    name: ClassVar[str] = "step_limit"

    def draw(self, subject: Subject, options: drawing.Options) -> Sequence[Figure]:
        """One figure of all runs beside which the sweep has the closed form on the moments of their points.

        Raises:
            SwingbyError: there is none.
        """
        query = Query("step_limit", (subject.sweep_id,), SQL)
        rows = subject.ask(query)
        if rows.is_empty():
            why = "no run of one layer without bias has a closed form (moments: sample) beside it, of one seed and step"
            raise subject.cannot(self.name, why)
        labels = {point: subject.label(point, OF_A_STEP) or "all runs" for point in subject.points}
        rows = rows.with_columns(panel=pl.col("point").replace_strict(labels), drive=pl.col("drive").replace(NAMES))
        panels = list(dict.fromkeys(labels[point] for point in subject.points if point in set(rows["point"])))
        falls = [fall for panel in panels for fall in _falls(panel, rows.filter(pl.col("panel") == panel))]
        spec = step_limit_chart(panels, falls, [*NAMES.values()]).to_dict()
        seeds, steps = rows["seed"].n_unique(), rows["step"].n_unique()
        caption = (
            "The distance of one layer without bias from the closed form of Theorem 4.1 as its steps shrink: "
            f"{plural(rows.height, 'run')} of {plural(seeds, 'seed')}, {plural(steps, 'length')} of a step."
        )
        return [subject.figure("step-limit", "Theorem 4.1 as steps shrink", caption, READING, spec, [query])]


def _falls(panel: str, rows: pl.DataFrame) -> list[Falls]:
    """The errors of one panel, for each drive that it has."""
    falls = []
    for name in NAMES.values():
        drive_rows = rows.filter(pl.col("drive") == name)
        if drive_rows.is_empty():
            continue
        lengths = sorted(drive_rows["step"].unique().to_list())
        errors = [drive_rows.filter(pl.col("step") == step)["error"].to_numpy() for step in lengths]
        slopes = np.array([slope for slope in map(_slope, drive_rows.partition_by("seed")) if slope is not None])
        exponent = None
        if len(slopes) > 1:
            low, high = t_interval(slopes, CONFIDENCE)
            exponent = float(slopes.mean()), low, high
        falls.append(Falls(panel, name, lengths, errors, exponent))
    return falls


def _slope(run: pl.DataFrame) -> float | None:
    """The slope of log error against log step of one seed; None of fewer than three lengths, or without an error."""
    x, y = (run[name].to_numpy() for name in ("step", "error"))
    if len(np.unique(x)) < 3 or not (y > 0).all():
        return None
    fitted: Any = np.polyfit(np.log(x), np.log(y), 1)
    return float(fitted[0])
