"""The door to a sweep's records: one process at a time commits a shard or plans, and only the newest run may."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from swingby.data.files import entry
from swingby.data.locks import held
from swingby.data.records import Plan, Records
from swingby.errors import SwingbyError

WAIT = 600.0
"""Seconds to wait at the door: whoever is inside, and frozen, is ended long before by its warden."""


class SupersededError(SwingbyError):
    """A newer run of the same sweep has begun; this one may write nothing more."""


class OvertakenError(SwingbyError):
    """Another process has left rows of these cells: this one, or that, was taken for dead; to be tried again."""


def admit(records: Records, plan: Plan) -> None:
    """Lets in whoever trains by this plan; to write, ask while `committing`.

    Raises:
        SupersededError: the plan is no longer the newest of its sweep, or was closed when results were taken back.
    """
    if records.next_sequence(plan.name, plan.sweep_id) - 1 != plan.sequence:
        raise SupersededError(f"plan {plan.plan_id} is no longer the newest of its sweep: another run has taken over")
    if any(_closes(records.data, name, token(plan)) for name in records.retractions()):
        raise SupersededError(f"plan {plan.plan_id} was closed: results of its sweep were taken back")


def _closes(data: Path, name: str, plan: str) -> bool:
    """Whether a retraction closed a plan; one that is torn closed none, and `doctor` tells of it."""
    with suppress(SwingbyError):
        return plan in _closed(data, name)
    return False


@lru_cache(1024)  # each shard that is written asks, and a file never changes; that one cannot be read is not kept
def _closed(data: Path, name: str) -> tuple[str, ...]:
    return Records(data).read_retraction(name).closed


def token(plan: Plan) -> str:
    """What tells a plan from any of the same name, which a folder that was merged may have."""
    return f"{plan.plan_id} {plan.created}"


def newest(records: Records, sweep_ids: Collection[str]) -> list[Plan]:
    """The newest plan of each of these sweeps, the only one whose workers may still be let in; torn ones are passed
    over."""
    found: dict[str, Plan] = {}
    starts = {sweep_id[:8] for sweep_id in sweep_ids}
    for name in records.plans():
        if starts.isdisjoint(name.split("-")[-2:-1]):
            continue
        with suppress(SwingbyError):
            plan = records.read_plan(name)
            if plan.sweep_id in sweep_ids and plan.sequence >= found.get(plan.sweep_id, plan).sequence:
                found[plan.sweep_id] = plan
    return list(found.values())


@contextmanager
def committing(
    records: Records, sweep_id: str, waiting: Callable[[], object] = lambda: None, wait: float = WAIT
) -> Iterator[None]:
    """Excludes committing a sweep's shards and planning the sweep from each other.

    The workers of a driver that was killed may live on for some seconds. Whatever they finish is either there before
    the next driver looks, or refused because its plan is there; so no cell with a committed result runs again.

    Args:
        waiting: called again and again while somebody else is inside.
        wait: seconds to wait for that.

    Raises:
        SwingbyError: somebody was inside for longer; says who.
    """
    path, what = records.data / "locks" / f"{sweep_id}.commit", f"the door to the records of sweep {sweep_id}"
    with held(path, what, wait=wait, waiting=waiting):
        yield


@contextmanager
def planning(records: Records, experiment: str) -> Iterator[None]:
    """Excludes plans of an experiment from each other: who plans sees what all others have pledged to train."""
    path = entry(records.data / "locks", experiment, ".planning")
    with held(path, f"the planning of sweeps of experiment {experiment!r}", wait=600):
        yield
