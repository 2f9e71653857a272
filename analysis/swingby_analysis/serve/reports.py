"""Reports of the sweeps whose pages are open, written again in the background when there are new results."""

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

OPENED = 60.0
"""Seconds for which a report is kept up to date after a visitor last asked for its page."""
REST = 3.0
"""Before a report is written again, it rests for so many times the seconds that writing it took."""
LEAST_REST = 5.0
"""Seconds that a report rests at least; also the seconds from one turn of `Reports.keep` to the next, at most."""
RETRY = 30.0
"""Seconds until a report that could not be written is tried again."""
LONGEST = 1800.0
"""Seconds after which the writing of a report is given up."""
PREFIX = "swingby-serve-"
_ID = re.compile(r"[0-9a-f]{16}")
_NAME = re.compile(r"(?!\.\.?$)[^/\x00]{1,100}")
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
NOTHING = "default-src 'none'"


@dataclass(frozen=True)
class Written:
    """The state of one sweep's report.

    Attributes:
        version: 0 before the first report, then one more for each.
        page: the path of its page; None before the first.
        of: how the sweep stood when the report was written.
        as_of: when its writing began: every result from before is in it.
        fault: why the last attempt to write it failed; an older page is still there.
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
    """When one report is written next.

    Attributes:
        opened: when a visitor last asked for its page.
        tried: the sweep's stamp at the last attempt.
        rests_until: when it may be written again.
    """

    opened: float
    tried: tuple[object, ...] = ()
    rests_until: float = 0.0


class Reports:
    """Writes reports one at a time, each in a process and into a folder of its own."""

    def __init__(self, data: Path, board: Board, folder: Path) -> None:
        self.data, self.board, self.folder = data, board, folder
        self._written: dict[str, Written] = {}
        self._turns: dict[str, _Turn] = {}
        self._wake = asyncio.Event()

    def open(self, sweep: SweepStatus) -> Written:
        """The report's state for a visitor, after whose visit it is kept up to date for a while."""
        written = self._written.setdefault(sweep.sweep_id, Written())
        if not (_ID.fullmatch(sweep.sweep_id) and _NAME.fullmatch(sweep.name)):
            return replace(written, fault="This sweep has no report: its name or id cannot be the name of a folder.")
        self._turns.setdefault(sweep.sweep_id, _Turn(0.0)).opened = time.monotonic()
        self._wake.set()
        return written

    def written(self, sweep_id: str) -> Written:
        """The report's state."""
        return self._written.get(sweep_id, Written())

    async def keep(self) -> None:
        """Keeps the reports whose pages are open up to date, until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LEAST_REST):
                    await self._wake.wait()
            self._wake.clear()
            try:
                await self._turn()
            except (SwingbyError, OSError):
                pass  # the pages say what is wrong with the store; somebody may mend it
            except Exception:  # one fault must not end all reports for as long as the site is up
                logging.getLogger(__name__).exception(
                    "no report could be written in this turn; the next turn tries again"
                )

    async def _turn(self) -> None:
        """Writes the reports that are open, have news, and have rested; one that was never written first."""
        now = time.monotonic()
        opened = {sweep_id: turn for sweep_id, turn in self._turns.items() if now - turn.opened < OPENED}
        if not opened:
            return
        standing = await asyncio.to_thread(self.board.standing)
        now, due = time.monotonic(), []
        for sweep in standing.sweeps:
            turn = opened.get(sweep.sweep_id)
            if turn is not None and turn.tried != sweep.stamp and turn.rests_until <= now:
                due.append((turn.rests_until, sweep))
        for _, sweep in sorted(due, key=lambda pair: pair[0]):
            await self._write(sweep)

    async def _write(self, sweep: SweepStatus) -> None:
        """Writes one report and removes the older one; a failed attempt leaves the older one."""
        before, turn = self.written(sweep.sweep_id), self._turns[sweep.sweep_id]
        began, as_of = time.monotonic(), datetime.now(UTC)
        self._written[sweep.sweep_id] = replace(before, busy=True)
        place = self.folder / sweep.sweep_id / f"{before.version + 1}-{time.monotonic_ns()}"
        page, fault = await self._draw(sweep.sweep_id, place)
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

    async def _draw(self, sweep_id: str, place: Path) -> tuple[Path | None, str]:
        """Runs `drawing` in a process: the path of the page and "", or None and why there is no page."""
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
        try:
            answer = json.loads(out)
        except ValueError:
            reason = f"its process ended with code {process.returncode or 0}"
            last = errors.decode(errors="replace").strip().splitlines()[-1:] or [reason]
            return None, f"The report could not be written: {last[0]}"
        return (Path(answer["page"]), "") if "page" in answer else (None, str(answer["error"]))


def policy_of(page: str) -> str:
    """The Content-Security-Policy that a report's page holds: its own scripts and styles by their hashes, no others."""
    match = _POLICY.search(page)
    policy = html.unescape(match[1]) if match else NOTHING
    return f"{policy}; frame-ancestors 'self'"  # only a header can say this, no page of itself


class Folder:
    """A temporary folder for reports, removed at the end; a folder that a killed server left is removed by the next."""

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
