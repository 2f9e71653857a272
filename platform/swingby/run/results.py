"""How a sweep stands after a run, and how that is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from swingby.records import Records
from swingby.run.forecast import Forecast
from swingby.run.lookup import failure_lines, failures, refused, standing
from swingby.run.planned import Planned
from swingby.run.progress import counted, duration, size
from swingby.store import Store


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


def result_of(
    planned: Planned,
    records: Records,
    done: int,
    given_up: Mapping[tuple[str, str], str],
    drained: bool,
    seconds: float,
    alone: Actual | None,
) -> RunResult:
    """How one of the sweeps of a run stands.

    Args:
        done: cells of its batches that came back.
        given_up: cells of the run that it gave up, by plan and id, with the reason.
        alone: what the run took, if this was its only sweep.
    """
    sweep, plan_id = planned.sweep, planned.plan.plan_id
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


def disk(data: Path) -> int:
    """Bytes of all files in a data folder; files may vanish while it is counted."""
    total = 0
    for path in data.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total
