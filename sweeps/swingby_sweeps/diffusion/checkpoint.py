"""The checkpoint of a run: one safetensors file, whole or absent, that names the cell and the step it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from . import tensor_file

FORMAT = 2
NAME = "checkpoint.safetensors"


class CheckpointError(ValueError):
    """A checkpoint that cannot be continued from; says which file, why, and what to do."""


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        step: steps taken.
        evaluated: the last step that was evaluated; -1: none.
        training_seconds: time spent on steps.
        seconds: time spent on everything.
        skipped: steps since the last evaluation whose gradient had no finite norm; checkpoints of earlier versions
            do not have this number.
    """

    step: int = 0
    evaluated: int = -1
    training_seconds: float = 0.0
    seconds: float = 0.0
    skipped: int = 0


def save(path: Path, cell_id: str, progress: Progress, tensors: Mapping[str, Tensor]) -> None:
    """Write a checkpoint in the place of the last one."""
    tensor_file.write(path, {"format": FORMAT, "cell_id": cell_id, **asdict(progress)}, tensors)


def load(path: Path, cell_id: str, expected: Mapping[str, Tensor]) -> tuple[Progress, dict[str, Tensor]]:
    """Progress and tensors of the checkpoint of a cell, on the CPU.

    Args:
        expected: tensors with the names, shapes and types that those of the checkpoint must have.

    Raises:
        CheckpointError: the file is torn or altered, or no checkpoint, or another cell's or network's.
    """
    try:
        mark, tensors = tensor_file.read(path)
    except tensor_file.UnusableError as error:
        raise _fault(path, str(error)) from error
    if mark.get("format") != FORMAT:
        raise _fault(path, f"it has format {mark.get('format')}; this version knows format {FORMAT}")
    if mark.get("cell_id") != cell_id:
        raise _fault(path, f"it is of cell {mark.get('cell_id')}, not of {cell_id}")
    try:
        progress = Progress(**{name: ({"skipped": 0} | mark)[name] for name in asdict(Progress())})
    except KeyError as error:
        raise _fault(path, f"it does not say its {error.args[0]!r}") from error
    if odd := sorted(tensors.keys() ^ expected.keys()):
        raise _fault(path, f"{'it has' if odd[0] in tensors else 'it lacks'} a tensor {odd[0]!r}")
    for name, tensor in expected.items():
        if tensors[name].shape != tensor.shape or tensors[name].dtype != tensor.dtype:
            raise _fault(path, f"{name!r} is {_kind(tensors[name])}; expected: {_kind(tensor)}")
    return progress, tensors


def _fault(path: Path, why: str) -> CheckpointError:
    return CheckpointError(f"the checkpoint {path} cannot be used: {why}; remove it to begin this run anew")


def _kind(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} of shape {tuple(tensor.shape)}"


def optimizer_tensors(optimizer: torch.optim.Optimizer, names: Mapping[Tensor, str]) -> dict[str, Tensor]:
    """The state of AdamW by the names of the parameters; zeros before the first step."""
    tensors: dict[str, Tensor] = {}
    for parameter, name in names.items():
        state: dict[str, Any] = optimizer.state.get(parameter, {})
        tensors[f"optimizer/{name}/step"] = torch.as_tensor(state.get("step", 0.0), dtype=torch.float32)
        for moment in ("exp_avg", "exp_avg_sq"):
            tensors[f"optimizer/{name}/{moment}"] = state.get(moment, torch.zeros_like(parameter))
    return tensors


def restore_optimizer(
    optimizer: torch.optim.Optimizer, names: Mapping[Tensor, str], tensors: Mapping[str, Tensor]
) -> None:
    """Put the tensors of `optimizer_tensors` back; a parameter on which no step was taken gets nothing."""
    for parameter, name in names.items():
        step = tensors[f"optimizer/{name}/step"]
        if not step.item():
            continue
        state: dict[str, Any] = {"step": step.clone()}
        if any(group.get("fused") for group in optimizer.param_groups):
            state["step"] = state["step"].to(parameter.device)
        for moment in ("exp_avg", "exp_avg_sq"):
            # The copy has the memory layout of the parameter: results depend on it in their last bit.
            like = torch.empty_like(parameter)
            state[moment] = like.copy_(tensors[f"optimizer/{name}/{moment}"])
        optimizer.state[parameter] = state
