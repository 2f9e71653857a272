"""Laws of the store when things go wrong: killed anywhere, two writers at once, a full disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.store import Ingest, Layout, Store, ingest, rebuild
from tests.support.store import LIST, Segment, cells, rows_of, snapshot, write_plan, write_shard

# killed anywhere

KILLED = """
import json, os, shutil, sys
from pathlib import Path
from swingby.data.records import Records
from swingby.store import Ingest, Layout

def ingest_killed(data, owner, seam, when, nth):
    owner = {"Ingest": Ingest, "Layout": Layout, "Path": Path, "shutil": shutil}[owner]
    real, calls = getattr(owner, seam), 0

    def killed(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls == nth and when == "before":
            os._exit(9)
        result = real(*arguments, **options)
        if calls == nth:
            os._exit(9)
        return result

    setattr(owner, seam, killed)
    with Ingest(Records.open(data), segment_rows=3) as step:
        step.take()
        step.publish(force=True)

for line in sys.stdin:
    child = os.fork()
    if not child:
        try:
            ingest_killed(*json.loads(line))
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""
"""Each process that is killed is the fork of one that has imported all, and never opened a database itself."""
WINDOWS = [
    ("Ingest", "_commit", "after", 1),  # the plan
    ("Ingest", "_commit", "after", 2),  # the curves
    ("Ingest", "_commit", "after", 3),  # the rows
    ("shutil", "copyfile", "after", 1),  # the index only
    ("Layout", "flip", "before", 1),
    ("Layout", "prune", "before", 1),
    ("Path", "rename", "before", 2),  # the segment after the one that was sealed
]
MORE = [("Ingest", "_publish", "before", 1), *(("Ingest", "_commit", "before", nth) for nth in (1, 2, 3))]
"""Windows that leave what one of the others leaves: the next commit has not begun where the last one has ended."""


Killing = Callable[..., str]


@pytest.fixture(scope="module")
def killed_at() -> Iterator[Killing]:
    """Ingests in a process of its own, which dies at a window; gives the code that it ended with."""
    command = [sys.executable, "-c", KILLED]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answered = process.stdin, process.stdout

        def killed(data: Path, *window: str | int) -> str:
            print(json.dumps([str(data), *window]), file=asked, flush=True)
            return answered.readline()

        yield killed
        asked.close()


@pytest.mark.parametrize(
    ("owner", "seam", "when", "nth"), [*WINDOWS, *(pytest.param(*window, marks=pytest.mark.slow) for window in MORE)]
)
def test_killed_anywhere_it_goes_on(
    records: Records, killed_at: Killing, owner: str, seam: str, when: str, nth: int
) -> None:
    """An ingest killed at any window leaves the old generation readable; the next one has each cell once."""
    write_shard(records, [Segment("0")])
    ingest(records)
    old = snapshot(records)
    write_plan(records, ["x", "y"], "b", width=pa.array([1, 2]))
    write_shard(records, [Segment("x", value=1), Segment("y", value=2), Segment("z", value=3)], batch=1)
    assert killed_at(records.data, owner, seam, when, nth) == "9\n"
    flipped = (owner, seam) == ("Layout", "prune")
    assert (snapshot(records) == old) is not flipped
    ingest(records)
    assert [(row[0], row[2]) for row in cells(records)] == [("0", 0.0), ("x", 1.0), ("y", 2.0), ("z", 3.0)]
    seen = snapshot(records)
    rebuild(records)
    assert snapshot(records) == seen


def test_a_rebuild_that_dies_changes_nothing(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the new build is published readers and writers stay on the old one; what is published next clears up."""
    write_shard(records, [Segment("x")])
    ingest(records)
    old = snapshot(records)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Layout, "flip", die)
        with pytest.raises(KeyboardInterrupt):
            rebuild(records)
    assert snapshot(records) == old
    assert len(list(Layout(records.data).root.glob("build-*"))) == 2
    write_shard(records, [Segment("y")])
    ingest(records)
    assert [row[0] for row in cells(records)] == ["x", "y"]
    assert len(list(Layout(records.data).root.glob("build-*"))) == 1
    rebuild(records)
    assert [row[0] for row in cells(records)] == ["x", "y"]


def test_an_ingest_that_failed_can_be_tried_again_at_once(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault between the curves' commit and the rows' leaves no double, even in the same ingest and segment."""
    write_shard(records, [Segment("x"), Segment("y")])
    real, calls = Ingest._commit, []

    def fail_once(self: Ingest, database: str) -> None:
        calls.append(database)
        if calls == ["seg", "ix"]:
            raise OSError("unplugged")
        real(self, database)

    monkeypatch.setattr(Ingest, "_commit", fail_once)
    with Ingest(records) as step:
        with pytest.raises(SwingbyError, match="unplugged"):
            step.take()
        assert step.take().shards == 1
        assert step._build.connection().execute("select count(*) from seg.curves.toy").fetchall() == [(2,)]
        step.publish(force=True)
    assert [row[0] for row in cells(records)] == ["x", "y"]


# two at once


def test_writers_wait_for_each_other(records: Records) -> None:
    """A second process that ingests waits for the first, or is told who that is; it takes nothing twice."""
    write_shard(records, [Segment("x")])
    code = "import sys; from swingby.data.records import Records; from swingby.store import ingest;"
    code += "print(ingest(Records.open(sys.argv[1]), wait=float(sys.argv[2])).shards)"

    def other(wait: float) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", code, str(records.data), str(wait)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    with Ingest(records) as step:
        patient, hasty = other(60), other(0)
        _, complaint = hasty.communicate()
        assert f"held by process {os.getpid()}" in complaint
        assert step.take().shards == 1
        assert patient.poll() is None
        step.publish(force=True)
    assert patient.communicate()[0] == "0\n"
    assert len(cells(records)) == 1


@pytest.mark.slow
def test_many_writers_at_once_are_as_one(records: Records) -> None:
    """Several processes that write shards and ingest at once leave each cell once, and what a rebuild leaves."""
    code = """
import sys
from swingby.data.records import Records
from swingby.store import ingest
records = Records.open(sys.argv[1])
for name in sys.argv[2:]:
    (records.data / "waiting" / name).rename(records.shard_path(name.replace("@", "/")))
    ingest(records)
"""
    waiting = records.data / "waiting"
    waiting.mkdir()
    names = [write_shard(records, [Segment(f"{batch:02d}")], batch=batch) for batch in range(9)]
    for name in names:
        records.shard_path(name).rename(waiting / name.replace("/", "@"))
    flat = [name.replace("/", "@") for name in names]
    command = [sys.executable, "-c", code, str(records.data)]
    writers = [subprocess.Popen([*command, *flat[place::3]], stderr=subprocess.PIPE, text=True) for place in range(3)]
    assert [writer.communicate()[1] for writer in writers] == [""] * 3
    assert [row[0] for row in cells(records)] == [f"{batch:02d}" for batch in range(9)]
    seen = snapshot(records)
    rebuild(records)
    assert snapshot(records) == seen


# a full disk


@pytest.mark.parametrize("room", [0.2, pytest.param(1.0, marks=pytest.mark.slow), 3.5])
def test_a_full_disk_stops_an_ingest_cleanly(small_disk: Callable[[int], Path], room: float) -> None:
    """However many MB are left when the disk fills up: a clear error, readers keep the old; with room it goes on."""
    disk = small_disk(20)
    records = Records.open(disk / "data")
    ingest(records)
    old = snapshot(records)
    noise = np.random.default_rng(0).normal(size=(1000, 200))
    segments = [Segment(f"{k:04d}") for k in range(1000)]
    table = rows_of(segments).drop_columns("loss").append_column("loss", pa.array(noise.tolist(), LIST))
    write_shard(records, table)
    free = shutil.disk_usage(disk).free
    filler = disk / "filler"
    filler.write_bytes(bytes(int(free - room * 2**20)))
    with pytest.raises(SwingbyError, match="disk is full"):
        ingest(records)
    assert snapshot(records) == old
    filler.unlink()
    ingest(records)
    with Store.open(records.data) as store:
        found = store.sql("select loss from toy order by cell_id").arrow()["loss"].to_pylist()
    assert np.array_equal(np.array(found), noise)
