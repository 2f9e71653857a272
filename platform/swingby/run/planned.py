"""What a run of a sweep would do, and how it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from swingby.data.records import BatchNote, Plan
from swingby.model.experiment import Resources
from swingby.run.deadline import deadline_told
from swingby.run.forecast import Forecast, forecast_lines
from swingby.run.resources import on_gpus, together, widened
from swingby.sweepfile.sweep import Sweep
from swingby.units import counted


@dataclass(frozen=True)
class Planned:
    """What a run of a sweep would do.

    Attributes:
        plan: the plan; written to disk if `written`.
        done, missing, failed: cells with a result, cells to train, cells that failed and are left alone.
        batches: the batches of the missing cells, in the order to run them.
        forecast: None if nothing was measured, or nothing is missing.
        resources: what each process of a batch of each shape needs.
        most: the most cells of each shape that can be trained together.
        target: seconds a trial should take; as many batches go into one as fit.
        workers: how many one-core batches run at once.
        piloted: cells that were trained to measure the cost; they count as done.
        shared: cells that other sweeps of the same run train.
        left: how many cells other drivers train, and who they are.
        processes: how many of them train a batch.
        deadline: seconds for which a batch may give no sign of life; None: by what it should take.
        machines: the CPUs of each machine.
        beside: batches of other sweeps of the same run.
    """

    sweep: Sweep
    plan: Plan
    done: int
    missing: int
    failed: int
    batches: tuple[BatchNote, ...]
    forecast: Forecast | None
    resources: Mapping[str, Resources]
    most: Mapping[str, int]
    target: float
    workers: int
    written: bool = False
    piloted: int = 0
    shared: int = 0
    left: tuple[tuple[int, str], ...] = ()
    chosen_device: str | None = None
    processes: int = 1
    deadline: float | None = None
    machines: tuple[float, ...] = ()
    beside: int = 0

    @cached_property
    def each(self) -> Mapping[str, Resources]:
        """What each process of a batch of each shape occupies: more CPUs than it needs, where there are too many."""
        return _each(self.resources, len(self.batches) + self.beside, self.processes, self.machines, self.chosen_device)

    @cached_property
    def occupied(self) -> Mapping[str, Resources]:
        """What a batch of each shape occupies."""
        return {shape: together(each, self.processes) for shape, each in self.each.items()}

    def device(self, note: BatchNote) -> str:
        """Where a batch runs: as the caller chose, else on a GPU if the experiment asks for one."""
        return self.chosen_device or ("cuda" if self.resources[note.shape].gpus > 0 else "cpu")


def _each(
    resources: Mapping[str, Resources],
    batches: int,
    processes: int,
    machines: Sequence[float],
    device: str | None,
) -> dict[str, Resources]:
    """What each process of a batch of each shape occupies on these machines."""
    wide = {shape: widened(needed, batches, processes, machines) for shape, needed in resources.items()}
    return {shape: replace(needed, gpus=on_gpus(needed, device)) for shape, needed in wide.items()}


def summary(planned: Planned) -> str:
    """What a run would do, in a few lines."""
    counts = Counter({"done": planned.done, "failed (left alone)": planned.failed, "missing": planned.missing})
    standing = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count or name == "missing")
    lines = [f"{planned.sweep.name}: {counted(len(planned.sweep), 'cell')}: {standing}"]
    if planned.piloted:
        lines.append(f"  {planned.piloted:,} pilot cells were trained to measure the cost; they are kept as results")
    if planned.shared:
        lines.append(f"  {counted(planned.shared, 'more cell')} of it will be trained by the sweeps named before it")
    lines += [
        f"  {counted(count, 'more cell')} of it {_are(count)} being trained by {who}" for count, who in planned.left
    ]
    if not planned.missing:
        return "\n".join(lines)
    batches, shapes = counted(len(planned.batches), "batch", "batches"), counted(len(planned.resources), "shape")
    lines.append(f"  {batches} of {shapes} on {counted(planned.workers, 'worker')}{_spread(planned)}")
    lines.append(f"  {deadline_told(planned.deadline)}")
    return "\n".join([*lines, *forecast_lines(planned.forecast)])


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _spread(planned: Planned) -> str:
    """How a batch is spread over processes and cores, where it is."""
    cpus = {each.cpus for each in planned.each.values()}
    parts = [f"{planned.processes} processes a batch"] if planned.processes > 1 else []
    if max(cpus) > 1:
        low, high = (f"{count:g}" for count in (min(cpus), max(cpus)))
        parts.append(f"{low if low == high else f'{low}-{high}'} CPUs a process")
    return "".join(f", {part}" for part in parts)
