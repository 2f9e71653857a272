"""The drawing `loss_curves`: OOD loss and training loss over training, and their bumps ([S] Figs 3, 14)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.charts.curves import Axes, CurvePanel, Level, Marks, Point, Spread, curve_panels
from swingby_analysis.charts.paths import corners
from swingby_analysis.query import Query
from swingby_analysis.report.prose import between, percent, plural
from swingby_analysis.report.query_drawing import Drawn
from swingby_analysis.stats import shares

from ..report import GENERALIZED, OOD_LOSS, TRAINING_LOSS
from .panels import columns_of, ended
from .subject import MEDIAN_RUN, SimDrawing, Subject

EVERY_STEP = 1_000_000
"""A number of bins so large that every recorded step falls into a bin of its own."""
THIN_LINES = 300
"""About the number of thin lines in a figure; a panel has at most 40."""
PHRASES = {"non_monotone": "non-monotone", "transient_memorization": "memorize transiently"}
"""The outcomes whose shares stand above each panel, and their phrases."""
HIGHEST = 1.5
"""No panel shows losses above this many L_ref."""

Row = Level | Spread | Point


class LossCurves(SimDrawing):
    """Losses with bands over seeds, on axes that all panels share."""

    name = "loss_curves"
    title = "Losses over training"
    reading = (
        "Red: the OOD loss, at the test point; blue: the training loss, over the whole training set; both over L_ref, "
        "half the squared length of the test point, on a square-root axis: the height of the OOD loss is how far the "
        "output is from the right answer, over the length of that answer. Thick: the median over the seeds at each "
        "step. Shaded: from the 10 % to the 90 % quantile of the seeds, which is their spread and not a confidence "
        "interval. Thin: the OOD loss of single seeds. A bump that comes at different times is flatter in the median "
        "than in the runs; so small triangles mark the peak of the bump of every seed that has one. Dashed lines are "
        "single runs, with triangles at the start (below) and the peak (above) of the bump that the detector finds, "
        "and a dot at its end. Black: the median seed; violet, where that has no bump but others have one: the median "
        "seed of those. Above each panel, with Wilson's 95 % intervals: the share of the seeds whose OOD loss falls, "
        "rises and falls by more than the detector's threshold; and of those that memorize transiently: over the rise "
        "their output comes nearer to a training centre and their training loss does not rise, so that steps too large "
        "do not count. Grey dashes: 1 % of L_ref, at or below which a run counts as generalized. All panels have the "
        "same axes; steps are spaced as log(1 + step). Losses above the axis are cut off; a line above the panel "
        "counts their runs."
    )

    def charts(self, subject: Subject, options: Any) -> Iterator[Drawn]:
        """One chart, with a panel for each point."""
        points = [point for point in subject.points if point in subject.data.curves]
        curve = ("ood_loss", "l_ref", (1,))
        query = Query("runs", (subject.sweep_id, self.experiments[0], tuple(points), EVERY_STEP, *curve))
        table = subject.ask(query).with_columns(pl.col("value").list.first())
        rows = [row for point in points for row in point_rows(subject, point, table.filter(pl.col("point") == point))]
        high = top(rows)
        leaving = {point: leave(subject, point, table.filter(pl.col("point") == point), high) for point in points}
        panels = [
            CurvePanel(str(point), subject.label(point) or "all runs", (*_notes(subject, point), *leaving[point]))
            for point in points
        ]
        last = max(int(subject.data.curves[point].step[-1]) for point in points)
        columns = columns_of(subject)
        chart = loss_panels(panels, rows, last, high, columns, width=225 if columns > 3 else 250)
        counts = sorted({subject.runs(point).height for point in points})
        seeds = between(counts[0], counts[-1])
        thin = thin_seeds(len(subject.points))
        drawn = f", the first {thin} of them drawn singly" if counts[-1] > thin else ""
        caption = "The OOD loss and the training loss over training, "
        caption += f"{plural(len(points), 'panel')} of {seeds} seeds{drawn}. {MEDIAN_RUN}"
        queries = [query, *subject.data.curve_queries, subject.data.queries["cells"]]
        yield Drawn(chart, caption, slug="losses-over-training", queries=queries)


def point_rows(subject: Subject, point: int, table: pl.DataFrame) -> Iterator[Row]:
    """Bands, medians, single runs and bumps of one point; `table` has a row for each recorded step of its runs."""
    key, curves, seed = str(point), subject.data.curves[point], subject.median_seed(point)
    for name in (OOD_LOSS, TRAINING_LOSS):
        for step, median, low, high in zip(curves.step.tolist(), *curves.values[name].tolist(), strict=True):
            yield Spread(key, name, step, _shown(low), _shown(high))
            yield Level(key, "line", name, 0, step, _shown(median))
    runs = {
        int(run_seed): rows
        for (run_seed,), rows in table.partition_by("seed", as_dict=True, maintain_order=True).items()
    }
    for run_seed in list(runs)[: thin_seeds(len(subject.points))]:
        yield from _run(key, "run", OOD_LOSS, run_seed, runs[run_seed])
    whole = {
        run_seed: name
        for name, run_seed in ((MEDIAN_SEED, seed), (BUMP_SEED, subject.bump_seed(point)))
        if run_seed in runs
    }
    for run_seed, name in whole.items():
        yield from _run(key, "seed", name, run_seed, runs[run_seed])
    for cell in subject.runs(point).filter(pl.col("bump_peak").is_not_null()).iter_rows(named=True):
        loss, name = dict(runs[cell["seed"]].select("step", "value").iter_rows()), whole.get(cell["seed"])
        for kind in ("start", "peak", "end") if name else ("peak",):
            step = cell[f"bump_{kind}"]
            if step in loss:
                yield Point(key, kind if name else "other", name or "", step, _shown(loss[step]))


def thin_seeds(panels: int) -> int:
    """How many seeds of a panel are drawn as thin lines."""
    return min(40, max(5, THIN_LINES // max(panels, 1)))


def _run(key: str, kind: str, name: str, seed: int, rows: pl.DataFrame) -> list[Level]:
    step, loss = (rows[column].cast(pl.Float64).to_numpy() for column in ("step", "value"))
    step, loss = step[np.isfinite(loss)], np.minimum(loss[np.isfinite(loss)], 2 * HIGHEST)
    if len(step) < 2:
        return []
    # Corners are judged at the panel's proportions: its width is about one and a half times its height.
    kept = corners(np.stack([1.5 * np.log1p(step) / math.log1p(step[-1]), np.sqrt(loss)], axis=1))
    return [Level(key, kind, name, seed, float(step[k]), _shown(float(loss[k]))) for k in kept]


def _notes(subject: Subject, point: int) -> tuple[str, ...]:
    """The lines above a panel: shares of outcomes, the seeds that are drawn whole, and how runs ended."""
    runs = subject.runs(point)
    lines: list[str] = []
    for outcome, phrase in PHRASES.items():
        for share in shares.shares(runs, outcome).filter(pl.col("n") > 0).iter_rows(named=True):
            interval = f"{percent(share['share'])} ({percent(share['low'])} to {percent(share['high'])})"
            lines.append(f"{share['k']} of {share['n']} {phrase}: {interval}")
    bump = subject.bump_seed(point)
    seeds = f"median seed {subject.median_seed(point)}" + (
        "" if bump is None else f"; of those with a bump: seed {bump}"
    )
    return (*lines, seeds, *ended(subject, point))


def leave(subject: Subject, point: int, table: pl.DataFrame, high: float) -> list[str]:
    """A line that counts the runs of a point with an OOD loss above `high`, and names the median if it is one."""
    # A loss that is not finite is beyond every axis, and so is one that DuckDB returns as null.
    beyond = table.filter((~(pl.col("value") <= high)).fill_null(value=True))["seed"].n_unique()
    median = bool((subject.data.curves[point].values[OOD_LOSS][0] > high).any())
    text = f"{beyond} of {plural(subject.runs(point).height, 'seed')} leave{'s' if beyond == 1 else ''} the panel"
    return [text + (", the median too" if median else "")] if beyond else []


def top(rows: Sequence[Row]) -> float:
    """The upper end of all panels: above every band and every run that is drawn whole, but at most HIGHEST."""
    bands = [row.high for row in rows if isinstance(row, Spread)]
    lines = [row.value for row in rows if isinstance(row, Level) and row.kind != "run"]
    return min(HIGHEST, 1.05 * max([*bands, *lines], default=1.0))


def _shown(value: float) -> float:
    return round(min(float(value), 2 * HIGHEST), 4) if math.isfinite(value) else 2 * HIGHEST


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
