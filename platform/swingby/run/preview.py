"""What a run would do now: its plan, of which nothing is written."""

from __future__ import annotations

from swingby.data.records import Records
from swingby.run.drain import Drain
from swingby.run.forecast import Planned
from swingby.run.options import RunOptions
from swingby.run.pending import Reservations
from swingby.run.plan import Planner
from swingby.run.progress import Progress
from swingby.run.resources import cores
from swingby.sweepfile.sweep import Sweep


def plan(
    sweep: Sweep, records: Records, options: RunOptions | None = None, progress: Progress | None = None
) -> Planned:
    """What a run would do now. Nothing is written but the results of pilot cells, under a plan of their own.

    Of a refined sweep it is the next round: later ones depend on results.

    Ctrl-C ends the training of pilots, and what is known by then is planned with.

    Args:
        progress: shows the training of pilots.

    Raises:
        SwingbyError: the data folder is unfit, the experiment cannot make use of several processes, or pilot cells are
            needed while another process runs the sweep; names it.
    """
    options, drain = options or RunOptions(), Drain()
    planner = Planner(sweep, records, options, workers=options.workers or cores(), stop=drain)
    if options.refine:
        from swingby.run.refine import Rounds  # it needs scipy, and most runs refine nothing

        Rounds(sweep, planner, records, Progress(), drain, waits=True).begin(preview=True)
    planned = planner.preview()
    if not (options.pilot and planner.unmeasured()) or (planned.older and options.older is None):
        return planned
    with records.lock(sweep.sweep_id) as hold, drain.on_signals():
        planner.reservations = Reservations(records, {sweep.sweep_id: hold})
        planner.measure(progress)
    return planner.preview()
