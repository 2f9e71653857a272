"""Laws of the store: each cell once, put together from its pieces, in whatever order the records came."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.data.records import Records
from swingby.store import Store, ingest, rebuild
from tests.support.profiles import examples
from tests.support.store import LIST, SWEEPS, Segment, cells, rows_of, snapshot, write_plan, write_shard

# folding


def test_results_come_back_as_they_were_recorded(records: Records) -> None:
    """Parameters, status, scalars and curves of a cell are one typed row; not-a-number and infinity survive."""
    write_plan(records, ["x"], width=pa.array([3]), mu=pa.array([[1.0, 2.0]]), note=pa.array([None], pa.string()))
    table = rows_of([Segment("x")]).drop_columns(["loss", "score"])
    table = table.append_column("loss", pa.array([[math.nan, math.inf, -math.inf]]))
    table = table.append_column("score", pa.array([math.nan]))
    name = write_shard(records, table)
    ingest(records)
    with Store.open(records.data) as store:
        (row,) = store.sql("from toy").rows()
        points = store.sql("from toy_points").arrow().to_pylist()
    assert str(row._asdict()) == str(
        {
            "cell_id": "x",
            "seed": 0,
            "seed_mode": "common",
            "mu": [1.0, 2.0],
            "note": None,
            "width": 3,
            "status": "ok",
            "message": None,
            "recorded": ["steps:log:200"],
            "steps": 2,
            "shard": name,
            "attempt": 1001,
            "score": math.nan,
            "step": [0, 1, 2],
            "loss": [math.nan, math.inf, -math.inf],
        }
    )
    losses = [math.nan, math.inf, -math.inf]
    assert str(points) == str([{"cell_id": "x", "k": k, "step": k, "loss": losses[k]} for k in range(3)])


def test_the_other_tables_tell_where_results_come_from(records: Records) -> None:
    """Sweeps, plans, members and shards hold what the records' headers say; times are UTC."""
    plan = write_plan(records, ["x", "y"])
    second = write_plan(records, ["x", "y"], sequence=2)
    name = write_shard(records, [Segment("x")])
    ingest(records)
    with Store.open(records.data) as store:
        (sweep,) = store.sql("from sweeps").rows()
        assert (sweep.sweep_id, sweep.name, sweep.experiment, sweep.title, sweep.cells) == (
            SWEEPS["a"], "a", "toy", "Toys", 2,
        )  # fmt: skip
        assert json.loads(sweep.resolved) == {"title": "Toys"}
        plans = store.sql("select plan_id, sequence, git_commit, git_dirty from plans order by sequence").rows()
        assert list(map(tuple, plans)) == [(plan.plan_id, 1, "c0ffee", False), (second.plan_id, 2, "c0ffee", False)]
        members = store.sql("from members order by point").rows()
        assert list(map(tuple, members)) == [(SWEEPS["a"], "x", 0), (SWEEPS["a"], "y", 1)]
        (shard,) = store.sql(
            "select shard, cells, rows, date_diff('second', started, finished) as took from shards"
        ).rows()
        assert tuple(shard) == (name, 1, 1, 65)


def test_twice_is_once(records: Records) -> None:
    """Ingesting again takes nothing, publishes nothing and changes nothing."""
    write_plan(records, ["x"])
    write_shard(records, [Segment("x")])
    first = ingest(records)
    before, generation = snapshot(records), Store.open(records.data).generation
    again = ingest(records)
    assert (first.plans, first.shards, first.rows) == (1, 1, 1)
    assert (again.plans, again.shards, again.rows, again.bad) == (0, 0, 0, ())
    assert snapshot(records) == before
    assert Store.open(records.data).generation == generation


RACES = [
    ([("late", {"finished": 9}), ("soon", {"finished": 3})], "soon"),
    ([("bad", {"status": "failed", "finished": 1}), ("good", {"finished": 9})], "good"),
    ([("blown", {"status": "diverged", "finished": 9}), ("bad", {"status": "failed"})], "blown"),
    ([("less", {"finished": 1}), ("more", {"finished": 9, "tokens": ("jacobian", "steps:log:200")})], "more"),
    ([("less", {}), ("bad", {"status": "failed", "tokens": ("jacobian", "steps:log:200")})], "less"),
]


@pytest.mark.parametrize(
    ("race", "winner", "backwards"),
    [
        pytest.param(race, winner, backwards, marks=[pytest.mark.slow] if place % 2 == backwards else [])
        for place, (race, winner) in enumerate(RACES)
        for backwards in (False, True)
    ],
)
def test_one_final_row_stands_for_a_cell(records: Records, race: list[Any], winner: str, backwards: bool) -> None:
    """A result before a failure, then more recordings, then the earlier end; in whichever order the shards came."""
    values = {name: float(place + 1) for place, (name, _) in enumerate(race)}
    for place, (name, options) in enumerate(reversed(race) if backwards else race):
        options = dict(options)
        segment = Segment("x", status=options.pop("status", "ok"), value=values[name])
        write_shard(records, [segment], batch=place, **options)
        ingest(records)
    ((cell, _, score, step, _),) = cells(records)
    assert (cell, score, step) == ("x", values[winner], [0, 1, 2])


@pytest.mark.parametrize("backwards", [False, True])
def test_equal_rivals_are_told_apart_by_name(records: Records, backwards: bool) -> None:
    """Final rows alike in everything: the shard whose name sorts first stands, whichever came first."""
    names = {write_shard(records, [Segment("x", value=value)], batch=1): value for value in (1.0, 2.0, 3.0)}
    hidden = {name: records.shard_path(name).rename(records.data / Path(name).name) for name in names}
    for name in sorted(names, reverse=backwards):
        hidden[name].rename(records.shard_path(name))
        assert ingest(records).shards == 1
    assert [row[2] for row in cells(records)] == [names[min(names)]]


# long runs


def test_a_long_run_is_put_together_from_its_segments(records: Records) -> None:
    """Segments of one attempt follow each other; until the last one is there the cell is running."""
    write_plan(records, ["x"])
    write_shard(records, [Segment("x", 0, 1, final=False, value=1), Segment("x", 2, 3, final=False, value=2)])
    ingest(records)
    assert cells(records) == [("x", "running", None, [0, 1, 2, 3], [1.0, 1.001, 2.002, 2.003])]
    write_shard(records, [Segment("x", 4, 5, value=3)])
    ingest(records)
    assert cells(records) == [("x", "ok", 3.0, [0, 1, 2, 3, 4, 5], [1.0, 1.001, 2.002, 2.003, 3.004, 3.005])]


def test_what_was_computed_again_replaces_the_first_try(records: Records) -> None:
    """A later attempt from step 2 on keeps an earlier one's points below 2 only; one from step 0 on keeps none."""
    write_shard(records, [Segment("x", 0, 3, final=False, value=1), Segment("y", 0, 3, final=False, value=1)])
    write_shard(records, [Segment("x", 2, 4, value=2), Segment("y", 0, 1, value=2)], attempt=1002)
    ingest(records)
    assert cells(records) == [
        ("x", "ok", 2.0, [0, 1, 2, 3, 4], [1.0, 1.001, 2.002, 2.003, 2.004]),
        ("y", "ok", 2.0, [0, 1], [2.0, 2.001]),
    ]


def test_sweeps_do_not_lend_each_other_segments(records: Records) -> None:
    """A cell of two sweeps is put together from the segments of the sweep that finished it, and no others."""
    write_shard(records, [Segment("x", 0, 1, final=False, value=1)], sweep="b")
    write_shard(records, [Segment("x", 1, 1, final=False, value=2), Segment("x", 2, 2, value=3)], attempt=1002)
    ingest(records)
    assert cells(records) == [("x", "ok", 3.0, [1, 2], [2.001, 3.002])]


def test_a_curve_that_only_some_pieces_have_stays_in_step(records: Records) -> None:
    """Per-step curves keep an entry a step where a piece lacks them; one that is not per step is the last piece's."""
    first, second = Segment("x", 0, 1, final=False, value=1), Segment("x", 2, 3, value=2)
    write_shard(records, rows_of([first], whole=pa.array([[7.0]], LIST)), curves=("step", "loss", "whole"))
    extra, whole = pa.array([[5.0, 6.0]], LIST), pa.array([[8.0]], LIST)
    names = ("step", "loss", "extra", "whole")
    write_shard(records, rows_of([second], extra=extra, whole=whole), curves=names, attempt=1002)
    ingest(records)
    with Store.open(records.data) as store:
        (row,) = store.sql("select step, loss, extra, whole from toy").rows()
        assert tuple(row) == ([0, 1, 2, 3], [1.0, 1.001, 2.002, 2.003], [None, None, 5.0, 6.0], [8.0])
        assert [name for name, _ in store.tables()["toy_points"]] == ["cell_id", "k", "step", "extra", "loss"]


# any order


def expected(rows: Sequence[tuple[str, int, dict[str, Any], Segment]]) -> tuple[str, str, list[int], list[float]]:
    """The winner rule and the law of overlaps in Python, for the rows (shard, place, header, row) of a cell."""

    def merit(row: tuple[str, int, dict[str, Any], Segment]) -> tuple[Any, ...]:
        name, place, header, segment = row
        if segment.final:
            return (0, segment.status == "failed", -len(header["tokens"]), header["finished"], name, place)
        return (1, -header["attempt"], -segment.last, name, place)

    head = min(rows, key=merit)

    def run(row: tuple[str, int, dict[str, Any], Segment]) -> tuple[Any, ...]:
        return (row[2]["attempt"], row[0][:-17])

    chain = [
        row
        for row in rows
        if row[2]["sweep"] == head[2]["sweep"]
        and (row is head or (not row[3].final if run(row) == run(head) else row[2]["attempt"] < head[2]["attempt"]))
    ]
    runs: dict[tuple[Any, ...], list[Any]] = {}
    for row in chain:
        runs.setdefault(run(row), []).append(row)
    starts = {name: min(row[3].first for row in own) for name, own in runs.items()}
    reached = {name: max(row[3].last for row in own) for name, own in runs.items()}
    last, points = run(head), []
    ends = {last: 99}
    # Before each run comes the latest earlier one that has the step before its first; else the latest there is.
    while earlier := [name for name in runs if name[0] < last[0] and starts[name] < starts[last]]:
        found = max(earlier, key=lambda name: (reached[name] >= starts[last] - 1, name[0]))
        ends[found], last = starts[last], found
    for row in sorted(chain, key=lambda row: (run(row), row[3].first, row[0], row[1])):
        end = ends.get(run(row), 0)
        points += [point for point in zip(row[3].steps, row[3].losses, strict=True) if point[0] < end]
    status = head[3].status if head[3].final else "running"
    return head[0], status, [step for step, _ in points], [loss for _, loss in points]


CELLS = "uvwxyz"
SEGMENTS = st.builds(
    lambda cell, first, length, final, status: (cell, first, first + length, final, status),
    st.sampled_from(CELLS),
    st.integers(0, 4),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from(["ok", "failed", "diverged"]),
)
SHARDS = st.fixed_dictionaries(
    {
        "sweep": st.sampled_from("ab"),
        "attempt": st.sampled_from([1001, 1002, 2001]),
        "tokens": st.sampled_from([("steps:every",), ("jacobian", "steps:every")]),
        "finished": st.integers(0, 2),
        "rows": st.lists(SEGMENTS, min_size=3, max_size=9),
    }
)


@settings(max_examples=examples(many=12, few=6))
@given(shards=st.lists(SHARDS, min_size=1, max_size=6), seed=st.integers(0, 9), steps=st.integers(1, 3))
def test_the_order_of_arrival_leaves_no_trace(
    tmp_path_factory: pytest.TempPathFactory, shards: list[dict[str, Any]], seed: int, steps: int
) -> None:
    """Records in any order, in one go or several, give the store that a rebuild gives, and the rows of the rules."""
    source = Records.open(tmp_path_factory.mktemp("source") / "data")
    live = Records.open(tmp_path_factory.mktemp("live") / "data")
    rows: dict[str, list[Any]] = {}
    for header in shards:
        header["batch"] = header["attempt"] // 1000  # a plan has a cell once
        segments = [Segment(*row, value=10 * sum(map(len, rows.values())) + k) for k, row in enumerate(header["rows"])]
        name = write_shard(source, segments, **{key: value for key, value in header.items() if key != "rows"})
        for place, segment in enumerate(segments):
            rows.setdefault(segment.cell, []).append((name, place, header, segment))
    widths = pa.array(range(len(CELLS)))
    write_plan(source, CELLS, width=widths)
    write_plan(source, CELLS, "b", width=widths, late=widths)
    files = [path.relative_to(source.data) for path in source.data.rglob("*.parquet")]
    random.Random(seed).shuffle(files)
    for step in range(steps):
        for path in files[step::steps]:
            (live.data / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source.data / path, live.data / path)
        ingest(live)
    seen = snapshot(live)
    with Store.open(live.data) as store:
        found = {
            row[0]: tuple(row[1:]) for row in store.sql("select cell_id, shard, status, step, loss from toy").rows()
        }
    assert found == {cell: expected(own) for cell, own in rows.items()}
    rebuild(live)
    assert snapshot(live) == seen
