"""Diffusion: the project's training loop beside a bare one, and what precision and memory format cost."""

from __future__ import annotations

import itertools
import multiprocessing
import re
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn

from swingby.model.cell import Cell, Point
from swingby_sweeps.diffusion.batch_stream import Feed, training_set
from swingby_sweeps.diffusion.evaluation_log import judged
from swingby_sweeps.diffusion.experiment import Diffusion as Experiment
from swingby_sweeps.diffusion.model import Diffusion
from swingby_sweeps.diffusion.params import DiffusionParams
from swingby_sweeps.diffusion.session import session
from swingby_sweeps.diffusion.train import Training, memory_format
from tests.benchmarks.engine import spread
from tests.benchmarks.tables import Benchmark, alone

LOOP_COLUMNS = ("shape", "device", "precision", "steps", "bare loop, ms a step", "ours, ms a step", "ratio", "goal")
FORMAT_COLUMNS = ("shape", "device", "precision", "memory format", "steps", "ms a step", "ratio", "peak MB")
DTYPES = {"no": None, "bf16": torch.bfloat16, "fp16": torch.float16}
FORMATS = {"contiguous": torch.contiguous_format, "channels last": torch.channels_last}


@dataclass(frozen=True, slots=True)
class Shape:
    """What is timed: a preset with changes.

    Attributes:
        name: of the row.
        turns: of each loop on a CPU, a step each, so that a slow moment of the machine hits both loops.
        gpu_turns: of each loop on a GPU, of `GPU_STEPS` each: it is given its work ahead of time.
    """

    name: str
    preset: str
    values: dict[str, Any] = field(default_factory=dict)
    turns: int = 60
    gpu_turns: int = 7

    def cell(self, **more: Any) -> Cell:
        """One run of it; fewer images than usual, which takes nothing from a step."""
        values = {"images": 256, **self.values, **more}
        params = DiffusionParams.model_validate({**Experiment.presets[self.preset](values), **values})
        return Point(Experiment.name, Experiment.stream_version, params).cell(0)


SHAPES = (
    Shape("16 x 16, width 16, batch 32", "small"),
    Shape("the same, dropout 0.1", "small", {"dropout": 0.1}),
    Shape("32 x 32, width 64, batch 64 (authors)", "authors", {}, 3),
    Shape("32 x 32, width 64, batch 128 (paper)", "paper", {}, 3),
)
QUICK = (Shape("8 x 8, width 8, batch 8", "small", {"pixels": 8, "width": 8, "batch_size": 8}, 5, 1),)
GPU_STEPS = 50
JUDGED = 128


def device() -> str:
    """The GPU where there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def precisions() -> tuple[str, ...]:
    """Those that are of use: fp16 needs a GPU."""
    return ("no", "bf16", "fp16") if device() == "cuda" else ("no", "bf16")


def loops(quick: bool = False) -> list[tuple[str, ...]]:
    """A row a shape and precision: both loops train in turns, in one process, on one thread where it is a CPU."""
    torch.set_num_threads(1)
    shapes = QUICK if quick else SHAPES
    return [_loop_row(shape, precision) for shape in shapes for precision in precisions()]


def formats(quick: bool = False) -> list[tuple[str, ...]]:
    """Rows a shape: the bare loop in each precision and memory format, in turns; its memory in a process of its own."""
    torch.set_num_threads(1)
    return [row for shape in (QUICK if quick else (SHAPES[0], *SHAPES[2:])) for row in _format_rows(shape)]


class Bare:
    """The loop as anyone would write it in torch: its own draws, torch's dropout, no accelerate, nothing recorded."""

    def __init__(self, cell: Cell, precision: str, memory: torch.memory_format) -> None:
        self.params = params = cast(DiffusionParams, cell.params)
        self.device = torch.device(device())
        model: Any = Diffusion(params, cell.key("initialisation"))
        for block in cast(Diffusion, model).unet.resnets:
            block.dropout = nn.Dropout(params.dropout)
        self.model = model.to(self.device, memory_format=memory)
        self.optimizer = torch.optim.AdamW(model.parameters(), params.lr, weight_decay=params.weight_decay, fused=True)
        self.images, self.conditions = training_set(params, cell.key("images"), self.device)
        self.images = self.images.contiguous(memory_format=memory)
        self.autocast, self.scaler = _autocast(self.device, precision)

    def step(self) -> None:
        """One step of AdamW on a batch."""
        size = self.params.batch_size
        chosen = torch.randint(len(self.images), (size,), device=self.device)
        images = self.images[chosen]
        times = (torch.rand((), device=self.device) + torch.arange(size, device=self.device) / size) % 1
        noise = torch.randn_like(images)
        with self.autocast():
            terms = self.model(images, self.conditions[chosen], times, noise, None)
        self.scaler.scale(terms.sum(dim=1).mean()).backward()
        if self.params.clip is not None:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.model.parameters(), self.params.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()


def _autocast(where: torch.device, precision: str) -> tuple[Callable[[], AbstractContextManager[Any]], Any]:
    dtype = DTYPES[precision]
    scaler = torch.amp.GradScaler(where.type, enabled=precision == "fp16")
    return (nullcontext if dtype is None else lambda: torch.autocast(where.type, dtype)), scaler


def _loop_row(shape: Shape, precision: str) -> tuple[str, ...]:
    cell, where = shape.cell(mixed_precision=precision), torch.device(device())
    with session(where.type, precision) as accelerator:
        ours = Training(cell, accelerator, (), None)
        bare = Bare(cell, precision, memory_format(where, cast(DiffusionParams, cell.params)))
        count = itertools.count()
        steps, took = _in_turns(shape, {"bare": bare.step, "ours": lambda: ours._train(next(count))})
        ours.feed.close()
    ratio = statistics.median(took["ours"]) / statistics.median(took["bare"])
    about = (shape.name, where.type, _word(precision), str(steps))
    return (*about, spread(took["bare"]), spread(took["ours"]), f"{ratio:.2f}", "1.10")


def _format_rows(shape: Shape) -> list[tuple[str, ...]]:
    kinds = list(itertools.product(precisions(), FORMATS))
    bare = {kind: Bare(shape.cell(), kind[0], FORMATS[kind[1]]) for kind in kinds}
    steps, took = _in_turns(shape, {kind: bare[kind].step for kind in kinds})
    del bare
    rows: list[tuple[str, ...]] = []
    for kind in kinds:
        ratio = statistics.median(took[kind]) / statistics.median(took[kinds[0]])
        about = (shape.name, device(), _word(kind[0]), kind[1], str(steps))
        rows.append((*about, spread(took[kind]), f"{ratio:.2f}", _memory_apart(shape, *kind)))
    return rows


def host(quick: bool = False) -> list[tuple[str, ...]]:
    """Rows a shape: what a core does beside a GPU that trains: it draws the rows of a step, and judges images."""
    torch.set_num_threads(1)
    rows: list[tuple[str, ...]] = []
    for shape in QUICK if quick else (SHAPES[0], SHAPES[2]):
        cell = shape.cell()
        feed, count = Feed(cell, torch.device("cpu")), itertools.count()
        images = training_set(cast(DiffusionParams, cell.params), cell.key("images"), torch.device("cpu"))[0][:JUDGED]
        calls = {
            "draw": lambda feed=feed, count=count: feed.step(next(count)),
            "judge": lambda images=images, cell=cell: judged(images, cast(DiffusionParams, cell.params), 0),
        }
        took: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(2 if quick else 9):
            for name, call in calls.items():
                began = time.process_time()
                call()
                took[name].append(time.process_time() - began)
        rows.append((shape.name, spread(took["draw"]), spread(took["judge"])))
    return rows


def _in_turns(shape: Shape, calls: Mapping[Any, Callable[[], object]]) -> tuple[int, dict[Any, list[float]]]:
    """How many steps each took, and seconds a step of each turn; the order alternates."""
    steps, turns = (1, shape.turns) if device() == "cpu" else (GPU_STEPS, shape.gpu_turns)
    for call in calls.values():  # all warm up: torch chooses kernels and takes memory at first
        call()
    took: dict[Any, list[float]] = {name: [] for name in calls}
    for turn in range(turns):
        for name in list(calls)[:: -1 if turn % 2 else 1]:
            took[name].append(_seconds(calls[name], steps))
    return steps * turns, took


def _seconds(call: Callable[[], object], steps: int) -> float:
    """Seconds a step: of the core that computes, which other programs do not lengthen, or until the GPU is done."""
    if device() == "cpu":
        began = time.process_time()
        for _ in range(steps):
            call()
        return (time.process_time() - began) / steps
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(steps):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / steps


def _word(precision: str) -> str:
    return "fp32" if precision == "no" else precision


def _memory_apart(shape: Shape, precision: str, memory: str) -> str:
    """The peak of memory of a bare loop, in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_memory, (shape, precision, memory))


def _memory(shape: Shape, precision: str, memory: str) -> str:
    torch.set_num_threads(1)
    before = _peak_megabytes()
    bare = Bare(shape.cell(), precision, FORMATS[memory])
    for _ in range(2):
        bare.step()
    if device() == "cuda":
        return f"{torch.cuda.max_memory_allocated() / 2**20:,.0f} on the GPU"
    return f"{_peak_megabytes():,.0f}, {before:,.0f} of it libraries"


def _peak_megabytes() -> float:
    """The most memory that this process has had resident (getrusage would count what it was forked from)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024


TABLES = (
    Benchmark(
        "Image diffusion: a step of our loop beside a bare one, median (least .. most); on a CPU, its own time",
        LOOP_COLUMNS,
        loops,
    ),
    Benchmark(
        "Image diffusion: the bare loop by precision and memory format, its memory in a process of its own",
        FORMAT_COLUMNS,
        formats,
    ),
    Benchmark(
        f"Image diffusion: what a core does beside a GPU, in ms of its time; {JUDGED} images are judged",
        ("shape", "drawing, ms a step", "judging, ms"),
        host,
    ),
)

if __name__ == "__main__":
    alone(TABLES)
