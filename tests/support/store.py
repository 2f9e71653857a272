"""What tests of the store write and read: made-up plans and shards of an experiment `toy`, and what a reader sees."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from swingby.data.files import write_json
from swingby.data.records import Records
from swingby.data.records.headers import BatchNote, Plan, ShardHeader
from swingby.model.experiment import Recording
from swingby.store import Layout, Store

SWEEPS = {"a": "aa" * 8, "b": "bb" * 8}
LIST = pa.list_(pa.float64())


@dataclass(frozen=True)
class Segment:
    """One row of a shard: the steps first..last of a cell; `value` tells it from every other."""

    cell: str
    first: int = 0
    last: int = 2
    final: bool = True
    status: str = "ok"
    value: float = 0.0

    @property
    def steps(self) -> list[int]:
        return list(range(self.first, self.last + 1))

    @property
    def losses(self) -> list[float]:
        return [self.value + step / 1000 for step in self.steps]


def write_plan(
    records: Records,
    cells: Sequence[str],
    sweep: str = "a",
    sequence: int = 1,
    created: int | None = None,
    commit: str = "c0ffee",
    recording: Recording | None = None,
    **parameters: Any,
) -> Plan:
    """A plan of these cells; a parameter is a list with an entry a cell."""
    count = len(cells)
    table = pa.table(
        {
            "cell_id": pa.array(cells, pa.string()),
            "point": pa.array(range(count), pa.int32()),
            "seed": pa.array(range(count), pa.int64()),
            "seed_mode": ["common"] * count,
            "batch": pa.array([0] * count, pa.int32()),
            **parameters,
        }
    )
    notes = (BatchNote(0, "s", count),)
    provenance = {"git_commit": commit, "git_dirty": False}
    plan = Plan(
        SWEEPS[sweep], sweep, "toy", 1, sequence, {"title": "Toys"}, recording or Recording(), provenance, notes,
        created=f"2026-01-01T00:00:{created or sequence:02d}+00:00", source=table,
    )  # fmt: skip
    records.write_plan(plan)
    return plan


def rows_of(segments: Sequence[Segment], **columns: Any) -> pa.Table:
    return pa.table(
        {
            "cell_id": [segment.cell for segment in segments],
            "from_step": pa.array([segment.first for segment in segments], pa.int64()),
            "to_step": pa.array([segment.last for segment in segments], pa.int64()),
            "final": [segment.final for segment in segments],
            "status": [segment.status if segment.final else None for segment in segments],
            "message": pa.nulls(len(segments), pa.string()),
            "step": pa.array([segment.steps for segment in segments], pa.list_(pa.int64())),
            "loss": pa.array([segment.losses for segment in segments], LIST),
            "score": pa.array([segment.value if segment.final else None for segment in segments], pa.float64()),
            **columns,
        }
    )


def write_shard(
    records: Records,
    rows: list[Segment] | pa.Table,
    *,
    sweep: str = "a",
    batch: int = 0,
    attempt: int = 1001,
    tokens: Sequence[str] = ("steps:log:200",),
    curves: Sequence[str] = ("step", "loss"),
    finished: int = 5,
    experiment: str = "toy",
    host: str = "h",
) -> str:
    """Writes a shard and gives its name."""
    plan_id = f"{sweep}-{SWEEPS[sweep][:8]}-{attempt // 1000:04d}"
    table = rows_of(rows) if isinstance(rows, list) else rows
    header = ShardHeader(
        plan_id, SWEEPS[sweep], experiment, batch, attempt, tuple(tokens), tuple(curves), "s", table.num_rows,
        "2026-01-01T00:00:00+00:00", f"2026-01-01T00:01:{finished:02d}+00:00", 1.0, host, "cpu", 1,
    )  # fmt: skip
    return records.write_shard(header, table).relative_to(records.data / "shards").as_posix()


def copied(records: Records, data: Path) -> Records:
    """A copy of a data folder and its store, as if it had been ingested there."""
    shutil.copytree(records.data, data)
    copy = Records.open(data)
    layout = Layout(data)
    write_json(layout.ingested, layout.state(copy.paths()))  # the stamps of the files that lie here
    return copy


def snapshot(records: Records) -> dict[str, list[str]]:
    """Everything a reader can see, in an order of its own."""
    with Store.open(records.data) as store:
        found = {name: store.sql(f'from "{name}"').arrow() for name in sorted(store.names())}
    tables = {name: table.select(sorted(table.column_names)) for name, table in found.items()}
    return {name: sorted(map(str, [table.schema, *table.to_pylist()])) for name, table in tables.items()}


def cells(records: Records) -> list[tuple[Any, ...]]:
    with Store.open(records.data) as store:
        return [
            tuple(row) for row in store.sql("select cell_id, status, score, step, loss from toy order by all").rows()
        ]


class Finished(NamedTuple):
    """Which of some cells need no run: `done` have a result with every token, `failed` have none and raised."""

    done: frozenset[str]
    failed: frozenset[str]


def finished(records: Records, experiment: str, cell_ids: Iterable[Any], tokens: Sequence[str]) -> Finished:
    """The states of cells in the newest generation; `ingest` comes first."""
    ids = pa.array([str(one) for one in cell_ids], pa.string())
    with Store.open(records.data) as store:
        letters = store.states(experiment, ids, tokens)
    names = np.array(ids.to_pylist(), object)
    return Finished(frozenset(names[letters == "d"]), frozenset(names[letters == "f"]))
