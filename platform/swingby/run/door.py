"""The door to a sweep's records: one process at a time commits a shard or plans, and only the newest run may."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from swingby.errors import SwingbyError
from swingby.files import held
from swingby.records import Plan, Records


class SupersededError(SwingbyError):
    """A newer run of the same sweep has begun; this one may write nothing more."""


class OvertakenError(SwingbyError):
    """Another process has left rows of these cells: this one, or that, was taken for dead; to be tried again."""


def current(records: Records, plan: Plan) -> int:
    """The sequence number of the newest plan of this plan's sweep."""
    return records.next_sequence(plan.name, plan.sweep_id) - 1


@contextmanager
def committing(records: Records, sweep_id: str) -> Iterator[None]:
    """Excludes committing a sweep's shards and planning the sweep from each other.

    The workers of a driver that was killed may live on for some seconds. Whatever they finish is either there before
    the next driver looks, or refused because its plan is there; so no cell with a committed result runs again.
    """
    with held(records.data / "locks" / f"{sweep_id}.commit", f"the door to the records of sweep {sweep_id}", wait=600):
        yield
