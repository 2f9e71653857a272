"""Packing: a finished sweep's outcomes, scalars and a few thin curves, as one small file."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from swingby import __version__, plugins
from swingby.errors import SwingbyError
from swingby.experiment import Experiment
from swingby.files import utc_now
from swingby.headers import PLAN_COLUMNS, Plan
from swingby.recorded.form import OWN, Recording, digest, write
from swingby.recorded.rounding import rounded, spread, thinned
from swingby.records import Records
from swingby.run.derive import SHARD, derive
from swingby.run.lookup import find_sweep, standing
from swingby.store import Store, ingest

DIGITS, CURVES, POINTS = 3, 200, 40


@dataclass(frozen=True, slots=True)
class Packed:
    """What `pack` wrote: the file, its bytes, and of how many cells it has a result and a curve."""

    path: Path
    size: int
    cells: int
    curves: int


def pack(
    data: Path,
    sweep: str,
    out: Path,
    *,
    digits: int = DIGITS,
    curves: int = CURVES,
    points: int = POINTS,
    without: Collection[str] = (),
) -> Packed:
    """Writes `out/<name>.parquet` from the results of a sweep in a data folder, the outcomes brought up to date first.

    Args:
        sweep: a name, an id or its first digits.
        digits: significant digits of every result that is a float.
        curves: how many cells keep their curves, spread evenly over the sweep.
        points: how many records such a curve keeps.
        without: scalars, and outcomes as `<detector>.<outcome>`, to leave out.

    Raises:
        SwingbyError: no such sweep or column, a cell without a result, or results that are recorded ones themselves.
    """
    records = Records.open(data, create=False)
    ingest(records)
    with Store.open(records.data) as store:
        found = find_sweep(store, sweep)
        derive(records, [found.sweep_id])
        plan = _plan(records, store, found.sweep_id)
        of = plugins.experiment(found.experiment)
        detectors = plugins.detectors_for(found.experiment)
        known = [*of.scalars, *(f"{item.name}.{outcome}" for item in detectors for outcome in item.outcomes)]
        for name in without:
            if name not in known:
                raise SwingbyError(f"{name!r} is no column to leave out; {plugins.nearest(name, known)}")
        cells = _in_order(plan)
        scalars = [name for name in of.scalars if name not in without]
        outcomes = {
            item.name: [outcome for outcome in item.outcomes if f"{item.name}.{outcome}" not in without]
            for item in detectors
        }
        rows = _rows(store, of, found.sweep_id, scalars, outcomes, cells)
        kept = spread(cells.num_rows, curves)
        thin = _curves(store, of, [cells["cell_id"][place].as_py() for place in kept.tolist()], points)
        parameters = [name for name in cells.column_names if name not in PLAN_COLUMNS]
        table = _table(cells.select(["point", "seed", *parameters]), rows, thin, kept, digits)
        recording = Recording(
            sweep_id=found.sweep_id,
            name=plan.name,
            experiment=plan.experiment,
            stream_version=plan.stream_version,
            resolved=plan.resolved,
            provenance=portable(plan.provenance),
            computed=_computed(store, of.name, found.sweep_id),
            detectors={item.name: item.version for item in detectors},
            outcomes=outcomes,
            scalars=scalars,
            curves=list(of.curves),
            left_out=sorted(without),
            digits=digits,
            kept_curves=len(kept),
            curve_points=points,
            digest=digest(cells["cell_id"].to_pylist()),
            packed=utc_now(),
            swingby=__version__,
        )
    path = write(out.expanduser().absolute() / f"{plan.name}.parquet", recording, table, parameters)
    return Packed(path, path.stat().st_size, table.num_rows, len(kept))


def _plan(records: Records, store: Store, sweep_id: str) -> Plan:
    """The newest plan of a sweep."""
    (row,) = store.sql("select plan_id from plans where sweep_id = ? order by sequence desc limit 1", [sweep_id]).rows()
    return records.read_plan(row.plan_id)


def _in_order(plan: Plan) -> pa.Table:
    """The plan's cells, seed by seed as the sweep lists them, and point by point."""
    rank = {seed: index for index, seed in enumerate(plan.resolved["seeds"])}
    table = plan.table
    order = np.lexsort((table["point"].to_numpy(), [rank[seed] for seed in table["seed"].to_pylist()]))
    return table.take(pa.array(order))


def _rows(
    store: Store,
    of: Experiment,
    sweep_id: str,
    scalars: Sequence[str],
    outcomes: Mapping[str, Sequence[str]],
    cells: pa.Table,
) -> pa.Table:
    """Status, scalars and outcomes of the cells, in their order.

    Raises:
        SwingbyError: some cell has no result, or only a recorded one.
    """
    counts = standing(store, of.name, sweep_id)
    lacking = cells.num_rows - counts["ok"] - counts["diverged"]
    if lacking:
        raise SwingbyError(f"{lacking:,} of {cells.num_rows:,} cells have no result: finish the sweep first")
    there = {name for name, _ in store.tables().get(of.name, [])}
    told = [f'{name}."{outcome}" as "{name}.{outcome}"' for name, kept in outcomes.items() for outcome in kept]
    joins = [
        f"left join outcomes_{name} {name} on {name}.cell_id = e.cell_id and {name}.{SHARD} = e.shard"
        for name in outcomes
    ]
    own = [f'e."{name}"' if name in there else f'null as "{name}"' for name in scalars]
    table = store.sql(
        f"""select e.cell_id, len(e.recorded) > 0 as trained, e.status, e.message, e.steps as to_step,
                   {", ".join([*own, *told])}
            from members m join "{of.name}" e on e.cell_id = m.cell_id {" ".join(joins)}
            where m.sweep_id = ? and e.status in ('ok', 'diverged')""",
        [sweep_id],
    ).arrow()
    if False in table["trained"].to_pylist():
        raise SwingbyError("these results are recorded ones themselves; train the sweep to pack it")
    place = {cell_id: index for index, cell_id in enumerate(table["cell_id"].to_pylist())}
    order = [place[cell_id] for cell_id in cells["cell_id"].to_pylist()]
    return table.take(pa.array(order)).drop_columns(["cell_id", "trained"])


def _curves(store: Store, of: Experiment, cell_ids: Sequence[str], points: int) -> list[dict[str, pa.Array | None]]:
    """The thin curves of these cells, in their order."""
    names = ", ".join(f'"{name}"' for name in of.curves)
    table = store.sql(
        f'select cell_id, {names} from "{of.name}" where list_contains($1, cell_id)', [list(cell_ids)]
    ).arrow()
    place = {cell_id: index for index, cell_id in enumerate(table["cell_id"].to_pylist())}
    found = []
    for cell_id in cell_ids:
        row = {name: table[name][place[cell_id]].values for name in of.curves}
        steps = 0 if row["step"] is None else len(row["step"])
        kept = spread(steps, points) if steps else np.arange(0)
        found.append({name: None if curve is None else thinned(curve, kept) for name, curve in row.items()})
    return found


def _table(
    cells: pa.Table, rows: pa.Table, thin: Sequence[Mapping[str, pa.Array | None]], kept: np.ndarray, digits: int
) -> pa.Table:
    table = cells
    for name in rows.column_names:
        column = rows[name].combine_chunks()
        column = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
        table = table.append_column(name, column if name in OWN else rounded(column, digits))
    for name in thin[0] if thin else ():
        values: list[Any] = [None] * cells.num_rows
        for place, curves in zip(kept.tolist(), thin, strict=True):
            curve = curves[name]
            values[place] = None if curve is None else curve.to_pylist()
        table = table.append_column(name, rounded(pa.array(values), digits))
    return table.cast(pa.schema([(field.name, OWN.get(field.name, field.type)) for field in table.schema]))


def portable(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a run to those who have another machine: of a path in its command only the last part."""
    command = [Path(part).name if part.startswith("/") else part for part in provenance.get("command", [])]
    return {**provenance, "command": command} if command else dict(provenance)


def _computed(store: Store, experiment: str, sweep_id: str) -> list[dict[str, Any]]:
    """One entry a plan, host and device that trained cells of the sweep."""
    rows = store.sql(
        f"""with used as (
              select e.shard, count(*) as cells from members m join "{experiment}" e using (cell_id)
              where m.sweep_id = ? group by e.shard)
            select s.plan_id, s.host, s.device, any_value(s.versions) as versions,
                   any_value(p.git_commit) as git_commit, bool_or(p.git_dirty) as git_dirty,
                   sum(used.cells)::bigint as cells, sum(s.seconds * used.cells / s.rows) as seconds,
                   strftime(min(s.started), '%Y-%m-%dT%H:%M:%SZ') as started,
                   strftime(max(s.finished), '%Y-%m-%dT%H:%M:%SZ') as finished
            from used join shards s using (shard) left join plans p using (plan_id)
            group by s.plan_id, s.host, s.device order by s.plan_id, s.host, s.device""",
        [sweep_id],
    )
    return [{**row, "versions": json.loads(row["versions"])} for row in rows.arrow().to_pylist()]
