"""The commit lock of a sweep: one process at a time commits shards or plans, and only for the sweep's newest plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from swingby.data.files import entry
from swingby.data.locks import held
from swingby.data.records import Plan, Records
from swingby.errors import SwingbyError

WAIT = 600.0
"""Seconds to wait for a commit lock: the watchdog kills a frozen holder long before."""


class SupersededError(SwingbyError):
    """A newer run of the same sweep has begun; this one may write nothing more."""


class OvertakenError(SwingbyError):
    """Another process committed rows of the same cells, because one of the two was taken for dead."""


def check_current(records: Records, plan: Plan) -> None:
    """Refuses a plan whose workers may not commit any more; a writer calls this while it holds the commit lock.

    The rounds of a refined sweep are plans of one run, of which several are trained at a time.

    Raises:
        SupersededError: a newer run of the sweep has begun, or the plan was closed when results were taken back.
    """
    newest = records.next_sequence(plan.name, plan.sweep_id) - 1
    if newest != plan.sequence and plan.sequence < _first_of_run(records.data, replace(plan, sequence=newest).plan_id):
        raise SupersededError(f"plan {plan.plan_id} is no longer the newest of its sweep: another run has taken over")
    for name in records.retractions():
        closed: tuple[str, ...] = ()
        with suppress(SwingbyError):  # a torn retraction closes no plan, and `doctor` reports it
            closed = _closed_plans(records.data, name)
        if plan_token(plan) in closed:
            raise SupersededError(f"plan {plan.plan_id} was closed: results of its sweep were taken back")


@lru_cache(1024)  # every shard that is written asks, and a plan never changes; a failure to read is not cached
def _first_of_run(data: Path, plan_id: str) -> int:
    """The sequence number of the first plan of the run that a plan is of."""
    return first_of_run(Records(data).read_plan(plan_id))


def first_of_run(plan: Plan) -> int:
    """The sequence number of the first plan of the run that a plan is of: its own, unless it is a later round."""
    since = plan.decision.get("since")
    return since if isinstance(since, int) else plan.sequence


@lru_cache(1024)  # every shard that is written asks, and a retraction never changes; a failure to read is not cached
def _closed_plans(data: Path, name: str) -> tuple[str, ...]:
    return Records(data).read_retraction(name).closed


def plan_token(plan: Plan) -> str:
    """The identity of a plan among plans of the same name, which a merged folder may hold."""
    return f"{plan.plan_id} {plan.created}"


def newest_plans(records: Records, sweep_ids: Collection[str]) -> list[Plan]:
    """The plans of the newest run of each of these sweeps: the only ones whose workers may still commit."""
    plans_of: dict[str, list[Plan]] = {}
    starts = {sweep_id[:8] for sweep_id in sweep_ids}
    for name in records.plans():
        if starts.isdisjoint(name.split("-")[-2:-1]):
            continue
        with suppress(SwingbyError):
            plan = records.read_plan(name)
            if plan.sweep_id in sweep_ids:
                plans_of.setdefault(plan.sweep_id, []).append(plan)
    firsts = {of: first_of_run(max(plans, key=lambda one: one.sequence)) for of, plans in plans_of.items()}
    return [plan for of, plans in plans_of.items() for plan in plans if plan.sequence >= firsts[of]]


@contextmanager
def commit_lock(
    records: Records, sweep_id: str, waiting: Callable[[], object] = lambda: None, wait: float = WAIT
) -> Iterator[None]:
    """Holds the commit lock of a sweep, which excludes committing its shards and planning it from each other.

    The workers of a driver that was killed may live on for some seconds. A shard of theirs is either committed before
    the next driver reads the store, or refused because of its plan; so no cell with a committed result runs again.

    Args:
        waiting: called repeatedly while another process holds the lock.
        wait: the most seconds to wait.

    Raises:
        SwingbyError: another process held the lock for longer; names it.
    """
    path, what = records.data / "locks" / f"{sweep_id}.commit", f"the commit lock of sweep {sweep_id}"
    with held(path, what, wait=wait, waiting=waiting):
        yield


@contextmanager
def planning_lock(records: Records, experiment: str) -> Iterator[None]:
    """Holds the planning lock of an experiment, so that a planner sees every reservation of the others."""
    path = entry(records.data / "locks", experiment, ".planning")
    with held(path, f"the planning of sweeps of experiment {experiment!r}", wait=600):
        yield
