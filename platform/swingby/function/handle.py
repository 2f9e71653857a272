"""The first argument of an experiment that is a function: its cell's streams, recorder and checkpoints."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from swingby.function.state import load_state, save_state
from swingby.model.cell import Cell
from swingby.model.experiment import Recording


class NotFiniteError(Exception):
    """A recorded or returned value is not finite: the training has diverged."""


class MisuseError(Exception):
    """A call of a handle that makes no sense; the text says what is allowed."""


class _Streams:
    """The random streams of a cell, by name; equal names give equal draws, whatever else was drawn."""

    def __init__(self, cell: Cell, device: str) -> None:
        self._cell = cell
        self.device = device

    @property
    def seed(self) -> int:
        """The cell's seed."""
        return self._cell.seed

    @property
    def cell_id(self) -> str:
        """The cell's id: 32 hexadecimal digits."""
        return self._cell.cell_id

    def numpy(self, name: str) -> np.random.Generator:
        """The random stream `name` as a numpy generator."""
        return self._cell.stream(name)

    def torch_seed(self, name: str) -> int:
        """A seed for `torch.manual_seed` that hangs on the cell and the name alone, from 0 to 2^63 - 1."""
        return int.from_bytes(self._cell.key(name)[:8], "little") >> 1

    def torch(self, name: str) -> Any:
        """The random stream `name` as a torch generator on the CPU."""
        if "torch" not in sys.modules:
            raise MisuseError("cell.torch() gives a generator of torch; import torch at the top of the file")
        return sys.modules["torch"].Generator().manual_seed(self.torch_seed(name))


class CellHandle(_Streams):
    """What an experiment's function is given of its cell.

    Attributes:
        device: "cpu", "cuda" or "cuda:k": where the cell is to be trained.
        params: the cell's parameters by name.

    Args:
        steps: the last step, where it is known.
        folder: for checkpoints; None: there is none.
    """

    def __init__(
        self,
        cell: Cell,
        recording: Recording,
        steps: int | None,
        device: str = "cpu",
        folder: Path | None = None,
    ) -> None:
        super().__init__(cell, device)
        self.params: Mapping[str, Any] = cell.params.model_dump()
        self._at = None if steps is None else frozenset(recording.at(steps).tolist())
        self._recording = recording
        self._file = None if folder is None else folder / f"{cell.cell_id}.npz"
        self.steps: list[int] = []
        self.curves: dict[str, list[Any]] = {}

    def wants(self, step: int) -> bool:
        """Whether `record` would keep what it is given at this step."""
        return self._at is None or step in self._at

    def record(self, step: int, **values: Any) -> None:
        """Keeps values of this step if the sweep records it: numbers, true or false, vectors and matrices of numbers.

        Steps increase from 0 on; every call names the same values. None stands for a value that there is not.

        Raises:
            MisuseError: a step that does not increase, other names than before, or a value of another kind.
            NotFiniteError: a value is not finite; the training ends here, and its cell counts as diverged.
        """
        step = int(step)
        if step < 0 or (self.steps and step <= self.steps[-1]):
            after = f"after step {self.steps[-1]}" if self.steps else "as the first one"
            raise MisuseError(f"record() was given step {step} {after}; steps increase, from 0 on")
        if self.curves and values.keys() != self.curves.keys():
            names = ", ".join(self.curves)
            raise MisuseError(f"record() was given {', '.join(values) or 'nothing'} at step {step}, and {names} before")
        wanted = self.wants(step)
        for name, value in values.items():
            kept = plain(value, f"record({step}, {name}=...)") if wanted or _is_scalar(value) else None
            if wanted:
                self.curves.setdefault(name, []).append(kept)
            if not is_finite(kept):
                if not wanted:
                    self._keep_last(step, values)
                elif name != list(values)[-1]:
                    self._fill(values)
                if not self.steps or self.steps[-1] != step:
                    self.steps.append(step)
                raise NotFiniteError(f"{name} is {kept if not isinstance(kept, list) else 'not finite'} at step {step}")
        if wanted:
            self.steps.append(step)

    def _keep_last(self, step: int, values: Mapping[str, Any]) -> None:
        """Keeps a step that the sweep does not record, since it is the last one."""
        for name, value in values.items():
            self.curves.setdefault(name, []).append(plain(value, f"record({step}, {name}=...)"))

    def _fill(self, values: Mapping[str, Any]) -> None:
        """Keeps the values of a step that come after the one that is not finite."""
        most = max(map(len, self.curves.values()))
        for name, value in values.items():
            if len(self.curves.setdefault(name, [])) < most:
                self.curves[name].append(plain(value, name))

    def kept(self) -> tuple[list[int], dict[str, list[Any]]]:
        """The recorded steps and curves; where the last step was not known beforehand, thinned as the sweep asks."""
        if self._at is not None or not self.steps:
            return self.steps, self.curves
        wanted = self._recording.at(self.steps[-1])
        places = np.unique(np.searchsorted(self.steps, wanted).clip(max=len(self.steps) - 1))
        return [self.steps[at] for at in places], {name: [of[at] for at in places] for name, of in self.curves.items()}

    def checkpoint(self, state: Any) -> None:
        """Keeps a state that `resume` gives after this process was ended: dictionaries, lists, numbers, texts, None,
        numpy arrays and torch tensors, nested in any way; what has been recorded is kept with it.

        Raises:
            MisuseError: it holds something else; names its place.
        """
        if self._file is not None:
            save_state(self._file, {"state": state, "steps": self.steps, "curves": self.curves})

    def resume(self) -> Any:
        """The state of the last `checkpoint` of this cell, with torch tensors on the CPU; None: it begins.

        What was recorded up to the checkpoint is there again, and nothing later.
        """
        found = None if self._file is None else load_state(self._file)
        if found is None:
            return None
        self.steps, self.curves = found["steps"], found["curves"]
        return found["state"]


class CellsHandle:
    """What a batched experiment's function is given of its cells: each value has one entry a cell, in their order.

    Attributes:
        device: "cpu", "cuda" or "cuda:k".
        seeds: the cells' seeds, int64 of shape (cells,).
        cells: a handle for each cell, for its streams.
    """

    def __init__(self, cells: tuple[Cell, ...], recording: Recording, steps: int | None, device: str = "cpu") -> None:
        self.device, self._recording = device, recording
        self.cells = [_Streams(cell, device) for cell in cells]
        self.seeds = np.array([cell.seed for cell in cells], np.int64)
        self._at = None if steps is None else frozenset(recording.at(steps).tolist())
        self.steps: list[int] = []
        self.curves: dict[str, list[np.ndarray]] = {}

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[_Streams]:
        return iter(self.cells)

    def wants(self, step: int) -> bool:
        """Whether `record` would keep what it is given at this step."""
        return self._at is None or step in self._at

    def record(self, step: int, **values: Any) -> None:
        """Keeps values of this step if the sweep records it; each has shape (cells,) or (cells, ...).

        Raises:
            MisuseError: a step that does not increase, other names than before, or a value of another shape.
        """
        step = int(step)
        if step < 0 or (self.steps and step <= self.steps[-1]):
            raise MisuseError(f"record() was given step {step} after step {self.steps[-1:]}; steps increase, from 0 on")
        if self.curves and values.keys() != self.curves.keys():
            raise MisuseError(
                f"record() was given {', '.join(values)} at step {step}, and {', '.join(self.curves)} before"
            )
        if not self.wants(step):
            return
        for name, value in values.items():
            array = as_array(value)
            if array.shape[:1] != (len(self),):
                shape = f"shape {array.shape}; allowed: ({len(self)},) or ({len(self)}, ...), an entry a cell"
                raise MisuseError(f"record({step}, {name}=...) was given {shape}")
            self.curves.setdefault(name, []).append(array)
        self.steps.append(step)


def as_array(value: Any) -> np.ndarray:
    """A numpy array, torch tensor, jax array, number or list as a numpy array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) in ("torch.bfloat16", "torch.float16") else value
        value = value.numpy()
    return np.asarray(value)


def _is_scalar(value: Any) -> bool:
    return value is not None and (isinstance(value, int | float) or getattr(value, "ndim", None) == 0)


def plain(value: Any, what: str) -> Any:
    """A value as a column holds it: None, bool, int, float, str, or nested lists of floats (a vector, a matrix).

    Raises:
        MisuseError: no column holds it; `what` names it.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    try:
        array = as_array(value)
    except (TypeError, ValueError, RuntimeError):
        array = np.array(object())
    if array.dtype.kind not in "biuf" or array.ndim > 2:
        allowed = "a number, true or false, a text, None, or a vector or matrix of numbers"
        raise MisuseError(f"{what} was given {type(value).__name__}; allowed: {allowed}")
    if array.ndim == 0:
        return array.item()
    return array.astype(float).tolist()


def is_finite(value: Any) -> bool:
    """Whether every number in a plain value is finite."""
    if isinstance(value, list):
        return all(map(is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)
