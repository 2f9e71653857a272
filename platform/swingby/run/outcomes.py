"""Outcomes: every installed detector sees the cells without an outcome of its version; its tables become records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.detector import Detector
from swingby.store import Store, ingest

CHUNK = 10_000
"""Cells a detector sees at once: 200 points each of four doubles are 65 MB."""
KEY = ("cell_id",)
SHARD = "of_shard"
"""The column with the shard of the row that an outcome was computed from; another row needs another outcome."""
WHOLE = "recorded whole"
"""The shape of a shard of archived results whose curves are whole."""
TURN_EVERY = 10.0
"""Least seconds from one turn of `LiveOutcomes` to the next: each leaves a file, and a run may take days."""
TURN_COST = 10.0
"""Least time from one turn to the next, in multiples of what the last turn took."""
SHARD_GROWTH = 1.01
"""Growth of the number of shards that makes a turn worth it: a run of any length leaves some hundred files."""
TURN_SECONDS = 1.0
"""Seconds after which a turn reads no more cells."""
TURN_CELLS = 1_000
"""Cells that a detector sees at once in a turn, so that a turn takes hardly longer than TURN_SECONDS."""
FAULTS = 20
"""Cells for which a detector may raise; after that it waits for the end of the run, which names them all."""


def derive(records: Records, sweep_ids: Sequence[str] | None = None) -> dict[str, int]:
    """Applies every installed detector to the finished cells that it has not seen, then ingests the outcomes.

    Args:
        records: the data folder; ingest first what is new.
        sweep_ids: only cells of these sweeps; None: all.

    Returns:
        How many cells each detector was applied to.

    Raises:
        SwingbyError: a detector raised for some cells (all other outcomes are kept), breaks its contract, or the disk
            refuses.
    """
    counts: dict[str, int] = {}
    failed: list[str] = []
    with Store.open(records.data) as store:
        for experiment in sorted(
            {row.experiment for row in store.sql("select distinct experiment from sweeps").rows()}
        ):
            for detector in registry.detectors_for(experiment):
                done, wrong = _apply(records, store, experiment, detector, sweep_ids)
                counts[detector.name] = counts.get(detector.name, 0) + done
                failed += wrong.values()
    if any(counts.values()):
        ingest(records)
    if failed:
        more = f" (and {len(failed) - 3:,} more)" if len(failed) > 3 else ""
        raise SwingbyError(f"no outcome of {'; '.join(failed[:3])}{more}; all other outcomes are kept")
    return counts


def _apply(
    records: Records, store: Store, experiment: str, detector: Detector, sweep_ids: Sequence[str] | None
) -> tuple[int, dict[str, str]]:
    """Applies one detector to all cells it has not seen; returns how many cells got outcomes, and faults by cell id."""
    count, faults = 0, dict[str, str]()
    for table in cells_without_outcome(store, experiment, detector, sweep_ids, CHUNK):
        tables, wrong = detect(detector, table)
        faults |= wrong
        if tables:
            count += write_outcomes(records, experiment, detector, tables)[1]
    return count, faults


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
            return [], {cell_id: f"cell {cell_id} by detector {detector.name!r} ({reason})"}
    half = table.num_rows // 2
    first, wrong = detect(detector, table.slice(0, half))
    second, more = detect(detector, table.slice(half))
    return [*first, *second], wrong | more


def cells_without_outcome(
    store: Store, experiment: str, detector: Detector, sweep_ids: Sequence[str] | None, most: int
) -> Iterator[pa.Table]:
    """Tables of cells that a detector has not seen, with the columns it needs; about `most` neighbouring cells each."""
    tables = store.tables()
    if experiment not in tables:
        return
    there = {name for name, _ in tables[experiment]}
    needs = [f'e."{name}"' if name in there else f'null as "{name}"' for name in detector.needs]
    known = f"outcomes_{detector.name}_all"
    seen = (
        f'and not exists (select 1 from "{known}" o where o.cell_id = e.cell_id and o.version = $version '
        f"and o.{SHARD} = e.shard)"
        if known in tables
        else ""
    )
    wanted = (
        "and e.cell_id in (select cell_id from members where list_contains($sweeps, sweep_id))"
        if sweep_ids is not None
        else ""
    )
    # A row without a token is an archived result, whose curves are too thin for a detector, unless it is whole.
    unseen = f"""from "{experiment}" e
                  where e.status in ('ok', 'diverged') {seen} {wanted}
                    and (len(e.recorded) > 0 or e.shard in (select shard from shards where shape = '{WHOLE}'))"""
    named = {"version": detector.version, "sweeps": list(sweep_ids or ())}

    def ask(query: str, **more: Any) -> pa.Table:
        used = {name: value for name, value in (named | more).items() if f"${name}" in query}
        return store.sql(query, used).arrow()

    counts = ask(f"select e.shard, count(*) as cells {unseen} group by e.shard order by e.shard")
    for shards, parts in _chunks(counts["shard"].to_pylist(), counts["cells"].to_pylist(), most):
        for part in range(parts):
            query = f"""select {", ".join(["e.cell_id", f"e.shard as {SHARD}", *needs])} {unseen}
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
    found = detector.detect(table.drop_columns([SHARD]))
    expected = ["cell_id", *detector.outcomes]
    missing = [name for name in expected if name not in found.column_names]
    if missing or not found["cell_id"].equals(table["cell_id"]):
        why = f"no column {', '.join(missing)}" if missing else "other rows than it was given"
        raise SwingbyError(f"detector {detector.name!r} breaks its contract: it returns {why}")
    schema = pa.schema([("cell_id", pa.string()), *((name, column.type) for name, column in detector.outcomes.items())])
    return found.select(expected).cast(schema).append_column(SHARD, table[SHARD])


class LiveOutcomes:
    """Short turns of deriving while some sweeps run, so that their maps fill in before the end.

    A detector that raises ends no turn: the end of the run derives again, and reports it.

    Args:
        records: the data folder.
        sweep_ids: the sweeps whose cells are derived.
        stop: true at the end of the run, or once it was asked to stop: no turn begins, and one that goes on ends.
        line: shows a line of text to the user.
    """

    def __init__(
        self, records: Records, sweep_ids: Sequence[str], stop: Callable[[], bool], line: Callable[[str], None]
    ) -> None:
        self._records, self._sweep_ids, self._stop, self._line = records, list(sweep_ids), stop, line
        self._due = time.monotonic() + TURN_EVERY
        self._shards = 0
        self._written: set[str] = set()
        self._failed: dict[str, set[str]] = {}
        self._waiting: set[str] = set()

    def turn(self, shards: int) -> bool:
        """Takes a turn if one is due at this number of shards; true if it wrote outcomes, which are to be ingested.

        Raises:
            SwingbyError: the store cannot be read, or the disk refuses.
        """
        if time.monotonic() < self._due or shards <= SHARD_GROWTH * self._shards or self._stop():
            return False
        start = time.monotonic()
        try:
            with Store.open(self._records.data) as store:
                # Outcomes of the last turn are seen only once they are published: their cells would be derived again.
                names = [f"derived/{name}" for name in self._written]
                query = "select count(*) as ingested from ix.records where list_contains(?, record)"
                published = not names or store.sql(query, [names]).rows()[0].ingested == len(names)
                return published and self._derive(store, start)
        finally:
            now = time.monotonic()
            self._due = now + max(TURN_EVERY, TURN_COST * (now - start))

    def _derive(self, store: Store, start: float) -> bool:
        self._written = set()
        whole = True
        query = "select distinct experiment from sweeps where list_contains(?, sweep_id) order by all"
        for row in store.sql(query, [self._sweep_ids]).rows():
            for detector in registry.detectors_for(row.experiment):
                if detector.name not in self._waiting:
                    whole = self._apply(store, row.experiment, detector, start) and whole
        if whole:  # all that is published; other shards are for the next turn
            self._shards = store.sql("select count(*) as seen from shards").rows()[0].seen
        return bool(self._written)

    def _apply(self, store: Store, experiment: str, detector: Detector, start: float) -> bool:
        """Applies one detector within a turn; true if it saw every published cell."""
        tables: list[pa.Table] = []
        failed, whole = self._failed.setdefault(detector.name, set()), True
        try:
            for table in cells_without_outcome(store, experiment, detector, self._sweep_ids, TURN_CELLS):
                known = pc.call_function(
                    "is_in", [table["cell_id"]], pc.SetLookupOptions(pa.array(failed, pa.string()))
                )
                fresh = table.filter(pc.call_function("invert", [known]))
                if fresh.num_rows:
                    found, faults = detect(detector, fresh)
                    tables += found
                    failed |= faults.keys()
                if len(failed) > FAULTS:
                    self._postpone(detector, f"it raised for {len(failed)} cells")
                    break
                if self._stop() or time.monotonic() - start > TURN_SECONDS:
                    whole = False
                    break
        except Exception as error:
            self._postpone(detector, f"{type(error).__name__}: {error}")
            whole = True
        if tables:
            self._written.add(write_outcomes(self._records, experiment, detector, tables)[0])
        return whole

    def _postpone(self, detector: Detector, reason: str) -> None:
        """Leaves a detector to the end of the run."""
        self._waiting.add(detector.name)
        self._line(f"outcomes by detector {detector.name!r} wait for the end of the run: {reason}")
