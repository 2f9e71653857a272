"""Laws of the scheduler: it leaves what the for-loop leaves, survives its workers, drains, and lets nobody in."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.run.ray import environment as cluster
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from tests.support.processes import children

pytestmark = pytest.mark.xdist_group("ray")
"""One after the other: each starts a Ray of its own, with two workers."""

DRIVER = """
import sys
from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.run.progress import Lines
from swingby.sweepfile.sweep import Sweep
try:
    sweep = Sweep.load("walks.yaml")
    print(run_sweep(sweep, "data", pilot=False, ray=True, workers=2, progress=Lines(sys.stdout)), flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


class Said(Progress):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def line(self, text: str) -> None:
        """Kept."""
        self.said.append(text)


def folders() -> set[Path]:
    """Private folders of this process's runs; that of its token, which lives as long as the process, is left out."""
    token = os.environ.get("RAY_AUTH_TOKEN_PATH")
    found = set(Path("/tmp").glob(f"swingby-{os.getpid()}-*"))
    return found - ({Path(token).parent} if token else set())


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """No process and no private folder is left behind that was not there before; other tests have theirs."""
    before, here = children(), folders()
    yield
    _, left = psutil.wait_procs(children() - before, timeout=60)
    assert not left, [" ".join(process.cmdline()) for process in left]
    assert folders() <= here


def wait_for(what: Any, seconds: float = 120) -> None:
    """Waits until something is true."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.05)


def start(walk: Any, **changes: Any) -> subprocess.Popen[str]:
    """A driver in its own process group, past its first trained cell."""
    (walk.folder / "walks.yaml").write_text(walk.text(**changes))
    child = walk.driver(DRIVER)
    wait_for(lambda: walk.ledger.exists() or child.poll() is not None)
    assert child.poll() is None, child.communicate()[0]
    return child


def rays(child: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes below a driver."""
    return psutil.Process(child.pid).children(recursive=True)


@pytest.mark.usefixtures("nothing_left")
def test_tune_isolates_what_goes_wrong(walk: Any) -> None:
    """Cells that raise or diverge are rows; a batch whose process dies once is finished, the cell of one that always
    dies (here: twice, since every new process takes seconds) fails with the reason while the others go on; workers
    compute on one thread whatever the driver's environment says; and neither processes nor files are left behind. A
    process without memory dies at once, although Ray's own handler of its abort needs some."""
    said = Said()
    sweep = walk.sweep(axes={"wants": ["ok", "raise", "diverge", "once", "die", "memory"]}, seeds=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "8")
        patch.setattr("swingby.run.batches.UNMEASURED", 1)
        patch.setattr("swingby.run.scheduler.GROWTH", 0)  # a batch a trial
        patch.setattr("swingby.run.scheduler.RETRIES", 1)
        result = run_sweep(sweep, walk.data, pilot=False, ray=True, workers=2, progress=said)
        assert os.environ["OMP_NUM_THREADS"] == "8"
    statuses = {row.wants: row.status for row in walk.rows("select wants, status from walk")}
    fails = dict.fromkeys(("raise", "die", "memory"), "failed")
    assert statuses == {"ok": "ok", "diverge": "diverged", "once": "ok", **fails}
    assert (result.ok, result.diverged, result.failed, result.missing) == (2, 1, 3, 0)
    assert len(result.given_up) == 2
    assert all(reason.startswith("its process died 2 times: it ") for reason in result.given_up.values())
    assert sum("is tried again" in line for line in said.said) == 3
    assert {row.threads for row in walk.rows("select threads from walk where status <> 'failed'")} == {"1"}


@pytest.mark.slow
def test_tune_leaves_what_the_loop_leaves(walk: Any) -> None:
    """The same cells by Ray Tune and by the plain for-loop: the same rows, to the last bit."""
    columns = "cell_id, seed, seed_mode, width, rate, status, message, recorded, steps, step, position, final_position"
    query = f"select {columns} from walk order by cell_id"
    sweep = walk.sweep(axes={"width": [1, 2], "wants": ["ok", "raise", "diverge"]}, seeds=4)
    run_sweep(sweep, walk.data, workers=2, ray=True, pilot=False, progress=Progress())
    by_tune = walk.rows(query)
    walk.data = walk.folder / "by-loop"
    run_sweep(sweep, walk.data, local=True, pilot=False, progress=Progress())
    assert by_tune == walk.rows(query)
    assert len(by_tune) == 24


SIM = """
name: both-ways
experiment: sim
preset: authors
base: {d: 4, n: 60, epochs: 8, batch_size: 32, rotate: true, dtype: float64, mu: [1.0, 2.0], sigma: [0.1, 0.2]}
axes:
  model: [linear, relu]
  width: [3, 6]
  lr: [0.05, 1.0e+3]
seeds: 3
record: {points: 40, also: [jacobian, centres]}
"""
CURVES = ("ood_loss", "train_loss", "output", "jacobian", "centre_output")


@pytest.mark.slow  # that Ray and the loop leave equal rows is a law over all experiments too
def test_sim_by_tune_and_by_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SIM experiment by Ray Tune and by the for-loop: in the same batches the same rows to the last bit; in other
    batches the same curves within 1e-9 of the value plus 1e-12 of L_ref, up to where a run diverges."""
    sweep = Sweep.parse(SIM, "both-ways")
    monkeypatch.setattr("swingby.run.scheduler.GROWTH", 0)  # the planned batches, whatever they take

    def rows(name: str, size: int, local: bool) -> dict[str, Any]:
        monkeypatch.setattr("swingby.run.batches.UNMEASURED", size)
        result = run_sweep(sweep, tmp_path / name, local=local, workers=2, ray=True, pilot=False, progress=Progress())
        assert (result.failed, result.missing) == (0, 0)
        assert result.ok >= 12
        with Store.open(tmp_path / name) as store:
            skipped = "shard, attempt, seconds"
            return {row.cell_id: row for row in store.sql(f"select * exclude ({skipped}) from sim").rows()}

    by_tune, by_loop, otherwise = rows("tune", 7, False), rows("loop", 7, True), rows("other", 4, True)
    assert repr(by_tune) == repr(by_loop)  # repr tells every bit of a double, and nan is nan
    for cell_id, row in by_tune.items():
        other = otherwise[cell_id]
        assert (row.status, row.seed, row.a, row.l_ref) == (other.status, other.seed, other.a, other.l_ref)
        diverges = [loss > 1e6 * row.l_ref for loss in row.ood_loss] + [True]
        for name in CURVES:
            mine, theirs = (np.array(getattr(one, name)[: diverges.index(True)]) for one in (row, other))
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12 * row.l_ref)


@pytest.mark.slow  # worker processes of the driver's own are told of a fault the same way, see test_nearby
@pytest.mark.usefixtures("nothing_left")
def test_a_fault_ends_the_run(walk: Any) -> None:
    """What no second try would mend (a broken contract) ends the run with its reason after one try."""
    sweep = walk.sweep(axes={"wants": ["exit"]}, seeds=1)
    with pytest.raises(SwingbyError, match="no final row"):
        run_sweep(sweep, walk.data, workers=1, pilot=False, progress=Progress())
    assert set(walk.started().values()) == {1}


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM])
def test_a_signal_drains(walk: Any, number: signal.Signals) -> None:
    """Ctrl-C once, sent to the whole process group as a terminal does, or SIGTERM to the driver, as a scheduler does:
    running batches finish and are kept, no other begins, and the driver ends by itself without a trace."""
    child = start(walk, axes={"width": list(range(1, 9))}, seeds=1, base={"pause": 1.5})
    os.killpg(child.pid, number) if number == signal.SIGINT else os.kill(child.pid, number)
    said = child.communicate(timeout=120)[0]
    assert child.returncode == 0, said
    assert "stopping: running batches finish" in said
    assert "goes on where it stopped" in said
    assert "Traceback" not in said
    kept = walk.rows("select cell_id from walk")
    assert {row.cell_id for row in kept} == set(walk.started())
    assert 1 <= len(kept) < 8
    assert not list((walk.data / "work").glob("*.drain"))


@pytest.mark.slow
def test_ctrl_c_twice_stops_at_once(walk: Any) -> None:
    """Ctrl-C twice: the driver does not wait for its batches, and takes its Ray processes with it."""
    child = start(walk, axes={"width": [1, 2]}, seeds=1, base={"pause": 600})
    below = rays(child)
    assert any("raylet" in process.name() for process in below)
    assert child.stdout is not None
    os.killpg(child.pid, signal.SIGINT)
    before = list(itertools.takewhile(lambda line: "stopping: running batches finish" not in line, child.stdout))
    os.killpg(child.pid, signal.SIGINT)
    said = child.stdout.read()
    child.wait(timeout=120)
    assert "interrupted" in said, "".join(before)
    gone, alive = psutil.wait_procs(below, timeout=60)
    assert not alive, alive
    assert gone


def test_a_killed_driver_leaves_no_workers(walk: Any) -> None:
    """After SIGKILL of a driver its workers and its scheduler end by themselves within seconds, and what it left in the
    temporary folder is removed by the next run."""
    child = start(walk, axes={"width": [1, 2]}, seeds=1, base={"pause": 600})
    below = rays(child)
    working = [process for process in below if process.name() in ("raylet", "gcs_server") or process.pid in walk.pids()]
    assert len(working) >= 3
    mine = f"swingby-{child.pid}-*"
    assert list(Path("/tmp").glob(mine))  # a later run of anybody removes it
    child.kill()
    child.communicate()
    _, alive = psutil.wait_procs(working, timeout=60)
    # Ray's two agents try for a minute to tell the dead scheduler that it is dead; nobody has to wait for them here.
    for process in below:
        with suppress(psutil.Error):  # it may end meanwhile
            if "Agent" in " ".join(process.cmdline()):
                process.kill()
    assert not alive, alive
    with cluster.private_folder():
        assert not list(Path("/tmp").glob(mine))


def test_the_token_is_private(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token of a run is long, random, its owner's only, and an environment that turns it off is refused."""
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    cluster.require_tokens()
    path = Path(os.environ["RAY_AUTH_TOKEN_PATH"])
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert re.fullmatch("[0-9a-f]{64}", path.read_text())
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(SwingbyError, match="RAY_AUTH_MODE"):
        cluster.require_tokens()


def test_a_token_that_others_can_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent to the cluster, with the remedy; wherever Ray would look for the token."""
    token = tmp_path / ".ray" / "auth_token"
    token.parent.mkdir()
    token.write_text("c0ffee" * 8)
    token.chmod(0o640)
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SwingbyError, match=r"others can read \(mode 640\).*chmod 600"):
        cluster.require_our_token("127.0.0.1:9")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
    with pytest.raises(SwingbyError, match="others can read"):
        cluster.require_our_token("127.0.0.1:9")


@pytest.mark.parametrize("address", ["10.0.0.5", "ray://10.0.0.5:10001", "a b:1", ""])
def test_addresses_are_checked(address: str) -> None:
    """An address is host:port; anything else is refused with an example."""
    with pytest.raises(SwingbyError, match="host:port"):
        cluster.require_authentication(address)


def test_nobody_answers() -> None:
    """A cluster that is not there is refused within seconds."""
    began = time.monotonic()
    with pytest.raises(SwingbyError, match="no Ray cluster answers"):
        cluster.require_authentication("127.0.0.1:9")
    assert time.monotonic() - began < 60  # five seconds on a quiet machine; a connection left alone waits minutes


HEAD = """
import sys, time
import ray
context = ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _temp_dir=sys.argv[1],
                   object_store_memory=100 * 2**20, _plasma_directory=sys.argv[1])
print("at", context.address_info["gcs_address"], flush=True)
sys.stdin.read()
"""


def head(walk: Any, folder: Path, **environment: str) -> tuple[subprocess.Popen[str], str]:
    """A Ray cluster of somebody else's, and its address."""
    folder.mkdir(parents=True)
    child = subprocess.Popen(
        [sys.executable, "-c", HEAD, str(folder)],
        env=walk.environment(RAY_USAGE_STATS_ENABLED="0", **environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    walk.children.append(child)
    line = child.stdout.readline()
    assert line.startswith("at "), line
    return child, line.split()[1]


def test_a_cluster_without_authentication_is_refused(walk: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A cluster that takes any token is refused before anything is sent to it, and the message says what to do."""
    with cluster.private_folder() as folder:
        child, address = head(walk, folder / "ray", RAY_AUTH_MODE="disabled")
        with pytest.raises(SwingbyError, match=r"has no authentication.*RAY_AUTH_MODE=token"):
            run_sweep(walk.sweep(), walk.data, address=address, pilot=False, progress=Progress())
        child.communicate("", timeout=120)
    assert not walk.ledger.exists()


def test_an_existing_cluster_is_used(walk: Any) -> None:
    """With the token of a cluster, a sweep runs on it, and the cluster is still there afterwards."""
    with cluster.private_folder() as folder:
        token = folder / "theirs"
        token.write_text("c0ffee" * 8)
        token.chmod(0o600)
        child, address = head(walk, folder / "ray", RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=str(token))
        (walk.folder / "walks.yaml").write_text(walk.text(axes={"width": [1, 2]}, seeds=2))
        code = DRIVER.replace("workers=2", f"address={address!r}, code='installed'")
        user = subprocess.run(
            [sys.executable, "-c", code],
            env=walk.environment(RAY_AUTH_TOKEN_PATH=str(token)),
            cwd=walk.folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert user.returncode == 0, user.stderr
        assert "4 cells: 4 ok" in user.stdout
        refused = subprocess.run(
            [sys.executable, "-c", code],
            env=walk.environment(RAY_AUTH_TOKEN="decaf" * 8),
            cwd=walk.folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert f"cluster at {address} refuses our token" in refused.stderr
        cluster.require_authentication(address)
        child.communicate("", timeout=120)
    assert len(walk.pids()) <= 2
    assert not [path for path in (walk.data / "work").rglob("*") if path.is_file()]
