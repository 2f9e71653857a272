"""Deriving: every installed detector looks at the cells that lack its version, and what it says becomes records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.detector import Detector
from swingby.store import Store, ingest

CHUNK = 10_000
"""Cells a detector sees at once: 200 points each of four doubles are 65 MB."""
KEY = ("cell_id",)
SHARD = "of_shard"
"""The column that says from which shard's row an outcome was computed; another row needs another outcome."""
WHOLE = "recorded whole"
"""What a shard of recorded results calls its shape if they have their curves whole."""


def derive(records: Records, sweep_ids: Sequence[str] | None = None) -> dict[str, int]:
    """Applies every installed detector to the cells with a result that it has not seen, then ingests the outcomes.

    Args:
        records: the data folder; ingest first what is new.
        sweep_ids: only cells of these sweeps; None: all.

    Returns:
        How many cells each detector was applied to.

    Raises:
        SwingbyError: a detector raised for some cells (what it and others said of the rest is kept), is not what it
            declares, or the disk refuses.
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
    """How many cells the detector told of, and of which it raised: in words, by their ids."""
    count, failed = 0, dict[str, str]()
    for table in lacking(store, experiment, detector, sweep_ids, CHUNK):
        said, wrong = told(detector, table)
        failed |= wrong
        if said:
            count += write(records, experiment, detector, said)[1]
    return count, failed


def write(records: Records, experiment: str, detector: Detector, said: Sequence[pa.Table]) -> tuple[str, int]:
    """Keeps what a detector said; the name of the derived file, and of how many cells it tells."""
    outcomes = pa.concat_tables(said)
    path = records.write_derived(f"outcomes_{detector.name}", detector.version, KEY, outcomes, experiment=experiment)
    return f"{path.parent.name}/{path.name}", outcomes.num_rows


def told(detector: Detector, table: pa.Table) -> tuple[list[pa.Table], dict[str, str]]:
    """What the detector says of a table; where it raises, of its halves, down to the cells at fault: id -> in words.

    Raises:
        SwingbyError: it is not what it declares.
    """
    try:
        return [_checked(detector, table)], {}
    except SwingbyError:
        raise
    except Exception as error:
        if table.num_rows == 1:
            cell_id, reason = table["cell_id"][0].as_py(), f"{type(error).__name__}: {error}"
            return [], {cell_id: f"cell {cell_id} by detector {detector.name!r} ({reason})"}
    half = table.num_rows // 2
    (first, wrong), (second, more) = told(detector, table.slice(0, half)), told(detector, table.slice(half))
    return [*first, *second], wrong | more


def lacking(
    store: Store, experiment: str, detector: Detector, sweep_ids: Sequence[str] | None, most: int
) -> Iterator[pa.Table]:
    """What the detector needs of the cells it has not seen: about `most` at once, which lie together in the store."""
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
    # A row without a token is a recorded result, whose curves are too thin to tell anything from, unless it is whole.
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
    """Shards that have about `most` cells together; of a larger one, how many parts it should come in."""
    group, held = list[str](), 0
    for shard, count in zip(shards, cells, strict=True):
        if group and held + count > most:
            yield group, -(-held // most)
            group, held = [], 0
        group.append(shard)
        held += count
    if group:
        yield group, -(-held // most)


def _checked(detector: Detector, table: pa.Table) -> pa.Table:
    """What the detector says, in the columns it declares, and the shards it said it of."""
    said = detector.detect(table.drop_columns([SHARD]))
    expected = ["cell_id", *detector.outcomes]
    missing = [name for name in expected if name not in said.column_names]
    if missing or not said["cell_id"].equals(table["cell_id"]):
        why = f"no column {', '.join(missing)}" if missing else "other rows than it was given"
        raise SwingbyError(f"detector {detector.name!r} breaks its contract: it returns {why}")
    schema = pa.schema([("cell_id", pa.string()), *((name, column.type) for name, column in detector.outcomes.items())])
    return said.select(expected).cast(schema).append_column(SHARD, table[SHARD])
