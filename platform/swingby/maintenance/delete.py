"""Deleting: a sweep goes, with every result that no other sweep needs, and its files; and renaming one.

What goes is taken back first (see `retract`), so that whoever dies in between leaves nothing that counts as a result,
and a second deletion does the rest. Files of results go only where no cell in them stays; of a file that stays, the
other cells stay taken back. A plan goes with its last file; one that is still named by results keeps what it says of
their origin, and lists no cell. Last the store is made again from what is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from swingby.data.files import clear_os_errors, files_below, remove_whole
from swingby.data.parquet import write_parquet
from swingby.data.records import Records
from swingby.data.records.retractions import Retraction
from swingby.errors import SwingbyError
from swingby.run.commit_lock import commit_lock, newest_plans, plan_token, planning_lock
from swingby.store import Store, ingest, rebuild
from swingby.store.lookup import KnownSweep, find_sweep, known_sweeps
from swingby.store.sql import quoted
from swingby.store.views import RENAMED
from swingby.sweepfile.loader import NAME_RULE, SLUG
from swingby.units import duration

REASON = "the sweep was deleted"
DOOMED = """
select distinct cell_id from members m where sweep_id = $sweep
and not exists (select 1 from members o where o.cell_id = m.cell_id and o.sweep_id <> $sweep)"""
"""The cells of a sweep that no other sweep has."""
SHARED = """
select s.name, count(distinct m.cell_id) as cells from members m join sweeps s using (sweep_id)
where m.sweep_id <> $sweep and m.cell_id in (select cell_id from members where sweep_id = $sweep)
group by s.name order by s.name"""
SHARDS = f"""
with doomed as ({DOOMED}), needed as (select distinct cell_id from members where sweep_id <> $sweep)
select s.shard, any_value(s.seconds) as seconds, any_value(s.device) as device, count(*) as "rows",
       count(*) filter (r.cell_id in (from doomed)) as doomed, count(*) filter (r.cell_id in (from needed)) as needed
from ix.rows.{{table}} r join shards s using (shard) group by s.shard having doomed > 0 order by s.shard"""
"""The files with rows of these cells. In them may be cells of neither kind, of a sweep that was deleted before."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """What the deletion of a sweep removes, or would.

    Attributes:
        sweep: the sweep.
        cells: its cells that go; shared: how many of its cells stay with which other sweeps, by their names.
        trained: how many of those that go have rows.
        seconds: of training that made these, by the kind of device: CPU and GPU.
        shards: files of results that go; mixed: those that stay since other sweeps have cells in them.
        derived: files of outcomes that go.
        bytes: of all files that go.
        rows: the cells that go and the shards with their rows, as a retraction has them.
    """

    sweep: KnownSweep
    cells: int
    shared: Mapping[str, int]
    trained: int
    seconds: Mapping[str, float]
    shards: tuple[str, ...]
    mixed: tuple[str, ...]
    derived: tuple[str, ...]
    bytes: int
    rows: pa.Table = field(repr=False, compare=False)

    @property
    def costs(self) -> str:
        """The time of training that is lost, in words; "" where there is none."""
        return " and ".join(f"{duration(of)} of a {kind}" for kind, of in self.seconds.items() if of)


def delete(data: str | Path, sweep: str, dry_run: bool = False) -> Deletion:
    """Deletes a sweep from a data folder: its results, save those that another sweep needs, and all else it left there.

    Args:
        sweep: its name, id, or file.
        dry_run: remove nothing, and go by the last publication.

    Raises:
        SwingbyError: no such sweep, or several of that name; it is being run: says by whom; or the folder mirrors
            object storage, to which any other machine would bring the files back.
    """
    records = Records.open(data, create=False)
    if records.mirror is not None:
        raise SwingbyError(
            f"{records.where} is object storage: any machine with a copy would bring a deleted sweep back. "
            "`swingby retract` takes its results back"
        )
    if dry_run:
        with Store.open(records.data) as store:
            return _deletion(store, records, find_sweep(store, sweep, sole=True))
    ingest(records)
    with Store.open(records.data) as store:
        known = find_sweep(store, sweep, sole=True)
    with ExitStack() as stack:
        stack.enter_context(records.lock(known.sweep_id))
        # What another sweep is about to count as its own is known once its plan is there.
        stack.enter_context(planning_lock(records, known.experiment))
        stack.enter_context(commit_lock(records, known.sweep_id))
        ingest(records)
        with Store.open(records.data) as store:
            done = _deletion(store, records, known)
        _remove(records, done)
        rebuild(records)
    return done


def _deletion(store: Store, records: Records, known: KnownSweep) -> Deletion:
    of = {"sweep": known.sweep_id}
    doomed = store.sql(DOOMED, of).arrow()["cell_id"].to_pylist()
    shared = {row.name: row.cells for row in store.sql(SHARED, of).rows()}
    seconds, whole, mixed = {"CPU": 0.0, "GPU": 0.0}, list[str](), list[str]()
    if known.experiment in store.names():
        for row in store.sql(SHARDS.format(table=quoted(known.experiment)), of).rows():
            kind = "GPU" if row.device.startswith("cuda") else "CPU"
            seconds[kind] += (row.seconds or 0.0) * row.doomed / row.rows
            (mixed if row.needed else whole).append(row.shard)
    rows = store.shards_of(known.experiment, doomed)
    derived = sorted(_derived(store, of))
    files = [*(records.shard_path(name) for name in whole), *(records.data / name for name in derived)]
    files += files_below(records.data / "work" / known.sweep_id)
    size = sum(path.stat().st_size for path in files if path.is_file())
    trained = len(rows["cell_id"].unique())
    return Deletion(
        known, len(doomed), shared, trained, seconds, tuple(whole), tuple(mixed), tuple(derived), size, rows
    )


def _derived(store: Store, of: Mapping[str, str]) -> Iterator[str]:
    """The derived files with nothing but what is said of cells that go, or of the sweep itself."""
    columns: dict[str, set[str]] = {}
    names = """select table_name, column_name from duckdb_columns()
               where database_name = 'ix' and schema_name = 'derived'"""
    for row in store.sql(names).rows():
        columns.setdefault(row.table_name, set()).add(row.column_name)
    for kind, known in columns.items():
        goes = [f"cell_id in ({DOOMED})"] if "cell_id" in known else []
        goes += ["sweep_id = $sweep"] if "sweep_id" in known else []
        if goes:
            query = f"""select record from ix.derived.{quoted(kind)} group by record
                        having count(*) = count(*) filter ({" or ".join(goes)})"""
            yield from (row.record for row in store.sql(query, of).rows())


def _remove(records: Records, done: Deletion) -> None:
    """Removes what goes; each step may be the last of a process that dies, and is done again by the next deletion."""
    sweep_id, keeps = done.sweep.sweep_id, set(done.mixed)
    goes = pa.array([shard not in keeps for shard in done.rows["shard"].to_pylist()], pa.bool_())
    closed = tuple(map(plan_token, newest_plans(records, [sweep_id])))
    # Two records: that on files which go is needed until they are gone.
    for table in (done.rows.filter(pc.call_function("invert", [goes])), done.rows.filter(goes)):
        if table.num_rows:
            records.write_retraction(Retraction(REASON, sweep_id, done.sweep.name, closed=closed, table=table))
    with clear_os_errors(f"delete the files of {done.sweep.name}"):
        for path in (*map(records.shard_path, done.shards), *(records.data / name for name in done.derived)):
            path.unlink(missing_ok=True)
        work = records.data / "work" / sweep_id
        if work.is_dir():
            remove_whole(work)
        _clear_plans(records, sweep_id, {name.partition("/")[0] for name in done.shards})
        for name in list(_needless(records)):
            (records.data / "retractions" / name).unlink(missing_ok=True)


def _clear_plans(records: Records, sweep_id: str, touched: Iterable[str]) -> None:
    """Removes the plans of a sweep that no file of results names any more, and those of earlier deletions among
    `touched`; a plan that is still named keeps its header and lists no cell."""
    for plan_id in records.plans():
        folder = records.data / "shards" / plan_id
        if plan_id.split("-")[-2:-1] != [sweep_id[:8]] and plan_id not in touched:
            continue
        with suppress(SwingbyError):  # a torn plan names no sweep, and `doctor` reports it
            plan = records.read_plan(plan_id)
            if plan.sweep_id != sweep_id and plan.table.num_rows:
                continue
            path = records.data / "plans" / f"{plan_id}.parquet"
            if not any(folder.glob("*.parquet")):
                path.unlink(missing_ok=True)
                with suppress(OSError):  # it is not there, or not empty
                    folder.rmdir()
            elif plan.table.num_rows:
                header = {name: value for name, value in plan.header().items() if name != "decision"}
                write_parquet(path, plan.table.slice(0, 0), header)


def _needless(records: Records) -> Iterator[str]:
    """The retractions by deletions that take back nothing which is still there."""
    there = set(records.shards())
    for name in records.retractions():
        with suppress(SwingbyError):
            known = records.read_retraction(name)
            if known.reason == REASON and there.isdisjoint(known.table["shard"].to_pylist()):
                yield name


def rename(data: str | Path, sweep: str, name: str) -> KnownSweep:
    """Gives a sweep another name in a data folder; its file, its plans and its id stay as they are.

    Args:
        sweep: its name, id, or file.
        name: the new one; that in its file takes an earlier renaming back.

    Returns:
        The sweep as it was.

    Raises:
        SwingbyError: no such sweep, or several of that name; or another sweep has the new name, here or in its file; or
            it is not one that a sweep can have.
    """
    if not SLUG.fullmatch(name):
        raise SwingbyError(f"{name!r} cannot name a sweep; {NAME_RULE}")
    records = Records.open(data, create=False)
    ingest(records)
    with Store.open(records.data) as store:
        known = find_sweep(store, sweep, sole=True)
        _check_free(known_sweeps(store), known, name)
    table = pa.table({"sweep_id": [known.sweep_id], "name": [name]})
    records.write_derived(RENAMED, "1", ["sweep_id"], table)
    ingest(records)
    return known


def _check_free(sweeps: Sequence[KnownSweep], known: KnownSweep, name: str) -> None:
    for one in sweeps:
        if one.sweep_id != known.sweep_id and name in (one.name, one.written):
            raise SwingbyError(f"the name {name!r} is that of another sweep: {one.stamp}")
