"""A cluster whose machines share no folder, only a bucket: its rows, its checkpoints, and who may drive."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swingby.data.records import Records
from swingby.data.remote.bucket import Bucket
from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.run.ray.environment import require_tokens
from swingby.store import Store
from tests.support.cluster import Nodes, simulated
from tests.support.object_storage import KEYS, Storage, storage
from tests.support.waiting import awaited

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]
"""Each needs a cluster of three nodes and a storage."""

SAME = """select cell_id, seed, seed_mode, width, rate, status, message, recorded, steps, step, position,
                 final_position, height, noisy
          from walk join outcomes_walk_height using (cell_id) order by cell_id"""
"""All of a row, and of what the detector says of it, but where and how fast it was trained."""
DRIVER = """
import sys
from misbehaving_plugin import Walk
from swingby.run.driver import run_sweep
from swingby.run.progress import Lines
from swingby.sweepfile.sweep import Sweep
Walk.max_batch = lambda self, params: 1  # as of long cells
print(run_sweep(Sweep.load("walks.yaml"), "DATA", pilot=False, address="ADDRESS", code="installed",
                progress=Lines(sys.stdout)), flush=True)
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Storage]:
    """A storage."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with storage() as found:
        yield found


@pytest.fixture
def nodes(walk: Any, server: Storage, tmp_path: Path) -> Iterator[Nodes]:
    """Three nodes, each with a folder of its own for mirrors; the first has two workers, which share it."""
    own = [{"num_cpus": 1 + (k == 0), "env_vars": {"SWINGBY_MIRRORS": str(tmp_path / f"node{k}")}} for k in range(3)]
    require_tokens()
    with simulated(own, walk.environment(), os.environ["RAY_AUTH_TOKEN_PATH"]) as found:
        yield found


def rows(data: Any, query: str = SAME) -> list[Any]:
    """What a reader sees."""
    with Store.open(data) as store:
        return store.sql(query).rows()


def on(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on this process is on another machine."""
    monkeypatch.setenv("SWINGBY_MIRRORS", str(tmp_path / name))


def test_nodes_without_a_common_folder(
    walk: Any, server: Storage, nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Driven from a machine that is none of theirs, three nodes leave what one process on a disk leaves; each cell is
    trained once, and every node has but what it needed. Processes of one run that have no room on one machine are
    refused."""
    monkeypatch.setattr("swingby.run.batches.UNMEASURED", 1)
    monkeypatch.setattr("swingby.run.scheduler.GROWTH", 0)  # a batch a trial
    text = {"axes": {"width": [1, 2], "wants": ["ok", "diverge"]}, "seeds": 6, "base": {"pause": 0.3}}
    sweep, address = walk.sweep(**text), server.address("x")
    on("driver", tmp_path, monkeypatch)
    done = run_sweep(sweep, address, pilot=False, address=nodes.address, code="installed", progress=Progress())
    assert (done.ok, done.diverged, done.missing) == (12, 12, 0)
    assert set(walk.started().values()) == {1}
    wide, options = walk.sweep(name="wide", seeds=1), {"address": nodes.address, "code": "installed", "processes": 3}
    with pytest.raises(SwingbyError, match="needs 3 CPU on one machine"):
        run_sweep(wide, address, pilot=False, progress=Progress(), **options)
    run_sweep(sweep, walk.data, local=True, pilot=False, progress=Progress())
    assert rows(address) == rows(walk.data)
    shards = [len(list((tmp_path / f"node{k}").glob("*/shards/*/*"))) for k in range(3)]
    ours = [name for name in Records.open(address).shards() if name.startswith("walks-")]
    assert sum(shards) == len(ours) == 24
    assert sum(count > 0 for count in shards) > 1, "one node did everything"
    assert {item.key.split("/")[0] for item in Bucket(address).listing()} == {
        "swingby.json",
        "plans",
        "shards",
        "derived",
    }


def test_a_driver_is_killed_and_another_machine_goes_on(
    walk: Any, server: Storage, nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a driver runs long cells on the cluster, another machine is refused; when it is killed, one with an empty
    folder goes on: nothing is lost, no finished cell is trained again, and cells go on from checkpoints wherever they
    are dealt to."""
    long = {"axes": {"width": [1, 2]}, "base": {"length": 59, "pieces": 20, "pause": 0.3}, "seeds": 3}
    (walk.folder / "walks.yaml").write_text(walk.text(**long))
    on("first", tmp_path, monkeypatch)
    address, sweep = server.address("x"), walk.sweep(**long)
    child = walk.driver(DRIVER.replace("DATA", address).replace("ADDRESS", nodes.address))
    bucket = Bucket(address)
    awaited(lambda: sum(item.key.endswith(".tar") for item in bucket.listing("work")) >= 2, child=child)
    on("second", tmp_path, monkeypatch)
    monkeypatch.setattr(type(sweep.experiment), "max_batch", lambda self, params: 1)
    options: dict[str, Any] = {"pilot": False, "address": nodes.address, "code": "installed", "progress": Progress()}
    with pytest.raises(SwingbyError, match=r"is held by process \d+ on"):
        run_sweep(sweep, address, **options)
    finished = {row.cell_id for row in rows(address, "select cell_id from walk where status = 'ok'")}
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    begun = walk.started()
    done = run_sweep(sweep, address, **options)
    assert (done.ok, done.missing) == (6, 0)
    again = walk.started() - begun
    assert not finished & again.keys()
    plain = walk.sweep(**{**long, "base": {"length": 59}})
    run_sweep(plain, walk.data, local=True, pilot=False, progress=Progress())
    places = "select width, seed, steps, step, position, final_position from walk order by all"
    assert rows(address, places) == rows(walk.data, places)
    records = Records.open(address)
    firsts: dict[str, int] = {}
    for name in records.shards():
        if "-0002/" in name:
            for row in records.read_shard(name)[1].to_pylist():
                firsts[row["cell_id"]] = min(row["from_step"], firsts.get(row["cell_id"], 10**9))
    assert any(firsts.values()), "no cell went on from a checkpoint"
