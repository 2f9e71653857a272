"""The plain for-loop: the same run without a scheduler, against which the scheduler is tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swingby.records import Records
from swingby.run.batch import run_batch
from swingby.run.deal import Dealer
from swingby.run.drain import Drain
from swingby.run.plan import Planned
from swingby.run.progress import Progress


def run_local(
    planned: Sequence[Planned], records: Records, progress: Progress, drain: Drain | None = None
) -> dict[tuple[str, int], str]:
    """Runs every batch of the plans in this process, one after another, in the plans' order.

    Returns:
        Batches (by plan and number) that were given up, with the reason: none here, since whatever a cell raises stays
        with the cell.

    Raises:
        SwingbyError: as `run_batch`; batches that are done stay done.
    """
    drain, dealer = drain or Drain(), Dealer(planned, 1)
    while not drain() and (trial := dealer.next()) is not None:
        plan_id = trial.planned.plan.plan_id
        done = run_batch(records.data, plan_id, trial.batches, trial.device, drain)
        if done.cells == trial.cells:
            dealer.took(trial, done.seconds)
        progress.batch_done(replace(done, plan_id=plan_id))
    return {}
