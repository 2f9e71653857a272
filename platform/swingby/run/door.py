"""The door to a sweep's records: one process at a time commits a shard or plans, and only the newest run may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from swingby.errors import SwingbyError
from swingby.files import entry
from swingby.locks import held
from swingby.records import Plan, Records

WAIT = 600.0
"""Seconds to wait at the door: whoever is inside, and frozen, is ended long before by its warden."""


class SupersededError(SwingbyError):
    """A newer run of the same sweep has begun; this one may write nothing more."""


class OvertakenError(SwingbyError):
    """Another process has left rows of these cells: this one, or that, was taken for dead; to be tried again."""


def current(records: Records, plan: Plan) -> int:
    """The sequence number of the newest plan of this plan's sweep."""
    return records.next_sequence(plan.name, plan.sweep_id) - 1


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
