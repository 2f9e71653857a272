"""The agreement of cells about their columns: a name is spelt alike and has one type in all of them."""

from __future__ import annotations

import json
import os
import shutil
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
        start: the begin of the paths of files that all batches of a data folder share, one a column; None: only this
            batch agrees. They are a cache: whatever is gone, or cannot be read, is made anew.
        parameters: the names of the experiment's parameters, which no column may have.
    """

    def __init__(self, start: Path | None, parameters: Collection[str]) -> None:
        self._start, self._parameters = start, {name.lower(): name for name in parameters}
        self._known: dict[str, dict[str, Any]] = {}

    def checked(self, row: Row) -> Row:
        """The row; failed, with the reason as its message, if it has other columns than cells before."""
        if row.status == "failed" or not (row.curves or row.scalars or row.status == "ok"):
            return row
        wrong = self._taken(row) or self._clash(row)
        return row if wrong is None else row.failed(wrong)

    def _taken(self, row: Row) -> str | None:
        """In words, which name is that of another column, upper and lower case alike; None: none is."""
        seen: dict[str, str] = {name: f"the parameter {own!r}" for name, own in self._parameters.items()}
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
        for noun, columns in (("recorded", row.curves), ("returned", {k: [v] for k, v in row.scalars.items()})):
            for name, values in columns.items():
                own = kind(values)
                if own.startswith("a mixture"):
                    return f"{name} is {own}: a column has one type"
                if own == "nothing":
                    continue
                mine = {"cell": row.cell_id, "name": name, "noun": noun, "kind": own}
                first = self._first(name.lower(), mine)
                cell, before = first["cell"][:12], first["kind"]
                if (first["name"], first["noun"]) != (name, noun):
                    return f"it {noun} {name!r}; cell {cell} {first['noun']} {first['name']!r}: rename one of them"
                if own != before and {own, before} != {"int", "float"}:
                    return f"{name} is {own} here, and {before} in cell {cell}: a column has one type"
        return None

    def _first(self, key: str, mine: dict[str, Any]) -> dict[str, Any]:
        """What the first cell said of a column; this one's, if there was none."""
        if key not in self._known:
            start = self._start
            self._known[key] = mine if start is None else first_of(start.with_name(f"{start.name}-{key}.json"), mine)
        return self._known[key]


def first_of(path: Path, mine: dict[str, Any]) -> dict[str, Any]:
    """The content of a JSON file, which is written whole with `mine` unless another process was first.

    Whatever else is there, as after a power cut, is replaced.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{uuid.uuid4().hex}")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(json.dumps(mine))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        found = _read(path, mine)
        if found is not None:
            return found
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        temporary.replace(path)
    except OSError:  # a file system without links: the last of two that begin at once wins
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return mine


def _read(path: Path, like: Mapping[str, Any]) -> dict[str, Any] | None:
    """The content of such a file; None: it is of no use."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    fits = isinstance(found, dict) and found.keys() == like.keys()
    return found if fits and all(type(found[key]) is type(value) for key, value in like.items()) else None
