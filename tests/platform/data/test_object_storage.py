"""A data folder on object storage: what holds of one on a disk holds of it, whoever drives, and if storage fails."""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from swingby.cli import app
from swingby.data.locks import held
from swingby.data.records import Records
from swingby.data.remote import bucket as bucket_module
from swingby.data.remote import signals
from swingby.data.remote.bucket import Bucket, StorageError
from swingby.data.remote.mirror import LEFT, folder_of
from swingby.errors import SwingbyError
from swingby.maintenance import collect, merge, retract
from swingby.run.driver import run_sweep
from swingby.run.ingest_thread import RemoteSync
from swingby.run.progress import Progress
from swingby.run.ray.trainable import data_folder
from swingby.store import Layout, Store, ingest, rebuild, remote_ingest
from tests.support.coins import chosen, coins, refine, trained
from tests.support.command import swingby
from tests.support.object_storage import KEYS, Proxy, Storage, storage
from tests.support.waiting import awaited

SAME = """select cell_id, seed, seed_mode, width, rate, status, message, recorded, step, position, final_position
          from walk order by cell_id"""
"""All of a row but where and how fast it was trained."""
DRIVER = """
from swingby.data.remote import checkpoints
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.sweepfile.sweep import Sweep
checkpoints.LEAST = 0.0
run_sweep(Sweep.load("walks.yaml"), "DATA", local=True, pilot=False, progress=Progress())
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Storage]:
    """One storage for all."""
    with storage() as found:
        yield found


class Machines:
    """Machines that see one address, and no other's folder."""

    def __init__(self, address: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.address, self._folder, self._patch = address, folder, patch
        self.on("a")

    def on(self, name: str) -> str:
        """From now on this process is on that machine; the address."""
        self._patch.setenv("SWINGBY_MIRRORS", str(self._folder / name))
        return self.address

    @property
    def bucket(self) -> Bucket:
        """What lies at the address."""
        return Bucket(self.address)


@pytest.fixture
def machines(server: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machines:
    """Machines around a prefix of this test's own."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(signals, "SETTLING", 0.1)
    monkeypatch.setattr(signals, "WAIT", 0.1)
    return Machines(server.address(tmp_path.name), tmp_path / "machines", monkeypatch)


@pytest.fixture
def proxy(server: Storage, machines: Machines, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """The machines see the storage through this."""
    between = Proxy(server)
    machines.address = between.address(machines.address.split("?")[0].removeprefix("s3://records/"))
    monkeypatch.setattr(bucket_module, "FIRST_PAUSE", 0.02)
    yield between
    between.close()


def run(sweep: Any, data: Any, **options: Any) -> Any:
    """By the for-loop, silently."""
    return run_sweep(sweep, data, local=True, pilot=False, progress=Progress(), **options)


def rows(data: Any, query: str = SAME) -> list[Any]:
    """What a reader sees who comes by the address."""
    with Store.open(data) as store:
        return store.sql(query).rows()


def test_the_same_rows_as_on_a_disk(walk: Any, machines: Machines) -> None:
    """A sweep, begun on one machine and grown on another, leaves what it leaves on a disk; each cell is trained once,
    and a third machine, which only reads, sees all of it."""
    run(walk.sweep(seeds=2), machines.on("a"))
    grown = run(walk.sweep(seeds=3), machines.on("b"))
    assert (grown.ok, grown.trained, set(walk.started().values())) == (12, 4, {1})
    run(walk.sweep(seeds=3), walk.data)
    assert rows(machines.on("c")) == rows(walk.data)


@pytest.mark.slow
def test_a_refinement_goes_on_elsewhere(machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begun on one machine and given a larger budget on another, rounds are those of a folder on a disk, and each cell
    is trained once."""
    folder = coins(tmp_path, monkeypatch)
    refine("refine.budget=60", data=machines.on("a"))
    refine("refine.budget=90", data=machines.on("b"))
    assert max(trained(folder).values()) == 1
    assert sum(trained(folder).values()) == 90
    refine("refine.budget=60")
    refine("refine.budget=90")
    assert chosen(machines.on("c")) == chosen("data")


def test_what_two_machines_leave_unites(walk: Any, machines: Machines) -> None:
    """Different sweeps driven from two machines are one data folder, and outcomes come along."""
    run(walk.sweep(seeds=1), machines.on("a"))
    run(walk.sweep(name="other", axes={"width": [3]}, seeds=2), machines.on("b"))
    for name in ("a", "b", "c"):
        assert len(rows(machines.on(name))) == 6
        with Store.open(machines.address) as store:
            assert store.sql("select count(height) as n from outcomes_walk_height").rows()[0].n == 6
    kept = {item.key.split("/")[0] for item in machines.bucket.listing()}
    assert kept == {"swingby.json", "plans", "shards", "derived"}, "no lock, flag or checkpoint is left"


def test_one_machine_at_a_time(walk: Any, machines: Machines) -> None:
    """While one machine runs a sweep another is refused, and told who does; readers see it too; other sweeps go on."""
    sweep = walk.sweep(seeds=1)
    run(sweep, machines.on("a"))
    with Records.open(machines.address).lock(sweep.sweep_id, "swingby run walks"):
        there = Records.open(machines.on("b"))
        said = r"sweep \w+ is held by process \d+ on .* since .* UTC \(swingby run walks\); wait for it or stop it"
        with pytest.raises(SwingbyError, match=said):
            run(sweep, machines.address)
        assert "swingby run walks" in str(there.holder(sweep.sweep_id))
        assert run(walk.sweep(name="other", seeds=2), machines.address).missing == 0
    assert run(sweep, machines.address).trained == 0


def test_another_machine_goes_on(walk: Any, machines: Machines) -> None:
    """A driver that is killed in the middle of a long cell: from another, empty machine the run goes on from the last
    checkpoint; no row is lost, no finished cell is trained again, and the curves are those of a run that nobody
    killed."""
    slow = {"axes": {"width": [1]}, "base": {"length": 27, "pieces": 7, "pause": 0.4}, "seeds": 1}
    (walk.folder / "walks.yaml").write_text(walk.text(**slow))
    child = walk.driver(DRIVER.replace("DATA", machines.on("a")))
    awaited(lambda: any(item.key.endswith(".tar") for item in machines.bucket.listing("work")), child=child)
    child.send_signal(signal.SIGKILL)
    child.wait()
    again = run(walk.sweep(**slow), machines.on("b"))
    assert (again.ok, again.missing) == (1, 0)
    records = Records.open(machines.address)
    later = [records.read_shard(name)[1]["from_step"].to_pylist() for name in records.shards() if "-0001/" not in name]
    assert min(itertools.chain(*later)) > 0, "the cell went on from no checkpoint"
    run(walk.sweep(**{**slow, "base": {"length": 27}}), walk.data)
    places = "select seed, step, position, final_position from walk order by seed"
    assert rows(machines.on("c"), places) == rows(walk.data, places)
    assert [key for key, _ in collect(machines.address).removed if "drain" in key], "it says that the first is over"
    assert machines.bucket.listing("work") == machines.bucket.listing("locks") == []


def test_workers_elsewhere_are_told(walk: Any, machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker on another machine finds the plan, and what earlier attempts at its batch left; it hears that the run
    was asked to stop, and not that of another plan; once another driver has taken over, it can leave nothing more."""
    monkeypatch.setattr(signals, "KNOWN", 0.0)
    run(walk.sweep(seeds=1), machines.on("a"))
    driver = Records.open(machines.address)
    (plan_id,), shards = driver.plans(), driver.shards()
    machines.on("b")
    config = {"data": driver.where, "flag": f"/elsewhere/work/{plan_id}.drain", "plan_id": plan_id, "batches": (0,)}
    place, _ = data_folder(config)
    worker = Records.open(place, create=False)
    assert (worker.read_plan(plan_id).plan_id, worker.shards()) == (plan_id, [])
    _, asked = data_folder({**config, "attempt": 1})
    assert worker.shards() == [name for name in shards if "/b000000-" in name]
    away = RemoteSync(driver, [plan_id])
    assert not asked()
    RemoteSync(driver, ["another-plan-0001"]).drain()
    assert not asked()
    away.drain()
    assert asked()
    away.close()
    _, asked = data_folder(config)
    assert not asked()
    away.drain()
    signals.Signals(machines.bucket).supersede(plan_id)
    away.drain()  # one that stalled meanwhile, and does not know
    away.close()
    (fetched,) = worker.shards()
    with pytest.raises(SwingbyError, match="another run of its sweep has taken over"):
        worker.publish(worker.shard_path(fetched))
    machines.bucket.remove(f"shards/{fetched}")
    worker.unite()
    assert machines.bucket.find(f"shards/{fetched}") is None, "what was refused goes there with the next run"


def test_nobody_takes_what_may_be_refused(walk: Any, machines: Machines) -> None:
    """As long as a worker does not know whether its shard may stay, no ingest of its machine takes it, and nobody else
    puts it; so a shard that is refused was nowhere, and a store that is made again says the same."""
    run(walk.sweep(seeds=1), machines.on("a"))
    records = Records.open(machines.address)
    for attempt, refused in ((7, False), (8, True)):  # afterwards nothing of the plan may stay
        may_be_refused(records, machines, attempt, refused)


def may_be_refused(records: Records, machines: Machines, attempt: int, refused: bool) -> None:
    """A worker's shard of a later attempt, which the driver then takes or refuses."""
    (name, *_) = before = records.shards()
    header, table = records.read_shard(name)
    with records.unpublished(replace(header, attempt=header.attempt + attempt), table) as shard:
        key = shard.relative_to(records.data).as_posix()
        assert len(records.shards()) == len(before) + 1
        assert ingest(records).shards == 0
        assert machines.bucket.find(key) is None
        if refused:
            signals.Signals(machines.bucket).supersede(header.plan_id)
            with pytest.raises(SwingbyError, match="another run of its sweep has taken over"):
                records.publish(shard)
        else:
            records.publish(shard)
    assert ingest(records).shards == (0 if refused else 1)
    assert (machines.bucket.find(key) is None) == refused
    told = rows(records.where, "select shard from shards order by shard")
    rebuild(records)
    assert rows(records.where, "select shard from shards order by shard") == told


def test_keeping_reaches_every_machine(walk: Any, machines: Machines) -> None:
    """What one machine merges in or takes back is there, or gone, on all; and is trained again by any."""
    run(walk.sweep(seeds=1), walk.data)
    assert merge(machines.on("a"), walk.data).copied.total() > 0
    assert rows(machines.on("b")) == rows(walk.data)
    taken = retract(machines.on("b"), ["walks"], "read wrongly")
    assert taken.cells == 4
    (walk.folder / "walks.yaml").write_text(walk.text(seeds=1))
    status = swingby("status", "--data", machines.on("c"))
    (line,) = (line for line in status.stdout.splitlines() if line.startswith("walks") and "│" in line)
    assert line.split()[-1] == "4", "all are missing"
    assert run(walk.sweep(seeds=1), machines.on("a")).trained == 4
    again = merge(walk.data, machines.on("d"))
    assert again.copied["retractions"] == 1


def test_who_looks_on_sees_what_comes(walk: Any, machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    """While somebody watches or serves, results of other machines come in by themselves."""
    monkeypatch.setattr(remote_ingest, "EVERY", 0.05)
    monkeypatch.setattr(remote_ingest, "COST", 0.0)
    run(walk.sweep(seeds=1), machines.on("a"))
    place = remote_ingest.fetch_and_ingest(machines.on("b"), print)
    with Store.open(place) as store, remote_ingest.followed(place, print):
        assert len(store.sql("from walk")) == 4
        run(walk.sweep(seeds=2), machines.on("a"))
        awaited(lambda: len(store.sql("from walk")) >= 8)
    run(walk.sweep(seeds=3), machines.on("a"))
    Records.open(machines.on("b"))
    remote_ingest.fetch_and_ingest(place, print)
    assert len(rows(place)) == 12, "what came by another way is not folded"


def test_what_could_not_be_folded_is_folded_later(machines: Machines) -> None:
    """What comes while somebody else is the store's writer, or by another way, is folded by the next look; that a store
    cannot be written is told."""
    elsewhere, told = Records.open(machines.on("a")), list[str]()
    elsewhere.write_derived("noted", "1", ["k"], pa.table({"k": [1]}))
    elsewhere.unite()
    place = remote_ingest.fetch_and_ingest(machines.on("b"), told.append)
    elsewhere.write_derived("noted", "2", ["k"], pa.table({"k": [1, 2]}))
    elsewhere.unite()
    with held(Layout(place).lease, "the store"):
        remote_ingest.fetch_and_ingest(place, told.append)
    remote_ingest.fetch_and_ingest(place, told.append)
    assert rows(place, "select count(*) as n from noted")[0].n == 2
    assert told == []
    pointer = Layout(place).pointer
    pointer.write_text(pointer.read_text().replace('"format": ', '"format": 99'))
    remote_ingest.fetch_and_ingest(place, told.append)
    assert [text for text in told if "written by a newer version" in text] == told != []


def test_who_follows_goes_on_whatever_happens(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of any kind in a look is told, once, and the next look comes."""
    looks, told = list[Path](), list[str]()

    def fails(data: Path, tell: Any) -> None:
        looks.append(data)
        raise LookupError("a fault of no kind that was thought of")

    monkeypatch.setattr(remote_ingest, "EVERY", 0.01)
    monkeypatch.setattr(remote_ingest, "fetch_and_ingest", fails)
    with remote_ingest.followed(folder_of(machines.address), told.append):
        awaited(lambda: len(looks) >= 3)
    assert told == ["what is new does not come: a fault of no kind that was thought of"]


def test_places_that_are_no_data_folder(machines: Machines) -> None:
    """Each is refused with what it is: one without anything, one with something else, one of a newer version, one that
    was emptied behind the back of its mirror, and an address that was taken for a path."""
    with pytest.raises(SwingbyError, match="there is no data folder at s3://"):
        Records.open(machines.address, create=False)
    machines.bucket.put("thesis.tex", b"text")
    with pytest.raises(SwingbyError, match=r"is not a data folder: it has objects \(thesis.tex\)"):
        Records.open(machines.address)
    machines.bucket.remove("thesis.tex")
    Records.open(machines.address)
    machines.bucket.put("swingby.json", b'{"format": 99}')
    with pytest.raises(SwingbyError, match=r"s3://.* was written by a newer version of swingby"):
        Records.open(machines.on("b"))
    machines.bucket.remove("swingby.json")
    with pytest.raises(SwingbyError, match=r"there is no data folder at s3://.* any more"):
        Records.open(machines.on("a"))
    with pytest.raises(SwingbyError, match="give it as text"):
        Records.open(Path("s3://records/x"))


# a storage that fails


def test_a_storage_that_stumbles(walk: Any, machines: Machines, proxy: Proxy) -> None:
    """Where two of five requests are refused, and answers get lost, a run takes longer and leaves the same."""
    count = itertools.count()
    proxy.fails = lambda method, path: next(count) % 5 in (1, 2)
    proxy.cuts = lambda method, path: next(count) % 7 == 3
    done = run(walk.sweep(seeds=2), machines.on("a"))
    assert (done.ok, done.missing, set(walk.started().values())) == (8, 0, {1})
    run(walk.sweep(seeds=2), walk.data)
    assert rows(machines.on("b")) == rows(walk.data)


def test_a_storage_that_goes_out_in_the_middle(
    walk: Any, machines: Machines, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends with a clear word once patience is over; what was trained lies here, whole, and goes there with the
    next run, which trains only the rest."""
    monkeypatch.setattr("swingby.run.batches.UNMEASURED", 1)
    monkeypatch.setattr("swingby.run.scheduler.GROWTH", 0)
    monkeypatch.setattr(bucket_module, "PATIENCE", 0.3)
    monkeypatch.setattr("swingby.data.remote.mirror.STEADFAST", 0.3)
    shards = [0]

    def fails(method: str, path: str) -> bool:
        shards[0] += method == "PUT" and "/shards/" in path
        return shards[0] >= 3

    proxy.fails = fails
    with pytest.raises(StorageError, match=r"cannot write shards/.* in s3://records/.* \(tried for \d+ s\)"):
        run(walk.sweep(seeds=2), machines.on("a"))
    began = walk.started()
    assert 3 <= len(began) < 8
    proxy.fails = lambda method, path: False
    there = machines.bucket.listing("shards")
    assert len(there) == 2
    for item in there:
        Records.open(machines.address).read_shard(item.key.removeprefix("shards/"))
    again = run(walk.sweep(seeds=2), machines.on("a"))
    assert (again.ok, again.trained) == (8, 8 - len(began))
    assert set(walk.started().values()) == {1}
    assert len(rows(machines.on("b"))) == 8


def test_what_a_worker_could_not_put_goes_with_the_next(
    walk: Any, machines: Machines, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker with results outlasts a storage that is out for longer than others wait; if that is over, what it could
    not put is noted, whatever the storage refused, and put when the next trial begins on its machine; what another
    worker notes meanwhile stays noted."""
    monkeypatch.setattr(bucket_module, "PATIENCE", 0.1)
    monkeypatch.setattr("swingby.data.remote.mirror.STEADFAST", 30.0)
    run(walk.sweep(seeds=1), machines.on("a"))
    (plan_id,) = Records.open(machines.address).plans()
    config = {
        "data": machines.on("b"),
        "flag": f"/x/{plan_id}.drain",
        "plan_id": plan_id,
        "batches": (0,),
        "attempt": 1,
    }
    place, _ = data_folder(config)
    worker = Records.open(place)
    (name,) = worker.shards()
    machines.bucket.remove(f"shards/{name}")
    again = time.monotonic() + 1.0
    proxy.fails = lambda method, path: time.monotonic() < again
    worker.publish(worker.shard_path(name))
    machines.bucket.remove(f"shards/{name}")
    monkeypatch.setattr("swingby.data.remote.mirror.STEADFAST", 0.1)
    proxy.fails = lambda method, path: True
    with pytest.raises(StorageError):
        worker.publish(worker.shard_path(name))
    with pytest.raises(StorageError):
        data_folder({**config, "attempt": 0})
    late = place / "work" / "put" / f"{LEFT}by-another"

    def noted_meanwhile(method: str, path: str) -> bool:
        if method == "PUT":  # and at no later time
            late.touch()
        return False

    proxy.fails = noted_meanwhile
    data_folder(config)
    assert machines.bucket.content(f"shards/{name}") == worker.shard_path(name).read_bytes()
    assert late.exists()
    proxy.fails = lambda method, path: False
    for asked in (True, False):
        proxy.seen.clear()
        data_folder({**config, "attempt": 0})
        assert bool(proxy.seen) == asked, "nothing is asked where nothing was left"


def test_readers_go_on_with_what_is_here(walk: Any, machines: Machines, proxy: Proxy) -> None:
    """While the storage is out the verbs that read tell so and show what came last; a run is refused, and changes
    nothing."""
    run(walk.sweep(seeds=1), machines.on("a"))
    call = CliRunner().invoke
    asked = ["sql", "select count(*) as n from walk", "--format", "csv", "--data", machines.address]
    assert call(app, asked).stdout == "n\n4\n"
    proxy.fails = lambda method, path: True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bucket_module, "PATIENCE", 0.2)
        patch.setattr("swingby.store.remote_ingest.PATIENCE", 0.1)
        out = call(app, asked)
        assert (out.exit_code, out.stdout) == (0, "n\n4\n")
        assert "going on with what is in" in out.stderr
        assert call(app, ["status", "--data", machines.address]).exit_code == 0
        (walk.folder / "walks.yaml").write_text(walk.text(seeds=2))
        refused = call(app, ["run", str(walk.folder / "walks.yaml"), "--local", "--data", machines.address])
        assert refused.exit_code == 2
        assert "cannot write locks/" in refused.stderr
    proxy.fails = lambda method, path: False
    assert call(app, asked).stdout == "n\n4\n"
    assert walk.started().total() == 4


@pytest.mark.slow
def test_nothing_is_ever_half_there(machines: Machines, proxy: Proxy, tmp_path: Path) -> None:
    """Of an object in many pieces of which one is refused nothing is seen, and the last one of its name stays; cut
    answers are asked for again, and what comes is whole."""
    bucket = machines.bucket
    large = tmp_path / "large"
    large.write_bytes(bytes(range(256)) * 45_000)
    bucket.put("shards/p/b", b"earlier")
    proxy.fails = lambda method, path: method == "PUT" and "partNumber=2" in path
    for key in ("shards/p/a", "shards/p/b"):
        with pytest.raises(StorageError, match="cannot write shards/p/"):
            bucket.put(key, large, patience=0.1)
    assert (bucket.content("shards/p/a"), bucket.content("shards/p/b")) == (None, b"earlier")
    for refused in (("POST", "?uploads"), ("PUT", "partNumber=1&"), ("PUT", "partNumber=2&")):
        fails = [refused]  # once, and then no more
        proxy.fails = lambda method, path, left=fails: bool(
            left and method == left[0][0] and left[0][1] in path and left.pop()
        )
        with pytest.raises(StorageError, match="cannot write shards/p/b"):
            bucket.put("shards/p/b", large, patience=0.0)
        assert (bucket.content("shards/p/b"), fails) == (b"earlier", [])
    proxy.fails = lambda method, path: False
    bucket.put("shards/p/a", large)
    cut = itertools.count()
    proxy.cuts = lambda method, path: next(cut) % 2 == 0
    assert bucket.content("shards/p/a") == large.read_bytes()
