"""Dealing: which batches of the plans go into the next trial, by what cells turn out to cost while the run goes on; and
what becomes of those whose processes die."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from swingby.run.batches import SHORTEST, TURNS
from swingby.run.deadline import FACTOR, FLOOR, UNKNOWN

if TYPE_CHECKING:
    from swingby.data.records import BatchNote
    from swingby.run.planned import Planned

RETRIES = 3
"""How often a cell that is trained alone is tried again when its process died; then it is given up."""
TOGETHER = 2
"""How often the processes of several cells may die before they are parted; halves are parted at the first death."""
GROWTH = 8
"""How many times larger than the largest that came back a trial may be: a first one tells little of large ones."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Batches of one shape that are trained together, or a part of their cells.

    Attributes:
        part: where of their cells it begins and ends; None: all of them.
        attempt: how many attempts there were before at cells of these batches.
        deaths: what its processes died of, each time; those of the larger ones that it is a part of do not count.
    """

    planned: Planned
    notes: tuple[BatchNote, ...]
    part: tuple[int, int] | None = None
    attempt: int = 0
    deaths: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The subject of a sentence, with its verb."""
        if self.part is None:
            return named(self.batches)
        which = f"batch {self.batches[0]}" if len(self.batches) == 1 else f"batches {self.batches[0]} ..."
        return f"one cell of {which} is" if self.cells == 1 else f"{self.cells:,} cells of {which} are"

    @property
    def key(self) -> tuple[str, int, int]:
        """What tells it from all others that are out: its plan, its first batch and its first cell."""
        return self.planned.plan.plan_id, self.batches[0], self.low

    @property
    def batches(self) -> tuple[int, ...]:
        """Their numbers in the plan."""
        return tuple(note.batch for note in self.notes)

    @property
    def cells(self) -> int:
        """How many cells it has."""
        return self.whole if self.part is None else self.part[1] - self.part[0]

    @property
    def whole(self) -> int:
        """How many cells its batches have."""
        return sum(note.cells for note in self.notes)

    @property
    def low(self) -> int:
        """Which of their cells is its first."""
        return 0 if self.part is None else self.part[0]

    @property
    def tries(self) -> int:
        """How often it is tried before it is parted, or given up."""
        if self.cells == 1:
            return RETRIES + 1
        return TOGETHER if self.part is None else 1

    def halves(self) -> tuple[Trial, Trial]:
        """The first half of its cells, and the second."""
        low, high = self.low, self.low + self.cells
        middle = (low + high + 1) // 2
        first, second = (replace(self, part=part, deaths=()) for part in ((low, middle), (middle, high)))
        return first, second

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
        self._again: deque[Trial] = deque()
        self._turn = True
        self._attempts: Counter[tuple[str, int]] = Counter()

    def __iter__(self) -> Iterator[Trial]:
        while (trial := self.next()) is not None:
            yield trial

    def next(self) -> Trial | None:
        """The next trial; None if everything was handed out.

        What died and what is new take turns: what dies of itself tells nothing of the machine, and holds nobody up.
        """
        head = next(iter(self._waiting), None)
        self._turn = bool(self._again) and (self._turn or head is None)
        if self._turn:
            self._turn = False
            return self._numbered(self._again.popleft())
        if head is None:
            return None
        self._turn = True
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
        return self._numbered(Trial(one, tuple(notes)))

    def _numbered(self, trial: Trial) -> Trial:
        """The trial with the number of its attempt: no two at cells of the same batches have one."""
        attempt = self._attempts[trial.key[:2]]
        self._attempts[trial.key[:2]] += 1
        return replace(trial, attempt=attempt)

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

    def died(self, trial: Trial, reason: str) -> tuple[Trial, ...]:
        """The process of a trial died: what is dealt next in its place. Itself, or its halves; nothing, if it is one
        cell that was tried often enough.
        """
        died = replace(trial, deaths=(*trial.deaths, reason))
        again = (died,) if len(died.deaths) < trial.tries else died.halves() if trial.cells > 1 else ()
        self._again.extend(again)
        return again

    def deadline(self, trial: Trial) -> float:
        """Seconds for which a trial may give no sign of life."""
        if trial.planned.deadline is not None:
            return trial.planned.deadline
        pace = self._paces.get((trial.planned.plan.experiment, trial.notes[0].shape))
        forecast = [note.forecast_seconds for note in trial.notes]
        known = [] if pace is None else [pace.each * trial.cells]
        if None not in forecast:
            known.append(sum(filter(None, forecast)) * trial.cells / max(trial.whole, 1))
        return max(FLOOR, FACTOR * max(known)) if known else UNKNOWN

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
