"""The headers of plans, shards and derived files, and the table of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from swingby.data.files import is_entry, utc_now
from swingby.data.parquet import read_parquet, require
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.cell import Cell, Point
from swingby.model.columns import parameter_schema
from swingby.model.experiment import ENTRIES, Recording
from swingby.model.params import as_tuple
from swingby.model.points import Points, PointWriter, repeated

PLAN_COLUMNS: Mapping[str, pa.DataType] = {
    "cell_id": pa.string(),
    "point": pa.int32(),
    "seed": pa.int64(),
    "seed_mode": pa.string(),
    "batch": pa.int32(),
}
"""The columns every plan's table begins with; the parameters follow."""

WHOLE = "recorded whole"
"""The shape of a shard of archived results whose curves are whole."""
_ENTRIES = ("plan_id", "sweep_id", "name")
"""Values that become names of files and folders."""
_PLAN_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("sweep_id", "name", "experiment", "created"), str),
    **dict.fromkeys(("stream_version", "sequence"), int),
    **dict.fromkeys(("resolved", "provenance"), dict),
}
_SHARD_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("plan_id", "sweep_id", "experiment", "shape", "started", "finished", "host", "device"), str),
    **dict.fromkeys(("batch", "attempt", "cells", "pid"), int),
    **dict.fromkeys(("recorded", "curves"), list),
    "seconds": (int, float),
    "versions": dict,
}
DERIVED_TYPES: Mapping[str, Any] = {"kind": str, "version": str, "key": list, "created": str}
"""What the header of a derived file holds at least."""


def check_types(header: Mapping[str, Any], types: Mapping[str, Any]) -> None:
    """Refuses a header that does not hold what it must: a list is of texts, an integer fits 63 bits, a name leads
    to no other folder.

    Raises:
        TypeError: names the first value that is missing or wrong.
    """
    for name, type_ in types.items():
        value = header.get(name)
        fits = isinstance(value, type_) and not isinstance(value, bool)
        if isinstance(value, int):
            fits = fits and 0 <= value < 2**63
        if name in _ENTRIES and isinstance(value, str):
            fits = fits and is_entry(value)
        if isinstance(value, list):
            fits = fits and all(isinstance(item, str) for item in value)
        if not fits:
            raise TypeError(f"{name} = {value!r:.60}")


@dataclass(frozen=True, slots=True)
class BatchNote:
    """One batch in a plan: number (from 0), shape, how many cells, forecast in seconds (None: unmeasured)."""

    batch: int
    shape: str
    cells: int
    forecast_seconds: float | None = None


@dataclass(frozen=True)
class Plan:
    """The cells and batches of one run of a sweep; written before any trial.

    Attributes:
        sweep_id: 16 hexadecimal digits.
        name: the sweep's name.
        experiment: the experiment's name.
        stream_version: of the experiment, when the plan was made.
        sequence: 1 for the sweep's first plan, 2 for the second, and so on.
        resolved: the sweep as plain JSON (`Sweep.resolved`).
        recording: what is recorded, and when.
        provenance: see `provenance()`.
        batches: one note for each batch.
        created: ISO 8601, UTC.
        decision: of a sweep that is refined, why these cells: as `Refiner` writes it; empty: all cells are listed.
        path: the file, or None before it is written.
        source: the table (see `plan_table`) or a function that makes it, before the plan is written; afterwards `table`
            reads the file.
    """

    sweep_id: str
    name: str
    experiment: str
    stream_version: int
    sequence: int
    resolved: Mapping[str, Any]
    recording: Recording
    provenance: Mapping[str, Any]
    batches: tuple[BatchNote, ...]
    created: str = field(default_factory=utc_now)
    decision: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = field(default=None, compare=False)
    source: pa.Table | Callable[[], pa.Table] | None = field(default=None, repr=False, compare=False)

    @property
    def plan_id(self) -> str:
        """Name, the sweep's first eight digits, and the sequence number."""
        return f"{self.name}-{self.sweep_id[:8]}-{self.sequence:04d}"

    @cached_property
    def table(self) -> pa.Table:
        """A row a cell: cell_id, point, seed, seed_mode, batch (null: had a result already), then the parameters."""
        if self.source is not None:
            return self.source if isinstance(self.source, pa.Table) else self.source()
        if self.path is None:
            raise SwingbyError(f"plan {self.plan_id} has neither a table nor a file")
        _, table = read_parquet(self.path, "plan")
        require(table, PLAN_COLUMNS, f"plan {self.plan_id}")
        return table

    def header(self) -> dict[str, Any]:
        """Everything but the table, as plain JSON."""
        skipped = ("path", "source", "recording", "batches")
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in skipped}
        if not self.decision:
            del plain["decision"]
        return {
            "plan_id": self.plan_id,
            **plain,
            "recording": self.recording.to_json(),
            "batches": [asdict(note) for note in self.batches],
        }

    @classmethod
    def of_header(cls, header: Mapping[str, Any], path: Path) -> Self:
        """The plan of a file's header; its table is read when it is asked for.

        Raises:
            KeyError, TypeError: the header lacks something, or has it in another type.
        """
        check_types(header, _PLAN_TYPES)
        header = {"decision": {}, **header}
        if not isinstance(header["decision"], dict):
            raise TypeError(f"decision = {header['decision']!r:.60}")
        values = {name: header[name] for name in cls.__dataclass_fields__ if name not in ("path", "source")}
        recording = header["recording"]
        values["recording"] = Recording(
            recording["steps"],
            recording["points"],
            tuple(recording["also"]),
            recording.get("code", ""),
            recording.get("entries", ENTRIES),
        )
        values["batches"] = tuple(BatchNote(**note) for note in header["batches"])
        return cls(**values, path=path)


def plan_table(
    points: Sequence[Point], point: Sequence[int], seed: Sequence[int], batch: Sequence[int | None]
) -> pa.Table:
    """The table of a plan: for each cell its point (an index into `points`, all of one experiment), seed, and batch.

    Raises:
        SwingbyError: no points, or the experiment has a parameter no column can hold.
    """
    if not points:
        raise SwingbyError("a plan needs at least one point")
    cells = [points[index].cell(number) for index, number in zip(point, seed, strict=True)]
    parameters = parameter_schema(type(points[0].params))
    columns = {name: [getattr(item.params, name) for item in points] for name in parameters.names}
    places = pa.array(point, pa.int32())
    table = pa.table(
        {
            "cell_id": pa.array([cell.cell_id for cell in cells], pa.string()),
            "point": places,
            "seed": pa.array(seed, pa.int64()),
            "seed_mode": pa.array([item.seeds for item in points], pa.string()).take(places),
            "batch": pa.array(batch, pa.int32()),
        }
    )
    for name in parameters.names:
        column = pa.array(columns[name], parameters.field(name).type).take(places)
        table = table.append_column(parameters.field(name), column)
    return table


def sweep_table(
    points: Points, seeds: Sequence[int], places: np.ndarray, cell_ids: pa.StringArray, batch: pa.Int32Array
) -> pa.Table:
    """The table of a plan.

    Args:
        places: of the cells it lists, in the order of all points with the first seed, then of all with the next.
        cell_ids, batch: of these cells.

    Raises:
        SwingbyError: the experiment has a parameter no column can hold.
    """
    point = (places % len(points)).astype(np.int32)
    table = pa.table(
        {
            "cell_id": cell_ids,
            "point": pa.array(point),
            "seed": pa.array(np.asarray(seeds, np.int64)[places // len(points)]),
            "seed_mode": repeated(points.seeds, len(places), pa.string()),
            "batch": batch,
        }
    )
    parameters = points.table(point)
    for column in parameters.schema:
        table = table.append_column(column, parameters[column.name])
    return table


@dataclass(frozen=True, slots=True)
class ShardHeader:
    """The header of a shard.

    Attributes:
        attempt: 1000 x the plan's sequence + the try of the batch (see `Records.next_attempt`).
        recorded: the recording's tokens.
        curves: the columns that hold a cell's history (`Experiment.curves` and the asked recordings); every other
            column beside SEGMENT_COLUMNS is a scalar.
        cells: how many cells the batch has.
        started, finished: ISO 8601, UTC; seconds: the wall time of these rows.
        versions: package versions of the worker.
    """

    plan_id: str
    sweep_id: str
    experiment: str
    batch: int
    attempt: int
    recorded: tuple[str, ...]
    curves: tuple[str, ...]
    shape: str
    cells: int
    started: str
    finished: str
    seconds: float
    host: str
    device: str
    pid: int
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_json(cls, header: Mapping[str, Any]) -> Self:
        """The header from a file's metadata."""
        check_types(header, _SHARD_TYPES)
        values = {name: header[name] for name in cls.__dataclass_fields__}
        return cls(**{**values, "recorded": tuple(header["recorded"]), "curves": tuple(header["curves"])})


def plan_cells(plan: Plan, rows: pa.Table) -> tuple[Cell, ...]:
    """The cells of some rows of a plan; those of one point share one `Point`.

    The parameters were checked when the plan was made, and equal ids show that they are unchanged: only those of the
    first point are checked again.

    Raises:
        SwingbyError: the installed experiment gives these cells other ids.
    """
    params_type = registry.experiment(plan.experiment).Params
    names = [name for name in params_type.model_fields if name in rows.column_names]
    _, first, place = np.unique(rows["point"].to_numpy(), return_index=True, return_inverse=True)
    first_rows = rows.take(pa.array(first))
    columns = [first_rows[name].to_pylist() for name in names]
    modes = first_rows["seed_mode"].to_pylist()
    writers = {mode: PointWriter(plan.experiment, plan.stream_version, params_type, mode) for mode in set(modes)}
    points: list[Point] = []
    for mode, values in zip(modes, zip(*columns, strict=True), strict=True):
        values_by_name = {n: as_tuple(v) if isinstance(v, list) else v for n, v in zip(names, values, strict=True)}
        params = points[0].params.model_copy(update=values_by_name) if points else params_type(**values_by_name)
        writers[mode].add(params.__dict__)
        points.append(Point(plan.experiment, plan.stream_version, params, mode))
    ids = {mode: iter(writer.points().ids.to_pylist()) for mode, writer in writers.items()}
    for point in points:
        point.__dict__["point_id"] = next(ids[point.seeds])  # fills the cached property, many times faster
    cells = tuple(points[at].cell(seed) for at, seed in zip(place.tolist(), rows["seed"].to_pylist(), strict=True))
    if [cell.cell_id for cell in cells] != rows["cell_id"].to_pylist():
        raise SwingbyError(
            f"plan {plan.plan_id} was made by another version of {plan.experiment}; plan the sweep again"
        )
    return cells
