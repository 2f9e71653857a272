"""The first argument of an experiment that is a function: its cells' streams, recorder and checkpoints."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from swingby.features import last_layer
from swingby.function.source import Source
from swingby.function.state import load_state, save_state
from swingby.function.track import FEWEST, Track
from swingby.function.values import MisuseError, as_array, is_finite, is_scalar, loss_like, plain, seen
from swingby.model.cell import Cell
from swingby.model.experiment import Recording

KEPT = ("_step", "_names", "_left_out", "_kept", "_gaps")
"""What a checkpoint keeps of a recorder beside its track."""
Diverges = Callable[[str], bool]
"""Whether a value of this name that is not finite ends the training of its cell."""


class NotFiniteError(Exception):
    """A recorded value is not finite: the training has diverged; the text says which, and where."""


def _copied(value: Any) -> Any:
    """A value that the training does not change any more."""
    return np.array(as_array(value)) if hasattr(value, "__array__") or hasattr(value, "detach") else copy(value)


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


def seed_globals(cell: Cell) -> None:
    """Seeds what draws without a stream of its own, so that a cell gives what it gives alone.

    These are `random`, `np.random`, and torch's generators, if torch is imported.
    """
    key = cell.key("global generators")
    random.seed(key)
    np.random.seed(np.frombuffer(key, np.uint32))
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(int.from_bytes(key[:8], "little") >> 1)


class Files:
    """The data files that came with an experiment's code."""

    source: Source | None = None

    def file(self, name: str) -> Path:
        """The path of a data file beside the code, wherever the cell is trained.

        Raises:
            MisuseError: it did not come with the code.
        """
        source = self.source
        if source is None or name not in source.data:
            there = ", ".join(source.data) if source is not None and source.data else "none"
            say = f"write @experiment(files=[{name!r}]); files that came with it: {there}"
            raise MisuseError(f"file({name!r}) did not come with the code; {say}")
        return Path(source.folder) / name


class Recorder:
    """What is recorded of a cell: which steps are kept, and the values at each of them by name.

    Attributes:
        track: the recorded steps so far, and the curves.
    """

    def __init__(self, recording: Recording, last: int | None, parameters: Collection[str] = ()) -> None:
        self._recording = recording
        self._all = recording.steps == "all"
        self._at = None if last is None else frozenset(recording.at(last).tolist())
        self.track = Track()
        self._step = -1
        self._recorded_names: set[str] = set()  # at this step, by record() or features()
        self._names: dict[str, str] = {}  # name -> which call gave it
        self._lower = {name.lower(): f"the parameter {name!r}" for name in parameters}
        self._left_out = self._kept = 0
        self._limit = FEWEST
        self._warned = False

    def wants(self, step: int) -> bool:
        """Whether the sweep asks for this step: a guide for what is dear to measure.

        Under `steps: all`, where `record` keeps every step that it is given, these are the steps of "log".
        """
        return self._at is None or step in self._at

    def _keeps(self, step: int) -> bool:
        """Whether `record` keeps what it is given at this step."""
        return self._all or self._at is None or step in self._at

    def _begin(self, step: int, names: Collection[str], call: str) -> bool:
        """Takes note of a call; whether it is the first at its step.

        Raises:
            MisuseError: the step is before the last one, or a name is given twice, or is another's.
        """
        if step < self._step or step < 0:
            after = f"after step {self._step}" if self._step >= 0 else "as the first one"
            raise MisuseError(f"{call}() was given step {step} {after}; steps increase, from 0 on")
        for name in names:
            if self._names.get(name) != call:
                self._take_name(name, call)
        if step > self._step:
            self._step, self._recorded_names = step, set(names)
            self._begun()
            return True
        twice = sorted(self._recorded_names.intersection(names))
        if twice and call == "record":
            raise MisuseError(f"record() was given {', '.join(twice)} at step {step} twice; each name once a step")
        self._recorded_names.update(names)
        return False

    def _begun(self) -> None:
        """Ends what belongs to the step before."""

    def _take_name(self, name: str, call: str) -> None:
        """Takes a name for one call.

        Raises:
            MisuseError: it is the name of something else, or differs from one in upper and lower case alone.
        """
        if name in self._names:
            raise MisuseError(f"{name} is given by record() and by features(); rename it in record()")
        other = self._lower.get(name.lower())
        if other is not None:
            raise MisuseError(f"the recorded {name!r} has the name of {other}, but for upper and lower case; rename it")
        self._names[name], self._lower[name.lower()] = call, f"the recorded {name!r}"

    def _keep(self, step: int, values: Mapping[str, Any]) -> None:
        """Keeps values of a step; a track that grows to twice the budget is thinned."""
        track = self.track
        if self._all and len(track.steps) >= 2 * self._limit and step > track.steps[-1]:
            self._limit = track.budget(self._recording.entries)
            if len(track.steps) >= 2 * self._limit:
                track.thin(self._limit)
        track.add(step, values)

    def settled(self) -> int:
        """How many of the track's entries will stay whatever comes: a row may have them before the cell ends."""
        if not self._all:
            return len(self.track.steps) if self._at is not None else 0
        return min(len(self.track.steps), self.track.budget(self._recording.entries) // 4)

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
        """Keeps the metrics of the features that a last layer reads (`swingby.features.measure`), if `record` keeps
        this step: a curve of each of `swingby.features.COLUMNS`.

        It stands beside `record` of the same step, before or after it; at steps without it its curves are null, and so
        is what a sample does not have. Of several cells every array has an entry a cell.

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
            NotFiniteError: features or outputs of the cell are not finite; its training ends here, and it is diverged.
                Of several cells, such a one has no metrics from there on.
        """
        step = int(step)
        layer = last_layer()(sample, spectrum, weights is not None, self._warned)
        self._begin(step, layer.names, "features")
        if self._keeps(step):
            arrays = {"phi": phi, "outputs": outputs, "labels": labels}
            self._keep_features(step, layer, arrays if weights is None else {**arrays, "weights": weights})
            self._warned = layer.warned

    def _keep_features(self, step: int, layer: Any, arrays: Mapping[str, Any]) -> None:
        """Keeps the metrics of a last layer with these arrays."""
        raise NotImplementedError

    def _to_budget(self, track: Track) -> None:
        """Leaves what the sweep asks for: the budget, or, where the last step was not known beforehand, its spacing."""
        if self._all:
            track.thin(track.budget(self._recording.entries))
        elif self._at is None and track.steps:
            steps = self._recording.at(track.steps[-1])
            track.take(np.unique(np.searchsorted(track.steps, steps).clip(max=len(track.steps) - 1)).tolist())

    def _remarks(self, track: Track, gaps: Mapping[str, tuple[int, int, Any]]) -> list[str]:
        """What a reader has to know of a curve: what was thinned, left out, or not finite.

        Args:
            gaps: name -> how many values were not finite, and the step and the value of the first of them.
        """
        remarks = []
        if len(track.steps) < track.count:
            remarks.append(f"thinned: {len(track.steps):,} of {track.count:,} recorded steps are kept")
        if self._left_out:
            every = self._left_out + self._kept
            remarks.append(f"{self._left_out:,} of {every:,} records fell between recorded steps")
        for name, (count, step, value) in sorted(gaps.items()):
            at = f"at {count:,} steps, first at step {step}" if step >= 0 else "at the end"
            remarks.append(f"{name} is {value} {at}: a gap")
        return remarks


class CellHandle(Files, Streams, Recorder):
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
        diverges: Diverges = loss_like,
        source: Source | None = None,
    ) -> None:
        self.source = source
        Streams.__init__(self, cell, device)
        Recorder.__init__(self, recording, last, type(cell.params).model_fields)
        self.params: Mapping[str, Any] = cell.params.model_dump()
        self._file = None if folder is None else folder / f"{cell.cell_id}.npz"
        self._of = " ".join([cell.cell_id, *recording.tokens])
        self._begins_anew = False
        self._recorded, self._diverges = recorded, diverges
        self._gaps: dict[str, tuple[int, int, Any]] = {}
        self._broken: set[str] = set()  # curves whose last value is not finite
        self._held: dict[str, Any] = {}  # of the last step, if the sweep does not ask for it

    def record(self, step: int, **values: Any) -> None:
        """Keeps values of this step: numbers, true or false, texts, vectors and matrices of numbers; None: no value.

        Steps do not decrease, from 0 on. What is recorded is kept, in several calls at one step, too; names may differ
        from step to step, and a curve has a null where it was not recorded. Long curves are thinned (`Track.thin`);
        with another spacing (`record: {steps: log}` and others) its steps alone are kept, and the last.

        A value that is not finite is a gap, told in the cell's message, unless the curve is one that `diverges`.

        Raises:
            MisuseError: a step that decreases, a name given twice, or a value of another kind.
            NotFiniteError: a curve that diverges is not finite; the training ends here, and its cell is diverged.
        """
        step = int(step)
        first, keeps = self._begin(step, values, "record"), self._keeps(step)
        if first:
            self._kept, self._left_out = self._kept + keeps, self._left_out + (not keeps)
        ends = [name for name, value in values.items() if self._diverges(name) and not seen(value, keeps)]
        if not keeps and not ends:
            self._held |= {name: value if is_scalar(value) else _copied(value) for name, value in values.items()}
            return
        kept = {name: plain(value, f"record({step}, {name}=...)") for name, value in values.items()}
        for name, value in kept.items():
            if is_finite(value):
                self._broken.discard(name)
            elif name not in ends:
                kept[name] = self._gap(name, step, value)
        if ends:  # the last step of this cell
            held = {name: plain(value, f"record({step}, {name}=...)") for name, value in self._held.items()}
            self._keep(step, {**held, **kept})
            raise NotFiniteError(self._words(ends[0], kept[ends[0]]) + f" at step {step}")
        self._keep(step, kept)

    def _begun(self) -> None:
        self._held.clear()
        if self.track.steps:
            self._recorded(self)

    def _keep_features(self, step: int, layer: Any, arrays: Mapping[str, Any]) -> None:
        values = layer.values(step, **arrays)
        self._keep(step, dict.fromkeys(layer.names) if values is None else values)
        if values is None:
            raise NotFiniteError(f"features or outputs are not finite at step {step}")

    def _gap(self, name: str, step: int, value: Any) -> None:
        """Takes note of a value that is not finite, in whose place there is none."""
        count, first, shown = self._gaps.get(name, (0, step, "not finite" if isinstance(value, list) else value))
        self._gaps[name] = count + 1, first, shown
        self._broken.add(name)

    @staticmethod
    def _words(name: str, value: Any) -> str:
        return f"{name} is {'not finite' if isinstance(value, list) else value}"

    def end(self, scalars: Mapping[str, Any]) -> tuple[dict[str, Any], str | None, list[str]]:
        """Ends the recording: the track is what the row has.

        Args:
            scalars: what the function returned.

        Returns:
            The scalars, with a gap for each that is not finite; why the cell is diverged, if it is; and remarks.
        """
        if self._held:
            held = {name: plain(value, f"record({self._step}, {name}=...)") for name, value in self._held.items()}
            gaps = {name: self._gap(name, self._step, value) for name, value in held.items() if not is_finite(value)}
            self._keep(self._step, {**held, **gaps})
            self._left_out, self._kept = self._left_out - 1, self._kept + 1
        self._to_budget(self.track)
        wrong = [name for name, value in scalars.items() if not is_finite(value)]
        ends = next((name for name in wrong if self._diverges(name)), None)
        if ends is not None:
            return dict(scalars), f"{self._words(ends, scalars[ends])} at the end", []
        curves = [name for name, curve in self.track.curves.items() if any(value is not None for value in curve)]
        if self._broken and self._broken.issuperset(curves) and not any(map(self._diverges, self._names)):
            return dict(scalars), f"no recorded value is finite any more at step {self._step}", []
        all_gaps = self._gaps | {name: (1, -1, scalars[name]) for name in wrong}
        anew = ["its checkpoint was of other code or not whole, and was set aside"] if self._begins_anew else []
        return {**scalars, **dict.fromkeys(wrong)}, None, anew + self._remarks(self.track, all_gaps)

    def checkpoint(self, state: Any) -> None:
        """Keeps a state that `resume` gives after this process was ended: dictionaries, lists, numbers, texts, None,
        numpy arrays and torch tensors, nested in any way; what has been recorded is kept with it.

        Raises:
            MisuseError: it holds something else; names its place.
        """
        if self._file is not None:
            recorded = {name: getattr(self, name) for name in KEPT}
            save_state(self._file, {"state": state, "track": asdict(self.track), "recorder": recorded}, self._of)

    def resume(self) -> Any:
        """The state of the last `checkpoint` of this cell, with torch tensors on the CPU; None: it begins.

        What was recorded up to the checkpoint is there again, and nothing later. A checkpoint of other code or of
        another recording, or one that is not whole, is set aside: the cell begins anew, and its row says so.

        Raises:
            MisuseError: it holds torch tensors, and the function has not imported torch.
        """
        if self._file is None or not self._file.exists():
            return None
        saved = load_state(self._file, self._of)
        if saved is None:
            self._file.replace(self._file.with_suffix(".aside"))
            self._begins_anew = True
            return None
        self.track = Track(**saved["track"])
        for name in KEPT:
            setattr(self, name, saved["recorder"][name])
        self._lower |= {name.lower(): f"the recorded {name!r}" for name in self._names}
        return saved["state"]


class CellsHandle(Files, Recorder):
    """What a batched experiment's function is given of its cells: each value has one entry a cell, in their order.

    Attributes:
        device: "cpu", "cuda" or "cuda:k".
        seeds: the cells' seeds, int64 of shape (cells,).
        cells: the random streams of each cell.
    """

    def __init__(
        self,
        cells: tuple[Cell, ...],
        recording: Recording,
        last: int | None,
        device: str = "cpu",
        diverges: Diverges = loss_like,
        source: Source | None = None,
    ) -> None:
        Recorder.__init__(self, recording, last, type(cells[0].params).model_fields)
        self.source = source
        self.device = device
        self.cells = [Streams(cell, device) for cell in cells]
        self.seeds = np.array([cell.seed for cell in cells], np.int64)
        self._diverges = diverges
        self._tracks = [Track() for _ in cells]
        self._held: tuple[int, dict[str, np.ndarray]] | None = None

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Streams]:
        return iter(self.cells)

    def record(self, step: int, **values: Any) -> None:
        """Keeps values of this step, as `CellHandle.record`; each has shape (cells,) or (cells, ...).

        Raises:
            MisuseError: a step that decreases, a name given twice, or a value of another shape.
        """
        step = int(step)
        first, keeps = self._begin(step, values, "record"), self._keeps(step)
        if first:
            self._kept, self._left_out = self._kept + keeps, self._left_out + (not keeps)
        arrays = {name: self.entries(value, f"record({step}, {name}=...)") for name, value in values.items()}
        if keeps:
            self._keep(step, arrays)
        else:
            before = self._held[1] if self._held is not None and self._held[0] == step else {}
            self._held = step, before | {name: np.array(array) for name, array in arrays.items()}

    def _keep(self, step: int, values: Mapping[str, Any]) -> None:
        self._held, track = None, self.track
        if self._all and len(track.steps) >= 2 * self._recording.entries and step > track.steps[-1]:
            self._share_out()
        self.track.add(step, values)

    def _share_out(self) -> None:
        """Gives each cell its part of what has been recorded since the last time; long curves are thinned."""
        for at, track in enumerate(self._tracks):
            for place, step in enumerate(self.track.steps):
                curves = {name: curve[place] for name, curve in self.track.curves.items()}
                track.add(step, {n: None if of is None else plain(of[at], n) for n, of in curves.items()})
            if self._all and len(track.steps) >= 2 * self._recording.entries:
                track.thin(self._recording.entries)
        self.track = Track(curves={name: [] for name in self.track.curves})

    def end(self) -> list[tuple[Track, str | None, list[str]]]:
        """Ends the recording: of each cell its track, why it is diverged, if it is, and remarks."""
        if self._held is not None and self._held[0] == self._step:
            self._keep(*self._held)
            self._left_out, self._kept = self._left_out - 1, self._kept + 1
        self._share_out()
        return [self._ended(track) for track in self._tracks]

    def _ended(self, track: Track) -> tuple[Track, str | None, list[str]]:
        """A cell's curves end with the first value that is not finite of one that diverges; others have gaps."""
        gaps: dict[str, tuple[int, int, Any]] = {}
        end: tuple[int, str] | None = None
        for name, curve in track.curves.items():
            wrong = [at for at, value in enumerate(curve) if not is_finite(value)]
            if not wrong:
                continue
            shown = "not finite" if isinstance(curve[wrong[0]], list) else curve[wrong[0]]
            if self._diverges(name) and (end is None or wrong[0] < end[0]):
                end = wrong[0], f"{name} is {shown} at step {track.steps[wrong[0]]}"
            elif not self._diverges(name):
                gaps[name] = len(wrong), track.steps[wrong[0]], shown
        last = len(track.steps) if end is None else end[0] + 1
        if end is not None:
            track.take(list(range(last)))
        for name in gaps:
            track.curves[name] = [value if is_finite(value) else None for value in track.curves[name]]
        if end is None and gaps and gaps.keys() >= track.curves.keys() and not any(map(self._diverges, self._names)):
            lost = [all(value is None for value in track.curves[name][-1:]) for name in gaps]
            if all(lost):
                return track, f"no recorded value is finite any more at step {track.steps[-1]}", []
        self._to_budget(track)
        return track, None if end is None else end[1], [] if end is not None else self._remarks(track, gaps)

    def _keep_features(self, step: int, layer: Any, arrays: Mapping[str, Any]) -> None:
        inputs = {name: self.entries(value, f"features({step}, {name}=...)") for name, value in arrays.items()}
        cells = [layer.values(step, **{name: array[at] for name, array in inputs.items()}) for at in range(len(self))]
        self._keep(step, {name: np.array([of and of[name] for of in cells], object) for name in layer.names})

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
