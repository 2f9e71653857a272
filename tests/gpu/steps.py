"""Diffusion: milliseconds a step of the project's training and of a bare loop, and how long the GPU computes."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import torch

from swingby_sweeps.diffusion.graphed import WARM, CudaGraphs, Graphed
from swingby_sweeps.diffusion.params import DiffusionParams
from swingby_sweeps.diffusion.session import session
from swingby_sweeps.diffusion.train import Training, memory_format, recorder_of
from tests.benchmarks import diffusion
from tests.benchmarks.diffusion import QUICK, SHAPES, Bare, Shape
from tests.gpu.sheet import Row, Setting, Sheet

NAMED = {"small": SHAPES[0], "authors": SHAPES[2]}
PRECISIONS = {"fp32": ("no", False), "TF32": ("no", True), "bf16": ("bf16", True)}
"""By name: accelerate's mixed precision, and whether products in float32 may be computed in TF32."""
PROFILED = 5
"""Steps whose kernels are counted."""
_BLOCKS = (5, 40)
"""The least and the most blocks of steps whose median counts."""


def run(sheet: Sheet, setting: Setting) -> None:
    """A row for each shape, precision, and way to take a step."""
    ways = ("graph", "launched") if setting.device == "cuda" else ("launched",)
    for shape, precision, way in itertools.product(shapes(setting), PRECISIONS, ways):
        for kind, measure in (("project", project), ("bare loop", bare)):
            name = f"{shape}, {precision}, {kind}, {way}"
            sheet.row(name, lambda s=shape, p=precision, w=way, m=measure: m(shapes(setting)[s], p, w, setting))


def shapes(setting: Setting) -> dict[str, Shape]:
    """What is timed, by name."""
    return {"tiny": QUICK[0]} if setting.quick else NAMED


def project(shape: Shape, precision: str, way: str, setting: Setting) -> Row:
    """The step of the product's own `Training`."""
    with training(shape, precision, way, setting) as step:
        return timed(step, setting)


@contextmanager
def training(shape: Shape, precision: str, way: str, setting: Setting) -> Iterator[Callable[[], object]]:
    """A step of the product's own `Training`, warmed up.

    Raises:
        RuntimeError: it is to be a graph, and the device made none.
    """
    mixed, tf32 = PRECISIONS[precision]
    with session(setting.device, mixed) as accelerator, products_in(tf32):
        recorder, count = recorder_of(accelerator) if way == "graph" else None, itertools.count()
        run = Training(shape.cell(mixed_precision=mixed), accelerator, (), None, recorder=recorder)
        try:
            for _ in range(WARM + 2):
                run._train(next(count))
            if run.replays != (way == "graph"):
                raise RuntimeError("no graph was recorded: the log says why")
            yield lambda: run._train(next(count))
        finally:
            run.feed.close()


def bare(shape: Shape, precision: str, way: str, setting: Setting) -> Row:
    """The step of a loop in plain torch."""
    mixed, tf32 = PRECISIONS[precision]
    with products_in(tf32):
        return timed(bare_step(shape, mixed, way), setting)


def bare_step(
    shape: Shape,
    mixed: str,
    way: str,
    memory: torch.memory_format | None = None,
    change: Callable[[Any], object] = lambda loop: None,
) -> Callable[[], object]:
    """A step of a loop in plain torch, warmed up.

    Args:
        memory: the memory format; None: the product's.
        change: changes the loop before its first step.

    Raises:
        RuntimeError: it is to be a graph, and the device made none.
    """
    cell = shape.cell()
    params = cast(DiffusionParams, cell.params)
    loop = Bare(cell, mixed, memory or memory_format(torch.device(diffusion.device()), params))
    change(loop)
    step = Graphed(loop.step, CudaGraphs() if way == "graph" else None)
    if way == "graph":
        parameters = loop.model.parameters()
        loop.optimizer = torch.optim.AdamW(
            parameters, params.lr, weight_decay=params.weight_decay, fused=True, capturable=True
        )
    for _ in range(WARM + 2):
        step()
    if (step.recorder is not None) != (way == "graph"):
        raise RuntimeError("no graph was recorded: the log says why")
    return step


def timed(step: Callable[[], object], setting: Setting) -> Row:
    """Milliseconds a step over some blocks of steps, and what the GPU does meanwhile."""
    first = seconds_of(step, 1, setting)
    # So many steps a block that a block takes some 50 ms, and all of them some two seconds.
    steps = 1 if setting.quick else max(1, min(50, round(0.05 / first)))
    least, most = (1, 2) if setting.quick else _BLOCKS
    blocks, began = list[float](), time.perf_counter()
    while len(blocks) < least or (len(blocks) < most and time.perf_counter() - began < 2):
        blocks.append(1000 * seconds_of(step, steps, setting))
    middle = statistics.median(blocks)
    row = {"ms a step": middle, "least": min(blocks), "most": max(blocks), "steps": steps * len(blocks)}
    if setting.device == "cpu":
        return row
    try:
        busy = 1e-3 * sum(micro for _, micro in kernels(step).values())
    except RuntimeError as error:  # not every machine lets its kernels be counted
        print(error)
        busy = 0.0
    idle = f"{max(0.0, 1 - busy / middle):.0%}" if busy else "unknown"
    return {**row, "GPU computes, ms": busy, "GPU idle": idle, **memory()}


def seconds_of(step: Callable[[], object], steps: int, setting: Setting) -> float:
    """Seconds a step until the device is done with all of them."""
    if setting.device == "cuda":
        torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(steps):
        step()
    if setting.device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - began) / steps


def kernels(step: Callable[[], object]) -> dict[str, tuple[float, float]]:
    """Of each kernel (or copy) on the GPU, how often a step launches it, and its microseconds a step."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(PROFILED):
            step()
        torch.cuda.synchronize()
    events: Any = profile.key_averages()
    return {
        event.key: (event.count / PROFILED, event.self_device_time_total / PROFILED)
        for event in events
        if str(event.device_type).endswith("CUDA")
    }


def memory() -> Row:
    """Gigabytes that torch holds in this process, and what the whole GPU has in use."""
    free, total = torch.cuda.mem_get_info()
    return {"GB of torch": torch.cuda.max_memory_reserved() / 1e9, "GB of the GPU": (total - free) / 1e9}


@contextmanager
def products_in(tf32: bool) -> Iterator[None]:
    """While inside, products and convolutions of float32 are computed in TF32, or are not."""
    places: tuple[Any, ...] = torch.backends.cuda.matmul, torch.backends.cudnn
    before = [place.allow_tf32 for place in places]
    try:
        for place in places:
            place.allow_tf32 = tf32
        yield
    finally:
        for place, was in zip(places, before, strict=True):
            place.allow_tf32 = was
