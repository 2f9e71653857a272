"""Slots on GPUs: how many trials run at once on each, by what they report, and what part of one each asks Ray for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from swingby.run.forecast import Planned
from swingby.run.progress import Progress, shared_text
from swingby.run.sharing import GAIN, PARTS, Limit, Report, Window, most_runs
from swingby.run.worker.meter import read_report
from swingby.units import counted

LOOK_SECONDS = 0.2
"""Least seconds from one look at the reports to the next."""


class Slots:
    """The slots on all GPUs together, each with a trial or free.

    Attributes:
        limit: how many trials share each GPU.

    Args:
        gpus: how many GPUs there are.
        most: how many trials can share each.
    """

    def __init__(self, gpus: int, most: int, progress: Progress) -> None:
        self._gpus, self._progress = gpus, progress
        self.limit = Limit(most)
        self._window = Window(gpus, gpus)
        self._trials: dict[int, tuple[object, Path]] = {}
        self._last: dict[Path, Report] = {}
        self._looked = 0.0

    @classmethod
    def of(
        cls, planned: Sequence[Planned], machines: Sequence[Mapping[str, float]], progress: Progress
    ) -> Slots | None:
        """Those of a run of some plans; None where what each run takes of a GPU is set."""
        gpus = int(sum(machine.get("GPU", 0.0) for machine in machines))
        if not gpus or not all(one.shares for one in planned):
            return None
        cpus = max(each.cpus for one in planned for each in one.process_resources.values())
        return cls(gpus, most_runs(list(machines), cpus), progress)

    @property
    def free(self) -> int | None:
        """The slot of the next trial; None: as many run as may."""
        slots = self.limit.runs * self._gpus
        if len(self._trials) >= slots:
            return None
        return min(set(range(slots)) - self._trials.keys())

    def part(self, slot: int) -> float:
        """What the trial in a slot asks Ray for: a part of a GPU, or a whole one where none is shared any more."""
        return 1.0 if self.limit.alone else PARTS[slot // self._gpus]

    def begin(self, slot: int, trial: object, meter: Path) -> None:
        """Puts a trial, by its key, into a slot; its reports come in a file."""
        self._trials[slot] = trial, meter
        self._window.begins(slot)

    def end(self, trial: object, lacked_memory: bool = False) -> None:
        """Frees the slot of a trial that has ended, perhaps because it found no memory."""
        slot = next((slot for slot, (key, _) in self._trials.items() if key == trial), None)
        if slot is None:
            return
        self._read(slot)
        before, runs = self._state, -(-len(self._trials) // self._gpus)
        _, meter = self._trials.pop(slot)
        self._last.pop(meter, None)
        meter.unlink(missing_ok=True)
        if lacked_memory:
            self.limit.lacked_memory(runs)
            self._tell(before, "one found no memory beside the others")
        else:
            self._decide()

    def stop_sharing(self) -> None:
        """Gives each trial a GPU of its own from now on."""
        before = self._state
        self.limit.stop()
        self._tell(before, "those that are left found no memory beside others")

    def look(self) -> None:
        """Reads the reports of all trials, unless it has just done so, and adapts the limit."""
        if self.limit.settled or time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        for slot in self._trials:
            self._read(slot)
        self._decide()

    def _read(self, slot: int) -> None:
        meter = self._trials[slot][1]
        report = read_report(meter)
        if report is not None and report != self._last.get(meter):
            self._last[meter] = report
            self._window.take(slot, report)

    def _decide(self) -> None:
        measurement = None if self.limit.settled else self._window.measurement()
        if measurement is None:
            return
        before = self._state
        self.limit.measured(measurement)
        runs = self.limit.runs
        self._window = Window(runs * self._gpus, self._gpus)
        held = f"{measurement.used:.0%} of its memory is taken by {counted(before[0], 'run')}"
        self._tell(before, held if runs >= before[0] else f"{before[0]} were not {GAIN:.0%} faster together")

    @property
    def _state(self) -> tuple[int, bool]:
        return self.limit.runs, self.limit.settled

    def _tell(self, before: tuple[int, bool], why: str) -> None:
        """Tells the user of a limit that has changed, or is settled."""
        if self._state == before:
            return
        runs, settled = self._state
        self._progress.line(f"{shared_text(runs)}{' from now on' if settled else ''}: {why}")
        self._progress.share(runs)
