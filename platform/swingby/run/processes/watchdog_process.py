"""The watchdog's process; it is started as a script and uses nothing but Python's standard library.

Lines of JSON come in: {"seconds": 300, "note": "path"} sets or moves the deadline of what the worker does now, {} takes
it back. A worker past its deadline is killed, even if it is frozen; if it dies while a deadline is set, the note gets
the cause.
"""

import fcntl
import json
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_GET_INFO = (3 << 30) | (64 << 16) | (0xFF << 8) | 11
"""PIDFD_GET_INFO of linux/pidfd.h, in its first version of 64 bytes."""
_EXIT = 1 << 3
_LINGER = 0.5
"""Seconds to wait until the parent has reaped the worker: only then does the system know the exit status."""


class Watch:
    """One worker, by its process descriptor, with its deadline and its note."""

    def __init__(self, pid: int, worker: int) -> None:
        self.pid, self.worker = pid, worker
        self.until: float | None = None
        self.note: str | None = None
        self.ended = ""
        self.kills = _kills()

    def obey(self, order: Mapping[str, Any]) -> None:
        """Sets, moves or clears the deadline."""
        if "seconds" not in order:
            self.until = self.note = None
            return
        self.until = time.monotonic() + float(order["seconds"])
        if order.get("note") != self.note:
            self.note, self.kills = order.get("note"), _kills()

    def milliseconds(self) -> float | None:
        """Milliseconds until the deadline; None: there is none."""
        return None if self.until is None else max(0.0, self.until - time.monotonic()) * 1000

    def end(self) -> None:
        """Kills the worker: it is past its deadline."""
        frozen = " (it was frozen)" if _field(self.pid, 0) in ("T", "t") else ""
        self.until, self.ended = None, f"deadline: it gave no sign of life for too long{frozen}, and was ended"
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.worker, signal.SIGKILL)

    def write_note(self) -> None:
        """Writes the cause of the worker's death, if there is a note to write to."""
        if self.note is None:
            return
        cause = self.ended or _words(_exit_code(self.pid, self.worker), _kills() - self.kills)
        with suppress(OSError):  # the driver still sees that the worker died
            path = Path(self.note)
            aside = path.with_name(f".tmp-{path.name}")
            aside.write_text(cause)
            aside.rename(path)


def _field(pid: int, place: int) -> str:
    """A field of /proc/<pid>/stat, counted from the state on; "" if the process is gone."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[place]
    return ""


def _exit_code(pid: int, worker: int) -> int | None:
    """The exit status of a dead process, as `wait` has it; None where this system does not tell."""
    deadline = time.monotonic() + _LINGER
    while time.monotonic() < deadline:
        if _field(pid, 0) == "Z" and (code := _field(pid, 49)).isdigit():
            return int(code)
        info = bytearray(struct.pack("=Q56x", _EXIT))
        with suppress(OSError):
            fcntl.ioctl(worker, _GET_INFO, info)
            mask, code = struct.unpack("=Q52xi", info)
            if mask & _EXIT:
                return int(code)
        time.sleep(0.005)
    return None


def _kills() -> int:
    """How many processes this system has killed for lack of memory."""
    with suppress(OSError, ValueError):
        lines = Path("/proc/vmstat").read_text().splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
    return 0


def _words(code: int | None, kills: int) -> str:
    if code is None:
        return "it died; this system does not tell of what"
    number, status = code & 0x7F, (code >> 8) & 0xFF
    if not number:
        return f"it ended with exit code {status}"
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    memory = " (out of memory: the system ended processes for want of it)" if number == signal.SIGKILL and kills else ""
    return f"it was killed by {name}{memory}"


def main(pid: int, worker: int) -> None:
    """Watches until the worker is gone; a worker that is gone already gets its note as well."""
    watch = Watch(pid, worker)
    poll, buffer, orders = select.poll(), b"", sys.stdin.fileno()
    poll.register(watch.worker, select.POLLIN)
    poll.register(orders, select.POLLIN)
    while True:
        ready = dict(poll.poll(watch.milliseconds()))
        if orders in ready:
            content = os.read(orders, 65536)
            if not content:
                poll.unregister(orders)  # closed: the worker ends, and may still be past its deadline
            *lines, buffer = (buffer + content).split(b"\n")
            for line in lines:
                watch.obey(json.loads(line))
        if watch.worker in ready:
            watch.write_note()
            return
        if watch.milliseconds() == 0.0:
            watch.end()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
