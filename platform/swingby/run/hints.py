"""What to write so that results which are there count: they are of another recording, or lack a new parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.data.records import Records
from swingby.function.experiment import FunctionExperiment
from swingby.function.source import MOST_BYTES
from swingby.model.cell import Cell, Point
from swingby.model.params import introduced
from swingby.store import Store
from swingby.store.sql import quoted
from swingby.sweepfile.sweep import Sweep
from swingby.units import counted

MOST = 100_000
"""Pending cells for which it is looked up."""


def hints(records: Records, sweep: Sweep, ids: pa.Array, places: np.ndarray) -> tuple[str, ...]:
    """Sentences about pending cells that have results, or would have, if the sweep or its code said so.

    Args:
        ids: of every cell of the sweep.
        places: of the pending cells.
    """
    if not len(places):
        return ()
    of = sweep.experiment
    elsewhere = tuple(_left_out(of)) if isinstance(of, FunctionExperiment) else ()
    return elsewhere + (_of_results(records, sweep, ids, places) if len(places) <= MOST else ())


def _left_out(of: FunctionExperiment) -> Iterator[str]:
    """What the code needs, and what is no part of it."""
    unnoticed = "that does not travel with it, and a change of that is not noticed"
    if of.unseen:
        yield f"its code imports {', '.join(of.unseen)}, outside of its folder: {unnoticed}"
    if of.source and of.source.large:
        most = f"with more than {MOST_BYTES:,} bytes together with its other data files"
        yield f"its code names {', '.join(of.source.large)}, {most}: {unnoticed}"


def _of_results(records: Records, sweep: Sweep, ids: pa.Array, places: np.ndarray) -> tuple[str, ...]:
    with Store.open(records.data) as store:
        if sweep.experiment_name not in store.names():
            return ()
        return (*_other_recordings(store, sweep, ids.take(pa.array(places))), *_new_parameters(store, sweep, places))


def _other_recordings(store: Store, sweep: Sweep, ids: pa.Array) -> list[str]:
    requested, hints = set(sweep.recording.requested), list[str]()
    for row in store.recordings_of(sweep.experiment_name, ids):
        recorded = [token for token in row.recording if token.startswith("steps:")]
        if len(recorded) == 1 and not requested <= set(row.recording):
            steps, _, count = recorded[0].removeprefix("steps:").partition(":")
            key = "entries" if steps == "all" else "points"
            also = [token for token in row.recording if not token.startswith("steps:")]
            written = [f"steps: {steps}", *([f"{key}: {count}"] if count else [])]
            written += [f"also: [{', '.join(also)}]"] if also else []
            have, these = ("has", "it") if row.cells == 1 else ("have", "these")
            other = f"`record: {{{', '.join(written)}}}` reads {these} instead"
            hints.append(f"{counted(row.cells, 'cell')} of it {have} a result of another recording; {other}")
    return hints[:2]


def _new_parameters(store: Store, sweep: Sweep, places: np.ndarray) -> list[str]:
    of = sweep.experiment
    if not isinstance(of, FunctionExperiment):
        return []
    known = {name for name in of.Params.model_fields if name in store.columns(of.name)}
    fields, left_out = of.Params.model_fields, introduced(of.Params)
    fresh: Mapping[str, Any] = {
        name: info.default
        for name, info in fields.items()
        if not info.is_required() and name not in left_out and (name not in known or _is_empty(store, of.name, name))
    }
    if not fresh:
        return []
    older = of.with_added(fresh)
    count = len(sweep.points)
    points: dict[int, Point] = {}
    for place in dict.fromkeys((places % count).tolist()):
        point = sweep.points[place]
        params = older.Params(**point.params.model_dump())
        points[place] = Point(point.experiment, point.stream_version, params, point.seeds)
    ids = [Cell(points[place % count], sweep.seeds[place // count]).cell_id for place in places.tolist()]
    done = int((store.states(of.name, pa.array(ids, pa.string()), sweep.recording.requested) == "d").sum())
    if not done:
        return []
    written = ", ".join(f'"{name}": {value!r}' for name, value in fresh.items())
    names = ", ".join(fresh)
    again = f"{counted(done, 'cell')} of it would be trained again because of {names}"
    return [f"{again}; where {written} is what was done before, @experiment(added={{{written}}}) keeps all results"]


def _is_empty(store: Store, experiment: str, name: str) -> bool:
    """Whether some cell was trained before there was the parameter."""
    query = f"select 1 from {quoted(experiment)} where {quoted(name)} is null limit 1"
    return bool(store.sql(query).rows())
