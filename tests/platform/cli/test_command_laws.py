"""What the command owes whoever types it: faults end with code 2 and leave nothing, failures with 1, and a run can be
watched, queried, drained and stopped while it goes on."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from swingby.data.records import Records
from tests.support.command import swingby
from tests.support.waiting import awaited

SIM = "name: bad\nexperiment: sim\n"
BAD = {
    "an unknown key": (f"{SIM}bsae: {{n: 3}}\n", "did you mean 'base'?"),
    "an unknown parameter": (f"{SIM}base: {{widht: 3}}\n", "did you mean 'width'?"),
    "a wrong type": (f"{SIM}base: {{width: many}}\n", "got 'many'"),
    "s above d": (f"{SIM}base: {{s: 3, d: 2}}\n", "allowed: s <= d"),
    "a negative sigma": (f"{SIM}base: {{sigma: [0.1, -0.1]}}\n", "sigma.1 = -0.1 is negative"),
    "an empty axis": (f"{SIM}axes: {{width: []}}\n", "axis 'width' is empty"),
    "10^9 cells": (
        f"{SIM}axes: {{lr: {{linspace: {{from: 0.1, to: 1, points: 1000000000}}}}}}\n",
        "1,000,000,000 cells",
    ),
    "a path outside": ("name: ../../outside\nexperiment: sim\n", "cannot leave the data folder"),
    "a tab": (f"{SIM}base:\n\twidth: 3\n", "tab in the indentation"),
}


def names(folder: Path) -> set[str]:
    """Every path below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("verb", ["validate", pytest.param("plan", marks=pytest.mark.slow), "run"])
@pytest.mark.parametrize("fault", BAD)
def test_a_bad_sweep_file_ends_with_code_2_and_leaves_nothing(verb: str, fault: str, tmp_path: Path) -> None:
    """The fault is told with its line; no data folder is made, nothing appears anywhere."""
    text, told = BAD[fault]
    (tmp_path / "here").mkdir()
    file = tmp_path / "here" / "bad.yaml"
    file.write_text(text)
    where = [] if verb == "validate" else ["--data", str(tmp_path / "here" / "data")]
    before = names(tmp_path)
    done = swingby(verb, file, *where)
    assert (done.exit_code, names(tmp_path)) == (2, before)
    assert done.stderr.startswith("error: ")
    assert told in done.stderr
    assert "line" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("verb", "spoil"), [("ingest", "one bit"), pytest.param("rebuild", "cut short", marks=pytest.mark.slow)]
)
def test_a_torn_shard_ends_with_code_2_and_is_trained_again(verb: str, spoil: str, walk: Any, run: Any) -> None:
    """A spoilt shard is named and left out, the others are taken; the next run trains its cells again, no others."""
    assert run().exit_code == 0
    records = walk.records()
    victim = records.shard_path(records.shards()[0])
    lost, whole = set(records.read_shard(records.shards()[0])[1]["cell_id"].to_pylist()), victim.read_bytes()
    shutil.rmtree(walk.data / "store")
    victim.write_bytes(
        {
            "cut short": whole[: len(whole) // 2],
            "one bit": whole[:60] + bytes([whole[60] ^ 1]) + whole[61:],
        }[spoil]
    )
    done = swingby(verb, "--data", walk.data)
    assert done.exit_code == 2
    assert victim.name in done.stderr
    walk.ledger.unlink()
    assert run().exit_code == 0
    assert set(walk.started()) == lost
    assert len(walk.rows("from walk")) == 12


@pytest.fixture
def run(walk: Any) -> Callable[..., Result]:
    """`swingby run --local` of the walks of conftest, changed as asked."""

    def command(*options: str, **changes: Any) -> Result:
        (walk.folder / "walks.yaml").write_text(walk.text(**changes))
        return swingby("run", walk.folder / "walks.yaml", "--data", walk.data, "--local", *options)

    return command


def test_failed_cells_end_with_code_1_and_are_tried_again_on_request(walk: Any, run: Any) -> None:
    """A run with failed cells ends with 1, also where nothing is left to do; --retry-failed trains just these."""
    changes = {"axes": {"wants": ["ok", "raise"]}, "seeds": 3}
    done = run(**changes)
    assert (done.exit_code, "3 FAILED" in done.stdout, "3 ok" in done.stdout) == (1, True, True)
    failed = {row.cell_id for row in walk.rows("select cell_id from walk where status = 'failed'")}
    walk.ledger.unlink()
    assert run(**changes).exit_code == 1
    assert not walk.ledger.exists()
    assert run("--retry-failed", **changes).exit_code == 1
    assert set(walk.started()) == failed


def test_a_run_says_forecast_and_actual(run: Any) -> None:
    """At its end stand the forecast from pilot cells and what it came to, in the same words."""
    done = run(seeds=20, base={"pause": 0.01})
    lines = {line.split(":")[0].strip(): line for line in done.stdout.splitlines()}
    assert done.exit_code == 0
    for name in ("forecast", "actual"):
        assert all(part in lines[name] for part in ("core-hours", "of training", "on disk"))


def start(walk: Any, **changes: Any) -> subprocess.Popen[str]:
    """`swingby run --local` in a process of its own, once one result is in the store and another cell has begun."""
    (walk.folder / "walks.yaml").write_text(walk.text(seeds=1, **changes))
    command = [str(Path(sys.executable).with_name("swingby")), "run", "walks.yaml", "--local", "--no-pilot"]
    child = subprocess.Popen(
        command,
        cwd=walk.folder,
        env=walk.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    walk.children.append(child)
    stored = "select least(count(*), 1) as n from walk"
    # A query is a process of its own: it is asked for once there may be something.
    awaited(lambda: len(walk.started()) >= 2 and "1" in query(walk, stored), child=child)
    return child


def query(walk: Any, sql: str) -> str:
    """What `swingby sql` answers, as CSV."""
    return swingby("sql", sql, "--data", walk.data, "--format", "csv").stdout


def test_a_run_can_be_watched_drained_and_gone_on_with(walk: Any) -> None:
    """While it runs, `sql` answers with its results and `status` says who runs it; after Ctrl-C the running batch is
    kept, the code is 1, for cells are missing, and `status` says so."""
    going = start(walk, axes={"width": list(range(1, 121))}, base={"pause": 1.5})
    status = swingby("status", "--data", walk.data)
    assert status.exit_code == 0
    assert str(going.pid) in status.stdout.replace("\n", "")
    assert swingby("run", walk.folder / "walks.yaml", "--data", walk.data, "--local").exit_code == 2
    os.killpg(going.pid, signal.SIGINT)
    told = going.communicate(timeout=120)[0]
    assert going.returncode == 1, told
    assert "goes on where it stopped" in told
    assert "Traceback" not in told
    assert {row.cell_id for row in walk.rows("select cell_id from walk")} == set(walk.started())
    assert str(going.pid) not in swingby("status", "--data", walk.data).stdout


def test_a_second_ctrl_c_stops_in_the_middle(walk: Any) -> None:
    """The for-loop stops within the batch, without a trace, with a code that is not 0, and leaves no half of a file."""
    going = start(walk, axes={"zip": [{"width": [1, 2], "pause": [0.0, 600.0]}]})
    assert going.stdout is not None
    os.killpg(going.pid, signal.SIGINT)
    said = list(itertools.takewhile(lambda line: "stopping: running batches finish" not in line, going.stdout))
    os.killpg(going.pid, signal.SIGINT)
    told = "".join([*said, going.stdout.read()])
    assert going.wait(timeout=120) not in (0, 2), told
    assert "Traceback" not in told
    assert [path for path in walk.data.rglob("*") if ".tmp" in path.name] == []
    assert [row.width for row in walk.rows("select width from walk")] == [1]


def test_a_full_disk_ends_a_run_with_code_2(walk: Any, run: Any, small_disk: Callable[[int], Path]) -> None:
    """A run whose disk fills up says so and leaves no half of a file; with room it is finished, nothing done twice."""
    disk = small_disk(8)
    walk.data = disk / "data"
    changes = {"seeds": 20, "base": {"length": 3000}, "axes": {"width": list(range(1, 11))}}
    done = run("--no-pilot", **changes)
    assert done.exit_code == 2, done.stderr
    assert "disk is full" in done.stderr
    assert [path for path in walk.data.rglob("*") if ".tmp" in path.name] == []
    whole = {
        cell
        for name in Records.open(walk.data).shards()
        for cell in Records.open(walk.data).read_shard(name)[1]["cell_id"].to_pylist()
    }
    subprocess.run(["mount", "-o", "remount,size=200m", str(disk)], check=True)
    assert run("--no-pilot", **changes).exit_code == 0
    assert len(walk.rows("select cell_id from walk")) == 200
    assert {walk.started()[cell] for cell in whole} == {1}
