"""The plain for-loop: the same run without a scheduler, against which the scheduler is tested."""

from __future__ import annotations

from swingby.records import Records
from swingby.run.batch import run_batch
from swingby.run.drain import Drain
from swingby.run.plan import Planned
from swingby.run.progress import Progress


def run_local(planned: Planned, records: Records, progress: Progress, drain: Drain | None = None) -> dict[int, str]:
    """Runs every batch of the plan in this process, one after another, in the plan's order.

    Returns:
        Batches that were given up, with the reason: none here, since whatever a cell raises stays with the cell.

    Raises:
        SwingbyError: as `run_batch`; batches that are done stay done.
    """
    drain = drain or Drain()
    for note in planned.batches:
        if drain():
            break
        progress.batch_done(run_batch(records.data, planned.plan.plan_id, note.batch, planned.device(note), drain))
    return {}
