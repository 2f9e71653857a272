"""Visitors' SQL: each query in a sandboxed process with a deadline, few at once, the others wait or are sent away."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil
import pyarrow as pa

from swingby import sandbox
from swingby.cli.data import Format, encoded
from swingby.errors import SwingbyError
from swingby.store import Layout

T = TypeVar("T")
REMEMBERED = 64 * 2**20
"""Bytes of answers, with their questions, that are kept to be given again."""
ANSWERS = 1000
"""How many of them are."""


@dataclass(frozen=True)
class Limits:
    """What a visitor may ask for.

    Attributes:
        rows, bytes: of an answer.
        seconds, memory, threads: of a query.
        length: characters of a query.
        at_once: queries that run side by side.
        waiting: queries that wait for one of these to end; more are refused at once.
        patience: seconds that one waits before it is refused.
    """

    rows: int = 100_000
    bytes: int = 64 * 2**20
    seconds: float = 10.0
    memory: str = "1GB"
    threads: int = 2
    length: int = 8_000
    at_once: int = 2
    waiting: int = 200
    patience: float = 30.0


class BusyError(SwingbyError):
    """Too many queries at once; `after` seconds from now it is worth another try."""

    def __init__(self, after: int) -> None:
        super().__init__("the server is busy with other queries; try again in a moment")
        self.after = after


@dataclass(frozen=True)
class Answer:
    """What a query gave.

    Attributes:
        cut: whether rows beyond the limit were left out.
        generation: of the store; None if another one was published meanwhile, so that it may be of either.
        seconds: what it took when it was computed.
    """

    rows: pa.Table
    cut: bool
    generation: int | None
    seconds: float


class Queries:
    """Answers queries on one data folder.

    A generation never changes, so a query that is asked again of the same one is not computed again: those who ask
    while it runs share it, and later ones get what is remembered.
    """

    def __init__(self, data: Path, limits: Limits) -> None:
        self.data, self.limits = data, limits
        self._layout = Layout(data)
        self._slots = asyncio.Semaphore(limits.at_once)
        self._waiting = 0
        self._flying: dict[tuple[int, str, int], asyncio.Task[Answer]] = {}
        self._known: OrderedDict[tuple[int, str, int], Answer] = OrderedDict()
        # Threads of its own: a query's process ends with the thread that started it, and these stay until the end.
        self._threads = ThreadPoolExecutor(limits.at_once + 2, thread_name_prefix="query")

    async def ask(self, sql: str, limit: int) -> Answer:
        """The rows of a query, at most `limit`.

        Raises:
            BusyError: too many queries run and wait.
            SwingbyError: the query is refused, fails or takes too long; or the store cannot be read.
        """
        newest = await self.apart(self._layout.newest)
        key = (newest.number if newest else 0, sql, limit)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        if key not in self._flying:
            task = asyncio.create_task(self._answer(*key))
            self._flying[key] = task
            task.add_done_callback(lambda done: self._landed(key, done))
        return await asyncio.shield(self._flying[key])  # one visitor who goes away takes nothing from the others

    async def encoded(self, answer: Answer, form: Format) -> bytes:
        """The rows as a file.

        Raises:
            SwingbyError: the format has no place for a column's type.
        """
        return await self.apart(lambda: _file(answer.rows, form))

    async def apart(self, work: Callable[[], T]) -> T:
        """Does something in a thread, so that nobody waits for it who does not need it."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        """Ends the queries that still run."""
        for process in psutil.Process().children():
            with suppress(psutil.Error):
                if any(part.endswith("swingby.sandbox") for part in process.cmdline()):
                    process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def _answer(self, generation: int, sql: str, limit: int) -> Answer:
        if self._waiting >= self.limits.waiting:
            raise BusyError(max(1, round(self.limits.patience)))
        self._waiting += 1
        try:
            async with asyncio.timeout(self.limits.patience):
                await self._slots.acquire()
        except TimeoutError:
            raise BusyError(max(1, round(self.limits.seconds))) from None
        finally:
            self._waiting -= 1
        try:
            return await self.apart(lambda: self._computed(generation, sql, limit))
        finally:
            self._slots.release()

    def _computed(self, generation: int, sql: str, limit: int) -> Answer:
        most, began = self.limits, time.perf_counter()
        rows = sandbox.query(
            self.data,
            sql,
            limit_rows=limit,
            timeout=most.seconds,
            memory=most.memory,
            threads=most.threads,
            limit_bytes=most.bytes,
        )
        after = self._layout.newest()
        same = after is not None and after.number == generation
        cut = (rows.schema.metadata or {}).get(b"cut") == b"true"
        return Answer(rows, cut, generation if same else None, time.perf_counter() - began)

    def _landed(self, key: tuple[int, str, int], done: asyncio.Task[Answer]) -> None:
        del self._flying[key]
        if done.cancelled() or done.exception() is not None or done.result().generation is None:
            return
        self._known[key] = done.result()
        while len(self._known) > ANSWERS or sum(map(_weight, self._known.items())) > REMEMBERED:
            self._known.popitem(last=False)


def _weight(item: tuple[tuple[int, str, int], Answer]) -> int:
    """Bytes of a remembered answer with its question."""
    (_, sql, _), answer = item
    return answer.rows.nbytes + len(sql)


def _file(rows: pa.Table, form: Format) -> bytes:
    try:
        return encoded(rows, form)
    except Exception as error:  # whatever Arrow and polars make of types that the format has no place for
        raise SwingbyError(f"these rows cannot be written as {form.value}: {error}; cast the column to text") from error
