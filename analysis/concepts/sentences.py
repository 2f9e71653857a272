"""What the summary of a diffusion report says beyond counts: whether the seeds share a bump, and how they slow down."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

from analysis import order
from analysis.concepts.descent import FACTOR
from analysis.concepts.path import JUDGES, Judge
from analysis.concepts.runs import Runs, runs_of
from analysis.report.data import ReportData, ask
from analysis.report.prose import percent, plural
from analysis.report.queries import Query
from analysis.seeds import Bump
from swingby.store import Store

AUTHORS = 2.0, 7
"""What the authors smooth by (evaluations) and leave out before they draw."""
_BY: dict[Judge, str] = {"measured": "by the measured judge", "trained": "by the trained judge"}


def sentences(data: ReportData, store: Store) -> list[str]:
    """The sentences; none of a sweep over another experiment."""
    if data.sweep["experiment"] != "diffusion":
        return []
    query = Query("diffusion/paths", (data.sweep["sweep_id"],))
    rows = ask(store, query).to_dicts()
    found = []
    for judge in JUDGES:
        runs = runs_of(rows, judge)
        if runs:
            found += [_noise(runs, judge), *_late(runs, judge), _bumps(data, runs, judge)]
            found += [*_smoothing(rows, judge), *_slowing(data, judge)]
    return [*found, *_blind(data, rows), *_judge(data)]


def told(bump: Bump) -> str:
    """The test over seeds in a few words."""
    weak = "; little power" if bump.weak else ""
    return f"left-out rise {bump.height:.2g} ({bump.low:.2g} to {bump.high:.2g}), {plural(bump.n, 'seed')}{weak}"


def _bumps(data: ReportData, runs: dict[int, Runs], judge: Judge) -> str:
    """The test at the point where the interval lies highest, and how many points pass it."""
    tests = {point: bump for point, own in runs.items() if (bump := own.bump()) is not None}
    who = _BY[judge]
    if not tests:
        return (
            f"Whether the seeds share a bump of the concept-space MSE {who} cannot be told: it takes two seeds a point."
        )
    best = max(tests, key=lambda point: tests[point].low)
    bump, passed = tests[best], sum(test.found for test in tests.values())
    verdict = "the seeds share a bump there" if bump.found else "that they share one in time is not established"
    weak = f" With {plural(bump.n, 'seed')} this test has little power." if bump.weak else ""
    several = "" if len(tests) < 2 else (
        f" Of {plural(len(tests), 'point')} {passed} pass, where chance alone passes one in five to twenty."
    )  # fmt: skip
    return (
        f"A rise of the concept-space MSE {who}, located on all seeds but one and measured at the same evaluations of "
        f"the one left out, is most certain at {data.grid.label(best)}: {bump.height:.2g} on average (95\u00a0% "
        f"t-interval {bump.low:.2g} to {bump.high:.2g}, {plural(bump.n, 'seed')}): {verdict}.{weak}{several}"
    )


def _noise(runs: dict[int, Runs], judge: Judge) -> str:
    """How much a run's point jumps between evaluations, and what that means for single runs."""
    paths = [path for own in runs.values() for path in own.paths]
    color, size = np.median([np.median(path.scatter, axis=0) for path in paths], axis=0).tolist()
    return (
        f"From one evaluation to the next, the held-out class's mean point {_BY[judge]} scatters by {color:.2g} in "
        f"color and {size:.2g} in size (medians over {plural(len(paths), 'run')}). A single run is credited with a "
        f"bump or a bend only beyond {FACTOR:g} times its noise; where that is large, only the seeds together can tell."
    )


def _late(runs: dict[int, Runs], judge: Judge) -> list[str]:
    """Runs in which a concept counts as learned by its last evaluation alone."""
    paths = [path for own in runs.values() for path in own.paths]
    late = sum(bool((order.learned_at(path.progress[None]) == len(path.steps) - 1).any()) for path in paths)
    if not late:
        return []
    what = f"In {late} of {plural(len(paths), 'run')} a concept counts as learned {_BY[judge]}"
    return [f"{what} by the last evaluation alone: an order that hangs on one evaluation is weak."]


def _smoothing(rows: list[dict[str, object]], judge: Judge) -> list[str]:
    """What smoothing as the authors do it would make of the same test."""
    width, first = AUTHORS
    plain, smooth = (runs_of(rows, judge, *how) for how in ((0.0, first), (width, first)))
    pairs = [(a, b) for p in plain if (a := plain[p].bump()) is not None and (b := smooth[p].bump()) is not None]
    if not pairs:
        return []
    passed = [sum(test.found for test in tests) for tests in zip(*pairs, strict=True)]
    heights = [sum(test.height for test in tests) / len(tests) for tests in zip(*pairs, strict=True)]
    text = (
        f"Smoothing alters bumps: from evaluation {first} on, {passed[0]} of {plural(len(pairs), 'point')} pass that "
        f"test {_BY[judge]} as recorded, with a rise of {heights[0]:.2g} on average; smoothed by a Gaussian of "
        f"{width:g} evaluations, as the authors draw, {passed[1]} pass, with a rise of {heights[1]:.2g}."
    )
    return [text]


def _slowing(data: ReportData, judge: Judge) -> list[str]:
    name = "slowdown" if judge == "measured" else "slowdown_by_trained"
    if name not in data.cells.columns:
        return []
    counts = Counter(data.cells[name].drop_nulls().to_list())
    known = counts.total()
    if not known:
        few = "too few evaluations move by more than they scatter"
        return [f"How learning slows down {_BY[judge]} can be told of no single run: {few}."]
    parts = ", ".join(f"{counts[law]} {law}" for law in data.phases.categories(name) if counts[law])
    text = f"Of the {plural(known, 'run')} whose slow-down can be told {_BY[judge]}, by which law fits better: {parts}."
    left = data.cells.height - known
    return [text + (f" Of {left} it cannot." if left else "")]


def _blind(data: ReportData, rows: list[dict[str, object]]) -> list[str]:
    """Runs of which the measured judge never found enough circles."""
    measured = runs_of(rows)
    seen = sum(len(own.seeds) for own in measured.values())
    lacking = data.cells.height - seen
    share = percent(lacking / max(data.cells.height, 1))
    return [f"In {plural(lacking, 'run')} ({share}) no circle was ever found in half of the images."] if lacking else []


def _judge(data: ReportData) -> list[str]:
    """How good the trained judge is."""
    names = ("judge_color_accuracy", "judge_size_accuracy")
    if any(name not in data.cells.columns or data.cells[name].null_count() == data.cells.height for name in names):
        return []
    worst = data.cells.select(pl.col(name).min() for name in names).row(0)
    return [
        f"On fresh images the trained judge is right in {percent(worst[0])} (color) and {percent(worst[1])} (size)."
    ]
