"""Laws of `gc`: what nobody needs goes, what is being written or may be needed stays, and no reader sees a change."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from swingby.data.files import TEMPORARY, write_whole
from swingby.data.records import Records
from swingby.maintenance import collect, gc
from swingby.run.drain import flag_for
from swingby.run.driver import run_sweep
from swingby.run.plan import Planner
from swingby.run.progress import Progress
from swingby.run.worker.segments import workdir
from swingby.store import build, ingest, tidy
from tests.support.command import swingby
from tests.support.store import Segment, snapshot, write_shard

WRITER = """
import sys, time
from pathlib import Path
from swingby.data.files import write_whole
def write(temporary):
    temporary.write_text("half")
    print("begun", flush=True)
    time.sleep(600)
write_whole(Path(sys.argv[1]), write)
"""


def temporaries(data: Path) -> list[Path]:
    return sorted(data.rglob(f"{TEMPORARY}*"))


def old(path: Path) -> Path:
    """The path, as if nobody had touched it for two days."""
    then = time.time() - 2 * 86400
    os.utime(path, (then, then))
    return path


def test_what_is_being_written_stays_and_what_died_goes(tmp_path: Path) -> None:
    """A file whose writer lives stays, whatever its age; once the writer is killed it goes, however young it is. A
    writer of whom nothing is known is taken for dead after a day, or after `older_than`."""
    records = Records.open(tmp_path / "data")
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(records.data / "plans" / "x")], stdout=subprocess.PIPE, text=True
    )
    with writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        (half,) = temporaries(records.data)
        assert collect(records.data, older_than=0).removed == ()
        os.kill(writer.pid, signal.SIGKILL)
    assert collect(records.data).removed == ((half.relative_to(records.data).as_posix(), 4),)
    unknown = records.data / "plans" / f"{TEMPORARY}0123-elsewhere"
    unknown.write_text("half")
    assert collect(records.data).removed == ()
    assert temporaries(records.data) == [unknown]
    assert len(collect(records.data, older_than=0).removed) == 1
    unknown.write_text("half")
    old(unknown)
    assert len(collect(records.data).removed) == 1
    assert temporaries(records.data) == []


def test_a_file_that_is_written_meanwhile_comes_whole(tmp_path: Path) -> None:
    """A collection in the midst of a write takes nothing from under the writer."""
    data = Records.open(tmp_path / "data").data

    def write(temporary: Path) -> None:
        temporary.write_text("the whole")
        old(temporary)
        assert collect(data, older_than=0).removed == ()

    assert write_whole(data / "plans" / "x", write).read_text() == "the whole"


def test_a_store_that_is_being_made_is_nobodys_leftover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose clock is two days ahead removes no file of a store that is being made; one left there goes."""
    records = Records.open(tmp_path / "data")
    write_shard(records, [Segment("a")])
    detach, left = build._detach, list[str]()

    def ahead(connection: Any, alias: str, path: Path) -> None:
        detach(connection, alias, path)
        if not path.name.startswith(TEMPORARY):
            return
        with monkeypatch.context() as other:
            other.setattr(gc, "tidy", partial(tidy, wait=0.01))
            other.setattr(time, "time", partial(float.__add__, time.time(), 2 * 86400.0))
            left.extend(collect(records.data).left)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(build, "_detach", ahead)
        assert ingest(records).shards == 1
    assert len(left) == 2
    assert "the store in" in left[0]
    half = records.data / "store" / "build-0001" / f"{TEMPORARY}0123-1-elsewhere"
    half.write_text("half")
    old(half)
    assert [path for path, _ in collect(records.data).removed] == [half.relative_to(records.data).as_posix()]


def test_no_reader_sees_a_change(tmp_path: Path) -> None:
    """Unfinished files, copies and builds that no pointer names, and what killed queries left: a dry run tells the
    same paths and removes none; afterwards they are gone, records and rows are as they were, and there is nothing more
    to collect."""
    records = Records.open(tmp_path / "data")
    for number in range(4):
        write_shard(records, [Segment(str(number))], batch=number)
        ingest(records)
    store = records.data / "store"
    orphan = store / "published" / "index-000001.duckdb"
    abandoned = store / "build-0007" / "index.duckdb"
    query = records.data / ".sandbox-killed"
    abandoned.parent.mkdir()
    query.mkdir()
    for path in (orphan, abandoned, query / "0.duckdb"):
        path.write_bytes(b"1234")
    old(query)
    for place in ("", "plans/", "shards/a-aaaaaaaa-0001/", "derived/d/", "retractions/", "store/", "store/published/"):
        path = records.data / place / f"{TEMPORARY}0123"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"1234")
        old(path)
    seen, kept = snapshot(records), {key: records.content(key) for key in records.paths()}
    told = collect(records.data, dry_run=True)
    assert len(temporaries(records.data)) == 7
    done = collect(records.data)
    assert sorted(done.removed) == sorted(told.removed)
    assert (len(done.removed), done.bytes, done.left) == (10, 40, ())
    assert temporaries(records.data) == []
    assert not any(path.exists() for path in (orphan, abandoned.parent, query))
    assert {key: records.content(key) for key in records.paths()} == kept
    assert snapshot(records) == seen
    assert collect(records.data).removed == ()
    ingest(records)
    assert snapshot(records) == seen


def test_checkpoints_stay_as_long_as_they_may_be_needed(walk: Any) -> None:
    """Checkpoints of finished sweeps and of sweeps without a plan go; those of missing cells stay, and whatever belongs
    to a sweep that somebody runs."""
    finished, begun = walk.sweep(name="finished", seeds=1), walk.sweep(name="begun", seeds=[5, 6])
    run_sweep(finished, walk.data, local=True, pilot=False, progress=Progress())
    run_sweep(walk.sweep(name="half", seeds=[5]), walk.data, local=True, pilot=False, progress=Progress())
    plan = Planner(begun, walk.records()).commit().plan
    records = walk.records()
    of_finished = next(records.read_plan(name) for name in records.plans() if name.startswith("finished"))
    done = workdir(records, of_finished, list(finished.cells())[:1])
    missing = [cell for cell in begun.cells() if cell.seed == 6]
    narrow = [cell for cell in missing if cell.params.model_dump()["width"] == 1]  # a batch of the plan
    needed = [workdir(records, plan, cells) for cells in (missing, narrow)]
    planless, flag = records.data / "work" / ("0" * 16) / "1", flag_for(records.data, of_finished.plan_id)
    aside = needed[0].with_name(f"{TEMPORARY}0123-1-elsewhere")  # of one that was being removed when power was cut
    for folder in (done, *needed, planless, aside):
        folder.mkdir(parents=True)
        (folder / "checkpoint").write_text("1234")
    flag.touch()
    with records.lock(finished.sweep_id):
        first = collect(walk.data)
    gone = [folder.relative_to(records.data).as_posix() for folder in (planless.parent, aside)]
    assert sorted(name for name, _ in first.removed) == sorted(gone)
    assert str(os.getpid()) in " ".join(first.left)
    assert (done.exists(), planless.parent.exists(), flag.exists()) == (True, False, True)
    assert all(folder.exists() for folder in needed)
    collect(walk.data)
    assert (done.parent.exists(), flag.exists(), aside.exists()) == (False, False, False)
    assert all(folder.exists() for folder in needed)
    assert run_sweep(begun, walk.data, local=True, pilot=False, progress=Progress()).missing == 0
    collect(walk.data)
    assert not any(folder.exists() for folder in needed)


def test_what_killed_drivers_and_workers_leave_goes(walk: Any) -> None:
    """Folders of Tune, half-fetched checkpoints, notes on deaths, and reports: they stay while somebody runs a sweep,
    and while they are young; then they go. Whose sweep is not known stays."""
    sweep = walk.sweep(seeds=1)
    run_sweep(sweep, walk.data, local=True, pilot=False, progress=Progress())
    records, work = walk.records(), walk.data / "work"
    (plan,) = records.plans()
    files = [work / ".tune-abc" / "tune" / "state", work / "put" / f"{TEMPORARY}x" / "object"]
    for path in files:
        path.parent.mkdir(parents=True)
        path.write_text("half")
    notes = [work / f"{plan}.b0-3.{what}" for what in ("died", "meter", "meter.part")]
    for note in notes:
        note.write_text("it was killed")
    stays = work / "put" / "somebody-s"
    stays.write_text("a note on what was put")
    for path in [*work.rglob("*")]:
        old(path)
    with records.lock(sweep.sweep_id):
        assert collect(walk.data).removed == ()
    for path in [*work.rglob("*")]:
        os.utime(path)
    told = [path.relative_to(walk.data).as_posix() for path in (files[0].parents[1], files[1].parent, *notes)]
    assert sorted(name for name, _ in collect(walk.data).removed) == told[2:]
    for path in [*work.rglob("*")]:
        old(path)
    assert {name for name, _ in collect(walk.data, dry_run=True).removed} == set(told[:2])
    assert {name for name, _ in collect(walk.data).removed} == set(told[:2])
    assert sorted(path for path in work.rglob("*") if path.is_file()) == [stays]


@pytest.mark.parametrize("dry", [[], pytest.param(["--dry-run"], marks=pytest.mark.slow)])
def test_the_command_says_what_it_removes(tmp_path: Path, dry: list[str]) -> None:
    """Path and bytes of each, and the sum; `doctor` tells of what there is to remove."""
    records = Records.open(tmp_path / "data")
    write_shard(records, [Segment("x")])
    ingest(records)
    left = records.data / "plans" / f"{TEMPORARY}0123"
    left.parent.mkdir(exist_ok=True)
    left.write_bytes(bytes(1500))
    old(left)
    warned = swingby("doctor", "--no-ray", "--data", records.data).stdout
    assert "1 unfinished file of writers that died" in warned
    done = swingby("gc", "--data", records.data, *dry)
    assert (done.exit_code, f"plans/{left.name}  1.5 kB" in done.stdout, left.exists()) == (0, True, bool(dry))
    assert f"{'would remove' if dry else 'removed'} 1 path: 1.5 kB" in done.stdout
