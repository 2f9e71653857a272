"""Progress of a run: cells done, failures and an estimate; a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bars
from rich.text import Text

from swingby.text import fitted, legible
from swingby.units import duration

if TYPE_CHECKING:
    from swingby.run.forecast import Planned
    from swingby.run.worker.batch import BatchDone

WEIGHT = 20.0
"""Core seconds of weight that the forecast has beside the measured times."""
EVERY = 3.0
"""Seconds between plain lines, so that a log stays readable."""


class Progress:
    """Counts the cells and seconds of a run without any output; base class of the two displays."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.total = self.done = self.failed = self.diverged = self.batches = 0
        self.core_seconds = self._forecast = self._forecast_done = 0.0
        self._forecast_of: dict[tuple[str, int], float] = {}
        self._cpus_of: dict[tuple[str, int], float] = {}
        self.done_of: dict[str, int] = {}
        self._workers, self._runs = 1.0, 1
        self._named, self._which = False, ""
        self._shares: tuple[float, ...] = ()
        self._at_first = 0.0
        self._measured = False
        self._began = time.monotonic()
        self._first = self._last = self._began

    def line(self, text: str) -> None:
        """Shows a line of text."""

    def planned(self, *planned: Planned, in_progress: Sequence[float] = (), more: bool = False) -> None:
        """Begins to count the run of these plans.

        Args:
            more: whether further plans may come.
            in_progress: the share done of each cell that an earlier run began.
        """
        self._reset()
        self._shares, self._at_first = tuple(in_progress), sum(in_progress)  # no measure of this run's rate
        self.total = sum(one.missing for one in planned)
        self._workers = max(1.0, *(one.busy_cores for one in planned))
        for one in planned:
            # With a single plan no batch needs the name of its plan.
            plan_id = one.plan.plan_id if len(planned) > 1 or more else ""
            for note in one.batches:
                self._cpus_of[plan_id, note.batch] = one.batch_resources[note.shape].cpus
                self._forecast_of[plan_id, note.batch] = note.forecast_seconds or float(note.cells)
        self._forecast = sum(self._forecast_of.values())
        self._measured = all(note.forecast_seconds is not None for one in planned for note in one.batches)
        self._named = len(planned) > 1 or more
        self._show(first=True)

    def more(self, planned: Planned) -> None:
        """Counts the cells of a further plan, too, which was made while others run."""
        self.total += planned.missing
        for note in planned.batches:
            key = planned.plan.plan_id, note.batch
            self._cpus_of[key] = planned.batch_resources[note.shape].cpus
            self._forecast_of[key] = note.forecast_seconds or float(note.cells)
            self._forecast += self._forecast_of[key]
            self._measured = self._measured and note.forecast_seconds is not None
        self._show()

    def measuring(self, planned: Planned) -> None:
        """Begins to count the pilot cells of a plan."""
        self._reset()
        self.total, self._which = sum(note.cells for note in planned.batches), " that measure the cost"
        self._show(first=True)

    def left_out(self, cells: int) -> None:
        """Takes cells off the count that are not trained now."""
        self.total -= cells
        self._show()

    def batch_done(self, done: BatchDone) -> None:
        """Counts a batch that came back."""
        self._last = time.monotonic()
        self._first = min(self._first if self.batches else self._last, self._last - done.seconds)
        self.batches += 1
        self.done += done.cells
        self.done_of[done.plan_id] = self.done_of.get(done.plan_id, 0) + done.cells
        self.diverged += done.diverged
        keys = [(done.plan_id if self._named else "", batch) for batch in (done.batch, *done.merged)]
        self.core_seconds += done.seconds * self._cpus_of.get(keys[0], 1.0)
        if done.cells:  # a batch that was stopped before its first result says nothing about the others
            self._forecast_done += done.share * sum(self._forecast_of.get(key, 0.0) for key in keys)
        self.failed += done.failed
        self._show()

    def in_progress(self, shares: Sequence[float]) -> None:
        """Takes the share done of each cell in progress."""
        self._shares = tuple(shares)
        self._show()

    def share(self, runs: int) -> None:
        """Takes how many runs share each GPU from now on."""
        self._runs = runs
        self._show()

    @contextmanager
    def waiting(self, cells: int) -> Iterator[Callable[[int], None]]:
        """While inside, counts a wait for cells of other drivers; gives a function that takes how many remain."""
        self._reset()
        self.total, self._which = cells, " that others train"
        self._show(first=True)

        def show_remaining(count: int) -> None:
            self.done = self.total - count
            self._show()

        try:
            yield show_remaining
        finally:
            self.close()

    def close(self) -> None:
        """Ends the display of a run or a wait."""
        self._show(last=True)

    @property
    def wall_seconds(self) -> float:
        """Seconds from the beginning of the first batch to the end of the last that came back."""
        return self._last - self._first

    def remaining(self) -> float | None:
        """Estimate of the seconds left: the forecast of the batches left, corrected by what the done batches took.

        Before the first batch is done, and where there is no forecast, the rate of the cells done and in progress
        counts; None where there are none.
        """
        reached = self.done + sum(self._shares)
        if not self._forecast_done or not self._measured:
            gained = reached - self._at_first
            return (time.monotonic() - self._began) * (self.total - reached) / gained if gained > 0 else None
        # A worker's first batch also pays for its start: until much is done, the forecast itself has weight.
        correction = (self.core_seconds + WEIGHT) / (self._forecast_done + WEIGHT)
        left = self._forecast - self._forecast_done - sum(self._shares) * self._forecast / self.total
        return max(left, 0.0) * correction / (self._workers * self._runs)

    def state(self) -> str:
        """One line of text: cells done, failures, cells in progress, time left."""
        parts = [f"{self.done:,} of {self.total:,} cells{self._which}"]
        parts += [f"{self.diverged:,} diverged"] if self.diverged else []
        parts += [f"{self.failed:,} FAILED"] if self.failed else []
        if self._shares and self.done + len(self._shares) <= self.total:  # else one of them came back meanwhile
            parts.append(
                f"{len(self._shares):,} in progress ({sum(self._shares) / len(self._shares):.0%} of their steps)"
            )
        parts += [shared_text(self._runs)] if self._runs > 1 else []
        left = self.remaining()
        if left is not None and self.done < self.total:
            parts.append(f"about {duration(left)} left")
        return ", ".join(parts)

    def _show(self, first: bool = False, last: bool = False) -> None:
        """Updates the display."""


class Lines(Progress):
    """Progress as plain lines: the first, the last, and at most one every few seconds between."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._shown = 0.0
        self._text = ""

    def line(self, text: str) -> None:
        """Prints a line."""
        print(fitted(text, self._stream), file=self._stream, flush=True)

    def _show(self, first: bool = False, last: bool = False) -> None:
        now, text = time.monotonic(), self.state()
        if not self.total or text == self._text or not (first or last or now - self._shown >= EVERY):
            return
        self._shown, self._text = now, text
        self.line(f"[{duration(now - self._began)}] {text}")


class Live(Progress):
    """Progress as a bar on a terminal."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._console = Console(file=stream, highlight=False)
        self._bars = Bars(SpinnerColumn(), BarColumn(), TextColumn("{task.description}"), console=self._console)
        self._task: Any = None

    def line(self, text: str) -> None:
        """Prints a line above the bar."""
        self._console.print(Text(legible(text)))

    def _show(self, first: bool = False, last: bool = False) -> None:
        if first and self.total:
            if self._task is not None:  # of an earlier round
                self._bars.remove_task(self._task)
            self._bars.start()
            self._task = self._bars.add_task("", total=self.total)
        if self._task is not None:
            self._bars.update(self._task, completed=self.done, description=self.state())
        if last:
            self._bars.stop()


def shared_text(runs: int) -> str:
    """How many runs share each GPU, in words."""
    return "one run on each GPU" if runs == 1 else f"{runs} runs share each GPU"


def progress_for(stream: TextIO | None = None) -> Progress:
    """The display for a stream (standard error if None): a bar on a terminal, lines elsewhere."""
    stream = stream or sys.stderr
    if stream is None:  # a process without standard streams
        return Progress()
    return Live(stream) if stream.isatty() else Lines(stream)
