"""Finds sweeps and cells in a data folder by the names people type, and says how they stand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.run.outcomes import SHARD
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep

Verdict = Literal["ok", "warn", "fault"]
ENOUGH_ID = 6


@dataclass(frozen=True, slots=True)
class KnownSweep:
    """A sweep that the store knows."""

    sweep_id: str
    name: str
    experiment: str
    cells: int


@dataclass(frozen=True, slots=True)
class SweepStatus:
    """How far a sweep is. `missing` counts cells without any final row; `holder` says who runs it now."""

    name: str
    sweep_id: str
    experiment: str
    cells: int
    ok: int
    diverged: int
    failed: int
    missing: int
    holder: str | None
    waiting_shards: int


def known_sweeps(store: Store) -> list[KnownSweep]:
    """Every sweep of the store, the newest first."""
    rows = store.sql("select sweep_id, name, experiment, cells from sweeps order by created desc, sweep_id").rows()
    return [KnownSweep(row.sweep_id, row.name, row.experiment, row.cells) for row in rows]


def find_sweep(store: Store, sweep: str) -> KnownSweep:
    """The sweep behind a name (the newest of that name), an id, the first digits of an id, or a sweep file.

    Raises:
        SwingbyError: none fits, or an id's first digits fit several.
    """
    known = known_sweeps(store)
    if sweep.endswith((".yaml", ".yml")):
        wanted = Sweep.load(sweep, confirm_above=None)
        matches = [item for item in known if item.sweep_id == wanted.sweep_id]
        if not matches:
            raise SwingbyError(f"{sweep} (sweep id {wanted.sweep_id}) has not been run here: swingby run {sweep}")
        return matches[0]
    named = [item for item in known if item.name == sweep]
    if named:
        return named[0]
    by_id = [item for item in known if len(sweep) >= ENOUGH_ID and item.sweep_id.startswith(sweep)]
    if len(by_id) > 1:
        raise SwingbyError(f"{sweep} fits several sweeps: {', '.join(item.sweep_id for item in by_id)}")
    if by_id:
        return by_id[0]
    raise SwingbyError(f"no sweep {sweep!r} here; {registry.nearest(sweep, sorted({item.name for item in known}))}")


def sweep_rows(data: Path, sweep: str, points: bool = False) -> pa.Table:
    """Every cell of a sweep with its outcomes (or every recorded point), as one table."""
    with Store.open(data) as store:
        found = find_sweep(store, sweep)
        name = found.experiment
        if points:
            query = f'select p.* from "{name}_points" p semi join members m on m.cell_id = p.cell_id and m.sweep_id = ?'
            return store.sql(query, [found.sweep_id]).arrow()
        tables = store.tables()
        outcomes = [f"outcomes_{item.name}" for item in registry.detectors_for(name)]
        joined = [table for table in outcomes if table in tables]
        columns = ["m.point", "e.*", *(f'"{table}".* exclude (cell_id, {SHARD})' for table in joined)]
        # Outcomes of the very row that stands for the cell; which row that is, `e.shard` says already.
        joins = " ".join(
            f'left join "{table}" on "{table}".cell_id = e.cell_id and "{table}".{SHARD} = e.shard' for table in joined
        )
        query = (
            f'select {", ".join(columns)} from members m join "{name}" e on e.cell_id = m.cell_id {joins} '
            "where m.sweep_id = ? order by m.point, e.seed"
        )
        return store.sql(query, [found.sweep_id]).arrow()


def find_cell(store: Store, start: str) -> tuple[str, str]:
    """The full id of a cell, from its first digits, and its experiment.

    Raises:
        SwingbyError: none fits, or several do.
    """
    experiments = sorted({item.experiment for item in known_sweeps(store)})
    tables = store.tables()
    found: list[tuple[str, str]] = []
    for name in (name for name in experiments if name in tables):
        rows = store.sql(f'select cell_id from "{name}" where starts_with(cell_id, ?) limit 3', [start]).rows()
        found += [(row.cell_id, name) for row in rows]
    if not found:
        raise SwingbyError(f"no cell {start!r} has a row here; ids: swingby sql 'select cell_id from members limit 5'")
    if len(found) > 1:
        raise SwingbyError(
            f"{start!r} fits several cells ({', '.join(cell for cell, _ in found)}, ...): give more digits"
        )
    return found[0]


def sweep_status(data: Path, sweep: str | None = None) -> list[SweepStatus]:
    """How far each sweep is (or the one named), the newest first, as of the last publication.

    Raises:
        SwingbyError: no such sweep, or no data folder.
    """
    records = Records.open(data, create=False)
    with Store.open(data) as store:
        chosen = known_sweeps(store) if sweep is None else [find_sweep(store, sweep)]
        folded = {row.shard for row in store.sql("select shard from shards").rows()}
        waiting = len(set(records.shards()) - folded)
        return [_status(store, records, item, waiting) for item in chosen]


MOST_FAILURES = 10
"""Cells that failed and are listed one by one."""


def failures(store: Store, experiment: str, sweep_id: str) -> tuple[tuple[str, str], ...]:
    """The first cells of a sweep that failed, with the first line of what is told of each."""
    if experiment not in store.tables():
        return ()
    query = f"""select e.cell_id, e.message from members m join "{experiment}" e using (cell_id)
                where m.sweep_id = ? and e.status = 'failed' order by e.cell_id limit {MOST_FAILURES}"""
    rows = store.sql(query, [sweep_id]).rows()
    return tuple((row.cell_id, ((row.message or "").splitlines() or [""])[0]) for row in rows)


def failure_lines(found: Sequence[tuple[str, str]], failed: int) -> list[str]:
    """They as a reader wants them, and what can be done."""
    lines = [f"  cell {cell_id[:12]} failed: {message}" for cell_id, message in found]
    if failed > len(found):
        lines.append(f"  and {failed - len(found):,} cells more failed")
    return [*lines, "  --retry-failed trains them again"] if failed else []


def standing(store: Store, experiment: str, sweep_id: str) -> dict[str, int]:
    """How many cells of a sweep have a final row, by status (ok, diverged, failed)."""
    counts = {"ok": 0, "diverged": 0, "failed": 0}
    if experiment in store.tables():
        query = f"""select e.status, count(*) as cells from members m join "{experiment}" e using (cell_id)
                    where m.sweep_id = ? and e.status <> 'running' group by e.status"""
        counts |= {row.status: row.cells for row in store.sql(query, [sweep_id]).rows()}
    return counts


def _status(store: Store, records: Records, sweep: KnownSweep, waiting: int) -> SweepStatus:
    counts = standing(store, sweep.experiment, sweep.sweep_id)
    return SweepStatus(
        sweep.name,
        sweep.sweep_id,
        sweep.experiment,
        sweep.cells,
        counts["ok"],
        counts["diverged"],
        counts["failed"],
        sweep.cells - sum(counts.values()),
        records.holder(sweep.sweep_id),
        waiting,
    )


def shown_so(records: Records, sweep: Sweep) -> bool:
    """Whether the newest plan shows a sweep as it is written now."""
    with Store.open(records.data) as store:
        rows = store.sql("select resolved from sweeps where sweep_id = ?", [sweep.sweep_id]).rows()
    wanted = json.loads(json.dumps(sweep.presentation))
    return bool(rows) and wanted.items() <= json.loads(rows[0].resolved).items()


def refused(records: Records, start: str) -> list[str]:
    """Records whose names begin so and that the store lists as bad, with the reasons."""
    with Store.open(records.data) as store:
        query = "select shard, reason from bad_shards where starts_with(shard, ?) order by shard"
        return [f"{row.shard}: {row.reason}" for row in store.sql(query, [start]).rows()]


AGAIN = "run the sweep again: `swingby run` trains such a cell anew"


def data_findings(data: Path) -> Iterator[tuple[Verdict, str, str]]:
    """What a doctor says of a data folder: verdict, detail, remedy."""
    records = Records.open(data, create=False)
    yield "ok", f"{data}: {len(records.plans())} plans, {len(records.shards())} shards", ""
    with Store.open(data) as store:
        bad = store.sql("select shard, reason from bad_shards").rows()
        folded = {row.shard for row in store.sql("select shard from shards").rows()}
        gaps = store.gaps()
    for row in bad:
        yield "fault", f"shard {row.shard}: {row.reason}", "move the file away and run the sweep again"
    for gap in gaps[:MOST_FAILURES]:
        sweeps = ", ".join(gap.sweeps) or "no sweep here"
        yield "warn", f"cell {gap.cell_id[:12]} of {sweeps}: a piece of its curve is lost", AGAIN
    if len(gaps) > MOST_FAILURES:
        yield "warn", f"{len(gaps) - MOST_FAILURES:,} cells more lack a piece of their curve", AGAIN
    waiting = len(set(records.shards()) - folded) - len(bad)
    if waiting > 0:
        yield "warn", f"{waiting} shards are not in the store yet", "swingby ingest"
