"""Losses over training, a panel a point on the same axes: bands over seeds, single runs, and where bumps are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swingby_analysis.charts import style
from swingby_analysis.charts.curves import Axes, CurvePanel, Level, Marks, Point, Spread, curve_panels

from ...report import GENERALIZED, OOD_LOSS, TRAINING_LOSS

MEDIAN_SEED = "OOD loss of the median seed"
BUMP_SEED = "OOD loss of the median seed of those with a bump"
TICKS = (0, 0.01, 0.1, 0.25, 0.5, 1, 1.5, 2)
COLOURS = {OOD_LOSS: style.RED, MEDIAN_SEED: style.INK, BUMP_SEED: style.VIOLET, TRAINING_LOSS: style.BLUE}

PEAK = "#8c1c2d"
"""The peaks of runs that are not drawn whole."""
LOOKS = {
    "band": {"fillOpacity": 0.2},
    "run": {"strokeWidth": 0.6, "strokeOpacity": 0.4},
    "line": {"strokeWidth": 2.2},
    "seed": {"strokeWidth": 2.2, "strokeDash": [6, 3]},
}
_SMALL = {"filled": True, "size": 26, "opacity": 1, "strokeWidth": 0, "fillOpacity": 0.85}
_LARGE = {"filled": True, "size": 75, "opacity": 1, "stroke": "white", "strokeWidth": 1}
MARKS = (
    Marks("other", "bump", {**_SMALL, "shape": "triangle-up", "yOffset": -4}, PEAK),
    Marks("start", "bump", {**_LARGE, "shape": "triangle-down", "yOffset": 7}),
    Marks("peak", "bump", {**_LARGE, "shape": "triangle-up", "yOffset": -7}),
    Marks("end", "bump", {**_LARGE, "shape": "circle"}),
)
"""Runs drawn whole: triangles at the start (below) and peak (above) of a bump, a dot at its end. Small: other peaks."""


def loss_panels(
    panels: Sequence[CurvePanel],
    rows: Sequence[Level | Spread | Point],
    last: int,
    top: float,
    columns: int,
    width: int = 250,
) -> Any:
    """The panels side by side, losses from 0 to `top` on a square-root axis.

    On it a height is the relative distance of the output from the right answer, ||f(x^) - x^|| / ||x^||, and 0 has its
    place; later stages, which a linear axis presses to the bottom, can be seen.
    """
    title = "loss / L_ref (square-root axis)"
    axes = Axes(0, last, 0, top, title, "sqrt", "log", TICKS, GENERALIZED)
    return curve_panels(
        panels, rows, axes, COLOURS, columns, width=width, height=200, looks=LOOKS, marks=MARKS, legend_columns=2
    )
