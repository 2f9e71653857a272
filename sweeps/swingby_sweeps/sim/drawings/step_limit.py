"""The drawing `step_limit`: how one layer nears the closed form of Theorem 4.1 as its steps shrink."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from swingby_analysis.charts import style
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn
from swingby_analysis.stats.seeds import t_interval

from .subject import SimQueryDrawing, Subject

NAMES = {"gd": "full-batch descent", "sgd": "mini-batch SGD"}
"""The drives, in the order of the legend."""
CONFIDENCE = 0.95
OF_A_STEP = {"lr", "epochs", "gd_steps", "batch_size", "drive", "moments"}
"""Parameters that differ within a panel."""


class StepLimit(SimQueryDrawing):
    """The distance from Theorem 4.1 against the length of a step: a panel a setting, a line a drive.

    Of all runs beside which the sweep has the closed form on the moments of their points.
    """

    name = "step_limit"
    title = "Theorem 4.1 as steps shrink"
    empty = "no run of one layer without bias has a closed form (moments: sample) beside it, of one seed and step"
    reading = (
        "Theorem 4.1 is about a flow; an experiment takes steps. Across: the length of a step, the learning rate times "
        "the largest a_p in the time of the flow, so 1 is one time constant of the fastest concept. Upward: the "
        "largest distance, over all records, of the output from the closed form on the moments of the same points, "
        "from the same weights, over the length of the test point. Small dots: single seeds; large ones with bars: "
        "their mean and its 95 % t-interval; lines join the means. Both axes are logarithmic, and the same in all "
        "panels: an error that goes with the length of a step falls by a decade in a decade (dashed), as that of "
        "full-batch descent has to. Mini-batches add noise that goes with the square root of it, as of a random walk, "
        "until a time constant is many epochs long, over which one order of the points evens out. Above each panel: "
        "the mean over the seeds of the exponent, the slope of log error against log step of one seed, with its 95 % "
        "t-interval."
    )

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart."""
        labels = {point: subject.label(point, OF_A_STEP) or "all runs" for point in subject.points}
        rows = rows.with_columns(panel=pl.col("point").replace_strict(labels), drive=pl.col("drive").replace(NAMES))
        panels = list(dict.fromkeys(labels[point] for point in subject.points if point in set(rows["point"])))
        falls = [fall for panel in panels for fall in _falls(panel, rows.filter(pl.col("panel") == panel))]
        seeds, steps = rows["seed"].n_unique(), rows["step"].n_unique()
        caption = (
            "The distance of one layer without bias from the closed form of Theorem 4.1 as its steps shrink: "
            f"{plural(rows.height, 'run')} of {plural(seeds, 'seed')}, {plural(steps, 'length')} of a step."
        )
        yield Drawn(step_limit_chart(panels, falls, [*NAMES.values()]), caption)


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


PANEL = 230
"""The side in px of a panel."""
COLOURS = (style.BLUE, style.RED)


class Falls(NamedTuple):
    """The errors of one line of a panel: lengths of a step, the errors of the seeds at each, and the fitted exponent.

    The exponent is a mean over seeds with the ends of its interval; None where it cannot be fitted.
    """

    panel: str
    line: str
    lengths: Sequence[float]
    errors: Sequence[NDArray[np.float64]]
    exponent: tuple[float, float, float] | None


def step_limit_chart(panels: Sequence[str], falls: Sequence[Falls], lines: Sequence[str]) -> Any:
    """A panel for each name, in this order; `lines` is the order of the legend."""
    steps = [step for fall in falls for step in fall.lengths]
    every = np.concatenate([errors for fall in falls for errors in fall.errors])
    every = every[every > 0]
    x_range = min(steps) / 1.3, max(steps) * 1.3
    y_range = (every.min() / 1.5, every.max() * 6) if len(every) else (0.1, 1.0)  # notes stand in the upper corner
    places = {panel: place for place, panel in enumerate(panels)}
    rows: list[dict[str, Any]] = []
    for panel in panels:
        panel_falls = [fall for fall in falls if fall.panel == panel]
        notes = [_note(fall) for fall in panel_falls if fall.exponent is not None]
        rows.append({"kind": "note", "panel": places[panel], "text": "\n".join(notes)})
        rows += [{"panel": places[panel], **row} for fall in panel_falls for row in _rows(fall)]
        # The guide of exponent one goes through the longest step of the first line.
        if panel_falls and panel_falls[0].errors[-1].mean() > 0:
            far, high = panel_falls[0].lengths[-1], float(panel_falls[0].errors[-1].mean())
            rows += [{"kind": "guide", "panel": places[panel], "step": at, "error": high * at / far} for at in x_range]
    chart = alt.layer(*_layers(lines, x_range, y_range)).properties(width=PANEL, height=PANEL)
    header = alt.Header(title=None, labelLimit=PANEL + 10, labelExpr=f"{json.dumps(list(panels))}[datum.value]")
    columns = min(3, len(panels))
    chart = chart.facet(facet=alt.Facet("panel:O", header=header), columns=columns, data=style.LATER)
    return style.finished(chart, rows, spacing=20)


def _note(fall: Falls) -> str:
    assert fall.exponent is not None
    value, low, high = fall.exponent
    return f"{fall.line}: exponent {value:.2f} ({low:.2f} to {high:.2f})"


def _rows(fall: Falls) -> list[dict[str, Any]]:
    """A row a seed and length, and one a length: the mean with the interval, where there is one."""
    rows: list[dict[str, Any]] = []
    for step, errors in zip(fall.lengths, fall.errors, strict=True):
        mean = float(errors.mean())
        low, high = t_interval(errors, 0.95) if len(errors) > 1 else (mean, mean)
        rows.append(
            {"kind": "mean", "line": fall.line, "step": step, "error": mean, "low": max(low, mean / 100), "high": high}
        )
        rows += [{"kind": "seed", "line": fall.line, "step": step, "error": float(error)} for error in errors]
    return [row for row in rows if row["error"] > 0]


def _layers(lines: Sequence[str], x_range: tuple[float, float], y_range: tuple[float, float]) -> list[alt.Chart]:
    x = alt.X("step:Q", scale=_log(x_range), axis=_axis("length of a step (lr a_max)", x_range))
    title = "largest distance from Theorem 4.1 / ||x^||"
    y = alt.Y("error:Q", scale=_log(y_range), axis=_axis(title, y_range))
    legend = alt.Legend(title=None, orient="bottom", symbolOpacity=1)
    scale = alt.Scale(domain=list(lines), range=list(COLOURS[: len(lines)]))
    colour = alt.Color("line:N", scale=scale, legend=legend)
    base = alt.Chart().encode(x=x)
    guide = base.transform_filter("datum.kind == 'guide'").mark_line(
        color=style.FAINT, strokeDash=[5, 4], strokeWidth=1, clip=True
    ).encode(y=y)  # fmt: skip
    seeds = base.transform_filter("datum.kind == 'seed'").mark_point(filled=True, size=9, opacity=0.28, clip=True)
    means = base.transform_filter("datum.kind == 'mean'")
    tooltip = [
        alt.Tooltip("line:N", title="of"),
        alt.Tooltip("step:Q", title="length of a step", format=".3~g"),
        alt.Tooltip("error:Q", title="mean distance", format=".3~g"),
        alt.Tooltip("low:Q", title="from", format=".3~g"),
        alt.Tooltip("high:Q", title="to", format=".3~g"),
    ]
    text = alt.Chart().transform_filter("datum.kind == 'note'").mark_text(
        align="left", baseline="top", lineBreak="\n", fontSize=10.5, lineHeight=13, color=style.INK
    ).encode(x=alt.value(8), y=alt.value(6), text="text:N")  # fmt: skip
    return [
        guide,
        seeds.encode(y=y, color=colour),
        means.mark_rule(strokeWidth=1.6, clip=True).encode(
            y=alt.Y("low:Q", scale=_log(y_range)), y2="high:Q", color=colour
        ),
        means.mark_line(strokeWidth=1.6, clip=True).encode(y=y, color=colour),
        means.mark_point(filled=True, size=38, opacity=1).encode(y=y, color=colour, tooltip=tooltip),
        text,
    ]


def _log(ends: tuple[float, float]) -> alt.Scale:
    return alt.Scale(type="log", domain=list(ends), nice=False)


def _axis(title: str, ends: tuple[float, float]) -> alt.Axis:
    """Powers of ten, and three times these."""
    decades = range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])) + 1)
    ticks = [float(f"{step * 10.0**power:.3g}") for power in decades for step in (1, 3)]
    return alt.Axis(
        title=title, values=[value for value in ticks if ends[0] <= value <= ends[1]], format="~g", grid=False
    )
