"""The interface of an experiment: parameters, columns, resources, and `run`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.memory import Memory, memory_of_torch
from swingby.model.params import UntypedParams
from swingby.model.process_group import ALONE, ProcessGroup
from swingby.model.reported import Reported

ParamsT = TypeVar("ParamsT", bound=UntypedParams)
"""The parameters of a cell of an experiment, as its `Params` has them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of results.

    Attributes:
        type: its Arrow type.
        meaning: what it means, for people.
        unit: "" for a pure number.
        order: every value of a category, as legends list them; () for any other column.
        title: what figures and sentences call it; "" for its name with spaces.
        absent: what a value of 0 says that the run does not have, such as "bump"; "" for any other column.
        since_last: whether each value of a curve is a mean over the steps since the one recorded before, so that it
            hangs on which steps are recorded.
        bounds: the least and the largest value that is possible, between which maps have an even scale; None where
            none are known.
    """

    type: pa.DataType
    meaning: str
    unit: str = ""
    order: tuple[str, ...] = ()
    title: str = ""
    absent: str = ""
    since_last: bool = False
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources that each process of a batch occupies while it runs.

    Attributes:
        cpus, gpus, custom: what it needs, as Ray counts it.
        most_cpus: how many CPUs it can use where there are more CPUs than batches; None: no more than `cpus`.
    """

    cpus: float = 1.0
    gpus: float = 0.0
    custom: Mapping[str, float] = field(default_factory=dict)
    most_cpus: float | None = None


ENTRIES = 2000
"""The most entries that a curve has where nobody says otherwise."""
Spacing = Literal["log", "sqrt", "epoch", "every", "all"]
"""How recorded steps are spaced."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What to record, and when: a value handed to the engine, never an `if step in [...]` inside it.

    Attributes:
        steps: "log" (every step at first, then log-spaced), "sqrt" (0, and then evenly spaced in the root of the step,
            from a fortieth of the run on), "epoch" (once an epoch, at its start), "every"; "all": whatever a function
            records, up to `entries`.
        points: how many recorded steps "log" and "sqrt" aim at.
        also: names of the experiment's recordings on request.
        code: the digest of the experiment's code, where that counts (`Experiment.code`).
        entries: how many entries a curve has at most under "all"; more are thinned (`swingby.function.track`).
    """

    steps: Spacing = "log"
    points: int = 200
    also: tuple[str, ...] = ()
    code: str = ""
    entries: int = ENTRIES

    def at(self, total: int, epoch: int | None = None) -> np.ndarray:
        """The recorded steps: int64, strictly increasing, from 0 to `total`, both included; of "all" those of "log".

        Raises:
            ValueError: "epoch" was asked of a run that has no epochs.
        """
        if self.steps == "every":
            return np.arange(total + 1)
        if self.steps == "epoch":
            if epoch is None:
                raise ValueError('steps: "epoch" needs a run in epochs; allowed here: log, sqrt, every')
            return np.unique(np.append(np.arange(0, total + 1, epoch), total))
        if self.steps == "sqrt":
            roots = np.linspace(math.sqrt(total / 40), math.sqrt(total), self.points)
            return np.unique(np.append((roots**2).round().astype(np.int64), [0, total]))
        if total + 1 <= self.points:
            return np.arange(total + 1)
        # The shortest dense head after which a log-spaced tail has gaps of at least one step, found by bisection.
        short, dense = 1, self.points - 1
        while dense - short > 1:
            middle = (short + dense) // 2
            gap = middle * math.expm1(math.log(total / middle) / (self.points - middle))
            short, dense = (short, middle) if gap >= 1 else (middle, dense)
        tail = np.geomspace(dense, total, self.points - dense).round().astype(np.int64)
        return np.unique(np.concatenate([np.arange(dense + 1), tail, [total]]))

    @property
    def tokens(self) -> tuple[str, ...]:
        """The texts that a finished cell is marked with; a cell that lacks a requested one is computed again."""
        return (*self.requested, *([f"code:{self.code}"] if self.code else []))

    @property
    def requested(self) -> tuple[str, ...]:
        """The tokens of what is recorded, whatever code records it."""
        counts = {"log": f":{self.points}", "sqrt": f":{self.points}", "all": f":{self.entries}"}
        return (f"steps:{self.steps}{counts.get(self.steps, '')}", *sorted(set(self.also)))

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values; `entries` only where they count, as in files from before there were any."""
        plain = {"steps": self.steps, "points": self.points, "also": list(self.also), "code": self.code}
        return plain | ({"entries": self.entries} if self.steps == "all" else {})


@dataclass(frozen=True, slots=True)
class Batch(Generic[ParamsT]):
    """Cells of one shape that are trained together; one trial of the scheduler.

    Attributes:
        cells: the cells, all of one `Experiment.shape`.
        recording: what to record, and when.
        device: "cpu" or "cuda" (or "cuda:k").
        workdir: a folder of this batch's own for checkpoints, kept until every cell of it is final; where all of them
            failed, for a run that tries them again.
        draining: True once the run was asked to stop; a long experiment then yields what it has and returns.
        cache: a folder for what can be made again, shared by all batches of a data folder (and by processes that run
            at once); perhaps not there yet.
        group: the processes that train the batch; a single one, unless the experiment `spreads`.
        cpus: how many CPUs each of them may use.
        gpus: how many GPUs, or what part of one that others share, Ray gave to each of them; 0 without Ray.
        emit: takes rows like those that `run` yields, for an experiment that has some in the middle of a call and
            cannot yield them there; they are on disk when it returns. None as its argument is a sign of life. None: no
            rows but those that are yielded are wanted.
    """

    cells: tuple[Cell[ParamsT], ...]
    recording: Recording
    device: str = "cpu"
    workdir: Path | None = None
    draining: Callable[[], bool] = lambda: False
    cache: Path | None = None
    group: ProcessGroup = ALONE
    cpus: float = 1.0
    gpus: float = 0.0
    emit: Callable[[pa.Table | None], None] | None = None


SEGMENT_COLUMNS: Mapping[str, pa.DataType] = {
    "cell_id": pa.string(),
    "from_step": pa.int64(),
    "to_step": pa.int64(),
    "final": pa.bool_(),
    "status": pa.string(),
    "message": pa.string(),
}
"""Columns every table that `run` yields begins with. A row is a segment of one cell: steps from_step..to_step, both
included. `status` is "ok", "diverged" (a result: non-finite or out of bounds) or "failed" (it raised; see message)."""

AFTER = "after_step"
"""The column that the platform adds to them: the last step before from_step that an earlier row of the cell covers, if
it goes on from one. Where that row is in no shard any more the curve has a gap, and the cell is not finished."""


class Experiment(ABC, Generic[ParamsT]):
    """One kind of training; offered under the entry-point group `swingby.experiments`, made without arguments.

    Attributes:
        name: also the name of its table in the store; a lower-case identifier.
        stream_version: raised whenever the numbers of an existing cell change.
        Params: the pydantic model of its parameters.
        presets: named bundles: functions from the values that a sweep file sets for a point to defaults for the others.
        default_preset: used where a sweep file names none.
        read_where: for each parameter that not every run reads, the condition under which one does, in the language of
            `where`, such as {"momentum": "optimiser == 'sgd'"}. Elsewhere its value moves no result by a bit; sweeps
            that vary it there are refused. A parameter that is not named is taken to be read by all.
        requires: what training imports beyond what reading results needs: each module's name, and what pip installs to
            have it, such as {"torch": "swingby[run]"}. A run says so in one line where one is missing.
        scalars: result columns with one value a cell.
        curves: list columns that every run records; `step` (int64 list) is always among them.
        recordings: on request: name -> the columns it adds.
        report: what every report of a sweep over it draws and says.
        spreads: whether several processes can train a batch together, by `Batch.group`.
        pinned: whether tests hold the numbers of its cells, so that `stream_version` alone says what changed. Results
            of others are marked with the digest of their package's code while it is worked on.
        trains_together: whether a batch may take less time than its cells one after another.
        discovers: whether its columns are found as it runs; then `curves` and `scalars` say what is known beforehand.
        keeps_all: whether it says itself at which steps it records, so that `record: {steps: all}` keeps what it does.
    """

    name: ClassVar[str]
    stream_version: ClassVar[int]
    Params: ClassVar[type[Any]]
    presets: ClassVar[Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]] = {}
    default_preset: ClassVar[str | None] = None
    read_where: ClassVar[Mapping[str, str]] = {}
    requires: ClassVar[Mapping[str, str]] = {}
    scalars: ClassVar[Mapping[str, Column]] = {}
    curves: ClassVar[Mapping[str, Column]] = {}
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {}
    report: ClassVar[Reported] = Reported()
    spreads: ClassVar[bool] = False
    trains_together: bool = True
    pinned: ClassVar[bool] = False
    discovers: ClassVar[bool] = False
    keeps_all: ClassVar[bool] = False

    @property
    def code(self) -> str:
        """A digest of the code that it knows itself; "" where its package says what changed (`swingby.model.code`)."""
        return ""

    def declaration(self) -> dict[str, Any] | None:
        """What readers of results need where the experiment is not installed, as plain JSON values; None: nothing."""
        return None

    @abstractmethod
    def shape(self, params: ParamsT, /) -> str:
        """Cells whose shapes are equal can share a batch."""

    @abstractmethod
    def run(self, batch: Batch[ParamsT]) -> Iterator[pa.Table]:
        """Train the batch. A table has SEGMENT_COLUMNS, `curves`, the asked recordings, and the scalars on final rows.

        A cell that diverges or raises comes back as a final row with a status and a message; its neighbours go on.
        Must not depend on the order or the company of the cells, save for rounding.
        """

    def schema(self, recording: Recording) -> pa.Schema:
        """The columns of a final row under a recording: SEGMENT_COLUMNS, curves, what is also recorded, scalars."""
        also = {name: column for key in recording.also for name, column in self.recordings[key].items()}
        columns = {name: column.type for name, column in {**self.curves, **also, **self.scalars}.items()}
        return pa.schema([*SEGMENT_COLUMNS.items(), *columns.items()])

    def resources(self, params: ParamsT, /) -> Resources:
        """What each process of a batch with such cells occupies."""
        return Resources()

    def work(self, params: ParamsT, /) -> float:
        """Relative cost of a cell (any unit); the platform measures the factor."""
        return 1.0

    def max_batch(self, params: ParamsT, /) -> int:
        """The most cells of this shape that fit one batch (memory)."""
        return 4096

    def lanes(self, params: ParamsT, /) -> int:
        """How many cells of this shape a batch trains side by side, at the cost of one."""
        return 1

    def steps(self, params: ParamsT, /) -> int:
        """How many steps a cell of these parameters takes (for forecasts)."""
        return 1

    def length(self, params: ParamsT, /) -> str | None:
        """The integer parameter that the number of steps of such a cell is proportional to; None: there is none."""
        return None

    def tolerance(self, params: ParamsT, /) -> float:
        """How far two runs of one cell may lie apart, in another batch or recorded at other steps.

        Relative to a curve's largest value. A batch of another size rounds otherwise, and float32 rounds much.
        """
        return 1e-9 if getattr(params, "dtype", "float64") == "float64" else 1e-3

    def memory(self) -> Memory | None:
        """Memory of the GPU that this process trains on, which decides how many runs share it; None: not known."""
        return memory_of_torch()

    def prepare(self, params: Sequence[ParamsT], tell: Callable[[str], None]) -> None:
        """Prepare the machine for such cells (one of each shape): done once on each machine, and reported by `tell`."""
        return

    def replay(self, cell: Cell[ParamsT], device: str = "cpu") -> Iterator[pa.Table]:
        """One cell again, recorded at every step with every recording; extra columns may hold the weights."""
        yield from self.run(Batch((cell,), Recording(steps="every", also=tuple(self.recordings)), device))
