"""The drawing `fit_over_time`: how much of the signal is learned, and of the noise fitted, over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import polars as pl

from swingby.model import drawing
from swingby_analysis.charts.lines import Line, line_panels
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.prose import plural
from swingby_analysis.report.subject import Subject

from .look import LOOK, SQL

SERIES = (
    "signal learned",
    "signal, infinitely many points (theory)",
    "noise fitted on the points",
    "noise half fitted (theory)",
)
READING = (
    "Signal learned: <f^|f*>/<f*|f*> of the fit to labels without noise. Noise fitted: the share of the squared noise "
    "that is no longer left on the training points. Solid: medians over the seeds; shaded from 10 % to 90 % of them. "
    "Dashed: the signal by [T] 1.26, and eta t = n ln 2/T, by which three quarters of the squared noise are fitted."
)


class FitOverTime(drawing.Drawing):
    """Shares of signal and noise that are fitted over eta t, with the times of theory: a panel a point of the grid."""

    name: ClassVar[str] = "fit_over_time"
    experiments: ClassVar[tuple[str, ...]] = ("linear",)

    def figures(self, subject: Subject, options: Any) -> Sequence[Figure]:
        """One figure.

        Raises:
            SwingbyError: no cell has finished.
        """
        query = Query("fit_over_time", (subject.sweep_id,), SQL)
        rows = subject.ask(query)
        if rows.is_empty():
            raise subject.cannot(self.name, "no run is finished")
        lines = [line for own in rows.partition_by("point") for line in _lines(own, subject)]
        spec = line_panels(lines, SERIES, ("eta t", "share"), "share", LOOK).to_dict()
        caption = f"What is fitted over time, {plural(rows['point'].n_unique(), 'point')} of the grid."
        return [subject.figure("fit-over-time", "What is fitted over time", caption, READING, spec, [query])]


def _lines(own: pl.DataFrame, subject: Subject) -> list[Line]:
    """The lines of one point of the grid."""
    panel, x = subject.label(own["point"][0]) or "all runs", own["x"].to_list()
    measured = [
        Line(panel, series, "measured", x, *(own[f"{name}{part}"].to_list() for part in ("", "_low", "_high")))
        for series, name in ((SERIES[0], "signal"), (SERIES[2], "noise"))
    ]
    lines = [*measured, Line(panel, SERIES[1], "theory", x, own["population"].to_list())]
    at = own["noise_time"][0]
    return lines if at is None else [*lines, Line(panel, SERIES[3], "theory", [at, at], [0.0, 1.0])]
