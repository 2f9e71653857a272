"""The first argument of an experiment that is a function: its cells' streams, recorder and checkpoints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from swingby.function.state import load_state, save_state
from swingby.function.values import MisuseError, as_array, is_finite, is_scalar, plain
from swingby.model.cell import Cell
from swingby.model.experiment import Recording


class NotFiniteError(Exception):
    """A recorded value is not finite: the training has diverged."""


class Streams:
    """The random streams of a cell, by name; equal names give equal draws, whatever else was drawn.

    Attributes:
        device: "cpu", "cuda" or "cuda:k": where the cell is to be trained.
    """

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
        """The random stream `name` as a torch generator on the CPU.

        Raises:
            MisuseError: the function has not imported torch.
        """
        if "torch" not in sys.modules:
            raise MisuseError("cell.torch() gives a generator of torch; import torch at the top of the file")
        return sys.modules["torch"].Generator().manual_seed(self.torch_seed(name))


class Recorder:
    """Recorded steps, and the values at each of them by name.

    Attributes:
        steps: the recorded steps so far, strictly increasing.
        curves: name -> a value for each of them.
    """

    def __init__(self, recording: Recording, last: int | None) -> None:
        self._recording = recording
        self._at = None if last is None else frozenset(recording.at(last).tolist())
        self.steps: list[int] = []
        self.curves: dict[str, list[Any]] = {}

    def wants(self, step: int) -> bool:
        """Whether `record` would keep what it is given at this step."""
        return self._at is None or step in self._at

    def _check(self, step: int, values: Mapping[str, Any]) -> None:
        if step < 0 or (self.steps and step <= self.steps[-1]):
            after = f"after step {self.steps[-1]}" if self.steps else "as the first one"
            raise MisuseError(f"record() was given step {step} {after}; steps increase, from 0 on")
        if self.curves and values.keys() != self.curves.keys():
            names = ", ".join(self.curves)
            raise MisuseError(f"record() was given {', '.join(values) or 'nothing'} at step {step}, and {names} before")

    def _keep(self, step: int, values: Mapping[str, Any]) -> None:
        self.steps.append(step)
        for name, value in values.items():
            self.curves.setdefault(name, []).append(value)

    def places(self) -> list[int]:
        """The places in `steps` that the sweep asks for: all, or, where the last step was not known beforehand, few."""
        if self._at is not None or not self.steps:
            return list(range(len(self.steps)))
        wanted = self._recording.at(self.steps[-1])
        return np.unique(np.searchsorted(self.steps, wanted).clip(max=len(self.steps) - 1)).tolist()


class CellHandle(Streams, Recorder):
    """What an experiment's function is given of its cell.

    Attributes:
        params: the cell's parameters by name.

    Args:
        last: the last step, where it is known.
        folder: for checkpoints; None: there is none.
        recorded: called before a recorded step is kept.
    """

    def __init__(
        self,
        cell: Cell,
        recording: Recording,
        last: int | None,
        device: str = "cpu",
        folder: Path | None = None,
        recorded: Callable[[CellHandle], None] = lambda handle: None,
    ) -> None:
        Streams.__init__(self, cell, device)
        Recorder.__init__(self, recording, last)
        self.params: Mapping[str, Any] = cell.params.model_dump()
        self._file = None if folder is None else folder / f"{cell.cell_id}.npz"
        self._recorded = recorded

    def record(self, step: int, **values: Any) -> None:
        """Keeps values of this step if the sweep records it: numbers, true or false, vectors and matrices of numbers.

        Steps increase from 0 on; every call names the same values. None stands for a value that there is not.

        Raises:
            MisuseError: a step that does not increase, other names than before, or a value of another kind.
            NotFiniteError: a value is not finite; the training ends here, and its cell counts as diverged.
        """
        step = int(step)
        self._check(step, values)
        self._recorded(self)
        wanted = self.wants(step)
        # Between recorded steps numbers are looked at alone: vectors there would cost more than they tell.
        looked = [name for name, value in values.items() if wanted or is_scalar(value)]
        kept = {name: plain(values[name], f"record({step}, {name}=...)") for name in looked}
        finite = all(map(is_finite, kept.values()))
        if not wanted and not finite:  # the last step of this cell
            kept = {name: plain(value, f"record({step}, {name}=...)") for name, value in values.items()}
        if wanted or not finite:
            self._keep(step, kept)
        if not finite:
            raise NotFiniteError

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

        Raises:
            MisuseError: it holds torch tensors, and the function has not imported torch.
        """
        found = None if self._file is None else load_state(self._file)
        if found is None:
            return None
        self.steps, self.curves = found["steps"], found["curves"]
        return found["state"]


class CellsHandle(Recorder):
    """What a batched experiment's function is given of its cells: each value has one entry a cell, in their order.

    Attributes:
        device: "cpu", "cuda" or "cuda:k".
        seeds: the cells' seeds, int64 of shape (cells,).
        cells: the random streams of each cell.
    """

    def __init__(self, cells: tuple[Cell, ...], recording: Recording, last: int | None, device: str = "cpu") -> None:
        super().__init__(recording, last)
        self.device = device
        self.cells = [Streams(cell, device) for cell in cells]
        self.seeds = np.array([cell.seed for cell in cells], np.int64)

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Streams]:
        return iter(self.cells)

    def record(self, step: int, **values: Any) -> None:
        """Keeps values of this step if the sweep records it; each has shape (cells,) or (cells, ...).

        Raises:
            MisuseError: a step that does not increase, other names than before, or a value of another shape.
        """
        step = int(step)
        self._check(step, values)
        if self.wants(step):
            arrays = {name: self.entries(value, f"record({step}, {name}=...)") for name, value in values.items()}
            self._keep(step, arrays)

    def entries(self, value: Any, what: str) -> np.ndarray:
        """A value with an entry a cell, as an array of shape (cells, ...).

        Raises:
            MisuseError: it has another shape; `what` names it.
        """
        array = as_array(value)
        if array.shape[:1] != (len(self),):
            shape = f"shape {array.shape}; allowed: ({len(self)},) or ({len(self)}, ...), an entry a cell"
            raise MisuseError(f"{what} was given {shape}")
        return array
