"""The plain for-loop: the same run without a scheduler, against which the scheduler is tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swingby.records import Records
from swingby.run.batch import run_batch
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
    drain = drain or Drain()
    for one, note in ((item, note) for item in planned for note in item.batches):
        if drain():
            break
        plan_id = one.plan.plan_id
        done = run_batch(records.data, plan_id, note.batch, one.device(note), drain)
        progress.batch_done(replace(done, plan_id=plan_id))
    return {}
