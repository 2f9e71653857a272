"""A world in which the platform's own code runs: simulated processes, machines, disks and clocks, chosen by a seed.

Every process is a greenlet. At each seam (an operation on a file, a lock, an object of the storage, the clock) another
process may go on, time passes, and a fault may strike: a process is killed or frozen, power is cut, a clock jumps.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import random
import shutil
import socket
import sys
import tempfile
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from random import Random
from typing import Any

from greenlet import getcurrent, greenlet

from tests.simulate.disk import ROOT, Disks, File, inside

SEAM = 0.0007
"""Seconds that an operation takes."""
LONGEST_NAP = 40.0
"""Seconds: who sleeps again and again sleeps longer and longer, since an idle machine teaches nothing."""
MOST_SEAMS = 400_000
"""Seams after which a history counts as endless."""


class Gone(BaseException):
    """Raised in a process that was killed; whatever it still tries has no effect."""


class EndlessError(Exception):
    """A history does not come to its end."""


@dataclass(eq=False)
class Machine:
    """A machine: its name, the disk that goes with it if it loses power ("": none), and how wrong its clock is."""

    name: str
    disk: str
    skew: float = 0.0


@dataclass(eq=False)
class Process:
    """A simulated process.

    Attributes:
        frozen: when it goes on (virtual seconds).
        handles: its open files.
        known: what a module of the platform knows, which each process has its own of.
        error: what ended it, if that was an exception.
    """

    pid: int
    machine: Machine
    name: str
    parent: Process | None = None
    alive: bool = True
    frozen: float = 0.0
    tasks: list[Task] = field(default_factory=list)
    handles: set[int] = field(default_factory=set)
    known: list[Any] = field(default_factory=list)
    error: BaseException | None = None
    result: Any = None


@dataclass(eq=False)
class Task:
    """A thread of a process."""

    process: Process
    let: Any
    wake: float = 0.0
    naps: int = 0
    done: bool = False


class Handle:
    """An open file or folder of a process."""

    __slots__ = ("node", "path", "process")

    def __init__(self, node: Any, path: str, process: Process | None) -> None:
        self.node, self.path, self.process = node, path, process


TRACE = bool(os.environ.get("TRACE"))
"""Whether the log has each change of a disk."""
Fault = Callable[["World"], None]


class World:
    """One world.

    Args:
        rng: decides everything.
        switching: how likely another process goes on at a seam.
        own: (module, attribute) of what each process has its own of, with what makes it.
    """

    def __init__(self, rng: Random, switching: float, own: list[tuple[Any, str, Callable[[], Any]]]) -> None:
        self.rng, self.switching, self.own = rng, switching, own
        self.disks = Disks()
        self.now = 1_700_000_000.0
        self.seams = 0
        self.tasks: list[Task] = []
        self.current: Task | None = None
        self.handles: dict[int, Handle] = {}
        self.processes: list[Process] = []
        self.faults: list[tuple[int, Fault]] = []
        self.aims: list[tuple[int, int, Fault]] = []
        self.events = 0
        self.log: list[str] = []
        self._next_handle, self._next_pid = 1_000_000, 100
        self._hub: Any = None
        self.network = Process(0, Machine("network", ""), "network")
        """In it things happen whose causes are gone."""
        self.network.known = [make() for _, _, make in own]

    def say(self, text: str) -> None:
        """Adds a line to the history's log."""
        who = "" if self.current is None else f" {self.current.process.name}"
        self.log.append(f"{self.seams:6d} {self.now - 1_700_000_000:9.3f}{who}: {text}")

    # processes

    def spawn(self, machine: Machine, name: str, work: Callable[[], Any], parent: Process | None = None) -> Process:
        """Starts a process."""
        self._next_pid += 1
        process = Process(self._next_pid, machine, f"{name}[{self._next_pid}]", parent)
        process.known = [make() for _, _, make in self.own]
        self.processes.append(process)
        self.say(f"{process.name} begins on {machine.name}")
        self.thread(work, process, main=True)
        return process

    def thread(self, work: Callable[[], Any], process: Process | None = None, main: bool = False) -> Task:
        """Starts a thread of a process, by default of the one that runs."""
        process = process or self.process()

        def body() -> None:
            try:
                result = work()
                if main:
                    process.result = result
            except Gone:
                pass
            except BaseException as error:
                if main:
                    process.error = error
                    self.say(f"{process.name} ends: {type(error).__name__}: {str(error)[:200]}; {place(error)}")
            task.done = True
            if main and process.alive:
                self.end(process, all_but=task)

        task = Task(process, greenlet(body))
        process.tasks.append(task)
        self.tasks.append(task)
        return task

    def where(self, process: Process) -> str:
        """Where a process is in the platform's code."""
        task = process.tasks[0]
        frame = sys._getframe() if task is self.current else getattr(task.let, "gr_frame", None)
        return _told(traceback.extract_stack(frame)) if frame else ""

    def process(self) -> Process:
        """The process that runs."""
        assert self.current is not None
        return self.current.process

    def end(self, process: Process, all_but: Task | None = None) -> None:
        """Ends a process at once, whatever it does; its handles and locks are free."""
        process.alive = False
        for number in list(process.handles):
            self._close(number)
        for task in process.tasks:
            if task is not all_but and not task.done:
                task.done = True
                if task is self.current:
                    continue  # it raises Gone at its seam
                if task.let:  # begun
                    before, self.current = self.current, task
                    parent, task.let.parent = task.let.parent, getcurrent()
                    self._swap(before, task)
                    with suppress(Gone):
                        task.let.throw(Gone)
                    self._swap(task, before)
                    task.let.parent = parent
                    self.current = before
        self.tasks = [task for task in self.tasks if not task.done]

    def living(self) -> list[Process]:
        """The processes that live."""
        return [one for one in self.processes if one.alive]

    # time and turns

    def run(self) -> None:
        """Runs until every process has ended.

        Raises:
            EndlessError: that does not happen.
        """
        self._hub = getcurrent()
        while self.tasks:
            now = self.now
            ready = [task for task in self.tasks if task.wake <= now and task.process.frozen <= now]
            if not ready:
                self.now = min(max(task.wake, task.process.frozen) for task in self.tasks)
                continue
            task = ready[0] if len(ready) == 1 else self.rng.choice(ready)
            self._swap(self.current, task)
            self.current = task
            task.let.parent = self._hub
            task.let.switch()
            if task.done:
                self.tasks = [one for one in self.tasks if not one.done]
            self._swap(task, None)
            self.current = None
            if self.seams > MOST_SEAMS:
                raise EndlessError(f"after {self.seams:,} seams {[one.name for one in self.living()]} still run")

    def _swap(self, before: Task | None, after: Task | None) -> None:
        """What the modules know is that of the process that runs."""
        old = None if before is None else before.process
        new = None if after is None else after.process
        if old is new:
            return
        for place, (module, name, _) in enumerate(self.own):
            if old is not None:
                old.known[place] = getattr(module, name)
            if new is not None:
                setattr(module, name, new.known[place])

    def seam(self) -> None:
        """Time passes, a fault may strike, and another process may go on.

        Raises:
            Gone: this process was killed.
        """
        task = self.current
        if task is None:
            return
        if not task.process.alive:
            raise Gone
        task.naps = 0
        self.seams += 1
        self.now += SEAM
        self.disks.now = self.now + task.process.machine.skew
        if self.faults and self.seams >= self.faults[-1][0]:
            self.faults.pop()[1](self)
            if not task.process.alive:
                raise Gone
        if (len(self.tasks) > 1 and self.rng.random() < self.switching) or task.process.frozen > self.now:
            self.turn()
        elif self.seams > MOST_SEAMS:
            raise Gone

    def happened(self) -> None:
        """A name comes to be, on a disk or in the storage, or a store is opened: a fault aimed at that strikes soon."""
        self.events += 1
        if self.aims and self.events >= self.aims[-1][0]:
            _, later, fault = self.aims.pop()
            self.faults.append((self.seams + later, fault))
            self.faults.sort(key=lambda one: -one[0])

    def turn(self) -> None:
        """Lets the hub choose who goes on."""
        task = self.current
        assert task is not None
        self._hub.switch()
        if not task.process.alive:
            raise Gone

    def sleep(self, seconds: float, until: float = inf) -> None:
        """The process that runs sleeps: longer each time that it does so again at once, but not beyond `until`."""
        task = self.current
        if task is None:
            self.now += seconds
            return
        if not task.process.alive:
            raise Gone
        naps = task.naps
        self.seams += 1
        task.wake = self.now + min(max(seconds, 0.01) * 2**naps, max(seconds, LONGEST_NAP))
        task.wake = min(task.wake, max(until, self.now + 0.01))
        self.turn()
        task.naps = min(naps + 1, 12)

    def wait(self, ready: Callable[[], bool], seconds: float = 1e9) -> bool:
        """The process that runs waits for something; false if it did not come in time."""
        until = self.now + seconds
        while not ready():
            if self.now >= until:
                return False
            self.sleep(0.05, until)
        return True

    def clock(self) -> float:
        """The time by the clock of the machine that asks."""
        return self.now + (0.0 if self.current is None else self.current.process.machine.skew)

    # handles

    def open(self, path: str, flags: int) -> int:
        self.seam()
        made = bool(flags & os.O_CREAT)
        node = self.disks.create(path, bool(flags & os.O_EXCL)) if made else self.disks.node(path)
        if flags & os.O_DIRECTORY and node.entries is None:
            raise self.disks.fault(errno.ENOTDIR, path)
        if flags & os.O_TRUNC:
            self.disks.write(node, b"")
        self._next_handle += 1
        process = None if self.current is None else self.current.process
        self.handles[self._next_handle] = Handle(node, path, process)
        if process is not None:
            process.handles.add(self._next_handle)
        return self._next_handle

    def _close(self, number: int) -> None:
        handle = self.handles.pop(number, None)
        if handle is not None:
            handle.node.lock.discard(number)
            if not handle.node.lock:
                handle.node.shared = False
            if handle.process is not None:
                handle.process.handles.discard(number)

    def close(self, number: int) -> None:
        self._close(number)

    def fsync(self, number: int) -> None:
        self.seam()
        self.handles[number].node.sync()

    def flock(self, number: int, how: int) -> None:
        """As the system's; only without waiting, since nothing here waits in the kernel."""
        self.seam()
        node = self.handles[number].node
        others = node.lock - {number}
        shared = bool(how & fcntl.LOCK_SH)
        if how & fcntl.LOCK_UN:
            node.lock.discard(number)
            return
        if others and not (shared and node.shared):
            raise BlockingIOError(errno.EAGAIN, "locked")
        node.lock.add(number)
        node.shared = shared

    def pwrite(self, number: int, content: bytes, offset: int) -> int:
        self.seam()
        node = self.handles[number].node
        self.disks.write(node, node.data[:offset].ljust(offset, b"\0") + content + node.data[offset + len(content) :])
        return len(content)

    def pread(self, number: int, count: int, offset: int) -> bytes:
        self.seam()
        return self.handles[number].node.data[offset : offset + count]

    def io_open(self, path: str, mode: str = "r", *_: Any, **__: Any) -> Any:
        """A file object."""
        self.seam()
        writes = any(letter in mode for letter in "wax+")
        node = self.disks.create(path, "x" in mode) if writes else self.disks.node(path)
        if node.entries is not None:
            raise self.disks.fault(errno.EISDIR, path)
        file = File(self.disks, node, mode, self._written)
        return file if "b" in mode else io.TextIOWrapper(file, "utf-8")

    def _written(self, content: bytes) -> bytes:
        """What is there of a content after its write: a process that is killed just then has written a part."""
        try:
            self.seam()
        except Gone:
            return content[: self.rng.randrange(len(content) + 1)]
        return content


def place(error: BaseException) -> str:
    """Where in the platform's code an error was raised."""
    return _told(traceback.extract_tb(error.__traceback__))


def _told(frames: list[traceback.FrameSummary]) -> str:
    found = [one for one in frames if "/swingby/" in one.filename]
    return " < ".join(f"{one.name} ({one.filename.rpartition('/')[2]}:{one.lineno})" for one in found[:-6:-1])


class _Clock:
    """Stands in for the class `datetime` where the time is asked for."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self, zone: Any = None) -> datetime:
        return datetime.fromtimestamp(self._world.clock(), zone)


def patches(world: World) -> list[tuple[Any, str, Any]]:
    """(owner, attribute, value): what the system is for code that runs in the world."""
    from swingby.data import files

    disks, seam = world.disks, world.seam
    real = {name: getattr(os, name) for name in NAMES}
    real_io, real_flock, real_kill = io.open, fcntl.flock, os.kill
    real_rmtree, real_copy = shutil.rmtree, shutil.copyfile

    def by_path(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        original = real[name]

        def call(path: Any = ".", *given: Any, **options: Any) -> Any:
            here = inside(path)
            if here is None:
                return original(path, *given, **options)
            seam()
            if TRACE and name not in ("stat", "lstat", "scandir", "access"):
                world.say(f"{name} {here[len(ROOT) :]}")
            return work(here, *given)

        return call

    def opened(path: Any, flags: int, mode: int = 0o777, **options: Any) -> int:
        here = inside(path)
        return real["open"](path, flags, mode, **options) if here is None else world.open(here, flags)

    def by_handle(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        original = real[name]

        def call(handle: int, *given: Any) -> Any:
            return work(handle, *given) if handle >= 1_000_000 else original(handle, *given)

        return call

    def renamed(path: Any, target: Any, **options: Any) -> None:
        here, there = inside(path), inside(target)
        if here is None or there is None:
            real["rename"](path, target, **options)
            return
        seam()
        if TRACE:
            world.say(f"rename {here[-60:]} {there[len(ROOT) :]}")
        disks.rename(here, there)
        world.happened()

    def made(path: str, mode: int = 0o777) -> None:
        disks.mkdir(path)
        world.happened()

    def file(path: Any, mode: str = "r", *given: Any, **options: Any) -> Any:
        here = inside(path)
        return real_io(path, mode, *given, **options) if here is None else world.io_open(here, mode)

    def rmtree(path: Any, ignore_errors: bool = False, **options: Any) -> None:
        if inside(path) is None:
            return real_rmtree(path, ignore_errors, **options)
        try:
            for name in [entry.path for entry in os.scandir(path)]:
                if disks.stat(name).st_mode & 0o40000:
                    rmtree(name, ignore_errors)
                else:
                    os.unlink(name)  # noqa: PTH108 - the name as it stands, for `patches`
            os.rmdir(path)  # noqa: PTH106
        except OSError:
            if not ignore_errors:
                raise

    def copied(path: Any, target: Any) -> Any:
        if inside(path) is None:
            return real_copy(path, target)
        with file(path, "rb") as source, file(target, "wb") as sink:
            sink.write(source.read())
        return target

    def killed(pid: int, number: int) -> None:
        if world.current is None or number:
            return real_kill(pid, number)
        seam()
        here = world.process().machine
        if not any(one.pid == pid and one.alive and one.machine is here for one in world.processes):
            raise ProcessLookupError(errno.ESRCH, "no such process")
        return None

    @contextmanager
    def aside(prefix: str = "tmp", dir: Any = None, **_: Any) -> Iterator[str]:  # noqa: A002
        path = f"{dir}/{prefix}{uuid.uuid4().hex[:8]}"
        os.mkdir(path)  # noqa: PTH102
        try:
            yield path
        finally:
            rmtree(path, ignore_errors=True)

    return [
        (os, "stat", by_path("stat", disks.stat)),
        (os, "lstat", by_path("lstat", disks.stat)),
        (os, "scandir", by_path("scandir", disks.scandir)),
        (os, "listdir", by_path("listdir", lambda path: [one.name for one in disks.scandir(path)])),
        (os, "mkdir", by_path("mkdir", made)),
        (os, "rmdir", by_path("rmdir", disks.rmdir)),
        (os, "unlink", by_path("unlink", disks.unlink)),
        (os, "remove", by_path("remove", disks.unlink)),
        (os, "utime", by_path("utime", lambda path, *given: None)),
        (os, "access", by_path("access", lambda path, mode: path in _Exists(disks))),
        (os, "rename", renamed),
        (os, "replace", renamed),
        (os, "open", opened),
        (os, "close", by_handle("close", world.close)),
        (os, "fsync", lambda handle: world.fsync(handle) if handle >= 1_000_000 else None),  # of "/": no disk of these
        (os, "fstat", by_handle("fstat", lambda handle: disks.status(world.handles[handle].node))),
        (os, "pread", by_handle("pread", world.pread)),
        (os, "pwrite", by_handle("pwrite", world.pwrite)),
        (os, "getpid", lambda: 1 if world.current is None else world.current.process.pid),
        (os, "kill", killed),
        (fcntl, "flock", by_handle_flock(world, real_flock)),
        (io, "open", file),
        (shutil, "rmtree", rmtree),
        (shutil, "copyfile", copied),
        (tempfile, "TemporaryDirectory", aside),
        (sys, "argv", ["simulate"]),  # locks hold it, and tears of files hang on their lengths
        (socket, "gethostname", lambda: "nowhere" if world.current is None else world.current.process.machine.name),
        (time, "time", world.clock),
        (time, "time_ns", lambda: int(world.clock() * 1e9)),
        (time, "monotonic", lambda: world.now),
        (time, "perf_counter", lambda: world.now),
        (time, "sleep", world.sleep),
        (uuid, "uuid4", lambda: uuid.UUID(int=world.rng.getrandbits(128), version=4)),
        (random, "uniform", world.rng.uniform),
        (files, "datetime", _Clock(world)),
    ]


class _Exists:
    """Whether a path is there."""

    def __init__(self, disks: Disks) -> None:
        self._disks = disks

    def __contains__(self, path: str) -> bool:
        try:
            self._disks.node(path)
        except OSError:
            return False
        return True


def by_handle_flock(world: World, real: Callable[..., Any]) -> Callable[..., Any]:
    """`fcntl.flock` for handles of the world."""
    return lambda handle, how: world.flock(handle, how) if handle >= 1_000_000 else real(handle, how)


NAMES = (
    "stat", "lstat", "scandir", "listdir", "mkdir", "rmdir", "unlink", "remove", "utime", "access", "rename", "open",
    "close", "fsync", "fstat", "pread", "pwrite",
)  # fmt: skip
__all__ = ["ROOT", "UTC", "EndlessError", "Gone", "Machine", "Process", "Task", "World", "patches", "place"]
