"""Gangs that are watched: what becomes of a batch when one of its processes dies or raises."""

from __future__ import annotations

import logging
import re
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from swingby.errors import SwingbyError
from swingby.model.process_group import Gang, LostWorkerError, Member, MemberError, function

JOIN_SECONDS = 60.0
"""How long members may take to return once the caller has; then they are ended."""
LOOK_SECONDS = 0.5
"""How often a caller that can be interrupted has its members looked at."""
GRACE_SECONDS = 5.0
"""How long such a caller may take to notice by itself that one of them died or raised."""
LONGEST_MESSAGE = 2000


@dataclass(frozen=True, slots=True)
class End:
    """How a member ended: it died (`lost` says how), it raised (what, and when), or, with neither, it returned.

    `blameless`: what it raised is that another process was lost.
    """

    rank: int
    lost: str | None = None
    raised: str | None = None
    at: float = 0.0
    blameless: bool = False


class Crew(ABC):
    """The members of a gang that were started."""

    @abstractmethod
    def ended(self) -> Sequence[End]:
        """Those that ended so far."""

    @abstractmethod
    def joined(self, seconds: float) -> Sequence[End]:
        """Waits so long for all of them to return, or for one not to; those that ended."""

    @abstractmethod
    def noticed(self) -> Sequence[End]:
        """After the caller's work failed: those that ended, once a member that died or raised had time to show it."""

    @abstractmethod
    def end(self) -> None:
        """Ends those that still run."""


class Watched(Gang):
    """A gang of a caller and a crew."""

    def __init__(self, size: int) -> None:
        self._size = size

    @property
    def size(self) -> int:
        return self._size

    @abstractmethod
    def meeting(self) -> tuple[str, int]:
        """Address and port where the others find the caller."""

    @abstractmethod
    def begin(self, members: Sequence[Member], target: str, payload: Any) -> Crew:
        """Starts these members."""

    @contextmanager
    def start(self, target: str, payload: Any, abort: Callable[[], object] | None = None) -> Iterator[Member]:
        address, port = self.meeting()
        me, *others = (Member(rank, self.size, address, port) for rank in range(self.size))
        crew = self.begin(others, target, payload)
        try:
            try:
                with _looked_after(crew, abort):
                    yield me
            except SwingbyError:
                raise
            except Exception as error:
                _tell(crew.noticed(), self.size, error)
                raise
            _tell(crew.joined(JOIN_SECONDS), self.size)
        finally:
            crew.end()


@contextmanager
def _looked_after(crew: Crew, abort: Callable[[], object] | None) -> Iterator[None]:
    """While the caller works, it is interrupted should it not notice that a member died or raised."""
    if abort is None:
        yield
        return
    left = threading.Event()
    thread = threading.Thread(target=_look_after, args=(crew, abort, left), name="gang", daemon=True)
    thread.start()
    try:
        yield
    finally:
        left.set()
        thread.join(JOIN_SECONDS)


def _look_after(crew: Crew, abort: Callable[[], object], left: threading.Event) -> None:
    while not left.wait(LOOK_SECONDS):
        if any(end.lost or end.raised for end in crew.ended()):
            if not left.wait(GRACE_SECONDS):
                try:
                    abort()
                except Exception:
                    logging.getLogger(__name__).exception("a process of a gang is gone, and its caller still waits")
            return


def _tell(ends: Sequence[End], size: int, own: Exception | None = None) -> None:
    """Raises what happened to members, if anything did: a death comes before all that it may have caused, and what
    some process raised before what others made of its end."""
    lost = [f"the process of rank {end.rank} (of {size}) {end.lost}" for end in ends if end.lost]
    if lost:
        raise LostWorkerError("; ".join(lost)) from own
    raised = {end.rank: end.raised for end in sorted(ends, key=lambda end: end.at) if end.raised}
    if raised and all(end.blameless for end in ends if end.raised) and isinstance(own, LostWorkerError | None):
        if own is None:
            raise LostWorkerError("; ".join(f"rank {rank} (of {size}): {text}" for rank, text in raised.items()))
        return
    if raised:
        # Which of them came first cannot be known for sure, with clocks of several machines: all of it is told.
        also = {} if own is None else {0: told(own)}
        raise MemberError("\n".join(f"rank {rank} (of {size}): {text}" for rank, text in (raised | also).items()))


def answer(target: str, member: Member, payload: Any) -> tuple[str | None, float, bool]:
    """A member's whole life: calls the target; what it raised, when, and whether that is a process that was lost."""
    try:
        function(target)(member, payload)
    except LostWorkerError as error:
        return str(error), time.time(), True
    except BaseException as error:
        return told(error), time.time(), False
    return None, time.time(), False


def told(error: BaseException) -> str:
    """What an exception says, and the end of its traceback, as short as a table can bear."""
    said = "".join(traceback.format_exception_only(error)).strip()
    frames = [line.strip() for line in traceback.format_tb(error.__traceback__)[-3:]]
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", "\n".join([said, *frames]))
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 3] + "..."
