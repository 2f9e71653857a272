"""Two shells of experiments: batches that are trained at once, and cells that are trained one after another.

An experiment of either says what is its own: name, parameters, columns, `shape`, `work`, and `train`, which calls its
engine. The shell runs it: threads, time, statuses, final rows and replay; and it declares the columns that it fills:
`step`, `seconds`, and the `final_...` of `ends`.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Literal

import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Column, Experiment, ParamsT, Recording

from .columns import COUNT, FINAL, Columns, Trained, table

REPLAYED = 20_000
"""Steps up to which a replay records every one; of a longer run it records so many."""
BAND = (
    "Thick: the median over the seeds at each step. Shaded: from the 10 % to the 90 % quantile of the seeds, which is "
    "their spread and not a confidence interval. "
)
"""How to read curves in a report, of which `Reported.curves.reading` says more."""
_ONE_THREAD = {
    "": ("numba",),
    "blas": ("threadpoolctl", "numba"),
    "torch": ("torch", "threadpoolctl", "numba"),
}
"""What holds threads to one, and numba, which compiles the kernels that a shell trains with: all of it is required."""
TOGETHER = 1.0
"""Seconds after which the rows of cells that were trained one after another make a table."""

Preset = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""From the values that a sweep sets for a point to defaults for others."""


def presets_of(*presets: Any) -> dict[str, Preset]:
    """Presets by their names."""
    return {preset.__name__: preset for preset in presets}


def preset(meaning: str, **values: Any) -> Preset:
    """A preset of the same defaults whatever a sweep sets; `meaning` becomes its docstring."""

    def defaults(_: Mapping[str, Any]) -> Mapping[str, Any]:
        return values

    defaults.__doc__ = meaning
    return defaults


class Shell(Experiment[ParamsT]):
    """What both shells share. The first preset is the default.

    Attributes:
        one_thread: whose threads are held to one while it trains, as cells are small and other workers have the other
            cores; "torch": of torch and BLAS. What that takes is required.
        counted: the parameter that is the number of steps; "" where `steps` says it.
        numbered: what `step` means, and its unit.
        ends: curves whose last recorded values are scalars `final_...`, too.
        seconds: what the column of this name means.
    """

    one_thread: ClassVar[Literal["", "blas", "torch"]] = ""
    counted: ClassVar[str] = ""
    numbered: ClassVar[tuple[str, str]] = "recorded steps", "steps"
    ends: ClassVar[Sequence[str]] = ()
    seconds: ClassVar[str] = "time of the cell"

    def __init_subclass__(cls, **options: Any) -> None:
        """Declare the columns that the shell fills, and what its threads require."""
        super().__init_subclass__(**options)
        if "name" not in vars(cls):  # no experiment, but what several share
            return
        lists = {**cls.curves, **{name: one for of in cls.recordings.values() for name, one in of.items()}}
        ends = {
            FINAL + name: Column(lists[name].type.value_type, f"last recorded value of {name}: {lists[name].meaning}")
            for name in cls.ends
        }
        cls.curves = {"step": Column(pa.list_(COUNT), *cls.numbered), **cls.curves}
        cls.scalars = {**cls.scalars, **ends, "seconds": Column(pa.float64(), cls.seconds, "s")}
        cls.requires = {**dict.fromkeys(_ONE_THREAD[cls.one_thread], "swingby[run]"), **cls.requires}
        cls.default_preset = next(iter(cls.presets), None)

    def steps(self, params: ParamsT, /) -> int:
        """Steps of the whole run."""
        return getattr(params, self.counted)

    def length(self, params: ParamsT, /) -> str | None:
        """The parameter that is the number of steps."""
        return self.counted or None

    def replay(self, cell: Cell[ParamsT], device: str = "cpu") -> Iterator[pa.Table]:
        """One cell again with every recording: at every step, of a longer run at 20,000 log-spaced ones."""
        yield from self.run(Batch((cell,), self.replayed(cell), device))

    def replayed(self, cell: Cell[ParamsT]) -> Recording:
        """What a replay of the cell records."""
        spacing = "every" if self.steps(cell.params) <= REPLAYED else "log"
        return Recording(spacing, REPLAYED, tuple(self.recordings))

    def threads(self, params: ParamsT, /) -> AbstractContextManager[object]:
        """The context in which cells of these parameters are trained."""
        if self.one_thread == "torch":
            from .training import one_thread

            return one_thread()
        if self.one_thread == "blas":
            from .blas import one_blas_thread

            return one_blas_thread()
        return nullcontext()


class BatchExperiment(Shell[ParamsT]):
    """The cells of a batch are trained at once, or so many at a time as `together` says."""

    seconds = "this cell's share of its batch's time"

    @abstractmethod
    def train(self, batch: Batch[ParamsT]) -> Columns:
        """The columns of the cells in their order: those of `columns.finished`, curves, and scalars."""

    def together(self, params: ParamsT, /) -> int | None:
        """How many cells are trained at once; None: all of a batch."""
        return None

    def run(self, batch: Batch[ParamsT]) -> Iterator[pa.Table]:
        """Train the batch; a table, with a final row a cell, of all cells that are trained at once."""
        p, schema = batch.cells[0].params, self.schema(batch.recording)
        size = self.together(p) or len(batch.cells)
        for first in range(0, len(batch.cells), size):
            if first and batch.draining():
                return
            began = time.perf_counter()
            with self.threads(p):
                columns = self.train(replace(batch, cells=batch.cells[first : first + size]))
            yield table(columns, schema, began)


class CellExperiment(Shell[ParamsT]):
    """The cells of a batch are trained one after another."""

    @abstractmethod
    def train(self, cell: Cell[ParamsT], recording: Recording) -> Trained:
        """What becomes of a cell."""

    def run(self, batch: Batch[ParamsT]) -> Iterator[pa.Table]:
        """Train the cells in their order; a table about once a second, with a final row for each that has ended."""
        schema, left = self.schema(batch.recording), iter(batch.cells)
        while rows := self._rows(left, batch, schema.names):
            yield pa.Table.from_pylist(rows, schema)

    def _rows(self, left: Iterator[Cell[ParamsT]], batch: Batch[ParamsT], names: Sequence[str]) -> list[dict[str, Any]]:
        """The rows of the next cells, of about a second; none where the batch is to stop."""
        rows, until = list[dict[str, Any]](), 0.0
        with self.threads(batch.cells[0].params):
            while not batch.draining() and (cell := next(left, None)) is not None:
                began = time.perf_counter()
                until = until or began + TOGETHER
                row = self.train(cell, batch.recording).row(cell, names)
                rows.append({**row, "seconds": (ended := time.perf_counter()) - began})
                if ended > until:
                    break
        return rows
