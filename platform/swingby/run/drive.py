"""Driving sweeps: plan, train what is missing, fold the results in while it runs, derive the outcomes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.records import Records
from swingby.run import tune
from swingby.run.abroad import Abroad
from swingby.run.begun import begun_of
from swingby.run.derive import derive
from swingby.run.drain import Drain
from swingby.run.forecast import Forecast
from swingby.run.live import Live
from swingby.run.local import run_local
from swingby.run.lookup import failure_lines, failures, standing
from swingby.run.machines import Code
from swingby.run.plan import Planned, Planner, cores, refused, summary
from swingby.run.progress import Progress, counted, duration, progress_for, size
from swingby.run.room import check_processes
from swingby.store import Ingest, Store, bring_up, ingest
from swingby.sweep import Sweep

FOLD_SECONDS = 2.0
"""How often a running driver looks for new shards; publications are limited further by what they cost."""


@dataclass(frozen=True, slots=True)
class Actual:
    """What a run took: core seconds, wall seconds from the first batch to the last, bytes the data folder grew by."""

    core_seconds: float
    wall_seconds: float
    disk_bytes: float


@dataclass(frozen=True)
class RunResult:
    """How a sweep stands after a run. Counts are over all of its cells, whoever trained them.

    Attributes:
        ok, diverged: cells with a result; failed: cells that raised; missing: cells without any final row.
        trained: cells that this run trained.
        given_up: cells of this run that failed because their process died again and again, with the reason.
        failures: of the cells that failed, the first few, with the first line of what is told of each.
        bad: shards of this run that the store refused, with the reason.
        drained: whether the run was asked to stop.
        seconds: wall time of everything.
        forecast: of what this run trained; None if that was not all it meant to, or if nothing was measured.
        actual: of what this run trained; None if it trained nothing.
    """

    name: str
    sweep_id: str
    cells: int
    ok: int
    diverged: int
    failed: int
    missing: int
    trained: int
    given_up: dict[str, str]
    failures: tuple[tuple[str, str], ...]
    bad: tuple[str, ...]
    drained: bool
    seconds: float
    forecast: Forecast | None
    actual: Actual | None

    def __str__(self) -> str:
        counts = {"ok": self.ok, "diverged": self.diverged, "FAILED": self.failed, "MISSING": self.missing}
        told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "none"
        lines = [f"{self.name} ({self.sweep_id}): {counted(self.cells, 'cell')}: {told}; {duration(self.seconds)}"]
        lines += failure_lines(self.failures, self.failed)
        lines += [f"  the store refused {reason}" for reason in self.bad]
        if self.actual is not None:
            if self.forecast is not None:
                lines.append(f"  forecast: {_costs(self.forecast)}")
            lines.append(f"  actual:   {_costs(self.actual)}")
        if self.drained and self.missing:
            lines.append("  stopped before its end; the same command goes on where it stopped")
        return "\n".join(lines)


def _costs(costs: Forecast | Actual) -> str:
    hours, wall = costs.core_seconds / 3600, duration(costs.wall_seconds)
    # The folder may shrink meanwhile: what earlier runs published goes when it is superseded.
    disk = f", {size(costs.disk_bytes)} on disk" if costs.disk_bytes > 0 else ""
    return f"{hours:.3g} core-hours, {wall} of training{disk}"


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

    Ray is started once, for all of them; a cell that several share is trained by the first.

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
        for sweep in sweeps:
            stack.enter_context(records.lock(sweep.sweep_id))
        stack.enter_context(drain.on_signals())
        if workers is None and (local or address is None):
            workers = 1 if local else cores()
        names = tuple(sorted({sweep.experiment_name for sweep in sweeps}))
        comes = Code(code or "wheel", names, progress.line)
        standby = None if local else stack.enter_context(tune.Standby(workers, records.data, address, comes))
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
        every = _plans([Planner(sweep, records, stop=drain, **options) for sweep in sweeps], pilot, progress)
        before = _disk(records.data)
        missing = _beside([planned for planned in every if planned.missing])
        given_up = _train(missing, records, progress, drain, standby) if missing and not drain() else {}
        if missing:
            ingest(records)
        derive(records, [sweep.sweep_id for sweep in sweeps])
        took = Actual(progress.core_seconds, progress.wall_seconds, _disk(records.data) - before)
        alone = took if len(every) == 1 and progress.done else None
        return [
            _result(planned, records, progress, given_up, drain(), time.monotonic() - began, alone) for planned in every
        ]


def _distinct(sweeps: Sequence[Sweep]) -> None:
    seen: set[str] = set()
    for sweep in sweeps:
        if sweep.sweep_id in seen:
            raise SwingbyError(f"sweep {sweep.name!r} ({sweep.sweep_id}) is given twice; give it once")
        seen.add(sweep.sweep_id)


def _plans(planners: Sequence[Planner], pilot: bool, progress: Progress) -> list[Planned]:
    """The written plans, each without the cells that those before it train."""
    found: list[Planned] = []
    taken: list[tuple[pa.Array, frozenset[str]]] = []
    for planner in planners:
        planner.elsewhere = taken
        found.append(_plan(planner, pilot, progress))
        ids = planner.ids.take(pa.array(planner.todo))
        taken.append((ids, frozenset(planner.sweep.recording.tokens)))
    return found


def _beside(every: Sequence[Planned]) -> list[Planned]:
    """The plans, each told how many batches the others have: all of them share the machines."""
    total = sum(len(planned.batches) for planned in every)
    return [replace(planned, beside=total - len(planned.batches)) for planned in every]


def _result(
    planned: Planned,
    records: Records,
    progress: Progress,
    given_up: Mapping[tuple[str, str], str],
    drained: bool,
    seconds: float,
    alone: Actual | None,
) -> RunResult:
    """How one of the sweeps stands; `alone` is what the run took, if it was the only one."""
    sweep, plan_id = planned.sweep, planned.plan.plan_id
    done = progress.done_of.get(plan_id, 0)
    with Store.open(records.data) as store:
        counts = standing(store, sweep.experiment_name, sweep.sweep_id)
        found = failures(store, sweep.experiment_name, sweep.sweep_id) if counts["failed"] else ()
    return RunResult(
        name=sweep.name,
        sweep_id=sweep.sweep_id,
        cells=len(sweep),
        ok=counts["ok"],
        diverged=counts["diverged"],
        failed=counts["failed"],
        missing=len(sweep) - sum(counts.values()),
        trained=planned.piloted + done,
        given_up={cell: reason for (plan, cell), reason in given_up.items() if plan == plan_id},
        failures=found,
        bad=tuple(refused(records, f"{plan_id}/")),
        drained=drained,
        seconds=seconds,
        forecast=planned.forecast if alone is not None and done == planned.missing else None,
        actual=alone,
    )


def _plan(planner: Planner, pilot: bool, progress: Progress) -> Planned:
    """The written plan of one; pilot cells first, if the cost of what is missing is unknown."""
    if pilot:
        planner.measure(progress.line)
    planned = planner.commit()
    if planned.missing:
        planner.prepare(progress.line)
    for line in summary(planned).splitlines():
        progress.line(line)
    return planned


def _train(
    planned: Sequence[Planned],
    records: Records,
    progress: Progress,
    drain: Drain,
    standby: tune.Standby | None,
) -> dict[tuple[str, str], str]:
    """Runs the batches (without Ray: in a plain loop) while their shards are folded into the store; cells given up."""
    sweeps = [(one.plan.experiment, one.plan.sweep_id) for one in planned]

    def shares() -> list[float]:
        return [one.share for one in begun_of(records, sweeps)]

    progress.planned(*planned, begun=shares())
    try:
        ids = [sweep_id for _, sweep_id in sweeps]
        away = Abroad(records, [one.plan.plan_id for one in planned])
        with _folding(records, ids, drain, progress, lambda: progress.begun(shares()), away):
            if standby is None:
                return run_local(planned, records, progress, drain)
            return tune.run_tune(planned, records, progress, drain, standby)
    finally:
        progress.close()


@contextmanager
def _folding(
    records: Records,
    sweep_ids: Sequence[str],
    drain: Drain,
    progress: Progress,
    look: Callable[[], None],
    away: Abroad,
) -> Iterator[None]:
    """While inside, a thread folds new shards into the store, publishes them, looks, and derives their outcomes."""
    stop = threading.Event()
    live = Live(records, sweep_ids, lambda: stop.is_set() or drain(), progress.line)
    given = (records, live, stop, drain, progress, look, away)
    thread = threading.Thread(target=_fold, args=given, name="fold", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        away.close()


def _fold(
    records: Records,
    live: Live,
    stop: threading.Event,
    drain: Drain,
    progress: Progress,
    look: Callable[[], None],
    away: Abroad,
) -> None:
    told_drain, told, seen, unpublished, due = False, "", 0, False, time.monotonic() + FOLD_SECONDS
    while not stop.wait(0.1):
        if drain() and not told_drain:
            progress.line("stopping: running batches finish, the rest is left for the next run; again to stop at once")
            told_drain = True
            away.stop()
        if time.monotonic() < due:
            continue
        try:
            away.look()
            count = len(records.shards())
            if count != seen or unpublished:
                unpublished = _fold_once(records, unpublished)
                seen = count
                look()
            unpublished = live.turn(count) or unpublished
        except Exception as error:  # the run goes on; its end ingests again and then says so
            if str(error) != told:
                told = str(error)
                progress.line(f"the store waits: {told}")
        due = time.monotonic() + FOLD_SECONDS


def _fold_once(records: Records, unpublished: bool = False) -> bool:
    """One short turn as the writer; True if something taken (now, or before) waits to be published: it is too early."""
    with Ingest(records, wait=0) as step:
        taken = step.take()
        return not step.publish() and (unpublished or taken.shards + taken.derived > 0)


def _disk(data: Path) -> int:
    """Bytes of all files in the data folder; files may vanish while it is counted."""
    total = 0
    for path in data.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total
