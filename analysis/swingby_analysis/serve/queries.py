"""The SQL of visitors: each query in a sandboxed process with a deadline, a few at once; others wait or are refused."""

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
from swingby.cli.rows import Format, encoded
from swingby.errors import SwingbyError
from swingby.store import Layout

T = TypeVar("T")
REMEMBERED = 64 * 2**20
"""Bytes of answers with their queries that are kept, to be given again."""
ANSWERS = 1000
"""Answers that are kept, at most."""
Key = tuple[int, str, int]
"""Of a query: the generation of the store, the SQL, the most rows."""


@dataclass(frozen=True)
class Limits:
    """What a visitor may ask for.

    Attributes:
        rows, bytes: the most of an answer.
        seconds, memory, threads: the most that a query may use.
        length: the most characters of a query.
        at_once: queries that run side by side.
        waiting: queries that wait for one of these to end; any more are refused at once.
        patience: seconds that a query waits before it is refused.
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
    """Too many queries at once; another try is worth while in `after` seconds."""

    def __init__(self, after: int) -> None:
        super().__init__("the server is busy with other queries; try again in a moment")
        self.after = after


@dataclass(frozen=True)
class Answer:
    """The rows of a query.

    Attributes:
        cut: whether rows beyond the limit were left out.
        generation: the store's; None if another one was published meanwhile, so that the rows may be of either.
        seconds: how long the query took.
    """

    rows: pa.Table
    cut: bool
    generation: int | None
    seconds: float


class Queries:
    """Answers queries on one data folder.

    A generation never changes, so a query is computed once for each: whoever asks while it runs gets its answer, and
    whoever asks later gets the remembered one.
    """

    def __init__(self, data: Path, limits: Limits) -> None:
        self.data, self.limits = data, limits
        self._layout = Layout(data)
        self._slots = asyncio.Semaphore(limits.at_once)
        self._waiting = 0
        self._running: dict[Key, asyncio.Task[Answer]] = {}
        self._remembered: OrderedDict[Key, Answer] = OrderedDict()
        # Threads of its own: a query's process ends with the thread that started it, and these stay until the end.
        self._threads = ThreadPoolExecutor(limits.at_once + 2, thread_name_prefix="query")

    async def ask(self, sql: str, limit: int) -> Answer:
        """The rows of a query, at most `limit`.

        Raises:
            BusyError: too many queries run and wait.
            SwingbyError: the query is refused, fails or takes too long; or the store cannot be read.
        """
        newest = await self.in_thread(self._layout.newest)
        key = (newest.number if newest else 0, sql, limit)
        if key in self._remembered:
            self._remembered.move_to_end(key)
            return self._remembered[key]
        if key not in self._running:
            task = asyncio.create_task(self._answer(*key))
            self._running[key] = task
            task.add_done_callback(lambda done: self._remember(key, done))
        return await asyncio.shield(self._running[key])  # one visitor who goes away takes nothing from the others

    async def encoded(self, answer: Answer, form: Format) -> bytes:
        """The rows as the bytes of a file.

        Raises:
            SwingbyError: the format has no place for a column's type.
        """
        try:
            return await self.in_thread(lambda: encoded(answer.rows, form))
        except Exception as error:  # whatever Arrow and polars make of types that the format has no place for
            text = f"these rows cannot be written as {form.value}: {error}; cast the column to text"
            raise SwingbyError(text) from error

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Does blocking work in a thread, so that the event loop goes on answering."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        """Ends the queries that still run."""
        for process in psutil.Process().children():
            with suppress(psutil.Error):
                if any(part.endswith("swingby.sandbox") for part in process.cmdline()):
                    process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def _answer(self, generation: int, sql: str, limit: int) -> Answer:
        """Waits for one of the slots, and computes the answer there."""
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
        most, began = self.limits, time.perf_counter()
        try:
            rows = await self.in_thread(
                lambda: sandbox.query(
                    self.data,
                    sql,
                    limit_rows=limit,
                    timeout=most.seconds,
                    memory=most.memory,
                    threads=most.threads,
                    limit_bytes=most.bytes,
                )
            )
            seconds, after = time.perf_counter() - began, await self.in_thread(self._layout.newest)
        finally:
            self._slots.release()
        same = after is not None and after.number == generation
        cut = (rows.schema.metadata or {}).get(b"cut") == b"true"
        return Answer(rows, cut, generation if same else None, seconds)

    def _remember(self, key: Key, done: asyncio.Task[Answer]) -> None:
        """Keeps the answer of a query that has ended, and forgets the oldest ones beyond the limits."""
        del self._running[key]
        if done.cancelled() or done.exception() is not None or done.result().generation is None:
            return
        self._remembered[key] = done.result()
        sizes = [answer.rows.nbytes + len(sql) for (_, sql, _), answer in self._remembered.items()]
        while len(sizes) > ANSWERS or sum(sizes) > REMEMBERED:
            self._remembered.popitem(last=False)
            del sizes[0]
