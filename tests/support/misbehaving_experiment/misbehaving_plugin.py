"""A package of somebody else's, for tests of the machinery: a random walk that can misbehave, and a detector for it.

Environment: TEST_LEDGER, a file that gets a line (cell id, process id, nanoseconds) whenever a cell begins, and beside
it, in TEST_LEDGER.group, one whenever a process takes up its part of a cell (cell id, process id, rank, first step,
OMP_NUM_THREADS, CUDA_VISIBLE_DEVICES).
"""

from __future__ import annotations

import itertools
import os
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from swingby.data.records import Records, ShardHeader
from swingby.model.cell import Cell
from swingby.model.detector import Detector, OutcomeKind
from swingby.model.experiment import SEGMENT_COLUMNS, Batch, Column, Experiment, Resources
from swingby.model.memory import Memory
from swingby.model.params import Params, added
from swingby.model.process_group import LostWorkerError, Rank

LIST = pa.list_(pa.float64())


class WalkParams(Params):
    """What a walk may be told.

    Attributes:
        wants: "die" kills the process, "once" kills it the first time only, "exit" leaves without a final row; "lost"
            and "member" make process 1 of a group die and raise, in the middle; "hang" never returns, "leave" ends the
            process with exit code 3, "memory" takes memory until it may have no more, and dies of it; "freeze" stops
            the process the first time, "door" does so the first time that it writes rows, with the door to the records
            shut; "kernel" takes memory in a group of processes that may have little (TEST_GROUP), and is killed for it.
        pause: seconds a cell takes.
        pieces: rows a cell leaves; 0: all cells of the batch in one table.
        gpus: that each process occupies (and makes no use of).
        holds: the share of a GPU's memory that a walk step by step holds, and `grows` times as much at its end, which
            comes once two walks have shared a GPU; its pause is after each step.
    """

    width: int = 1
    rate: float = 1.0
    length: int = 4
    wants: Literal[
        "ok",
        "diverge",
        "raise",
        "die",
        "once",
        "exit",
        "lost",
        "member",
        "hang",
        "leave",
        "memory",
        "freeze",
        "door",
        "kernel",
    ] = "ok"
    pause: float = 0.0
    pieces: int = 0
    gpus: float = added(0.0)
    holds: float = added(0.0)
    grows: float = added(1.0)


def _of(cell: Cell) -> WalkParams:
    assert isinstance(cell.params, WalkParams)
    return cell.params


def note(cell: Cell, rank: int, first: int) -> None:
    """Says which process takes up what of a cell."""
    if ledger := os.environ.get("TEST_LEDGER"):
        threads, devices = (os.environ.get(name, "-") for name in ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"))
        handle = os.open(f"{ledger}.group", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(handle, f"{cell.cell_id} {os.getpid()} {rank} {first} {threads} {devices or '-'}\n".encode())
        os.close(handle)


def meet(member: Rank) -> socket.socket:
    """A line to process 0, which perhaps does not listen yet."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection((member.address, member.port), timeout=60)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def accompany(member: Rank, payload: tuple[Cell, int]) -> None:
    """Process 1, 2, ... of a group: it is asked for the noise of step after step, and knows its own share of it."""
    cell, first = payload
    noise = cell.stream("noise").normal(size=_of(cell).length + 1)
    with meet(member) as line, line.makefile("rw") as talk:
        note(cell, member.rank, first)
        for asked in talk:
            step = int(asked)
            if step > _of(cell).length // 2 and member.rank == 1:
                if _of(cell).wants == "member":
                    raise ValueError(f"the walker of seed {cell.seed} falls")
                if _of(cell).wants == "lost":
                    os.kill(os.getpid(), signal.SIGKILL)
            talk.write(f"{float(noise[step]).hex() if step % member.size == member.rank else '0x0p+0'}\n")
            talk.flush()


def devour() -> None:
    """Takes memory until there is no more for this process, which dies of it, as compiled code does."""
    there = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (there + 2**26, resource.RLIM_INFINITY))
    taken = []
    try:
        while True:
            taken.append(bytearray(2**22))
    except MemoryError:
        os.abort()


def be_killed_for_memory(group: str) -> None:
    """Takes memory in a group of processes that may have little, until the system kills this one."""
    Path(group, "cgroup.procs").write_text(str(os.getpid()))
    taken = []
    while True:
        taken.append(bytearray(2**22))


def stop_inside() -> None:
    """This process stops when it next writes a shard, while the door to the records is shut; only the first time."""
    stopped, real = Path(f"{os.environ['TEST_LEDGER']}.door"), Records.write_shard

    def write(self: Records, header: ShardHeader, table: pa.Table, hold: Any = None) -> Path:
        if not stopped.exists():
            stopped.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGSTOP)
        return real(self, header, table, hold)

    Records.write_shard = write


def idle(member: Rank, seconds: float) -> None:
    """Does nothing for a while."""
    time.sleep(seconds)


def stay(member: Rank, there: str) -> None:
    """Says in a file which process it is, and does nothing for long."""
    handle = os.open(there, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(handle, f"{os.getpid()}\n".encode())
    os.close(handle)
    time.sleep(120)


def fall(member: Rank, payload: object) -> None:
    """Raises."""
    raise ValueError(f"{payload} falls")


def lose(member: Rank, said: str) -> None:
    """Finds that another process is gone."""
    raise LostWorkerError(said)


def leave(member: Rank, code: int) -> None:
    """Ends the process."""
    os._exit(code)


Ask = Callable[[int], float]


@contextmanager
def company(cell: Cell, batch: Batch, first: int) -> Iterator[Ask]:
    """What tells the noise of a step: each process of the group knows a share of it."""
    own = cell.stream("noise").normal(size=_of(cell).length + 1)
    if batch.group.size == 1:
        yield lambda step: float(own[step])
        return
    with ExitStack() as stack:
        me = stack.enter_context(batch.group.start("misbehaving_plugin:accompany", (cell, first)))
        server = stack.enter_context(socket.create_server((me.address, me.port)))
        server.settimeout(60)
        note(cell, me.rank, first)
        lines = [stack.enter_context(server.accept()[0]) for _ in range(me.size - 1)]
        talks = [stack.enter_context(line.makefile("rw")) for line in lines]

        def ask(step: int) -> float:
            for talk in talks:
                talk.write(f"{step}\n")
                talk.flush()
            answers = [talk.readline() for talk in talks]
            if "" in answers:
                raise ConnectionError("nobody answers")
            return sum(map(float.fromhex, answers), float(own[step]) if step % me.size == 0 else 0.0)

        yield ask


class OutOfMemoryError(RuntimeError):
    """As torch names it."""


class Gpu:
    """A stand-in for the GPU of this process: a folder beside TEST_LEDGER, with a file for each process that holds some
    of its memory."""

    def __init__(self) -> None:
        self.ledger, name = Path(os.environ["TEST_LEDGER"]), os.environ.get("CUDA_VISIBLE_DEVICES", "")
        self.folder = self.ledger.with_name(f"gpu-{name}")
        self.own = self.folder / str(os.getpid())

    def held(self) -> list[float]:
        """The share of the memory that each process holds."""
        shares = []
        for path in self.folder.glob("*"):
            with suppress(FileNotFoundError):
                shares.append(float(path.read_text() or 0))
        return shares

    def hold(self, share: float) -> None:
        """Holds so much from now on; notes how many processes hold some.

        Raises:
            OutOfMemoryError: there is not so much.
        """
        self.folder.mkdir(exist_ok=True)
        self.own.write_text(str(share))
        held = self.held()
        if sum(held) > 1:
            raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        with self.ledger.with_name(f"{self.folder.name}.most").open("a") as most:
            most.write(f"{len(held)}\n")

    def has_been_shared(self) -> bool:
        """Whether two processes have held memory of one GPU, this or another one."""
        return any("2" in path.read_text() for path in self.ledger.parent.glob("gpu-*.most"))


class Walk(Experiment):
    """Walks `length` steps of size `rate`."""

    name: ClassVar[str] = "walk"
    stream_version: ClassVar[int] = 1
    Params: ClassVar[type[Params]] = WalkParams
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "position": Column(LIST, "where the walk is"),
    }
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {"noise": {"noise": Column(LIST, "what moved it")}}
    scalars: ClassVar[Mapping[str, Column]] = {
        "final_position": Column(pa.float64(), "where the walk ends"),
        "threads": Column(pa.string(), "OMP_NUM_THREADS of the worker"),
    }

    spreads: ClassVar[bool] = True

    def resources(self, params: Any) -> Resources:
        return Resources(gpus=params.gpus)

    def shape(self, params: Any) -> str:
        return f"w{params.width}"

    def work(self, params: Any) -> float:
        return float(params.width)

    def steps(self, params: Any) -> int:
        return params.length + 1

    def memory(self) -> Memory | None:
        gpu = Gpu()
        return Memory(1000, int(1000 * (1 - sum(gpu.held()))), 0) if gpu.folder.is_dir() else None

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        tables = []
        for cell in batch.cells:
            if batch.draining() and _of(cell).pieces:
                return
            self._begin(cell)
            self._misbehave(cell, batch)
            if _of(cell).holds:
                yield from self._on_gpu(cell, batch)
            elif _of(cell).pieces:
                yield from self._pieces(cell, batch)
            elif _of(cell).wants != "exit":
                tables.append(self._rows(cell, batch, 0, _of(cell).length))
        if tables:
            yield pa.concat_tables(tables)

    def _begin(self, cell: Cell) -> None:
        if ledger := os.environ.get("TEST_LEDGER"):
            handle = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            os.write(handle, f"{cell.cell_id} {os.getpid()} {time.time_ns()}\n".encode())
            os.close(handle)
        time.sleep(_of(cell).pause)

    def _misbehave(self, cell: Cell, batch: Batch) -> None:
        if _of(cell).wants == "raise":
            raise ValueError(f"the walk of seed {cell.seed} falls")
        if _of(cell).wants == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if _of(cell).wants == "leave":
            os._exit(3)
        if _of(cell).wants == "memory":
            devour()
        if _of(cell).wants == "kernel":
            be_killed_for_memory(os.environ["TEST_GROUP"])
        if _of(cell).wants == "door":
            stop_inside()
        while _of(cell).wants == "hang":
            time.sleep(1)
        if _of(cell).wants == "freeze" and not Path(f"{os.environ['TEST_LEDGER']}.frozen").exists():
            Path(f"{os.environ['TEST_LEDGER']}.frozen").write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGSTOP)
        if _of(cell).wants == "once" and batch.workdir is not None and not (batch.workdir / "died").exists():
            (batch.workdir / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def _pieces(self, cell: Cell, batch: Batch) -> Iterator[pa.Table]:
        """Goes on from a checkpoint, and leaves one after each piece."""
        checkpoint = Path(batch.workdir or "") / cell.cell_id
        edges = np.linspace(0, _of(cell).length + 1, _of(cell).pieces + 1).astype(int)
        begun = int(checkpoint.read_text()) if checkpoint.exists() else 0
        with company(cell, batch, begun) as ask:
            for low, high in itertools.pairwise(edges):
                if batch.draining():
                    return
                if low >= begun:
                    yield self._rows(cell, batch, int(low), int(high) - 1, ask)
                    checkpoint.write_text(str(high))
                    time.sleep(_of(cell).pause)

    def _on_gpu(self, cell: Cell, batch: Batch) -> Iterator[pa.Table]:
        """Steps until two walks have shared a GPU, and then to the end at once."""
        checkpoint, gpu, params = Path(batch.workdir or "") / cell.cell_id, Gpu(), _of(cell)
        step = int(checkpoint.read_text()) if checkpoint.exists() else 0
        try:
            gpu.hold(params.holds)
            while step < params.length and not gpu.has_been_shared():
                yield self._rows(cell, batch, step, step)
                step += 1
                checkpoint.write_text(str(step))
                time.sleep(params.pause)
            gpu.hold(params.holds * params.grows)
            yield self._rows(cell, batch, step, params.length)
        finally:
            gpu.own.unlink(missing_ok=True)

    def _rows(self, cell: Cell, batch: Batch, low: int, high: int, ask: Ask | None = None) -> pa.Table:
        params = _of(cell)
        noise = cell.stream("noise").normal(size=params.length + 1)
        if ask is not None:
            noise[low : high + 1] = [ask(step) for step in range(low, high + 1)]
        place = params.rate * np.cumsum(noise)
        diverged = params.wants == "diverge"
        final = high >= params.length
        kept = slice(low, high + 1)
        columns: dict[str, Any] = {
            "cell_id": [cell.cell_id],
            "from_step": [low],
            "to_step": [high],
            "final": [final],
            "status": [("diverged" if diverged else "ok") if final else None],
            "message": ["walked off" if diverged and final else None],
            "step": [list(range(low, high + 1))],
            "position": [place[kept].tolist()],
            "final_position": [float(place[-1])],
            "threads": [os.environ.get("OMP_NUM_THREADS", "")],
        }
        types = {**SEGMENT_COLUMNS, **{name: column.type for name, column in {**self.curves, **self.scalars}.items()}}
        if "noise" in batch.recording.also:
            columns["noise"], types["noise"] = [noise[kept].tolist()], LIST
        return pa.table(columns, schema=pa.schema([(name, types[name]) for name in columns]))


class Height(Detector):
    """How high a walk gets."""

    name: ClassVar[str] = "walk_height"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("walk",)
    outcomes: ClassVar[Mapping[str, Column]] = {
        "height": Column(pa.float64(), "highest position"),
        "noisy": Column(pa.bool_(), "whether the noise was recorded"),
    }
    kinds: ClassVar[Mapping[str, OutcomeKind]] = {"height": "number"}
    needs: ClassVar[tuple[str, ...]] = ("position", "noise")

    def detect(self, table: pa.Table) -> pa.Table:
        heights = [max(places) for places in table["position"].to_pylist()]
        noisy = [noise is not None for noise in table["noise"].to_pylist()]
        return pa.table({"cell_id": table["cell_id"], "height": heights, "noisy": noisy})
