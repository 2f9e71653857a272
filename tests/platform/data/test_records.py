"""Laws of the records: each file is whole or absent, says what it is, and gives back what was put in."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.data.files import ensure_folder, make_folder
from swingby.data.provenance import checkout, provenance
from swingby.data.records import Records
from swingby.data.records.headers import BatchNote, Plan, ShardHeader, plan_table
from swingby.data.remote.address import DATA_MARK
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.cell import Point
from swingby.model.columns import parameter_schema
from swingby.model.experiment import Recording
from swingby.model.params import Matrix, Params, Vector, added


class ToyParams(Params):
    """One parameter of every kind a column can hold."""

    width: int = 2
    lr: float = 0.1
    kind: Literal["left", "right"] = "left"
    bias: bool = False
    mu: Vector = (1.0, 2.0)
    start: Matrix | None = None
    note: str | None = None
    later: int = added(7)


class Toy:
    """What the records use of an experiment."""

    name = "toy"
    Params = ToyParams


@pytest.fixture
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "experiment", lambda name: {"toy": Toy()}[name])


POINTS = [
    Point("toy", 1, ToyParams(dtype="float32")),
    Point(
        "toy",
        1,
        ToyParams(
            dtype="float64", width=3, lr=0.25, kind="right", bias=True, mu=(0.5,), start=((1.0, -2.0),), note="x"
        ),
    ),
    Point("toy", 1, ToyParams(dtype="float32", later=8), seeds="independent"),
]


def test_two_commands_begin_a_folder_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the other one has made since this one looked for the mark, it is no folder of something else."""
    data, exists, looked = tmp_path / "data", Path.exists, list[Path]()

    def look(path: Path) -> bool:
        found = exists(path)
        if path.name == DATA_MARK and not looked:
            looked.append(path)
            other = Records.open(data)
            (other.data / "plans").mkdir()
        return found

    monkeypatch.setattr(Path, "exists", look)
    assert Records.open(data).data == data
    assert looked


def test_what_others_remove_meanwhile_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who looks for files that are left takes a folder for empty that a run beside it removes at that moment."""
    records = Records.open(tmp_path / "data")
    for name in "ab":
        make_folder(records.data / "work" / name)
        (records.data / "work" / name / ".tmp-left").touch()
    scandir = os.scandir

    def gone(place: Any = ".") -> Any:
        if not isinstance(place, int) and Path(place).name == "a":
            shutil.rmtree(place)
        return scandir(place)

    monkeypatch.setattr(os, "scandir", gone)
    assert records.unfinished() == [records.data / "work" / "b" / ".tmp-left"]


def test_a_folder_is_made_while_another_process_removes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two batches the one that ends removes the folders that both need, at any moment; what cannot be is told."""
    mkdir, removed = os.mkdir, list[str]()

    def gone(path: Any, *given: Any, **options: Any) -> None:
        mkdir(path, *given, **options)
        if Path(path).name == "work" and len(removed) < 2:
            removed.append(path)
            os.rmdir(path)  # noqa: PTH106 - `mkdir` is the system's, too

    monkeypatch.setattr(os, "mkdir", gone)
    ensure_folder(tmp_path / "work" / "sweep" / "batch")
    assert (tmp_path / "work" / "sweep" / "batch").is_dir()
    assert len(removed) == 2

    def was_there(path: Any, *given: Any, **options: Any) -> None:
        monkeypatch.setattr(os, "mkdir", mkdir)
        raise FileExistsError(errno.EEXIST, "there, and removed before anybody looks", path)

    monkeypatch.setattr(os, "mkdir", was_there)
    ensure_folder(tmp_path / "work" / "other")
    assert (tmp_path / "work" / "other").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        ensure_folder(tmp_path / "file" / "folder")
    with pytest.raises(FileExistsError):
        ensure_folder(tmp_path / "file")


def make_plan(sequence: int = 1) -> Plan:
    point = [0, 1, 2, 0, 1, 2]
    table = plan_table(POINTS, point, [0, 0, 0, 1, 1, 1], [1, 0, None, 0, 1, 0])
    notes = (BatchNote(0, "s", 3, 1.5), BatchNote(1, "s", 2))
    recording = Recording("log", 50, ("jacobian",))
    return Plan("ab" * 8, "toys", "toy", 1, sequence, {"title": "Toys"}, recording, {"host": "h"}, notes, source=table)


def make_rows(count: int = 3) -> pa.Table:
    return pa.table(
        {
            "cell_id": [f"{index:032x}" for index in range(count)],
            "from_step": pa.array([0] * count, pa.int64()),
            "to_step": pa.array([2] * count, pa.int64()),
            "final": [True] * count,
            "status": ["ok"] * count,
            "message": pa.nulls(count, pa.string()),
            "step": pa.array([[0, 1, 2]] * count, pa.list_(pa.int64())),
            "loss": pa.array([[1.0, math.nan, math.inf]] * count, pa.list_(pa.float64())),
            "score": pa.array([0.5] * count, pa.float64()),
        }
    )


def make_header(**changes: object) -> ShardHeader:
    values = {
        "plan_id": "toys-abababab-0001",
        "sweep_id": "ab" * 8,
        "experiment": "toy",
        "batch": 0,
        "attempt": 1001,
        "recorded": ("steps:log:50",),
        "curves": ("step", "loss"),
        "shape": "s",
        "cells": 3,
        "started": "2026-01-01T00:00:00+00:00",
        "finished": "2026-01-01T00:00:05+00:00",
        "seconds": 5.0,
        "host": "h",
        "device": "cpu",
        "pid": 1,
        "versions": {"swingby": "0"},
    }
    return ShardHeader(**{**values, **changes})


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


# the data folder


def test_a_data_folder_is_made_once_and_known_again(tmp_path: Path) -> None:
    """Opening makes a marked folder; opening again changes nothing."""
    Records.open(tmp_path / "new" / "data")
    Records.open(tmp_path / "new" / "data", create=False)
    assert json.loads((tmp_path / "new" / "data" / "swingby.json").read_text()) == {"format": 1}


@pytest.mark.parametrize("mark", ['{"format": 3}', '{"format": 0}', '{"format": "1"}', "{}", "not json", "[]"])
def test_a_folder_of_another_format_is_refused(tmp_path: Path, mark: str) -> None:
    """A folder whose mark is not of this format is left alone, with a word on what is known."""
    (tmp_path / "swingby.json").write_text(mark)
    with pytest.raises(SwingbyError, match=r"format"):
        Records.open(tmp_path)
    assert files(tmp_path) == ["swingby.json"]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    """A folder with files and no mark is somebody else's: nothing is written there."""
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(SwingbyError, match="not a data folder"):
        Records.open(tmp_path)
    assert files(tmp_path) == ["thesis.tex"]


def test_a_folder_whose_mark_did_not_last_is_begun_again(tmp_path: Path) -> None:
    """A power cut while two commands begin a folder may leave that of their locks alone."""
    (tmp_path / "locks").mkdir()
    assert Records.open(tmp_path).plans() == []
    assert files(tmp_path) == ["swingby.json"]


def test_a_missing_folder_is_only_made_on_request(tmp_path: Path) -> None:
    """Without `create` a missing folder is an error, and stays missing."""
    with pytest.raises(SwingbyError, match="no data folder"):
        Records.open(tmp_path / "typo", create=False)
    assert not (tmp_path / "typo").exists()


def test_a_file_in_the_folders_place_is_a_clear_error(tmp_path: Path) -> None:
    """A path that is a file is refused as one that cannot be used."""
    (tmp_path / "data").write_text("x")
    with pytest.raises(SwingbyError, match="cannot use the data folder"):
        Records.open(tmp_path / "data")


# parameters and plans


def test_every_kind_of_parameter_has_a_typed_column() -> None:
    """int, float, Literal, bool, Vector, Matrix and None-able ones become the types that hold them."""
    schema = parameter_schema(ToyParams)
    number, matrix = pa.float64(), pa.list_(pa.list_(pa.float64()))
    types = {field.name: (field.type, field.nullable) for field in schema}
    assert types == {
        "dtype": (pa.string(), False),
        "width": (pa.int64(), False),
        "lr": (number, False),
        "kind": (pa.string(), False),
        "bias": (pa.bool_(), False),
        "mu": (pa.list_(number), False),
        "start": (matrix, True),
        "note": (pa.string(), True),
        "later": (pa.int64(), False),
    }


def test_a_parameter_no_column_can_hold_is_named() -> None:
    """A parameter of an unsupported type is refused by name."""

    class Odd(Params):
        table: dict[str, int] = {}  # noqa: RUF012 - pydantic copies defaults

    with pytest.raises(SwingbyError, match=r"Odd\.table"):
        parameter_schema(Odd)


def test_a_plan_comes_back_as_it_was_written(records: Records) -> None:
    """Header and rows survive; the rows lie sorted by batch, those without one at the end."""
    plan = make_plan()
    records.write_plan(plan)
    assert records.plans() == [plan.plan_id] == ["toys-abababab-0001"]
    found = records.read_plan(plan.plan_id)
    assert found == plan
    assert found.table["batch"].to_pylist() == [0, 0, 0, 1, 1, None]
    assert found.table.sort_by("cell_id") == plan.table.sort_by("cell_id")


@pytest.mark.usefixtures("_toy")
def test_a_batch_gives_back_its_cells(records: Records) -> None:
    """The cells of a batch are rebuilt from typed columns: same ids, parameters and seed modes as planned."""
    records.write_plan(make_plan())
    planned = {POINTS[index].cell(seed).cell_id: POINTS[index].cell(seed) for index, seed in [(1, 0), (0, 1), (2, 1)]}
    plan = records.read_plan("toys-abababab-0001")
    cells, recording = records.read_cells(plan, (0,)), plan.recording
    assert {cell.cell_id: cell for cell in cells} == planned
    assert recording == Recording("log", 50, ("jacobian",))


@pytest.mark.usefixtures("_toy")
def test_a_batch_of_another_code_version_is_refused(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the installed experiment gives planned cells other ids, nothing is trained under the old ones."""
    records.write_plan(make_plan())

    class Changed(ToyParams):
        fresh: int = 3

    monkeypatch.setattr(Toy, "Params", Changed)
    with pytest.raises(SwingbyError, match="another version of toy"):
        records.read_cells(records.read_plan("toys-abababab-0001"), (0,))


@pytest.mark.usefixtures("_toy")
def test_a_batch_that_is_not_there_is_a_clear_error(records: Records) -> None:
    """Unknown plans and batches are told, with what there is."""
    records.write_plan(make_plan())
    with pytest.raises(SwingbyError, match="no batch 9; it has 2"):
        records.read_cells(records.read_plan("toys-abababab-0001"), (9,))
    with pytest.raises(SwingbyError, match="no plan"):
        records.read_cells(records.read_plan("toys-abababab-0002"), (0,))


def test_plans_are_numbered_and_never_overwritten(records: Records) -> None:
    """The next sequence number is free; a plan that exists is refused."""
    assert records.next_sequence("toys", "ab" * 8) == 1
    records.write_plan(make_plan())
    assert records.next_sequence("toys", "ab" * 8) == 2
    assert records.next_sequence("toys", "cd" * 8) == 1
    with pytest.raises(SwingbyError, match="never written twice"):
        records.write_plan(make_plan())


# shards


def test_a_shard_comes_back_as_it_was_written(records: Records) -> None:
    """Header and rows survive, not-a-number and infinity with them; the attempt is added to each row."""
    header, rows = make_header(), make_rows()
    path = records.write_shard(header, rows)
    (name,) = records.shards()
    assert records.shard_path(name) == path
    found, table = records.read_shard(name)
    assert found == header
    assert table["attempt"].to_pylist() == [1001] * 3
    assert str(table.drop_columns("attempt").to_pylist()) == str(rows.to_pylist())


def test_attempts_count_up_within_a_plan_and_across_plans(records: Records) -> None:
    """A later attempt has a larger number than every earlier one of its sweep, in this plan or an earlier one."""
    first, second = make_plan(1), make_plan(2)
    assert records.next_attempt(first, 0) == 1001
    records.write_shard(make_header(), make_rows())
    assert records.next_attempt(first, 0) == 1002
    assert records.next_attempt(first, 1) == 1001
    assert records.next_attempt(second, 0) == 2001


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda rows: rows.drop_columns("status"), "no column 'status'"),
        (lambda rows: rows.set_column(1, "from_step", pa.array([0.0] * 3)), "allowed: int64"),
        (lambda rows: rows.drop_columns("loss"), "curve 'loss'"),
        (lambda rows: rows.set_column(7, "loss", pa.array([1.0] * 3)), "curve 'loss'"),
        (lambda rows: rows.append_column("score", rows["score"]), "score"),
    ],
)
def test_rows_that_are_no_segments_are_refused(records: Records, spoil, complaint: str) -> None:
    """A table without the columns of a segment leaves no shard."""
    with pytest.raises(SwingbyError, match=complaint):
        records.write_shard(make_header(), spoil(make_rows()))
    assert records.shards() == []


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_torn_shard_is_a_clear_error(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """However a shard is cut short, or whichever bit of it flips, reading it says so."""
    records = Records.open(tmp_path_factory.mktemp("torn") / "data")
    path = records.write_shard(make_header(), make_rows())
    (name,) = records.shards()
    good, content = records.read_shard(name), path.read_bytes()
    if data.draw(st.booleans(), label="cut"):
        path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    else:
        place, bit = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(0, 7))
        path.write_bytes(content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :])
    with pytest.raises(SwingbyError, match=path.name):
        records.read_shard(name)
    path.write_bytes(content)
    assert str(records.read_shard(name)) == str(good)


def test_foreign_files_are_told_from_shards(records: Records) -> None:
    """A Parquet file that is somebody else's, or another record under a shard's name, is refused as such."""
    path = records.write_shard(make_header(), make_rows())
    (name,) = records.shards()
    pq.write_table(make_rows(), path)
    with pytest.raises(SwingbyError, match="not a shard"):
        records.read_shard(name)
    path.write_bytes(records.write_plan(make_plan()).read_bytes())
    with pytest.raises(SwingbyError, match="not the one its name was made from"):
        records.read_shard(name)


def test_unfinished_files_are_not_listed(records: Records) -> None:
    """A temporary file that a killed writer left is not a record."""
    path = records.write_shard(make_header(), make_rows())
    path.with_name(".tmp-0123.parquet").write_bytes(b"half")
    assert len(records.shards()) == 1


def test_a_full_disk_leaves_nothing_half_written(small_disk: Callable[[int], Path]) -> None:
    """On a full disk a record is refused with a clear word, nothing of it stays, and there is room again afterwards."""
    disk = small_disk(2)
    records = Records.open(disk / "data")
    before = files(disk)
    noise = pa.array(np.random.default_rng(0).normal(size=(4000, 100)).tolist())
    rows = make_rows(4000).drop_columns("loss").append_column("loss", noise)
    with pytest.raises(SwingbyError, match="disk is full"):
        records.write_shard(make_header(), rows)
    assert files(disk) == before
    records.write_shard(make_header(), make_rows())
    assert len(records.shards()) == 1


# derived


def test_derived_records_come_back_as_they_were_written(records: Records) -> None:
    """Rows, kind, version, key and further notes survive; equal content has one name only if made at one time."""
    table = pa.table({"cell_id": ["a", "b"], "height": [1.0, math.nan]})
    records.write_derived("outcomes_toy", "1.2", ["cell_id"], table, detector="toy")
    (name,) = records.derived()
    assert name.startswith("outcomes_toy/1.2-")
    header, found = records.read_derived(name)
    assert (header["kind"], header["version"], header["key"], header["detector"]) == (
        "outcomes_toy",
        "1.2",
        ["cell_id"],
        "toy",
    )
    assert str(found.to_pylist()) == str(table.to_pylist())


@pytest.mark.parametrize(
    ("kind", "version", "key", "complaint"),
    [
        ("../escape", "1", ["cell_id"], "cannot name"),
        ("Outcomes", "1", ["cell_id"], "cannot name"),
        ("outcomes", "../1", ["cell_id"], "cannot be a version"),
        ("outcomes", "1", ["cell"], "no column 'cell'"),
    ],
)
def test_derived_records_with_bad_names_are_refused(
    records: Records, kind: str, version: str, key: list[str], complaint: str
) -> None:
    """A kind is a table's name, a version a word, a key a column; anything else leaves no file."""
    with pytest.raises(SwingbyError, match=complaint):
        records.write_derived(kind, version, key, pa.table({"cell_id": ["a"]}))
    assert records.derived() == []


# locks and provenance


def test_one_run_of_a_sweep_at_a_time(records: Records) -> None:
    """Who comes second is told who holds the lock; other sweeps are free; afterwards it is free again."""
    with records.lock("ab" * 8, "swingby run toys"):
        with records.lock("cd" * 8):
            pass
        with (
            pytest.raises(SwingbyError, match=r"held by process \d+ on .* \(swingby run toys\)"),
            records.lock("ab" * 8),
        ):
            pass
    with records.lock("ab" * 8):
        pass


def test_a_holder_that_dies_lets_go(records: Records) -> None:
    """A lock whose holder was killed is free at once, whatever the lock file still says."""
    code = f"""
from swingby.data.records import Records
with Records.open({str(records.data)!r}).lock("{"ab" * 8}"):
    print("held", flush=True)
    input()
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(SwingbyError, match=f"process {holder.pid}"), records.lock("ab" * 8):
            pass
        holder.kill()
    with records.lock("ab" * 8):
        pass


def test_shards_written_at_once_are_all_there(records: Records) -> None:
    """Writers do not disturb each other, even at the same batch and attempt."""
    headers = [make_header(pid=pid) for pid in range(8)]
    writers = [threading.Thread(target=records.write_shard, args=(header, make_rows())) for header in headers]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = [records.read_shard(name)[0] for name in records.shards()]
    assert sorted(found, key=lambda header: header.pid) == headers


def test_provenance_names_the_commit_and_its_changes(tmp_path: Path) -> None:
    """Inside a checkout commit and dirty flag are git's; outside, or for an untracked copy, there are none."""

    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    code = tmp_path / "code"
    code.mkdir()
    (code / "a.py").write_text("1")
    assert checkout(code) == (None, None)
    git("init", "-q")
    assert checkout(code) == (None, None)
    git("add", ".")
    git("commit", "-qm", "x")
    assert checkout(code) == (git("rev-parse", "HEAD"), False)
    (code / "a.py").write_text("2")
    assert checkout(code) == (git("rev-parse", "HEAD"), True)


def test_provenance_is_plain_json() -> None:
    """It can be written into a record, and names the packages this one requires."""
    found = provenance()
    assert json.loads(json.dumps(found)) == found
    assert {"swingby", "duckdb", "pyarrow", "numpy", "torch", "ray"} <= found["versions"].keys()
    assert "pytest" not in found["versions"]
