"""An experiment made of a function: its signature gives the parameters, its first results give the columns."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.function.agreed import Agreed, Row, table_of
from swingby.function.faults import in_one_line
from swingby.function.handle import CellHandle, CellsHandle, NotFiniteError, seed_globals
from swingby.function.nested import Tree, rebuilt, rebuilt_columns, tree_of
from swingby.function.signature import declared, params_declared, params_of
from swingby.function.source import Source, source_of
from swingby.function.track import Track
from swingby.function.values import MisuseError, is_finite, loss_like, plain
from swingby.model.cell import Cell
from swingby.model.ending import is_its_own
from swingby.model.experiment import Batch, Column, Experiment
from swingby.model.params import UntypedParams, introduced, reads_of

STEPS = "steps"
"""The integer parameter that says how many steps a cell takes, where there is one of this name."""
ROW_SECONDS = 60.0
"""Seconds after which a cell that goes on leaves a row with what it has recorded."""
TOGETHER = 0.25
"""Seconds for which rows of finished cells are gathered: a table for each would cost more than a cell of a
millisecond."""


class FunctionExperiment(Experiment):
    """An experiment whose training is a function of a handle and its parameters; it can be called as that function.

    Attributes:
        function: the function; None: it is only known by its declaration, and nothing can be trained.
        source: its code.
        batched: whether the function takes columns of parameters of several cells.
        imported: whether its cells were trained elsewhere, so that no code of it is known anywhere.
        diverges: whether a value of this name that is not finite ends its cell.
        unseen: modules of the user that its file imports and that lie elsewhere: they are no part of `source`.
    """

    discovers = keeps_all = True

    def __init__(
        self,
        function: Callable[..., Any] | None,
        name: str,
        Params: type[UntypedParams],
        source: Source | None,
        *,
        version: int = 1,
        meanings: Mapping[str, Column | str] | None = None,
        batched: bool = False,
        title: str = "",
        imported: bool = False,
        diverges: Collection[str] | None = None,
    ) -> None:
        self.imported = imported
        self.unseen: tuple[str, ...] = ()
        self.diverges = loss_like if diverges is None else frozenset(diverges).__contains__
        self.function, self.source, self.title = function, source, title
        self.batched = self.trains_together = batched
        # Other experiments are classes, and have these as attributes of the class.
        self.name, self.stream_version, self.Params = name, version, Params  # type: ignore[misc]
        self.curves = {"step": Column(pa.list_(pa.int64()), "recorded steps")}  # type: ignore[misc]
        self.scalars = {}  # type: ignore[misc]
        self._meanings = {
            name: column if isinstance(column, Column) else Column(pa.null(), column)
            for name, column in (meanings or {}).items()
        }
        self.read_where = {name: of.text for name, of in reads_of(Params).conditions.items()}  # type: ignore[misc]
        self.__doc__ = title

    def __call__(self, *values: Any, **named: Any) -> Any:
        """The function itself."""
        return self._function(*values, **named)

    def __repr__(self) -> str:
        return f"<experiment {self.name}: {', '.join(self.Params.model_fields) or 'no parameters'}>"

    @property
    def _function(self) -> Callable[..., Any]:
        if self.function is None and self.imported:
            raise SwingbyError(
                f"experiment {self.name!r} was imported: it has no code, and nothing of it can be trained"
            )
        if self.function is None:
            raise SwingbyError(
                f"the code of experiment {self.name!r} is not loaded: name its sweep file, which says where"
            )
        return self.function

    @property
    def code(self) -> str:
        """The digest of its code; "" if that is not loaded."""
        return "" if self.source is None else self.source.digest

    def shape(self, params: Any) -> str:
        """All cells can share a batch; batched functions take those of one number of steps together."""
        return (
            f"{self.name}, {self.steps(params)} {STEPS}"
            if self.batched and STEPS in self.Params.model_fields
            else self.name
        )

    def work(self, params: Any) -> float:
        """The number of steps."""
        return float(self.steps(params))

    def steps(self, params: Any) -> int:
        """The parameter `steps`, if there is one of integers."""
        return max(1, last_step(params) or 1)

    def length(self, params: Any) -> str | None:
        """The parameter `steps`, if there is one of integers."""
        return None if last_step(params) is None else STEPS

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Trains cell after cell, or all together where the function is batched; stops between cells if it drains."""
        function = self._function
        columns = f"{self.name}-{self.code or 'own'}-{'-'.join(batch.recording.also) or 'all'}"
        path = None if batch.cache is None else batch.cache / "columns" / f"{columns}.jsonl"
        agreed = Agreed(path, self.Params.model_fields)
        with threads(batch.cpus):
            if self.batched:
                yield table_of([agreed.checked(row) for row in self._run_together(function, batch)])
                return
            rows, since = list[Row](), time.monotonic()
            for cell in batch.cells:
                if batch.draining():
                    break
                rows.append(_OneCell(self, cell, batch, agreed).run(function))
                if time.monotonic() - since >= TOGETHER:
                    yield table_of(rows)
                    rows, since = [], time.monotonic()
            if rows:
                yield table_of(rows)

    @cached_property
    def _tree(self) -> Tree:
        """The function's parameters as it takes them."""
        return tree_of(self._function)

    def arguments(self, params: Any) -> dict[str, Any]:
        """What the function gets at a point: what it does not read there is at its default."""
        return rebuilt(self._tree, self._whole(params))

    def _whole(self, params: Any) -> dict[str, Any]:
        """The values of all columns at a point."""
        fields = type(params).model_fields
        return {
            name: fields[name].default if value is None and name in self.read_where else value
            for name, value in dict(params).items()
        }

    def _run_together(self, function: Callable[..., Any], batch: Batch) -> list[Row]:
        """The rows of cells that a batched function trains at once; one cell alone fails, with the reason.

        Raises:
            Exception: what the function raises for several cells; which of them is at fault is found by halving.
        """
        cells = batch.cells
        arguments = rebuilt_columns(self._tree, [self._whole(cell.params) for cell in cells])
        last = last_step(cells[0].params)
        if STEPS in arguments:
            arguments[STEPS] = getattr(cells[0].params, STEPS)
        handle = CellsHandle(cells, batch.recording, last, batch.device, self.diverges, self.source)
        seed_globals(cells[0])
        try:
            scalars = {
                name: handle.entries(value, f"the returned {name!r}")
                for name, value in self.returned(function(handle, **arguments)).items()
            }
            return [
                self._together_ended(cell.cell_id, *ended, {name: plain(of[at], name) for name, of in scalars.items()})
                for at, (cell, ended) in enumerate(zip(cells, handle.end(), strict=True))
            ]
        except BaseException as error:
            if len(cells) > 1 or not is_its_own(error):
                raise
            return [Row(cell.cell_id, "failed", message_of(error)) for cell in cells]

    def _together_ended(
        self, cell_id: str, track: Track, diverged: str | None, remarks: list[str], scalars: Mapping[str, Any]
    ) -> Row:
        """The row of one cell of several that were trained together."""
        wrong = [name for name, value in scalars.items() if not is_finite(value)]
        ends = next((name for name in wrong if self.diverges(name)), None)
        if diverged is None and ends is not None:
            diverged = f"{ends} is {scalars[ends]} at the end"
            return Row(cell_id, "diverged", diverged, 0, track.steps, track.curves, scalars)
        if diverged is not None:
            return Row(cell_id, "diverged", diverged, 0, track.steps, track.curves)
        remarks = [*remarks, *(f"{name} is {scalars[name]} at the end: a gap" for name in wrong)]
        kept = {**scalars, **dict.fromkeys(wrong)}
        return Row(cell_id, "ok", "; ".join(remarks) or None, 0, track.steps, track.curves, kept)

    def with_added(self, added: Mapping[str, Any]) -> FunctionExperiment:
        """The experiment as it would be with these parameters as `added` ones, besides its own."""
        params = {**introduced(self.Params), **added}
        model = params_of(self._function, self.name, params, self.read_where)
        return FunctionExperiment(None, self.name, model, self.source)

    def returned(self, value: Any) -> Mapping[str, Any]:
        """What the function returned, as scalars by name.

        Raises:
            MisuseError: it is no dictionary.
        """
        if value is None:
            return {}
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            allowed = "a dictionary of scalars by name, or nothing"
            raise MisuseError(f"{self.name} returned {type(value).__name__}; allowed: {allowed}")
        return value

    @property
    def meanings(self) -> Mapping[str, Column]:
        """What `@experiment` says of recorded and returned values; a type of null is known from results only."""
        return self._meanings

    def learn(self, curves: Mapping[str, pa.DataType], scalars: Mapping[str, pa.DataType]) -> None:
        """Takes up the columns that results have; what they mean is said by `@experiment(curves=..., scalars=...)`."""
        meanings = {"step": self.curves["step"], **self._meanings}
        self.curves, self.scalars = (  # type: ignore[misc]
            {name: replace(meanings.get(name, Column(type_, "")), type=type_) for name, type_ in columns.items()}
            for columns in ({"step": meanings["step"].type, **curves}, scalars)
        )

    def declaration(self) -> dict[str, Any]:
        """What readers of results need to know, as plain JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "version": self.stream_version,
            "params": {name: declared(info) for name, info in self.Params.model_fields.items()},
            "meanings": {
                name: {"meaning": column.meaning, "unit": column.unit, "order": list(column.order)}
                for name, column in self._meanings.items()
            },
            **({"imported": True} if self.imported else {}),
        }

    @classmethod
    def of_declaration(cls, declaration: Mapping[str, Any]) -> FunctionExperiment:
        """The experiment without its function, for readers of results.

        Raises:
            KeyError, TypeError: the declaration lacks something.
        """
        meanings = {
            name: Column(pa.null(), of["meaning"], of["unit"], tuple(of["order"]))
            for name, of in declaration.get("meanings", {}).items()
        }
        name, version, title = (declaration[key] for key in ("name", "version", "title"))
        params, imported = params_declared(declaration["params"]), bool(declaration.get("imported"))
        return cls(None, name, params, None, version=version, meanings=meanings, title=title, imported=imported)


class _OneCell:
    """One cell on its way through the function; while it goes on, it leaves a row now and then."""

    def __init__(self, of: FunctionExperiment, cell: Cell, batch: Batch, agreed: Agreed) -> None:
        self._of, self._cell, self._batch, self._agreed = of, cell, batch, agreed
        self._last = last_step(cell.params)
        self._from, self._left_at = 0, time.monotonic()

    def run(self, function: Callable[..., Any]) -> Row:
        """The cell's last row: its curves from where the row before ended, and its scalars."""
        cell, batch = self._cell, self._batch
        of = self._of
        how = batch.recording, self._last, batch.device, batch.workdir, self._recorded, of.diverges, of.source
        handle = CellHandle(cell, *how)
        fault, scalars, diverged, remarks = None, dict[str, Any](), None, list[str]()
        try:
            arguments = of.arguments(cell.params)
            seed_globals(cell)
            returned = self._of.returned(function(handle, **arguments))
            scalars = {name: plain(value, f"the returned {name!r}") for name, value in returned.items()}
            scalars, diverged, remarks = handle.end(scalars)
        except NotFiniteError as error:
            diverged = str(error)
            handle.end({})
        except BaseException as error:
            if not is_its_own(error):
                raise
            fault = message_of(error)
        if fault is not None:
            return Row(cell.cell_id, "failed", fault, self._low(handle))
        status, message = ("ok", "; ".join(remarks) or None) if diverged is None else ("diverged", diverged)
        row = Row(cell.cell_id, status, message, 0, handle.track.steps, handle.track.curves, scalars)
        return self._rest(self._agreed.checked(row), self._low(handle))

    def _low(self, handle: CellHandle) -> int:
        """The first step that no row has."""
        return handle.track.steps[self._from - 1] + 1 if self._from else 0

    def _rest(self, row: Row, low: int) -> Row:
        curves = {name: of[self._from :] for name, of in row.curves.items()}
        return replace(row, low=low, steps=row.steps[self._from :], curves=curves)

    def _recorded(self, handle: CellHandle) -> None:
        """Leaves a row with what is recorded so far, if the last is long ago; the step to come stays for the next."""
        if self._batch.emit is None or time.monotonic() - self._left_at < ROW_SECONDS:
            return
        self._left_at = time.monotonic()
        settled = handle.settled()
        if settled > self._from:
            curves = {name: curve[:settled] for name, curve in handle.track.curves.items()}
            row = Row(self._cell.cell_id, None, None, 0, handle.track.steps[:settled], curves)
            if self._agreed.checked(row) is row:
                self._batch.emit(table_of([self._rest(row, self._low(handle))]))
                self._from = handle.track.settled = settled
                return
        self._batch.emit(None)


def message_of(error: BaseException) -> str:
    """An exception in one line, with the place in the user's code."""
    return in_one_line(error).removeprefix(f"{MisuseError.__name__}: ")


def last_step(params: Any) -> int | None:
    """The parameter `steps`, if it is an integer from 0 on."""
    value = getattr(params, STEPS, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@contextmanager
def threads(cpus: float) -> Iterator[None]:
    """While inside, torch computes with as many threads as the batch may use CPUs, if it is loaded."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, int(cpus)))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def experiment(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    version: int = 1,
    curves: Mapping[str, Column | str] | None = None,
    scalars: Mapping[str, Column | str] | None = None,
    batched: bool = False,
    diverges: Collection[str] | None = None,
    added: Mapping[str, Any] | None = None,
    reads: Mapping[str, str] | None = None,
    files: Collection[str] = (),
) -> Any:
    """Makes an experiment of a function `train(cell, **parameters)`.

    The parameters are those of the signature after the first, which is a `CellHandle`; their types, defaults,
    `Annotated[float, Field(gt=0, description=...)]` and `Literal` say what a sweep may set. One without a default has
    to be set. The first line of the docstring is the title. What it returns, a dictionary or nothing, are its scalars.

    Args:
        name: the name of its table; by default the function's.
        version: raised when the numbers of existing cells change on purpose: cells of another version are others.
        curves: what recorded values mean: a text, or a `Column` with its unit.
        scalars: what returned values mean.
        batched: the function takes a `CellsHandle` and a numpy array for each parameter, with an entry a cell (but the
            integer `steps`, which all cells of a call share), and records and returns arrays with an entry a cell.
        diverges: names of recorded and returned values of which one that is not finite ends its cell, which is then
            diverged; in place of any other there is a gap. None: `loss`, and names that end in `_loss`.

        added: parameters that cells from before do not have, each with the value that is what the code did then: at
            this value a cell is the one from before, and keeps its results.
        reads: of parameters that not every point reads, the condition under which one is read, in the language of
            `where`: {"momentum": "optimizer == 'sgd'"}. Elsewhere it is null, makes no cell of its own, and the
            function gets its default.
        files: data files beside the code, by their names or patterns such as `data/*.csv`, up to 2 MB: they go wherever
            the code goes (`CellHandle.file` says where), and one that changes is a change of the code. Files whose
            names stand in the code as texts are found without it.

    Raises:
        SwingbyError: a parameter has no type that a column could hold; names it.
    """
    if function is None:
        options = {
            "files": files,
            "added": added,
            "reads": reads,
            "name": name,
            "version": version,
            "curves": curves,
            "scalars": scalars,
        }
        return lambda of: experiment(of, **options, batched=batched, diverges=diverges)  # type: ignore[arg-type]
    experiment_name = name or function.__name__
    return FunctionExperiment(
        function,
        experiment_name,
        params_of(function, experiment_name, added, reads),
        source_of(function, files),
        version=version,
        meanings={**(curves or {}), **(scalars or {})},
        batched=batched,
        title=(inspect.getdoc(function) or "").partition("\n")[0].rstrip("."),
        diverges=diverges,
    )
