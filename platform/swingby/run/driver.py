"""Driving sweeps: plan, train what is missing, fold the results in while it runs, derive the outcomes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.drain import Drain
from swingby.run.outcomes import derive
from swingby.run.plan import Planner
from swingby.run.progress import Progress, progress_for
from swingby.run.ray.machines import Code
from swingby.run.ray.session import Standby
from swingby.run.reservations import Pledges
from swingby.run.resources import check_processes, cores
from swingby.run.rounds import Rounds
from swingby.run.summary import Actual, RunResult
from swingby.store import bring_up
from swingby.sweepfile.sweep import Sweep

__all__ = ["Actual", "RunResult", "run_sweep", "run_sweeps"]


def run_sweep(sweep: Sweep, data: str | Path, **options: Any) -> RunResult:
    """`run_sweeps` of a single one, with its options."""
    return run_sweeps([sweep], data, **options)[0]


def run_sweeps(
    sweeps: Sequence[Sweep],
    data: str | Path,
    *,
    local: bool = False,
    address: str | None = None,
    code: Literal["wheel", "installed"] | None = None,
    retry_failed: bool = False,
    pilot: bool = True,
    workers: int | None = None,
    device: str | None = None,
    processes: int = 1,
    deadline: float | None = None,
    target_seconds: float = 5.0,
    progress: Progress | None = None,
    drain: Drain | None = None,
) -> list[RunResult]:
    """Trains every cell of the sweeps that has no result yet, and brings the store up to date.

    Ray is started once, for all of them; a cell that several share is trained by the first. A cell that another driver
    is about to train for a sweep of its own is left to it, and waited for (see `swingby.run.rounds`).

    Ctrl-C (or SIGTERM, or `drain.ask()`) once lets running batches finish; twice raises KeyboardInterrupt.

    Args:
        sweeps: what to train, in this order.
        data: the data folder; made if missing.
        local: a plain for-loop in this process instead of Ray Tune.
        address: host:port of an existing Ray cluster.
        code: how the cluster's machines come by the code: "wheel", with the run (None: this), or "installed" there.
        retry_failed: also the cells that failed.
        pilot: measure shapes of unknown cost on a few cells first.
        workers: how many one-core batches run at once; None: a core each.
        device: "cpu" or "cuda"; None: as the experiment asks.
        processes: how many of them train each batch, for experiments that spread a run over several.
        deadline: seconds for which a batch may give no sign of life before it is ended and tried again; None: by what
            it should take (see `deal.Dealer.deadline`).
        target_seconds: what a batch should take.
        progress: who is told; None: standard error.

    Raises:
        SwingbyError: a sweep is given twice, or is running already (says by whom), or data folder, disk, processes or
            cluster do not fit.
    """
    began = time.monotonic()
    _distinct(sweeps)
    for sweep in sweeps:
        check_processes(sweep.experiment, processes)
    records, drain = Records.open(data), drain or Drain()
    progress = progress or progress_for()
    with ExitStack() as stack:
        holds = {sweep.sweep_id: stack.enter_context(records.lock(sweep.sweep_id)) for sweep in sweeps}
        stack.enter_context(drain.on_signals())
        if workers is None and (local or address is None):
            workers = 1 if local else cores()
        names = tuple(sorted({sweep.experiment_name for sweep in sweeps}))
        comes = Code(code or "wheel", names, progress.line)
        standby = None if local else stack.enter_context(Standby(workers, records.data, address, comes, progress.line))
        machines = standby.machines() if standby is not None and address else (float(workers or 1),)
        options: dict[str, Any] = {
            "begin": (lambda: None) if standby is None else standby.begin,
            "retry_failed": retry_failed,
            "target_seconds": target_seconds,
            "workers": workers or max(1, int(sum(machines))),
            "device": device,
            "processes": processes,
            "deadline": deadline,
            "apart": not local,
            "machines": machines,
        }
        bring_up(records, progress.line)
        pledges = Pledges(records, holds)
        planners = [Planner(sweep, records, stop=drain, pledges=pledges, **options) for sweep in sweeps]
        rounds = Rounds(planners, records, progress, drain, standby)
        rounds.run(pledges, pilot)
        derive(records, [sweep.sweep_id for sweep in sweeps])
        return rounds.tally.results(drain(), time.monotonic() - began)


def _distinct(sweeps: Sequence[Sweep]) -> None:
    seen: set[str] = set()
    for sweep in sweeps:
        if sweep.sweep_id in seen:
            raise SwingbyError(f"sweep {sweep.name!r} ({sweep.sweep_id}) is given twice; give it once")
        seen.add(sweep.sweep_id)
