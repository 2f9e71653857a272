"""The drawings `concept_mse` and `concept_speed`: error and speed in concept space over training ([S] Fig 6 b, c)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.charts.curves import Axes, CurvePanel, Level, Spread, curve_panels
from swingby_analysis.report.prose import percent
from swingby_analysis.report.query_drawing import Drawn
from swingby_analysis.report.subject import Subject

from ..detect.bends import SUFFIX
from ..detect.descent import error_of
from ..detect.detectability import RISE
from ..detect.path import Floats, Path, toward
from ..detect.runs import over_seeds
from ..detect.speed import Slowdown, Speeds, slowdown, speeds
from .concepts import (
    SEEDS,
    ConceptDrawing,
    ConceptOptions,
    Group,
    Groups,
    PointRuns,
    panel_table,
    seeds_per_line,
    setting_of,
    smoothing_note,
)

HIGHEST = 1.5
"""The largest error that panels show; 1 is the error of a point that is wrong in both concepts."""


class ConceptMse(ConceptDrawing):
    """The concept-space MSE with bands over seeds."""

    name = "concept_mse"
    title = "Concept-space MSE over training"
    reading = (
        "The concept-space MSE is the mean over color and size of the squared distance of the class's mean point from "
        "its own corner; 1 is wrong in both. Thick: the mean over the seeds of each seed's MSE, with the gaps of paths "
        "bridged by straight lines; it is broken where a seed enters or leaves, for a jump between means of other "
        "seeds is no rise. Shaded: its 95 % t-interval over the seeds. Thin: single seeds. Dashed: the MSE of the mean "
        "point of all seeds, as in [S], which is lower where seeds differ. Above a panel: the number of seeds whose "
        "MSE falls, rises and falls by more than the detector's threshold, with Wilson's 95 % interval of their share; "
        "the number whose threshold is low enough to have shown a rise to halfway between the class and a trained one; "
        "and the mean rise, located on all seeds but one and measured at the same evaluations of the one left out, "
        "with its t-interval: seeds share a bump where the interval lies above 0. It lies above 0 by chance in 5 to 20 "
        "% of samples, and at 5 seeds or fewer the test has little power."
    )

    def of_groups(self, groups: Groups, subject: Subject, options: ConceptOptions) -> Iterable[Drawn]:
        """One chart, with one panel for each line; rows by judge and setting."""
        table, panels, rows = panel_table(groups), list[CurvePanel](), list[Level | Spread]()
        for group, title, line in table.panels:
            key = f"{group.key}:{title}"
            notes = ("no place yet",) if line is None else _mse_notes(subject, group, line)
            panels.append(CurvePanel(key, title, (setting_of(group), *notes)))
            rows += [] if line is None else _mse_rows(key, line)
        top = min(HIGHEST, 1.05 * max([row.value for row in rows if isinstance(row, Level)], default=1.0))
        axes = Axes(0.0, groups.last, 0.0, top, "concept-space MSE")
        layout = table.columns, groups.legend, table.width, table.compact
        caption = f"The error of the held-out class in concept space over training, {seeds_per_line(groups)}."
        caption, queries = f"{caption} {smoothing_note(options)}", [subject.data.queries["cells"]]
        yield Drawn(curve_panels(panels, rows, axes, groups.colours, *layout), caption, queries=queries)


def _mse_notes(subject: Subject, group: Group, line: PointRuns) -> list[str]:
    outcome, threshold = (name + SUFFIX[group.judge] for name in ("non_monotone", "mse_threshold"))
    notes = [
        f"{share.k} of {share.n} rise: {percent(share.low)} to {percent(share.high)}"
        for share in subject.data.phases.shares(outcome)
        if share.point == line.point
    ]
    cells = subject.data.cells.filter(pl.col("point") == line.point)
    if threshold in cells.columns:
        thresholds = cells[threshold].drop_nulls()
        notes.append(f"halfway seen in {(thresholds <= RISE).sum()} of {len(thresholds)}")
    bump = line.runs.bump()
    return notes if bump is None else [*notes, f"left-out {bump.height:+.2f} ({bump.low:+.2f} to {bump.high:+.2f})"]


def _mse_rows(key: str, line: PointRuns) -> Iterator[Level | Spread]:
    runs = line.drawn
    for seed, errors in list(zip(runs.seeds, runs.errors, strict=True))[:SEEDS]:
        yield from _line(key, "run", line.name, seed, runs.steps, errors)
    mean = over_seeds(error_of(toward(runs.whole, runs.number)))
    together = error_of(toward(runs.mean.value, runs.number))
    for number, at in enumerate(runs.stretches):
        steps, value, half = (values[at] for values in (runs.steps, mean.value, mean.half))
        yield from _line(key, "line", line.name, number, steps, value)
        if len(runs.seeds) > 1:
            yield from _line(key, "dashed", line.name, number, steps, together[at])
        known = np.isfinite(half)
        low, high = (value - half)[known].round(5), (value + half)[known].round(5)
        for step, *ends in zip(steps[known].tolist(), low.tolist(), high.tolist(), strict=True):
            yield Spread(key, line.name, step, *ends, run=number)


def _line(key: str, kind: str, name: str, run: int, steps: Floats, values: Floats) -> Iterator[Level]:
    for step, value in zip(steps.tolist(), values.tolist(), strict=True):
        if np.isfinite(value):
            yield Level(key, kind, name, run, step, round(min(value, 10 * HIGHEST), 5))


EXPONENTIAL, POWER = "exponential fit", "power-law fit"
FITS = {EXPONENTIAL: style.INK, POWER: style.FAINT}
DECADES = 4.0
"""The largest number of decades that the speed axis shows."""


class ConceptSpeed(ConceptDrawing):
    """Speeds on a log axis, with both fits."""

    name = "concept_speed"
    title = "Learning speed"
    reading = (
        "The learning speed is the distance between the mean points of two evaluations in concept space, over the "
        "steps between them. Thick: the speed of the mean move of the seeds that have a place at both, half of them or "
        "more, so that a seed that enters or leaves adds no speed. Thin: single seeds. Straight and dashed: an "
        "exponential slow-down, log speed against step; curved and dotted: a power law, log speed against log step. "
        "Both are fitted to that mean move as recorded, from the fastest one to where it is less than twice its noise; "
        "a speed has the more weight the farther it exceeds its noise. R² says which law describes the speeds better, "
        "not that the law is true. Speeds near their noise say nothing: noise divided by ever longer intervals falls "
        "too."
    )

    def of_groups(self, groups: Groups, subject: Subject, options: ConceptOptions) -> Iterable[Drawn]:
        """One chart, with one panel for each line; rows by judge and setting."""
        table, panels, rows = panel_table(groups), list[CurvePanel](), list[Level]()
        for group, title, line in table.panels:
            key, fit = f"{group.key}:{title}", None if line is None else slowdown(line.runs.speeds)
            panels.append(CurvePanel(key, title, (setting_of(group), *_speed_notes(line, fit))))
            rows += [] if line is None else _speed_rows(key, line, fit)
        values = [row.value for row in rows if row.kind == "line"] or [row.value for row in rows] or [1e-3]
        high = 10 ** math.ceil(math.log10(max(values)))
        low = 10 ** max(math.floor(math.log10(min(values))), math.log10(high) - DECADES)
        axes = Axes(0.0, groups.last, low, high, "learning speed |dC/dt| (1 / step)", "log", "linear")
        layout = table.columns, groups.legend, table.width, table.compact
        seeds, note = seeds_per_line(groups), smoothing_note(options)
        caption = f"How fast the held-out class moves in concept space, {seeds}. {note}"
        yield Drawn(curve_panels(panels, rows, axes, {**groups.colours, **FITS}, *layout), caption)


def _speed_notes(line: PointRuns | None, fit: Slowdown | None) -> tuple[str, ...]:
    if line is None:
        return ("no place yet",)
    if fit is None:
        return ("too few clear moves for a fit",)
    exponential, power = fit.exponential, fit.power
    halved = f"halves every {math.log(2) / -exponential.slope:,.0f} steps" if exponential.slope < 0 else "does not fall"
    return (
        f"{halved}, R² {exponential.r2:.2f}",
        f"or exponent {power.slope:.2f}, R² {power.r2:.2f}",
        f"{fit.n} speeds; better: {fit.law}",
    )


def _speed_rows(key: str, line: PointRuns, fit: Slowdown | None) -> Iterator[Level]:
    runs = line.drawn
    for seed, place, error in list(zip(runs.seeds, runs.place, runs.error, strict=True))[:SEEDS]:
        at = np.flatnonzero(np.isfinite(place[:, 0]))
        path = Path(runs.number, runs.trained, runs.steps[at], at, place[at], error[at])
        if len(runs.seeds) > 1 and len(at) > 1:
            yield from _speed_line(key, "run", line.name, seed, speeds(path))
    yield from _speed_line(key, "line", line.name, 0, runs.speeds)
    if fit is not None:
        at = np.linspace(fit.first, fit.last, 40)
        laws = (("dashed", EXPONENTIAL, fit.exponential, at), ("dotted", POWER, fit.power, np.log(at)))
        for kind, name, law, x in laws:
            for step, value in zip(at.tolist(), np.exp(law.start + law.slope * x).tolist(), strict=True):
                yield Level(key, kind, name, 0, round(step, 1), value)


def _speed_line(key: str, kind: str, name: str, run: int, curve: Speeds) -> Iterator[Level]:
    for step, value in zip(curve.step.tolist(), curve.speed.tolist(), strict=True):
        if value > 0:
            yield Level(key, kind, name, run, step, value)
