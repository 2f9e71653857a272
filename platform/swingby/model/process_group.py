"""The process group of a batch: the processes that train it together, as an experiment sees them."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

from swingby.errors import SwingbyError


class LostWorkerError(Exception):
    """A process of a group died, or its machine did: no cell is at fault, and the batch is tried again."""


class SpoiledError(LostWorkerError):
    """This process can train nothing any more, for example after a fault of its GPU; another process can."""


class RankError(Exception):
    """A process of a group raised; the text is its message."""


@dataclass(frozen=True, slots=True)
class Rank:
    """One process of a group.

    Attributes:
        rank: its number; 0 is the caller of `ProcessGroup.start`.
        size: how many processes the group has.
        address, port: where rank 0 may listen, and the other ranks find it.
    """

    rank: int
    size: int
    address: str
    port: int


class ProcessGroup(ABC):
    """Processes that train a batch together: the caller, which has rank 0, and those that it starts."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many processes the group has, with the caller."""

    @abstractmethod
    def start(
        self, target: str, payload: Any, abort: Callable[[], object] | None = None
    ) -> AbstractContextManager[Rank]:
        """While inside, processes of rank 1 .. size - 1 run; gives the caller's own `Rank`.

        The other ranks end with the block, or with the caller. At the end of a block without an error the caller waits
        until they return. A block that waits for another rank needs a time limit, or an `abort`.

        Args:
            target: "module:function"; each other rank calls it with its `Rank` and the payload.
            payload: the data that the other ranks need; it is pickled.
            abort: makes the caller raise, whatever it waits for. Another thread calls it where a rank died or raised
                and the caller has not noticed for seconds; None: nothing interrupts the caller.

        Raises:
            LostWorkerError: a rank died; replaces whatever the caller raised. Or every rank that raised raised this
                error, and the caller nothing else.
            RankError: a rank raised; with its message, and that of the caller.
            SwingbyError: the ranks cannot be started.
        """


class Alone(ProcessGroup):
    """The group of one process."""

    @property
    def size(self) -> int:
        return 1

    @contextmanager
    def start(self, target: str, payload: Any, abort: Callable[[], object] | None = None) -> Iterator[Rank]:
        yield Rank(0, 1, "127.0.0.1", free_port())


ALONE = Alone()


def free_port(address: str = "127.0.0.1") -> int:
    """A port of this machine that is free now."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])


def function(target: str) -> Callable[[Rank, Any], object]:
    """The function that "module:function" names.

    Raises:
        SwingbyError: there is no such function.
    """
    try:
        return EntryPoint("rank", target, "swingby.ranks").load()
    except (ImportError, AttributeError) as error:
        allowed = "allowed: module:function"
        raise SwingbyError(f"{target!r} is no function that a process can call ({error}); {allowed}") from error
