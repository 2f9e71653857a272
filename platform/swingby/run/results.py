"""The result of a run: the cells of each sweep by status, and what the run took beside its forecast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from swingby.data.files import files_below
from swingby.data.records import Records
from swingby.run.forecast import Forecast, Planned
from swingby.run.progress import Progress
from swingby.store import Store
from swingby.store.failures import Failure, failure_lines, failures_of
from swingby.store.refined import Refined
from swingby.store.status import (
    ends_line,
    final_counts,
    refused_records,
    remark_lines,
    remarks,
)
from swingby.units import duration, size


@dataclass(frozen=True, slots=True)
class Actual:
    """What a run took: core seconds, wall seconds from first to last batch, growth of the data folder in bytes."""

    core_seconds: float
    wall_seconds: float
    disk_bytes: float


@dataclass(frozen=True)
class RunResult:
    """The state of a sweep after a run. Counts are over all of its cells, whichever run trained them.

    Attributes:
        ok, diverged: cells with a result; failed: cells that raised; missing: cells without any final row.
        trained: cells that this run trained.
        given_up: cells of this run that failed because their process died again and again, with the reason.
        failures: the failed cells by their reason and by what they have in common, the most frequent first.
        bad: shards of this run that the store refused, with the reason.
        drained: whether the run was asked to stop.
        seconds: wall time of everything.
        forecast: the forecast of what this run trained; None if it did not train all of it, or nothing was measured.
        actual: what the training took; None if this run trained nothing, or several sweeps.
        refined: how its refinement stands, if it was refined: `cells` are then those that were asked for.
        remarks: what is said of results, such as that curves were thinned, and of how many cells.
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
    failures: tuple[Failure, ...]
    bad: tuple[str, ...]
    drained: bool
    seconds: float
    forecast: Forecast | None
    actual: Actual | None
    refined: Refined | None = None
    remarks: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        lines = [f"{ends_line(self)}; {duration(self.seconds)}"]
        lines += failure_lines(self.failures, self.name)
        lines += remark_lines(self.remarks)
        lines += [f"  the store refused {reason}" for reason in self.bad]
        if self.actual is not None:
            if self.forecast is not None:
                lines.append(f"  forecast: {_costs(self.forecast)}")
            lines.append(f"  actual:   {_costs(self.actual)}")
        if self.refined is not None:
            lines += [f"  {line}" for line in (self.refined.spent, *self.refined.lines())]
        if self.drained and (self.missing or (self.refined is not None and self.refined.ended is None)):
            lines.append("  stopped before its end; the same command goes on where it stopped")
        return "\n".join(lines)


def _costs(costs: Forecast | Actual) -> str:
    hours = costs.core_seconds / 3600
    wall = costs.wall if isinstance(costs, Forecast) else duration(costs.wall_seconds)
    # The folder may shrink meanwhile: what earlier runs published goes when it is superseded.
    disk = f", {size(costs.disk_bytes)} on disk" if costs.disk_bytes > 0 else ""
    return f"{hours:.3g} core-hours, {wall} of training{disk}"


class Tally:
    """What a run trained, summed over its rounds."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._plans: dict[str, list[Planned]] = {}
        self._done: Counter[str] = Counter()
        self._given_up: dict[tuple[str, str], str] = {}
        self._core_seconds = self._wall_seconds = 0.0
        self._before: int | None = None

    def add_plans(self, planned: Sequence[Planned]) -> None:
        """Begins a round with these plans."""
        for one in planned:
            self._plans.setdefault(one.plan.sweep_id, []).append(one)
        self._before = disk(self._records.data) if self._before is None else self._before

    def add_training(self, progress: Progress, given_up: Mapping[tuple[str, str], str]) -> None:
        """Adds the training of a round; `given_up` are cells (by plan and id) that failed, with the reason."""
        self._done.update(progress.done_of)
        self._core_seconds += progress.core_seconds
        self._wall_seconds += progress.wall_seconds
        self._given_up |= given_up

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While inside, growth of the data folder counts for other drivers."""
        before = disk(self._records.data)
        try:
            yield
        finally:
            self._before = (self._before or 0) + disk(self._records.data) - before

    def results(self, drained: bool, seconds: float, refined: Refined | None = None) -> list[RunResult]:
        """The result of each sweep, in the order of planning.

        Args:
            refined: how the only sweep's refinement stands, if it was refined.
        """
        grown = disk(self._records.data) - (self._before or 0)
        actual = Actual(self._core_seconds, self._wall_seconds, grown)
        alone = actual if len(self._plans) == 1 and self._done.total() else None  # what was taken for one sweep
        with Store.open(self._records.data) as store:
            results = [self._result(store, plans, alone, drained, seconds) for plans in self._plans.values()]
        if refined is None:
            return results
        done = results[0].ok + results[0].diverged + results[0].failed
        return [replace(results[0], cells=refined.requested, missing=max(0, refined.requested - done), refined=refined)]

    def _result(
        self, store: Store, plans: Sequence[Planned], alone: Actual | None, drained: bool, seconds: float
    ) -> RunResult:
        """The result of one sweep; `alone` is what it took, if the run was of this sweep alone."""
        sweep = plans[-1].sweep
        # A plan that was not written has the number of the next.
        ids = sorted({planned.plan.plan_id for planned in plans})
        counts = final_counts(store, sweep.experiment_name, sweep.sweep_id)
        failures = failures_of(store, sweep.experiment_name, sweep.sweep_id) if counts["failed"] else ()
        done = sum(self._done[plan_id] for plan_id in ids)
        missing = [planned for planned in plans if planned.missing]
        whole = alone is not None and len(missing) == 1 and done == missing[0].missing
        return RunResult(
            name=sweep.name,
            sweep_id=sweep.sweep_id,
            cells=len(sweep),
            ok=counts["ok"],
            diverged=counts["diverged"],
            failed=counts["failed"],
            missing=len(sweep) - sum(counts.values()),
            trained=plans[-1].piloted + done,
            given_up={cell: reason for (plan, cell), reason in self._given_up.items() if plan in ids},
            failures=failures,
            bad=tuple(reason for plan_id in ids for reason in refused_records(store, f"{plan_id}/")),
            drained=drained,
            seconds=seconds,
            forecast=missing[0].forecast if whole else None,
            actual=alone,
            remarks=remarks(store, sweep.experiment_name, sweep.sweep_id) if sweep.experiment.keeps_all else (),
        )


def disk(data: Path) -> int:
    """Bytes of all files in a data folder; files may vanish while it is counted."""
    total = 0
    for path in files_below(data):
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total
