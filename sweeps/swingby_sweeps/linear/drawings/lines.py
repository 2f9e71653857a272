"""The drawings `learnabilities` and `fit_over_time`: what is learned and fitted, beside theory."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from swingby_analysis.charts.lines import Line, LinesLook
from swingby_analysis.report.query_drawing import LinesDrawing
from swingby_analysis.report.subject import Subject


class _Shares(LinesDrawing):
    experiments = ("linear",)
    empty = "no run is finished"
    y = "share"
    look = LinesLook(
        dashes={"measured": (1, 0), "theory": (5, 4)},
        side=230,
        x_format="~g",
        shade=0.2,
        legend_columns=2,
        across=lambda panels: min(panels, 4),
    )


class Learnabilities(_Shares):
    """Learnability over the number of the mode, measured and by theory: a panel a point of the grid."""

    name = "learnabilities"
    title = "Learnabilities beside theory"
    caption = "Learnabilities beside theory, {points} of the grid."
    axes = ("mode k", "learnability")
    series = ("measured L_k(D)", "theory L_k")
    reading = (
        "Solid: rho_k e_k^T (K + delta)^-1 e_k, mean over the seeds; shaded from 10 % to 90 % of them (of a seed with "
        "several samples, the mean over these). Dashed: rho_k/(rho_k + kappa) of [T] 1.35; nothing is fitted."
    )

    def lines(self, group: pl.DataFrame, rows: pl.DataFrame, subject: Subject) -> Sequence[Line]:
        """The measured line of one point of the grid, and that of theory."""
        panel, k = subject.label(group["point"][0]) or "all runs", group["k"].to_list()
        measured, low, high, predicted = (group[name].to_list() for name in ("measured", "low", "high", "predicted"))
        return [
            Line(panel, self.series[0], "measured", k, measured, low, high),
            Line(panel, self.series[1], "theory", k, predicted),
        ]


class FitOverTime(_Shares):
    """Shares of signal and noise that are fitted over eta t, with the times of theory: a panel a point of the grid."""

    name = "fit_over_time"
    title = "What is fitted over time"
    caption = "What is fitted over time, {points} of the grid."
    axes = ("eta t", "share")
    series = (
        "signal learned",
        "signal, infinitely many points (theory)",
        "noise fitted on the points",
        "noise half fitted (theory)",
    )
    reading = (
        "Signal learned: <f^|f*>/<f*|f*> of the fit to labels without noise. Noise fitted: the share of the squared "
        "noise that is no longer left on the training points. Solid: medians over the seeds; shaded from 10 % to 90 % "
        "of them. Dashed: the signal by [T] 1.26, and eta t = n ln 2/T, by which three quarters of the squared noise "
        "are fitted."
    )

    def lines(self, group: pl.DataFrame, rows: pl.DataFrame, subject: Subject) -> Sequence[Line]:
        """The lines of one point of the grid."""
        signal, by_theory, noise, half_fitted = self.series
        panel, x = subject.label(group["point"][0]) or "all runs", group["x"].to_list()
        lines = [
            Line(panel, series, "measured", x, *(group[f"{name}{part}"].to_list() for part in ("", "_low", "_high")))
            for series, name in ((signal, "signal"), (noise, "noise"))
        ]
        lines.append(Line(panel, by_theory, "theory", x, group["population"].to_list()))
        at = group["noise_time"][0]
        return lines if at is None else [*lines, Line(panel, half_fitted, "theory", [at, at], [0.0, 1.0])]
