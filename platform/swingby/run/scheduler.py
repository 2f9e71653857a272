"""The scheduler: which batches form the next trial, by the cost of cells so far, and what replaces one that died."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from swingby.run.batches import SHORTEST, TURNS
from swingby.run.options import DEADLINE_FACTOR, SHORTEST_DEADLINE, UNKNOWN_DEADLINE

if TYPE_CHECKING:
    from pathlib import Path

    from swingby.data.records import BatchNote, Records
    from swingby.run.forecast import Planned

RETRIES = 3
"""How often a cell that is trained alone is retried when its process died; then it is given up."""
TOGETHER = 2
"""How often the process of several cells may die before the trial is halved; halves are halved at the first death."""
GROWTH = 8
"""How many times larger than the largest finished trial the next may be: small trials tell little of large ones."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Batches of one shape that are trained together, or a part of their cells.

    Attributes:
        part: the range of the batches' cells, from .. to; None: all of them.
        attempt: how many attempts at cells of these batches came before.
        deaths: the causes of death of this trial's processes; those of a trial it is a half of do not count.
    """

    planned: Planned
    notes: tuple[BatchNote, ...]
    part: tuple[int, int] | None = None
    attempt: int = 0
    deaths: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The subject of a sentence, with its verb."""
        if self.part is None:
            numbers = ", ".join(map(str, self.batches))
            return f"batch {numbers} is" if len(self.batches) == 1 else f"batches {numbers} are"
        which = f"batch {self.batches[0]}" if len(self.batches) == 1 else f"batches {self.batches[0]} ..."
        return f"one cell of {which} is" if self.cells == 1 else f"{self.cells:,} cells of {which} are"

    @property
    def key(self) -> tuple[str, int, int]:
        """The identity of the trial among those in flight: its plan, its first batch and its first cell."""
        return self.planned.plan.plan_id, self.batches[0], self.low

    @property
    def batches(self) -> tuple[int, ...]:
        """The numbers of its batches in the plan."""
        return tuple(note.batch for note in self.notes)

    @property
    def cells(self) -> int:
        """How many cells the trial has."""
        return self.batch_cells if self.part is None else self.part[1] - self.part[0]

    @property
    def batch_cells(self) -> int:
        """How many cells its batches have together."""
        return sum(note.cells for note in self.notes)

    @property
    def low(self) -> int:
        """The place of its first cell among those of its batches."""
        return 0 if self.part is None else self.part[0]

    @property
    def tries(self) -> int:
        """How often it is tried before it is halved, or given up."""
        if self.cells == 1:
            return RETRIES + 1
        return TOGETHER if self.part is None else 1

    def halves(self) -> tuple[Trial, Trial]:
        """A trial of the first half of its cells, and one of the second."""
        low, high = self.low, self.low + self.cells
        middle = (low + high + 1) // 2
        first, second = (replace(self, part=part, deaths=()) for part in ((low, middle), (middle, high)))
        return first, second

    @property
    def device(self) -> str:
        """The device that it runs on."""
        return self.planned.device(self.notes[0])

    def which(self, records: Records) -> tuple[Path, str, tuple[int, ...], tuple[int, int] | None, int, str]:
        """What an `Assignment` begins with: where the trial is, and on which device."""
        return records.data, self.planned.plan.plan_id, self.batches, self.part, self.attempt, self.device


@dataclass(slots=True)
class _Rate:
    """The rate of one shape: the fewest seconds a cell took in a trial, and the cells of the largest trial.

    The fewest count because the first trial of a process also pays for its start.
    """

    each: float
    largest: int


class Source(Protocol):
    """Plans that are made while others run."""

    @property
    def ended(self) -> bool:
        """Whether no further plan will come."""
        ...

    def take(self) -> Planned | None:
        """A further plan, if one is ready.

        Raises:
            SwingbyError: it cannot be run.
        """
        ...


class Scheduler:
    """Hands out the batches of some plans, each once and in the plans' order, as trials of about their target seconds.

    Args:
        planned: the plans to run.
        workers: how many trials run at once.
        source: of further plans.
    """

    def __init__(self, planned: Sequence[Planned], workers: int, source: Source | None = None) -> None:
        self._planned: list[Planned]
        self._planned, self._workers, self._source = [], max(1, workers), source
        # Both in the plans' order; what was handed out leaves both.
        self._waiting: dict[tuple[int, int], BatchNote] = {}
        self._of_shape: dict[tuple[int, str], deque[BatchNote]] = defaultdict(deque)
        self._cells: Counter[tuple[int, str]] = Counter()
        for one in planned:
            self._add(one)
        self._rates: dict[tuple[str, str], _Rate] = {}
        self._forecast = self._durations = 0.0
        self._retries, self._at_last = deque[Trial](), deque[Trial]()
        self._retry_next = True
        self._attempts: Counter[tuple[str, int]] = Counter()

    def _add(self, planned: Planned) -> None:
        """Takes the batches of a plan after all others."""
        place = len(self._planned)
        self._planned.append(planned)
        for note in planned.batches:
            self._waiting[place, note.batch] = note
            self._of_shape[place, note.shape].append(note)
            self._cells[place, note.shape] += note.cells

    @property
    def may_go_on(self) -> bool:
        """Whether there may be trials later, though there is none now."""
        return self._source is not None and not self._source.ended

    def __iter__(self) -> Iterator[Trial]:
        while (trial := self.next()) is not None:
            yield trial

    def next(self) -> Trial | None:
        """The next trial; None if everything was handed out that is planned so far.

        Retries and new trials alternate: cells that kill their process must not hold up the others.
        """
        while self._source is not None and len(self._waiting) < self._workers and (more := self._source.take()):
            self._add(more)
        head = next(iter(self._waiting), None)
        self._retry_next = bool(self._retries) and (self._retry_next or head is None)
        if self._retry_next:
            self._retry_next = False
            return self._numbered(self._retries.popleft())
        if head is None:
            return self._numbered(self._at_last.popleft()) if self._at_last else None
        self._retry_next = True
        place, shape = head[0], self._waiting[head].shape
        one, queue = self._planned[place], self._of_shape[place, shape]
        rate = self._rates.get((one.plan.experiment, shape))
        # Cells beyond the first batch: none until a trial of the shape has finished.
        limit = 0 if rate is None else min(one.max_batch[shape], GROWTH * rate.largest)
        seconds_left = self._target(one.options.target_seconds)
        notes: list[BatchNote] = []
        while queue and (not notes or queue[0].cells <= limit):
            seconds = self._seconds(place, shape, queue[0].cells)
            if notes and (seconds is None or seconds > seconds_left):
                break
            notes.append(queue.popleft())
            limit, seconds_left = limit - notes[-1].cells, seconds_left - (math.inf if seconds is None else seconds)
            self._cells[place, shape] -= notes[-1].cells
            del self._waiting[place, notes[-1].batch]
        return self._numbered(Trial(one, tuple(notes)))

    def _numbered(self, trial: Trial) -> Trial:
        """The trial with the number of its attempt, which no other trial of the same batches has."""
        attempt = self._attempts[trial.key[:2]]
        self._attempts[trial.key[:2]] += 1
        return replace(trial, attempt=attempt)

    def record_time(self, trial: Trial, seconds: float) -> None:
        """Notes how many seconds of training a whole trial took."""
        key = (trial.planned.plan.experiment, trial.notes[0].shape)
        each, rate = seconds / max(trial.cells, 1), self._rates.get(key)
        if rate is None:
            self._rates[key] = _Rate(each, trial.cells)
        else:
            rate.each, rate.largest = min(rate.each, each), max(rate.largest, trial.cells)
        forecast = [note.forecast_seconds for note in trial.notes]
        if None not in forecast:
            self._durations += seconds
            self._forecast += sum(filter(None, forecast))

    def retry(self, trial: Trial, reason: str) -> tuple[Trial, ...]:
        """Schedules what replaces a trial whose process died: the trial itself, its halves, or nothing for one cell
        that was tried often enough.
        """
        died = replace(trial, deaths=(*trial.deaths, reason))
        again = (died,) if len(died.deaths) < trial.tries else died.halves() if trial.cells > 1 else ()
        self._retries.extend(again)
        return again

    def again(self, trial: Trial, at_last: bool = False) -> None:
        """Schedules a trial once more whose end says nothing about it; perhaps when there is no other any more."""
        (self._at_last if at_last else self._retries).append(trial)

    def deadline(self, trial: Trial) -> float:
        """Seconds for which a trial may give no sign of life."""
        if trial.planned.options.deadline is not None:
            return trial.planned.options.deadline
        rate = self._rates.get((trial.planned.plan.experiment, trial.notes[0].shape))
        forecast = [note.forecast_seconds for note in trial.notes]
        known = [] if rate is None else [rate.each * trial.cells]
        if None not in forecast:
            known.append(sum(filter(None, forecast)) * trial.cells / max(trial.batch_cells, 1))
        return max(SHORTEST_DEADLINE, DEADLINE_FACTOR * max(known)) if known else UNKNOWN_DEADLINE

    def _seconds(self, place: int, shape: str, cells: int) -> float | None:
        """Forecast of the seconds that `cells` waiting cells of a plan and shape take; None if nothing is known."""
        rate = self._rates.get((self._planned[place].plan.experiment, shape))
        if rate is not None:
            return rate.each * cells
        note = self._of_shape[place, shape][0]
        if note.forecast_seconds is None:
            return None
        off = self._durations / self._forecast if self._forecast > 0 else 1.0
        return off * note.forecast_seconds * cells / note.cells

    def _target(self, proposed: float) -> float:
        """Seconds of the next trial: fewer towards the end, so that all workers end at about the same time."""
        left = [self._seconds(*shape, cells) for shape, cells in self._cells.items() if cells]
        known = [seconds for seconds in left if seconds is not None]
        if len(known) < len(left):
            return proposed
        return min(proposed, max(SHORTEST, sum(known) / (self._workers * TURNS)))
