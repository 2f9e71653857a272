"""Training of one run with accelerate, by one process or by several that share every batch."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from accelerate import Accelerator
from torch import Tensor

from swingby.model.cell import Cell
from swingby.model.process_group import LostWorkerError

from . import checkpoint
from .batch_stream import Feed, Rows
from .checkpoint import Progress
from .generate import Generator
from .graphed import CudaGraphs, Graphed, Recorder
from .model import Diffusion
from .nearest import Nearest, Neighbours
from .params import DiffusionParams

EVERY = 20
"""Steps between two checks of whether to stop, and of whether the loss is finite."""
WIDE = 64
"""Channels of the first level from which on bf16 on a CPU is faster with channels last."""
TERMS = ("loss_diffusion", "loss_prior", "loss_reconstruction")


class Evaluation(NamedTuple):
    """What is known at a recorded step.

    Attributes:
        step: its number.
        images: of each of the four classes, (n, 3, P, P).
        means: over the steps since the last evaluation, by name: the terms of the loss in bits a dimension, and the
            gradient's norm (over the steps at which it is finite: the scaler of fp16 skips the others). None before the
            first step.
        ends: gamma(0) and gamma(1).
        nearest: what is known of copies, where it is recorded.
    """

    step: int
    images: Sequence[Tensor]
    means: dict[str, float] | None
    ends: tuple[float, float]
    nearest: Nearest | None = None


class Training:
    """The training of one run in one of its processes; every process takes the same steps.

    Args:
        cell: what to train.
        accelerator: of this process's session.
        recorded: the steps at which it is evaluated, from 0 to the last.
        path: of the checkpoint; the run goes on from it where there is one.
        recorder: of a step and of the network's evaluations, see `recorder_of`; None: they are not recorded.
        nearest: whether evaluations look for copies of training images.

    Raises:
        CheckpointError: the checkpoint cannot be used.
        LostWorkerError: the processes do not see the same checkpoint.
        ValueError: the batch cannot be shared by so many processes.
    """

    def __init__(
        self,
        cell: Cell,
        accelerator: Accelerator,
        recorded: Sequence[int],
        path: Path | None,
        recorder: Recorder | None = None,
        nearest: bool = False,
    ) -> None:
        self.cell, self.params = cell, cast(DiffusionParams, cell.params)
        self.accelerator, self.recorded, self.path = accelerator, frozenset(recorded), path
        device, rank, size = accelerator.device, accelerator.process_index, accelerator.num_processes
        self.feed = Feed(cell, device, rank, size, accelerator.gradient_accumulation_steps)
        self.generator = Generator(cell, device, rank, size)
        self.neighbours = Neighbours(cell, self.generator, device, rank, size) if nearest else None
        core: Any = Diffusion(self.params, cell.key("initialisation"))
        self.core = cast(Diffusion, core.to(device, memory_format=memory_format(device, self.params)))
        self.names: dict[Tensor, str] = {parameter: name for name, parameter in self.core.named_parameters()}
        self.clipped = list((self.core if self.params.clip_of == "all" else self.core.unet).parameters())
        # A replay reads the rate where it lies; torch wants float32 there on a GPU.
        cuda = device.type == "cuda"
        lr = torch.tensor(self.params.lr, dtype=torch.float32 if cuda else torch.float64, device=device)
        self.optimizer = torch.optim.AdamW(
            self.core.parameters(), lr=lr, weight_decay=self.params.weight_decay, fused=True, capturable=cuda
        )
        self.progress = Progress()
        self.sums = torch.zeros(len(TERMS) + 2, dtype=torch.float64, device=device)
        self.skipped = torch.zeros((), dtype=torch.float64, device=device)
        if path is not None and path.exists():
            self._restore(path)
        self.model, self.wrapped = accelerator.prepare(self.core, self.optimizer)
        self._step = Graphed(self._take_step, recorder, self._forget_step)
        self._predict = Graphed(self._predicted, recorder)
        if size > 1:
            # Processes at different steps see different folders.
            mine = torch.tensor([[self.step, self.progress.evaluated]], device=device)
            every = cast(Tensor, accelerator.gather(mine)).tolist()
            if any(one != every[0] for one in every):
                steps = ", ".join(str(step) for step, _ in every)
                raise LostWorkerError(f"the processes see different checkpoints of one run: at steps {steps}")

    @property
    def scaler(self) -> Any:
        """The gradient scaler of fp16; None otherwise."""
        return self.accelerator.scaler

    @property
    def replays(self) -> bool:
        """Whether steps are recorded and replayed."""
        return self._step.recorder is not None

    @property
    def step(self) -> int:
        """Steps that were taken so far."""
        return self.progress.step

    def run(self, stop_requested: Callable[[], bool] = lambda: False) -> Iterator[Evaluation]:
        """Train to the end, and yield at every recorded step that is not evaluated yet.

        All processes have to advance this generator together, and the first may save whenever it is suspended.

        Args:
            stop_requested: whether to stop; only that of the first process counts. Once it is true all processes end
                within `EVERY` steps, perhaps between two recorded steps.

        Raises:
            FloatingPointError: the loss or the weights are not finite.
        """
        began = time.perf_counter()
        try:
            while True:
                if self.step in self.recorded and self.step > self.progress.evaluated:
                    evaluation = self._evaluate()
                    self._advance(evaluated=self.step, seconds=time.perf_counter() - began)
                    began = time.perf_counter()
                    yield evaluation
                if self.step >= self.params.training_steps:
                    return
                started = time.perf_counter()
                self._train(self.step)
                self._advance(step=self.step + 1, training_seconds=time.perf_counter() - started)
                if (self.step % EVERY == 0 or self.step in self.recorded) and self._is_to_stop(stop_requested):
                    self._advance(seconds=time.perf_counter() - began)
                    self._gather_sums()
                    return
        finally:
            self.feed.close()

    def _advance(self, **changes: Any) -> None:
        """Update the progress: seconds are added to it, everything else is replaced."""
        old = self.progress
        added = {name: getattr(old, name) + value for name, value in changes.items() if name.endswith("seconds")}
        self.progress = replace(old, **{**changes, **added})

    def _train(self, step: int) -> None:
        """Take one step of AdamW on the global batch."""
        for group in self.wrapped.param_groups:
            group["lr"].fill_(self.params.lr * rate(self.params, step))
        self._step(*itertools.chain.from_iterable(self.feed.step(step)))

    def _take_step(self, *tensors: Tensor) -> None:
        """Take one step, on the rows of its parts one after the other; what it changes stays in place."""
        limit, width = math.inf if self.params.clip is None else self.params.clip, len(Rows._fields)
        for first in range(0, len(tensors), width):
            with self.accelerator.accumulate(self.model):
                terms = self.model(*tensors[first : first + width])
                self.accelerator.backward(terms.sum(dim=1).mean())
                self.sums[:-2] += terms.detach().double().sum(dim=0)
                self.sums[-2] += len(terms)
                if self.accelerator.sync_gradients:
                    norm = cast(Tensor, self.accelerator.clip_grad_norm_(self.clipped, limit))
                    finite = torch.isfinite(norm)
                    self.sums[-1] += torch.where(finite, norm, 0).detach().double()
                    self.skipped += ~finite
                self.wrapped.step()
                self.wrapped.zero_grad()

    def _forget_step(self) -> None:
        """Leave no gradient, and no part of a batch counted, of a step that was not taken to its end."""
        self.optimizer.zero_grad()
        self.accelerator.step = 0

    def _predicted(self, z: Tensor, gamma: Tensor, conditions: Tensor) -> Tensor:
        # Autocast keeps its copies of the weights while it is on: here for one call, since the weights change.
        with self.accelerator.autocast():
            return self.core.predict(z, gamma, conditions)

    def _evaluate(self) -> Evaluation:
        """Generate images with all processes, and begin the means since the last evaluation anew.

        Raises:
            FloatingPointError: the last step left no model, which its loss, taken before it, does not show.
        """
        if not all(torch.stack([torch.isfinite(weights).all() for weights in self.names]).tolist()):
            raise FloatingPointError(f"the weights are no finite numbers any more by step {self.step}")
        low, high = (end.item() for end in self.core.schedule.ends)
        if not low < high:
            raise FloatingPointError(f"the noise schedule has no slope any more by step {self.step}")
        *terms, rows, norm = self._total().tolist()
        means = None
        if rows:
            means = {name: value / rows for name, value in zip(TERMS, terms, strict=True)}
            counted = rows - self.skipped.item() * self.params.batch_size
            norm = norm * self.params.batch_size / counted if counted else math.nan
            means = {**means, "loss": sum(means.values()), "gradient_norm": norm}
        self.sums.zero_()
        self.skipped.zero_()
        self.model.train(False)
        mine = self.generator.images(lambda conditions, noise: self.core.sample(conditions, noise, self._predict))
        nearest = self.neighbours.evaluated(self._predict, mine, self.accelerator) if self.neighbours else None
        images = self.generator.gathered(mine, self.accelerator)
        self.model.train(True)
        return Evaluation(self.step, images, means, (low, high), nearest)

    def _total(self) -> Tensor:
        """The sums over all processes; the gradient's norm is the same in each."""
        total = cast(Tensor, self.accelerator.reduce(self.sums.clone(), reduction="sum"))
        total[-1] = self.sums[-1]
        return total

    def _is_to_stop(self, stop_requested: Callable[[], bool]) -> bool:
        """Whether the first process was asked to stop, in every process; raises where a loss in any is not finite."""
        lost = not bool(torch.isfinite(self.sums[:-2]).all())
        stop = self.accelerator.is_main_process and stop_requested()
        if self.accelerator.num_processes > 1:
            mine = torch.tensor([float(stop), float(lost)], device=self.accelerator.device)
            stop, lost = (value > 0 for value in cast(Tensor, self.accelerator.reduce(mine, reduction="sum")).tolist())
        if lost:
            raise FloatingPointError(f"the loss is no finite number any more by step {self.step}")
        return stop

    def _gather_sums(self) -> None:
        """Give the sums of all processes to the first, as if it had trained alone."""
        total = self._total()
        if not self.accelerator.is_main_process:
            total[:-1] = 0
        self.sums.copy_(total)

    def save(self) -> None:
        """Write a checkpoint, in the first process; the others have the same weights and write nothing."""
        if self.path is not None and self.accelerator.is_main_process:
            progress = replace(self.progress, skipped=int(self.skipped.item()))
            checkpoint.save(self.path, self.cell.cell_id, progress, self._state())

    def _state(self) -> dict[str, Tensor]:
        model = {f"model/{name}": tensor for name, tensor in self.core.state_dict().items()}
        state = {**model, **checkpoint.optimizer_tensors(self.optimizer, self.names), "sums": self.sums}
        if self.params.mixed_precision == "fp16":
            scale = self.scaler.state_dict()
            numbers = [float(scale["scale"]), float(scale["_growth_tracker"])]
            state["scaler"] = torch.tensor(numbers, dtype=torch.float64)
        return state

    def _restore(self, path: Path) -> None:
        """Take the state of a checkpoint; the sums of all processes go to the first."""
        self.progress, tensors = checkpoint.load(path, self.cell.cell_id, self._state())
        model = {name: tensors[f"model/{name}"] for name in self.core.state_dict()}
        self.core.load_state_dict(model)
        checkpoint.restore_optimizer(self.optimizer, self.names, tensors)
        if self.accelerator.is_main_process:
            self.sums.copy_(tensors["sums"])
        self.sums[-1] = tensors["sums"][-1]
        self.skipped.fill_(self.progress.skipped)
        if "scaler" in tensors:
            scale, tracker = tensors["scaler"].tolist()
            kept = {**self.scaler.state_dict(), "scale": scale, "_growth_tracker": int(tracker)}
            self.scaler.load_state_dict(kept)


def recorder_of(accelerator: Accelerator) -> Recorder | None:
    """CUDA graphs where a run is alone on its GPU and in fp32 or bf16; else none.

    Several processes wait for each other within a step, and the gradient scaler of fp16 keeps count in Python.
    """
    alone = accelerator.num_processes == 1 and accelerator.scaler is None
    return CudaGraphs() if accelerator.device.type == "cuda" and alone else None


def rate(params: DiffusionParams, step: int) -> float:
    """The learning rate at a step, over `lr`: it rises for `warmup` steps, and with cosine decay falls to 0 at the end.

    Both factors act from the first step on: the cosine does not depend on the warm-up.
    """
    rising = min(1.0, (step + 1) / params.warmup) if params.warmup else 1.0
    falling = 0.5 * (1 + math.cos(math.pi * step / params.training_steps)) if params.decay == "cosine" else 1.0
    return rising * falling


def memory_format(device: torch.device, params: DiffusionParams) -> torch.memory_format:
    """How images lie in memory: channels last, but for few channels of bf16 on a CPU.

    On CPUs the faster one, by `make bench`: in float32 the two are level; bf16 loses a third by channels last at 16
    channels and gains 7 to 14 % at 64. On GPUs it is not measured; cuDNN recommends channels last.
    """
    narrow = device.type == "cpu" and params.mixed_precision != "no" and params.width < WIDE
    return torch.contiguous_format if narrow else torch.channels_last
