"""Extending a sweep that has run: longer runs, or more seeds until the shares of an outcome are known well enough."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.columns import row_schema, scalar_outcomes
from swingby.run.driver import ray_for, run
from swingby.run.options import RunOptions
from swingby.run.outcomes import SHARD
from swingby.run.progress import progress_for
from swingby.sandbox.scalar import kind_of
from swingby.select import Selector, Share
from swingby.select.replicate import Replicate, check_half_width
from swingby.store import Store
from swingby.store.lookup import written_outcomes
from swingby.store.refined import only_refined
from swingby.store.sql import quoted
from swingby.sweepfile.sweep import Sweep


def longer(sweep: Sweep, factor: float) -> list[str]:
    """The overrides that make every run of a sweep `factor` times as long.

    Raises:
        SwingbyError: the factor is not above 1, the experiment does not declare what sets a run's length, or points
            differ in it.
    """
    if not factor > 1:
        raise SwingbyError(f"--steps {factor:g} does not extend a run; allowed: a factor above 1, such as 2")
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
    check_half_width(half_width)
    sweep = Sweep.load(name, overrides)
    shares = yes_no_outcomes(sweep)
    if not outcome and sweep.diagram is not None and sweep.diagram.outcome in shares:
        outcome = sweep.diagram.outcome
    if not outcome:
        raise SwingbyError(f"name the outcome whose share is wanted: --outcome; allowed: {', '.join(shares)}")
    if outcome not in shares:
        broken = registry.broken_detectors(sweep.experiment_name).values()
        raise SwingbyError(f"{outcome!r} has no share; {registry.nearest_offered(outcome, shares, broken)}")
    overrides = last_seeds(name, data, overrides)
    sweep = Sweep.load(name, overrides)
    with Store.open(data) as store:
        refined = only_refined(store, sweep.sweep_id)
    if refined is not None:
        raise SwingbyError(
            f"{sweep.name!r} is {refined.spent}; --half-width is for every point of a whole grid. `swingby run {name}` "
            "with a larger --budget or a smaller refine.within goes on refining it, and with --no-refine it trains the "
            "whole grid"
        )
    seeds = sweep.seeds
    if list(seeds) != list(range(seeds[0], seeds[0] + len(seeds))):
        raise SwingbyError(f"the seeds of {sweep.name!r} are a list; write seeds: {{count: ..., first: ...}} to extend")

    def sized(count: int) -> Sweep:
        return Sweep.load(name, with_seeds(overrides, count))

    selector = Replicate(sized, len(seeds), outcome, half_width, most)
    run_rounds(selector, data, outcome, options, say)
    return selector.count


def run_rounds(
    selector: Selector, data: Path, outcome: str, options: RunOptions, say: Callable[[str], None] = lambda text: None
) -> None:
    """Trains what a selector asks for, and tells it the shares of an outcome, until it asks for nothing more.

    Ray is started once, for all rounds.

    Args:
        say: shows a line of text to the user.

    Raises:
        SwingbyError: as `run` and the selector; or cells failed, or the run was asked to stop.
    """
    progress, standby = progress_for(), None
    with ExitStack() as stack:
        while (sweep := selector.ask()) is not None:
            if standby is None and not options.local:
                standby = stack.enter_context(ray_for([sweep], Records.open(data), options, progress.line))
            (result,) = run([sweep], data, options, progress=progress, standby=standby)
            progress.line(str(result))
            if result.drained:
                raise SwingbyError("stopped while training; what is trained is kept, and the same command goes on")
            if result.failed or result.missing:
                raise SwingbyError("some cells failed or are missing; their points' intervals say nothing yet")
            say(selector.tell(shares_of(data, sweep, outcome)))


def yes_no_outcomes(sweep: Sweep) -> list[str]:
    """The outcomes of a sweep that have a share: of its detectors, of its file, and yes/no scalars."""
    kinds = {each: kind for one in registry.detectors_for(sweep.experiment_name) for each, kind in one.kinds.items()}
    kinds |= scalar_outcomes(sweep.experiment)
    if sweep.outcomes:
        if getattr(sweep.experiment, "discovers", False):
            return [*(each for each, kind in kinds.items() if kind == "yes_no"), *sweep.outcomes]
        schema = row_schema(sweep.experiment)
        kinds |= {each: kind_of(text, schema) for each, text in sweep.outcomes.items()}
    return [each for each, kind in kinds.items() if kind == "yes_no"]


def shares_of(data: Path, sweep: Sweep, outcome: str) -> list[Share]:
    """The share of a yes/no outcome at each point of a sweep, by the store.

    Raises:
        SwingbyError: there is no such outcome, or it is none of yes or no.
    """
    with Store.open(data) as store:
        detectors = [one for one in registry.detectors_for(sweep.experiment_name) if outcome in one.outcomes]
        written = written_outcomes(store, sweep.sweep_id).get(outcome)
        table, shown = None, f"e.{quoted(outcome)}"
        if detectors:
            table, shown = f"outcomes_{detectors[0].name}", f"o.{quoted(outcome)}"
        elif written is not None:
            if written.kind != "yes_no":
                raise SwingbyError(f"outcome {outcome!r} is a {written.kind}, and has no share")
            table, shown = written.table, "o.value"
        elif outcome not in scalar_outcomes(sweep.experiment):
            raise SwingbyError(f"no installed detector has the outcome {outcome!r}, and neither has the sweep file")
        join = f"left join {quoted(table)} o on o.cell_id = e.cell_id and o.{SHARD} = e.shard" if table else ""
        query = f"""
            select m.point, count(*) filter (where {shown}) as k, count({shown}) as n
            from members m
            join {quoted(sweep.experiment_name)} e using (cell_id) {join}
            where m.sweep_id = ? and e.status <> 'failed'
            group by m.point order by m.point"""
        return [Share(row.point, row.k, row.n) for row in store.sql(query, [sweep.sweep_id]).rows()]
