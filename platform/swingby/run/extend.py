"""Extending a sweep that has run: longer runs, or more seeds until the shares of an outcome are known well enough."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.options import option
from swingby.run.driver import ray_for, run
from swingby.run.options import RunOptions
from swingby.run.progress import progress_for
from swingby.select.intervals import wilson
from swingby.store import Store
from swingby.store.refined import only_refined
from swingby.sweepfile.refinement import Labelled, kinds_of
from swingby.sweepfile.sweep import Sweep

ROUNDS = 20
"""Rounds of more seeds after which the intervals are given up."""
BLOCK = 1000
"""Numbers of seeds that are tried at once."""


@dataclass(frozen=True, slots=True)
class Share:
    """The share of an outcome at a point: `k` of the `n` seeds whose outcome is known show it."""

    point: int
    k: int
    n: int


def longer(sweep: Sweep, factor: float) -> list[str]:
    """The overrides that make every run of a sweep `factor` times as long.

    Raises:
        SwingbyError: the factor is not above 1, the experiment does not declare what sets a run's length, or points
            differ in it.
    """
    if not factor > 1:
        raise SwingbyError(f"{option('steps', factor)} does not extend a run; allowed: a factor above 1, such as 2")
    overrides = []
    for name in sorted({sweep.experiment.length(point.params) or "" for point in sweep.points}):
        if not name:
            raise SwingbyError(f"experiment {sweep.experiment_name!r} does not say which parameter sets a run's length")
        every = [point.params for point in sweep.points]
        values = sorted({getattr(params, name) for params in every if sweep.experiment.length(params) == name})
        if len(values) > 1:
            shown = ", ".join(map(str, values))
            raise SwingbyError(f"the points of {sweep.name!r} differ in {name} ({shown}): set it in the sweep file")
        overrides.append(f"base.{name}={max(values[0] + 1, round(values[0] * factor))}")
    return overrides


def last_seeds(name: str, data: Path, overrides: Sequence[str]) -> list[str]:
    """The overrides, with the number of seeds of the newest run of the same points, unless they set it themselves.

    Raises:
        SwingbyError: the sweep has not been run here.
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


def with_seeds(overrides: Sequence[str], count: int) -> list[str]:
    """The overrides with this number of seeds and no other."""
    return [*(override for override in overrides if not override.startswith("seeds.count")), f"seeds.count={count}"]


def extend_seeds(
    name: str,
    data: Path,
    outcome: str | None,
    half_width: float,
    most: int,
    overrides: Sequence[str],
    options: RunOptions,
    say: Callable[[str], None],
) -> int:
    """Trains more seeds of every point until no point's share of `outcome` has a wider interval; returns their number.

    Args:
        name: a sweep file, or the name of a packaged sweep.
        outcome: a yes/no outcome; None: that of the sweep's diagram.
        half_width: the largest allowed half of an interval.
        most: the most seeds.
        say: shows a line of text to the user.

    Raises:
        SwingbyError: the sweep was not run here yet, there is no such outcome, the seeds are no run of numbers, it is
            refined, or the half-width takes more than `most` seeds.
    """
    if not 0 < half_width < 0.5:
        raise SwingbyError(
            f"{option('half_width', half_width)} is no bound on half an interval; allowed: above 0, below 0.5"
        )
    sweep = Sweep.load(name, overrides)
    shares = yes_no_outcomes(sweep)
    if not outcome and sweep.diagram is not None and sweep.diagram.outcome in shares:
        outcome = sweep.diagram.outcome
    if not outcome:
        raise SwingbyError(f"name the outcome whose share is wanted: {option('outcome')}; allowed: {', '.join(shares)}")
    if outcome not in shares:
        broken = registry.broken_detectors(sweep.experiment_name).values()
        raise SwingbyError(f"{outcome!r} has no share; {registry.nearest_offered(outcome, shares, broken)}")
    overrides = last_seeds(name, data, overrides)
    sweep = Sweep.load(name, overrides)
    with Store.open(data) as store:
        refined = only_refined(store, sweep.sweep_id)
    if refined is not None:
        raise SwingbyError(
            f"{sweep.name!r} is {refined.spent}; {option('half_width')} is for every point of a whole grid. A run "
            f"with a larger {option('budget')} or a smaller refine.within goes on refining it, and one with "
            f"{option('refine', False)} trains the whole grid"
        )
    seeds = sweep.seeds
    if list(seeds) != list(range(seeds[0], seeds[0] + len(seeds))):
        raise SwingbyError(f"the seeds of {sweep.name!r} are a list; write seeds: {{count: ..., first: ...}} to extend")

    progress, standby = progress_for(), None
    with ExitStack() as stack:

        def train(count: int) -> list[Share]:
            nonlocal standby
            sized = Sweep.load(name, with_seeds(overrides, count))
            if standby is None and not options.local:  # Ray is started once, for all rounds
                standby = stack.enter_context(ray_for([sized], Records.open(data), options, progress.line))
            (result,) = run([sized], data, options, progress=progress, standby=standby)
            progress.line(str(result))
            if result.drained:
                raise SwingbyError("stopped while training; what is trained is kept, and the same command goes on")
            if result.failed or result.missing:
                raise SwingbyError("some cells failed or are missing; their points' intervals say nothing yet")
            return shares_of(data, sized, outcome)

        return narrowed(train, len(seeds), outcome, half_width, most, say)


def narrowed(
    train: Callable[[int], Sequence[Share]],
    count: int,
    outcome: str,
    half_width: float,
    most: int,
    say: Callable[[str], None],
) -> int:
    """The number of seeds of every point at which no point's share has a wider interval than allowed.

    All points get the same seeds, so that the sweep stays a whole grid. The next number is the least that the widest
    interval needs at the share seen so far; it is computed again once those seeds are there.

    Args:
        train: trains every point on this number of seeds, and returns their shares.
        count: the number of seeds of the first round.
        say: takes a line for the user after each round.

    Raises:
        SwingbyError: `most` seeds or `ROUNDS` rounds are not enough.
    """
    for _ in range(ROUNDS):
        shares = train(count)
        low, high = wilson([one.k for one in shares], [one.n for one in shares])
        place = int(np.argmax(high - low))
        widest, half, before = shares[place], float((high - low)[place] / 2), count
        if half > half_width:
            seeds = needed(widest.k / max(widest.n, 1), half_width, widest.n + 1, most)
            # The outcome of some runs may stay unknown: seeds are added in proportion.
            count = max(count + 1, min(most, round(seeds * count / max(widest.n, 1))))
        say(
            f"{before} seeds: the widest interval is +- {half:.3f}, "
            f"at point {widest.point} ({widest.k} of {widest.n} show {outcome})"
        )
        if half <= half_width:
            return count
    raise SwingbyError(f"{ROUNDS} rounds did not reach {option('half_width', half_width)}; results so far are kept")


def needed(share: float, half_width: float, start: int, most: int) -> int:
    """The least number of seeds from `start` on at which such a share has an interval of that half-width.

    Of n seeds, the whole number k nearest to share * n shows the outcome; because of this rounding the half-width does
    not fall steadily with n. Its lower bound does: the half-width at a k that lies half a seed further from n / 2. So
    the least n is not below the first one at which this bound is narrow enough, and the search begins there.

    Raises:
        SwingbyError: the number is more than `most`.
    """
    away = 0.5 if share >= 0.5 else -0.5

    def may_suffice(count: int) -> bool:
        low, high = wilson(np.clip(share * count + away, 0, count), count)
        return bool((high - low) / 2 <= half_width)

    for first in range(start + bisect_left(range(start, most + 1), True, key=may_suffice), most + 1, BLOCK):
        counts = np.arange(first, min(first + BLOCK, most + 1))
        low, high = wilson(np.round(share * counts), counts)
        enough = np.flatnonzero((high - low) / 2 <= half_width)
        if len(enough):
            return int(counts[enough[0]])
    raise SwingbyError(
        f"a half-width of {half_width:g} would take more than {option('most', most)} seeds; results so far are kept"
    )


def yes_no_outcomes(sweep: Sweep) -> list[str]:
    """The outcomes of a sweep that have a share: of its detectors, of its file, and yes/no scalars."""
    kinds, discovers = kinds_of(sweep.experiment, sweep.outcomes), getattr(sweep.experiment, "discovers", False)
    return [*(name for name, kind in kinds.items() if kind == "yes_no"), *(sweep.outcomes if discovers else ())]


def shares_of(data: Path, sweep: Sweep, outcome: str) -> list[Share]:
    """The share of a yes/no outcome at each point of a sweep, by the store.

    Raises:
        SwingbyError: there is no such outcome, or it is none of yes or no.
    """
    from swingby.run.labels import counts, label_query  # it needs scipy, and `last_seeds` does not

    with Store.open(data) as store:
        query = label_query(store, sweep, Labelled(outcome, outcome))
        if query is None:
            raise SwingbyError(f"nothing is known of the outcome {outcome!r} yet")
        return [Share(row.point, row.yes, row.n) for row in counts(store, sweep, query)]
