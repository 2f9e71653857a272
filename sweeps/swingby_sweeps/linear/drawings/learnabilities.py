"""The drawing `learnabilities`: measured learnabilities over the modes, beside those of theory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from swingby.model import drawing
from swingby_analysis.charts.lines import Line, line_panels
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.prose import plural
from swingby_analysis.report.subject import Subject

from .look import LOOK, SQL

SERIES = ("measured L_k(D)", "theory L_k")
READING = (
    "Solid: rho_k e_k^T (K + delta)^-1 e_k, mean over the seeds; shaded from 10 % to 90 % of them (of a seed with "
    "several samples, the mean over these). Dashed: rho_k/(rho_k + kappa) of [T] 1.35; nothing is fitted."
)


class Learnabilities(drawing.Drawing):
    """Learnability over the number of the mode, measured and by theory: a panel a point of the grid."""

    name: ClassVar[str] = "learnabilities"
    experiments: ClassVar[tuple[str, ...]] = ("linear",)

    def figures(self, subject: Subject, options: Any) -> Sequence[Figure]:
        """One figure.

        Raises:
            SwingbyError: no cell has finished.
        """
        query = Query("learnabilities", (subject.sweep_id,), SQL)
        rows = subject.ask(query)
        if rows.is_empty():
            raise subject.cannot(self.name, "no run is finished")
        lines = []
        for own in rows.partition_by("point"):
            panel, k = subject.label(own["point"][0]) or "all runs", own["k"].to_list()
            measured, low, high, predicted = (own[name].to_list() for name in ("measured", "low", "high", "predicted"))
            lines += [
                Line(panel, SERIES[0], "measured", k, measured, low, high),
                Line(panel, SERIES[1], "theory", k, predicted),
            ]
        spec = line_panels(lines, SERIES, ("mode k", "learnability"), "share", LOOK).to_dict()
        caption = f"Learnabilities beside theory, {plural(rows['point'].n_unique(), 'point')} of the grid."
        return [subject.figure("learnabilities", "Learnabilities beside theory", caption, READING, spec, [query])]
