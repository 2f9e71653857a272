"""The summary of a diffusion report: learning order, speed, bends, bumps, slow-down, and checks of the judges."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from swingby.select.intervals import wilson
from swingby.store import Store
from swingby_analysis.grid import plain
from swingby_analysis.query import Query, ask
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.prose import percent, plural
from swingby_analysis.signals.final_stretch import arrived_at

from .detect.bends import SUFFIX
from .detect.descent import FACTOR
from .detect.detectability import ASIDE, RISE
from .detect.path import JUDGES, LEARNED, LEAST_FOUND, Judge, held_out, trained_of
from .detect.runs import Runs, over_seeds, runs_of
from .drawings import SQL

AUTHORS = 2.0
"""Width of the Gaussian, in evaluations, by which the authors smooth before they draw."""
FEW_POINTS = 8
"""The largest number of points that are named one by one; of more, only their number is given."""
BY: Mapping[Judge, str] = {"measured": "measured judge", "trained": "trained judge"}
Rows = list[dict[str, Any]]
RunsByJudge = Mapping[Judge, Mapping[int, Runs]]
"""Of each judge, the runs of each point."""


def sentences(data: ReportData, store: Store) -> list[str]:
    """The sentences of a report's summary."""
    rows = ask(store, Query("paths", (data.sweep["sweep_id"],), SQL)).to_dicts()
    every: dict[Judge, dict[int, Runs]] = {judge: runs for judge in JUDGES if (runs := runs_of(rows, judge))}
    lines = [*(_order(data, judge, runs) for judge, runs in every.items()), *_speed(data)]
    lines += [_bends(data, judge, runs) for judge, runs in every.items()]
    if every:
        lines += [_bumps(data, every, rows), *_slowing(data, every), _noise(data, every)]
    return [*lines, *_vanishing(data, rows), *_trust(data, rows, every)]


def _named(data: ReportData, points: Iterable[int], notes: Mapping[int, str] | None = None) -> str:
    """The points by their values, each with its note; or their number, where they cannot be named one by one."""
    points = list(points)
    if data.grid.y is not None or len(data.grid.facets) > 1 or len(points) > FEW_POINTS:
        return plural(len(points), "point")
    values = [plain(data.grid.x.values[data.grid.places[point][0]]) for point in points]
    texts = [value + (f" ({notes[p]})" if notes else "") for p, value in zip(points, values, strict=True)]
    return f"{data.grid.x.name} = {', '.join(texts)}"


def _order(data: ReportData, judge: Judge, runs: Mapping[int, Runs]) -> str:
    """The concept that most runs learn first, point by point; and in how many runs the last evaluation decides it."""
    name = "learning_order" if judge == "measured" else "learning_order_by_trained"
    common = {one.point: one for one in data.phases.most_common(name)}
    notes = {}
    for point, one in common.items():
        low, high = (percent(float(end)) for end in wilson(one.k, one.n))
        notes[point] = f"{one.k} of {one.n} runs, {low} to {high}"
    groups: dict[str, list[int]] = {}
    for point, one in common.items():
        groups.setdefault(one.outcome if 2 * one.k > one.n else "no majority", []).append(point)
    parts = "; ".join(f"{which} at {_named(data, points, notes)}" for which, points in groups.items())
    paths = [path for point_runs in runs.values() for path in point_runs.paths]
    ended = [path for path in paths if path.ended]
    late = sum(bool((arrived_at(path.progress[None], LEARNED) == len(path.steps) - 1).any()) for path in ended)
    weak = f" In {late} of {plural(len(paths), 'run')} the last evaluation alone decides." if late else ""
    return f"Learned first by most runs, {BY[judge]} (95\u00a0% Wilson intervals): {parts or 'not known'}.{weak}"


def _speed(data: ReportData) -> list[str]:
    """The steps at which each concept is learned, at the points where the median run is soonest and latest."""
    parts = []
    for name, concept in (("t_color", "color"), ("t_size", "size")):
        spreads = data.phases.spreads(name)
        if spreads:
            ends = [min(spreads, key=lambda one: one.median), max(spreads, key=lambda one: one.median)]
            first, last = (
                f"{_step(one.median)} ({_step(one.low)} to {_step(one.high)}) at {data.grid.label(one.point)}"
                for one in ends
            )
            parts.append(f"{concept} {first}" + (f", {last}" if ends[0].median != ends[1].median else ""))
    if not parts:
        return []
    what = "Speed, as the step from which on a concept is right to 0.9 (measured judge; soonest and latest median with"
    return [f"{what} 95\u00a0% bootstrap interval): {'; '.join(parts)}."]


def _step(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else "never"


def _bends(data: ReportData, judge: Judge, runs: Mapping[int, Runs]) -> str:
    """The side to which the seeds' paths bend together, and the points where they come back."""
    tests = {point: bend for point, point_runs in runs.items() if (bend := point_runs.bend()) is not None}
    if not tests:
        return f"Whether the seeds' paths bend to one side is not known ({BY[judge]}): no point has two measured seeds."
    notes = {point: f"{bend.size:+.2f}, {bend.low:+.2f} to {bend.high:+.2f}" for point, bend in tests.items()}
    sides = {side: [p for p, bend in tests.items() if bend.side == side] for side in ("color", "size", "neither")}
    names = {"color": "toward color at", "size": "toward size at", "neither": "to no established side at"}
    parts = "; ".join(f"{names[side]} {_named(data, points, notes)}" for side, points in sides.items() if points)
    back = [point for point, bend in tests.items() if bend.returns]
    again = f"coming back at {_named(data, back)}" if back else "coming back at none"
    few, why = data.cells["point"].n_unique() - len(tests), "too few seeds begin farther than 0.25 from the target"
    unseen = f"; not known at {plural(few, 'point')} ({why})" if few else ""
    seeds = max(bend.n for bend in tests.values())
    weak = f" At {plural(seeds, 'seed')} the power is low." if seeds <= 5 else ""
    straight = (
        "one in eight with 5 seeds, one in four with 10, two in five with 20"  # by tests.benchmarks.diffusion_power
    )
    return (
        f"The path bends, {BY[judge]} (located on all seeds but one, measured on that one; mean with 95\u00a0% "
        f"t-interval): {parts}; {again}{unseen}.{weak} Straight paths pass this test, too: {straight}."
    )


def _bumps(data: ReportData, every: RunsByJudge, rows: Rows) -> str:
    """The test of a bump of the MSE that seeds share, and its result at the point where it is most certain."""
    parts, unknown = [], False
    for judge, runs in every.items():
        tests = {point: bump for point, point_runs in runs.items() if (bump := point_runs.bump()) is not None}
        if not tests:
            continue
        best = max(tests, key=lambda point: tests[point].low)
        bump, passed = tests[best], sum(test.significant for test in tests.values())
        smooth = [point_runs.bump() for point_runs in runs_of(rows, judge, AUTHORS).values()]
        blurred = sum(test is not None and test.significant for test in smooth)
        few = data.cells["point"].n_unique() - len(tests)
        unknown |= bool(few)
        unseen = f"; not known at {plural(few, 'other')}" if few else ""
        surest = f"{data.grid.label(best)}: {bump.height:+.2g}, {bump.low:+.2g} to {bump.high:+.2g}"
        parts.append(
            f"at {passed} of {plural(len(tests), 'point')} by the {BY[judge]} "
            f"(smoothed as the authors draw: {blurred}; surest at {surest}{unseen})"
        )
    if not parts:
        return "Whether the seeds share a bump of the concept-space MSE is not known: no point has two seeds."
    why = " It takes three evaluations at which every seed has a place." if unknown else ""
    return (
        f"The seeds share a bump of the concept-space MSE (located and measured likewise) {'; '.join(parts)}; chance "
        f"alone passes one in five to twenty.{why}"
    )


def _slowing(data: ReportData, every: RunsByJudge) -> list[str]:
    """The number of single runs whose slow-down follows each law better."""
    parts = []
    for judge in every:
        name = "slowdown" if judge == "measured" else "slowdown_by_trained"
        if name in data.cells.columns:
            counts = Counter(data.cells[name].drop_nulls().to_list())
            laws = ", ".join(f"{counts[law]} {law}" for law in data.phases.categories(name) if counts[law])
            laws = laws or "too few moves exceed their noise"
            parts.append(f"{counts.total()} runs by the {BY[judge]} ({laws})")
    return [f"The law of the slow-down is known of {'; '.join(parts)}."] if parts else []


def _noise(data: ReportData, every: RunsByJudge) -> str:
    """The noise of a run's point between evaluations, and the number of single runs in which a move could be seen."""
    spreads, seen = [], []
    for judge, runs in every.items():
        spread = [np.median(path.scatter, axis=0) for point_runs in runs.values() for path in point_runs.paths]
        color, size = np.median(spread, axis=0).tolist()
        spreads.append(f"{color:.2g} in color and {size:.2g} in size ({BY[judge]})")
        names = [f"{name}{SUFFIX[judge]}" for name in ("mse_threshold", "bend_threshold")]
        if set(names) <= set(data.cells.columns):
            rise, bend = (data.cells[name].drop_nulls() for name in names)
            counts = f"in {(rise <= RISE).sum()} of {plural(len(rise), 'run')} as a rise of the MSE"
            seen.append(f"{counts} and in {(bend <= ASIDE).sum()} of {len(bend)} as a bend ({BY[judge]})")
    halfway = "A move to halfway between the held-out class and a trained one could have been seen"
    noise = (
        f"From one evaluation to the next a run's mean point scatters by {', '.join(spreads)}; a bump or bend of a "
        f"single run counts only beyond {FACTOR:g} times its noise."
    )
    return f"{noise} {halfway} {', '.join(seen)}." if seen else noise


def _vanishing(data: ReportData, rows: Rows) -> list[str]:
    """The share of the held-out class's images without a circle at the end, and the number of runs that lost it."""
    lacking: dict[int, list[float]] = {}
    vanished = 0
    for row in rows:
        number = held_out(row["trained"])
        if number is not None and row.get("found"):
            shares = np.array([np.nan if entry is None else entry[number] for entry in row["found"]], dtype=float)
            lacking.setdefault(row["point"], []).append(1 - shares[-1])
            vanished += bool(shares[-1] < LEAST_FOUND <= np.nanmax(shares))
    if not lacking:
        return []
    means = {point: over_seeds(np.array(values)[:, None]) for point, values in lacking.items()}
    notes = {}
    for point, mean in means.items():
        value, half = mean.value[0], mean.half[0]
        ends = f", {percent(max(0.0, value - half))} to {percent(min(1.0, value + half))}" if np.isfinite(half) else ""
        notes[point] = f"{percent(value)}{ends}"
    worst = max(means, key=lambda point: means[point].value[0])
    several = data.grid.y is not None or len(data.grid.facets) > 1 or len(means) > FEW_POINTS
    where = f"{notes[worst]} at the worst, {data.grid.label(worst)}" if several else _named(data, means, notes)
    lost = f"in {vanished} of {plural(len(rows), 'run')} half of these images or more had one before, and fewer do then"
    what = "Images of the held-out class without a circle at the last evaluation (mean, 95\u00a0% t-interval)"
    return [f"{what}: {where}; {lost}."]


def _trust(data: ReportData, rows: Rows, every: RunsByJudge) -> list[str]:
    """How well the trained classes are learned, how accurate the trained judge is, and whether the judges agree."""
    parts, names = [], ("judge_color_accuracy", "judge_size_accuracy")
    ends: list[tuple[float, float]] = []
    for row in rows:
        if row.get("color_right") and row.get("size_right"):
            ends += [(row["color_right"][-1][k], row["size_right"][-1][k]) for k in trained_of(row["trained"])]
    right = np.array([[np.nan if v is None else v for v in pair] for pair in ends], dtype=float)
    if len(right) and np.isfinite(right).any(axis=0).all():
        color, size = np.nanmean(right, axis=0).tolist()
        parts.append(f"at the end the trained classes are right in {percent(color)} (color) and {percent(size)} (size)")
    if all(name in data.cells.columns and data.cells[name].null_count() < data.cells.height for name in names):
        worst = data.cells.select(pl.col(name).min() for name in names).row(0)
        parts.append(f"the trained judge in {percent(worst[0])} and {percent(worst[1])} of fresh images")
    orders = ("learning_order", "learning_order_by_trained")
    if len(every) == len(JUDGES) and all(name in data.cells.columns for name in orders):
        both = data.cells.select(orders).drop_nulls()
        same = both.filter(pl.col(orders[0]) == pl.col(orders[1])).height
        one, other = every["measured"], every["trained"]
        differences = [
            np.abs(p.place[np.isin(p.record, q.record)] - q.place[np.isin(q.record, p.record)])
            for point in one.keys() & other.keys()
            for p, q in zip(one[point].paths, other[point].paths, strict=False)
            if one[point].seeds == other[point].seeds
        ]
        apart = np.median(np.concatenate(differences), axis=0).tolist() if differences else [math.nan, math.nan]
        parts.append(f"the judges name the same order in {same} of {plural(both.height, 'run')}")
        parts.append(f"their mean points differ by {apart[0]:.2g} in color and {apart[1]:.2g} in size (medians)")
    return [f"To judge by: {'; '.join(parts)}."] if parts else []
