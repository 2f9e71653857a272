"""Packing: the outcomes and scalars of a finished sweep in one small file, with a few thin curves or all whole ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from swingby.archive.file import ORIGIN, STANDARD, Recording, digest, write
from swingby.archive.origins import computed, portable, portable_text
from swingby.archive.rounding import rounded, spread, thin_curves, with_thin
from swingby.data.files import entry, utc_now
from swingby.data.records import Records
from swingby.data.records.headers import PLAN_COLUMNS, Plan
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.detector import Detector
from swingby.model.experiment import Column, Experiment
from swingby.run.outcomes import SHARD, derive
from swingby.run.worker.segments import curve_columns
from swingby.store import Store, ingest
from swingby.store.lookup import find_sweep
from swingby.store.recorded import recorded_results
from swingby.store.sql import quoted
from swingby.store.status import final_counts

DIGITS, WHOLE_DIGITS, CURVES, POINTS = 3, 4, 200, 40
"""Defaults: digits of thinned and of whole results, cells whose curves are kept, and points of each."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A file that `pack` wrote: its path, its bytes, and how many cells have a result and a curve in it."""

    path: Path
    size: int
    cells: int
    curves: int


@dataclass(frozen=True, slots=True)
class Kept:
    """The columns that a file keeps: scalars and whole curves by name, outcomes by detector."""

    scalars: Mapping[str, Column]
    curves: Mapping[str, Column]
    outcomes: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, plan: Plan, detectors: Sequence[Detector], whole: bool, without: Collection[str]) -> Kept:
        """Everything that is not left out; no curves unless they are to be whole.

        Raises:
            SwingbyError: a name to leave out is no column's; with the nearest one.
        """
        experiment = registry.experiment(plan.experiment)
        curves = curve_columns(experiment, plan.recording) if whole else {}
        outcomes = [f"{item.name}.{outcome}" for item in detectors for outcome in item.outcomes]
        known = [*experiment.scalars, *(name for name in curves if name != "step"), *outcomes]
        for name in without:
            if name not in known:
                raise SwingbyError(f"{name!r} is no column to leave out; {registry.nearest(name, known)}")
        return cls(
            {name: column for name, column in experiment.scalars.items() if name not in without},
            {name: column for name, column in curves.items() if name not in without},
            {
                item.name: [outcome for outcome in item.outcomes if f"{item.name}.{outcome}" not in without]
                for item in detectors
            },
        )


def pack(
    data: Path,
    sweep: str,
    out: Path,
    *,
    whole: bool = False,
    digits: int | None = None,
    curves: int = CURVES,
    points: int = POINTS,
    without: Collection[str] = (),
    row_group: int | None = None,
    packed: str | None = None,
) -> Packed:
    """Writes `out/<name>.parquet` from the results of a sweep in a data folder; outcomes are computed first.

    Args:
        sweep: a name, an id or its first digits.
        whole: every cell keeps all its curves, so that a report can be drawn of the unpacked results.
        digits: significant digits of every float among the results; by default 3, and 4 in a whole file. Results
            that are recorded ones get no more digits than they have.
        curves: how many cells keep their curves otherwise, spread evenly over the sweep.
        points: how many records such a curve keeps.
        without: scalars, outcomes as `<detector>.<outcome>`, and curves of a whole file, to leave out.
        row_group: the rows lie point by point, so many to a group, to be read in parts (see `file.write`); None: seed
            by seed, in one group.
        packed: what the header says of when it was packed, ISO 8601; None: now.

    Raises:
        SwingbyError: no such sweep or column, a cell without a result, results that are thin recorded ones
            themselves, or a detector of the experiment's own package cannot be loaded.
    """
    records = Records.open(data, create=False)
    ingest(records)
    with Store.open(records.data) as store:
        row = find_sweep(store, sweep)
        derive(records, [row.sweep_id])
        newest = "select plan_id from plans where sweep_id = ? order by sequence desc, plan_id limit 1"
        plan = records.read_plan(store.sql(newest, [row.sweep_id]).rows()[0].plan_id)
        of = registry.experiment(row.experiment)
        registry.require_detectors(of.name)  # curves are thinned: what a broken one says of them would be lost
        detectors = _recorded_detectors(store, of)
        kept = Kept.of(plan, detectors, whole, without)
        digits = _digits(store, row.sweep_id, digits or (WHOLE_DIGITS if whole else DIGITS))
        cells = _in_order(plan.resolved["seeds"], _planned_cells(records, store, plan), row_group is not None)
        rows = _rows(store, of, row.sweep_id, kept, cells)
        entries, of_shard = computed(store, of.name, row.sweep_id)
        parameters = [name for name in cells.column_names if name not in PLAN_COLUMNS]
        table = _joined(cells.select(["point", "seed", *parameters]), rows.drop_columns(["shard"]), kept, digits)
        if whole:
            count = cells.num_rows
            longest = max((len(steps) for steps in rows["step"].to_pylist() if steps is not None), default=0)
            origins = [of_shard[shard] for shard in rows["shard"].to_pylist()]
            table = table.append_column(ORIGIN, pa.array(origins, pa.int32()))
        else:
            places = spread(cells.num_rows, curves)
            with store.reading_as(row.sweep_id):
                thin = thin_curves(store, of, [cells["cell_id"][place].as_py() for place in places.tolist()], points)
            count, longest = len(places), points
            table = with_thin(table, thin, places, digits)
    from swingby import __version__

    recording = Recording(
        sweep_id=row.sweep_id,
        name=row.name,
        experiment=plan.experiment,
        stream_version=plan.stream_version,
        resolved={**plan.resolved, "name": row.name, "source": portable_text(str(plan.resolved.get("source") or ""))},
        provenance={
            **portable({name: value for name, value in plan.provenance.items() if name != "recorded"}),
            **({"decision": dict(plan.decision)} if plan.decision else {}),
        },
        computed=entries,
        detectors={item.name: item.version for item in detectors},
        outcomes=kept.outcomes,
        scalars=list(kept.scalars),
        curves=list(kept.curves if whole else of.curves),
        left_out=sorted(without),
        digits=digits,
        kept_curves=count,
        curve_points=longest,
        digest=digest(cells["cell_id"].to_pylist()),
        packed=packed or utc_now(),
        swingby=__version__,
        whole=whole,
        tokens=plan.recording.tokens if whole else (),
    )
    path = write(entry(out.expanduser().absolute(), row.name, ".parquet"), recording, table, parameters, row_group)
    return Packed(path, path.stat().st_size, table.num_rows, count)


def _digits(store: Store, sweep_id: str, requested: int) -> int:
    """The digits asked for, or those of recorded results among the results, if these have fewer.

    Raises:
        SwingbyError: some results are recorded ones without their curves.
    """
    known = recorded_results(store, sweep_id)
    if known is not None and known.thin:
        raise SwingbyError("these results are recorded ones themselves; train the sweep to pack it")
    return requested if known is None else min(requested, known.digits)


def _recorded_detectors(store: Store, experiment: Experiment) -> list[Detector]:
    """The detectors whose outcomes a file keeps: those of parameters alone are computed again, in full precision."""
    detectors = registry.detectors_for(experiment.name, store.columns(experiment.name))
    return [item for item in detectors if item.needs_results(experiment)]


def _planned_cells(records: Records, store: Store, newest: Plan) -> pa.Table:
    """The cells of a sweep: those of its newest plan; of a refined sweep, of all its plans."""
    if not newest.decision:
        return newest.table
    query = "select plan_id from plans where sweep_id = ? order by sequence, plan_id"
    plans = [records.read_plan(row.plan_id) for row in store.sql(query, [newest.sweep_id]).rows()]
    table = pa.concat_tables([plan.table for plan in plans])
    _, first = np.unique(table["cell_id"].to_numpy(), return_index=True)
    return table.take(pa.array(first))


def _in_order(seeds: Sequence[int], table: pa.Table, by_point: bool) -> pa.Table:
    """Cells seed by seed as the sweep lists them, and point by point; or point by point first."""
    rank = {seed: index for index, seed in enumerate(seeds)}
    keys = table["point"].to_numpy(), np.array([rank[seed] for seed in table["seed"].to_pylist()])
    order = np.lexsort(keys[::-1] if by_point else keys)
    return table.take(pa.array(order))


def _rows(store: Store, of: Experiment, sweep_id: str, kept: Kept, cells: pa.Table) -> pa.Table:
    """Shard, status, scalars, outcomes and whole curves of the cells, in their order.

    Raises:
        SwingbyError: some cell has no result.
    """
    counts = final_counts(store, of.name, sweep_id)
    lacking = cells.num_rows - counts["ok"] - counts["diverged"]
    if lacking:
        raise SwingbyError(f"{lacking:,} of {cells.num_rows:,} cells have no result: finish the sweep first")
    there = set(store.columns(of.name))
    columns, joins = list[str](), list[str]()
    for name in (*kept.scalars, *kept.curves):
        columns.append(f"e.{quoted(name)}" if name in there else f"null as {quoted(name)}")
    for detector, outcomes in kept.outcomes.items():
        derived, alias = quoted(f"outcomes_{detector}"), quoted(f"of_{detector}")
        columns += [f"{alias}.{quoted(name)} as {quoted(f'{detector}.{name}')}" for name in outcomes]
        joins.append(f"left join {derived} {alias} on {alias}.cell_id = e.cell_id and {alias}.{SHARD} = e.shard")
    table = store.sql(
        f"""select e.cell_id, e.shard, e.status, e.message, e.{store.last_step(of.name)} as to_step,
                   {", ".join(columns)}
            from members m join {quoted(of.name)} e on e.cell_id = m.cell_id {" ".join(joins)}
            where m.sweep_id = ? and e.status in ('ok', 'diverged')""",
        [sweep_id],
    ).arrow()
    place = {cell_id: index for index, cell_id in enumerate(table["cell_id"].to_pylist())}
    order = [place[cell_id] for cell_id in cells["cell_id"].to_pylist()]
    return table.take(pa.array(order)).drop_columns(["cell_id"])


def _joined(cells: pa.Table, rows: pa.Table, kept: Kept, digits: int) -> pa.Table:
    """The cells with their rows: floats rounded, no path of this machine in a text, whole curves as declared."""
    declared: dict[str, pa.DataType] = {name: column.type for name, column in kept.curves.items()}
    table = pa.table({name: cells[name] for name in cells.column_names})
    for name in rows.column_names:
        column = pa.concat_arrays([*rows[name].chunks, pa.array([], rows[name].type)])
        if name in kept.curves and column.null_count == len(column):
            column = pa.nulls(len(column), declared[name])  # without any record the type of the column is arbitrary
        elif name in kept.curves:
            column = rounded(column.cast(declared[name]), digits).cast(declared[name])
        elif name in kept.scalars or name == "message":
            if pa.types.is_string(column.type):
                column = pa.array([text and portable_text(text) for text in column.to_pylist()], pa.string())
            column = rounded(column, digits)
        elif name not in STANDARD:
            column = rounded(column, digits)
        table = table.append_column(name, column.cast(STANDARD.get(name, column.type)))
    return table
