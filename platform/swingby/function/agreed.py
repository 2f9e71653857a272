"""The agreement of cells about their columns: a name is spelt alike and has one type in all of them."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from swingby.function.source import make_way
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
    """The columns that all cells of an experiment's code have: the first cell that has one says what it is.

    A cell may lack columns that others have, which are null there: some settings have measures that others lack, and a
    run that stops soon has measured some of them never. A name has one spelling and one type.

    Args:
        path: a file that all batches of a data folder share; None: only this batch agrees. It is a cache: whatever is
            gone, or cannot be read, is made anew.
        parameters: the names of the experiment's parameters, which no column may have.
    """

    def __init__(self, path: Path | None, parameters: Collection[str]) -> None:
        self._path, self._parameters = path, {name.lower(): name for name in parameters}
        self._known: dict[str, dict[str, str]] = {}

    def checked(self, row: Row) -> Row:
        """The row; failed, with the reason as its message, if it has other columns than cells before."""
        if row.status == "failed" or not (row.curves or row.scalars or row.status == "ok"):
            return row
        wrong = self._taken(row) or self._clash(row)
        return row if wrong is None else row.failed(wrong)

    def _taken(self, row: Row) -> str | None:
        """In words, which name is that of another column, upper and lower case alike; None: none is."""
        seen: dict[str, str] = {name: f"the parameter {parameter!r}" for name, parameter in self._parameters.items()}
        for noun, names in (("recorded", row.curves), ("returned", row.scalars)):
            for name in sorted(names):
                lower = name.lower()
                if not name.isidentifier() or lower in TAKEN:
                    allowed = f"allowed: a name, and none of {', '.join(sorted(TAKEN))}"
                    return f"the {noun} {name!r} cannot be a column; {allowed}"
                if lower in seen:
                    return f"the {noun} {name!r} has the name of {seen[lower]}, upper and lower case alike; rename one"
                seen[lower] = f"the {noun} {name!r}"
        return None

    def _clash(self, row: Row) -> str | None:
        """In words, how a cell's columns differ from those of cells before; None: they go together."""
        mine = dict[str, dict[str, str]]()
        for noun, columns in (("recorded", row.curves), ("returned", {k: [v] for k, v in row.scalars.items()})):
            for name, values in columns.items():
                type_ = kind(values)
                if type_.startswith("a mixture"):
                    return f"{name} is {type_}: a column has one type"
                if type_ != "nothing":
                    mine[name.lower()] = {"cell": row.cell_id, "name": name, "noun": noun, "kind": type_}
        if self._path is not None and not mine.keys() <= self._known.keys():
            self._known = {**read_columns(self._path), **self._known}
        wrong = self._differing(mine)
        if wrong is None and not mine.keys() <= self._known.keys():
            self._add(mine)
            wrong = self._differing(mine)  # another process may have been first
        return wrong

    def _differing(self, mine: Mapping[str, dict[str, str]]) -> str | None:
        """In words, which of a cell's columns was another one in a cell before; None: none was."""
        for key, one in mine.items():
            if key not in self._known:
                continue
            first, name, type_ = self._known[key], one["name"], one["kind"]
            cell, before = first["cell"][:12], first["kind"]
            if (first["name"], first["noun"]) != (name, one["noun"]):
                return f"it {one['noun']} {name!r}; cell {cell} {first['noun']} {first['name']!r}: rename one of them"
            if type_ != before and {type_, before} != {"int", "float"}:
                return f"{name} is {type_} here, and {before} in cell {cell}: a column has one type"
        return None

    def _add(self, mine: Mapping[str, dict[str, str]]) -> None:
        """Says of the columns that no cell had before what this cell says; whoever wrote first is right."""
        known = {**mine, **self._known}
        if self._path is not None:
            with suppress(OSError):  # then this batch agrees by itself; the store refuses what does not go together
                append_columns(self._path, {key: one for key, one in mine.items() if key not in self._known})
            known |= {key: one for key, one in read_columns(self._path).items() if key not in self._known}
        self._known = known


KEYS = {"cell", "name", "noun", "kind"}


def append_columns(path: Path, columns: Mapping[str, Mapping[str, str]]) -> None:
    """Appends a line of columns (key -> what is said of it)."""
    make_way(path)
    # Processes append at once, each by one write, and read what all have; a line torn by a power cut ends at the next.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    try:
        os.write(handle, f"\n{json.dumps(columns)}\n".encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def read_columns(path: Path) -> dict[str, dict[str, str]]:
    """What was first said of each column in a file; lines that cannot be read are of no use."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return {}
    columns = dict[str, dict[str, str]]()
    for line in lines:
        with suppress(ValueError, RecursionError, AttributeError):
            for key, one in json.loads(line).items():
                if isinstance(one, dict) and one.keys() == KEYS and all(type(text) is str for text in one.values()):
                    columns.setdefault(key, one)
    return columns
