"""Retries: a trial whose process died is tried again, then halved down to the cells at fault, which fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from swingby.data.records import Plan, Records
from swingby.errors import SwingbyError
from swingby.model.process_group import LostWorkerError
from swingby.run.commit_lock import OvertakenError
from swingby.run.processes.watchdog import DeadlineError
from swingby.run.progress import Progress
from swingby.run.scheduler import Scheduler, Trial
from swingby.run.worker.batch import Assignment, BatchDone, fail_cell
from swingby.store import Store
from swingby.store.sql import quoted

HOPELESS = 50
"""Deaths in a row, without a trial that came back, after which the machine is at fault and not a cell. Once a trial of
the run has come back, only deaths of whole trials count: the halves of one at fault may well die by the hundred."""


class Retries:
    """What a run does about processes that die.

    Attributes:
        given_up: the cells that failed because their process died (by plan and id), with the reason.
    """

    def __init__(self, scheduler: Scheduler, records: Records, progress: Progress) -> None:
        self._scheduler, self._records, self._progress = scheduler, records, progress
        self.given_up: dict[tuple[str, str], str] = {}
        self._deaths, self._machine_works = 0, False
        self._suspects: list[tuple[Trial, str]] = []

    def settle(self, trial: Trial, result: Callable[[], BatchDone]) -> None:
        """Counts what a trial gives, or has it tried again where its process died.

        Raises:
            SwingbyError: as `result`, or as `died`.
        """
        try:
            done = result()
        except (LostWorkerError, OvertakenError, DeadlineError) as error:
            self.died(trial, str(error))
        else:
            self.came_back(trial, replace(done, plan_id=trial.planned.plan.plan_id))

    def came_back(self, trial: Trial | None, done: BatchDone) -> None:
        """Counts a trial that came back: the machine works, so cells whose processes died are at fault themselves.

        Args:
            trial: None: it is not known any more.

        Raises:
            SwingbyError: the row of a cell that failed cannot be written.
        """
        if trial is not None and done.cells == trial.cells:
            self._scheduler.record_time(trial, done.seconds)
        self._progress.batch_done(done)
        self._deaths, self._machine_works = 0, True
        self.fail_suspects()

    def fail_suspects(self) -> None:
        """Writes the final row of each cell given up: once a trial came back, or at the end of the run."""
        suspects, self._suspects = self._suspects, []
        for trial, reason in suspects:
            plan, one_cell = trial.planned.plan, (trial.low, trial.low + 1)
            assignment = Assignment(self._records.data, plan.plan_id, trial.batches, one_cell, trial.attempt + 1)
            cell_id, done = fail_cell(assignment, reason, partial(self._last_step, plan))
            if done.failed:
                self.given_up[plan.plan_id, cell_id] = reason
                self._progress.line(f"cell {cell_id[:12]} failed: {reason}")
            self._progress.batch_done(replace(done, plan_id=plan.plan_id))

    def died(self, trial: Trial, reason: str) -> None:
        """Schedules the cells of a trial whose process died once more, or gives up the last one of them.

        Raises:
            SwingbyError: too many died one after another, or the row of a cell that failed cannot be written.
        """
        self._deaths += trial.part is None or not self._machine_works
        if self._deaths > HOPELESS:
            raise SwingbyError(
                f"{self._deaths} processes died one after another and none came back, the last one so: {reason}; no "
                "cell can be at fault for that. What is done stays done, and the same command goes on"
            )
        again = self._scheduler.retry(trial, reason)
        if len(again) == 1:
            self._progress.line(f"{trial} tried again: {reason}")
        elif again:
            self._progress.line(f"{trial} trained in halves, to find the cells that its process dies of: {reason}")
        else:
            self._suspects.append((trial, death_message((*trial.deaths, reason))))
            if self._machine_works:
                self.fail_suspects()

    def lacked_memory(self, trial: Trial, reason: str, at_last: bool) -> None:
        """Schedules a trial once more that found no memory on a GPU that others share, which is no fault of a cell.

        Args:
            at_last: after all others, with a GPU of its own.
        """
        self._scheduler.again(trial, at_last)
        how = "at last, on a GPU of its own" if at_last else "with fewer runs beside it"
        self._progress.line(f"{trial} tried again {how}: {reason}")

    def _last_step(self, plan: Plan, cell_id: str) -> int:
        """The last step of an unfinished cell that an earlier run of the sweep committed; -1: none."""
        with Store.open(self._records.data) as store:
            if plan.experiment not in store.names():
                return -1
            query = f"""select e.steps from {quoted(plan.experiment)} e join shards s using (shard)
                        where e.cell_id = ? and e.status = 'running' and s.sweep_id = ?"""
            return max([row.steps for row in store.sql(query, [cell_id, plan.sweep_id]).rows()], default=-1)


def death_message(reasons: Sequence[str]) -> str:
    """The message of a failed cell, from the causes of death of its processes."""
    count = Counter(reasons)
    if len(count) == 1:
        return f"its process died {len(reasons)} times: {reasons[-1]}"
    each = "; ".join(f"{reason} ({times} of them)" if times > 1 else reason for reason, times in count.items())
    return f"its process died {len(reasons)} times: {each}"
