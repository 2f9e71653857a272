"""The drawing `concept_mse`: the error in concept space over training, and bumps that seeds share ([S] Fig 6 b)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl

from swingby_analysis.charts.curves import Axes, CurvePanel, Level, Spread, curve_panels
from swingby_analysis.report.prose import percent
from swingby_analysis.report.query_drawing import Drawn
from swingby_analysis.report.subject import Subject

from ..detect.bends import SUFFIX
from ..detect.descent import error_of
from ..detect.detectability import RISE
from ..detect.path import Floats, toward
from ..detect.runs import over_seeds
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

    def charts(self, groups: Groups, subject: Subject, options: ConceptOptions) -> Iterable[Drawn]:
        """One chart, with one panel for each line; rows by judge and setting."""
        table, panels, rows = panel_table(groups), list[CurvePanel](), list[Level | Spread]()
        for group, title, line in table.panels:
            key = f"{group.key}:{title}"
            notes = ("no place yet",) if line is None else _notes(subject, group, line)
            panels.append(CurvePanel(key, title, (setting_of(group), *notes)))
            rows += [] if line is None else _rows(key, line)
        top = min(HIGHEST, 1.05 * max([row.value for row in rows if isinstance(row, Level)], default=1.0))
        axes = Axes(0.0, groups.last, 0.0, top, "concept-space MSE")
        layout = table.columns, groups.legend, table.width, table.compact
        caption = f"The error of the held-out class in concept space over training, {seeds_per_line(groups)}."
        caption, queries = f"{caption} {smoothing_note(options)}", [subject.data.queries["cells"]]
        yield Drawn(curve_panels(panels, rows, axes, groups.colours, *layout), caption, queries=queries)


def _notes(subject: Subject, group: Group, line: PointRuns) -> list[str]:
    outcome, threshold = (name + SUFFIX[group.judge] for name in ("non_monotone", "mse_threshold"))
    notes = [
        f"{share.k} of {share.n} rise: {percent(share.low)} to {percent(share.high)}"
        for share in subject.data.phases.shares(outcome)
        if share.point == line.point
    ]
    cells = subject.data.cells.filter(pl.col("point") == line.point)
    if threshold in cells.columns:
        own = cells[threshold].drop_nulls()
        notes.append(f"halfway seen in {(own <= RISE).sum()} of {len(own)}")
    bump = line.runs.bump()
    return notes if bump is None else [*notes, f"left-out {bump.height:+.2f} ({bump.low:+.2f} to {bump.high:+.2f})"]


def _rows(key: str, line: PointRuns) -> Iterator[Level | Spread]:
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
