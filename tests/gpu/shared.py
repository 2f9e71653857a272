"""Several runs at once on one GPU: models on streams of one process, and processes, with and without CUDA's MPS.

Processes of fractions (`resources.gpus`) take turns on a GPU, a millisecond or so each, unless MPS lets them compute at
once; the same holds for workers of Ray, which are such processes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.gpu.sheet import Row, Setting, Sheet

COUNTS = {"small": (1, 4, 8), "authors": (1, 2, 4)}
PRECISION = "bf16"
_SECONDS = 4.0
"""Seconds for which all of them step at once."""
_PATIENCE = 120.0
"""Seconds for all of them to begin."""
MPS = "nvidia-cuda-mps-control"


def run(sheet: Sheet, setting: Setting) -> None:
    """A row for each shape, kind of company and number of runs."""
    for shape, counts in ({"tiny": (2,)} if setting.quick else COUNTS).items():
        for count in counts:
            name = f"{shape}, {PRECISION}, {{}}: {count}"
            sheet.row(name.format("processes"), lambda s=shape, n=count: processes(s, n, setting))
            if setting.device == "cuda":
                sheet.row(name.format("streams of one process"), lambda s=shape, n=count: streams(s, n, setting))
                sheet.row(name.format("processes under MPS"), lambda s=shape, n=count: under_mps(s, n, setting))


def best(sheet: Sheet, shape: str) -> int:
    """The number of processes with the most steps a second of all, where that was measured; else 1."""
    rows = {
        int(name.split(": ")[1]): row
        for name, row in sheet.rows.items()
        if name.startswith(f"{shape}, {PRECISION}, processes: ")
    }
    return max(rows, key=lambda count: rows[count].get("steps/s of all", 0.0), default=1)


def streams(shape: str, count: int, setting: Setting) -> Row:
    """Bare loops of one process, each a CUDA graph that is replayed on a stream of its own.

    Raises:
        RuntimeError: the process failed.
    """
    (child,) = _started("on_streams", shape, setting, 1, count)
    try:
        return _line(child)
    finally:
        child.kill()
        child.communicate()


def under_mps(shape: str, count: int, setting: Setting) -> Row:
    """`processes`, which an MPS of their own lets compute at once."""
    with mps() as environment:
        return processes(shape, count, setting, environment)


@contextmanager
def mps() -> Iterator[Mapping[str, str]]:
    """The environment of processes that compute at once, by a server that lives as long as the block.

    Raises:
        RuntimeError: there is none here.
    """
    if shutil.which(MPS) is None:
        raise RuntimeError(f"{MPS} is not installed here")
    with tempfile.TemporaryDirectory(
        prefix="mps-", ignore_cleanup_errors=True
    ) as folder:  # its sockets want a short path
        environment: dict[str, str] = {f"CUDA_MPS_{name}_DIRECTORY": folder for name in ("PIPE", "LOG")}
        everything = {**os.environ, **environment}
        subprocess.run([MPS, "-d"], env=everything, check=True, timeout=20)
        try:
            yield environment
        finally:
            subprocess.run([MPS], input="quit\n", text=True, env=everything, check=False, timeout=20)


def processes(shape: str, count: int, setting: Setting, environment: Mapping[str, str] | None = None) -> Row:
    """The product's training in so many processes, which step at the same time.

    Raises:
        RuntimeError: one of them failed.
    """
    children = _started("follow", shape, setting, count, environment=environment)
    try:
        ready = [_line(child) for child in children]  # each when it has warmed up
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        results = [_line(child) for child in children]
    finally:
        for child in children:
            child.kill()
            child.communicate()
    seconds = max(result["seconds"] for result in results)
    row = {"steps/s of all": sum(result["steps"] for result in results) / seconds}
    return {**row, **{key: max(one.get(key, 0.0) for one in ready) for key in ready[0] if key.startswith("GB")}}


def _started(
    function: str,
    shape: str,
    setting: Setting,
    processes: int,
    count: int = 1,
    environment: Mapping[str, str] | None = None,
) -> list[subprocess.Popen[str]]:
    """So many processes that call a function of this module; this one itself keeps away from the GPU."""
    order = json.dumps([function, shape, count, setting.device, setting.quick, str(setting.out)])
    command, pipe = [sys.executable, "-m", "tests.gpu.shared", order], subprocess.PIPE
    everything = {**os.environ, **(environment or {})}
    return [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=everything) for _ in range(processes)]


def _line(child: subprocess.Popen[str]) -> dict[str, float]:
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line:
        raise RuntimeError(f"a process of them ended with {child.wait(_PATIENCE)}: the log says why")
    return json.loads(line)


def follow(shape: str, count: int, setting: Setting) -> None:
    """One of the processes: it warms up, says so, waits for the others, steps for a while, and says how far it came."""
    from tests.gpu.steps import memory, seconds_of, shapes, training

    way = "graph" if setting.device == "cuda" else "launched"
    with training(shapes(setting)[shape], PRECISION, way, setting) as step:
        print(json.dumps(memory() if setting.device == "cuda" else {}), flush=True)
        sys.stdin.readline()
        began, taken, limit = time.perf_counter(), 0, 0.2 if setting.quick else _SECONDS
        while time.perf_counter() - began < limit:
            seconds_of(step, 10, setting)
            taken += 10
        print(json.dumps({"steps": taken, "seconds": time.perf_counter() - began}), flush=True)


def on_streams(shape: str, count: int, setting: Setting) -> None:
    """The process with several streams: it steps for a while, and says how far all of them came."""
    import torch

    from tests.gpu.steps import bare_step, memory, shapes

    steps = [bare_step(shapes(setting)[shape], PRECISION, "graph") for _ in range(count)]
    own = [torch.cuda.Stream() for _ in steps]
    torch.cuda.synchronize()
    began, taken = time.perf_counter(), 0
    while time.perf_counter() - began < _SECONDS:
        for _ in range(10):
            for step, stream in zip(steps, own, strict=True):
                with torch.cuda.stream(stream):
                    step()
        torch.cuda.synchronize()
        taken += 10 * count
    print(json.dumps({"steps/s of all": taken / (time.perf_counter() - began), **memory()}), flush=True)


if __name__ == "__main__":
    _function, _shape, _count, _device, _quick, _out = json.loads(sys.argv[1])
    {"follow": follow, "on_streams": on_streams}[_function](_shape, _count, Setting(_device, _quick, 0.0, Path(_out)))
