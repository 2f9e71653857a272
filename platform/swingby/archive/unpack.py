"""Unpacking: recorded results become a plan, shards and derived records of a data folder, each marked as recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.archive.file import ORIGIN, Recording, digest, read
from swingby.data.records import Records
from swingby.data.records.headers import WHOLE, BatchNote, Plan, ShardHeader
from swingby.errors import SwingbyError
from swingby.function.experiment import FunctionExperiment
from swingby.function.travel import KEY as CODE
from swingby.model import registry
from swingby.model.cell import Point
from swingby.model.columns import final_rows, parameter_schema
from swingby.model.experiment import ENTRIES, Experiment
from swingby.model.experiment import Recording as Recorded
from swingby.run.outcomes import KEY, SHARD, derive
from swingby.store import Store, ingest
from swingby.store.functions import adopt_declared
from swingby.sweepfile.sweep import Sweep, named_sweeps

SHAPE = "recorded"
"""The shape of the one batch of a file that is not whole: its cells may be of many shapes, and nothing is trained."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The outcome of `unpack`: how many cells got a recorded result, and how many had a result and keep it."""

    recording: Recording
    cells: int
    kept: int

    def __str__(self) -> str:
        of = self.recording
        more = f" ({self.kept:,} had a result before, and keep it)" if self.kept else ""
        return f"{of.name}: {self.cells:,} recorded results, computed on {of.hosts} until {of.when}{more}"


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of a file that become one batch: in a whole file those of one origin, in any other all.

    Attributes:
        computed: the entries of `Recording.computed` about them.
        cells: how many rows there are.
        places: the rows whose cells have no result yet, as indices into the file.
    """

    batch: int
    shape: str
    computed: Sequence[Mapping[str, Any]]
    cells: int
    places: Sequence[int]


def unpack(data: Path, file: Path, origin: str | None = None) -> Unpacked:
    """Writes the recorded results of a sweep into a data folder, which is made if it is missing.

    Cells with a result keep it. A later run of the sweep trains the recorded cells, and its rows then are the results.
    Outcomes come with the results; those of a whole file are computed again if an installed detector has another
    version. The shares of a refined sweep that is packaged are fitted again: files do not hold them. An experiment that
    is a function is known by what the file declares of it; its code is not run.

    Args:
        origin: who published the file, and where it came from, in words; the plan then has none of the code in it,
            since that is a stranger's. None: it is a file of one's own.

    Raises:
        SwingbyError: the file is no file of recorded results; its experiment, or a detector unless it is whole, is of
            another version than what is installed; or somebody runs the sweep.
    """
    recording, table = read(file)
    if origin is not None:
        provenance = {name: value for name, value in recording.provenance.items() if name != CODE}
        recording = replace(recording, provenance=provenance)
    with _clear_errors(file):
        adopt_declared(recording.experiment, recording.resolved)
    of = registry.experiment(recording.experiment)
    if not recording.whole:
        _check_detectors(recording)
    with _clear_errors(file):
        ids = _cell_ids(recording, table, of)
    records = Records.open(data)
    with records.lock(recording.sweep_id):
        ingest(records)
        with Store.open(records.data) as store:
            fresh = np.flatnonzero(store.states(of.name, pa.array(ids, pa.string()), ()) != "d").tolist()
        if fresh:
            with _clear_errors(file):
                parts = _parts(recording, table, fresh)
                plan = _plan(recording, records, table, ids, parts, origin)
                shards, outcomes = _tables(records, recording, plan, of, table, ids, parts)
            records.write_plan(plan)
            written = [(records.write_shard(header, rows), rows.num_rows) for header, rows in shards]
            names = [f"{plan.plan_id}/{shard.name}" for shard, count in written for _ in range(count)]
            for name, derived in outcomes.items():
                derived = derived.append_column(SHARD, pa.array(names, pa.string()))
                marks = {"experiment": plan.experiment, "recorded": recording.packed}
                records.write_derived(f"outcomes_{name}", registry.detector(name).version, KEY, derived, **marks)
            ingest(records)
    if fresh and recording.whole:
        derive(records, [recording.sweep_id])
    if fresh and recording.provenance.get("decision") and recording.name in named_sweeps():
        sweep = Sweep.load(recording.name, confirm_above=None)
        if sweep.sweep_id == recording.sweep_id:
            from swingby.run.refine import write_share_fit  # slow to import, and needed by refined sweeps alone

            write_share_fit(sweep, records)
    return Unpacked(recording, len(fresh), len(ids) - len(fresh))


@contextmanager
def _clear_errors(file: Path) -> Iterator[None]:
    """Turns what a file with a false header raises into a clear error."""
    try:
        yield
    except (LookupError, TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        raise SwingbyError(
            f"{file.name} is no sound file of recorded results: {type(error).__name__}: {error!s:.200}"
        ) from error


def _parts(recording: Recording, table: pa.Table, fresh: Sequence[int]) -> list[Part]:
    if not recording.whole:
        return [Part(0, SHAPE, recording.computed, table.num_rows, fresh)]
    origins = table[ORIGIN].to_pylist()
    if set(origins) - set(range(len(recording.computed))):
        raise ValueError(f"a cell is of none of the {len(recording.computed)} origins that it names")
    return [
        Part(batch, WHOLE, [entry], origins.count(batch), [place for place in fresh if origins[place] == batch])
        for batch, entry in enumerate(recording.computed)
    ]


def _check_detectors(recording: Recording) -> None:
    """Refuses outcomes of another version of an installed detector: they cannot be computed again from thin curves.

    A detector without outcomes in the file is no reason to refuse it; a broken one that has outcomes there is.
    """
    registry.require_detectors(recording.experiment, recording.detectors)
    for item in registry.detectors_for(recording.experiment):
        recorded = recording.detectors.get(item.name, item.version)
        if recorded != item.version:
            raise SwingbyError(
                f"the results of {recording.name!r} were recorded with version {recorded} of detector {item.name!r}; "
                f"installed is {item.version}: train them, swingby run {recording.name}"
            )


def _cell_ids(recording: Recording, table: pa.Table, of: Experiment) -> list[str]:
    """The id of every row, from its parameters and seed.

    Raises:
        SwingbyError: the ids are not those that were recorded, or the installed experiment has other parameters.
    """
    other = (
        f"{recording.name!r} was recorded with another version of experiment {of.name!r}; "
        f"train it: swingby run {recording.name}"
    )
    names = [name for name in of.Params.model_fields if name in table.column_names]
    rows = table["point"].to_pylist()
    first = {point: place for place, point in reversed(list(enumerate(rows)))}
    values = table.select(names).take(pa.array(list(first.values()))).to_pylist()
    mode = recording.resolved["seed_mode"]
    try:
        points = {
            index: Point(of.name, recording.stream_version, of.Params(**row), mode)
            for index, row in zip(first, values, strict=True)
        }
    except ValueError as error:
        raise SwingbyError(f"{other} ({error})") from error
    ids = [points[index].cell(seed).cell_id for index, seed in zip(rows, table["seed"].to_pylist(), strict=True)]
    if digest(ids) != recording.digest:
        raise SwingbyError(other)
    return ids


def _plan(
    recording: Recording,
    records: Records,
    table: pa.Table,
    ids: Sequence[str],
    parts: Sequence[Part],
    origin: str | None,
) -> Plan:
    """A plan with every cell of the sweep, and a batch for each part; the file's header is in its provenance."""
    names = ("computed", "detectors", "left_out", "digits", "kept_curves", "curve_points", "packed", "swingby", "whole")
    marks = {name: getattr(recording, name) for name in names} | ({} if origin is None else {"origin": origin})
    count, when = len(ids), recording.resolved["recording"]
    columns: dict[str, Any] = {
        "cell_id": pa.array(ids, pa.string()),
        "point": table["point"],
        "seed": table["seed"],
        "seed_mode": pa.array([recording.resolved["seed_mode"]] * count, pa.string()),
        "batch": table[ORIGIN] if recording.whole else pa.array([0] * count, pa.int32()),
    }
    parameters = parameter_schema(registry.experiment(recording.experiment).Params)
    columns |= {
        field.name: table[field.name].cast(field.type) for field in parameters if field.name in table.column_names
    }
    return Plan(
        sweep_id=recording.sweep_id,
        name=recording.name,
        experiment=recording.experiment,
        stream_version=recording.stream_version,
        sequence=records.next_sequence(recording.name, recording.sweep_id),
        resolved=recording.resolved,
        recording=Recorded(when["steps"], when["points"], tuple(when["also"]), entries=when.get("entries", ENTRIES)),
        provenance={**recording.provenance, "recorded": marks},
        batches=tuple(BatchNote(part.batch, part.shape, part.cells) for part in parts),
        decision=recording.provenance.get("decision") or {},
        source=pa.table(columns),
    )


def _tables(
    records: Records,
    recording: Recording,
    plan: Plan,
    of: Experiment,
    table: pa.Table,
    ids: Sequence[str],
    parts: Sequence[Part],
) -> tuple[list[tuple[ShardHeader, pa.Table]], dict[str, pa.Table]]:
    """Header and rows of a shard for each part, and the outcomes of their cells by detector."""
    places, shards = list[int](), list[tuple[ShardHeader, pa.Table]]()
    for part in parts:
        if part.places:
            cell_ids = [ids[place] for place in part.places]
            rows = _rows(recording, of, table.take(pa.array(part.places)), cell_ids)
            shards.append((_header(recording, records, plan, part), rows))
            places += part.places
    taken = table.take(pa.array(places))
    outcomes = dict[str, pa.Table]()
    for item in registry.detectors_for(of.name):
        if recording.detectors.get(item.name) != item.version:
            continue  # only of a whole file, whose outcomes are computed again
        columns: dict[str, pa.ChunkedArray | pa.Array] = {"cell_id": pa.array([ids[place] for place in places])}
        for outcome, column in item.outcomes.items():
            columns[outcome] = _column(taken, f"{item.name}.{outcome}", column.type)
        outcomes[item.name] = pa.table(columns)
    return shards, outcomes


def _column(table: pa.Table, name: str, type_: pa.DataType) -> pa.ChunkedArray | pa.Array:
    """A column in its declared type; nulls where it was left out."""
    return table[name].cast(type_) if name in table.column_names else pa.nulls(table.num_rows, type_)


def _rows(recording: Recording, of: Experiment, table: pa.Table, ids: Sequence[str]) -> pa.Table:
    kinds: Mapping[str, Any] = {**of.curves, **of.scalars}
    for recorded in of.recordings.values():
        kinds = {**recorded, **kinds}
    known = {name: kinds[name].type for name in kinds}
    if isinstance(of, FunctionExperiment):  # its columns are those of its results
        known = {name: table.schema.field(name).type for name in table.column_names} | known
    columns = {name: _column(table, name, known[name]) for name in (*recording.curves, *recording.scalars)}
    return final_rows(ids, table["to_step"], table["status"], table["message"], columns)


def _header(recording: Recording, records: Records, plan: Plan, part: Part) -> ShardHeader:
    """A shard's header, with where and when its cells were computed, and no token, so that a run trains them again."""
    computed = part.computed
    hosts = ", ".join(sorted({str(entry["host"]) for entry in computed}))
    return ShardHeader(
        plan_id=plan.plan_id,
        sweep_id=plan.sweep_id,
        experiment=plan.experiment,
        batch=part.batch,
        attempt=records.next_attempt(plan, part.batch),
        recorded=(),
        curves=tuple(recording.curves),
        shape=part.shape,
        cells=part.cells,
        started=min(entry["started"] for entry in computed),
        finished=max(entry["finished"] for entry in computed),
        seconds=float(sum(entry["seconds"] for entry in computed)),
        host=f"{hosts} (recorded)",
        device=", ".join(sorted({entry["device"] for entry in computed})),
        pid=0,
        versions=computed[0]["versions"],
    )
