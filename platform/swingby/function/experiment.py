"""An experiment made of a function: its signature gives the parameters, its first results give the columns."""

from __future__ import annotations

import inspect
import json
import os
import sys
import textwrap
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
from pydantic import create_model
from pydantic.fields import FieldInfo

from swingby.errors import SwingbyError
from swingby.function.handle import CellHandle, CellsHandle, MisuseError, NotFiniteError, as_array, is_finite, plain
from swingby.function.source import Source, digest_of, load_file, told
from swingby.model.cell import Cell
from swingby.model.columns import parameter_schema
from swingby.model.experiment import AFTER, SEGMENT_COLUMNS, Batch, Column, Experiment, Resources
from swingby.model.params import Matrix, UntypedParams, Vector

STEPS = "steps"
"""The integer parameter that says how many steps a cell takes, where there is one of this name."""
TYPES: Mapping[str, Any] = {
    "bool": bool, "int": int, "float": float, "str": str, "vector": Vector, "matrix": Matrix,
}  # fmt: skip
"""The types of parameters by the names that a declaration gives them."""
TAKEN = frozenset({
    *SEGMENT_COLUMNS, AFTER, "step", "steps", "last_step", "seed", "seed_mode", "sweep_id", "recorded", "shard",
    "attempt", "place", "curve",
})  # fmt: skip
"""Names of columns that every experiment's table has."""
ALLOWED = "bool, int, float, str, Literal[...], swingby.Vector, swingby.Matrix, or one of these | None"
TOGETHER = 0.25
"""Seconds for which rows of finished cells are gathered: a table for each would cost more than a cell of a
millisecond."""
ARROW = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


class FunctionExperiment(Experiment):
    """An experiment whose training is a function of a handle and its parameters; it can be called as that function.

    Attributes:
        function: the function; None: it is only known by its declaration, and nothing can be trained.
        source: its code.
        batched: whether the function takes columns of parameters of several cells.
    """

    discovers = True

    def __init__(
        self,
        function: Callable[..., Any] | None,
        name: str,
        Params: type[UntypedParams],
        source: Source | None,
        *,
        version: int = 1,
        said: Mapping[str, Column | str] | None = None,
        batched: bool = False,
        title: str = "",
    ) -> None:
        self.function, self.source, self.batched, self.title = function, source, batched, title
        self.name, self.stream_version = name, version  # type: ignore[misc]
        self.Params = Params  # type: ignore[misc]
        self.curves = {"step": Column(pa.list_(pa.int64()), "recorded steps")}  # type: ignore[misc]
        self.scalars = {}  # type: ignore[misc]
        self._said = {
            name: column if isinstance(column, Column) else Column(pa.null(), column)
            for name, column in (said or {}).items()
        }
        self.__doc__ = title

    def __call__(self, *values: Any, **named: Any) -> Any:
        """The function itself."""
        return self._function(*values, **named)

    def __repr__(self) -> str:
        return f"<experiment {self.name}: {', '.join(self.Params.model_fields) or 'no parameters'}>"

    @property
    def _function(self) -> Callable[..., Any]:
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
        return f"{STEPS} {self.steps(params)}" if self.batched and STEPS in self.Params.model_fields else "any"

    def work(self, params: Any) -> float:
        """The number of steps."""
        return float(self.steps(params))

    def steps(self, params: Any) -> int:
        """The parameter `steps`, if there is one of integers."""
        return max(1, self._last(params) or 1)

    def length(self, params: Any) -> str | None:
        """The parameter `steps`, if there is one of integers."""
        return None if self._last(params) is None else STEPS

    def _last(self, params: Any) -> int | None:
        value = getattr(params, STEPS, None)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

    def resources(self, params: Any) -> Resources:
        """One CPU."""
        return Resources()

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Trains cell after cell, or all together where the function is batched; stops between cells if it drains."""
        function, agreed = self._function, Agreed.of(self, batch)
        with one_thread_for_each(batch.cpus):
            if self.batched:
                yield from self._run_together(function, batch, agreed)
                return
            rows, since = [], time.monotonic()
            for cell in batch.cells:
                if batch.draining():
                    break
                rows.append(self._run_cell(function, cell, batch))
                if time.monotonic() - since >= TOGETHER:
                    yield agreed.table(rows)
                    rows, since = [], time.monotonic()
            if rows:
                yield agreed.table(rows)

    def _run_cell(self, function: Callable[..., Any], cell: Cell, batch: Batch) -> Any:
        """One cell's row: its segment's columns, its curves and its scalars."""
        handle = CellHandle(cell, batch.recording, self._last(cell.params), batch.device, batch.workdir)
        status, message, scalars = "ok", None, dict[str, Any]()
        try:
            scalars = self._scalars(function(handle, **parameters(cell)))
        except NotFiniteError as error:
            status, message = "diverged", str(error)
        except Exception as error:
            status, message = "failed", self._told(error)
        steps, curves = handle.kept()
        infinite = [name for name, value in scalars.items() if not is_finite(value)]
        if status == "ok" and infinite:
            status, message = "diverged", f"{infinite[0]} is {scalars[infinite[0]]} at the end"
        if status == "failed":
            steps, curves, scalars = [], {}, {}
        return _row(cell, steps, status, message), {"step": steps, **curves}, scalars

    def _run_together(self, function: Callable[..., Any], batch: Batch, agreed: Agreed) -> Iterator[pa.Table]:
        cells = batch.cells
        columns = {
            name: np.array([getattr(cell.params, name) for cell in cells])
            for name in type(cells[0].params).model_fields
            if name != STEPS
        }
        steps = self._last(cells[0].params)
        given = {**columns, **({STEPS: steps} if STEPS in type(cells[0].params).model_fields else {})}
        handle = CellsHandle(cells, batch.recording, steps, batch.device)
        returned = function(handle, **given) or {}
        if not isinstance(returned, Mapping):
            raise SwingbyError(self._wrong(returned))
        ends = {name: as_array(value) for name, value in returned.items()}
        for name, array in ends.items():
            if array.shape[:1] != (len(cells),):
                raise SwingbyError(f"{self.name} returned {name!r} of shape {array.shape}; allowed: an entry a cell")
        kept = CellHandle(cells[0], batch.recording, steps)
        kept.steps, kept.curves = handle.steps, {name: list(range(len(of))) for name, of in handle.curves.items()}
        places, chosen = kept.kept()
        rows = []
        for at, cell in enumerate(cells):
            curves = {name: [plain(handle.curves[name][k][at], name) for k in chosen[name]] for name in handle.curves}
            scalars = {name: plain(array[at], name) for name, array in ends.items()}
            first = [next((k for k, v in enumerate(of) if not is_finite(v)), None) for of in curves.values()]
            end = min((k for k in first if k is not None), default=None)
            infinite = [name for name, value in scalars.items() if not is_finite(value)]
            status, message = "ok", None
            if end is not None:
                name = next(name for name, k in zip(curves, first, strict=True) if k == end)
                status, message = "diverged", f"{name} is not finite at step {places[end]}"
            elif infinite:
                status, message = "diverged", f"{infinite[0]} is {scalars[infinite[0]]} at the end"
            stop = len(places) if end is None else end + 1
            curves = {name: of[:stop] for name, of in curves.items()}
            rows.append((_row(cell, places[:stop], status, message), {"step": places[:stop], **curves}, scalars))
        yield agreed.table(rows)

    def _scalars(self, returned: Any) -> dict[str, Any]:
        """What the function returned, as plain values by name."""
        if returned is None:
            return {}
        if not isinstance(returned, Mapping) or not all(isinstance(name, str) for name in returned):
            raise MisuseError(self._wrong(returned))
        return {name: plain(value, f"the returned {name!r}") for name, value in returned.items()}

    def _wrong(self, returned: Any) -> str:
        return f"{self.name} returned {type(returned).__name__}; allowed: a dictionary of scalars by name, or nothing"

    def _told(self, error: Exception) -> str:
        """An exception in one line, with the place in the user's code."""
        text = told(error)
        return text.removeprefix("MisuseError: ")

    def learn(self, curves: Mapping[str, pa.DataType], scalars: Mapping[str, pa.DataType]) -> None:
        """Takes up the columns that results have; what they mean is said by `@experiment(curves=..., scalars=...)`."""
        said = {"step": self.curves["step"], **self._said}
        self.curves, self.scalars = (  # type: ignore[misc]
            {name: replace(said.get(name, Column(type_, "")), type=type_) for name, type_ in found.items()}
            for found in ({"step": said["step"].type, **curves}, scalars)
        )

    def declaration(self) -> dict[str, Any]:
        """What readers of results need to know, as plain JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "version": self.stream_version,
            "params": {name: _declared(name, info) for name, info in self.Params.model_fields.items()},
            "meanings": {
                name: {"meaning": column.meaning, "unit": column.unit, "order": list(column.order)}
                for name, column in self._said.items()
            },
        }

    @classmethod
    def of_declaration(cls, declaration: Mapping[str, Any]) -> FunctionExperiment:
        """The experiment without its function, for readers of results.

        Raises:
            KeyError, TypeError: the declaration lacks something.
        """
        fields: dict[str, Any] = {}
        for name, of in declaration["params"].items():
            default = {"default": of["default"]} if "default" in of else {}
            info = FieldInfo(annotation=None, description=of.get("description"), **default)
            kind: Any = Literal[tuple(of["choices"])] if of.get("choices") else TYPES[of["type"]]
            fields[name] = (kind | None if of.get("optional") else kind, info)
        params = create_model("Params", __base__=UntypedParams, **fields)
        meanings = {
            name: Column(pa.null(), of["meaning"], of["unit"], tuple(of["order"]))
            for name, of in declaration.get("meanings", {}).items()
        }
        name, version, title = (declaration[key] for key in ("name", "version", "title"))
        return cls(None, name, params, None, version=version, said=meanings, title=title)


class Agreed:
    """The columns that the first finished cell of an experiment's code has; every later cell has them too.

    Args:
        path: a file that all batches of a data folder share; None: only this batch agrees.
    """

    def __init__(self, experiment: FunctionExperiment, path: Path | None) -> None:
        self._experiment, self._path = experiment, path
        self._first: dict[str, Any] | None = None

    @classmethod
    def of(cls, experiment: FunctionExperiment, batch: Batch) -> Agreed:
        """The agreement for a batch."""
        name = f"{experiment.name}-{experiment.code or 'own'}-{'-'.join(batch.recording.also) or 'all'}.json"
        return cls(experiment, None if batch.cache is None else batch.cache / "columns" / name)

    def table(self, rows: Sequence[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]) -> pa.Table:
        """Rows as `Experiment.run` yields them; a cell that has other columns than the first has failed."""
        checked = [self._checked(*row) for row in rows]
        fields = [pa.field(name, type_) for name, type_ in SEGMENT_COLUMNS.items()]
        arrays = [pa.array([row[name] for row, _, _ in checked], type_) for name, type_ in SEGMENT_COLUMNS.items()]
        for place, role in ((1, {"role": "curve"}), (2, None)):
            for name in dict.fromkeys(name for row in checked for name in row[place]):
                values = [row[place].get(name) for row in checked]
                type_ = pa.list_(pa.int64()) if name == "step" else _type(values, place == 1)
                fields.append(pa.field(name, type_, metadata=role))
                arrays.append(pa.array(values, type_))
        return pa.table(arrays, schema=pa.schema(fields))

    def _checked(self, row: dict[str, Any], curves: dict[str, Any], scalars: dict[str, Any]) -> Any:
        if row["status"] == "failed" or (row["status"] == "diverged" and not scalars and not curves):
            return row, curves, scalars
        kinds = {
            "curves": {name: _kind(values) for name, values in curves.items() if name != "step"},
            "scalars": {name: _kind([value]) for name, value in scalars.items()} if row["status"] == "ok" else None,
        }
        wrong = self._taken(curves, scalars) or clash(self._agree(row, kinds), kinds)
        if wrong is None:
            return row, curves, scalars
        failed = {**row, "from_step": 0, "to_step": 0, "status": "failed", "message": wrong}
        return failed, {"step": []}, {}

    def _taken(self, curves: Mapping[str, Any], scalars: Mapping[str, Any]) -> str | None:
        """In words, which name is that of another column; None: none is."""
        parameters = set(self._experiment.Params.model_fields)
        for noun, names, others in (
            ("recorded", curves.keys() - {"step"}, set()),
            ("returned", scalars.keys(), curves),
        ):
            for name in sorted(names):
                if not name.isidentifier() or name.lower() in TAKEN:
                    allowed = f"allowed: a name, and none of {', '.join(sorted(TAKEN))}"
                    return f"the {noun} {name!r} cannot be a column; {allowed}"
                if name in parameters or name in others:
                    other = "a parameter" if name in parameters else "a recorded value"
                    return f"the {noun} {name!r} has the name of {other}; rename one of them"
        return None

    def _agree(self, row: Mapping[str, Any], kinds: dict[str, Any]) -> dict[str, Any]:
        """The columns of the first cell; this one's, if it is the first that ended well."""
        if self._first is None and self._path is not None and self._path.is_file():
            self._first = json.loads(self._path.read_text())
        if self._first is not None:
            return self._first
        mine = {"cell": row["cell_id"], **kinds}
        if kinds["scalars"] is None:
            return mine  # a cell that diverged has returned nothing: it is no measure of others
        self._first = mine
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._path.with_name(f".{uuid.uuid4().hex}")
            temporary.write_text(json.dumps(mine))
            try:
                os.link(temporary, self._path)
            except FileExistsError:
                self._first = json.loads(self._path.read_text())
            except OSError:  # a file system without links: the last of two that begin at once wins
                temporary.replace(self._path)
            temporary.unlink(missing_ok=True)
        return self._first or mine


def clash(first: Mapping[str, Any], kinds: Mapping[str, Any]) -> str | None:
    """In words, how a cell's columns differ from those of the first cell; None: they go together."""
    for noun, verb in (("curves", "recorded"), ("scalars", "returned")):
        before, now = first.get(noun), kinds.get(noun)
        if before is None or now is None:
            continue
        if before.keys() != now.keys():
            names = [", ".join(of) or "nothing" for of in (now, before)]
            return f"it {verb} {names[0]}; cell {first['cell'][:12]} {verb} {names[1]}: every cell has the same columns"
        for name, kind in now.items():
            if {kind, before[name]} - {"nothing"} > {kind} and {kind, before[name]} != {"int", "float"}:
                if "nothing" in (kind, before[name]):
                    continue
                return f"{name} is {kind} here, and {before[name]} in cell {first['cell'][:12]}: a column has one type"
    return None


def _kind(values: Sequence[Any]) -> str:
    """The kind of a column's values: nothing, bool, int, float, str, vector or matrix."""
    types = set(map(type, values)) - {type(None)}  # few, where a curve has hundreds of values
    found = {one.__name__ for one in types - {list}}
    if list in types:
        found |= {_kind_of(value) for value in values if isinstance(value, list)}
    if found == {"int", "float"}:
        return "float"
    return found.pop() if len(found) == 1 else "nothing" if not found else "a mixture of " + " and ".join(sorted(found))


def _kind_of(value: list[Any]) -> str:
    return "matrix" if value and isinstance(value[0], list) else "vector"


def _type(values: Sequence[Any], curve: bool) -> pa.DataType:
    """The Arrow type of a column: the numbers of curves are double."""
    flat = [item for value in values if value is not None for item in value] if curve else list(values)
    kind = _kind(flat)
    if kind in ("vector", "matrix"):
        inner = pa.list_(pa.float64()) if kind == "vector" else pa.list_(pa.list_(pa.float64()))
    elif curve and kind in ("int", "nothing"):
        inner = pa.float64()
    else:
        inner = {"bool": pa.bool_(), "int": pa.int64(), "str": pa.string()}.get(kind, pa.float64())
    return pa.list_(inner) if curve else inner


def _row(cell: Cell, steps: Sequence[int], status: str, message: str | None) -> dict[str, Any]:
    last = steps[-1] if steps else 0
    return {
        "cell_id": cell.cell_id, "from_step": 0, "to_step": last, "final": True, "status": status, "message": message,
    }  # fmt: skip


@contextmanager
def one_thread_for_each(cpus: float) -> Iterator[None]:
    """While inside, torch computes with as many threads as the batch may use CPUs, if it is loaded."""
    torch = sys.modules.get("torch")
    before = None if torch is None else torch.get_num_threads()
    if torch is not None:
        torch.set_num_threads(max(1, int(cpus)))
    try:
        yield
    finally:
        if torch is not None:
            torch.set_num_threads(before)


def parameters(cell: Cell) -> dict[str, Any]:
    """The parameters of a cell as a function takes them."""
    return {name: getattr(cell.params, name) for name in type(cell.params).model_fields}


def experiment(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    version: int = 1,
    curves: Mapping[str, Column | str] | None = None,
    scalars: Mapping[str, Column | str] | None = None,
    batched: bool = False,
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

    Raises:
        SwingbyError: a parameter has no type that a column could hold; names it.
    """
    if function is None:
        return lambda of: experiment(of, name=name, version=version, curves=curves, scalars=scalars, batched=batched)
    own = name or function.__name__
    params = params_of(function, own)
    return FunctionExperiment(
        function,
        own,
        params,
        _source(function),
        version=version,
        said={**(curves or {}), **(scalars or {})},
        batched=batched,
        title=(inspect.getdoc(function) or "").partition("\n")[0].rstrip("."),
    )


def params_of(function: Callable[..., Any], name: str) -> type[UntypedParams]:
    """The model of a function's parameters, all but its first.

    Raises:
        SwingbyError: one is not named, or has no type that a column could hold.
    """
    where = f"{Path(inspect.getfile(function)).name}, {function.__name__}()"
    _, *signature = inspect.signature(function).parameters.values() or (None,)
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in signature:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise SwingbyError(f"{where}: {parameter} is no parameter with a name; write each of them out")
        kind = hints.get(parameter.name)
        if kind is None:
            if parameter.default is inspect.Parameter.empty or type(parameter.default) not in ARROW:
                raise SwingbyError(f"{where}: the parameter {parameter.name} has no type; allowed: {ALLOWED}")
            kind = type(parameter.default)
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        if isinstance(default, int) and not isinstance(default, bool) and kind is float:
            default = float(default)
        fields[parameter.name] = (kind, default)
    try:
        model = create_model(f"{name}_params", __base__=UntypedParams, **fields)
        parameter_schema(model)
    except (SwingbyError, TypeError, NameError) as error:
        raise SwingbyError(f"{where}: {error}; allowed: {ALLOWED}") from None
    return model


def _declared(name: str, info: Any) -> dict[str, Any]:
    """A parameter as plain JSON values."""
    kind, optional = info.annotation, False
    if type(None) in get_args(kind):
        optional, kind = True, next(item for item in get_args(kind) if item is not type(None))
    choices = list(get_args(kind)) if get_origin(kind) is Literal else None
    arrow = pa.array(choices).type if choices else None
    names = {bool: "bool", int: "int", float: "float", str: "str"}
    nested = str(kind).count("tuple")
    text = names.get(kind) or ("matrix" if nested > 1 else "vector" if nested else str(arrow or "str"))
    found: dict[str, Any] = {"type": text, "optional": optional, "description": info.description}
    if choices:
        found["choices"] = choices
    if not info.is_required():
        found["default"] = info.get_default(call_default_factory=True)
    return found


def _source(function: Callable[..., Any]) -> Source | None:
    """The code of a function: of its file, or, in a notebook, its own text with the function itself."""
    file = Path(inspect.getsourcefile(function) or "")
    if file.is_file() and "<locals>" not in function.__qualname__:  # of a script that is run, too: others load the file
        return Source.of_file(file, function.__name__)
    return own_source(function)


def own_source(function: Callable[..., Any]) -> Source:
    """The code of a function that no file offers to other processes: its own text."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        digest = digest_of({"": text})
    except (OSError, TypeError, SyntaxError):
        text, digest = "", uuid.uuid4().hex[:16]
    return Source("", function.__name__, {"": text}, digest)


def loaded(source: Source, folder: Path) -> FunctionExperiment:
    """The experiment of a source in this process; its files are written below the folder first.

    Raises:
        SwingbyError: it cannot be loaded.
    """
    path = source.write(folder / source.digest)
    return found_in(load_file(path, source.digest), path, source.function)


def from_file(path: Path, function: str | None = None) -> FunctionExperiment:
    """The experiment in a Python file; `function` names one of several.

    Raises:
        SwingbyError: no such file, it raises, or it has no such experiment.
    """
    if not path.is_file():
        raise SwingbyError(f"no file {path}")
    source = Source.of_file(path, function or "")
    return found_in(load_file(path, source.digest), path, function)


def found_in(module: ModuleType, path: Path, function: str | None) -> FunctionExperiment:
    """The experiment of a module that was loaded from a file."""
    own = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionExperiment) and getattr(value.function, "__module__", None) == module.__name__
    }
    names = ", ".join(own) or "(none)"
    if function:
        match = own.get(function) or next((of for of in own.values() if of.name == function), None)
        if match is None:
            raise SwingbyError(f"{path} has no experiment {function!r}; its functions with @experiment: {names}")
        return match
    if len(own) != 1:
        say = f"write {path.name}:NAME" if own else "write @experiment above the function that trains"
        raise SwingbyError(f"{path} has {len(own)} experiments ({names}); {say}")
    return next(iter(own.values()))
