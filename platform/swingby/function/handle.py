"""The first argument of an experiment that is a function: its cells' streams, recorder and checkpoints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from swingby.features.arrays import as_array, warn_if_few
from swingby.features.measure import SAMPLES, Metrics, as_columns, measured
from swingby.function.state import load_state, save_state
from swingby.function.values import MisuseError, is_finite, is_scalar, plain
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
        curves: name -> a value for each of them; None where a step was recorded without it.
        named: the names that `record` is given; () before its first call.
    """

    def __init__(self, recording: Recording, last: int | None) -> None:
        self._recording = recording
        self._at = None if last is None else frozenset(recording.at(last).tolist())
        self.steps: list[int] = []
        self.curves: dict[str, list[Any]] = {}
        self.named: tuple[str, ...] = ()
        self._recorded_last = -1
        self._warned = False

    def wants(self, step: int) -> bool:
        """Whether `record` would keep what it is given at this step."""
        return self._at is None or step in self._at

    def _check(self, step: int, values: Mapping[str, Any]) -> None:
        last = max(self._recorded_last, self.steps[-1] - 1 if self.steps else -1)
        if step <= last:
            after = f"after step {self.steps[-1]}" if self.steps else "as the first one"
            raise MisuseError(f"record() was given step {step} {after}; steps increase, from 0 on")
        if self.named and values.keys() != {*self.named}:
            names = ", ".join(self.named)
            raise MisuseError(f"record() was given {', '.join(values) or 'nothing'} at step {step}, and {names} before")
        twice = [] if self.named else [name for name in values if name in self.curves]
        if twice:
            raise MisuseError(f"record() was given {', '.join(twice)}, which features() records; rename it")

    def _begins(self, step: int) -> bool:
        """Whether nothing of this step, or a later one, is kept."""
        return not self.steps or step > self.steps[-1]

    def _keep(self, step: int, values: Mapping[str, Any]) -> None:
        """Adds values to a step: the last one, or a later one, which then begins."""
        if self._begins(step):
            self.steps.append(step)
            for curve in self.curves.values():
                curve.append(None)
        for name, value in values.items():
            self.curves.setdefault(name, [None] * len(self.steps))[-1] = value

    def _check_features(self, step: int, names: Collection[str], sample: str | None, weights: Any) -> None:
        if step < 0 or (self.steps and step < self.steps[-1]):
            after = f"after step {self.steps[-1]}" if self.steps else "as the first one"
            raise MisuseError(f"features() was given step {step} {after}; steps increase, from 0 on")
        if sample not in SAMPLES:
            raise MisuseError(f"features() was given sample={sample!r}; allowed: None, 'train', 'test'")
        if weights is not None and sample == "test":
            raise MisuseError("features() was given weights for test points; they are for NC3, of training points")
        twice = [name for name in self.named if name in names]
        if twice:
            raise MisuseError(f"features() records {', '.join(twice)}, which record() was given; rename it there")

    def _warn_once(self, phi: Any) -> None:
        """Warns of the first sample with few points a feature."""
        shape = np.shape(as_array(phi))
        if len(shape) == 2 and not self._warned:
            self._warned = warn_if_few(*shape)

    def places(self) -> list[int]:
        """The places in `steps` that the sweep asks for: all, or, where the last step was not known beforehand, few."""
        if self._at is not None or not self.steps:
            return list(range(len(self.steps)))
        wanted = self._recording.at(self.steps[-1])
        return np.unique(np.searchsorted(self.steps, wanted).clip(max=len(self.steps) - 1)).tolist()


def _check_points(step: int, outputs: Any, labels: Any) -> None:
    """Refuses a sample with fewer points than classes, which can show no class beside the others.

    Raises:
        MisuseError: it is one.
    """
    points, *classes = np.shape(as_array(outputs))
    if np.ndim(as_array(labels)) == 1 and classes and points < classes[0]:
        raise MisuseError(
            f"features({step}): there are {points} points for {classes[0]} classes; each class needs at least one"
        )


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
        if self._begins(step):
            self._recorded(self)
        wanted = self.wants(step)
        # Between recorded steps numbers are looked at alone: vectors there would cost more than they tell.
        looked = [name for name, value in values.items() if wanted or is_scalar(value)]
        kept = {name: plain(values[name], f"record({step}, {name}=...)") for name in looked}
        finite = all(map(is_finite, kept.values()))
        if not wanted and not finite:  # the last step of this cell
            kept = {name: plain(value, f"record({step}, {name}=...)") for name, value in values.items()}
        self.named = tuple(values)
        if wanted or not finite:
            self._recorded_last = step
            self._keep(step, kept)
        if not finite:
            raise NotFiniteError

    def features(
        self,
        step: int,
        phi: Any,
        outputs: Any,
        labels: Any,
        weights: Any = None,
        *,
        sample: str | None = None,
        spectrum: bool = False,
    ) -> None:
        """Keeps the metrics of the features that a last layer reads (`swingby.features.measure`), if the sweep records
        this step: curves `kappa_cka`, `evenness`, `containment`, `nc1` to `nc4` and others.

        It stands beside `record` of the same step, before or after it; at steps without it its curves are null, and so
        is what a sample does not have.

        Args:
            phi: inputs of the last layer at n points, (n, p).
            outputs: its outputs at these points, (n, C).
            labels: the class of each point, whole numbers from 0, (n,), of at least as many points as classes; or
                targets as numbers, (n, C).
            weights: the last layer's weights, (C, p), for NC3.
            sample: "train" and "test" where both are measured: those of training points get the prefix `train_`, and
                neural collapse, which is of training points, has none. None: there is one sample, and no prefix.
            spectrum: whether effective dimensions, quality and utilization are kept, too, which takes an SVD.

        Warns:
            FeaturesWarning: there are fewer than 4 points a feature; of a cell's first sample of this kind.

        Raises:
            MisuseError: arrays or arguments that make no sense.
            NotFiniteError: features or outputs are not finite; the training ends here, and its cell is diverged.
        """
        step = int(step)
        self._check_features(step, as_columns(Metrics(), sample, spectrum), sample, weights)
        if not self.wants(step):
            return
        if self._begins(step):
            self._recorded(self)
        if not all(np.isfinite(as_array(each)).all() for each in (phi, outputs)):
            self._keep(step, as_columns(Metrics(), sample, spectrum))
            raise NotFiniteError
        _check_points(step, outputs, labels)
        self._warn_once(phi)
        try:
            found = measured(phi, outputs, labels, weights, spectrum=spectrum, collapse=sample != "test", strict=False)
        except ValueError as error:
            raise MisuseError(f"features({step}): {error}") from error
        self._keep(step, as_columns(found, sample, spectrum))

    def checkpoint(self, state: Any) -> None:
        """Keeps a state that `resume` gives after this process was ended: dictionaries, lists, numbers, texts, None,
        numpy arrays and torch tensors, nested in any way; what has been recorded is kept with it.

        Raises:
            MisuseError: it holds something else; names its place.
        """
        if self._file is not None:
            recorded = {"steps": self.steps, "curves": self.curves, "named": self.named, "last": self._recorded_last}
            save_state(self._file, {"state": state, **recorded})

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
        self.named, self._recorded_last = found["named"], found["last"]
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
        self.named = tuple(values)
        if self.wants(step):
            self._recorded_last = step
            arrays = {name: self.entries(value, f"record({step}, {name}=...)") for name, value in values.items()}
            self._keep(step, arrays)

    def features(
        self,
        step: int,
        phi: Any,
        outputs: Any,
        labels: Any,
        weights: Any = None,
        *,
        sample: str | None = None,
        spectrum: bool = False,
    ) -> None:
        """Keeps the metrics of each cell's features, as `CellHandle.features`: every array has an entry a cell.

        A cell whose features or outputs are not finite has none from there on.

        Raises:
            MisuseError: arrays or arguments that make no sense.
        """
        step = int(step)
        names = list(as_columns(Metrics(), sample, spectrum))
        self._check_features(step, names, sample, weights)
        if not self.wants(step):
            return
        given = {"phi": phi, "outputs": outputs, "labels": labels} | ({} if weights is None else {"weights": weights})
        arrays = {name: self.entries(value, f"features({step}, {name}=...)") for name, value in given.items()}
        found = np.full((len(names), len(self)), None, dtype=object)
        for at in range(len(self)):
            own = {name: array[at] for name, array in arrays.items()}
            if np.isfinite(own["phi"]).all() and np.isfinite(own["outputs"]).all():
                _check_points(step, own["outputs"], own["labels"])
                self._warn_once(own["phi"])
                try:
                    told = measured(**own, spectrum=spectrum, collapse=sample != "test", strict=False)
                except ValueError as error:
                    raise MisuseError(f"features({step}): {error}") from error
                found[:, at] = list(as_columns(told, sample, spectrum).values())
        self._keep(step, dict(zip(names, found, strict=True)))

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
