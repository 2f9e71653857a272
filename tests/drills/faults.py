"""The faults: each harms a run on a field, and leaves it to be finished."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from swingby.store import rebuild
from tests.drills.disks import disk_full, disk_read_only
from tests.drills.field import Field
from tests.support.memory import little_memory

MANY: dict[str, Any] = {
    "axes": {"width": [1, 2], "pieces": [0, 2], "wants": ["ok", "diverge"]},
    "seeds": 8,
    "base": {"length": 5, "pause": 0.05},
}

CLOCK = """
import os, time
_real, _shift = time.time, float(os.environ.get("SHIFT_HOURS", "0")) * 3600
time.time = lambda: _real() + _shift
"""


def driver_killed(field: Field) -> None:
    """SIGKILL of the driver, twice."""
    for _ in range(2):
        child = field.start()
        field.trained(sum(field.kit.started().values()) + field.rng.randint(3, 15), child)
        field.end(child)


def workers_killed(field: Field) -> None:
    """SIGKILL of workers in the middle of a batch, three times."""
    child = field.start()
    for _ in range(3):
        field.trained(sum(field.kit.started().values()) + field.rng.randint(2, 8), child)
        if child.poll() is None:
            field.kill(field.worker())
    child.wait(timeout=300)


def worker_frozen(field: Field) -> None:
    """SIGSTOP of a worker: it is ended at the deadline."""
    child = field.start()
    field.trained(field.rng.randint(3, 12), child)
    pid = field.worker()
    field.kill(pid, signal.SIGSTOP)
    child.wait(timeout=300)
    if psutil.pid_exists(pid) and psutil.Process(pid).status() == psutil.STATUS_STOPPED:
        raise RuntimeError(f"the frozen worker {pid} was not ended")


def frozen_inside(field: Field) -> None:
    """SIGSTOP of a worker while it holds the door to the records: it is ended, and the others, who wait, go on."""
    axes = {"zip": [{"width": [1, 2, 2, 2], "rate": [0.5, 1.0, 1.5, 2.0], "wants": ["ok", "ok", "ok", "door"]}]}
    field.change({"axes": axes, "seeds": field.rng.randint(4, 8), "base": {"pause": 0.05}})
    child = field.start()
    stopped = Path(f"{field.kit.ledger}.door")
    field.until(lambda: child.poll() is not None or stopped.exists())
    pid, before = int(stopped.read_text()), len(field.kit.records().shards())
    field.until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    field.until(lambda: child.poll() is not None or len(field.kit.records().shards()) > before)
    if child.wait(timeout=300) != 0 or "is held by" in field.said():
        raise RuntimeError(f"others did not go on: {field.said()[-500:]}")


def driver_frozen(field: Field) -> None:
    """SIGSTOP of the driver, alone or with Ray's head, for longer than its deadline, then SIGCONT: nobody is called
    silent or trained again."""
    child = field.start()
    field.trained(field.rng.randint(3, 12), child)
    send = field.rng.choice([os.kill, os.killpg])
    for number in (signal.SIGSTOP, signal.SIGCONT):
        with suppress(ProcessLookupError):
            send(child.pid, number)
        if number == signal.SIGSTOP:
            time.sleep(field.options["deadline"] * field.rng.uniform(1.5, 2.5))
    if child.wait(timeout=300) != 0 or "tried again" in field.said():
        raise RuntimeError(f"it did not go on as if nothing had been: {field.said()[-500:]}")


def killed_for_memory(field: Field) -> None:
    """The system kills processes since there is no memory left: those cells fail with that for a reason."""
    with little_memory() as group:
        if group is None:
            raise RuntimeError("no group of processes with little memory can be made here")
        field.environment = {"TEST_GROUP": str(group)}
        wants("kernel")(field)
        if "out of memory" not in field.said():
            raise RuntimeError(f"it is not told of what they died: {field.said()[-500:]}")
        field.finish()


def head_killed(field: Field) -> None:
    """SIGKILL of Ray's head in the middle; the driver has a minute to notice, then it is killed too."""
    child = field.start()
    field.trained(field.rng.randint(3, 12), child)
    for process in psutil.Process(child.pid).children(recursive=True):
        if process.name() == "gcs_server":
            process.kill()
    try:
        child.wait(timeout=60)
    except subprocess.TimeoutExpired:
        field.end(child)


def node_killed(field: Field) -> None:
    """A machine of a cluster goes, with all its processes, in the middle."""
    from tests.support.cluster import two_nodes

    with two_nodes('{"num_cpus": 1}', field.kit.environment()) as nodes:
        field.environment = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": nodes.token}
        child = field.start(address=nodes.address, workers=None, code="installed")
        field.trained(field.rng.randint(3, 12), child)
        below = psutil.Process(nodes.holder.pid).children(recursive=True)
        raylet = [process for process in below if process.name() == "raylet"][-1]
        for process in [*raylet.children(recursive=True), raylet]:
            process.kill()
        child.wait(timeout=300)
    field.environment = {}


def started_twice(field: Field) -> None:
    """The same sweep once more while it runs: refused, and told by whom it is held."""
    child = field.start()
    field.trained(3, child)
    second = field.start()
    if second.wait(timeout=120) != 2 or f"is held by process {child.pid} on" not in field.said():
        raise RuntimeError(f"the second was not refused: {field.said()[-500:]}")
    child.wait(timeout=300)


def clock_jumps(field: Field) -> None:
    """Drivers and workers whose clocks are hours ahead, then behind, each killed in the middle."""
    folder = field.kit.folder / "clock"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(CLOCK)
    path = os.pathsep.join([str(folder), field.kit.environment()["PYTHONPATH"]])
    for hours in (7, -9):
        field.environment = {"PYTHONPATH": path, "SHIFT_HOURS": str(hours)}
        child = field.start()
        field.trained(sum(field.kit.started().values()) + field.rng.randint(5, 15), child)
        field.end(child)
    field.environment = {"PYTHONPATH": path, "SHIFT_HOURS": "-3"}


def torn_shard(field: Field) -> None:
    """A published shard, of whole cells or a piece of one, is cut or has a flipped bit when the store is made anew: it
    is named."""
    field.start().wait(timeout=300)
    records = field.kit.records()
    shard = records.shard_path(field.rng.choice(records.shards()))
    content = bytearray(shard.read_bytes())
    place = field.rng.randrange(len(content))
    content[place] ^= 1 << field.rng.randrange(8)
    shard.write_bytes(content if field.rng.random() < 0.5 else content[:place])
    rebuild(records)
    bad = field.kit.rows("select shard from bad_shards")
    if [row.shard for row in bad] != [f"{shard.parent.name}/{shard.name}"]:
        raise RuntimeError(f"the torn shard {shard.name} is not the one named: {bad}")
    shard.rename(field.kit.folder / "torn")


def wants(what: str) -> Callable[[Field], None]:
    """Some cells do that whenever they are trained."""

    def harm(field: Field) -> None:
        axes = {"zip": [{"width": [1, 2, 2], "rate": [0.5, 1.0, 1.5], "wants": ["ok", what, "ok"]}]}
        field.change({"axes": axes, "seeds": 3, "base": {"pause": 0.02}})
        field.start().wait(timeout=400)

    return harm


FAULTS: dict[str, tuple[Callable[[Field], None], dict[str, Any]]] = {
    "driver killed": (driver_killed, {}),
    "workers killed": (workers_killed, {}),
    "worker frozen": (worker_frozen, {"deadline": 6.0}),
    "worker frozen inside": (frozen_inside, {"deadline": 6.0}),
    "driver frozen": (driver_frozen, {"deadline": 6.0}),
    "driver frozen, alone": (driver_frozen, {"local": True, "workers": 1, "deadline": 2.0}),
    "node killed": (node_killed, {}),
    "Ray's head killed": (head_killed, {}),
    "disk full": (disk_full, {"local": True, "workers": 1}),
    "disk read-only": (disk_read_only, {"local": True, "workers": 1}),
    "torn shard": (torn_shard, {"local": True, "workers": 1}),
    "started twice": (started_twice, {"local": True, "workers": 1}),
    "clock jumps": (clock_jumps, {}),
    "out of memory": (wants("memory"), {}),
    "killed for memory": (killed_for_memory, {}),
    "cell hangs": (wants("hang"), {"deadline": 6.0}),
    "cell crashes": (wants("die"), {}),
}
"""Name -> the fault, and options of its run."""

if sys.platform != "linux":
    raise ImportError("the drills need Linux: /proc, tmpfs")
