"""Quarantine: what dies is tried again, then narrowed down to the cells at fault, which fail with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from swingby.data.records import Plan, Records
from swingby.errors import SwingbyError
from swingby.run.progress import Progress
from swingby.run.scheduler import Dealer, Trial
from swingby.run.worker.batch import fail_cell
from swingby.store import Store

HOPELESS = 50
"""Deaths one after another, with nothing that came back between: then no cell is at fault, but the machine. Once a
trial of the run came back, only deaths of whole trials count: parts of one at fault may well die by the hundred."""


class Quarantine:
    """What a run does about processes that die.

    Attributes:
        given_up: the cells that failed for it (by plan and id), with the reason.
    """

    def __init__(self, dealer: Dealer, records: Records, progress: Progress) -> None:
        self._dealer, self._records, self._progress = dealer, records, progress
        self.given_up: dict[tuple[str, str], str] = {}
        self._deaths, self._lived = 0, False
        self._suspects: list[tuple[Trial, str]] = []

    def lives(self) -> None:
        """A trial came back: the machine trains, so cells that died are at fault themselves."""
        self._deaths, self._lived = 0, True
        self.end()

    def end(self) -> None:
        """The run is over, or the machine is known to train: cells given up get their rows."""
        suspects, self._suspects = self._suspects, []
        for trial, reason in suspects:
            self._give_up(trial, reason)

    def died(self, trial: Trial, reason: str) -> None:
        """The process of a trial died: its cells are dealt again, or the last one of them fails; where nothing has come
        back yet, it does once something has, or at the end.

        Raises:
            SwingbyError: too many died one after another, or the row of a cell that failed cannot be written.
        """
        self._deaths += trial.part is None or not self._lived
        if self._deaths > HOPELESS:
            raise SwingbyError(
                f"{self._deaths} processes died one after another and none came back, the last one so: {reason}; no "
                "cell can be at fault for that. What is done stays done, and the same command goes on"
            )
        again = self._dealer.died(trial, reason)
        if len(again) == 1:
            self._progress.line(f"{trial} tried again: {reason}")
        elif again:
            self._progress.line(f"{trial} trained in halves, to find what it is that its process dies of: {reason}")
        else:
            self._suspects.append((trial, told((*trial.deaths, reason))))
            if self._lived:
                self.end()

    def _give_up(self, trial: Trial, reason: str) -> None:
        """The one cell of a trial gets its row."""
        plan = trial.planned.plan
        which = (trial.low, trial.low + 1)
        given = self._records.data, plan.plan_id, trial.batches, which, trial.attempt + 1, reason
        cell_id, done = fail_cell(*given, steps=lambda cell: self._last_step(plan, cell))
        if done.failed:
            self.given_up[plan.plan_id, cell_id] = reason
            self._progress.line(f"cell {cell_id[:12]} failed: {reason}")
        self._progress.batch_done(replace(done, plan_id=plan.plan_id))

    def _last_step(self, plan: Plan, cell_id: str) -> int:
        """The last step that a run of the sweep before this one left of a cell that it did not finish; -1: none."""
        with Store.open(self._records.data) as store:
            if plan.experiment not in store.tables():
                return -1
            query = f"""select e.steps from "{plan.experiment}" e join shards s using (shard)
                        where e.cell_id = ? and e.status = 'running' and s.sweep_id = ?"""
            return max([row.steps for row in store.sql(query, [cell_id, plan.sweep_id]).rows()], default=-1)


def told(reasons: Sequence[str]) -> str:
    """Why a cell failed, by what its processes died of."""
    count = Counter(reasons)
    if len(count) == 1:
        return f"its process died {len(reasons)} times: {reasons[-1]}"
    each = "; ".join(f"{reason} ({times} of them)" if times > 1 else reason for reason, times in count.items())
    return f"its process died {len(reasons)} times: {each}"
