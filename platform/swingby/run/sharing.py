"""How many runs share a GPU: as many as its memory holds and a measured gain allows.

Decisions alone: measurements come in, and limits go out. Who measures and starts runs is `swingby.run.ray.slots`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

GAIN = 0.1
"""Least gain in the rate of all runs together for which more of them stay on a GPU."""
MARGIN = 0.1
"""Share of a GPU's memory that is left free when more runs are admitted: what they hold is known from others alone."""
PARTS = (0.5001, 0.25, 0.125, 0.0625, 0.0313, 0.0156, 0.0078, 0.0039)
"""What the first, second, ... run on a GPU asks Ray for: a bit more than half of what those before it leave. So each
GPU has room for one of each, and Ray, which fills one GPU before it takes up the next, spreads them over all. It counts
in ten thousandths."""
INTERVALS = 3
"""Times between two reports that each run is measured for."""


@dataclass(frozen=True, slots=True)
class Report:
    """How far a trial is, and what its GPU holds.

    Attributes:
        at: seconds of a clock of its machine.
        work: `Experiment.work` of what is trained so far.
        number: how many reports of the trial there are.
        began: when it began, by the same clock; None: its process also had to start then.
        ended: whether it has ended.
        gpu: which GPU it is on, by any name.
        used: the share of the GPU's memory that is not free; None: not known.
        peak: the largest share that its process has held.
    """

    at: float
    work: float
    number: int
    began: float | None = None
    ended: bool = False
    gpu: str = ""
    used: float | None = None
    peak: float = 0.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """What some runs do while they share each GPU.

    Attributes:
        rate: work a second of all that share a GPU.
        used: the share of the memory that they hold, of the GPU where it is most.
        each: the share that one of them holds at most.
    """

    rate: float
    used: float
    each: float


class Limit:
    """The limit of how many runs share each GPU: it is doubled as long as that pays, and then settled for good.

    Attributes:
        runs: the limit.
        settled: whether no measurement changes it any more.

    Args:
        most: the limit of the limit.
    """

    def __init__(self, most: int) -> None:
        self.runs, self._most = 1, most
        self.settled = most <= 1
        self._before: tuple[int, float] | None = None

    @property
    def alone(self) -> bool:
        """Whether each run has a GPU of its own from now on."""
        return self.settled and self.runs == 1

    def measured(self, by: Measurement) -> None:
        """Takes what `runs` runs do on each GPU: doubles the limit if memory allows, goes back if more did not pay."""
        if self.settled:
            return
        if self._before is not None and by.rate < (1 + GAIN) * self._before[1]:
            self.runs, self.settled = self._before[0], True
            return
        self._before = self.runs, by.rate
        room = (1 - MARGIN - by.used) / by.each if by.each > 0 else math.inf
        more = min(2 * self.runs, self._most, self.runs + max(0.0, room) // 1)
        self.settled = more <= self.runs
        self.runs = int(more)

    def lacked_memory(self, runs: int) -> None:
        """Takes that a run found no memory while so many shared its GPU: half as many do from now on.

        Where there are still more than the limit allows, it has been halved for this already.
        """
        if runs <= self.runs:
            self.runs = max(1, self.runs // 2)
        self.settled = True

    def stop(self) -> None:
        """Each run has a GPU of its own from now on."""
        self.runs, self.settled = 1, True


@dataclass(slots=True)
class _Slot:
    """What is known of a slot: its last report, whether its run began in the window, and the sums of its intervals."""

    last: Report | None = None
    whole: bool = False
    seconds: float = 0.0
    work: float = 0.0
    intervals: int = 0


@dataclass(slots=True)
class Window:
    """The rate of runs in some slots, from when each of them has given a report.

    Each run counts from one report of it to the next: what it takes to start is not its rate. A run that gives a report
    at its end alone counts from its beginning, where its process had trained before.

    Attributes:
        slots: how many runs there are at once, on all GPUs together.
        gpus: how many GPUs.
    """

    slots: int
    gpus: int
    _of: dict[int, _Slot] = field(default_factory=dict)
    _ready: set[int] = field(default_factory=set)
    _used: dict[str, float] = field(default_factory=dict)
    _peak: float = 0.0

    def begins(self, slot: int) -> None:
        """Takes that a run begins in a slot."""
        known = self._of.setdefault(slot, _Slot())
        known.last, known.whole = None, True

    def take(self, slot: int, report: Report) -> None:
        """Takes a report of the run in a slot."""
        if report.used is not None:
            self._used[report.gpu] = max(report.used, self._used.get(report.gpu, 0.0))
            self._peak = max(self._peak, report.peak)
        if len(self._ready) < self.slots:
            self._ready.add(slot)
            if len(self._ready) == self.slots:  # until now some had a GPU to themselves
                self._of.clear()
            return
        known = self._of.setdefault(slot, _Slot())
        last = known.last
        if last is None and report.ended and known.whole and report.began is not None:
            last = Report(report.began, 0.0, report.number - 1)
        if last is not None:
            known.seconds += report.at - last.at
            known.work += report.work - last.work
            known.intervals += report.number - last.number
        known.last = report

    def measurement(self) -> Measurement | None:
        """What the runs do; None until each slot has been measured for `INTERVALS`."""
        if len(self._ready) < self.slots or sum(one.intervals >= INTERVALS for one in self._of.values()) < self.slots:
            return None
        runs = self.slots / self.gpus
        used = max(self._used.values(), default=1.0)  # where nobody knows of memory, there is no room for more
        rate = sum(one.work / one.seconds for one in self._of.values() if one.seconds) / self.gpus
        return Measurement(rate, used, max(used / runs, self._peak))


def most_runs(machines: list[Mapping[str, float]], cpus: float) -> int:
    """How many runs with so many CPUs each can share each GPU of these machines at most."""
    with_gpus = [machine for machine in machines if machine.get("GPU", 0.0) >= 1]
    fits = (
        int(machine.get("CPU", 0.0) / (machine["GPU"] * cpus) + 1e-9) if cpus else len(PARTS) for machine in with_gpus
    )
    return max(1, min([len(PARTS), *fits]))
