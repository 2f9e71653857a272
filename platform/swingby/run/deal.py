"""Dealing: which batches of the plans go into the next trial, by what cells turn out to cost while the run goes on."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swingby.run.batches import SHORTEST, TURNS

if TYPE_CHECKING:
    from swingby.records import BatchNote
    from swingby.run.plan import Planned

RETRIES = 3
"""How often a batch is tried again a process of which died."""
GROWTH = 8
"""How many times larger than the largest that came back a trial may be: a first one tells little of large ones."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Batches of one shape that are trained together; `after`: the first one of the trial they were taken out of."""

    planned: Planned
    notes: tuple[BatchNote, ...]
    after: int | None = None

    def __str__(self) -> str:
        """The subject of a sentence, with its verb."""
        return named(self.batches)

    @property
    def batches(self) -> tuple[int, ...]:
        """Their numbers in the plan."""
        return tuple(note.batch for note in self.notes)

    @property
    def cells(self) -> int:
        """How many cells they have."""
        return sum(note.cells for note in self.notes)

    @property
    def device(self) -> str:
        """Where it runs."""
        return self.planned.device(self.notes[0])


def named(batches: Sequence[int]) -> str:
    """Batches as the subject of a sentence, with its verb."""
    numbers = ", ".join(map(str, batches))
    return f"batch {numbers} is" if len(batches) == 1 else f"batches {numbers} are"


@dataclass(slots=True)
class _Pace:
    """What trials of one shape took: the fewest seconds a cell (the first one of a process also pays for its start),
    and the most cells of one."""

    each: float
    largest: int


class Dealer:
    """Hands out the batches of some plans, in the plans' order and each once, as trials of about their target seconds.

    Args:
        planned: what to run.
        workers: how many trials run at once.
    """

    def __init__(self, planned: Sequence[Planned], workers: int) -> None:
        self._planned, self._workers = list(planned), max(1, workers)
        # Both in the plans' order, and both let go of what was handed out.
        self._waiting = {(place, note.batch): note for place, one in enumerate(planned) for note in one.batches}
        self._of_shape: dict[tuple[int, str], deque[BatchNote]] = defaultdict(deque)
        self._cells: Counter[tuple[int, str]] = Counter()
        for (place, _), note in self._waiting.items():
            self._of_shape[place, note.shape].append(note)
            self._cells[place, note.shape] += note.cells
        self._paces: dict[tuple[str, str], _Pace] = {}
        self._forecast = self._took = 0.0
        self._apart: deque[Trial] = deque()

    def __iter__(self) -> Iterator[Trial]:
        while (trial := self.next()) is not None:
            yield trial

    def next(self) -> Trial | None:
        """The next trial; None if everything was handed out."""
        if self._apart:
            return self._apart.popleft()
        head = next(iter(self._waiting), None)
        if head is None:
            return None
        place, shape = head[0], self._waiting[head].shape
        one, queue = self._planned[place], self._of_shape[place, shape]
        limit, room = self._limit(one, shape), self._target(one.target)
        notes: list[BatchNote] = []
        while queue and (not notes or queue[0].cells <= limit):
            seconds = self._seconds(place, shape, queue[0].cells)
            if notes and (seconds is None or seconds > room):
                break
            notes.append(queue.popleft())
            limit, room = limit - notes[-1].cells, room - (math.inf if seconds is None else seconds)
            self._cells[place, shape] -= notes[-1].cells
            del self._waiting[place, notes[-1].batch]
        return Trial(one, tuple(notes))

    def took(self, trial: Trial, seconds: float) -> None:
        """A trial came back whole after so many seconds of training."""
        key = (trial.planned.plan.experiment, trial.notes[0].shape)
        each, pace = seconds / max(trial.cells, 1), self._paces.get(key)
        if pace is None:
            self._paces[key] = _Pace(each, trial.cells)
        else:
            pace.each, pace.largest = min(pace.each, each), max(pace.largest, trial.cells)
        forecast = [note.forecast_seconds for note in trial.notes]
        if None not in forecast:
            self._took += seconds
            self._forecast += sum(filter(None, forecast))

    def take_apart(self, trial: Trial) -> bool:
        """The batches of a trial whose process died too often are dealt once more, one by one; False if it has one."""
        if len(trial.notes) > 1:
            self._apart += [Trial(trial.planned, (note,), trial.batches[0]) for note in trial.notes]
        return len(trial.notes) > 1

    def _seconds(self, place: int, shape: str, cells: int) -> float | None:
        """What so many waiting cells of a plan and shape should take; None if nothing is known."""
        pace = self._paces.get((self._planned[place].plan.experiment, shape))
        if pace is not None:
            return pace.each * cells
        note = self._of_shape[place, shape][0]
        if note.forecast_seconds is None:
            return None
        off = self._took / self._forecast if self._forecast > 0 else 1.0
        return off * note.forecast_seconds * cells / note.cells

    def _target(self, wanted: float) -> float:
        """Seconds of the next trial: towards the end short ones, so that all workers end at about the same time."""
        left = [self._seconds(*shape, cells) for shape, cells in self._cells.items() if cells]
        known = [seconds for seconds in left if seconds is not None]
        if len(known) < len(left):
            return wanted
        return min(wanted, max(SHORTEST, sum(known) / (self._workers * TURNS)))

    def _limit(self, one: Planned, shape: str) -> int:
        """The most cells of a trial: one batch, until the cost of such cells was seen."""
        pace = self._paces.get((one.plan.experiment, shape))
        return 0 if pace is None else min(one.most[shape], GROWTH * pace.largest)
