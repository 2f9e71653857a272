"""What is done before results are read: new records are ingested, and outcomes of new cells are derived.

The outcomes become records, too. Where a folder may only be read, its last publication is all there is to read.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from swingby.data.records import Records
from swingby.data.records.headers import WHOLE
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.detector import Detector
from swingby.run.expressions import Task, Written, bind, expression_tasks, written_in
from swingby.store import Layout, Store, ingest
from swingby.store.reading import EVERY_ROW
from swingby.store.sql import quoted
from swingby.store.status import shards_to_ingest
from swingby.sweepfile.sweep import Sweep
from swingby.units import counted

CHUNK = 10_000
"""Cells a detector sees at once: 200 points each of four doubles are 65 MB."""
KEY = ("cell_id",)
SHARD = "of_shard"
"""The column with the shard of the row that an outcome was computed from; another row needs another outcome."""
_REFUSALS = (errno.EROFS, errno.EACCES, errno.EPERM)


@dataclass(frozen=True, slots=True)
class AsPublished:
    """What a reader sees of a data folder that cannot be written: the last publication.

    Attributes:
        reason: why it cannot be written.
        published: when it was.
        waiting: shards that are not in it.
    """

    reason: str
    published: datetime
    waiting: int

    def __str__(self) -> str:
        shown = f"this shows what was published on {self.published:%Y-%m-%d %H:%M} UTC"
        if self.waiting:
            verb = "is" if self.waiting == 1 else "are"
            shown += f"; {counted(self.waiting, 'shard')} that came later {verb} not in it"
        return f"The data folder may only be read ({self.reason}): {shown}."


def refresh(records: Records) -> AsPublished | None:
    """Ingests what is new; where this process may not write, returns what it can read instead.

    Raises:
        SwingbyError: as `ingest`; or nothing was ever published in a folder that cannot be written.
    """
    try:
        ingest(records)
    except SwingbyError as error:
        newest, cause = Layout(records.data).newest(), error.__cause__
        if newest is None or not isinstance(cause, OSError) or cause.errno not in _REFUSALS:
            raise
        with Store.open(records.data) as store:
            waiting = shards_to_ingest(store, records)
        return AsPublished(str(cause.strerror), datetime.fromtimestamp(newest.published, UTC), waiting)
    return None


def tasks_of(
    store: Store, sweep_ids: Sequence[str] | None, experiments: Iterable[str], written: Mapping[Any, Mapping[str, str]]
) -> tuple[list[Task], list[str]]:
    """What is to be derived: by every installed detector, then every expression; and faults of expressions."""
    ids = None if sweep_ids is None else tuple(sweep_ids)
    tasks = [
        Task(name, detector, ids)
        for name in experiments
        for detector in registry.detectors_for(name, store.columns(name))
    ]
    expressions, faults = expression_tasks(written, store)
    return [*tasks, *expressions], faults


def derive(records: Records, sweep_ids: Sequence[str] | None = None, outcomes: Written | None = None) -> dict[str, int]:
    """Applies installed detectors, and expressions of sweep files, to finished cells they have not seen; then ingests.

    Args:
        records: the data folder; ingest first what is new.
        sweep_ids: only cells of these sweeps; None: all.
        outcomes: sweep id -> the outcomes that its file writes now; of any other sweep they are those of its last plan.

    Returns:
        How many cells each detector was applied to.

    Raises:
        SwingbyError: a detector raised for some cells, or an expression cannot be computed (all other outcomes are
            kept); a detector breaks its contract; or the disk refuses.
    """
    counts = dict[str, int]()
    with Store.open(records.data) as store:
        rows = store.sql("select distinct experiment from sweeps order by all").rows()
        written = written_in(store, sweep_ids, outcomes or {})
        tasks, failed = tasks_of(store, sweep_ids, [row.experiment for row in rows], written)
        bound = bind(records, store, written)
        for task in tasks:
            detector = task.detector
            counts.setdefault(detector.name, 0)
            for table in cells_without_outcome(store, task.experiment, detector, task.sweep_ids, CHUNK):
                tables, faults = detect(detector, table)
                failed += faults.values()
                if tables:
                    counts[detector.name] += write_outcomes(records, task.experiment, detector, tables)[1]
    if bound is not None or any(counts.values()):
        ingest(records)
    if failed:
        more = f" (and {len(failed) - 3:,} more)" if len(failed) > 3 else ""
        raise SwingbyError(f"no outcome of {'; '.join(failed[:3])}{more}; all other outcomes are kept")
    return counts


def outcome_not_recorded(records: Records, sweep: Sweep) -> str | None:
    """What is wrong with the outcome that a diagram shows, of an experiment whose columns are known by its results.

    Any other experiment declares its columns, so that the name of an outcome is checked as the file is read.
    """
    outcome = sweep.outcome if sweep.diagram is None else sweep.diagram.outcome
    if outcome is None or outcome in sweep.outcomes or not getattr(sweep.experiment, "discovers", False):
        return None
    query = "select name, role from ix.columns where experiment = ?"
    with Store.open(records.data) as store:
        columns = store.sql(query, [sweep.experiment_name]).rows()
    known = [row.name for row in columns if row.role == "scalar"]
    known += [f"final_{row.name}" for row in columns if row.role == "curve"]
    known += [name for one in registry.detectors_for(sweep.experiment_name) for name in one.outcomes]
    if not columns or outcome in {*known, "status"}:
        return None
    hint = registry.nearest(outcome, known)
    return f"the runs of {sweep.name!r} recorded no {outcome!r}, which its diagram shows; {hint}"


def write_outcomes(
    records: Records, experiment: str, detector: Detector, tables: Sequence[pa.Table]
) -> tuple[str, int]:
    """Writes a detector's outcomes as a derived file; returns its name, and the number of cells in it."""
    outcomes = pa.concat_tables(tables)
    path = records.write_derived(f"outcomes_{detector.name}", detector.version, KEY, outcomes, experiment=experiment)
    return f"{path.parent.name}/{path.name}", outcomes.num_rows


def detect(detector: Detector, table: pa.Table) -> tuple[list[pa.Table], dict[str, str]]:
    """The outcomes of a table's cells, and a message by id for each cell at which the detector raises.

    A table at which it raises is halved until the cells at fault are found.

    Raises:
        SwingbyError: the detector breaks its contract.
    """
    try:
        return [_detect_checked(detector, table)], {}
    except SwingbyError:
        raise
    except Exception as error:
        if table.num_rows == 1:
            cell_id, reason = table["cell_id"][0].as_py(), f"{type(error).__name__}: {error}"
            return [], {cell_id: f"cell {cell_id} by {detector} ({reason})"}
    half = table.num_rows // 2
    first, faults = detect(detector, table.slice(0, half))
    second, more = detect(detector, table.slice(half))
    return [*first, *second], faults | more


def cells_without_outcome(
    store: Store,
    experiment: str,
    detector: Detector,
    sweep_ids: Sequence[str] | None,
    most: int,
    read_as: Sequence[str] = (EVERY_ROW,),
) -> Iterator[pa.Table]:
    """Tables of results that a detector has not seen, with the columns it needs; about `most` neighbouring cells each.

    Args:
        read_as: as which sweeps cells are read; by default each recording of a cell is a result of its own.
    """
    there = store.columns(experiment)
    if not there:
        return
    needs = [f"e.{quoted(name)}" if name in there else f"null as {quoted(name)}" for name in detector.needs]
    known = f"outcomes_{detector.name}_all"
    unseen = (
        f"and not exists (select 1 from {quoted(known)} o where o.cell_id = e.cell_id and o.version = $version "
        f"and o.{SHARD} = e.shard)"
        if known in store.names()
        else ""
    )
    condition = (
        "and e.cell_id in (select cell_id from members where list_contains($sweeps, sweep_id))"
        if sweep_ids is not None
        else ""
    )
    # A row without a token is an archived result: unless it is whole, its curves are too thin and its scalars too rough
    # for a detector. Of an experiment that is not installed, nobody knows which columns are parameters.
    thin = registry.known(experiment) and not detector.needs_results(registry.experiment(experiment))
    cells = f"""from {quoted(experiment)} e
                where e.status in ('ok', 'diverged') {unseen} {condition}
                  and ($thin or len(e.recorded) > 0 or e.shard in (select shard from shards where shape = $whole))"""
    named = {"version": detector.version, "sweeps": list(sweep_ids or ()), "thin": thin, "whole": WHOLE}

    def ask(query: str, **more: Any) -> pa.Table:
        used = {name: value for name, value in (named | more).items() if f"${name}" in query}
        with store.reading_as(*read_as):
            return store.sql(query, used).arrow()

    counts = ask(f"select e.shard, count(*) as cells {cells} group by e.shard order by e.shard")
    for shards, parts in _chunks(counts["shard"].to_pylist(), counts["cells"].to_pylist(), most):
        for part in range(parts):
            query = f"""select {", ".join(["e.cell_id", f"e.shard as {SHARD}", *needs])} {cells}
                        and list_contains($shards, e.shard) and hash(e.cell_id) % $parts = $part"""
            table = ask(query, shards=shards, parts=parts, part=part)
            if table.num_rows:
                yield table


def _chunks(shards: Sequence[str], cells: Sequence[int], most: int) -> Iterator[tuple[list[str], int]]:
    """Groups of shards with about `most` cells together, and the number of parts that a larger one is split into."""
    group, held = list[str](), 0
    for shard, count in zip(shards, cells, strict=True):
        if group and held + count > most:
            yield group, -(-held // most)
            group, held = [], 0
        group.append(shard)
        held += count
    if group:
        yield group, -(-held // most)


def _detect_checked(detector: Detector, table: pa.Table) -> pa.Table:
    """A detector's outcomes in the columns it declares, with the shard of each row.

    Raises:
        SwingbyError: columns are missing, or the rows are others.
    """
    outcomes = detector.detect(table.drop_columns([SHARD]))
    expected = ["cell_id", *detector.outcomes]
    missing = [name for name in expected if name not in outcomes.column_names]
    if missing or not outcomes["cell_id"].equals(table["cell_id"]):
        why = f"no column {', '.join(missing)}" if missing else "other rows than it was given"
        raise SwingbyError(f"{detector} breaks its contract: it returns {why}")
    schema = pa.schema([("cell_id", pa.string()), *((name, column.type) for name, column in detector.outcomes.items())])
    return outcomes.select(expected).cast(schema).append_column(SHARD, table[SHARD])
