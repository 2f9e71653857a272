"""Pledges: which cells the drivers at work on a data folder are about to train, so that no two train the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from swingby.data.locks import Hold, holding, in_words
from swingby.data.parquet import read_parquet
from swingby.data.records import Plan, Records
from swingby.errors import SwingbyError


@dataclass(frozen=True, slots=True, eq=False)
class Pledge:
    """The cells of another driver's plan, trained or not yet.

    Attributes:
        who: which sweep they are trained for, and by whom, in words.
        experiment: its name.
        ids: of the cells.
        tokens: of what is recorded of them.
    """

    who: str
    experiment: str
    ids: pa.Array
    tokens: frozenset[str]


class Pledges:
    """What this driver pledges, and what others do.

    A pledge is the name of a plan in the lock file of its sweep: it goes with the lock when its driver ends or dies,
    and one that stands there from a run before is gone as soon as another takes the lock. A driver pledges a plan when
    it has written it, with `door.planning` held, and nothing from the moment at which it has trained what it can.

    Args:
        holds: the locks that this driver has, by sweep id.
    """

    def __init__(self, records: Records, holds: Mapping[str, Hold] | None = None) -> None:
        self._records, self._holds = records, dict(holds or {})
        self._known: dict[str, tuple[Plan, pa.Array]] = {}

    def make(self, plan: Plan) -> None:
        """This driver is about to train the batches of a plan; an earlier one of its sweep is pledged no more.

        Raises:
            SwingbyError: the disk refuses.
        """
        if plan.sweep_id in self._holds:
            self._holds[plan.sweep_id].say(plan=plan.plan_id)

    def drop(self) -> None:
        """This driver is about to train nothing.

        Raises:
            SwingbyError: the disk refuses.
        """
        for hold in self._holds.values():
            hold.say()

    def others(self, experiment: str) -> list[Pledge]:
        """What other drivers are about to train of an experiment.

        Look here before you look for results: whoever pledges no more has left all of its rows.
        """
        told = {path.stem: self._told(path) for path in sorted((self._records.data / "locks").glob("*.lock"))}
        return [pledge for pledge in told.values() if pledge is not None and pledge.experiment == experiment]

    def _told(self, lock: Path) -> Pledge | None:
        """What the holder of a sweep's lock pledges; None: there is none, or nothing, or it is this driver."""
        try:
            said = None if lock.stem in self._holds else holding(lock)
            if said is None or not isinstance(said.get("plan"), str):
                return None
            plan, ids = self._plan(said["plan"])
        except (SwingbyError, OSError):  # whoever may not read what it says, or cannot, leaves nothing to it
            return None
        return Pledge(f"sweep {plan.name}: {in_words(said)}", plan.experiment, ids, frozenset(plan.recording.tokens))

    def _plan(self, plan_id: str) -> tuple[Plan, pa.Array]:
        """A plan, and the cells of its batches; plans never change."""
        if plan_id not in self._known:
            plan = self._records.read_plan(plan_id)
            assert plan.path is not None
            _, rows = read_parquet(plan.path, "plan", columns=["cell_id"], filters=[("batch", ">=", 0)])
            self._known[plan_id] = plan, rows["cell_id"].combine_chunks()
        return self._known[plan_id]
