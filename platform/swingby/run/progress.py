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

from swingby.run.estimate import Estimate, Left
from swingby.text import fitted, legible
from swingby.units import duration

if TYPE_CHECKING:
    from swingby.run.forecast import Planned
    from swingby.run.worker.batch import BatchDone

EVERY = 3.0
"""Seconds between plain lines, so that a log stays readable."""
FEW = 20
"""Cells below which a line says how many the time left was measured on."""
OFTEN = 0.1
"""Least seconds between two texts beside a bar."""


class Progress:
    """Counts the cells and seconds of a run without any output; base class of the two displays."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.total = self.done = self.failed = self.diverged = self.batches = 0
        self.core_seconds = 0.0
        self._estimate = Estimate(measured=False)
        self._cpus_of: dict[tuple[str, int], float] = {}
        self.done_of: dict[str, int] = {}
        self._workers, self._runs = 1.0, 1
        self._named, self._which = False, ""
        self._shares: tuple[float, ...] = ()
        self._at_first = 0.0
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
        self._estimate.measured = all(note.forecast_seconds is not None for one in planned for note in one.batches)
        self._named = len(planned) > 1 or more
        for one in planned:
            self._expect(one)
        self._show(first=True)

    def _expect(self, planned: Planned) -> None:
        """Takes the batches of a plan as ones to come; with a single plan no batch needs the name of its plan."""
        plan_id, notes = planned.plan.plan_id if self._named else "", planned.batches
        keys, cpus = (
            [(plan_id, note.batch) for note in notes],
            [planned.batch_resources[one.shape].cpus for one in notes],
        )
        self._cpus_of.update(zip(keys, cpus, strict=True))
        loads = [(note.forecast_seconds or float(note.cells)) * count for note, count in zip(notes, cpus, strict=True)]
        self._estimate.add(keys, loads, cpus, planned.batch_sizes)

    def more(self, planned: Planned) -> None:
        """Counts the cells of a further plan, too, which was made while others run."""
        self.total += planned.missing
        self._estimate.measured &= all(note.forecast_seconds is not None for note in planned.batches)
        self._expect(planned)
        self._show()

    def measuring(self, planned: Planned) -> None:
        """Begins to count the pilot cells of a plan."""
        self._reset()
        self.total, self._which = sum(note.cells for note in planned.batches), " that measure the cost"
        self._show(first=True)

    def left_out(self, cells: int) -> None:
        """Takes cells off the count that are not trained now."""
        self.total -= cells

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
            self._estimate.done(keys, done.seconds, done.share)
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
        """Estimate of the seconds left; None where nothing is known."""
        left = self.left()
        return None if left is None else left.seconds

    def left(self) -> Left | None:
        """Estimate of the seconds left, and its range: what is forecast for the batches left, by what those took that
        are done.

        Before the first batch is done the rate counts at which cells in progress go on; None where there are none.
        """
        now, reached = time.monotonic(), self.done + sum(self._shares)
        elapsed = now - self._first if self.batches else 0.0
        left = self._estimate.left(self._workers * self._runs, sum(self._shares) / max(1, self.total), elapsed)
        gained = reached - self._at_first
        if left is None and gained > 0:
            seconds = (now - self._began) * (self.total - reached) / gained
            return Left(seconds, 0.7 * seconds, 1.4 * seconds)
        return left

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
        left = self.left()
        if left is not None and self.done < self.total:
            few = f" (measured on {self.done:,})" if 0 < self.done < FEW else ""
            parts.append(f"about {left} left{few}")
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
        now = time.monotonic()
        if not self.total or not (first or last or now - self._shown >= EVERY) or (text := self.state()) == self._text:
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
        self._shown = 0.0

    def line(self, text: str) -> None:
        """Prints a line above the bar."""
        self._console.print(Text(legible(text)))

    def _show(self, first: bool = False, last: bool = False) -> None:
        if first and self.total:
            if self._task is not None:  # of an earlier round
                self._bars.remove_task(self._task)
            self._bars.start()
            self._task = self._bars.add_task("", total=self.total)
        now = time.monotonic()
        if self._task is not None and (first or last or now - self._shown >= OFTEN):
            self._shown = now
            self._bars.update(self._task, total=self.total, completed=self.done, description=self.state())
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
