"""Records on object storage: whole objects, mirrors that unite, and a lease of which one holds."""

from __future__ import annotations

import gc
import io
import itertools
import json
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest

from swingby.data.records import Records
from swingby.data.remote import bucket as bucket_module
from swingby.data.remote import lease, signals
from swingby.data.remote.bucket import Bucket, StorageError
from swingby.data.remote.checkpoints import Checkpoints
from swingby.data.remote.lease import holder, leased
from swingby.data.remote.mirror import Mirror, folder_of, is_record, mirrored
from swingby.errors import SwingbyError
from tests.support.object_storage import KEYS, Proxy, Storage, storage


@pytest.fixture(scope="module")
def server() -> Iterator[Storage]:
    """One storage for all."""
    with storage() as found:
        yield found


@pytest.fixture
def bucket(server: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """A prefix of this test's own."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SWINGBY_MIRRORS", str(tmp_path / "mirrors"))
    return Bucket(server.address(tmp_path.name))


def test_objects_are_whole_and_listed_by_key(bucket: Bucket) -> None:
    """What was put is read, under any name and size; the last one put counts; what is not there is None."""
    contents = {"shards/a/1.parquet": b"", "shards/b ü+%/2": bytes(range(256)) * 4096, "plans/p": b"x"}
    for key, content in contents.items():
        bucket.put(key, b"earlier")
        bucket.put(key, content)
    assert {key: bucket.content(key) for key in contents} == contents
    assert [item.key for item in bucket.listing()] == sorted(contents)
    assert {item.key: item.size for item in bucket.listing("shards")} == {
        key: len(content) for key, content in contents.items() if key.startswith("shards/")
    }
    bucket.remove("plans/p")
    bucket.remove("plans/p")
    assert bucket.content("plans/p") is None
    assert bucket.listing("nothing/here") == []


def test_whatever_ends_an_upload_leaves_the_last_object(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt between two pieces, or a file that cannot be read to its end, leaves what was there, whole; after an
    interrupt no further piece is sent."""
    monkeypatch.setattr(bucket_module, "PIECE", 5 * 2**20)
    large = tmp_path / "large"
    large.write_bytes(bytes(11 * 2**20))
    bucket.put("work/x.tar", b"the last whole one")
    stopped, sent = threading.Event(), list[bool]()
    with monkeypatch.context() as patch:
        patch.setattr(bucket_module, "threading", SimpleNamespace(Event=lambda: stopped))

        def interrupt() -> None:
            if threading.current_thread() is not threading.main_thread():  # there a try begins, and nothing was sent
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                sent.append(stopped.wait(60))  # until it has arrived

        with interruptible(), pytest.raises(KeyboardInterrupt):
            bucket.put("work/x.tar", large, alive=interrupt)
    assert sent == [True]
    assert bucket.content("work/x.tar") == b"the last whole one"

    def torn(content: bytes | Path) -> Iterator[bytes]:
        yield from itertools.islice(whole(content), 2)
        raise SwingbyError("cannot read it any further")

    whole = bucket_module.pieces
    monkeypatch.setattr(bucket_module, "pieces", torn)
    with pytest.raises(SwingbyError, match="any further"):
        bucket.put("work/x.tar", large)
    with pytest.raises(SwingbyError, match=r"cannot read .*gone"):
        bucket.put("work/x.tar", tmp_path / "gone")
    gc.collect()  # a stream that nobody refers to is closed, and what is closed is put
    assert bucket.content("work/x.tar") == b"the last whole one"


@contextmanager
def interruptible() -> Iterator[None]:
    """While inside, an interrupt raises, also in a process that was begun in the background of a shell: a shell lets
    such ones ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ftp://a/b", "allowed: s3://bucket/prefix"),
        ("s3://", "names no bucket"),
        ("s3://key:secret@bucket/x", "holds a secret"),
        ("s3://bucket/x?access_key=a&secret_key=b", "holds a secret"),
        ("s3:/bucket", "allowed: s3://bucket/prefix"),
        ("s3://bucket/x?anonymous=true", "'anonymous' is no option; allowed: endpoint_override"),
    ],
)
def test_an_address_that_will_not_do(address: str, said: str) -> None:
    """It is refused before anything is asked, with what is allowed."""
    with pytest.raises(SwingbyError, match=said):
        Bucket(address)


def test_no_secret_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Of an address with a secret in it nothing is repeated."""
    for address in ("s3://key:hunter2@bucket/x", "ftp://key:hunter2@bucket/x", "s3://bucket/x?secret_key=hunter2"):
        with pytest.raises(SwingbyError) as told:
            Bucket(address)
        assert "hunter2" not in str(told.value)


def test_a_storage_that_does_not_answer(bucket: Bucket, server: Storage) -> None:
    """Tried again, then told with its address and for how long; a bucket that is not there is told at once."""
    with pytest.raises(SwingbyError, match=r"cannot write a in s3://records/x.*\(tried for \d+ s\)"):
        Bucket("s3://records/x?endpoint_override=127.0.0.1:9&scheme=http").put("a", b"", patience=0.3)
    with pytest.raises(SwingbyError, match="nowhere") as told:
        Bucket(server.address("").replace("records", "nowhere")).put("a", b"")
    assert "tried for" not in str(told.value)


def test_a_storage_that_says_nothing(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes a request and never answers has failed after a while, and is asked again, however long that was:
    patience counts from the first failure."""
    monkeypatch.setattr("swingby.data.remote.address.TIMEOUT", 0.5)
    monkeypatch.setattr("swingby.data.remote.bucket.FIRST_PAUSE", 0.02)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"s3://records/x?endpoint_override=127.0.0.1:{silent.getsockname()[1]}&scheme=http"
        began = time.monotonic()
        with pytest.raises(SwingbyError, match="cannot look for a"):
            Bucket(address).find("a", patience=0.4)  # longer than a busy machine may stop this process for
        silent.setblocking(False)
        asked = 0
        with suppress(BlockingIOError):
            while True:
                silent.accept()[0].close()
                asked += 1
    assert asked == 2
    assert time.monotonic() < began + 20


def test_the_environment_says_where(bucket: Bucket, server: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS_ENDPOINT_URL leads to another storage than Amazon's, where the address does not."""
    bucket.put("a", b"there")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.port}/")
    assert Bucket(bucket.address.split("?")[0]).content("a") == b"there"


def test_two_mirrors_and_the_storage_unite(bucket: Bucket, tmp_path: Path) -> None:
    """Afterwards all three have every record of any, byte for byte; a second time nothing is moved."""
    folders = [tmp_path / "one", tmp_path / "two"]
    records = {f"shards/p/{k}.parquet": bytes([k]) * k for k in range(12)} | {"plans/p.parquet": b"plan"}
    for k, (key, content) in enumerate(records.items()):
        for place in {0: folders[:1], 1: folders[1:], 2: folders}[k % 3]:
            (place / key).parent.mkdir(parents=True, exist_ok=True)
            (place / key).write_bytes(content)
    (folders[0] / "shards/p/.tmp-unfinished").write_bytes(b"half")
    mirrors = [Mirror(place, bucket) for place in folders]
    assert sum(one.unite() for one in [*mirrors, *mirrors]) > len(records)
    for one in mirrors:
        assert {key: (one.folder / key).read_bytes() for key in records} == records
        assert one.unite() == 0
    assert {item.key for item in bucket.listing()} == records.keys()


def test_keys_of_others_stay_in_the_folder(bucket: Bucket, server: Storage, tmp_path: Path) -> None:
    """An object whose name leads elsewhere, or is none of a record, is not fetched."""
    bucket.put("plans/good.parquet", b"good")
    hostile = ["plans/.tmp-x", "plans/a\\..\\b", "work/x", "swingby.json", "plans/./../../x", "plans/a/b/c", "plans//x"]
    assert not any(map(is_record, [*hostile, "plans/..", "plans", "", "/plans/x", "plans/a\0b"]))
    # Not through `Bucket`, which would not write some of them.
    client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{server.port}")
    for key in hostile:
        client.put_object(Bucket="records", Key=f"{tmp_path.name}/{key}", Body=b"bad")
    assert Mirror(tmp_path / "here", bucket).unite() == 1
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert found == [tmp_path / "here" / "plans" / "good.parquet"]


def test_checkpoints_go_where_the_batch_goes(bucket: Bucket, tmp_path: Path) -> None:
    """What one machine left is what another finds, in place of what it had itself; who went on last counts; where the
    batch was finished elsewhere nothing is gone on from; what was never put stays, and so does what is another's."""
    sides = [Checkpoints(Mirror(tmp_path / name, bucket), tmp_path / name / "work/s/c") for name in "ab"]
    folders = [tmp_path / name / "work/s/c" for name in "ab"]
    folders[1].mkdir(parents=True)
    (folders[1] / "own").write_text("never put")
    sides[1].fetch()
    assert [path.name for path in folders[1].iterdir()] == ["own"]
    (folders[0] / "deep").mkdir(parents=True)
    (folders[0] / "deep" / "weights").write_bytes(bytes(range(256)) * 100)
    (folders[0] / "step").write_text("1")
    sides[0].put()
    sides[1].fetch()
    names = sorted(path.relative_to(folders[1]).as_posix() for path in folders[1].rglob("*") if path.is_file())
    assert names == ["deep/weights", "step"]
    assert (folders[1] / "deep" / "weights").read_bytes() == (folders[0] / "deep" / "weights").read_bytes()
    (folders[1] / "more").write_bytes(bytes(20_000))
    sides[1].put(at_last=True)
    (folders[0] / "step").write_text("stale")
    sides[0].fetch()
    assert ((folders[0] / "step").read_text(), (folders[0] / "more").exists()) == ("1", True)
    (folders[0] / "step").write_text("not put yet")
    sides[0].fetch()
    assert (folders[0] / "step").read_text() == "not put yet", "nobody went on meanwhile"
    sides[1].drop()
    sides[0].fetch()
    assert list(folders[0].iterdir()) == []
    assert bucket.listing("work") == []
    (folders[0] / "step").write_text("anew")
    sides[0].put(at_last=True)
    sides[1].drop()
    assert len(bucket.listing("work")) == 1


def test_large_checkpoints_give_signs_of_life(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it takes to put or to fetch them: there is one for each piece, so who watches knows that it goes
    on."""
    monkeypatch.setattr(bucket_module, "PIECE", 5 * 2**20)
    sides = [Checkpoints(Mirror(tmp_path / name, bucket), tmp_path / name / "work/s/c") for name in "ab"]
    (tmp_path / "a/work/s/c").mkdir(parents=True)
    (tmp_path / "a/work/s/c/weights").write_bytes(bytes(11 * 2**20))
    lives = [0, 0]

    def alive(k: int) -> None:
        lives[k] += 1

    sides[0].put(alive=lambda: alive(0))
    sides[1].fetch(alive=lambda: alive(1))
    assert min(lives) >= 4, "one for the beginning, and one a piece"
    assert (tmp_path / "b/work/s/c/weights").stat().st_size == 11 * 2**20


def test_foreign_checkpoints_lead_nowhere(bucket: Bucket, tmp_path: Path) -> None:
    """Of an object that somebody else made only plain files with plain names come out, and none outside."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in ("../out", "/out", "a/../../out", ".hidden", "./good"):
            member = tarfile.TarInfo(name)
            member.size = 1
            tar.addfile(member, io.BytesIO(b"x"))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    bucket.put("work/s/c.tar", packed.getvalue())
    folder = tmp_path / "m" / "work/s/c"
    Checkpoints(Mirror(tmp_path / "m", bucket), folder).fetch()
    assert [path.name for path in folder.rglob("*")] == ["good"]
    assert not [path for path in tmp_path.rglob("*") if path.name in ("out", ".hidden", "link")]
    bucket.put("work/s/d.tar", b"no tar at all")
    with pytest.raises(SwingbyError, match=r"work/s/d.tar .* is no checkpoint"):
        Checkpoints(Mirror(tmp_path / "m", bucket), tmp_path / "m" / "work/s/d").fetch()


def test_a_mirror_knows_what_it_stands_for(bucket: Bucket) -> None:
    """One folder an address; it says of what; another folder is no mirror."""
    folder = folder_of(bucket.address)
    assert folder == folder_of(bucket.address + "")
    assert folder != folder_of(bucket.address.replace("?", "-other?"))
    found = mirrored(folder)
    assert found is not None
    assert found.bucket.address == bucket.address
    assert mirrored(folder.parent) is None


def test_one_holds_the_lease(bucket: Bucket) -> None:
    """Of four who want it at once at most one holds it at a time, and all get their turn; nothing is left."""
    inside, most, turns = [0], [0], [0]
    guard = threading.Lock()

    def want() -> None:
        with leased(Bucket(bucket.address), "locks/s", "sweep s", wait=120):
            with guard:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.05)
            with guard:
                inside[0] -= 1
                turns[0] += 1

    threads = [threading.Thread(target=want) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most[0], turns[0]) == (1, 4)
    assert bucket.listing("locks") == []


def test_the_second_is_told_who_holds_it(bucket: Bucket) -> None:
    """By process, host and time."""
    with ExitStack() as stack:
        assert not stack.enter_context(leased(bucket, "locks/s", "sweep s")).broken
        assert "process" in str(holder(bucket, bucket.listing("locks/s")))
        with pytest.raises(
            SwingbyError, match=r"sweep s is held by process \d+ on .* since .*; wait for it or stop it"
        ):
            stack.enter_context(leased(bucket, "locks/s", "sweep s"))
    assert holder(bucket, bucket.listing("locks/s")) is None


def test_a_claim_that_did_not_hold_is_in_nobodys_way(bucket: Bucket, server: Storage, tmp_path: Path) -> None:
    """Where the storage takes a claim, and then goes out, the lock is free as soon as it is back."""
    proxy = Proxy(server)
    through = Bucket(proxy.address(tmp_path.name))
    through.patience = 0.1
    for fails in (lambda method, path: method == "GET", lambda method, path: method in ("GET", "DELETE")):
        proxy.fails = fails
        with pytest.raises(StorageError), leased(through, "locks/s", "sweep s"):
            raise AssertionError("it is held")
        kept = fails("DELETE", "")
        assert len(bucket.listing("locks/s")) == kept, "nobody elsewhere knows that it is none"
        proxy.fails = lambda method, path: False
        with leased(through, "locks/s", "sweep s"):
            assert len(bucket.listing("locks/s")) == 1
    proxy.close()


def test_who_holds_is_told_that_it_was_broken(bucket: Bucket) -> None:
    """Of several who come after a holder died, the one that stays is told so, and none that steps back."""
    with leased(bucket, "locks/s", "sweep s"):
        (own,) = bucket.listing("locks/s")
        said = json.loads(bucket.content(own.key) or b"")
    bucket.put("locks/s/dead.json", json.dumps({**said, "started": "long ago"}).encode())
    bucket.put("locks/s/rival.json", json.dumps({**said, "place": "another machine"}).encode())
    with pytest.raises(SwingbyError, match="held by"), leased(bucket, "locks/s", "sweep s"):
        raise AssertionError("it is held")
    bucket.remove("locks/s/rival.json")
    with leased(bucket, "locks/s", "sweep s") as held:
        assert held.broken


def test_who_may_be_dead_is_waited_for(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes after a crash, and before the dead holder counts as dead, waits for that and gets the lease, so that a
    job that is started again does not use up its tries; but a holder who renews its claim meanwhile holds it."""
    claim = json.dumps({"host": "far", "pid": 1, "place": "another machine"}).encode()
    bucket.put("locks/s/far.json", claim)
    over = threading.Event()

    def renew() -> None:
        while not over.wait(0.1):
            bucket.put("locks/s/far.json", claim)

    monkeypatch.setattr(lease, "OVERDUE", 0.5)  # the storage tells whole seconds
    time.sleep(1.1)
    holding = threading.Thread(target=renew)
    holding.start()
    with pytest.raises(SwingbyError, match="held by another process"), leased(bucket, "locks/s", "sweep s"):
        raise AssertionError("it is held")
    over.set()
    holding.join()
    monkeypatch.setattr(lease, "OVERDUE", -1.0)
    monkeypatch.setattr(lease, "STALE", 1.5)
    with leased(bucket, "locks/s", "sweep s") as held:
        assert held.broken


def test_who_was_asleep_is_no_driver_any_more(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that was silent for longer than others wait plans nothing: what it knows of results is old."""
    monkeypatch.setattr(lease, "RENEWED", 60.0)
    known = signals.Signals(bucket)
    known.confirm("s")  # who holds no lock has nothing to lose
    with known.lock("s"):
        known.confirm("s")
        monkeypatch.setattr(lease, "STALE", 0.5)
        time.sleep(2.1)  # the storage tells whole seconds
        for _ in range(2):
            with pytest.raises(SwingbyError, match="was silent for more than"):
                known.confirm("s")
    assert bucket.listing("locks") == []


def test_a_plan_of_the_dead_replaces_none(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who takes over leaves out the number that the dead driver may be writing, and so does whoever comes later: a put
    that arrives late, which no storage refuses, is a plan of its own beside theirs."""
    monkeypatch.setattr(signals, "SETTLING", 0.0)
    sweep = "0123456789abcdef"
    records = Records(tmp_path / "here")
    records.mirror = Mirror(tmp_path / "here", bucket)
    known = records.mirror.signals
    with known.lock(sweep):
        assert (known.fence(sweep), records.next_sequence("walk", sweep)) == (0, 1)
    bucket.put(f"plans/walk-{sweep[:8]}-0003.parquet", b"the last of the dead")
    bucket.put(f"locks/{sweep}/dead.json", json.dumps({"host": "far", "pid": 1, "place": "another machine"}).encode())
    time.sleep(2.1)  # the storage tells whole seconds
    with monkeypatch.context() as patch:
        patch.setattr(lease, "STALE", 1.0)
        with known.lock(sweep):
            assert (known.fence(sweep), records.next_sequence("walk", sweep)) == (4, 5)
    with known.lock(sweep):
        assert records.next_sequence("walk", sweep) == 5


def test_a_claim_that_others_removed_is_put_again(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who was asleep between its put and its look, and was taken for dead meanwhile, asks anew; but a storage that does
    not list what it holds keeps no locks."""
    listing, times = bucket.listing, [0]

    def asleep(folder: str = "", deep: bool = True) -> list[bucket_module.Held]:
        times[0] += 1
        for item in listing(folder, deep) if times[0] == 1 else []:
            bucket.remove(item.key)
        return listing(folder, deep)

    monkeypatch.setattr(bucket, "listing", asleep)
    with leased(bucket, "locks/s", "sweep s"):
        assert (times[0], len(listing("locks/s"))) == (2, 1)
    monkeypatch.setattr(bucket, "listing", lambda folder="", deep=True: [])
    with pytest.raises(SwingbyError, match="does not list what was just put"), leased(bucket, "locks/s", "sweep s"):
        raise AssertionError("it cannot be held")


def test_two_machines_begin_one_address(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the other one has put already, at any moment: both go on, and none calls the address somebody else's."""
    mark, listing = b'{"format": 1}', bucket.listing

    def meanwhile(folder: str = "", deep: bool = True) -> list[bucket_module.Held]:
        Mirror(tmp_path / "other", Bucket(bucket.address)).begin(True, mark)
        bucket.put("plans/p.parquet", b"plan")
        return listing(folder, deep)

    monkeypatch.setattr(bucket, "listing", meanwhile)
    Mirror(tmp_path / "one", bucket).begin(True, mark)
    assert {path.read_bytes() for path in tmp_path.glob("*/swingby.json")} == {mark}


def test_a_storage_that_is_out_is_asked_once_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who runs each of many sweeps is one question, also where its answer takes longer than it would be kept."""
    monkeypatch.setattr(signals, "KNOWN", 0.3)
    out = Bucket("s3://records/x?endpoint_override=127.0.0.1:9&scheme=http")
    out.patience = 0.7
    known, began = signals.Signals(out), time.monotonic()
    assert [known.holder(f"s{k}") for k in range(20)] == [None] * 20
    assert time.monotonic() < began + 4


def test_the_dead_are_in_nobodys_way(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim of a process of this machine that is gone is broken at once, and one that nobody renews after a while;
    whoever gets the lease is told that it was broken. A holder whose claim was broken does not renew it."""
    code = (
        "import os, sys; from swingby.data.remote.lease import leased; from swingby.data.remote.bucket import Bucket\n"
        "with leased(Bucket(sys.argv[1]), 'locks/s', 'sweep s'): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, bucket.address])
    assert len(bucket.listing("locks")) == 1
    assert holder(bucket, bucket.listing("locks")) is None
    with leased(bucket, "locks/s", "sweep s") as held:
        assert held.broken
    bucket.put("locks/s/elsewhere.json", json.dumps({"host": "far", "pid": 1, "place": "another machine"}).encode())
    with pytest.raises(SwingbyError, match="held by"), leased(bucket, "locks/s", "sweep s"):
        raise AssertionError("it is held")
    monkeypatch.setattr(lease, "STALE", 0.5)  # the storage tells whole seconds
    monkeypatch.setattr(lease, "RENEWED", 0.05)
    time.sleep(1.1)
    removed, find = threading.Event(), bucket.find
    monkeypatch.setattr(bucket, "find", lambda key: removed.wait(60) and find(key))  # by which it looks at its claim
    with leased(bucket, "locks/s", "sweep s") as held:
        assert held.broken
        (own,) = bucket.listing("locks")
        bucket.remove(own.key)
        removed.set()
        (renewing,) = (thread for thread in threading.enumerate() if thread.name == "lease")
        renewing.join(60)
        assert not renewing.is_alive()
        assert bucket.listing("locks") == []
