"""One diffusion run from its first step, or its checkpoint, to its last row."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import torch

from swingby.model.cell import Cell
from swingby.model.experiment import Batch
from swingby_sweeps.dynamics.retryable import retryable

from . import checkpoint
from .evaluation_log import Book, Classifier
from .params import DiffusionParams
from .session import abort, session
from .train import Training

WATCH = "SWINGBY_WATCH_SECONDS"
"""Environment variable: how often a run leaves what it has, for those who watch and against what may come."""
WATCH_SECONDS = 30.0


@dataclass(frozen=True)
class Task:
    """What every process of a run is told: the cell, its recorded steps, where it runs, and its checkpoint."""

    cell: Cell
    recorded: tuple[int, ...]
    device: str
    path: Path | None
    threads: int

    @property
    def params(self) -> DiffusionParams:
        """Of the run."""
        return cast(DiffusionParams, self.cell.params)

    def training(self, accelerator: Any) -> Training:
        """The run as this process sees it."""
        return Training(self.cell, accelerator, self.recorded, self.path)

    def session(self, member: Any) -> Any:
        """The accelerate session of one process."""
        torch.set_num_threads(self.threads)
        params = self.params
        return session(
            self.device,
            params.mixed_precision,
            params.accumulate,
            rank=member.rank,
            size=member.size,
            address=member.address,
            port=member.port,
        )


def trained(cell: Cell, batch: Batch) -> Iterator[pa.Table]:
    """The segments of one run, as the first of its processes; the others follow it (`follow`).

    Raises:
        CheckpointError: its checkpoint is of no use.
        LostWorkerError: a GPU or another process is lost, of which the run is not at fault.
        ValueError: the batch cannot be shared by so many processes.
    """
    params = cast(DiffusionParams, cell.params)
    recorded = tuple(batch.recording.at(params.training_steps, -(-len_of_epoch(params) // params.batch_size)).tolist())
    path = None if batch.workdir is None else batch.workdir / checkpoint.NAME
    task = Task(cell, recorded, batch.device, path, threads(batch.cpus))
    with retryable():
        classifier, accuracies = _judge(batch, params)
    book = Book(params, recorded, classifier, "samples" in batch.recording.also)
    with (
        batch.group.start(f"{__name__}:follow", task, abort) as member,
        retryable(),
        task.session(member) as accelerator,
    ):
        yield from _segments(task, task.training(accelerator), book, batch.draining, accuracies)


def follow(member: Any, task: Task) -> None:
    """The same run in one of its other processes: its share of every batch, and no rows."""
    with retryable(), task.session(member) as accelerator:
        for _ in task.training(accelerator).run():
            pass


def threads(cpus: float) -> int:
    """Threads of a process that may use so many CPUs; never more than the environment allows."""
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(int(cpus), int(allowed) if allowed.isdigit() else int(cpus)))


def len_of_epoch(params: DiffusionParams) -> int:
    """Images in an epoch."""
    return params.training_images * len(params.trained_classes)


def _judge(batch: Batch, params: DiffusionParams) -> tuple[Classifier | None, dict[str, float | None]]:
    """The trained judge, if its verdicts were asked for, and how good it is."""
    nothing: dict[str, float | None] = {"judge_color_accuracy": None, "judge_size_accuracy": None}
    if "trained" not in batch.recording.also:
        return None, nothing
    from .trained import Judge

    judge = Judge.of(params, batch.cache, batch.device)
    color, size = judge.accuracy
    return judge.probabilities, {"judge_color_accuracy": color, "judge_size_accuracy": size}


def _segments(
    task: Task, training: Training, book: Book, draining: Callable[[], bool], scalars: dict[str, float | None]
) -> Iterator[pa.Table]:
    """Evaluations gathered into rows: one now and then, which is on disk before the checkpoint that goes on from it."""
    flushed, cell_id = time.monotonic(), task.cell.cell_id
    low = 0 if training.progress.evaluated < 0 else training.progress.evaluated + 1
    watch = float(os.environ.get(WATCH, WATCH_SECONDS))
    status, message = "ok", None
    try:
        for found in training.run(draining):
            book.add(found)
            if time.monotonic() - flushed >= watch and found.step < task.params.training_steps:
                yield book.take(cell_id, low, found.step)
                training.save()
                low, flushed = found.step + 1, time.monotonic()
    except FloatingPointError as error:
        status, message = "diverged", str(error)
    if status == "ok" and training.step < task.params.training_steps:  # it was asked to stop
        if book.pending:
            yield book.take(cell_id, low, training.progress.evaluated)
        training.save()
        return
    yield book.take(cell_id, low, max(low, training.step), _ending(training, status, message, scalars))


def _ending(training: Training, status: str, message: str | None, scalars: dict[str, float | None]) -> dict[str, Any]:
    accelerator, progress = training.accelerator, training.progress
    precision = training.params.mixed_precision.replace("no", "fp32")
    return {
        "status": status,
        "message": message,
        "seconds": progress.seconds,
        "steps_per_second": progress.step / max(progress.training_seconds, 1e-9),
        "processes": accelerator.num_processes,
        "parameters": sum(parameter.numel() for parameter in training.names),
        "engine": f"torch {torch.__version__}, {accelerator.device.type}, {precision}",
        **scalars,
    }
