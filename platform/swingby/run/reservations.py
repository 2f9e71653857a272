"""Reservations: the cells that each driver on a data folder is about to train, so that no two train the same cell."""

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
class Reservation:
    """The cells of another driver's plan, whether trained yet or not.

    Attributes:
        owner: the sweep, and the process that trains it, as text.
        experiment: the experiment of the plan.
        ids: the cells' ids.
        tokens: what the plan records of each cell.
    """

    owner: str
    experiment: str
    ids: pa.Array
    tokens: frozenset[str]


class Reservations:
    """The reservations of this driver and of all others on a data folder.

    A reservation is the name of a plan in the lock file of its sweep. It ends with the lock when its driver ends or
    dies, and a stale one is gone as soon as another driver takes the lock. A driver reserves a plan right after writing
    it, while it holds the planning lock, and releases everything once it has trained what it can.

    Args:
        holds: the sweep locks of this driver, by sweep id.
    """

    def __init__(self, records: Records, holds: Mapping[str, Hold] | None = None) -> None:
        self._records, self._holds = records, dict(holds or {})
        self._plans: dict[str, tuple[Plan, pa.Array]] = {}

    def reserve(self, plan: Plan) -> None:
        """Reserves the batches of a plan for this driver, in place of an earlier plan of the same sweep.

        Raises:
            SwingbyError: the disk refuses.
        """
        if plan.sweep_id in self._holds:
            self._holds[plan.sweep_id].say(plan=plan.plan_id)

    def release(self) -> None:
        """Ends every reservation of this driver.

        Raises:
            SwingbyError: the disk refuses.
        """
        for hold in self._holds.values():
            hold.say()

    def others(self, experiment: str) -> list[Reservation]:
        """What other drivers have reserved of an experiment.

        To be read before the results are: a driver that reserves nothing any more has committed all of its rows.
        """
        found = map(self._reservation, sorted((self._records.data / "locks").glob("*.lock")))
        return [one for one in found if one is not None and one.experiment == experiment]

    def _reservation(self, lock: Path) -> Reservation | None:
        """The reservation in a sweep's lock file; None if there is none, or if the lock is this driver's."""
        try:
            content = None if lock.stem in self._holds else holding(lock)
            if content is None or not isinstance(content.get("plan"), str):
                return None
            plan, ids = self._reserved_cells(content["plan"])
        except (SwingbyError, OSError):  # a lock or plan that cannot be read reserves nothing
            return None
        owner = f"sweep {plan.name}: {in_words(content)}"
        return Reservation(owner, plan.experiment, ids, frozenset(plan.recording.tokens))

    def _reserved_cells(self, plan_id: str) -> tuple[Plan, pa.Array]:
        """A plan, and the ids of the cells in its batches; kept, since plans never change."""
        if plan_id not in self._plans:
            plan = self._records.read_plan(plan_id)
            assert plan.path is not None
            _, rows = read_parquet(plan.path, "plan", columns=["cell_id"], filters=[("batch", ">=", 0)])
            self._plans[plan_id] = plan, rows["cell_id"].combine_chunks()
        return self._plans[plan_id]
