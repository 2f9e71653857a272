"""One diffusion run, from its first step or its checkpoint to its last segment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import torch

from swingby.model.cell import Cell
from swingby.model.experiment import Batch
from swingby.model.retryable import retryable

from . import checkpoint
from .batch_stream import require_equal_shares
from .evaluation_log import Classifier, EvaluationLog
from .params import DiffusionParams
from .session import abort, session
from .train import Training, recorder_of

WATCH = "SWINGBY_WATCH_SECONDS"
"""Environment variable: seconds between two segments of a run, each with a checkpoint behind it."""
WATCH_SECONDS = 30.0
"""Default of SWINGBY_WATCH_SECONDS."""


@dataclass(frozen=True)
class Task:
    """The data that every process of a run needs: the cell, its recorded steps, device, checkpoint, threads, and
    whether it looks for copies of training images."""

    cell: Cell
    recorded: tuple[int, ...]
    device: str
    path: Path | None
    threads: int
    nearest: bool = False

    @property
    def params(self) -> DiffusionParams:
        """The parameters of the run."""
        return cast(DiffusionParams, self.cell.params)

    def training(self, accelerator: Any) -> Training:
        """The training of the run in this process."""
        return Training(
            self.cell, accelerator, self.recorded, self.path, recorder_of(accelerator), nearest=self.nearest
        )

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
        CheckpointError: its checkpoint cannot be used.
        LostWorkerError: a GPU or another process is lost; the run is not at fault.
        ValueError: the batch cannot be shared by so many processes.
    """
    params = cast(DiffusionParams, cell.params)
    require_equal_shares(params.batch_size, batch.group.size, params.accumulate)  # before processes are started
    recorded = tuple(batch.recording.at(params.training_steps, -(-len_of_epoch(params) // params.batch_size)).tolist())
    path = None if batch.workdir is None else batch.workdir / checkpoint.NAME
    also = batch.recording.also
    task = Task(cell, recorded, batch.device, path, threads(batch.cpus), "nearest" in also)
    classifier: Classifier | None = None
    accuracies: dict[str, float | None] = {"judge_color_accuracy": None, "judge_size_accuracy": None}
    if "trained" in also:
        from .trained import Judge

        with retryable(_ask_gpu):
            judge = Judge.of(params, batch.cache, batch.device)
        classifier = judge.probabilities
        accuracies = {"judge_color_accuracy": judge.accuracy.color, "judge_size_accuracy": judge.accuracy.size}
    log = EvaluationLog(params, recorded, classifier, also, beside=batch.device.startswith("cuda"))
    with (
        closing(log),
        batch.group.start(f"{__name__}:follow", task, abort) as member,
        retryable(_ask_gpu),
        task.session(member) as accelerator,
    ):
        yield from _segments(task, task.training(accelerator), log, batch.draining, accuracies)


def follow(member: Any, task: Task) -> None:
    """Train a run in one of its other processes: a share of every batch, and no rows."""
    with retryable(_ask_gpu), task.session(member) as accelerator:
        for _ in task.training(accelerator).run():
            pass


def _ask_gpu() -> None:
    """Raise RuntimeError where CUDA answers this process with an error, whatever it is asked."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def threads(cpus: float) -> int:
    """Threads of a process that may use so many CPUs; never more than the environment allows."""
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(int(cpus), int(allowed) if allowed.isdigit() else int(cpus)))


def len_of_epoch(params: DiffusionParams) -> int:
    """The number of images in an epoch."""
    return params.training_images * len(params.trained_classes)


def _segments(
    task: Task,
    training: Training,
    log: EvaluationLog,
    draining: Callable[[], bool],
    accuracies: dict[str, float | None],
) -> Iterator[pa.Table]:
    """Evaluations gathered into segments; each is on disk before the checkpoint from which the run would go on."""
    flushed, cell_id = time.monotonic(), task.cell.cell_id
    low = 0 if training.progress.evaluated < 0 else training.progress.evaluated + 1
    watch = float(os.environ.get(WATCH, WATCH_SECONDS))
    status, message = "ok", None
    try:
        for evaluation in training.run(draining):
            log.add(evaluation)
            if time.monotonic() - flushed >= watch and evaluation.step < task.params.training_steps:
                yield log.take(cell_id, low, evaluation.step)
                training.save()
                low, flushed = evaluation.step + 1, time.monotonic()
    except FloatingPointError as error:
        status, message = "diverged", str(error)
    if status == "ok" and training.step < task.params.training_steps:  # the run was asked to stop
        if log.pending:
            yield log.take(cell_id, low, training.progress.evaluated)
        training.save()
        return
    accelerator, progress = training.accelerator, training.progress
    params, neighbours = task.params, training.neighbours
    null: dict[str, Any] = neighbours.null() if neighbours else dict.fromkeys(("null_memorized", "null_nearest"))
    precision = params.mixed_precision.replace("no", "fp32")
    ending = {
        "status": status,
        "message": message,
        "seconds": progress.seconds,
        "steps_per_second": progress.step / max(progress.training_seconds, 1e-9),
        "processes": accelerator.num_processes,
        "points": len_of_epoch(params),
        "generated_images": params.judged_trained * len(params.trained_classes),
        "parameters": sum(parameter.numel() for parameter in training.names),
        "engine": f"torch {torch.__version__}, {accelerator.device.type}, {precision}"
        + (", CUDA graphs" if training.replays else ""),
        **accuracies,
        **null,
    }
    yield log.take(cell_id, low, max(low, training.step), ending)
