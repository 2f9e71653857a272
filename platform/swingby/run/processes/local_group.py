"""Gangs of this machine: every member is a process that ends with the one that started it."""

from __future__ import annotations

import ctypes
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from swingby.errors import SwingbyError
from swingby.model.process_group import Member, free_port
from swingby.run.processes.supervision import Crew, End, Watched, answer

NOTICE_SECONDS = 1.0
"""How long a member may take to show why the caller's work has just failed."""
_LOOK = 0.02
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
_DEVICES = "CUDA_VISIBLE_DEVICES"
_CHILD = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from swingby.run.processes.local_group import main; main(*map(int, sys.argv[1:]))"
)
PR_SET_PDEATHSIG = 1


class Local(Watched):
    """A gang of processes of this machine, each with so many CPUs, and with GPUs of its own if it needs some."""

    def __init__(self, size: int, cpus: float = 1.0, gpus: float = 0.0) -> None:
        super().__init__(size)
        self._cpus, self._gpus = cpus, math.ceil(gpus)
        there = devices()
        if size * self._gpus > len(there):
            raise SwingbyError(
                f"{size} processes of {self._gpus} GPUs each need {size * self._gpus}, and there are {len(there)}"
            )
        self._devices = there

    def meeting(self) -> tuple[str, int]:
        return "127.0.0.1", free_port()

    def begin(self, members: Sequence[Member], target: str, payload: Any) -> Crew:
        return _Processes(members, [self._settings(member) for member in members], target, payload)

    def _settings(self, member: Member) -> dict[str, str]:
        """The environment of a member that is not the caller's."""
        threads = str(max(1, int(self._cpus)))
        own = self._devices[member.rank * self._gpus : (member.rank + 1) * self._gpus]
        return {**dict.fromkeys(_THREADS, threads), **({_DEVICES: ",".join(own)} if own else {})}


def devices() -> list[str]:
    """The GPUs that this process may use, as CUDA names them."""
    if _DEVICES in os.environ:
        return [name.strip() for name in os.environ[_DEVICES].split(",") if name.strip() not in ("", "-1")]
    return [str(number) for number in range(len([*Path("/dev").glob("nvidia[0-9]*")]))]


class _Processes(Crew):
    """Members, each with a pipe through which it says what it raised."""

    def __init__(
        self, members: Sequence[Member], settings: Sequence[Mapping[str, str]], target: str, payload: Any
    ) -> None:
        order = [pickle.dumps((target, member, payload)) for member in members]
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._said: dict[int, int] = {}
        self._ends: dict[int, End] = {}
        try:
            for member, own in zip(members, settings, strict=True):
                self._begin(member.rank, own)
            for process, content in zip(self._processes.values(), order, strict=True):
                assert process.stdin is not None
                with suppress(BrokenPipeError), process.stdin as given:  # how it died will be seen
                    given.write(pickle.dumps(sys.path) + content)
        except BaseException:
            self.end()
            raise

    def _begin(self, rank: int, settings: Mapping[str, str]) -> None:
        self._said[rank], said = os.pipe()
        os.set_blocking(self._said[rank], False)
        command = [sys.executable, "-c", _CHILD, str(os.getpid()), str(said)]
        try:
            self._processes[rank] = subprocess.Popen(
                command, stdin=subprocess.PIPE, pass_fds=[said], env={**os.environ, **settings}
            )
        finally:
            os.close(said)

    def _ended(self) -> list[End]:
        return [
            self._end_of(rank, code) for rank in self._processes if (code := self._processes[rank].poll()) is not None
        ]

    def _end_of(self, rank: int, code: int) -> End:
        """How a process ended: by what it said, else by its exit status."""
        if rank not in self._ends:
            said = os.read(self._said[rank], 1 << 16)
            self._ends[rank] = End(rank, None, *json.loads(said)) if said else End(rank, died(code))
        return self._ends[rank]

    def ended(self) -> Sequence[End]:
        return self._ended()

    def joined(self, seconds: float) -> Sequence[End]:
        return self._wait(seconds)

    def noticed(self) -> Sequence[End]:
        return self._wait(NOTICE_SECONDS)

    def _wait(self, seconds: float) -> Sequence[End]:
        """Waits until all have ended, or one has and not well; the others then have a moment to show that they died.

        One that lost another does not count: that other has yet to show what became of it.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            ended = self._ended()
            if len(ended) == len(self._processes) or any(end.lost for end in ended):
                return ended
            if any(end.raised and not end.blameless for end in ended):
                deadline = min(deadline, time.monotonic() + 0.2)
            time.sleep(_LOOK)
        return self._ended()

    def end(self) -> None:
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        while self._said:
            os.close(self._said.popitem()[1])


def died(code: int) -> str:
    """An exit status in words."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def main(parent: int, said: int) -> None:
    """What a member's process does."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the caller drains, and ends its members
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before it could be watched
        os._exit(1)
    target, member, payload = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
    os.write(said, json.dumps(answer(target, member, payload)).encode())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # whatever threads are left
