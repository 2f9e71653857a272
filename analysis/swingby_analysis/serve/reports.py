"""Reports of the sweeps that somebody looks at, written again in the background when there is something new."""

from __future__ import annotations

import asyncio
import html
import json
import logging
import os
import re
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from swingby.data.files import clear_os_errors
from swingby.data.locks import held, holder
from swingby.errors import SwingbyError
from swingby.store.status import SweepStatus
from swingby_analysis.serve.board import Board

LOOKED = 60.0
"""Seconds after the last look at a page in which its report is kept up to date."""
REST = 3.0
"""A report rests so many times as long as it took to write, before it is written again."""
LEAST_REST = 5.0
RETRY = 30.0
"""Seconds until a report that could not be written is tried again."""
LONGEST = 1800.0
"""Seconds after which the writing of a report is given up."""
PREFIX = "swingby-serve-"
PLAIN = re.compile(r"[0-9a-f]{16}")
NAMED = re.compile(r"(?!\.\.?$)[^/\x00]{1,100}")
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
NOTHING = "default-src 'none'"


@dataclass(frozen=True)
class Written:
    """The report of one sweep, as far as there is one.

    Attributes:
        version: 0 before the first, then one more for each.
        page: where it lies.
        of: how the sweep stood when it was written.
        as_of: when its writing began: nothing in it is older.
        fault: why the last attempt to write it failed; what it shows is from before.
        busy: whether it is being written now.
    """

    version: int = 0
    page: Path | None = None
    of: SweepStatus | None = None
    as_of: datetime | None = None
    fault: str | None = None
    busy: bool = False


@dataclass
class _Turn:
    """What is known about the next writing of one report."""

    looked: float
    tried: tuple[object, ...] = ()
    rests_until: float = 0.0


class Reports:
    """Writes one report at a time, in a process of its own, into a folder of its own."""

    def __init__(self, data: Path, board: Board, folder: Path) -> None:
        self.data, self.board, self.folder = data, board, folder
        self._written: dict[str, Written] = {}
        self._turns: dict[str, _Turn] = {}
        self._wake = asyncio.Event()

    def look(self, sweep: SweepStatus) -> Written:
        """The report as it is now; somebody looks at it, so it is kept up to date for a while."""
        found = self._written.setdefault(sweep.sweep_id, Written())
        if not (PLAIN.fullmatch(sweep.sweep_id) and NAMED.fullmatch(sweep.name)):
            return replace(found, fault="A sweep of this name or id has no report: it could not be a folder's name.")
        self._turns.setdefault(sweep.sweep_id, _Turn(0.0)).looked = time.monotonic()
        self._wake.set()
        return found

    def written(self, sweep_id: str) -> Written:
        """The report as it is now."""
        return self._written.get(sweep_id, Written())

    async def keep(self) -> None:
        """Keeps the reports that are looked at up to date, until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LEAST_REST):
                    await self._wake.wait()
            self._wake.clear()
            try:
                await self._turn()
            except (SwingbyError, OSError):
                pass  # the pages say what is wrong with the store; it may be mended
            except Exception:  # not the end of all reports, for as long as the site is up
                logging.getLogger(__name__).exception("reports wait for the next turn")

    async def _turn(self) -> None:
        if self._wanted():
            seen = await asyncio.to_thread(self.board.seen)
            for sweep in self._due(seen.sweeps):
                await self._write(sweep)

    def _wanted(self) -> list[str]:
        now = time.monotonic()
        return [sweep_id for sweep_id, turn in self._turns.items() if now - turn.looked < LOOKED]

    def _due(self, sweeps: tuple[SweepStatus, ...]) -> list[SweepStatus]:
        """Those that are looked at, have news, and have rested; one that was never written first."""
        now, wanted = time.monotonic(), set(self._wanted())
        due = [
            sweep
            for sweep in sweeps
            if sweep.sweep_id in wanted
            and self._turns[sweep.sweep_id].tried != sweep.stamp
            and self._turns[sweep.sweep_id].rests_until <= now
        ]
        return sorted(due, key=lambda sweep: self._turns[sweep.sweep_id].rests_until)

    async def _write(self, sweep: SweepStatus) -> None:
        before, turn = self.written(sweep.sweep_id), self._turns[sweep.sweep_id]
        began, as_of = time.monotonic(), datetime.now(UTC)
        self._written[sweep.sweep_id] = replace(before, busy=True)
        place = self.folder / sweep.sweep_id / f"{before.version + 1}-{time.monotonic_ns()}"
        page, fault = await self._drawn(sweep.sweep_id, place)
        turn.tried = sweep.stamp
        turn.rests_until = time.monotonic() + max(LEAST_REST, REST * (time.monotonic() - began))
        if page is None:
            turn.tried, turn.rests_until = (), time.monotonic() + RETRY
            shutil.rmtree(place, ignore_errors=True)
            self._written[sweep.sweep_id] = replace(before, fault=fault, busy=False)
            return
        self._written[sweep.sweep_id] = Written(before.version + 1, page, sweep, as_of)
        for old in place.parent.iterdir():
            if old != place:
                shutil.rmtree(old, ignore_errors=True)

    async def _drawn(self, sweep_id: str, place: Path) -> tuple[Path | None, str]:
        """Where the page lies, or why there is none."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-P", "-m", "swingby_analysis.serve.drawing", sweep_id, str(self.data), str(place), str(os.getpid())),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        try:
            async with asyncio.timeout(LONGEST):
                out, errors = await process.communicate()
        except TimeoutError:
            return None, f"The report was not written within {LONGEST / 60:.0f} minutes."
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return _told(out, errors, process.returncode or 0)


def _told(out: bytes, errors: bytes, code: int) -> tuple[Path | None, str]:
    try:
        told = json.loads(out)
    except ValueError:
        last = errors.decode(errors="replace").strip().splitlines()[-1:] or [f"its process ended with code {code}"]
        return None, f"The report could not be written: {last[0]}"
    return (Path(told["page"]), "") if "page" in told else (None, str(told["error"]))


def policy_of(page: str) -> str:
    """The Content-Security-Policy that a report brings along: its own scripts and styles by their hashes, no others."""
    match = _POLICY.search(page)
    own = html.unescape(match[1]) if match else NOTHING
    return f"{own}; frame-ancestors 'self'"  # a page cannot say this of itself, only a header can


class Folder:
    """A folder for reports that is removed in the end; one that a killed server left is removed by the next."""

    def __enter__(self) -> Path:
        for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with suppress(OSError):
                lock = left / "lock"
                if left.stat().st_uid == os.getuid() and lock.exists() and holder(lock) is None:
                    shutil.rmtree(left, ignore_errors=True)
        with clear_os_errors("make a folder for reports in the temporary folder (TMPDIR)"):
            self._path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = held(self._path / "lock", "the folder of a server's reports", command="swingby serve")
        self._lock.__enter__()
        return self._path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._path, ignore_errors=True)
        self._lock.__exit__(None, None, None)
