"""A gang: the processes that train one batch together, as an experiment sees them."""

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
    """A process of a gang died, or its machine did: no cell is at fault, and the batch is tried again."""


class SpoiledError(LostWorkerError):
    """This process can train nothing any more, as after a fault of its GPU; another one can."""


class MemberError(Exception):
    """A process of a gang raised: what it said."""


@dataclass(frozen=True, slots=True)
class Member:
    """One process of a gang.

    Attributes:
        rank: 0 is the caller of `Gang.start`.
        size: how many processes there are.
        address, port: where rank 0 may listen, and the others find it.
    """

    rank: int
    size: int
    address: str
    port: int


class Gang(ABC):
    """Processes that train a batch together: the caller, of rank 0, and those it starts."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many processes there are, the caller among them."""

    @abstractmethod
    def start(
        self, target: str, payload: Any, abort: Callable[[], object] | None = None
    ) -> AbstractContextManager[Member]:
        """While inside, processes of rank 1 .. size - 1 run; the caller gets its own membership.

        They end with the block, or with the caller; whoever leaves it without an error waits for them to return. Who
        waits for another process inside should do so with a time limit, or say how the waiting can be ended.

        Args:
            target: "module:function"; each of them calls it with its `Member` and the payload.
            payload: what they have to know; it is pickled.
            abort: makes the caller raise, whatever it waits for. Another thread calls it where one of them died or
                raised and the caller has not noticed for seconds; None: nobody interrupts the caller's own work.

        Raises:
            LostWorkerError: one of them died; in the place of whatever the caller raised. Or all that raised raised
                this one, and the caller nothing else.
            MemberError: one of them raised; with what it said, and what the caller raised.
            SwingbyError: they cannot be started.
        """


class Alone(Gang):
    """The gang of one."""

    @property
    def size(self) -> int:
        return 1

    @contextmanager
    def start(self, target: str, payload: Any, abort: Callable[[], object] | None = None) -> Iterator[Member]:
        yield Member(0, 1, "127.0.0.1", free_port())


ALONE = Alone()


def free_port(address: str = "127.0.0.1") -> int:
    """A port of this machine that nobody uses now."""
    with socket.socket() as found:
        found.bind((address, 0))
        return int(found.getsockname()[1])


def function(target: str) -> Callable[[Member, Any], object]:
    """The function behind "module:function".

    Raises:
        SwingbyError: there is none.
    """
    try:
        return EntryPoint("member", target, "swingby.gangs").load()
    except (ImportError, AttributeError) as error:
        allowed = "allowed: module:function"
        raise SwingbyError(f"{target!r} is nothing that processes can be told to call ({error}); {allowed}") from error
