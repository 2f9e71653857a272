"""The drawing `concept_speed`: how fast the held-out class moves in concept space over training ([S] Fig 6 c)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from swingby_analysis.charts import style
from swingby_analysis.charts.curves import Axes, CurvePanel, Level, curve_panels
from swingby_analysis.report.query_drawing import Drawn
from swingby_analysis.report.subject import Subject

from ..detect.path import Path
from ..detect.speed import Slowdown, Speeds, slowdown, speeds
from .concepts import (
    SEEDS,
    ConceptDrawing,
    ConceptOptions,
    Groups,
    PointRuns,
    panel_table,
    seeds_per_line,
    setting_of,
    smoothing_note,
)

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

    def charts(self, groups: Groups, subject: Subject, options: ConceptOptions) -> Iterable[Drawn]:
        """One chart, with one panel for each line; rows by judge and setting."""
        table, panels, rows = panel_table(groups), list[CurvePanel](), list[Level]()
        for group, title, line in table.panels:
            key, fit = f"{group.key}:{title}", None if line is None else slowdown(line.runs.speeds)
            panels.append(CurvePanel(key, title, (setting_of(group), *_notes(line, fit))))
            rows += [] if line is None else _rows(key, line, fit)
        values = [row.value for row in rows if row.kind == "line"] or [row.value for row in rows] or [1e-3]
        high = 10 ** math.ceil(math.log10(max(values)))
        low = 10 ** max(math.floor(math.log10(min(values))), math.log10(high) - DECADES)
        axes = Axes(0.0, groups.last, low, high, "learning speed |dC/dt| (1 / step)", "log", "linear")
        layout = table.columns, groups.legend, table.width, table.compact
        seeds, note = seeds_per_line(groups), smoothing_note(options)
        caption = f"How fast the held-out class moves in concept space, {seeds}. {note}"
        yield Drawn(curve_panels(panels, rows, axes, {**groups.colours, **FITS}, *layout), caption)


def _notes(line: PointRuns | None, fit: Slowdown | None) -> tuple[str, ...]:
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


def _rows(key: str, line: PointRuns, fit: Slowdown | None) -> Iterator[Level]:
    runs = line.drawn
    for seed, place, error in list(zip(runs.seeds, runs.place, runs.error, strict=True))[:SEEDS]:
        at = np.flatnonzero(np.isfinite(place[:, 0]))
        own = Path(runs.number, runs.trained, runs.steps[at], at, place[at], error[at])
        if len(runs.seeds) > 1 and len(at) > 1:
            yield from _line(key, "run", line.name, seed, speeds(own))
    yield from _line(key, "line", line.name, 0, runs.speeds)
    if fit is not None:
        at = np.linspace(fit.first, fit.last, 40)
        laws = (("dashed", EXPONENTIAL, fit.exponential, at), ("dotted", POWER, fit.power, np.log(at)))
        for kind, name, law, x in laws:
            for step, value in zip(at.tolist(), np.exp(law.start + law.slope * x).tolist(), strict=True):
                yield Level(key, kind, name, 0, round(step, 1), value)


def _line(key: str, kind: str, name: str, run: int, curve: Speeds) -> Iterator[Level]:
    for step, value in zip(curve.step.tolist(), curve.speed.tolist(), strict=True):
        if value > 0:
            yield Level(key, kind, name, run, step, value)
