"""Laws of somebody's SQL: it reads the store's tables, and nothing else, and not for longer than it may."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import psutil
import pyarrow as pa
import pytest

from swingby import sandbox
from swingby.data.records import Records
from swingby.data.records.headers import BatchNote, Plan, ShardHeader
from swingby.errors import SwingbyError
from swingby.model.experiment import Recording
from swingby.sandbox import SandboxError
from swingby.sandbox.__main__ import answer, locked
from swingby.sandbox.statement import RefusedError
from swingby.store import Layout, Store, ingest
from tests.support.rights import only_readable, without_powers
from tests.support.waiting import awaited

SWEEP = "5a" * 8
CELLS = [f"{number:032x}" for number in range(40)]

# {outside}: a folder with a CSV file and a database. {data}: the data folder. {index}: the published index.
HOSTILE = [
    # reading files
    "select * from read_csv('{outside}/secret.csv')",
    "select * from read_csv_auto('{outside}/secret.csv')",
    "from '{outside}/secret.csv'",
    'select * from "{outside}/secret.csv"',
    "select * from read_text('{outside}/secret.csv')",
    "select * from read_blob('{index}')",
    "select * from read_text('{index}.wal')",
    "select * from READ_TEXT('/etc/passwd')",
    "select * from main.read_text('/etc/passwd')",
    "select * from system.main.read_text('/etc/passwd')",
    "select * from sim, lateral (select * from read_text('/etc/passwd'))",
    "select (select content from read_text('/etc/passwd'))",
    "with t as (select * from read_text('/etc/passwd')) select * from t",
    "select 1 where exists (from read_text('/etc/passwd'))",
    "select 1 union all by name select content from read_text('/etc/passwd')",
    "describe select * from read_csv('{outside}/secret.csv')",
    "summarize '{outside}/secret.csv'",
    "describe '{outside}/secret.csv'",
    "explain analyze select * from read_text('/etc/passwd')",
    "select * from read_json('{data}/swingby.json')",
    "select * from read_ndjson_objects('{data}/swingby.json')",
    "select * from read_parquet('{data}/plans/*.parquet')",
    "select * from parquet_scan('{data}/plans/*.parquet')",
    "select * from parquet_metadata('{data}/plans/*.parquet')",
    "select * from parquet_kv_metadata('{data}/plans/*.parquet')",
    "from '{data}/plans/*.parquet'",
    "select * from sniff_csv('{outside}/secret.csv')",
    "select * from glob('{data}/**')",
    "select * from read_duckdb('{outside}/other.duckdb')",
    "from '{outside}/other.duckdb'",
    "select * from query('select * from read_text(''/etc/passwd'')')",
    "select * from query_table('{outside}/secret.csv')",
    "select * from histogram_values('{outside}/secret.csv', a)",
    "select * from json_execute_serialized_sql(json_serialize_sql('select * from read_text(''/etc/passwd'')'))",
    "select * from 'https://example.org/x.parquet'",
    "select * from 's3://bucket/x.parquet'",
    "select * from read_text('/proc/self/environ')",
    "select getenv('HOME')",
    "select * from duckdb_secrets()",
    "select * from which_secret('s3://x', 's3')",
    "select * from shell_exec('ls')",
    "select * from arrow_scan(1::ubigint, 2::ubigint, 3::ubigint)",
    "select * from pandas_scan(1)",
    "select * from hostile_frame",
    # writing files
    "copy (select 1) to '{outside}/written.csv'",
    "copy (select 1) to '{index}.wal'",
    "copy sim to '{data}/written.parquet' (format parquet)",
    "copy sim from '{outside}/secret.csv'",
    "with a as (copy (select 1) to '{outside}/written.csv') select 1",
    "with a as (copy (select 1) to '{index}.wal') select 1",
    "with a as (select 1), b as (with c as (copy (select 1) to '{outside}/written.csv') select 1) from b",
    "select * from (with c as (copy (select 1) to '{outside}/written.csv') select 1)",
    "explain analyze copy (select 1) to '{outside}/written.csv'",
    "explain analyze with a as (copy (select 1) to '{outside}/written.csv') select 1",
    "explain /* a */ analyze copy (select 1) to '{outside}/written.csv'",
    "explain -- select\n analyze copy (select 1) to '{outside}/written.csv'",
    "/* select 1 */ copy (select 1) to '{outside}/written.csv'",
    "select 1 --\n; copy (select 1) to '{outside}/written.csv'",
    "select 1; copy (select 1) to '{outside}/written.csv'",
    "select ';'; drop view sim; --'",
    "select $$ $$; copy (select 1) to '{outside}/written.csv'",
    "\ufeffcopy (select 1) to '{outside}/written.csv'",
    "\u00a0copy (select 1) to '{outside}/written.csv'",
    "\uff53elect 1; copy (select 1) to '{outside}/written.csv'",
    "export database '{outside}/export'",
    "import database '{outside}'",
    "select * from enable_logging(storage='file', storage_config={{'path': '{outside}/log'}})",
    "select * from enable_profiling(save_location='{outside}/profile')",
    "select write_log('x')",
    "call enable_logging(storage='file')",
    # changing the database
    "create table t as select 1",
    "create temp table t as select 1",
    "create or replace view sim as select 1",
    "create macro f() as 1",
    "create secret s (type s3, key_id 'x', secret 'y')",
    "insert into ix.plans select * from ix.plans",
    "with a as (insert into ix.plans select * from ix.plans returning *) select * from a",
    "with a as (delete from ix.plans) select 1",
    "with a as (update ix.plans set sequence = 7) select 1",
    "update ix.plans set sequence = 7",
    "delete from ix.members",
    "truncate ix.members",
    "merge into ix.plans using sim on true when matched then delete",
    "drop view sim",
    "drop table ix.plans",
    "alter table ix.plans add column x int",
    "comment on view sim is 'x'",
    "vacuum",
    "analyze",
    "checkpoint",
    "force checkpoint",
    "select * from checkpoint()",
    "select * from force_checkpoint('ix')",
    "begin transaction",
    "commit",
    # other databases, extensions and settings
    "attach '{outside}/other.duckdb' as other",
    "attach '{outside}/new.duckdb'",
    "detach ix",
    "use ix",
    "install httpfs",
    "load httpfs",
    "load '{outside}/evil.duckdb_extension'",
    "force install json",
    "update extensions",
    "set enable_external_access = true",
    "set lock_configuration = false",
    "set threads = 64",
    "set variable x = 1",
    "reset memory_limit",
    "pragma memory_limit = '64GB'",
    "pragma enable_profiling = 'json'",
    "call pragma_version()",
    "prepare p as select 1",
    "execute p",
    "explain execute p",
    "deallocate p",
    "select * from truncate_duckdb_logs()",
    "select nextval('s')",
    # nothing at all
    "",
    ";",
    "-- select 1",
    "select 1; select 2",
    "select ?",
    "select 1" + " + 1" * 30000,
]
ENDLESS = [
    "select count(*) from range(100000000000) a, range(1000000) b",
    "with recursive t as (select 1 as a union all select a + 1 from t) select max(a) from t",
    "select sum(i) from (select unnest(range(10000000)) i from range(1000000))",
    "select sleep_ms(60000)",
    "select max(md5(a.range::varchar || b.range)) from range(10000000) a, range(10000000) b",
    "select sum(length(repeat('x', 100000) || range)) from range(10000000000)",
]
"""Of none is it a question of memory when it ends, however fast the machine is, and several run at once."""
GREEDY = [
    "select list(range) from range(4000000000)",
    "select string_agg(md5(range::varchar), '') from range(400000000)",
    "select * from range(50000000) order by md5(range::varchar)",
    "select count(distinct md5(range::varchar)) from range(400000000)",
]
HARMLESS = [
    "select count(*) from sim",
    "select * from sim order by cell_id",
    "SELECT layers, avg(height) AS mean FROM sim GROUP BY ALL ORDER BY ALL -- ; comment",
    "from sim_points order by cell_id, k",
    "with recursive t as (select 1 as a union all select a + 1 from t where a < 9) select * from t",
    "with a as materialized (select 1 as x) from a",
    "select unnest(loss) as y, generate_subscripts(loss, 1) as i from sim order by all limit 7",
    "select * from sim semi join members using (cell_id) order by all",
    "values (1, 'a'), (2, 'b')",
    "(select 1 as x) union all (select 2) order by x",
    "table plans",
    "pivot sim on layers in (1, 2) using count(*) group by seed_mode",
    "select * from range(3) t(x) cross join generate_series(1, 2)",
    "select list_transform(loss, lambda v: v + 1) from sim order by cell_id",
    "select ';' as semicolon, $$ ; copy $$ as quoted, 'copy (select 1) to ''x''' as text",
    "select table_name from information_schema.tables order by all",
    "show tables",
    "describe sim",
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A data folder with a published store of 40 cells, and a folder outside it that no query may touch."""
    root = tmp_path_factory.mktemp("place")
    data, outside = root / "data", root / "outside"
    outside.mkdir()
    (outside / "secret.csv").write_text("a,b\n1,secret\n")
    with duckdb.connect(str(outside / "other.duckdb")) as other:
        other.execute("create table t as select 1 as a")
    publish(Records.open(data), 1)
    layout = Layout(data)
    generation = layout.newest()
    assert generation is not None
    return SimpleNamespace(root=root, data=data, outside=outside, index=layout.paths(generation)["ix"])


def publish(records: Records, sequence: int) -> None:
    """Writes a plan and a shard of 40 cells (`sequence` tells them from the last), and folds them into the store."""
    cells = [f"{sequence:x}{cell[1:]}" for cell in CELLS]
    layers = [1 + number % 2 for number in range(40)]
    table = pa.table(
        {
            "cell_id": cells,
            "point": pa.array(range(40), pa.int32()),
            "seed": pa.array(range(40), pa.int64()),
            "seed_mode": ["common"] * 40,
            "batch": pa.array([0] * 40, pa.int32()),
            "layers": pa.array(layers, pa.int64()),
        }
    )
    notes = (BatchNote(0, "s", 40),)
    plan = Plan(SWEEP, "a", "sim", 1, sequence, {"title": "T"}, Recording(), {}, notes, source=table)
    records.write_plan(plan)
    rows = pa.table(
        {
            "cell_id": cells,
            "from_step": pa.array([0] * 40, pa.int64()),
            "to_step": pa.array([2] * 40, pa.int64()),
            "final": [True] * 40,
            "status": ["ok"] * 40,
            "message": pa.array([None] * 40, pa.string()),
            "step": pa.array([[0, 1, 2]] * 40, pa.list_(pa.int64())),
            "loss": pa.array([[number, number + 0.5, 0.25] for number in range(40)], pa.list_(pa.float64())),
            "height": pa.array([number / 7 for number in range(40)], pa.float64()),
        }
    )
    at = "2026-01-01T00:00:00+00:00"
    tokens, curves = ("steps:log:200",), ("step", "loss")
    header = ShardHeader(
        plan.plan_id, SWEEP, "sim", 0, 1000 * sequence + 1, tokens, curves, "s", 40, at, at, 1.0, "h", "cpu", 1
    )
    records.write_shard(header, rows)
    ingest(records)


def tree(root: Path) -> dict[str, tuple[int, int, str]]:
    """Every file and folder below `root`: size, time of change and hash of the content."""
    found = {}
    for path in sorted(root.rglob("*")):
        state = path.stat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        # A folder's time changes when a throwaway folder comes and goes; what it holds is compared by name.
        found[str(path.relative_to(root))] = (
            (0, 0, content)
            if path.is_dir()
            else (
                state.st_size,
                state.st_mtime_ns,
                content,
            )
        )
    return found


def spelt(place: SimpleNamespace, sql: str) -> str:
    if "{" not in sql:
        return sql
    return sql.format(data=place.data, outside=place.outside, index=place.index)


def outcome(place: SimpleNamespace, sql: str, **options: Any) -> tuple[str, float]:
    """The error a query ends with ("" for none), and how many seconds it took."""
    begun = time.monotonic()
    try:
        sandbox.query(place.data, spelt(place, sql), **options)
    except SandboxError as error:
        return str(error), time.monotonic() - begun
    return "", time.monotonic() - begun


def running() -> list[psutil.Process]:
    """The processes of queries that this process has begun and that still live."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it ended while it was looked at
            if child.status() != psutil.STATUS_ZOMBIE and "swingby.sandbox" in child.cmdline():
                found.append(child)
    return found


def all_outcomes(place: SimpleNamespace, queries: list[str], **options: Any) -> dict[str, tuple[str, float]]:
    with ThreadPoolExecutor(4) as pool:
        return dict(zip(queries, pool.map(lambda sql: outcome(place, sql, **options), queries), strict=True))


@pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.slow)])
def test_hostile_statements_are_refused_and_leave_no_trace(every: int, place: SimpleNamespace) -> None:
    """Every statement that is more than a query of the tables gives an error, and no file anywhere changes; the next
    law asks them all, too, without a process for each."""
    before = tree(place.root)
    ends = all_outcomes(place, HOSTILE[::every], timeout=60.0)
    assert len(HOSTILE) >= 100
    assert [sql for sql, (error, _) in ends.items() if not error] == []
    assert [error for error, _ in ends.values() if "process ended" in error] == []
    assert tree(place.root) == before
    assert running() == []


def test_no_query_outlives_its_deadline(place: SimpleNamespace) -> None:
    """A query that would not end is gone soon after its deadline, with its process."""
    before = tree(place.root)
    ends = all_outcomes(place, ENDLESS, timeout=1.0, memory="4GB", threads=1)
    assert {sql: error for sql, (error, _) in ends.items() if "was stopped after 1 s" not in error} == {}
    assert max(seconds for _, seconds in ends.values()) < 60  # a second or two, unless the machine is busy
    assert running() == []
    assert tree(place.root) == before


def test_no_query_takes_more_than_its_memory(place: SimpleNamespace) -> None:
    """A query that needs more memory than it may have ends with an error that says so, and spills nothing to disk."""
    before = tree(place.root)
    with ThreadPoolExecutor(1) as pool:
        peaks = pool.submit(lambda: [outcome(place, sql, memory="100MB", timeout=60.0) for sql in GREEDY])
        most = 0
        while not peaks.done():
            for process in running():
                try:
                    most = max(most, process.memory_info().rss)
                except psutil.Error:
                    continue
            time.sleep(0.1)
        assert [error for error, _ in peaks.result() if "memory" not in error and "larger than" not in error] == []
    assert 0 < most < 2 * 2**30
    assert tree(place.root) == before


def test_files_stay_shut_whatever_passes_the_reading(place: SimpleNamespace, tmp_path: Path) -> None:
    """Every hostile statement is refused; and run on the locked connection without being looked at first, none changes
    or opens any file."""
    before = tree(place.root)
    connection = locked(request(place, tmp_path))
    for sql in HOSTILE:
        text, ran = spelt(place, sql), True
        with pytest.raises((RefusedError, duckdb.Error)):
            answer(connection, {"sql": text, "limit_rows": 10**6, "limit_bytes": 2**30}, io.BytesIO())
        try:
            found = connection.execute(text)
            rows = found.fetchall() if found is not None else []
        except duckdb.Error:
            rows, ran = [], ";" in sql
        assert "secret" not in str(rows), text
        assert "root:" not in str(rows), text
        with pytest.raises(duckdb.Error):
            connection.execute("set threads = 64")
        if ran:  # what ran may have left something to the next one; a statement that failed has not
            connection.close()
            connection = locked(request(place, tmp_path))
    connection.close()
    assert tree(place.root) == before
    assert list(tmp_path.iterdir()) == []


def request(place: SimpleNamespace, folder: Path) -> dict[str, Any]:
    """What the query's process is told about the files."""
    layout = Layout(place.data)
    generation = layout.newest()
    assert generation is not None
    files = sandbox.link(layout.paths(generation), folder)
    statements = layout.statements(generation, files)
    paths = [str(path) for path in files.values()]
    return {"statements": statements, "files": paths, "memory": "500MB", "threads": 1}


def test_an_answer_too_large_is_refused(place: SimpleNamespace, tmp_path: Path) -> None:
    """An answer of more bytes than allowed is an error, and so is a single row of that size."""
    for sql in ("from range(100000)", "select repeat('x', 20000)"):
        asked = {"sql": sql, "limit_rows": 10**6, "limit_bytes": 10_000}
        with pytest.raises(RefusedError, match="larger than 10,000 bytes"):
            answer(locked(request(place, tmp_path)), asked, io.BytesIO())


@pytest.mark.parametrize(
    "sql", [pytest.param(sql, marks=[pytest.mark.slow] if place % 3 else []) for place, sql in enumerate(HARMLESS)]
)
def test_queries_of_the_tables_see_what_the_store_sees(place: SimpleNamespace, sql: str) -> None:
    """A query gives the same rows as the same query on the store itself."""
    with Store.open(place.data) as store:
        expected = store.sql(sql).arrow()
    found = sandbox.query(place.data, sql)
    assert found.column_names == expected.column_names
    assert found.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize("how", ["explain", "EXPLAIN ANALYZE", "explain (format json)"])
def test_explain_of_a_query_is_allowed(place: SimpleNamespace, how: str) -> None:
    """EXPLAIN of a SELECT gives its plan."""
    plan = sandbox.query(place.data, f"{how} select max(height) from sim where layers = 2")
    assert "layers" in str(plan.to_pylist())


def test_rows_above_the_limit_are_cut_and_the_table_says_so(place: SimpleNamespace) -> None:
    """The first `limit_rows` rows come back; the metadata says `cut` exactly if there were more."""
    asked = "select cell_id from sim order by cell_id"
    whole = sandbox.query(place.data, asked, limit_rows=40)
    assert (whole.num_rows, (whole.schema.metadata or {}).get(b"cut")) == (40, None)
    cut = sandbox.query(place.data, asked, limit_rows=39)
    assert cut.schema.metadata == {b"cut": b"true"}
    assert cut.to_pylist() == whole.to_pylist()[:39]
    endless = sandbox.query(place.data, "from range(1000000000000)", limit_rows=3)
    assert endless.to_pylist() == [{"range": 0}, {"range": 1}, {"range": 2}]


@pytest.mark.parametrize(
    ("sql", "fragments"),
    [
        ("select * from smi", ["smi does not exist", "did you mean 'sim'?", "tables: bad_shards", "sim_points"]),
        ("select heigth from sim", ['"heigth" not found', '"height"']),
        ("selec 1", ["syntax error"]),
        ("pivot sim on layers using count(*)", ["PIVOT has to name its values"]),
        ("select 1; select 2", ["2 statements", "allowed: one SELECT"]),
        ("drop view sim", ["DROP is not allowed", "allowed: one SELECT"]),
        ("from read_text('x')", ["'read_text' is not allowed as a table", "generate_series"]),
    ],
)
def test_an_error_says_what_is_wrong_and_what_there_is(place: SimpleNamespace, sql: str, fragments: list[str]) -> None:
    """A wrong query is told with the nearest name or with what is allowed."""
    error, _ = outcome(place, sql)
    assert [fragment for fragment in fragments if fragment not in error] == []


@pytest.mark.parametrize("memory", ["", "lots", "1", "-1GB", "1GB; set threads = 9"])
def test_a_bad_amount_of_memory_is_refused(place: SimpleNamespace, memory: str) -> None:
    """Memory is a number and a unit."""
    with pytest.raises(SandboxError, match="is not understood"):
        sandbox.query(place.data, "select 1", memory=memory)


def test_a_store_that_is_not_there_is_told(tmp_path: Path) -> None:
    """A missing data folder and one without a published store are clear errors, and leave nothing behind."""
    with pytest.raises(SwingbyError, match="no data folder"):
        sandbox.query(tmp_path / "missing", "select 1")
    Records.open(tmp_path / "empty")
    before = tree(tmp_path)
    with pytest.raises(SwingbyError, match="nothing was ingested"):
        sandbox.query(tmp_path / "empty", "select 1")
    assert tree(tmp_path) == before


def test_the_newest_generation_is_read(tmp_path: Path) -> None:
    """What was published last is what a query sees, and queries go on while others are published."""
    records = Records.open(tmp_path)
    for sequence in (1, 2):
        publish(records, sequence)
        assert sandbox.query(tmp_path, "select count(*) as n from sim").to_pylist() == [{"n": 40 * sequence}]


def test_a_process_knows_nothing_of_its_parents_environment(
    place: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No variable of the caller's environment, which may be a token, reaches the query's process."""
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    with ThreadPoolExecutor(1) as pool:
        end = pool.submit(outcome, place, "select sleep_ms(60000)", timeout=3.0)
        (process,) = awaited(running)
        environment = process.environ()
        assert process.pid == os.getpgid(process.pid)
        assert "was stopped" in end.result()[0]
    assert set(environment) <= {"HOME", "LANG", "PYTHONPATH", "LC_CTYPE"}


def has_ended(process: psutil.Process) -> bool:
    """Whether it is gone, or is a zombie: where nobody takes note of the end of orphans, as in some containers, it
    stays one."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_query_dies_with_the_process_that_asked(place: SimpleNamespace) -> None:
    """Where the caller is killed, its query is gone too, long before its deadline."""
    script = f"from swingby import sandbox\nsandbox.query({str(place.data)!r}, 'select sleep_ms(600000)', timeout=600)"
    caller = subprocess.Popen([sys.executable, "-c", script])
    (process,) = awaited(lambda: [c for c in psutil.Process(caller.pid).children() if "swingby.sandbox" in c.cmdline()])
    awaited(lambda: not list(place.data.glob(".sandbox-*/*.duckdb")))
    caller.send_signal(signal.SIGKILL)
    caller.wait()
    awaited(lambda: has_ended(process))
    left = list(place.data.glob(".sandbox-*"))
    assert [path for folder in left for path in folder.iterdir()] == []
    for folder in left:
        os.utime(folder, (0, 0))
    sandbox.query(place.data, "select 1")
    assert list(place.data.glob(".sandbox-*")) == []


def test_files_are_linked_or_copied(place: SimpleNamespace, tmp_path: Path) -> None:
    """On one device files are linked; across devices they are copied; their content is the same."""
    folders = [(tmp_path, True)]
    memory = Path("/dev/shm")  # a device of its own, where there is one
    if memory.is_dir() and memory.stat().st_dev != tmp_path.stat().st_dev:
        folders.append((Path(tempfile.mkdtemp(dir=memory)), False))
    for folder, linked in folders:
        (link,) = sandbox.link({"ix": place.index}, folder).values()
        assert link.read_bytes() == place.index.read_bytes()
        assert link.samefile(place.index) is linked
        shutil.rmtree(folder)


def test_somebody_elses_store_is_not_copied(
    place: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that may only be read and cannot be linked (another device, or the kernel forbids it) are pointed to, and
    answer; nothing can be written through that, or falls beside them."""

    def forbidden(*_: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", forbidden)
    before = tree(place.root)
    with only_readable(place.data):
        (link,) = without_powers(lambda: sandbox.link({"ix": place.index}, tmp_path)).values()
        assert link.is_symlink()
        assert without_powers(lambda: sandbox.query(place.data, "select count(*) as n from sim")).num_rows == 1
        with pytest.raises(SandboxError):
            sandbox.query(place.data, "create table sim2 as select 1")
    assert tree(place.root) == before


def test_packages_that_come_by_pythonpath_are_found(tmp_path: Path) -> None:
    """As by a cluster's modules: a query's process finds what its parent found, where Python itself would not look."""
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("duckdb", "_duckdb", "pyarrow", "adbc_driver_duckdb"):
        for place in Path(duckdb.__file__).parents[1].glob(f"{name}*"):
            (moved / place.name).symlink_to(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(moved), *sys.path])
        patch.setattr(sandbox.sysconfig, "get_path", lambda kind: "/nowhere")
        assert str(moved) in sandbox._found_at()
