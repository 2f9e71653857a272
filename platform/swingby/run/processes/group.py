"""Supervision of a process group: what the caller raises when another rank dies or raises."""

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
from swingby.model.process_group import LostWorkerError, ProcessGroup, Rank, RankError, function

JOIN_SECONDS = 60.0
"""Seconds for ranks to return once the caller has; then they are killed."""
POLL_SECONDS = 0.5
"""How often the ranks of a caller that can be interrupted are polled."""
GRACE_SECONDS = 5.0
"""Seconds for such a caller to notice by itself that a rank died or raised."""
LONGEST_MESSAGE = 2000


@dataclass(frozen=True, slots=True)
class End:
    """The end of a rank: it died (`lost` is the cause), it raised (`raised` is the message, `at` the time), or it
    returned (both None).

    Attributes:
        retryable: the rank raised only because another process was lost.
    """

    rank: int
    lost: str | None = None
    raised: str | None = None
    at: float = 0.0
    retryable: bool = False


class StartedRanks(ABC):
    """The ranks of a group other than the caller, once they are started."""

    @abstractmethod
    def ended(self) -> Sequence[End]:
        """The ranks that ended so far."""

    @abstractmethod
    def joined(self, seconds: float) -> Sequence[End]:
        """The ranks that ended, after a wait until all have returned, one has died or raised, or the time is over."""

    @abstractmethod
    def ended_soon(self) -> Sequence[End]:
        """The ranks that ended, after a short wait in which a rank that died or raised can show it."""

    @abstractmethod
    def kill(self) -> None:
        """Kills the ranks that still run."""


class SupervisedGroup(ProcessGroup):
    """A process group whose caller supervises the ranks it starts."""

    def __init__(self, size: int) -> None:
        self._size = size

    @property
    def size(self) -> int:
        return self._size

    @abstractmethod
    def rendezvous(self) -> tuple[str, int]:
        """The address and port at which the other ranks find the caller."""

    @abstractmethod
    def start_ranks(self, ranks: Sequence[Rank], target: str, payload: Any) -> StartedRanks:
        """Starts the processes of these ranks."""

    @contextmanager
    def start(self, target: str, payload: Any, abort: Callable[[], object] | None = None) -> Iterator[Rank]:
        address, port = self.rendezvous()
        me, *others = (Rank(rank, self.size, address, port) for rank in range(self.size))
        ranks = self.start_ranks(others, target, payload)
        try:
            try:
                with _interrupting(ranks, abort):
                    yield me
            except SwingbyError:
                raise
            except Exception as error:
                _raise_failures(ranks.ended_soon(), self.size, error)
                raise
            _raise_failures(ranks.joined(JOIN_SECONDS), self.size)
        finally:
            ranks.kill()


@contextmanager
def _interrupting(ranks: StartedRanks, abort: Callable[[], object] | None) -> Iterator[None]:
    """While inside, a thread calls `abort` if a rank died or raised and the caller does not notice by itself."""
    if abort is None:
        yield
        return
    done = threading.Event()

    def poll() -> None:
        while not done.wait(POLL_SECONDS):
            if any(end.lost or end.raised for end in ranks.ended()):
                if not done.wait(GRACE_SECONDS):
                    try:
                        abort()
                    except Exception:
                        logging.getLogger(__name__).exception("a process of a group is gone, its caller waits")
                return

    thread = threading.Thread(target=poll, name="group", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(JOIN_SECONDS)


def _raise_failures(ends: Sequence[End], size: int, cause: Exception | None = None) -> None:
    """Raises what happened to other ranks, if anything did. A death counts before all that it may have caused, and any
    other error before the errors of ranks that lost a process.

    Args:
        cause: the error of the caller.
    """
    lost = [f"the process of rank {end.rank} (of {size}) {end.lost}" for end in ends if end.lost]
    if lost:
        raise LostWorkerError("; ".join(lost)) from cause
    raised = {end.rank: end.raised for end in sorted(ends, key=lambda end: end.at) if end.raised}
    if raised and all(end.retryable for end in ends if end.raised) and isinstance(cause, LostWorkerError | None):
        if cause is None:
            raise LostWorkerError("; ".join(f"rank {rank} (of {size}): {text}" for rank, text in raised.items()))
        return
    if raised:
        # Clocks of several machines cannot tell for sure which error came first: all of them are shown.
        also = {} if cause is None else {0: error_text(cause)}
        raise RankError("\n".join(f"rank {rank} (of {size}): {text}" for rank, text in (raised | also).items()))


def run_target(target: str, rank: Rank, payload: Any) -> tuple[str | None, float, bool]:
    """Calls the target in a rank's process; returns the message that it raised, the time, and whether the error is that
    another process was lost."""
    try:
        function(target)(rank, payload)
    except LostWorkerError as error:
        return str(error), time.time(), True
    except BaseException as error:
        return error_text(error), time.time(), False
    return None, time.time(), False


def error_text(error: BaseException) -> str:
    """The message of an exception and the end of its traceback, short enough for a table."""
    message = "".join(traceback.format_exception_only(error)).strip()
    frames = [line.strip() for line in traceback.format_tb(error.__traceback__)[-3:]]
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", "\n".join([message, *frames]))
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 3] + "..."
