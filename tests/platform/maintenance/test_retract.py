"""Laws of retractions: what is taken back is shown nowhere, its reason is, and the next run trains just these cells."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.data.records import Records
from swingby.data.records.retractions import Retraction
from swingby.errors import SwingbyError
from swingby.maintenance import retract
from swingby.run.commit_lock import SupersededError, check_current, plan_token
from swingby.run.driver import run_sweep
from swingby.run.plan import Planner
from swingby.run.progress import Progress
from swingby.run.worker.batch import Assignment, run_batch
from swingby.run.worker.segments import workdir
from swingby.store import Store, ingest, rebuild
from tests.support.command import swingby
from tests.support.store import Segment, cells, finished, snapshot, write_shard

SHARDS = 4
rows = st.lists(
    st.tuples(
        st.sampled_from("xyz"),
        st.integers(0, SHARDS - 1),
        st.integers(0, 3),
        st.booleans(),
        st.sampled_from(["ok", "failed"]),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row[:2],
)
pairs = st.sets(st.tuples(st.sampled_from("xyz"), st.integers(0, SHARDS - 1)), max_size=6)


def write(records: Records, number: int, segments: list[Segment]) -> str:
    """The shard of that number: a later attempt each, the last the first to be finished."""
    return write_shard(records, segments, batch=0, attempt=1001 + number, finished=50 - number)


@settings(max_examples=2)
@given(rows, pairs, st.booleans())
def test_the_fold_is_that_of_the_rows_that_were_not_taken_back(
    rows: list[tuple[str, int, int, bool, str]], back: set[tuple[str, int]], late: bool
) -> None:
    """Whether a retraction comes before the shards or after them: what is shown, and what counts as finished, is what
    would be without the rows it takes back; and a store made again is the same."""
    with tempfile.TemporaryDirectory() as name:
        records, without = Records.open(Path(name) / "a"), Records.open(Path(name) / "b")
        names: dict[int, str] = {}
        for number in range(SHARDS):
            own = [
                Segment(cell, first, 4, final, status, value=number)
                for cell, shard, first, final, status in rows
                if shard == number
            ]
            names[number] = write(records, number, [*own, Segment("w", value=number)])
            kept = [segment for segment in own if (segment.cell, number) not in back]
            write(without, number, [*kept, Segment("w", value=number)])
        if late:
            ingest(records)
        table = pa.table(
            {"cell_id": [cell for cell, _ in back], "shard": [names[number] for _, number in back]},
            schema=pa.schema({"cell_id": pa.string(), "shard": pa.string()}),
        )
        records.write_retraction(Retraction("wrong", table=table))
        ingest(records)
        ingest(without)
        assert cells(records) == cells(without)
        tokens = ("steps:log:200",)
        assert finished(records, "toy", "xyz", tokens) == finished(without, "toy", "xyz", tokens)
        seen = snapshot(records)
        rebuild(records)
        assert snapshot(records) == seen


def quietly(walk: Any, sweep: Any) -> Any:
    """A run by the for-loop that prints nothing."""
    return run_sweep(sweep, walk.data, local=True, pilot=False, progress=Progress())


def test_what_is_taken_back_is_trained_again(walk: Any) -> None:
    """The sweep's rows, points and outcomes are gone, the reason is told, `run` trains every cell once more, its
    results and outcomes are shown, the store made again is the same, and the files were all kept."""
    sweep = walk.sweep()
    quietly(walk, sweep)
    shards = walk.records().shards()
    done = retract(walk.data, ["walks"], "the steps were too long")
    assert (done.cells, done.shards, done.sweeps) == (12, len(shards), {"walks": 12})
    for table in ("walk", "walk_points", "outcomes_walk_height", "outcomes_walk_height_all"):
        assert walk.rows(f'from "{table}"') == []
    told = walk.rows("select distinct reason, sweep, record, who, host from retractions")
    assert [(row.reason, row.sweep, row.record) for row in told] == [("the steps were too long", "walks", done.record)]
    assert walk.rows("select count(*) as n from retractions")[0].n == 12
    live = snapshot(walk.records())
    rebuild(walk.records())
    assert snapshot(walk.records()) == live
    with pytest.raises(SwingbyError, match="nothing to take back: walks has no results here"):
        retract(walk.data, ["walks"], "again")
    result = quietly(walk, sweep)
    assert (result.trained, result.ok, result.missing) == (12, 12, 0)
    assert Counter(walk.started().values()) == {2: 12}
    rows = walk.rows("select cell_id, shard, of_shard from walk join outcomes_walk_height using (cell_id)")
    assert len(rows) == 12
    assert all(row.shard == row.of_shard and row.shard not in shards for row in rows)
    assert set(shards) < set(walk.records().shards())
    assert quietly(walk, sweep).trained == 0


@pytest.mark.parametrize("named", ["sweep", pytest.param("cell", marks=pytest.mark.slow)])
def test_nothing_is_added_to_what_was_taken_back(walk: Any, named: str) -> None:
    """A worker of a driver that is gone, in the middle of a cell when that is taken back: it may write nothing more,
    begin nothing of its plan, and the next run trains the cell from its first step."""
    sweep = walk.sweep(axes={"width": [1]}, seeds=1, base={"pieces": 3, "length": 8})
    records = walk.records()
    plan = Planner(sweep, records).commit().plan

    def take_back() -> bool:
        if len(records.shards()) == 1 and not records.retractions():
            (cell,) = sweep.cells()
            retract(walk.data, ["walks" if named == "sweep" else cell.cell_id], "wrong")
        return False

    with pytest.raises(SupersededError, match="results of its sweep were taken back"):
        run_batch(Assignment(walk.data, plan.plan_id, (0,)), draining=take_back)
    assert len(records.shards()) == 1
    with pytest.raises(SupersededError):
        run_batch(Assignment(walk.data, plan.plan_id, (0,)))
    ingest(records)
    assert walk.rows("from walk") == []
    result = quietly(walk, sweep)
    assert (result.ok, result.trained) == (1, 1)
    assert walk.rows("select step from walk")[0].step == list(range(9))


def test_a_plan_of_the_same_name_is_another(walk: Any) -> None:
    """A retraction that came with a merge closes no plan that only bears the name of the one that it closed."""
    plan = Planner(walk.sweep(axes={"width": [1]}, seeds=1), walk.records()).commit().plan
    other, table = replace(plan, created="2000-01-01T00:00:00+00:00"), pa.table({"cell_id": ["x"], "shard": ["y"]})
    walk.records().write_retraction(Retraction("wrong", closed=(plan_token(other),), table=table))
    assert run_batch(Assignment(walk.data, plan.plan_id, (0,))).ok == 1


def test_a_retraction_that_could_not_be_read_is_read_again(walk: Any) -> None:
    """What is no whole file closes nothing; once it can be read it counts, also for a worker that had tried before."""
    sweep = walk.sweep(axes={"width": [1, 2]}, seeds=1)
    records = walk.records()
    plan = Planner(sweep, records).commit().plan
    table = pa.table({"cell_id": ["x"], "shard": ["y"]})
    path = records.write_retraction(Retraction("wrong", closed=(plan_token(plan),), table=table))
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    check_current(records, plan)
    path.write_bytes(whole)
    with pytest.raises(SupersededError, match="results of its sweep were taken back"):
        check_current(records, plan)


def test_a_cell_is_taken_back_from_every_sweep_that_has_it(walk: Any) -> None:
    """One cell of two sweeps: both lack it and are named, checkpoints that may be its go and others stay, and while
    somebody runs either sweep the retraction is refused and writes nothing."""
    small, large = walk.sweep(name="small", seeds=1), walk.sweep(name="large", seeds=2)
    quietly(walk, small)
    quietly(walk, large)
    cell, other = next(iter(small.cells())), next(one for one in large.cells() if one.seed == 1)
    plan = walk.records().read_plan(next(name for name in walk.records().plans() if name.startswith("large")))
    batch = next(batch for note in plan.batches if other in (batch := walk.records().read_cells(plan, (note.batch,))))
    kept, gone = workdir(walk.records(), plan, batch), workdir(walk.records(), plan, (cell,))
    for folder in (kept, gone):
        folder.mkdir(parents=True)
    for held in (small, large):
        with walk.records().lock(held.sweep_id), pytest.raises(SwingbyError, match=f"process {os.getpid()}"):
            retract(walk.data, [cell.cell_id[:8]], "wrong")
    assert walk.records().retractions() == []
    said = retract(walk.data, [cell.cell_id[:8]], "wrong", dry_run=True)
    assert (said.record, walk.records().retractions(), gone.exists()) == ("", [], True)
    done = retract(walk.data, [cell.cell_id[:8]], "wrong")
    assert (done.cells, done.sweeps) == (1, {"small": 1, "large": 1})
    assert (kept.exists(), gone.exists()) == (True, False)
    assert cell.cell_id not in {row.cell_id for row in walk.rows("from walk")}
    assert len(walk.rows("from walk")) == 7
    assert quietly(walk, large).trained == 1
    assert quietly(walk, small).trained == 0


def test_a_sweep_that_is_planned_meanwhile_is_closed_too(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another sweep over the cell is planned while those that have it are being locked: its workers add nothing."""
    small, large = walk.sweep(name="small", seeds=1), walk.sweep(name="large", seeds=2)
    quietly(walk, small)
    module, times = sys.modules["swingby.maintenance.retract"], count()

    def meanwhile(records: Records) -> Any:
        if next(times) == 1:  # the locks of `small` are held
            Planner(large, walk.records()).commit()
        return ingest(records)

    monkeypatch.setattr(module, "ingest", meanwhile)
    cell = next(iter(small.cells()))
    done = retract(walk.data, [cell.cell_id], "wrong")
    assert (done.cells, done.sweeps) == (1, {"small": 1, "large": 1})
    (plan,) = [walk.records().read_plan(name) for name in walk.records().plans() if name.startswith("large")]
    with pytest.raises(SupersededError, match="results of its sweep were taken back"):
        check_current(walk.records(), plan)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nobody"], "no sweep 'nobody' here"),
        (["walks", "other"], "'walks' is no cell's id"),
        (["0123456789"], "no cell '0123456789' has a row here"),
        (["walks", "--reason", " "], "the reason '' is none"),
        (["walks", "--reason", "a\x1b[31m"], "printable"),
    ],
)
def test_a_retraction_that_says_too_little_is_refused(toy_data: Path, arguments: list[str], told: str) -> None:
    """A misspelt sweep, several words that are no cells, an unknown cell, an empty reason: code 2, nothing written."""
    reason = [] if "--reason" in arguments else ["--reason", "wrong"]
    result = swingby("retract", *arguments, *reason, "--data", toy_data)
    assert result.exit_code == 2
    assert told in result.stderr
    assert Records.open(toy_data).retractions() == []


@pytest.fixture(scope="module")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one cell."""
    records = Records.open(tmp_path_factory.mktemp("toys") / "data")
    write_shard(records, [Segment("x")])
    ingest(records)
    return records.data


def test_only_programs_that_know_retractions_open_a_folder_with_one(tmp_path: Path) -> None:
    """A folder says format 1 until the first retraction, and 2 from then on: an older program refuses it and does not
    show what was taken back."""
    records = Records.open(tmp_path / "data")
    assert (records.data / "swingby.json").read_text() == '{\n "format": 1\n}\n'
    shard = write_shard(records, [Segment("x")])
    records.write_retraction(Retraction("wrong", table=pa.table({"cell_id": ["x"], "shard": [shard]})))
    assert (records.data / "swingby.json").read_text() == '{\n "format": 2\n}\n'
    ingest(Records.open(records.data))
    with Store.open(records.data) as store:
        assert len(store.sql("from toy")) == 0
