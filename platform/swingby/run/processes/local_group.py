"""Process groups of this machine: each rank is a child process that ends with its parent."""

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
from swingby.model.process_group import Rank, free_port
from swingby.run.processes.group import End, StartedRanks, SupervisedGroup, run_target

NOTICE_SECONDS = 1.0
"""Seconds for a rank to show why the caller has just failed."""
_POLL = 0.02
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
_DEVICES = "CUDA_VISIBLE_DEVICES"
_CHILD = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from swingby.run.processes.local_group import main; main(*map(int, sys.argv[1:]))"
)
PR_SET_PDEATHSIG = 1


class LocalGroup(SupervisedGroup):
    """A process group of this machine; each rank has `cpus` CPUs, and `gpus` GPUs of its own."""

    def __init__(self, size: int, cpus: float = 1.0, gpus: float = 0.0) -> None:
        super().__init__(size)
        self._cpus, self._gpus = cpus, math.ceil(gpus)
        self._devices = devices()
        if size * self._gpus > len(self._devices):
            raise SwingbyError(
                f"{size} processes of {self._gpus} GPUs each need {size * self._gpus}, "
                f"and there are {len(self._devices)}"
            )

    def rendezvous(self) -> tuple[str, int]:
        return "127.0.0.1", free_port()

    def start_ranks(self, ranks: Sequence[Rank], target: str, payload: Any) -> StartedRanks:
        threads = dict.fromkeys(_THREADS, str(max(1, int(self._cpus))))
        environments = []
        for rank in ranks:
            devices = self._devices[rank.rank * self._gpus : (rank.rank + 1) * self._gpus]
            environments.append({**threads, **({_DEVICES: ",".join(devices)} if devices else {})})
        return _RankProcesses(ranks, environments, target, payload)


def devices() -> list[str]:
    """CUDA's names of the GPUs that this process may use."""
    if _DEVICES in os.environ:
        return [name.strip() for name in os.environ[_DEVICES].split(",") if name.strip() not in ("", "-1")]
    return [str(number) for number in range(len([*Path("/dev").glob("nvidia[0-9]*")]))]


class _RankProcesses(StartedRanks):
    """The child processes of ranks, each with a pipe for the message of what it raised."""

    def __init__(
        self, ranks: Sequence[Rank], environments: Sequence[Mapping[str, str]], target: str, payload: Any
    ) -> None:
        orders = [pickle.dumps((target, rank, payload)) for rank in ranks]
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._messages: dict[int, int] = {}
        self._ends: dict[int, End] = {}
        try:
            for rank, environment in zip(ranks, environments, strict=True):
                self._messages[rank.rank], end = os.pipe()
                os.set_blocking(self._messages[rank.rank], False)
                command = [sys.executable, "-c", _CHILD, str(os.getpid()), str(end)]
                try:
                    self._processes[rank.rank] = subprocess.Popen(
                        command, stdin=subprocess.PIPE, pass_fds=[end], env={**os.environ, **environment}
                    )
                finally:
                    os.close(end)
            for process, order in zip(self._processes.values(), orders, strict=True):
                assert process.stdin is not None
                with suppress(BrokenPipeError), process.stdin as pipe:  # it died; `ended` shows how
                    pipe.write(pickle.dumps(sys.path) + order)
        except BaseException:
            self.kill()
            raise

    def ended(self) -> Sequence[End]:
        for rank, process in self._processes.items():
            if rank not in self._ends and (code := process.poll()) is not None:
                message = os.read(self._messages[rank], 1 << 16)  # what it sent, if it lived to send it
                self._ends[rank] = End(rank, None, *json.loads(message)) if message else End(rank, exit_text(code))
        return [self._ends[rank] for rank in self._processes if rank in self._ends]

    def joined(self, seconds: float) -> Sequence[End]:
        return self._wait(seconds)

    def ended_soon(self) -> Sequence[End]:
        return self._wait(NOTICE_SECONDS)

    def _wait(self, seconds: float) -> Sequence[End]:
        """The ranks that ended, after a wait until all have, or one died or raised.

        After one has raised the others have a moment to show that they died. A rank that raised because it lost another
        does not end the wait: that other has yet to show its own end.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            ended = self.ended()
            if len(ended) == len(self._processes) or any(end.lost for end in ended):
                return ended
            if any(end.raised and not end.retryable for end in ended):
                deadline = min(deadline, time.monotonic() + 0.2)
            time.sleep(_POLL)
        return self.ended()

    def kill(self) -> None:
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        while self._messages:
            os.close(self._messages.popitem()[1])


def exit_text(code: int) -> str:
    """An exit status as text."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def main(parent: int, messages: int) -> None:
    """Main function of a rank's process."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the caller drains, and kills its ranks
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before it could be watched
        os._exit(1)
    target, rank, payload = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
    os.write(messages, json.dumps(run_target(target, rank, payload)).encode())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # even if threads are left
