"""The agreement of cells about their columns: those of the first finished cell are those of every later one."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from swingby.function.values import curve_type, kind, scalar_type
from swingby.model.experiment import AFTER, SEGMENT_COLUMNS

TAKEN = frozenset({
    *SEGMENT_COLUMNS, AFTER, "step", "steps", "last_step", "seed", "seed_mode", "sweep_id", "recorded", "shard",
    "attempt", "place", "curve",
})  # fmt: skip
"""Names of columns that every experiment's table has."""


@dataclass(frozen=True)
class Row:
    """A segment of a cell, as a row of what `Experiment.run` yields.

    Attributes:
        status: "ok", "diverged" or "failed"; None: the cell goes on.
        low: the first step that it covers.
        steps: the recorded steps, increasing.
        curves: name -> a plain value for each step.
        scalars: name -> plain value; of a cell that ended.
    """

    cell_id: str
    status: str | None
    message: str | None = None
    low: int = 0
    steps: Sequence[int] = ()
    curves: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    scalars: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kinds(self) -> dict[str, Any]:
        """The kinds of the values of its columns; only a cell that ended well says which scalars there are."""
        return {
            "curves": {name: kind(values) for name, values in self.curves.items()},
            "scalars": {name: kind([value]) for name, value in self.scalars.items()} if self.status == "ok" else None,
        }

    def failed(self, message: str) -> Row:
        """The cell's last row, without values: it failed."""
        return Row(self.cell_id, "failed", message, self.low)

    def segment(self) -> dict[str, Any]:
        """The values of SEGMENT_COLUMNS."""
        last, final = self.steps[-1] if self.steps else self.low, self.status is not None
        return {
            "cell_id": self.cell_id, "from_step": self.low, "to_step": last, "final": final, "status": self.status,
            "message": self.message,
        }  # fmt: skip


def table_of(rows: Sequence[Row]) -> pa.Table:
    """Rows as `Experiment.run` yields them; curves are marked as such."""
    segments = [row.segment() for row in rows]
    fields = [pa.field(name, type_) for name, type_ in SEGMENT_COLUMNS.items()]
    arrays = [pa.array([segment[name] for segment in segments], type_) for name, type_ in SEGMENT_COLUMNS.items()]
    columns: dict[str, tuple[list[Any], pa.DataType]] = {"step": ([row.steps for row in rows], pa.list_(pa.int64()))}
    for name in dict.fromkeys(name for row in rows for name in row.curves):
        values = [row.curves.get(name) for row in rows]
        columns[name] = values, curve_type(values)
    fields += [pa.field(name, type_, metadata={"role": "curve"}) for name, (_, type_) in columns.items()]
    for name in dict.fromkeys(name for row in rows for name in row.scalars):
        values = [row.scalars.get(name) for row in rows]
        columns[name] = values, scalar_type(values)
        fields.append(pa.field(name, columns[name][1]))
    return pa.table([*arrays, *(pa.array(*column) for column in columns.values())], schema=pa.schema(fields))


class Agreed:
    """The columns that all cells of an experiment's code have.

    Args:
        path: a file that all batches of a data folder share; None: only this batch agrees.
        parameters: the names of the experiment's parameters, which no column may have.
    """

    def __init__(self, path: Path | None, parameters: Collection[str]) -> None:
        self._path, self._parameters = path, frozenset(parameters)
        self._first: dict[str, Any] | None = None

    def checked(self, row: Row) -> Row:
        """The row; failed, with the reason as its message, if it has other columns than the first cell."""
        if row.status == "failed" or not (row.curves or row.scalars or row.status == "ok"):
            return row
        kinds = row.kinds
        wrong = self._taken(row) or _mixed(kinds) or clash(self._agree(row.cell_id, kinds), kinds)
        return row if wrong is None else row.failed(wrong)

    def _taken(self, row: Row) -> str | None:
        """In words, which name is that of another column; None: none is."""
        for noun, names, others in (("recorded", row.curves, ()), ("returned", row.scalars, row.curves)):
            for name in sorted(names):
                if not name.isidentifier() or name.lower() in TAKEN:
                    allowed = f"allowed: a name, and none of {', '.join(sorted(TAKEN))}"
                    return f"the {noun} {name!r} cannot be a column; {allowed}"
                if name in self._parameters or name in others:
                    other = "a parameter" if name in self._parameters else "a recorded value"
                    return f"the {noun} {name!r} has the name of {other}; rename one of them"
        return None

    def _agree(self, cell_id: str, kinds: dict[str, Any]) -> dict[str, Any]:
        """The columns of the first cell; this one's, if it is the first that ended well."""
        mine = {"cell": cell_id, **kinds}
        if self._first is None and self._path is not None and self._path.is_file():
            self._first = json.loads(self._path.read_text())
        if self._first is None and kinds["scalars"] is not None:
            self._first = mine if self._path is None else first_of(self._path, mine)
        return self._first or mine


def first_of(path: Path, mine: dict[str, Any]) -> dict[str, Any]:
    """The content of a JSON file, which is written with `mine` unless another process was first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{uuid.uuid4().hex}")
    temporary.write_text(json.dumps(mine))
    try:
        os.link(temporary, path)
    except FileExistsError:
        return json.loads(path.read_text())
    except OSError:  # a file system without links: the last of two that begin at once wins
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return mine


def _mixed(kinds: Mapping[str, Any]) -> str | None:
    """In words, which column has values of several types; None: none has."""
    for name, own in kinds["curves"].items():  # a scalar is one value
        if own.startswith("a mixture"):
            return f"{name} is {own}: a column has one type"
    return None


def clash(first: Mapping[str, Any], kinds: Mapping[str, Any]) -> str | None:
    """In words, how a cell's columns differ from those of the first cell; None: they go together."""
    cell = first["cell"][:12]
    for noun, verb in (("curves", "recorded"), ("scalars", "returned")):
        before, now = first.get(noun), kinds.get(noun)
        if before is None or now is None:
            continue
        if before.keys() != now.keys():
            names = [", ".join(of) or "nothing" for of in (now, before)]
            return f"it {verb} {names[0]}; cell {cell} {verb} {names[1]}: every cell has the same columns"
        for name, own in now.items():
            if own != before[name] and "nothing" not in (own, before[name]) and {own, before[name]} != {"int", "float"}:
                return f"{name} is {own} here, and {before[name]} in cell {cell}: a column has one type"
    return None
