"""Laws of packed curves: what is read is what was written, however it lies, beside segments that were never packed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from swingby.data.records import Records
from swingby.store import Store, ingest, rebuild
from swingby.store.packing import packed, shared_steps
from swingby.store.tables import widest
from tests.support.store import LIST, Segment, rows_of, write_plan, write_shard

NESTED = pa.list_(LIST)
PAIRS = [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[0.0, -0.0], [1e-310, 1e300], [-1.0, 0.5]]]
TRIPLES = [[[1.0, 2.0, 3.0]] * 3]
SHARDS: dict[str, Any] = {
    "of one width": PAIRS,
    "a row without": [PAIRS[0], None],
    "a row of nothing": [PAIRS[0], []],
    "nothing but empty": [[], []],
    "an entry without": [PAIRS[0], [[1.0, 2.0], None, [3.0, 4.0]]],
    "a number without": [PAIRS[0], [[1.0, None], [0.0, 1.0], [3.0, 4.0]]],
    "two widths in a row": [PAIRS[0], [[1.0], [2.0, 3.0], []]],
    "empty entries": [[[], [], []], [[], [], []]],
    "another width": TRIPLES,
}


def shard(records: Records, cells: Sequence[str], output: Any, batch: int, last: int = 2) -> None:
    """A shard of whole cells whose curve `output` is this."""
    rows = rows_of([Segment(cell, last=last) for cell in cells], output=pa.array(output, NESTED))
    write_shard(records, rows, curves=("step", "loss", "output"), batch=batch)


def seen(records: Records) -> dict[str, Any]:
    with Store.open(records.data) as store:
        assert dict(store.tables()["toy"])["output"] == "DOUBLE[][]"
        return {row.cell_id: (row.step, row.output) for row in store.sql("select cell_id, step, output from toy")}


@pytest.mark.parametrize(
    ("other", "later"),
    [
        pytest.param(other, later, marks=[pytest.mark.slow] if place % 2 == later else [])
        for place, other in enumerate(SHARDS)
        for later in (False, True)
    ],
)
def test_what_is_read_is_what_was_written(tmp_path: Path, other: str, later: bool) -> None:
    """Lists of lists come back as they were, bit for bit, whatever lies beside pairs and whichever came first."""
    records = Records.open(tmp_path / "data")
    write_plan(records, ["a", "b", "c", "d"])
    expected: dict[str, Any] = {}
    outputs = [SHARDS[other], PAIRS] if later else [PAIRS, SHARDS[other]]
    for batch, (cells, output) in enumerate(zip(("ab", "cd"), outputs, strict=True)):
        shard(records, cells[: len(output)], output, batch)
        ingest(records)
        expected |= {cell: ([0, 1, 2], value) for cell, value in zip(cells, output, strict=False)}
    found = seen(records)
    assert {cell: repr(found[cell]) for cell in found} == {cell: repr(value) for cell, value in expected.items()}


def test_steps_are_shared_only_where_they_are_the_same(tmp_path: Path) -> None:
    """Cells of one list of steps, cells of another, and cells that have each their own, all keep theirs."""
    records = Records.open(tmp_path / "data")
    write_plan(records, list("abcdef"))
    shard(records, "ab", [[[1.0]] * 3] * 2, 0)
    shard(records, "cd", [[[1.0]] * 5] * 2, 1, last=4)
    ingest(records)
    shard(records, "e", [[[1.0]] * 3], 2)
    rows = rows_of([Segment("f", last=1), Segment("g", last=3)])
    write_shard(records, rows, curves=("step", "loss"), batch=3)
    ingest(records)
    steps = {cell: list(range(count)) for cell, count in zip("abcdefg", (3, 3, 5, 5, 3, 2, 4), strict=True)}
    assert {cell: step for cell, (step, _) in seen(records).items()} == steps
    with Store.open(records.data) as store:
        points = store.sql("select cell_id, count(*), max(step) from toy_points group by cell_id order by cell_id")
        assert [tuple(row) for row in points] == [(cell, len(step), step[-1]) for cell, step in steps.items()]


def test_a_segment_that_was_never_packed_is_read_and_written_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store of the layout before opens, takes more in, and reads as one made again from the records."""
    records = Records.open(tmp_path / "data")
    write_plan(records, list("abcd"))
    # Not by attribute: the package has functions of these names.
    piece, shards = (importlib.import_module(f"swingby.store.apply.{name}") for name in ("piece", "shards"))
    with monkeypatch.context() as before:
        before.setattr(piece, "packed", lambda curves: curves)
        before.setattr(piece, "shared_steps", lambda curves: None)
        before.setattr(shards, "CURVE_COLUMNS", ("curve",))
        before.setattr(shards, "numbered_steps", lambda table, number: table)
        shard(records, "ab", PAIRS, 0)
        ingest(records)
    old = seen(records)
    shard(records, "cd", PAIRS, 1)
    ingest(records)
    live = seen(records)
    assert live == {**old, "c": old["a"], "d": old["b"]}
    rebuild(records)
    assert seen(records) == live


def test_packing_changes_no_number() -> None:
    """Packed curves have the same leaves over the same memory, also when they are a slice."""
    table = pa.table({"output": pa.array([*PAIRS, None, []], NESTED), "loss": pa.array([[1.0]] * 4, LIST)})
    for part in (table, table.slice(1), table.slice(1, 2), table.slice(2)):
        assert packed(part).to_pylist() == part.to_pylist()
    assert packed(table).schema.field("output").type == pa.list_(pa.list_(pa.float64(), 2))


def test_shared_steps() -> None:
    """Steps are shared if every row has the same list, without gaps."""
    of = lambda steps: shared_steps(pa.table({"step": pa.array(steps, pa.list_(pa.int64()))}))  # noqa: E731
    found = of([[0, 3, 9]] * 4)
    assert found is not None
    assert found.to_pylist() == [[0, 3, 9]]
    for different in ([[0, 1], [0, 2]], [[0, 1], [0]], [[0, 1], None], [[]], [[0, None]], []):
        assert of(different) is None
    assert shared_steps(pa.table({"step": pa.array(np.zeros(3))}).drop_columns(["step"])) is None


def test_arrays_of_two_widths_are_lists() -> None:
    """The type that holds both keeps every dimension."""
    assert widest("DOUBLE[2][]", "DOUBLE[2][]") == "DOUBLE[2][]"
    assert widest("DOUBLE[2][]", "BIGINT[3][]") == "DOUBLE[][]"
    assert widest("DOUBLE[][]", "DOUBLE[3][]") == "DOUBLE[][]"
    assert widest("DOUBLE[2][]", "DOUBLE[]") is None
