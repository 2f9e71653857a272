"""What a run of a sweep would do: its plan, the cells and batches to train, and the forecast of their cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from swingby.data.records import BatchNote, Plan
from swingby.model.experiment import Resources
from swingby.run.cost import PATIENCE, Cost
from swingby.run.estimate import Left
from swingby.run.options import RunOptions
from swingby.run.pending import CellCounts
from swingby.run.resources import gpus_on, group_resources, runs_on_one, shares, widened
from swingby.run.sharing import PARTS
from swingby.store.writer import SEGMENT_ROWS
from swingby.sweepfile.sweep import Sweep
from swingby.units import counted, duration, size

STORE = 1.75
"""Bytes of the store for each byte of shards (1.6 for curves and 0.15 for the index, measured on 6,720 cells)."""
CARRIED = 0.5
"""How far off, as a logarithm, a cost may be that is carried over to another shape."""
COPIES = 3
"""How often the store holds what is not sealed: to work on, and in the last two publications."""


@dataclass(frozen=True, slots=True)
class ShapeForecast:
    """What the pending cells of one shape will take; `measured` is False if carried over from another shape."""

    shape: str
    cells: int
    batches: int
    core_seconds: float
    measured: bool


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the pending cells will take: seconds of one core, wall seconds on all workers, bytes on disk; `off` is the
    logarithm of how far times may be off."""

    core_seconds: float
    wall_seconds: float
    disk_bytes: float
    shapes: tuple[ShapeForecast, ...]
    off: float = 0.0

    @property
    def wall(self) -> str:
        """The wall seconds as text: a range, where they may be far off."""
        factor = math.exp(self.off)
        return str(Left(self.wall_seconds, self.wall_seconds / factor, self.wall_seconds * factor))


def forecast(
    notes: Sequence[BatchNote],
    known: Mapping[str, Cost],
    resources: Mapping[str, Resources],
    workers: int,
    gpus: int = 1,
    off: float = 0.0,
) -> Forecast | None:
    """The forecast of some batches; None if there are none, or if their cost is unknown.

    The wall time is that of handing the batches in order to whichever worker is free, and whichever GPU.
    """
    if not notes or not known:
        return None
    free, shards = [0.0] * workers, 0.0
    on_gpus = {each.gpus: [0.0] * runs_on(gpus, each.gpus) for each in resources.values() if each.gpus}
    shapes: dict[str, ShapeForecast] = {}
    for note in notes:
        cost, cpus = known[note.shape], max(1, round(resources[note.shape].cpus))
        seconds = cost.seconds(note.cells) if note.forecast_seconds is None else note.forecast_seconds
        taken = sorted(free)[: min(cpus, workers)]
        begins, slots = taken[-1], on_gpus.get(resources[note.shape].gpus)
        if slots is not None:
            slots.sort()
            begins = slots[0] = max(begins, slots[0])
            slots[0] += seconds
        free = [*sorted(free)[len(taken) :], *[begins + seconds] * len(taken)]
        shards += note.cells * cost.size
        old = shapes.get(note.shape, ShapeForecast(note.shape, 0, 0, 0.0, cost.measured))
        shapes[note.shape] = ShapeForecast(
            note.shape,
            old.cells + note.cells,
            old.batches + 1,
            old.core_seconds + seconds * cpus,
            cost.measured,
        )
    rows = tuple(shapes.values())
    open_share = min(1.0, SEGMENT_ROWS / sum(row.cells for row in rows))
    disk = shards * (1 + STORE * (1 + (COPIES - 1) * open_share))
    core_seconds = sum(row.core_seconds for row in rows)
    carried = sum(row.core_seconds for row in rows if not row.measured) / core_seconds if core_seconds else 0.0
    return Forecast(core_seconds, max(free), disk, rows, off + CARRIED * carried)


def runs_on(gpus: int, each: float) -> int:
    """How many batches that take `each` GPUs, or that part of one, run at once on so many; at least one."""
    return max(1, gpus * runs_on_one(each) if each < 1 else int(gpus / each))


@dataclass(frozen=True)
class Planned:
    """A plan, and what a run of it would do.

    Attributes:
        plan: the plan; on disk if `written`.
        counts: the numbers of cells that are not to be trained.
        missing: cells to train.
        batches: the batches of the missing cells, in the order to run them.
        forecast: None if nothing was measured, or nothing is missing.
        resources: what each process of a batch needs, by shape.
        max_batch: the most cells that can be trained together, by shape.
        options: the options of the run.
        workers: how many one-core batches run at once.
        piloted: cells that were trained to measure the cost; they count as done.
        older: cells with a result of another version of the experiment's code, which counts only if it is kept.
        machines: the CPUs of each machine.
        gpus: how many GPUs all machines have.
        other_batches: how many batches the other sweeps of the run have; all share the machines.
        decision: why these cells, where the sweep is refined; else empty.
        slow: whether nothing is known of some cells but that a pilot took long.
        hints: what to write so that results which are there count.
        batch_sizes: what the cost of each batch may depend on: a row for each, as of `estimate.sizes_of`.
    """

    sweep: Sweep
    plan: Plan
    counts: CellCounts
    missing: int
    batches: tuple[BatchNote, ...]
    forecast: Forecast | None
    resources: Mapping[str, Resources]
    max_batch: Mapping[str, int]
    workers: int
    options: RunOptions = field(default_factory=RunOptions)
    written: bool = False
    piloted: int = 0
    older: int = 0
    machines: tuple[float, ...] = ()
    gpus: int = 1
    other_batches: int = 0
    decision: Mapping[str, Any] = field(default_factory=dict)
    hints: tuple[str, ...] = ()
    slow: bool = False
    batch_sizes: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), compare=False)

    @cached_property
    def process_resources(self) -> Mapping[str, Resources]:
        """What each process of a batch occupies, by shape: more CPUs than it needs where there are too many."""
        batches, by_shape = len(self.batches) + self.other_batches, dict[str, Resources]()
        for shape, needed in self.resources.items():
            wide = widened(needed, batches, self.options.processes, self.machines)
            by_shape[shape] = replace(wide, gpus=gpus_on(wide, self.options.device))
        return by_shape

    @cached_property
    def batch_resources(self) -> Mapping[str, Resources]:
        """What all processes of a batch occupy, by shape."""
        return {shape: group_resources(one, self.options.processes) for shape, one in self.process_resources.items()}

    @cached_property
    def busy_cores(self) -> float:
        """How many cores train at once, before runs come to share a GPU."""
        every = self.batch_resources.values()
        return max(
            (min(self.workers, runs_on(self.gpus, one.gpus) * one.cpus) if one.gpus else self.workers for one in every),
            default=1.0,
        )

    @property
    def shares(self) -> bool:
        """Whether measurements decide how many runs share a GPU."""
        return all(shares(self.sweep, needed, self.options) for needed in self.resources.values())

    def device(self, note: BatchNote) -> str:
        """The device of a batch: that of the options, else a GPU if the experiment asks for one."""
        return self.options.device or ("cuda" if self.resources[note.shape].gpus > 0 else "cpu")


def summary(planned: Planned) -> str:
    """A few lines for the user: what a run would do."""
    counts = {"done": planned.counts.done, "failed (left alone)": planned.counts.failed, "missing": planned.missing}
    shown = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count or name == "missing")
    lines = [f"{planned.sweep.name}: {counted(len(planned.sweep), 'cell')}: {shown}"]
    if planned.decision:
        of, listed = planned.decision, planned.counts.done + planned.counts.failed + planned.missing
        lines = [f"{planned.sweep.name}, round {of['round']} of its refinement: {counted(listed, 'cell')}: {shown}"]
        lines.append(f"  with these {of['asked']:,} of the grid's {of['grid']:,} cells; budget: {of['budget']:,} cells")
    if planned.older:
        lines.append(f"  {counted(planned.older, 'cell')} of it have results of another version of the code")
    lines += [f"  {hint}" for hint in (*planned.sweep.sharing, *planned.hints)]
    if planned.piloted:
        lines.append(f"  {planned.piloted:,} pilot cells were trained to measure the cost; they are kept as results")
    if planned.counts.shared:
        shared = counted(planned.counts.shared, "more cell")
        lines.append(f"  {shared} of it will be trained by the sweeps named before it")
    for count, owner in planned.counts.reserved:
        lines.append(f"  {counted(count, 'more cell')} of it {'is' if count == 1 else 'are'} being trained by {owner}")
    if not planned.missing:
        return "\n".join(lines)
    batches, shapes = counted(len(planned.batches), "batch", "batches"), counted(len(planned.resources), "shape")
    place = counted(planned.workers, "worker")
    if planned.options.processes > 1:
        place += f", {planned.options.processes} processes a batch"
    cpus = {one.cpus for one in planned.process_resources.values()}
    if max(cpus) > 1:
        low, high = f"{min(cpus):g}", f"{max(cpus):g}"
        place += f", {low if low == high else f'{low}-{high}'} CPUs a process"
    place += _gpus_text(planned)
    lines.append(f"  {batches} of {shapes} on {place}")
    lines.append(f"  {planned.options.deadline_text(planned.forecast is not None)}")
    if planned.forecast is None:
        lines += unmeasured_lines(planned.sweep, planned.missing, planned.workers, planned.slow)
    else:
        lines += _forecast_lines(planned.forecast)
    if planned.decision and planned.forecast is not None:
        rest = (planned.decision["budget"] - planned.decision["asked"]) / planned.missing
        if rest > 0:
            hours, wall = planned.forecast.core_seconds / 3600, planned.forecast.wall_seconds
            lines.append(
                f"  if all of the budget is spent, another {rest * hours:.3g} core-hours at most, about "
                f"{duration(rest * wall)}; it ends as soon as the wanted accuracy is reached"
            )
    return "\n".join(lines)


def _gpus_text(planned: Planned) -> str:
    """A part of a line of `summary`: what GPUs the processes occupy, and how runs share one; empty without GPUs."""
    gpus = {one.gpus for one in planned.process_resources.values()}
    low, high = min(gpus), max(gpus)
    if not high:
        return ""
    if low < high or high > 1:
        return f", {low:g}-{high:g} GPUs a process" if low < high else f", {high:g} GPUs a process"
    if high < 1:
        return f", {high:g} of a GPU a process: {runs_on_one(high)} share one"
    if not planned.shares:
        return ", one GPU a process"
    there = counted(planned.gpus, "GPU") if planned.gpus else "no GPU here"
    return (
        f", {there}: one run on each, and up to {len(PARTS)} as its memory and a measured gain allow "
        "(--set resources.gpus=1 leaves it at one)"
    )


def unmeasured_lines(sweep: Sweep, cells: int, workers: int, slow: bool = False) -> Iterator[str]:
    """Lines for the user: what is unknown where nothing was measured, and what is known all the same."""
    yield "  forecast: unmeasured (no batch of these shapes has run yet)"
    if not sweep.experiment.trains_together:
        turns = -(-cells // workers)
        yield f"  on {counted(workers, 'worker')} it takes as long as {counted(turns, 'cell')} one after another"
    if slow:
        yield f"  a cell takes longer than {PATIENCE:g} s; a run says what is left as soon as some have ended"


def _forecast_lines(needs: Forecast) -> Iterator[str]:
    """Lines of `summary`: the forecast, and the shapes that it was measured on."""
    yield (
        f"  forecast: {needs.core_seconds / 3600:.3g} core-hours, {needs.wall} on these workers, "
        f"{size(needs.disk_bytes)} on disk"
    )
    measured = [row.shape for row in needs.shapes if row.measured]
    carried = len(needs.shapes) - len(measured)
    if not measured:
        yield f"  carried over to {counted(carried, 'shape')} from measured ones, in proportion to the work"
        return
    shown = "; ".join(measured) if len(measured) <= 3 else f"{len(measured)} shapes"
    other = f"; {counted(carried, 'other shape')} in proportion to the work" if carried else ""
    yield f"  measured on {shown}{other}"
