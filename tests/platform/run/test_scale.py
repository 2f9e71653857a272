"""Laws of what makes large sweeps quick: a short cut gives what the whole way gives; a batch is dealt once."""

from __future__ import annotations

import contextlib
import importlib
import itertools
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swingby.data.records import BatchNote
from swingby.data.records.headers import plan_table, sweep_table
from swingby.errors import InputFaults
from swingby.model.cell import Cell, Point
from swingby.model.points import PointWriter
from swingby.run.driver import run_sweep
from swingby.run.options import RunOptions
from swingby.run.progress import Progress
from swingby.run.scheduler import RETRIES, Scheduler
from swingby.sweepfile.fast_path import Memo, checks_between
from swingby.sweepfile.sweep import Sweep

pytestmark = pytest.mark.usefixtures("toy")
shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

floats = st.floats(allow_nan=False, allow_infinity=False)
toys = st.fixed_dictionaries(
    {},
    optional={
        "gain": st.floats(1e-300, 1e300),
        "width": st.integers(1, 2**60),
        "kind": st.sampled_from(["linear", "relu"]),
        "mu": st.tuples(floats, floats),
        "bias": st.booleans(),
        "weights": st.none() | st.lists(st.lists(floats, max_size=2), max_size=2),
        "note": st.text(max_size=4),
        "later": st.sampled_from([0.5, -0.0, 0.0, 2.0]),
        "dtype": st.sampled_from(["float32", "float64"]),
    },
)


def toy_params() -> Any:
    """The model of the toy experiment."""
    return importlib.import_module("toy_plugin").ToyParams


@shared
@given(values=st.lists(toys, min_size=1, max_size=12), mode=st.sampled_from(["common", "independent"]), data=st.data())
def test_written_points_are_the_points(values: list[dict[str, Any]], mode: Any, data: st.DataObject) -> None:
    """Ids, parameters, cells and typed columns are those of points made one by one, whatever differs between them."""
    made = [Point("toy", 3, toy_params()(**value), mode) for value in values]
    writer = PointWriter("toy", 3, toy_params(), mode)
    for point in made:
        writer.add(dict(point.params))
    points, seeds = writer.points(), data.draw(st.lists(st.integers(0, 2**40), min_size=1, max_size=3, unique=True))
    assert points.ids.to_pylist() == [point.point_id for point in made]
    assert [point.params for point in points] == [point.params for point in made]
    assert points == tuple(made)
    ids = [Cell(point, seed).cell_id for seed in seeds for point in made]
    assert points.cell_ids(seeds).to_pylist() == ids
    batch = pa.array([None, *range(len(ids) - 1)], pa.int32())
    places = list(range(len(made))) * len(seeds)
    whole = plan_table(made, places, [seed for seed in seeds for _ in made], batch.to_pylist())
    everything, known = np.arange(len(ids)), points.cell_ids(seeds)
    assert sweep_table(points, seeds, everything, known, batch).equals(whole)
    some = everything[::2]
    assert sweep_table(points, seeds, some, known.take(some), batch.take(some)).equals(whole.take(some))
    first: dict[str, int] = {}
    twins = [(first.setdefault(p.point_id, k), k) for k, p in enumerate(made)]
    assert points.duplicates() == [pair for pair in twins if pair[0] != pair[1]]


@shared
@given(values=st.lists(toys, min_size=1, max_size=12))
def test_what_is_told_of_points_is_asked_of_few(values: list[dict[str, Any]]) -> None:
    """`labelled` gives each point its label, and calls the function at most once for each combination that it reads."""
    writer = PointWriter("toy", 3, toy_params(), "common")
    for value in values:
        writer.add(dict(toy_params()(**value)))
    points, asked = writer.points(), []

    def shape(params: Any) -> str:
        asked.append(params)
        return f"{params.kind} {params.width if params.bias else 0} {params.weights}"

    codes, names = points.labelled(shape)
    every: list[Any] = [point.params for point in points]
    looked = {(one.kind, one.bias, one.width, one.weights) for one in every}
    told = [names[code] for code in codes]
    most = sum(len({key[:k] for key in looked}) for k in range(5)) + 4 * len(looked)
    assert len(asked) <= most
    assert told == [shape(one) for one in every]
    whole, dumps = points.labelled(lambda params: str(params.model_dump()))
    assert [dumps[code] for code in whole] == [str(one.model_dump()) for one in every]


GRID = """\
name: try-1
experiment: toy
preset: {preset}
base: {{gain: 1.5, s: 2}}
axes:
  width: [3, 1, 2]
  mu.1: [1.0, 0.0, 3.0]
  later: [0.5, 1.0]
  note: [a, B, A]
where: {where}
"""


@shared
@given(
    preset=st.sampled_from(["plain", "counted"]),
    where=st.sampled_from(["mu.1 > 0", "width * mu.1 != 3", "later == 0.5 or width < 3", "gain > 2 or true"]),
)
def test_a_grid_is_its_points_one_by_one(preset: str, where: str) -> None:
    """A point of a grid is the point of a file that sets just its values: the fast path changes nothing."""
    text = GRID.format(preset=preset, where=where).replace("[a, B, A]", "[a, B]")
    whole = Sweep.parse(text, "grid.yaml")
    found = []
    for width, mu, later, note in itertools.product((3, 1, 2), (1.0, 0.0, 3.0), (0.5, 1.0), "aB"):
        lines = text.split("axes:")[0] + f"axes:\n  width: [{width}]\n  mu.1: [{mu}]\n  later: [{later}]\n"
        with contextlib.suppress(InputFaults):  # `where` leaves it out
            found += Sweep.parse(f"{lines}  note: [{note}]\nwhere: {where}\n", "one.yaml").points
    assert found
    assert whole.points == tuple(found)


def test_twins_of_a_large_grid_are_told() -> None:
    """Two values that a check makes one are told as the same point, even if the fast path resolved it."""
    with pytest.raises(Exception, match=r"this point is the same, once resolved, as .*note='B'.*note='b'"):
        Sweep.parse("name: t\nexperiment: toy\naxes: {width: [1, 2, 3], note: [x, B, b]}", "twins.yaml")


def test_checks_that_cannot_be_told_apart_close_the_lane() -> None:
    """A model that does more than check its fields one by one, and then all together, has no short cut."""
    from pydantic import field_validator, model_validator

    params = toy_params()

    class Before(params):
        @model_validator(mode="before")
        @classmethod
        def _all(cls, values: Any) -> Any:
            return values

    class Looking(params):
        @field_validator("gain")
        @classmethod
        def _gain(cls, value: float, info: Any) -> float:
            return value

    assert checks_between(params) is not None
    assert checks_between(Before) is None
    assert checks_between(Looking) is None


@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys("abcd", st.integers(0, 2))), max_size=40))
def test_recall_is_the_function(every: list[dict[str, int]]) -> None:
    """What is recalled is what the function says, and the same object comes for the same answer."""

    def ask(values: Mapping[str, Any]) -> dict[str, Any]:
        if values.get("a", 0) == 1:
            return {"x": values.get("b", 7)}
        return {"x": values.get("c"), "y": 1 if "d" in values else 2}

    memo, first = Memo(ask), dict[str, Any]()
    for values in every:
        said, again = memo(values)
        assert said == ask(values)
        assert again
        assert said is first.setdefault(repr(said), said)


def test_a_function_that_looks_at_everything_is_asked_each_time() -> None:
    """Nothing is recalled of it, so nothing can be wrong."""
    memo = Memo(lambda values: {"sum": sum(values.values())})
    assert [memo({"a": k}) for k in (1, 2)] == [({"sum": 1}, False), ({"sum": 2}, False)]


def planned(notes: list[tuple[str, int, float | None]], most: int, target: float) -> Any:
    """As much of a plan as a scheduler looks at."""
    batches = tuple(BatchNote(k, *note) for k, note in enumerate(notes))
    plan = SimpleNamespace(experiment="toy", plan_id="p")
    options = RunOptions(target_seconds=target)
    return SimpleNamespace(batches=batches, max_batch=dict.fromkeys("abc", most), plan=plan, options=options)


notes = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 50), st.none() | st.floats(0.01, 3)), max_size=60)


@given(notes=notes, most=st.integers(1, 200), workers=st.integers(1, 8), each=st.floats(1e-6, 10))
def test_every_batch_is_dealt_once(
    notes: list[tuple[str, int, float | None]], most: int, workers: int, each: float
) -> None:
    """Whatever trials take: each batch is in one trial, a trial is of one shape, and no larger than fits."""
    one = planned(notes, most, 5.0)
    scheduler, seen = Scheduler([one], workers), []
    for trial in scheduler:
        assert len({note.shape for note in trial.notes}) == 1
        assert len(trial.notes) == 1 or trial.cells <= most
        assert list(trial.batches) == sorted(trial.batches)
        seen += trial.batches
        scheduler.record_time(trial, each * trial.cells)
    assert sorted(seen) == list(range(len(notes)))


@given(wrong=st.floats(1e-3, 1e3), workers=st.integers(1, 4))
def test_trials_come_to_take_what_they_should(wrong: float, workers: int) -> None:
    """However wrong the forecast was: after a few trials each takes about its target, or is one batch."""
    each, cells = 1e-3, 100
    one = planned([("a", cells, wrong * each * cells)] * 2000, 100_000, 5.0)
    scheduler = Scheduler([one], workers)
    took = []
    for trial in scheduler:
        took.append(each * trial.cells)
        scheduler.record_time(trial, took[-1])
    assert took[0] == each * cells
    assert max(took) <= 5.0 + 1e-6
    assert len(took) <= 200 / 5 + 20 * workers


def test_dealing_goes_on_after_cells_of_unknown_cost() -> None:
    """Batches of unmeasured cells go alone until one came back, then together."""
    scheduler = Scheduler([planned([("a", 64, None)] * 100, 4096, 5.0)], 2)
    first = scheduler.next()
    assert first is not None
    assert len(first.notes) == 1
    scheduler.record_time(first, 0.64)
    then = scheduler.next()
    assert then is not None
    assert 1 < len(then.notes) <= 8


@pytest.mark.slow
def test_a_trial_whose_process_dies_is_taken_apart(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that shared a trial with ones that always kill its process are trained all the same; those fail."""
    monkeypatch.setattr("swingby.run.batches.UNMEASURED", 1)
    sweep = walk.sweep(axes={"wants": ["ok", "die"]}, seeds=3)
    result = run_sweep(sweep, walk.data, pilot=False, workers=1, progress=Progress())
    assert (result.ok, result.failed, result.missing) == (3, 3, 0)
    assert len(result.given_up) == 3
    begun = [line.split()[0] for line in walk.ledger.read_text().splitlines()]
    dying = {cell.cell_id for cell in sweep.cells() if getattr(cell.params, "wants", "") == "die"}
    finished = {row.cell_id for row in walk.rows("select cell_id from walk where status = 'ok'")}
    assert finished == {cell.cell_id for cell in sweep.cells()} - dying
    assert max(begun.count(cell_id) for cell_id in dying) > RETRIES + 1
    assert max(begun.count(cell_id) for cell_id in finished) <= 2 + 3  # together, and in halves of up to six cells
