"""Laws of planning and running batches, in one process: what is planned, what a batch leaves, what a detector adds."""

from __future__ import annotations

import dataclasses
import importlib
import io
import itertools
import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.experiment import Column, Recording
from swingby.run.batches import choose
from swingby.run.commit_lock import SupersededError
from swingby.run.cost import Cost, Sample, costs, fit, worth_measuring
from swingby.run.drain import Drain
from swingby.run.driver import run, run_sweep
from swingby.run.forecast import Planned, forecast, summary
from swingby.run.options import RunOptions
from swingby.run.outcomes import derive
from swingby.run.plan import Planner
from swingby.run.preview import plan
from swingby.run.progress import Lines, Live, Progress, progress_for
from swingby.run.worker.batch import Assignment, BatchDone, run_batch
from swingby.run.worker.segments import ExperimentError
from swingby.store import ingest
from swingby.units import duration, size
from tests.support.places import MISBEHAVING


def quietly(walk: Any, sweep: Any, **options: Any) -> Any:
    """A run by the for-loop that prints nothing, and measures no cost first unless it is to."""
    return run_sweep(sweep, walk.data, **{"local": True, "pilot": False, "progress": Progress(), **options})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a kit whose sweep has run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(MISBEHAVING))
        kit = importlib.import_module("misbehaving_runs").Kit(tmp_path_factory.mktemp("finished"))
        patch.setenv("TEST_LEDGER", str(kit.ledger))
        quietly(kit, kit.sweep())
        return kit.folder


@pytest.fixture
def walked(walk: Any, finished: Path) -> Any:
    """A copy of that folder: as if the sweep had been run here."""
    shutil.copytree(finished / "data", walk.data)
    shutil.copy(finished / "ledger", walk.ledger)
    return walk


def committed(walk: Any, sweep: Any, **options: Any) -> Planned:
    """A written plan, as a driver makes it."""
    return Planner(sweep, walk.records(), RunOptions(**options)).commit()


# what batches are made of

costs_of_shapes = st.fixed_dictionaries(
    {name: st.builds(Cost, st.floats(0, 2), st.floats(1e-4, 3), st.just(100.0)) for name in "abc"}
)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=200), costs_of_shapes, st.integers(1, 8), st.data())
def test_batches_partition_cells(shapes: list[str], known: dict[str, Cost], workers: int, data: st.DataObject) -> None:
    """Every cell is in exactly one batch, with cells of its own shape, in order, within the shape's limit."""
    most = {shape: data.draw(st.integers(1, 50)) for shape in "abc"}
    chosen = choose(shapes, known, most, workers)
    assert sorted(itertools.chain.from_iterable(batch.positions for batch in chosen)) == list(range(len(shapes)))
    for batch in chosen:
        assert {shapes[position] for position in batch.positions} == {batch.shape}
        assert list(batch.positions) == sorted(batch.positions)
        assert len(batch.positions) <= most[batch.shape]


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=200), costs_of_shapes, st.integers(1, 8))
def test_batches_are_short_and_in_order(shapes: list[str], known: dict[str, Cost], workers: int) -> None:
    """A batch of several cells is not forecast above 5 s, and batches come in the order of their first cell."""
    chosen = choose(shapes, known, dict.fromkeys("abc", 1000), workers)
    assert all(batch.seconds is not None and batch.seconds <= 5 + 1e-9 for batch in chosen if len(batch.positions) > 1)
    assert [batch.positions[0] for batch in chosen] == sorted(batch.positions[0] for batch in chosen)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=200), costs_of_shapes, st.integers(1, 8))
def test_lanes_are_filled(shapes: list[str], known: dict[str, Cost], workers: int) -> None:
    """However dear a cell is: where cells side by side cost as much as one, no more batches than fill the lanes."""
    lanes = {"a": 1, "b": 5, "c": 16}
    chosen = choose(shapes, known, dict.fromkeys("abc", 1000), workers, lanes=lanes)
    for shape in set(shapes):
        assert sum(batch.shape == shape for batch in chosen) <= -(-shapes.count(shape) // lanes[shape])


def test_every_worker_gets_batches() -> None:
    """Work that one batch could hold is split for several workers, but never below a second a batch."""
    cells, known = ["a"] * 1000, {"a": Cost(0.0, 0.02, 1.0)}
    alone, many = (choose(cells, known, {"a": 10_000}, workers) for workers in (1, 4))
    assert len(alone) == 4
    assert len(many) >= 4 * 4 - 1
    assert all((batch.seconds or 0) >= 0.9 for batch in choose(cells, known, {"a": 10_000}, 64))


def test_half_of_a_plan_has_whole_seeds(walk: Any) -> None:
    """Seed-major: the first half of the cells of each shape, in the plan's order, are the first half of the seeds."""
    sweep = walk.sweep(seeds=10)
    planned = committed(walk, sweep)
    for shape in ("w1", "w2"):
        numbers = [note.batch for note in planned.batches if note.shape == shape]
        cells = [cell for number in numbers for cell in walk.records().read_cells(planned.plan, (number,))]
        assert {cell.seed for cell in cells[: len(cells) // 2]} == set(range(5))


# what cells cost


@given(st.floats(0.01, 5), st.floats(1e-3, 2), st.lists(st.integers(1, 4000), min_size=2, max_size=6, unique=True))
def test_fit_finds_the_cost(fixed: float, each: float, sizes: list[int]) -> None:
    """Batches that take exactly fixed + each * B seconds give back both numbers."""
    found = fit([Sample("a", count, fixed + each * count, 10 * count) for count in sizes])
    assert found.each == pytest.approx(each, rel=1e-6)
    assert found.fixed == pytest.approx(fixed, rel=1e-4, abs=1e-6 * each * max(sizes))
    assert found.size == pytest.approx(10.0)


def test_a_slow_first_batch_does_not_count() -> None:
    """Imports and compilation in the first pilot do not make cells look dear: it took longer than a larger one."""
    found = fit([Sample("a", 1, 9.0, 1), Sample("a", 2, 0.3, 2), Sample("a", 16, 1.7, 16)])
    assert found.seconds(16) == pytest.approx(1.7, rel=0.05)
    assert found.seconds(2) == pytest.approx(0.3, rel=0.05)


@given(st.floats(0, 100), st.floats(1e-4, 10), st.floats(0.5, 20))
def test_a_batch_is_worth_its_start(fixed: float, each: float, target: float) -> None:
    """A batch keeps to its time, or else at least half of it is its cells', to the last cell; and it is never empty."""
    cost = Cost(fixed, each, 1.0)
    cells = cost.batch_size(target)
    assert cells >= 1
    assert cells == 1 or cost.seconds(cells) <= max(target, 2 * fixed) * (1 + 1e-9)
    assert cost.seconds(cells + 1) > target * (1 - 1e-9)
    assert each * (cells + 1) >= fixed * (1 - 1e-9)


def test_cells_side_by_side_are_measured_by_turns(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where eight cells take as long as one, pilots of 8, 16 and 32 find what a cell costs; of 1, 2 and 16 they would
    not. A shape without room for two turns is measured cell by cell."""

    def stairs(assignment: Assignment, *_: Any) -> BatchDone:
        done = run_batch(assignment)
        return BatchDone(done.batch, ok=done.ok, seconds=0.1 + 0.8 * -(-done.cells // 8))

    monkeypatch.setattr("swingby.run.pilots.run_batch", stairs)
    sweep = walk.sweep(axes={"width": [1]}, seeds=200)
    monkeypatch.setattr(type(sweep.experiment), "lanes", lambda self, params: 8)
    planner = Planner(sweep, walk.records())
    planner.measure()
    assert planner.piloted == 8 + 16 + 32
    few = Planner(walk.sweep(axes={"width": [2]}, seeds=20), walk.records())
    few.measure()
    assert few.piloted == 1 + 2


def test_a_dear_start_does_not_make_batches_of_one(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a batch costs 16 s and a cell next to nothing, pilots go on until that is seen, and batches are large."""

    def slow(assignment: Assignment, *_: Any) -> BatchDone:
        done = run_batch(assignment)
        return BatchDone(done.batch, ok=done.ok, seconds=16.0 + 0.01 * done.cells)

    monkeypatch.setattr("swingby.run.pilots.run_batch", slow)
    planner = Planner(walk.sweep(axes={"width": [1]}, seeds=60), walk.records())
    stopped = Planner(walk.sweep(axes={"width": [1]}, seeds=60), walk.records(), stop=lambda: stopped.piloted > 0)
    stopped.measure()
    planner.measure()
    assert (stopped.piloted, planner.piloted) == (1, 1 + 2 + 16)
    assert Cost(16.0, 0.01, 1.0).batch_size(5.0) == 1600


@given(st.lists(st.tuples(st.integers(1, 100), st.floats(1e-5, 100)), min_size=1, max_size=8))
def test_costs_are_never_negative(runs: list[tuple[int, float]]) -> None:
    """Whatever was measured, no batch is forecast at zero or less, and a larger one never at less than a smaller."""
    found = fit([Sample("a", cells, seconds, 1) for cells, seconds in runs])
    assert 0 < found.seconds(1) <= found.seconds(50) <= found.seconds(5000)


def test_unmeasured_shapes_are_carried_over_by_work() -> None:
    """A shape nobody measured costs what the nearest measured one costs, in proportion to work, and says so."""
    samples = [Sample("small", 10, 1.0, 100), Sample("large", 10, 40.0, 100)]
    found = costs(samples, {"small": 1.0, "large": 40.0, "between": 80.0})
    assert found["between"].each == pytest.approx(8.0)
    assert (found["small"].measured, found["between"].measured) == (True, False)
    assert costs([], {"small": 1.0}) == {}


def test_a_handful_of_shapes_is_measured() -> None:
    """Of many shapes the cheapest, the median and the dearest are measured; of few, all."""
    assert worth_measuring({str(number): float(number) for number in range(41)}) == ["0", "20", "40"]
    assert worth_measuring({"b": 2.0, "a": 1.0}) == ["a", "b"]


# planning


def test_pilot_cells_are_results(walk: Any) -> None:
    """Planning with a pilot trains a few cells, keeps them, forecasts from them, and a second plan trains none."""
    sweep = walk.sweep(seeds=20)
    first = plan(sweep, walk.records())
    assert first.forecast is not None
    assert first.piloted == first.counts.done == sum(walk.started().values()) > 0
    assert {row.shape for row in first.forecast.shapes if row.measured} == {"w1", "w2"}
    second = plan(sweep, walk.records())
    assert (second.piloted, second.counts.done) == (0, first.counts.done)
    assert second.forecast is not None
    assert max(walk.started().values()) == 1


def test_plan_without_pilot_trains_nothing(walk: Any) -> None:
    """Without a pilot nothing is trained or written, and the forecast says that nothing was measured."""
    planned = plan(walk.sweep(), walk.records(), RunOptions(pilot=False))
    assert planned.forecast is None
    assert not walk.ledger.exists()
    assert walk.records().plans() == []
    assert "unmeasured" in summary(planned)


def test_finished_shapes_say_what_the_others_cost(walk: Any) -> None:
    """Where every measured shape is done, the forecast of the rest is carried over from them."""
    quietly(walk, walk.sweep(axes={"width": [1, 2]}, seeds=3))
    planned = plan(walk.sweep(axes={"width": [1, 2, 3]}, seeds=3), walk.records(), RunOptions(pilot=False))
    assert planned.forecast is not None
    assert [(row.shape, row.measured) for row in planned.forecast.shapes] == [("w3", False)]
    assert "carried over to 1 shape" in summary(planned)


def test_forecast_counts_cores_and_walls() -> None:
    """Core-seconds add up over batches; the wall time is that of handing them out to the workers in turn."""
    from swingby.data.records import BatchNote
    from swingby.model.experiment import Resources

    notes = [BatchNote(number, "a", 10) for number in range(5)]
    found = forecast(notes, {"a": Cost(1.0, 0.1, 50.0)}, {"a": Resources()}, workers=2)
    assert found is not None
    assert found.core_seconds == pytest.approx(10.0)
    assert found.wall_seconds == pytest.approx(6.0)


def test_a_plan_is_written_before_any_trial(walk: Any) -> None:
    """The plan has every cell, lies on disk before a cell begins, and cells with a result have no batch."""
    sweep = walk.sweep()
    quietly(walk, walk.sweep(seeds=1))
    begun = walk.started()
    planned = committed(walk, sweep)
    table = walk.records().read_plan(planned.plan.plan_id).table
    assert walk.started() == begun
    assert set(table["cell_id"].to_pylist()) == {cell.cell_id for cell in sweep.cells()}
    without = {row["cell_id"] for row in table.to_pylist() if row["batch"] is None}
    assert without == set(begun)
    assert (planned.counts.done, planned.missing) == (len(begun), len(sweep) - len(begun))


# running


def test_a_second_run_trains_nothing(walk: Any) -> None:
    """Every cell is trained exactly once; a second run of the finished sweep trains none and writes no plan."""
    sweep = walk.sweep()
    first = quietly(walk, sweep)
    plans = walk.records().plans()
    second = quietly(walk, sweep)
    assert (first.ok, first.missing, second.ok, second.trained) == (12, 0, 12, 0)
    assert set(walk.started().values()) == {1}
    assert walk.records().plans() == plans


def test_sweeps_share_cells(walked: Any) -> None:
    """A larger grid trains only what the smaller one did not, and a smaller one inside a larger nothing."""
    walk = walked
    grown = quietly(walk, walk.sweep(name="grown", seeds=5))
    inside = quietly(walk, walk.sweep(name="inside", seeds=[1, 3]))
    assert (grown.trained, inside.trained) == (8, 0)
    assert set(walk.started().values()) == {1}


def test_a_missing_recording_trains_again(walked: Any) -> None:
    """A cell that lacks a requested recording is computed again; one that has more than requested is not."""
    walk = walked
    assert quietly(walk, walk.sweep(name="more", record={"also": ["noise"]})).trained == 12
    assert quietly(walk, walk.sweep(name="less", seeds=2)).trained == 0


def test_cells_that_raise_stay_alone(walk: Any) -> None:
    """A cell that raises comes back failed with what it said; every neighbour has the curve it has without it."""
    mixed = walk.sweep(axes={"wants": ["ok", "raise", "diverge"], "rate": [1.0, 2.0]}, seeds=2)
    result = quietly(walk, mixed)
    assert (result.ok, result.failed, result.diverged, result.missing) == (4, 4, 4, 0)
    rows = walk.rows("select message, position from walk where status = 'failed'")
    assert all(row.message.startswith("ValueError: the walk of seed") and row.position is None for row in rows)
    beside = {row.cell_id: row.position for row in walk.rows("select cell_id, position from walk where wants = 'ok'")}
    walk.data = walk.folder / "alone"
    quietly(walk, walk.sweep(axes={"rate": [1.0, 2.0]}, seeds=2))
    assert {row.cell_id: row.position for row in walk.rows("select cell_id, position from walk")} == beside


def test_failed_cells_are_retried_on_request(walk: Any) -> None:
    """A failed cell is left alone by the next run, counted, and trained again with retry_failed."""
    sweep = walk.sweep(axes={"wants": ["ok", "raise"]}, seeds=2)
    quietly(walk, sweep)
    again = quietly(walk, sweep)
    assert (again.trained, again.failed) == (0, 2)
    before = sum(walk.started().values())
    assert quietly(walk, sweep, retry_failed=True).trained == 2
    assert sum(walk.started().values()) > before


def test_a_batch_is_finished_where_it_stopped(walk: Any) -> None:
    """An attempt at a batch trains only the cells that earlier attempts at it did not finish."""
    sweep = walk.sweep(axes={"width": [1]}, seeds=4, base={"pieces": 2})
    planned = committed(walk, sweep)
    asked = iter([False] * 5 + [True] * 100)
    first = run_batch(Assignment(walk.data, planned.plan.plan_id, (0,)), draining=lambda: next(asked))
    second = run_batch(Assignment(walk.data, planned.plan.plan_id, (0,)))
    assert first.left > 0
    assert first.cells + second.cells == 4
    assert run_batch(Assignment(walk.data, planned.plan.plan_id, (0,))) == BatchDone(0)
    attempts = [row.attempt for row in walk.rows("select distinct attempt from shards order by attempt")]
    assert attempts[:2] == [1001, 1002]
    assert [row.length for row in walk.rows("select len(step) as length from walk")] == [5] * 4


def test_rows_that_are_not_final_are_on_disk_at_once(walk: Any) -> None:
    """When a long experiment goes on after yielding a segment, a shard has it: a checkpoint may say so."""
    sweep = walk.sweep(axes={"width": [1]}, seeds=1, base={"pieces": 5, "length": 9})
    planned = committed(walk, sweep)
    counts: list[int] = []

    def look() -> bool:
        counts.append(len(walk.records().shards()))
        return False

    run_batch(Assignment(walk.data, planned.plan.plan_id, (0,)), draining=look)
    assert counts[-5:] == [0, 1, 2, 3, 4]
    assert walk.rows("select step from walk")[0].step == list(range(10))


def test_short_batches_leave_one_shard(walk: Any) -> None:
    """A batch of final rows is one shard, whose header says what it cost and what it recorded."""
    planned = committed(walk, walk.sweep(record={"also": ["noise"]}))
    for note in planned.batches:
        run_batch(Assignment(walk.data, planned.plan.plan_id, (note.batch,)))
    names = walk.records().shards()
    assert len(names) == len(planned.batches)
    header, rows = walk.records().read_shard(names[0])
    assert header.recorded == ("steps:log:200", "noise")
    assert set(header.curves) == {"step", "position", "noise"}
    assert header.cells == rows.num_rows == 6
    assert header.shape in ("w1", "w2")
    assert header.seconds > 0


def test_checkpoints_go_when_all_is_final(walk: Any) -> None:
    """The batch's folder is there while cells are unfinished, is found again by the next run, and goes at the end."""
    sweep = walk.sweep(axes={"width": [1]}, seeds=1, base={"pieces": 3, "length": 8})
    planned = committed(walk, sweep)
    asked = iter([False] * 4 + [True] * 100)
    run_batch(Assignment(walk.data, planned.plan.plan_id, (0,)), draining=lambda: next(asked))
    assert list((walk.data / "work").rglob("*/*/*"))
    assert quietly(walk, sweep).ok == 1
    assert walk.rows("select step from walk")[0].step == list(range(9))
    assert not [path for path in (walk.data / "work").rglob("*") if path.is_file()]


def test_a_superseded_run_writes_nothing(walk: Any) -> None:
    """Once a newer plan of the sweep is there, a worker of the older one neither begins a batch nor commits one."""
    sweep = walk.sweep()
    old = committed(walk, sweep)
    committed(walk, sweep)
    with pytest.raises(SupersededError):
        run_batch(Assignment(walk.data, old.plan.plan_id, (0,)))
    late = walk.sweep(name="late", axes={"width": [1]}, seeds=1, base={"pieces": 2})
    older = committed(walk, late)

    def supersede() -> bool:
        if sum(walk.started().values()) == 1 and len(walk.records().plans()) == 3:
            committed(walk, late)
        return False

    with pytest.raises(SupersededError, match="is no longer the newest of its sweep"):
        run_batch(Assignment(walk.data, older.plan.plan_id, (0,)), draining=supersede)
    assert sum(walk.started().values()) == 1
    assert walk.records().shards() == []


def test_no_final_row_is_a_fault(walk: Any) -> None:
    """An experiment that ends without a final row for a cell, unasked, is told so by name."""
    with pytest.raises(SwingbyError, match=r"experiment 'walk'.*no final row for 2 cells"):
        quietly(walk, walk.sweep(axes={"wants": ["exit"]}, seeds=2))


def test_a_run_with_a_full_disk_ends_with_a_clear_error(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shard that cannot be written is no cell's fault: the run ends and says why, and its lock is free again."""
    import errno

    sweep = walk.sweep()
    planned = committed(walk, sweep)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pyarrow.parquet.ParquetWriter.write_table", full)
        with pytest.raises(SwingbyError, match="disk is full"):
            run_batch(Assignment(walk.data, planned.plan.plan_id, (0,)))
    assert walk.records().shards() == []
    assert quietly(walk, sweep).missing == 0


def test_the_same_sweep_twice_at_once_is_refused(walk: Any) -> None:
    """While somebody runs a sweep, a second run of it is refused and names the holder; another sweep is not."""
    sweep = walk.sweep()
    with walk.records().lock(sweep.sweep_id, "the first run"):
        with pytest.raises(SwingbyError, match="the first run"):
            quietly(walk, sweep)
        assert quietly(walk, walk.sweep(name="other", seeds=1)).missing == 0
    assert quietly(walk, sweep).missing == 0


def test_an_error_leaves_the_lock_free(walk: Any) -> None:
    """After a run that ended with an error the sweep can be run again at once."""
    sweep = walk.sweep(axes={"wants": ["exit", "ok"]}, seeds=1)
    for _ in range(2):
        with pytest.raises(SwingbyError, match="no final row"):
            quietly(walk, sweep)


def test_sweeps_run_together_train_shared_cells_once(walk: Any) -> None:
    """Sweeps given together train a cell once, by the first that asks for it; one that records more trains it again."""
    small, large = (
        walk.sweep(seeds=3),
        walk.sweep(name="larger", axes={"width": [1, 2, 3], "rate": [0.5, 1.0]}, seeds=4),
    )
    first, second = run([small, large], walk.data, RunOptions(local=True, pilot=False), progress=Progress())
    assert (first.ok, first.trained, second.ok, second.trained) == (12, 12, 24, 12)
    assert set(walk.started().values()) == {1}
    again = run([large, small], walk.data, RunOptions(local=True, pilot=False), progress=Progress())
    assert [result.trained for result in again] == [0, 0]
    fresh = {"axes": {"width": [4]}, "seeds": 2}
    less, more = walk.sweep(name="less", **fresh), walk.sweep(name="more", **fresh, record={"also": ["noise"]})
    both = run([less, more], walk.data, RunOptions(local=True, pilot=False), progress=Progress())
    assert [(result.ok, result.trained) for result in both] == [(2, 2), (2, 2)]


def test_a_sweep_given_twice_is_refused(walk: Any) -> None:
    """The same sweep twice in one run is an error that names it, before anything is trained."""
    with pytest.raises(SwingbyError, match=r"'walks' .* is given twice"):
        run([walk.sweep(), walk.sweep()], walk.data, RunOptions(local=True), progress=Progress())
    assert not walk.started()


def test_another_title_trains_nothing_and_is_shown(walked: Any) -> None:
    """A finished sweep whose file shows it otherwise stays that sweep, trains nothing, and is known as shown."""
    walk = walked
    renamed = quietly(walk, walk.sweep(title="A new title"))
    again = quietly(walk, walk.sweep(title="A new title"))
    assert [(row.title, row.cells) for row in walk.rows("from sweeps")] == [("A new title", 12)]
    assert (renamed.trained, again.trained, set(walk.started().values())) == (0, 0, {1})
    assert len(walk.rows("from plans")) == 2


def test_draining_leaves_the_rest_for_the_next_run(walk: Any) -> None:
    """A run that is asked to stop finishes the running batch, begins no other, and the next run does only the rest."""
    sweep, drain = walk.sweep(axes={"width": list(range(1, 9))}, seeds=1), Drain()

    class StopAfterTwo(Progress):
        def batch_done(self, done: BatchDone) -> None:
            super().batch_done(done)
            if self.batches == 2:
                drain.ask()

    stopped = quietly(walk, sweep, progress=(progress := StopAfterTwo()), drain=drain)
    assert (stopped.ok, stopped.missing, stopped.drained, progress.batches) == (2, 6, True, 2)
    assert "goes on where it stopped" in str(stopped)
    assert (quietly(walk, sweep).ok, set(walk.started().values())) == (8, {1})


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("name", "members", "'members' cannot name the table of an experiment"),
        ("curves", {"seed": Column(pa.list_(pa.float64()), "a clash")}, "its curve 'seed' has the name of a column"),
    ],
)
def test_an_experiment_the_store_cannot_hold_is_refused_first(
    walk: Any, monkeypatch: pytest.MonkeyPatch, attribute: str, value: Any, told: str
) -> None:
    """An experiment whose name or columns no table can have is refused before any cell is trained, not after each."""
    kind = type(registry.experiment("walk"))
    there = getattr(kind, attribute)
    monkeypatch.setattr(kind, attribute, value if isinstance(value, str) else {**there, **value})
    with pytest.raises(SwingbyError, match=told):
        quietly(walk, walk.sweep())
    assert not walk.started()


def test_a_parameter_that_became_another_is_refused_first(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parameter of another type than the store has of it is refused before any cell is trained, too."""
    quietly(walk, walk.sweep(axes={"width": [1]}, seeds=1))
    kind, before = type(registry.experiment("walk")), walk.started()
    worded = {"__annotations__": {"rate": str}, "rate": "quick", "__module__": __name__}
    monkeypatch.setattr(kind, "Params", type("Worded", (kind.Params,), worded))
    with pytest.raises(SwingbyError, match=r"the store cannot hold experiment 'walk'.*'rate' is VARCHAR"):
        quietly(walk, walk.sweep(axes={"width": [2]}, seeds=1))
    assert walk.started() == before


@pytest.mark.parametrize(
    ("role", "name", "type_", "told"),
    [
        ("scalars", "final_position", pa.string(), "'final_position' is VARCHAR, and DOUBLE in the store"),
        pytest.param(
            *("curves", "position", pa.list_(pa.string()), r"'position' is VARCHAR\[\], and DOUBLE\[\] in the store"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_result_that_became_another_is_refused_first(
    walk: Any, monkeypatch: pytest.MonkeyPatch, role: str, name: str, type_: pa.DataType, told: str
) -> None:
    """A scalar or a curve of a type that does not go with what the store has: before any cell is trained, not after
    each; a number of another width goes."""
    quietly(walk, walk.sweep(axes={"width": [1]}, seeds=1))
    kind, before = type(registry.experiment("walk")), walk.started()
    there = getattr(kind, role)
    monkeypatch.setattr(kind, role, {**there, name: Column(type_, "another")})
    with pytest.raises(SwingbyError, match=rf"the store cannot hold experiment 'walk'.*{told}"):
        quietly(walk, walk.sweep(axes={"width": [2]}, seeds=1))
    assert walk.started() == before
    narrow = pa.float32() if role == "scalars" else pa.list_(pa.float32())
    monkeypatch.setattr(kind, role, {**there, name: Column(narrow, "another")})
    assert quietly(walk, walk.sweep(axes={"width": [2]}, seeds=1)).ok == 1


# outcomes


def test_outcomes_follow_their_rows(walk: Any) -> None:
    """Each cell has one outcome of the detector's version; a row with more recordings gets a new one; twice is once."""
    quietly(walk, walk.sweep(axes={"wants": ["ok", "raise"]}, seeds=3))
    assert [(row.height is not None, row.noisy) for row in walk.rows("from outcomes_walk_height")] == [
        (True, False)
    ] * 3
    assert derive(walk.records()) == {"walk_height": 0}
    quietly(walk, walk.sweep(name="more", seeds=3, axes={"wants": ["ok"]}, record={"also": ["noise"]}))
    assert [row.noisy for row in walk.rows("from outcomes_walk_height")] == [True] * 3


def test_outcomes_come_in_chunks(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few cells a detector sees at once, every cell gets its outcome."""
    monkeypatch.setattr("swingby.run.outcomes.CHUNK", 5)
    quietly(walk, walk.sweep())
    rows = walk.rows("select h.height, w.position from outcomes_walk_height h join walk w using (cell_id)")
    assert [row.height for row in rows] == [max(row.position) for row in rows]
    assert len(rows) == 12
    assert len(walk.records().derived()) >= 3


def test_a_cell_that_breaks_a_detector_is_named_and_costs_no_other(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A detector that raises for two cells tells of the ten others, and the error names cells, detector and reason."""
    result = quietly(walk, walk.sweep())
    assert (result.ok, result.bad, result.given_up) == (12, (), {})
    assert derive(walk.records()) == {"walk_height": 0}
    kind = type(registry.detector("walk_height"))
    bad, sound = sorted(cell.cell_id for cell in walk.sweep().cells())[3:8:4], kind.detect

    def brittle(self: Any, table: pa.Table) -> pa.Table:
        if set(bad) & set(table["cell_id"].to_pylist()):
            raise ZeroDivisionError("no height")
        return sound(self, table)

    monkeypatch.setattr(kind, "version", "2")
    monkeypatch.setattr(kind, "detect", brittle)
    with pytest.raises(SwingbyError) as caught:
        derive(walk.records())
    assert all(
        f"cell {cell} by detector 'walk_height' (ZeroDivisionError: no height)" in str(caught.value) for cell in bad
    )
    assert len(walk.rows("from outcomes_walk_height_all where version = '2'")) == 10


def test_a_new_version_of_a_detector_sees_all_cells(walked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A raised version derives every cell again; the rows shown are the new ones, the old ones are kept beside."""
    walk = walked
    monkeypatch.setattr(type(registry.detector("walk_height")), "version", "2")
    assert derive(walk.records()) == {"walk_height": 12}
    kept = Counter(row.version for row in walk.rows("from outcomes_walk_height_all"))
    assert kept == {"1": 12, "2": 12}
    assert len(walk.rows("from outcomes_walk_height")) == 12


# progress


def test_lines_are_few(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a stream that is no terminal, a hundred batches within four seconds make a first line, a last line and one
    between."""
    planned, stream, now = plan(walk.sweep(seeds=25), walk.records(), RunOptions(pilot=False)), io.StringIO(), 1000.0
    monkeypatch.setattr("swingby.run.progress.time", SimpleNamespace(monotonic=lambda: now))
    lines = Lines(stream)
    lines.planned(planned)
    for number in range(100):
        now = 1000.0 + 0.04 * (number + 1)
        lines.batch_done(BatchDone(number, failed=1))
    lines.close()
    written = stream.getvalue().splitlines()
    assert len(written) == 3
    assert "0 of 100 cells" in written[0]
    assert "100 of 100 cells" in written[-1]
    assert "100 FAILED" in written[-1]


def test_a_batch_that_was_stopped_estimates_nothing(walk: Any) -> None:
    """Batches that come back empty, as they do after Ctrl-C, are no ground for saying how long the rest takes."""
    progress = Progress()
    planned = plan(walk.sweep(seeds=25), walk.records(), RunOptions(pilot=False))
    notes = tuple(dataclasses.replace(note, forecast_seconds=1.0) for note in planned.batches)
    progress.planned(dataclasses.replace(planned, batches=notes))
    progress.batch_done(BatchDone(0))
    assert "left" not in progress.state()
    progress.batch_done(BatchDone(1, ok=1, seconds=1.0))
    assert "left" in progress.state()


def test_a_slow_start_does_not_make_hours(walk: Any) -> None:
    """A first batch that took fifty times its forecast (a worker's start) does not multiply the rest by fifty."""
    progress = Progress()
    planned = plan(walk.sweep(seeds=500), walk.records(), RunOptions(pilot=False))
    notes = tuple(dataclasses.replace(note, forecast_seconds=0.2) for note in planned.batches)
    progress.planned(dataclasses.replace(planned, batches=notes))
    progress.batch_done(BatchDone(0, ok=1, seconds=10.0))
    left, forecast = progress.remaining(), 0.2 * (len(notes) - 1) / planned.workers
    assert left is not None
    assert forecast < left < 2 * forecast


@pytest.mark.parametrize("forecast", [None, 300.0])
def test_cells_that_take_minutes_are_estimated_by_how_far_they_are(
    walk: Any, monkeypatch: pytest.MonkeyPatch, forecast: float | None
) -> None:
    """Two workers, thirty cells of five minutes each, with a forecast and without: after ten minutes, and at every
    moment between, what is left is what the cells that are done and those that have begun leave."""
    now = 1000.0
    monkeypatch.setattr("swingby.run.progress.time", SimpleNamespace(monotonic=lambda: now))
    planned = plan(walk.sweep(seeds=30, axes={"width": [1]}), walk.records(), RunOptions(pilot=False))
    note = dataclasses.replace(planned.batches[0], cells=1, forecast_seconds=forecast)
    notes = tuple(dataclasses.replace(note, batch=number) for number in range(30))
    progress = Progress()
    progress.planned(dataclasses.replace(planned, batches=notes, workers=2))
    for minutes in range(1, 12):
        now = 1000.0 + 60 * minutes
        if minutes % 5 == 0:
            for number in (0, 1):
                progress.batch_done(BatchDone(2 * (minutes // 5 - 1) + number, ok=1, seconds=300.0))
        progress.in_progress([minutes % 5 / 5] * 2)
        assert progress.remaining() == pytest.approx(75 * 60 - 60 * minutes)


def test_a_terminal_gets_a_bar(walk: Any) -> None:
    """On a terminal there is a bar that ends at the last cell, and what is worth a line stands above it."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    progress = progress_for(stream)
    assert isinstance(progress, Live)
    assert isinstance(progress_for(io.StringIO()), Lines)
    quietly(walk, walk.sweep(), progress=progress)
    assert "12 missing" in stream.getvalue()
    assert "12 of 12 cells" in stream.getvalue().splitlines()[-2]


@given(st.floats(0, 1e7), st.floats(0, 1e15))
def test_numbers_are_readable(seconds: float, count: float) -> None:
    """Durations and sizes are short, and have a unit."""
    assert len(duration(seconds)) <= 16
    assert duration(seconds).split()[-1] in ("s", "min")
    assert len(size(count)) <= 9


def test_the_result_compares_forecast_and_actual(walk: Any) -> None:
    """A run that was forecast says both numbers at its end."""
    text = str(quietly(walk, walk.sweep(seeds=10), pilot=True))
    assert "forecast:" in text
    assert "actual:" in text


def test_records_folder_is_made_absolute(walk: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A relative data folder is that of the working directory at the start, wherever a worker's may be."""
    monkeypatch.chdir(tmp_path)
    assert run_sweep(walk.sweep(seeds=1), "relative", local=True, progress=Progress()).missing == 0
    assert (tmp_path / "relative" / "swingby.json").exists()


def test_contract_breaches_are_named(walk: Any) -> None:
    """Rows of a strange cell, of the wrong type, with a strange column, or out of order are refused by name."""
    from swingby.model.experiment import Batch
    from swingby.run.worker.segments import Segments

    cell = next(walk.sweep().cells())
    experiment = registry.experiment("walk")
    good = next(experiment.run(Batch((cell,), Recording())))

    def told(change: Any) -> str:
        segments = Segments(experiment, Recording(), [cell.cell_id])
        tables = change(good)
        for table in tables[:-1]:
            segments.take(table)
        with pytest.raises(ExperimentError) as caught:
            segments.take(tables[-1])
        return str(caught.value)

    def column(name: str, values: pa.Array) -> Any:
        return lambda table: [table.set_column(table.column_names.index(name), name, values)]

    assert "not in the batch" in told(column("cell_id", pa.array(["0" * 32])))
    assert "declared: list" in told(column("position", pa.array(["far"])))
    assert "does not declare: speed" in told(lambda table: [table.append_column("speed", pa.array([1.0]))])
    assert "no column 'position'" in told(lambda table: [table.drop_columns(["position"])])
    assert "no column 'final_position'" in told(lambda table: [table.drop_columns(["final_position"])])
    assert "after its final one" in told(lambda table: [table, table])
    assert "status 'fine'" in told(column("status", pa.array(["fine"])))
    assert "0 <= from <= to" in told(column("from_step", pa.array([9])))
    assert "do not increase strictly" in told(column("step", pa.array([[0, 2, 2, 3, 4]])))


def test_ingest_happens_during_a_run(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of finished batches can be queried while later batches are still running."""
    import time

    from swingby.store import Store

    monkeypatch.setattr("swingby.run.ingest_thread.INGEST_SECONDS", 0.1)
    seen: list[int] = []

    class Look(Progress):
        def batch_done(self, done: BatchDone) -> None:
            super().batch_done(done)
            deadline = time.monotonic() + 60
            while self.batches == 2 and not seen and time.monotonic() < deadline:
                with Store.open(walk.data) as store:
                    if "walk" in store.tables() and (found := len(store.sql("from walk"))):
                        seen.append(found)
                time.sleep(0.05)

    quietly(walk, walk.sweep(axes={"width": [1, 2, 3]}, seeds=2), progress=Look())
    assert seen
    assert seen[0] < 6
    ingest(walk.records())


@given(total=st.integers(0, 200_000), points=st.integers(2, 300), steps=st.sampled_from(["log", "sqrt", "every"]))
def test_recorded_steps(total: int, points: int, steps: Any) -> None:
    """Recorded steps increase strictly from 0 to the last, and are no more than were asked for (and step 0)."""
    found = Recording(steps, points).at(total if steps != "every" else total % 1000)
    assert found[0] == 0
    assert found[-1] == (total if steps != "every" else total % 1000)
    assert (np.diff(found) > 0).all()
    assert steps == "every" or len(found) <= points + 1


def test_steps_spaced_in_their_roots() -> None:
    """`steps: sqrt` records what the paper's code does: the squares of 60 numbers from sqrt(500) to sqrt(20000)."""
    recording = Recording("sqrt", 60)
    theirs = np.linspace(500**0.5, 20_000**0.5, 60) ** 2
    assert recording.at(20_000).tolist() == [0, *theirs.round().astype(int).tolist()]
    assert recording.tokens == ("steps:sqrt:60",)
