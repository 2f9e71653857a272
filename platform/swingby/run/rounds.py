"""Rounds of planning and training, with waits between them for cells that other drivers train."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.drain import Drain
from swingby.run.ingest_thread import Folding
from swingby.run.local import run_local
from swingby.run.pending import Elsewhere
from swingby.run.plan import Planner
from swingby.run.planned import Planned, summary
from swingby.run.progress import Progress
from swingby.run.ray.session import Standby
from swingby.run.ray.trials import run_tune
from swingby.run.reservations import Pledges
from swingby.run.summary import Tally
from swingby.store import ingest
from swingby.store.status import in_progress
from swingby.units import counted

LOOK_SECONDS = 2.0
"""How often a driver that waits looks whether others have trained what it waits for."""
COST = 10.0
"""The same, in the time that the last look took."""


class Rounds:
    """Everything that some sweeps lack is trained, once, by this driver or by others.

    A cell that another driver has pledged to train is left to it, and waited for: until it has a final row, or nobody
    pledges it any more. Then what is missing is planned again. A driver pledges nothing while it waits, so nobody ever
    waits for one who waits; and whatever it had in one of its plans it does not plan again, so there is an end even
    where a cell never gets its row.

    Attributes:
        tally: what was trained of each sweep.

    Args:
        standby: Ray; None: a plain loop trains.
    """

    def __init__(
        self,
        planners: Sequence[Planner],
        records: Records,
        progress: Progress,
        drain: Drain,
        standby: Standby | None,
    ) -> None:
        self._planners, self._records, self._progress = list(planners), records, progress
        self._drain, self._standby = drain, standby
        self._taken: list[tuple[Planner, Elsewhere]] = []
        self._told = ""
        self.tally = Tally(records)

    def run(self, pledges: Pledges, pilot: bool) -> None:
        """Trains, waits, and trains what others have left, until nothing is left to wait for or the run drains.

        Args:
            pledges: of this driver, and of others.
            pilot: measure shapes of unknown cost on a few cells first.

        Raises:
            SwingbyError: as `run_sweeps`.
        """
        planners = self._planners
        while planners:
            every = [self._plan(planner, pilot) for planner in planners]
            self.tally.planned(every)
            missing = _beside([planned for planned in every if planned.missing])
            if missing and not self._drain():
                given_up = self._train(missing)
                self.tally.trained(self._progress, given_up)
            if missing:
                ingest(self._records)
            pledges.drop()
            planners = [planner for planner in planners if len(planner.lacking.left)]
            planners = self._wait(planners, pledges) if planners and not self._drain() else []

    def _plan(self, planner: Planner, pilot: bool) -> Planned:
        """The written plan of one, without what those before it train; pilot cells first, if their cost is unknown."""
        planner.elsewhere = [cells for owner, cells in self._taken if owner is not planner]
        if pilot:
            planner.measure(self._progress.line)
        planned = planner.commit()
        if planned.missing:
            planner.prepare(self._progress.line)
        for line in summary(planned).splitlines():
            self._progress.line(line)
        ids = planner.lacking.ids.take(pa.array(planner.lacking.todo))
        self._taken.append((planner, (ids, frozenset(planner.sweep.recording.tokens))))
        planner.lacking.take()
        return planned

    def _train(self, planned: Sequence[Planned]) -> dict[tuple[str, str], str]:
        """Runs the batches (without Ray: in a plain loop) while their shards are folded into the store; cells given
        up."""
        sweeps = [(one.plan.experiment, one.plan.sweep_id) for one in planned]
        records, progress, drain = self._records, self._progress, self._drain

        def shares() -> list[float]:
            return [one.share for one in in_progress(records, sweeps)]

        progress.planned(*planned, begun=shares())
        try:
            with Folding(planned, records, progress, drain, lambda: progress.begun(shares())):
                if self._standby is None:
                    return run_local(planned, records, progress, drain)
                return run_tune(planned, records, progress, drain, self._standby)
        finally:
            progress.close()

    def _wait(self, planners: Sequence[Planner], pledges: Pledges) -> list[Planner]:
        """Waits until all cells that were left to others have a final row, or some are nobody's; or the run drains.

        Only reads the store: whoever trains folds.

        Returns:
            Those that are to be planned again.
        """
        every = sum(len(planner.lacking.left) for planner in planners)
        self._progress.line(f"waiting for {counted(every, 'cell')} that others train; Ctrl-C ends the wait")
        pause = LOOK_SECONDS
        with self.tally.apart(), self._progress.waiting(every) as tell:
            while not self._drain.within(pause):
                began = time.monotonic()
                free = self._look(planners, pledges)
                tell(left := sum(len(planner.lacking.left) for planner in planners))
                if free:
                    self._progress.line("nobody trains some of them any more: what is missing is planned again")
                if free or not left:
                    return [planner for planner in planners if len(planner.lacking.left)]
                pause = max(LOOK_SECONDS, COST * (time.monotonic() - began))
        self._progress.line("stopping: the cells that others train are left to them")
        return []

    def _look(self, planners: Sequence[Planner], pledges: Pledges) -> bool:
        """Sees which cells are still to come, and whether nobody trains some of them any more."""
        try:
            free = [planner.lacking.wait(pledges.others(planner.sweep.experiment_name)) for planner in planners]
        except SwingbyError as error:  # of a store that somebody writes: there will be another look
            if str(error) != self._told:
                self._progress.line(f"the wait goes on: {error}")
            self._told, free = str(error), []
        return any(free)


def _beside(every: Sequence[Planned]) -> list[Planned]:
    """The plans, each told how many batches the others have: all of them share the machines."""
    total = sum(len(planned.batches) for planned in every)
    return [replace(planned, beside=total - len(planned.batches)) for planned in every]
