"""Laws of what comes from others: sweep files, records, recorded results, names and SQL that mean harm, by the hundred.

Each ends as what it is or in a clear error; nothing outside the data folder is touched, and nothing steers a terminal.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import json
import re
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swingby import sandbox
from swingby.archive import pack, unpack
from swingby.cli import console
from swingby.data import parquet
from swingby.data.files import entry, is_entry
from swingby.data.parquet import MOST_VALUES, read_parquet, write_parquet
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.sandbox.__main__ import locked
from swingby.sandbox.statement import RefusedError, readable
from swingby.store import Layout, ingest
from swingby.sweepfile.sweep import Sweep
from swingby.text import legible, plain
from tests.support.command import swingby
from tests.support.store import Segment, cells, write_plan, write_shard

shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

NAMES = [
    "../../outside", "/etc/passwd", "..", ".", ".hidden", "a/b", "a\\b", "a\0b", "x" * 300, "", " ", "~root",
    "$(id)", "`id`", "-rf", "con", "\u202eexe", "\u200d", "\ufeff", "\ud800", "e\u0301" * 40, "\x1b[2J",
    "\x1b]0;x\x07", "a\nb", "a\rb", "%s%n", "{0.__class__}", "{{7*7}}", "<script>", "'; drop table ix.plans; --",
    '"', "\uff0e\uff0e\uff0fx", "null", "nan", "1e999",
]  # fmt: skip
names = st.sampled_from(NAMES) | st.text(max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)
# How often each law is tried: here, and where there is time.
FEW, MANY = 1, 20


def tree(root: Path, *without: Path) -> dict[str, str]:
    """Every file and folder below `root`, but for what lies below `without`, with a hash of the content."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(root.rglob("*"))
        if not any(path.is_relative_to(folder) for folder in without)
    }


def spoilt(draw: Callable[..., Any], content: bytes) -> bytes:
    """Bytes with some flipped, cut out, put in or doubled."""
    at = draw(st.integers(0, len(content) - 1))
    end = at + draw(st.integers(0, 40))
    kind = draw(st.sampled_from(["flip", "cut", "insert", "double", "end"]))
    middle = {
        "flip": bytes([content[at] ^ (1 << draw(st.integers(0, 7)))]) + content[at + 1 : end],
        "cut": b"",
        "insert": draw(st.binary(min_size=1, max_size=20)) + content[at:end],
        "double": content[at:end] * 2,
        "end": b"",
    }[kind]
    return content[:at] + middle + (b"" if kind == "end" else content[end:])


# sweep files

SWEEP = """\
name: try-1
title: A try
experiment: toy
preset: plain
base: {gain: 1.5}
axes:
  width: {logspace: {from: 2, to: 64, points: 6}}
  mu.1: [1.0, 2.0]
where: mu.1 / mu.0 > 0.5
seeds: {count: 3, first: 7, mode: independent}
record: {steps: log, points: 50, also: [jacobian]}
"""
SNIPPETS = [
    "*a", "&a [*a]", "<<: *a", "!!python/object/apply:os.system [id]", "!!python/name:os.system", "!!binary aGk=",
    "!!set {a, b}", "!include /etc/passwd", "!!float 1", "{" * 60, "[" * 3000, "? ", "- " * 500, "%YAML 9.9\n---\n",
    "\n---\n", "|9\n", "0x7fffffffffffffff", "1e400", ".nan", "-.inf", "9" * 400, "1:30", "1e-320",
    "{count: 1000000000000}", "{count: -1}", "{count: 1e9}", "{range: {from: 0, to: 1e300, step: 1e-300}}",
    "{linspace: {from: 0, to: 1, points: 1000000000000}}", "{logspace: {from: 1, to: 1e308, points: 99999999}}",
    "().__class__.__mro__", "__import__('os').system('id')", "9**9**9**9", "'a' * 999999999", "width.bit_length()",
    "(lambda: 1)()", "\u202e", "\ufeff", "\u2028", "\x85", "\t", "\x00", "\ud800",
]  # fmt: skip


def sweep_file(data: st.DataObject) -> None:
    """One hostile sweep file: it is a sweep whose name can be a file's, or it is refused."""
    text = SWEEP
    for _ in range(data.draw(st.integers(1, 3))):
        if data.draw(st.booleans()):
            value = data.draw(st.sampled_from(SNIPPETS) | names | json_values.map(lambda item: json.dumps(item)))
            places = [match.end() for match in re.finditer(r"[:\[{,] ?", text)]
            at = data.draw(st.sampled_from(places))
            end = data.draw(st.sampled_from([at, text.find("\n", at)]))
            text = text[:at] + value + text[max(at, end) :]
        else:
            at = data.draw(st.integers(0, len(text)))
            text = text[:at] + data.draw(st.sampled_from(SNIPPETS) | st.text(max_size=4)) + text[at + 3 :]
    with contextlib.suppress(SwingbyError):
        assert is_entry(Sweep.parse(text, "try.yaml", confirm_above=10_000).name)


@settings(shared, max_examples=250 * FEW)
@given(st.data())
def test_no_sweep_file_is_more_than_a_sweep_or_a_fault(toy: str, data: st.DataObject) -> None:
    """A sound file with hostile parts put in (tags, anchors, depth, huge numbers and grids, code, odd characters) is a
    sweep or a list of faults."""
    sweep_file(data)


@pytest.mark.slow
@settings(shared, max_examples=250 * MANY)
@given(st.data())
def test_no_sweep_file_of_thousands_is_more(toy: str, data: st.DataObject) -> None:
    """The same, of thousands."""
    sweep_file(data)


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("name", [name for name in NAMES if "\ud800" not in name])
def test_no_sweep_has_a_name_that_leads_elsewhere(name: str) -> None:
    """A sweep's name is part of paths: lower-case letters, digits and hyphens, or a fault."""
    text = SWEEP.replace("try-1", json.dumps(name))
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", name):
        with pytest.raises(SwingbyError, match="name"):
            Sweep.parse(text, "try.yaml")
    else:
        assert Sweep.parse(text, "try.yaml").name == name


def test_nobody_takes_more_memory_than_a_sweep_needs(toy: str) -> None:
    """Files of a few bytes that ask for more than any memory holds are refused before it is taken."""
    tracemalloc.start()  # the process's own peak may be that of an earlier test
    for snippet in ("{linspace: {from: 0, to: 1, points: 1000000000000}}", "{range: {from: 0, to: 1e300, step: 1e-9}}"):
        with pytest.raises(SwingbyError):
            Sweep.parse(SWEEP.replace("{logspace: {from: 2, to: 64, points: 6}}", snippet), "try.yaml")
    for spec in ("{count: 1000000000000}", "{first: 0, count: 99999999999}"):
        with pytest.raises(SwingbyError):
            Sweep.parse(re.sub(r"seeds: .*", f"seeds: {spec}", SWEEP), "try.yaml")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50 * 2**20


# records


def hurt(table: pa.Table, draw: Callable[..., Any]) -> pa.Table:
    """A table with a column renamed, retyped, emptied, doubled or gone."""
    place = draw(st.integers(0, table.num_columns - 1))
    column, count = table.column(place), table.num_rows
    odd = [
        pa.nulls(count, pa.null()),
        pa.nulls(count, pa.string()),
        pa.array([[["x"]]] * count),
        pa.array([{"a": 1}] * count),
        pa.array([b"\xff\x00"] * count),
        pa.array([2**63 - 1] * count),
        pa.array([float("nan")] * count),
        pa.array(["\x1b[2J\u202e"] * count).dictionary_encode(),
        pa.array([10**30] * count, pa.decimal128(38, 0)),
        pa.array([-1] * count, pa.timestamp("ns")),
        pa.array([[("k", 1)]] * count, pa.map_(pa.string(), pa.int64())),
    ]
    how = draw(st.sampled_from(["name", "type", "gone", "empty"]))
    if how == "name":
        return table.rename_columns([*table.column_names[:place], draw(odd_columns), *table.column_names[place + 1 :]])
    if how == "gone":
        return table.remove_column(place)
    if how == "empty":
        return table.slice(0, 0)
    return table.set_column(place, table.field(place).name, draw(st.sampled_from([*odd, column])))


odd_columns = st.sampled_from([name for name in NAMES if "\ud800" not in name] + ["cell", "attempt", "rowid", "shard"])


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """A data folder with a plan, a shard of three cells, and outcomes of them."""
    records = Records.open(tmp_path_factory.mktemp("sound") / "data")
    write_plan(records, ["x", "y", "z"], width=pa.array([1, 2, 3]))
    write_shard(records, [Segment(cell) for cell in "xyz"])
    records.write_derived("outcomes_one", "1", ["cell_id"], pa.table({"cell_id": ["x"], "told": [True]}))
    return records


def hostile_record(records: Records, key: str, place: int, draw: Callable[..., Any]) -> tuple[str, bytes]:
    """A record spoilt in its bytes, its header or its table, under a name that fits its content."""
    content = records.content(key)
    how = draw(st.sampled_from(["bytes", "header", "table"]))
    if how == "bytes":
        made = spoilt(draw, content)
    else:
        header, table = read_parquet(records.data / key, "record")
        if how == "header":
            header = {**header, draw(st.sampled_from(sorted(header))): draw(json_values)}
        else:
            table = hurt(table, draw)
        buffer = io.BytesIO()
        pq.write_table(table.replace_schema_metadata({b"swingby": json.dumps(header).encode()}), buffer)
        made = buffer.getvalue()
    folder = key.partition("/")[0]
    digest = hashlib.sha256(made).hexdigest()
    named = {
        "plans": f"plans/a-aaaaaaaa-{place + 2:04d}.parquet",
        "shards": f"shards/a-aaaaaaaa-0001/b{place + 1:06d}-a1001-{digest[:8]}.parquet",
        "derived": f"derived/outcomes_one/1-{digest[:12]}.parquet",
    }
    return named[folder], made


def records_of_others(sound: Records, root: Path, count: int, data: st.DataObject) -> None:
    """An ingest of hostile records beside sound ones: it takes or lists each, and loses none of the sound."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(sound.data, root / "data")
    here = Records.open(root / "data")
    for place in range(count):
        key, content = hostile_record(sound, sound.paths()[place % 3], place, data.draw)
        path = here.data / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    before = tree(root, here.data / "store")
    taken = ingest(here)
    assert all(reason for _, reason in taken.bad)
    assert {row[0] for row in cells(here)} >= {"x", "y", "z"}
    assert tree(root, here.data / "store") == before


@settings(shared, max_examples=4 * FEW)
@given(st.data())
def test_hostile_records_hurt_nobody(sound: Records, tmp_path: Path, data: st.DataObject) -> None:
    """Spoilt bytes, lying headers and odd tables among the records of a folder, under names that fit them: an ingest
    takes or lists each, keeps the sound ones, and writes nowhere but into the store."""
    records_of_others(sound, tmp_path / "root", 30, data)


@pytest.mark.slow
@settings(shared, max_examples=4 * MANY)
@given(st.data())
def test_hostile_records_by_the_thousand(sound: Records, tmp_path: Path, data: st.DataObject) -> None:
    """The same, of thousands."""
    records_of_others(sound, tmp_path / "root", 30, data)


def test_a_file_that_says_it_is_endless_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few kilobytes that stand for more values than are allowed are refused by what they say of themselves; here a
    thousandth is allowed, so that the file is soon written."""
    path, allowed = tmp_path / "b.parquet", MOST_VALUES // 1024
    write_parquet(path, pa.table({"a": pa.nulls(allowed, pa.int64())}), {})
    assert path.stat().st_size < 2**16
    monkeypatch.setattr(parquet, "MOST_VALUES", allowed)
    assert read_parquet(path, "shard")[1].num_rows == allowed
    write_parquet(path, pa.table({"a": pa.nulls(allowed + 1, pa.int64())}), {})
    with pytest.raises(SwingbyError, match="says that it holds"):
        read_parquet(path, "shard")


@pytest.mark.parametrize("name", NAMES)
def test_no_record_leads_out_of_its_folder(name: str, tmp_path: Path) -> None:
    """Whatever sweep, plan or id a record names, what is made for it lies in the data folder, or it is refused."""
    records = Records.open(tmp_path / "data")
    for made in (
        lambda: records.workdir(name, ["x"]),
        lambda: entry(records.data / "plans", name, ".parquet"),
        lambda: entry(records.data / "locks", name, ".lock"),
    ):
        with contextlib.suppress(SwingbyError):
            path = made()
            assert path.resolve().is_relative_to(records.data.resolve())
            assert path.resolve() != records.data.resolve()
    with pytest.raises((SwingbyError, UnicodeError)):
        records.read_plan(name)
    before = tree(tmp_path, records.data)
    with contextlib.suppress(SwingbyError, UnicodeError), records.lock(name):
        pass
    assert tree(tmp_path, records.data) == before


def test_odd_files_among_the_plans_disturb_nobody(sound: Records, tmp_path: Path) -> None:
    """A file of any name in the folder of plans is listed, and no verb stumbles over it."""
    shutil.copytree(sound.data, tmp_path / "data")
    names = ("notes", "a-b", "--", "a" * 200)
    for name in names:
        (tmp_path / "data" / "plans" / f"{name}.parquet").write_bytes(b"PAR1")
    taken = swingby("ingest", "--data", tmp_path / "data")
    assert taken.exit_code == 2
    assert set(re.findall(r"left out plans/(\S+)\.parquet: ", taken.stderr)) == set(names)
    for arguments, told in (
        (["ingest"], ""),
        (["status"], "3"),
        (["gc"], "removed 0 paths"),
        (["retract", "a", "--reason", "x", "--dry-run"], "would take back what 3 cells left"),
        (["sql", "from toy select count(*) as cells"], "3"),
    ):
        result = swingby(*arguments, "--data", tmp_path / "data")
        assert result.exit_code == 0, (arguments, result.output)
        assert told in result.stdout


# recorded results


@pytest.fixture
def packed(walk: Any, tmp_path: Path) -> Path:
    """Recorded results of twelve walks."""
    run_sweep(walk.sweep(base={"length": 10}), walk.data, local=True, pilot=False)
    return pack(walk.data, "walks", tmp_path / "shipped", curves=4, points=5).path


def recorded_file(packed: Path, root: Path, data: st.DataObject) -> None:
    """One hostile file of recorded results: it comes in, or is refused and leaves no record."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    file, content = root / "file.parquet", packed.read_bytes()
    how = data.draw(st.sampled_from(["bytes", "header", "deeper", "table"]))
    if how == "bytes":
        file.write_bytes(spoilt(data.draw, content))
    else:
        header, table = read_parquet(packed, "file")
        said: Any = copy.deepcopy(header)
        if how == "table":
            table = hurt(table, data.draw)
        else:
            inner = data.draw(st.sampled_from([said["resolved"], said["computed"][0]])) if how == "deeper" else said
            key = data.draw(st.sampled_from(sorted(inner)))
            if data.draw(st.booleans()):
                inner[key] = data.draw(json_values)
            else:
                del inner[key]
        with contextlib.suppress(SwingbyError):
            write_parquet(file, table, said)
        if not file.exists():
            return
    before = tree(root)
    try:
        unpack(root / "data", file)
    except SwingbyError:
        assert not [key for key in tree(root / "data") if key.startswith(("plans/", "shards/")) and "." in key]
    left = tree(root, root / "data")
    left.pop("data", None)
    assert left == before


@settings(shared, max_examples=40 * FEW)
@given(st.data())
def test_hostile_recorded_results_come_in_or_leave_nothing(packed: Path, tmp_path: Path, data: st.DataObject) -> None:
    """A file of recorded results that is spoilt, or lies in its header or table, is unpacked as what it is or refused
    before a record is written; it touches nothing but the data folder."""
    recorded_file(packed, tmp_path / "root", data)


@pytest.mark.slow
@settings(shared, max_examples=40 * MANY)
@given(st.data())
def test_hostile_recorded_results_by_the_hundred(packed: Path, tmp_path: Path, data: st.DataObject) -> None:
    """The same, of hundreds."""
    recorded_file(packed, tmp_path / "root", data)


# SQL

DEEDS = [
    "copy (select 1) to '{0}/x.csv'", "copy toy from '{0}/secret.csv'", "attach '{0}/x.duckdb'", "install httpfs",
    "load httpfs", "set threads = 9", "set enable_external_access = true", "reset memory_limit",
    "pragma enable_profiling", "use ix", "checkpoint", "insert into ix.plans default values",
    "delete from ix.plans", "update ix.plans set sequence = 1", "drop table ix.plans", "create table t as select 1",
    "create macro f() as 1", "export database '{0}/x'", "call pragma_version()", "vacuum",
]  # fmt: skip
SOURCES = [
    "read_csv('{0}/secret.csv')", "read_text('{0}/secret.csv')", "read_blob('/etc/passwd')", "glob('{0}/*')",
    "'{0}/secret.csv'", "read_json('{0}/secret.csv')", "read_parquet('{0}/*')", "sniff_csv('{0}/secret.csv')",
    "query('select 1')", "duckdb_secrets()", '"{0}/secret.csv"', "system.main.read_text('/etc/passwd')",
    "checkpoint()", "enable_logging()",
]  # fmt: skip
AROUND = [
    "{}", "select * from ({}) t", "with a as ({}) select * from a", "with a as materialized ({}) select 1",
    "explain analyze {}", "explain {}", "select 1; {}", "{}; select 1", "select ({})", "select 1 where exists ({})",
    "(({}))", "select 1 union all {}", "with recursive a as (select 1 union all ({})) select * from a",
    "describe {}", "select * from toy, lateral ({}) t", "/* */ {}", "-- x\n{}", "select [x for x in ({})]",
]  # fmt: skip
statements = st.recursive(
    st.sampled_from(DEEDS) | st.sampled_from(SOURCES).map(lambda source: f"select * from {source}"),
    lambda inner: st.tuples(st.sampled_from(AROUND), inner).map(lambda pair: pair[0].replace("{}", pair[1], 1)),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def asked(sound: Records, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The connection on which somebody's SQL runs, and a folder with a secret that it must not reach."""
    ingest(sound)
    outside, links = tmp_path_factory.mktemp("outside"), tmp_path_factory.mktemp("links")
    (outside / "secret.csv").write_text("a\nsecret\n")
    layout = Layout(sound.data)
    generation = layout.newest()
    assert generation is not None
    files = sandbox.link(layout.paths(generation), links)
    request = {
        "statements": layout.statements(generation, files),
        "files": [str(path) for path in files.values()],
        "memory": "200MB",
        "threads": 1,
    }
    connection = locked(request)
    yield SimpleNamespace(connection=connection, outside=outside, data=sound.data)
    connection.close()


def statement(asked: SimpleNamespace, sql: str) -> None:
    """One hostile statement: refused as it is read, or run, and then it reaches nothing."""
    text = sql.replace("{0}", str(asked.outside))
    before = tree(asked.outside)
    rows = []
    with contextlib.suppress(RefusedError, duckdb.Error):
        # What reading lets through fails when it is run, for the file system is shut, or is a part that is never run.
        rows = asked.connection.execute(readable(asked.connection, text)).fetchall()
    assert "secret" not in str(rows).replace(str(asked.outside), "").replace("secret.csv", "")
    assert tree(asked.outside) == before


@settings(max_examples=250 * FEW)
@given(statements)
def test_no_wrapping_makes_a_deed_a_query(asked: SimpleNamespace, sql: str) -> None:
    """What writes, reads files, attaches, installs, sets or loads does nothing, in any number of wrappings."""
    statement(asked, sql)


@pytest.mark.slow
@settings(max_examples=250 * MANY)
@given(statements)
def test_no_wrapping_of_thousands_does(asked: SimpleNamespace, sql: str) -> None:
    """The same, of thousands."""
    statement(asked, sql)


@settings(max_examples=150)
@given(
    st.text(max_size=40)
    | st.lists(st.sampled_from([*DEEDS, *SOURCES, "select", "from", ";", "$$", "'", "(", "\0", "\ud800"])).map(" ".join)
)
def test_any_text_is_a_query_or_refused(asked: SimpleNamespace, sql: str) -> None:
    """No text, as SQL, leads to anything but a query or a reason why it is none."""
    with contextlib.suppress(RefusedError, duckdb.Error):
        readable(asked.connection, sql)


# the terminal

steering = st.text(max_size=60) | st.lists(
    st.sampled_from([*NAMES, "\x9b31m", "\x07", "\x08" * 9, "\u2066", "\t", "\n", "\r\n"])
).map("".join)


def reads(text: str) -> bool:
    """Whether a terminal only shows a text: nothing in it is a control character but ends of lines and tabs."""
    return all(char.isprintable() or char in "\n\t" for char in text)


@settings(max_examples=300)
@given(steering)
def test_text_is_made_legible(text: str) -> None:
    """What is made legible can be written and only be read, keeps every printable character, lines and tabs, and is
    not changed again; in one line it is as short as asked."""
    found = legible(text)
    assert reads(found)
    assert legible(found) == found
    for char, shown in zip(text.replace("\r\n", "\n"), found, strict=True):
        assert shown == char if char.isprintable() or char in "\n\t" else shown in " \N{REPLACEMENT CHARACTER}"
    found.encode()
    short = plain(text, 20)
    assert short.isprintable()
    assert len(short) <= 20


@settings(shared, max_examples=100)
@given(st.lists(steering, min_size=1, max_size=3))
def test_nothing_that_is_printed_steers_the_terminal(monkeypatch: pytest.MonkeyPatch, texts: list[str]) -> None:
    """Whatever a name, message or table holds, a terminal gets lines of text; a pipe gets data as it is."""
    shown, piped = io.StringIO(), io.StringIO()
    with monkeypatch.context() as patch:
        screen = console.Legible(file=shown, force_terminal=True, color_system=None, width=40, highlight=False)
        patch.setattr(console, "out", screen)
        patch.setattr(console, "err", screen)
        console.say(texts[0])
        console.tell(texts[0])
        console.complain(texts[0])
        console.give(texts[0])
        console.table([f"c{place}" for place in range(len(texts))], [texts, texts])
        console.table(texts, [range(len(texts))])
        patch.setattr(console, "out", console.Legible(file=piped))
        with contextlib.redirect_stdout(piped), contextlib.suppress(UnicodeEncodeError):
            console.give(texts[0])
    assert reads(shown.getvalue())
    assert piped.getvalue() == texts[0] + "\n"


def test_names_and_messages_of_others_do_not_steer_the_verbs(tmp_path: Path) -> None:
    """A sweep, a parameter's value and a message that hold escape sequences: no verb passes them to the terminal."""
    records = Records.open(tmp_path / "data")
    steer = "\x1b[31mred\x1b]0;title\x07\u202e"
    write_plan(records, ["x"], note=pa.array([steer]))
    write_shard(records, [Segment("x", status="failed")])
    (plan,) = records.plans()
    header, table = read_parquet(records.data / "plans" / f"{plan}.parquet", "plan")
    (records.data / "plans" / f"{plan}.parquet").unlink()
    write_parquet(records.data / "plans" / f"{plan}.parquet", table, {**header, "name": f"a{steer}"})
    (records.data / "shards" / f"{steer}").mkdir()
    (records.data / "shards" / f"{steer}" / "b.parquet").write_bytes(b"")
    for arguments in (
        ["ingest"],
        ["status"],
        ["sql", "select * from toy"],
        ["sql", f"select '{steer}'"],
        ["sql", steer],
        ["watch", "--once"],
    ):
        result = swingby(*arguments, "--data", records.data)
        assert result.exception is None or isinstance(result.exception, SystemExit), (arguments, result.exception)
        assert reads(result.stdout), arguments
        assert reads(result.stderr), arguments
