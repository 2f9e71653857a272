"""Laws that every experiment keeps, on the small sweeps in its folder `examples`: (experiment, sweep) in, faults out.

Each law is a function that asserts. A test of an installed experiment calls it with a sweep of `examples`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from pydantic import ValidationError

from swingby.model import package_files, registry
from swingby.model.cell import Cell
from swingby.model.experiment import SEGMENT_COLUMNS, Batch, Column, Experiment, Recording
from swingby.model.expression import parse
from swingby.model.params import UntypedParams
from swingby.run.driver import run
from swingby.run.options import RunOptions
from swingby.sweepfile.sweep import Sweep

TIMES = {"s", "1/s"}
"""Units of columns that say how long a cell took, not what came of it."""


@cache
def _examples() -> list[Sweep]:
    """The example sweeps of all installed experiments, read once for all laws of a process."""
    return [Sweep.parse(file.read_text(), str(file)) for file in package_files.data_files("examples", ".yaml")]


def examples(experiment: str) -> list[Sweep]:
    """The example sweeps of one installed experiment, in the order of their files."""
    return [sweep for sweep in _examples() if sweep.experiment_name == experiment]


def finished(experiment: str, data: Path) -> list[Sweep]:
    """Leaves a data folder with finished small sweeps, for detectors and drawings; gives the sweeps.

    They are the examples, trained here, or, where training takes long, made up by `tests.sweeps.EXPERIMENT.examples`.
    """
    made_up = made_up_of(experiment)
    if made_up is not None:
        return made_up.write(data)
    sweeps = examples(experiment)
    run(sweeps, data, RunOptions(local=True, pilot=False))
    return sweeps


def made_up_of(experiment: str) -> Any:
    """The module `tests.sweeps.EXPERIMENT.examples` of an experiment whose runs take long; None: it has none."""
    package = f"tests.sweeps.{experiment}"
    return import_module(f"{package}.examples") if find_spec(package) and find_spec(f"{package}.examples") else None


def long_sweeps(data: Path | None = None) -> dict[str, int]:
    """Named sweeps behind claims that take hours, with their seeds; their results are made up in this data folder."""
    found: dict[str, int] = {}
    for made_up in filter(None, map(made_up_of, sorted(registry.offered(registry.EXPERIMENTS)))):
        found |= made_up.LONG
        if data is not None:
            made_up.write_long(data)
    return found


def batches(experiment: Experiment, cells: Iterable[Cell]) -> list[tuple[Cell, ...]]:
    """Cells by shape, no more in a batch than the experiment takes."""
    shapes: dict[str, list[Cell]] = {}
    for cell in cells:
        shapes.setdefault(experiment.shape(cell.params), []).append(cell)
    return [
        tuple(group[start : start + experiment.max_batch(group[0].params)])
        for group in shapes.values()
        for start in range(0, len(group), experiment.max_batch(group[0].params))
    ]


def tables(experiment: Experiment, cells: Sequence[Cell], recording: Recording) -> Iterator[pa.Table]:
    """What the experiment yields of a batch, and of its own workdir nothing."""
    yield from experiment.run(Batch(tuple(cells), recording))


def declared(experiment: Experiment, recording: Recording) -> dict[str, Column]:
    """Result columns that a run with this recording has."""
    also = {name: column for key in recording.also for name, column in experiment.recordings[key].items()}
    return {**experiment.curves, **also, **experiment.scalars}


def joined(experiment: Experiment, cells: Sequence[Cell], recording: Recording) -> dict[str, dict[str, Any]]:
    """For each cell its result: segments' curves one after another, scalars and status of the final row."""
    found: dict[str, dict[str, Any]] = {}
    for batch in batches(experiment, cells):
        for table in tables(experiment, batch, recording):
            for row in table.to_pylist():
                whole = found.setdefault(row["cell_id"], {})
                for name, value in row.items():
                    grows = isinstance(value, list) and name not in experiment.scalars and name in whole
                    whole[name] = whole[name] + value if grows and whole[name] is not None else value
    return found


_once: dict[tuple[str, tuple[str, ...], str], dict[str, dict[str, Any]]] = {}


def first_joined(experiment: Experiment, cells: Sequence[Cell], recording: Recording) -> dict[str, dict[str, Any]]:
    """As `joined`, trained at most once in a process for all laws that compare the same batch with another one.

    What it is compared with has to be another batch, or to come from `joined`: never the same rows.
    """
    found: dict[str, dict[str, Any]] = {}
    for batch in batches(experiment, cells):
        key = (experiment.name, tuple(cell.cell_id for cell in batch), repr(recording.to_json()))
        if key not in _once:
            _once[key] = joined(experiment, batch, recording)
        found |= _once[key]
    return found


def assert_close(experiment: Experiment, cells: Sequence[Cell], one: dict[str, Any], other: dict[str, Any]) -> None:
    """Two results of each cell agree: texts and steps exactly, numbers within the experiment's own tolerance."""
    timed = {name for name, column in experiment.scalars.items() if column.unit in TIMES}
    for cell in cells:
        a, b = one[cell.cell_id], other[cell.cell_id]
        assert a.keys() == b.keys()
        tolerance = experiment.tolerance(cell.params)
        for name in a.keys() - timed:
            assert_equal(a[name], b[name], tolerance, f"{name} of {cell.cell_id}")


def assert_equal(a: Any, b: Any, tolerance: float, place: str) -> None:
    """Both are null, equal, or numbers that lie no further apart than the tolerance times the largest of them.

    Of pictures the number is compared: rounding may change a shade.
    """
    pictures = [isinstance(value, list) and any(isinstance(item, bytes) for item in value) for value in (a, b)]
    if any(pictures):
        assert all(pictures), place
        assert len(a) == len(b), place
    elif isinstance(a, float | list) and isinstance(b, float | list):
        x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        assert x.shape == y.shape, place
        assert np.array_equal(np.isfinite(x), np.isfinite(y)), place
        there = np.isfinite(x)
        size = max(np.abs(x[there]).max(initial=0), np.abs(y[there]).max(initial=0))
        assert np.abs(x[there] - y[there]).max(initial=0) <= tolerance * size + 1e-12, place
    else:
        assert a == b, place


def says_what_it_declares(experiment: Experiment, sweep: Sweep) -> None:
    """Rows have the declared columns in the declared types; a cell's segments are one run of steps, the last one final;
    every curve of steps is as long as `step`, which has the steps that the recording asks for."""
    total = {}
    for batch in batches(experiment, sweep.cells()):
        for table in tables(experiment, batch, sweep.recording):
            types = {**SEGMENT_COLUMNS, **{n: c.type for n, c in declared(experiment, sweep.recording).items()}}
            assert {name: table.schema.field(name).type for name in types} == types
            for row in table.to_pylist():
                last = total.setdefault(row["cell_id"], {"final": False, "to_step": -1, "step": []})
                assert not last["final"], "a row after the final one"
                assert row["from_step"] == last["to_step"] + 1
                assert row["to_step"] >= row["from_step"]
                assert row["status"] in ("ok", "diverged"), row["message"]
                assert len(row["step"]) > 0
                assert row["from_step"] <= row["step"][0] <= row["step"][-1] <= row["to_step"]
                for name in experiment.curves:
                    assert len(row[name]) == len(row["step"]), name
                total[row["cell_id"]] = {**row, "step": last["step"] + row["step"]}
    for cell in sweep.cells():
        row = total.pop(cell.cell_id)
        assert row["final"]
        steps = experiment.steps(cell.params)
        if row["status"] == "ok":
            assert row["to_step"] == steps
            assert row["step"][-1] == steps
        if sweep.recording.steps != "epoch":
            assert set(row["step"]) <= set(sweep.recording.at(steps).tolist())
    assert total == {}, "rows of cells that nobody asked for"


def knows_no_company(experiment: Experiment, sweep: Sweep) -> None:
    """Every cell has the result alone that it has in a batch and in the batch in the other order."""
    cells = list(sweep.cells())
    together = first_joined(experiment, cells, sweep.recording)
    assert_close(experiment, cells, together, joined(experiment, cells[::-1], sweep.recording))
    for batch in batches(experiment, cells):
        for cell in (batch[0], batch[-1]):
            if len(batch) > 1:  # one that is alone in its batch was trained alone
                assert_close(experiment, [cell], together, first_joined(experiment, [cell], sweep.recording))


def is_the_same_twice(experiment: Experiment, sweep: Sweep) -> None:
    """A batch that is trained again gives equal numbers to the last bit; two seeds of a point give others."""
    timed = {name for name, column in experiment.scalars.items() if column.unit in TIMES}
    cells = batches(experiment, sweep.cells())[0]
    once, again = (how(experiment, cells, sweep.recording) for how in (first_joined, joined))
    for cell_id, row in once.items():
        for name in row.keys() - timed:
            assert repr(row[name]) == repr(again[cell_id][name]), name
    if len(sweep.seeds) > 1:
        cells = [Cell(sweep.points[0], seed) for seed in sweep.seeds]
        rows = first_joined(experiment, cells, sweep.recording).values()
        assert len({repr([row[name] for name in experiment.curves]) for row in rows}) == len(cells)


def of_a_step(experiment: Experiment) -> list[str]:
    """Curves whose values belong to the recorded step alone, not to the steps since the one recorded before."""
    return [name for name, column in experiment.curves.items() if not column.since_last]


def is_not_moved_by_what_is_recorded(experiment: Experiment, sweep: Sweep) -> None:
    """Recorded at fewer steps and without recordings on request, a run has the same values at the steps both have."""
    cells = [batch[0] for batch in batches(experiment, sweep.cells())]
    fewer = Recording(sweep.recording.steps, max(3, sweep.recording.points // 2))
    full, thin = first_joined(experiment, cells, sweep.recording), joined(experiment, cells, fewer)
    for cell in cells:
        a, b = full[cell.cell_id], thin[cell.cell_id]
        shared = sorted(set(a["step"]) & set(b["step"]))
        assert len(shared) >= 2
        for name in of_a_step(experiment):
            at = [[row[name][row["step"].index(step)] for step in shared] for row in (a, b)]
            assert_equal(at[0], at[1], experiment.tolerance(cell.params), f"{name} of {cell.cell_id}")


def is_replayed(experiment: Experiment, sweep: Sweep) -> None:
    """A replay of a cell has every recording, and the run's values at the steps that both recorded."""
    cell = next(sweep.cells())
    run = first_joined(experiment, [cell], sweep.recording)[cell.cell_id]
    played: dict[str, Any] = {}
    for table in experiment.replay(cell):
        for row in table.to_pylist():
            for name in experiment.curves:
                played[name] = played.get(name, []) + row[name]
            assert set(row) >= {name for columns in experiment.recordings.values() for name in columns}
    shared = sorted(set(run["step"]) & set(played["step"]))
    assert len(shared) >= 2
    for name in of_a_step(experiment):
        at = [[row[name][row["step"].index(step)] for step in shared] for row in (run, played)]
        assert_equal(at[0], at[1], experiment.tolerance(cell.params), name)


def keeps_its_type_in_either_precision(experiment: Experiment, sweep: Sweep) -> None:
    """In float32 and in float64, as far as its parameters take them, a cell ends well; the two have different ids, and
    the first recorded values, from which both start, differ by no more than rounding in float32."""
    cell = next(sweep.cells())
    rows = []
    for dtype in ("float32", "float64"):
        values = {**cell.params.model_dump(), "dtype": dtype}
        try:
            params = type(cell.params).model_validate(values)
        except ValidationError:  # it computes in the other alone
            continue
        other = dataclasses.replace(sweep.points[0], params=params).cell(cell.seed)
        rows.append(first_joined(experiment, [other], sweep.recording)[other.cell_id])
        assert rows[-1]["status"] == "ok", rows[-1]["message"]
    assert rows
    assert len({row["cell_id"] for row in rows}) == len(rows)
    for name in experiment.curves if len(rows) == 2 else ():
        assert_equal(rows[0][name][0], rows[1][name][0], 1e-4, name)


def forecasts(experiment: Experiment, sweep: Sweep) -> None:
    """What planning asks of a point is answered in the units that it needs, and before anything is trained."""
    for point in sweep.points:
        params = point.params
        assert experiment.shape(params)
        assert experiment.work(params) > 0
        assert math.isfinite(experiment.work(params))
        assert experiment.steps(params) >= 1
        assert experiment.max_batch(params) >= 1
        assert experiment.lanes(params) >= 1
        assert 0 < experiment.tolerance(params) < 1
        assert experiment.resources(params).cpus > 0
        length = experiment.length(params)
        if length is not None:
            longer = params.model_copy(update={length: 2 * getattr(params, length)})
            assert experiment.steps(longer) >= 2 * experiment.steps(params) - 1
            assert experiment.work(longer) > experiment.work(params)


def is_moved_by_nothing_that_it_does_not_read(experiment: Experiment, sweep: Sweep) -> None:
    """Parameters that `read_where` calls unread, all changed at once, leave every result as it is to the last bit, and
    the shape of the batch."""
    conditions = {name: parse(text) for name, text in experiment.read_where.items()}
    for name, condition in conditions.items():
        assert {name, *(read for read, _ in condition.names)} <= {*experiment.Params.model_fields}
    timed = {name for name, column in experiment.scalars.items() if column.unit in TIMES}
    tried = set[tuple[str, ...]]()
    for cell in sweep.cells():
        values = cell.params.model_dump()
        unread = tuple(name for name, condition in conditions.items() if not condition.holds(values))
        other = changed(cell.params, unread)
        if unread in tried or other == cell.params:
            continue
        tried.add(unread)
        assert experiment.shape(other) == experiment.shape(cell.params)
        moved = dataclasses.replace(cell, point=dataclasses.replace(cell.point, params=other, seeds="common"))
        kept = dataclasses.replace(cell, point=dataclasses.replace(cell.point, seeds="common"))
        one, two = (joined(experiment, [it], sweep.recording)[it.cell_id] for it in (kept, moved))
        for name in one.keys() - timed - {"cell_id"}:
            assert repr(one[name]) == repr(two[name]), f"{name} hangs on one of {unread}"


def changed(params: UntypedParams, names: Sequence[str]) -> UntypedParams:
    """The parameters with other values of these, as far as their own checks take any of those that are tried."""
    for name in names:
        info, value = type(params).model_fields[name], getattr(params, name)
        tries: list[Any] = [other for other in get_args(info.annotation) if isinstance(other, str) and other != value]
        if isinstance(value, bool):
            tries = [not value]
        elif isinstance(value, int | float):
            tries = [2 * value + 1, 2 * value, value / 2]
        for other in tries:
            try:
                params = type(params).model_validate({**params.model_dump(), name: other})
                break
            except ValidationError:  # not a value of this parameter
                continue
    return params


LAWS = (
    forecasts,
    says_what_it_declares,
    knows_no_company,
    is_the_same_twice,
    is_not_moved_by_what_is_recorded,
    is_replayed,
    keeps_its_type_in_either_precision,
    is_moved_by_nothing_that_it_does_not_read,
)
