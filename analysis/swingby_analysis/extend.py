"""Extending a sweep: longer runs, or more seeds until the share of an outcome is known well enough at every point."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.report.data import ask, cells_query
from swingby_analysis.stats import shares as phase
from swingby_analysis.train import train

Say = Callable[[str], None]
ROUNDS = 20


@dataclass(frozen=True)
class Widest:
    """The point at which a share is known least: its Wilson interval's half-width, and what was counted there."""

    point: int
    k: int
    n: int
    half_width: float


def longer(sweep: Sweep, factor: float) -> list[str]:
    """The overrides that make every run of a sweep so many times as long.

    Raises:
        SwingbyError: the factor is not above 1, the experiment does not say what sets a run's length, or points differ
            in it.
    """
    if not factor > 1:
        raise SwingbyError(f"--steps {factor:g} does not extend a run; allowed: a factor above 1, such as 2")
    found = []
    for name in sorted({sweep.experiment.length(point.params) or "" for point in sweep.points}):
        if not name:
            raise SwingbyError(f"experiment {sweep.experiment_name!r} does not say which parameter sets a run's length")
        of_it = [point.params for point in sweep.points if sweep.experiment.length(point.params) == name]
        values = sorted({getattr(params, name) for params in of_it})
        if len(values) > 1:
            told = ", ".join(map(str, values))
            raise SwingbyError(f"the points of {sweep.name!r} differ in {name} ({told}): set it in the sweep file")
        found.append(f"base.{name}={max(values[0] + 1, round(values[0] * factor))}")
    return found


def last_seeds(name: str, data: Path, overrides: Sequence[str]) -> list[str]:
    """The overrides, with as many seeds as the sweep's newest run of the same points had, unless they say how many.

    Raises:
        SwingbyError: it has not been run here.
    """
    sweep = Sweep.load(name, overrides, confirm_above=None)
    points = json.loads(json.dumps({key: sweep.resolved[key] for key in ("axes", "where", "common", "base")}))
    with Store.open(data) as store:
        query = "select resolved from sweeps where name = ? order by created desc"
        runs = [json.loads(row.resolved) for row in store.sql(query, [sweep.name]).rows()]
    same = [run for run in runs if all(run.get(key) == value for key, value in points.items())]
    if not same:
        raise SwingbyError(
            f"{sweep.name!r} has not been run here yet, so there is nothing to extend: swingby run {name}"
        )
    if any(override.startswith("seeds") for override in overrides):
        return list(overrides)
    return [*overrides, f"seeds.count={len(same[0]['seeds'])}"]


def needed(share: float, half_width: float, start: int, most: int) -> int:
    """The least number of seeds from `start` on at which a share so large has an interval of that half-width.

    Raises:
        SwingbyError: that is more than `most`.
    """
    counts = np.arange(start, most + 1)
    low, high = phase.wilson(np.round(share * counts), counts)
    enough = np.flatnonzero((high - low) / 2 <= half_width)
    if not len(enough):
        raise SwingbyError(
            f"a half-width of {half_width:g} would take more than --most {most} seeds; results so far are kept"
        )
    return int(counts[enough[0]])


def extend_seeds(
    name: str,
    data: Path,
    outcome: str | None,
    half_width: float,
    most: int,
    overrides: Sequence[str],
    options: Sequence[str],
    say: Say,
) -> int:
    """Trains more seeds of every point until no point's share of `outcome` has a wider interval; gives their number.

    All points get the same seeds, so that the sweep stays a whole grid. The number is the least that the widest
    interval asks for at the share seen, and is asked again once they are there.

    Raises:
        SwingbyError: not run here yet, no such outcome, seeds that are no run of numbers, or a bound out of reach of
            `most`.
    """
    if not 0 < half_width < 0.5:
        raise SwingbyError(f"--half-width {half_width:g} is no bound on half an interval; allowed: above 0, below 0.5")
    outcome = _outcome(Sweep.load(name, overrides), outcome)
    overrides = last_seeds(name, data, overrides)
    count = _count(Sweep.load(name, overrides))
    for _ in range(ROUNDS):
        laid = with_seeds(overrides, count)
        sweep = Sweep.load(name, laid)
        if not train([name], data, laid, options):
            raise SwingbyError("some cells failed or are missing; their points' intervals say nothing yet")
        widest = _widest(data, sweep, outcome)
        place = f"at point {widest.point} ({widest.k} of {widest.n} show {outcome})"
        say(f"{count} seeds: the widest interval is +- {widest.half_width:.3f}, {place}")
        if widest.half_width <= half_width:
            return count
        told = needed(widest.k / max(widest.n, 1), half_width, widest.n + 1, most)
        # Runs of which the outcome cannot be told count for nothing: seeds are added in proportion.
        count = max(count + 1, min(most, round(told * count / max(widest.n, 1))))
    raise SwingbyError(f"{ROUNDS} rounds did not reach --half-width {half_width:g}; results so far are kept")


def with_seeds(overrides: Sequence[str], count: int) -> list[str]:
    """The overrides with this number of seeds and no other."""
    return [*(override for override in overrides if not override.startswith("seeds.count")), f"seeds.count={count}"]


def _count(sweep: Sweep) -> int:
    seeds = sweep.seeds
    if list(seeds) != list(range(seeds[0], seeds[0] + len(seeds))):
        raise SwingbyError(f"the seeds of {sweep.name!r} are a list; write seeds: {{count: ..., first: ...}} to extend")
    return len(seeds)


def _outcome(sweep: Sweep, asked: str | None) -> str:
    kinds = {name: kind for item in registry.detectors_for(sweep.experiment_name) for name, kind in item.kinds.items()}
    shares = [name for name, kind in kinds.items() if kind == "yes_no"]
    drawn = sweep.diagram.outcome if sweep.diagram is not None else None
    name = asked or (drawn if drawn in shares else None)
    if name is None:
        raise SwingbyError(f"name the outcome whose share is wanted: --outcome; allowed: {', '.join(shares)}")
    if name not in shares:
        raise SwingbyError(f"{name!r} has no share; {registry.nearest(name, shares)}")
    return name


def _widest(data: Path, sweep: Sweep, outcome: str) -> Widest:
    with Store.open(data) as store:
        cells = ask(store, cells_query(store, sweep.experiment_name, sweep.sweep_id)).filter(
            pl.col("status") != "failed"
        )
    row = phase.shares(cells, outcome).sort("half_width", descending=True, nulls_last=False).row(0, named=True)
    return Widest(row["point"], row["k"], row["n"], row["half_width"])
