"""Laws of process groups: they leave what one process leaves, whatever of them dies, and none outlives its purpose."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.cell import Cell
from swingby.model.experiment import Resources
from swingby.model.process_group import ALONE, LostWorkerError, RankError
from swingby.run.drain import Drain
from swingby.run.driver import run_sweep
from swingby.run.forecast import summary
from swingby.run.options import RunOptions
from swingby.run.plan import Planner
from swingby.run.processes import group, local_group
from swingby.run.processes.local_group import LocalGroup
from swingby.run.progress import Lines, Progress
from swingby.run.resources import check_fits, gpus_on, runs_on_one, widened
from swingby.run.worker.batch import Assignment, run_batch
from swingby.store import ingest
from tests.support.cluster import two_nodes
from tests.support.processes import children
from tests.support.waiting import awaited

WHOLE = "select cell_id, status, message, steps, step, position, final_position from walk order by cell_id"


class Said(Progress):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def line(self, text: str) -> None:
        """Kept."""
        self.said.append(text)


@pytest.fixture
def nobody_left() -> Iterator[None]:
    """No process is left behind that was not there before."""
    before = children()
    yield
    _, left = psutil.wait_procs(children() - before, timeout=60)
    assert not left, [" ".join(process.cmdline()) for process in left]


def gone(pid: int) -> bool:
    """Whether a process has ended."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    return True


def pieces(walk: Any, **changes: Any) -> Any:
    """A sweep of cells in pieces, a shape each."""
    base = {"pieces": 5, "length": 9, **changes.pop("base", {})}
    return walk.sweep(**{"axes": {"width": [1, 2]}, "seeds": 1, "base": base, **changes})


def alone(walk: Any, sweep: Any) -> list[Any]:
    """The rows of the same cells, trained by one process each."""
    data, walk.data = walk.data, walk.folder / "alone"
    run_sweep(sweep, walk.data, local=True, pilot=False, progress=Progress())
    rows, walk.data = walk.rows(WHOLE), data
    return rows


@pytest.mark.usefixtures("nobody_left")
def test_a_group_leaves_what_one_process_leaves(walk: Any) -> None:
    """The rows of three processes are those of one, to the last bit; and all three took part."""
    sweep = pieces(walk, axes={"width": [1]})
    result = run_sweep(sweep, walk.data, local=True, pilot=False, processes=3, progress=Progress())
    assert (result.ok, result.failed, result.missing) == (1, 0, 0)
    parts = walk.parts()
    assert walk.rows(WHOLE) == alone(walk, sweep)
    assert sorted((part.cell, part.rank) for part in parts) == sorted(
        (cell.cell_id, rank) for cell in sweep.cells() for rank in range(3)
    )
    assert {part.threads for part in parts if part.rank} == {"1"}
    assert {part.pid for part in parts if part.rank == 0} == {os.getpid()}


@pytest.mark.usefixtures("nobody_left")
def test_a_killed_member_costs_no_row(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that is killed in the middle: its batch is tried again and goes on from its checkpoint, every row is
    there once, and the message says who died of what."""
    sweep, said, write = pieces(walk, axes={"width": [1]}), Said(), Records.write_shard

    def kill_after_two(self: Records, *given: Any) -> Any:
        left, (member,) = write(self, *given), [part.pid for part in walk.parts() if part.rank][-1:]
        if len(self.shards()) == 2 and not gone(member):
            os.kill(member, signal.SIGKILL)
            awaited(lambda: gone(member))
        return left

    monkeypatch.setattr(Records, "write_shard", kill_after_two)
    result = run_sweep(sweep, walk.data, local=True, pilot=False, processes=2, progress=said)
    assert (result.ok, result.missing, result.given_up) == (1, 0, {})
    assert [text for text in said.said if "tried again" in text] == [
        "batch 0 is tried again: the process of rank 1 (of 2) was killed by SIGKILL"
    ]
    assert sorted((part.first, part.rank) for part in walk.parts()) == [(0, 0), (0, 1), (4, 0), (4, 1)]
    segments = [(row["from_step"], row["to_step"]) for row in segments_of(walk)]
    assert sorted(set(segments)) == [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
    assert len(segments) == 5
    assert walk.rows(WHOLE) == alone(walk, sweep)


def segments_of(walk: Any) -> list[dict[str, Any]]:
    """All rows of all shards."""
    records = walk.records()
    return [row for name in records.shards() for row in records.read_shard(name)[1].to_pylist()]


@pytest.mark.usefixtures("nobody_left")
def test_a_member_that_always_dies_and_one_that_raises(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell whose member dies again and again fails with the reason; one whose member raises fails with what it said;
    the other cells go on."""
    monkeypatch.setattr("swingby.run.scheduler.RETRIES", 1)  # every new group takes a second
    sweep = pieces(walk, axes={"zip": [{"wants": ["ok", "lost", "member"], "width": [1, 2, 3]}]})
    result = run_sweep(sweep, walk.data, local=True, pilot=False, processes=2, progress=Progress())
    assert (result.ok, result.failed, result.missing) == (1, 2, 0)
    (reason,) = result.given_up.values()
    assert reason == "its process died 2 times: the process of rank 1 (of 2) was killed by SIGKILL"
    said = {row.wants: row.message for row in walk.rows("select wants, message from walk where status = 'failed'")}
    assert said["lost"] == reason
    assert "rank 1 (of 2): ValueError: the walker of seed 0 falls" in said["member"]


@pytest.mark.usefixtures("nobody_left")
def test_how_a_group_ends(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever leaves a group learns what became of its ranks, and what it raised itself is never lost."""
    monkeypatch.setattr(local_group, "NOTICE_SECONDS", 0.3)
    with pytest.raises(RankError, match=r"rank 1 \(of 2\): ValueError: the walker falls"):
        meet("fall", "the walker")
    with pytest.raises(LostWorkerError, match="ended with exit code 3"):
        meet("leave", 3)
    with pytest.raises(RankError, match="module:function"):
        meet("nowhere", 0)
    with pytest.raises(KeyError, match="mine"):
        meet("idle", 600, KeyError("mine"))
    with pytest.raises(SwingbyError, match="ours"):
        meet("idle", 600, SwingbyError("ours"))
    with pytest.raises(LostWorkerError, match="ended with exit code 3") as lost:
        meet("leave", 3, ConnectionError("nobody answers"), pause=5)
    assert isinstance(lost.value.__cause__, ConnectionError)
    with ALONE.start("misbehaving_plugin:fall", 0) as me:
        assert (me.rank, me.size) == (0, 1)


@pytest.mark.usefixtures("nobody_left")
def test_who_waits_for_what_never_comes(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller that does not notice what became of a rank, since all it does is wait, is interrupted and told; one
    that notices, or whose ranks are well, is left alone."""
    monkeypatch.setattr(group, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(group, "GRACE_SECONDS", 0.1)
    for target, payload, error in (("fall", "the walker", RankError), ("leave", 3, LostWorkerError)):
        called = threading.Event()
        with pytest.raises(error, match=r"the walker falls|ended with exit code 3") as raised:
            wait_in_vain(target, payload, called)
        assert "interrupted" in f"{raised.value} {raised.value.__cause__}"
    monkeypatch.setattr(group, "GRACE_SECONDS", 60)
    called = threading.Event()
    with pytest.raises(KeyError, match="mine"), LocalGroup(2).start("misbehaving_plugin:idle", 600, called.set):
        raise KeyError("mine")
    with pytest.raises(RankError, match="falls"):
        leave_after_a_fall(called)
    with LocalGroup(2).start("misbehaving_plugin:idle", 0, called.set):
        pass
    assert not called.is_set()


def wait_in_vain(target: str, payload: Any, called: threading.Event) -> None:
    """A group of two whose caller waits until somebody ends that."""
    with LocalGroup(2).start(f"misbehaving_plugin:{target}", payload, called.set):
        assert called.wait(60)
        raise ConnectionError("interrupted")


def leave_after_a_fall(called: threading.Event) -> None:
    """A group of two whose caller leaves in peace some looks after the other one has raised."""
    before = children()
    with LocalGroup(2).start("misbehaving_plugin:fall", "he", called.set):
        (member,) = children() - before
        awaited(lambda: gone(member.pid))
        time.sleep(0.5)


def test_nobody_is_to_blame_for_a_loss(walk: Any) -> None:
    """Where processes say no more than that they lost each other, no cell is at fault; where one says more, it is."""
    with pytest.raises(LostWorkerError, match=r"rank 1 \(of 2\): nobody answers"):
        meet("lose", "nobody answers")
    with pytest.raises(LostWorkerError, match="nor here"):
        meet("lose", "nobody answers", LostWorkerError("nor here"))
    with pytest.raises(RankError, match=r"(?s)nobody answers.*mine"):
        meet("lose", "nobody answers", KeyError("mine"), pause=1.0)  # after the processes have said so
    with pytest.raises(RankError, match=r"(?s)he falls.*nor here"):
        meet("fall", "he", LostWorkerError("nor here"))


def meet(target: str, payload: Any, raises: Exception | None = None, pause: float = 0.0) -> None:
    """A group of two whose caller raises after a while, or leaves in peace."""
    before = children()  # other tests of this process may have left some that live on
    with LocalGroup(2).start(f"misbehaving_plugin:{target}", payload):
        began = children() - before
        while pause and any(not gone(child.pid) for child in began):
            time.sleep(0.01)
        if raises is not None:
            raise raises


CALLER = """
import sys, time
from swingby.run.processes.local_group import LocalGroup
with LocalGroup(3).start("misbehaving_plugin:stay", sys.argv[1]):
    time.sleep(600)
"""


def test_members_end_with_their_caller(walk: Any, tmp_path: Path) -> None:
    """After SIGKILL of the caller its members are gone within seconds, though they have nothing to do with it."""
    there = tmp_path / "members"
    caller = walk.driver(CALLER.replace("sys.argv[1]", repr(str(there))))
    awaited(lambda: there.exists() and there.read_text().count("\n") == 2)
    members = [int(pid) for pid in there.read_text().split()]
    caller.kill()
    caller.wait()
    awaited(lambda: all(map(gone, members)), seconds=30)


DRIVER = """
import sys
from swingby.run.drain import Drain
from swingby.run.driver import run_sweep
from swingby.run.progress import Lines
from swingby.sweepfile.sweep import Sweep
sweep = Sweep.load("walks.yaml")
print(run_sweep(sweep, "data", pilot=False, progress=Lines(sys.stdout), processes=3, local=True), flush=True)
"""


@pytest.mark.slow
def test_ctrl_c_drains_a_group(walk: Any) -> None:
    """Ctrl-C, which a terminal sends to the other ranks too, lets a group come to its next checkpoint, and no trace."""
    (walk.folder / "walks.yaml").write_text(walk.text(seeds=1, axes={}, base={"pieces": 3, "pause": 1.0}))
    driver = walk.driver(DRIVER)
    awaited(lambda: len(walk.records().shards()) == 1 if walk.data.exists() else False)
    os.killpg(driver.pid, signal.SIGINT)
    said = driver.communicate(timeout=120)[0]
    assert driver.returncode == 0, said
    assert "goes on where it stopped" in said
    assert "Traceback" not in said
    assert all(gone(part.pid) for part in walk.parts())


def test_who_cannot_have_a_group(walk: Any, toy: str) -> None:
    """An experiment that does not spread, GPUs that are not there, and no process at all are refused clearly."""
    from swingby.sweepfile.sweep import Sweep

    sweep = Sweep.parse(f"name: a\nexperiment: {toy}\naxes: {{d: [2]}}", "a.yaml")
    with pytest.raises(SwingbyError, match="'toy' trains a batch in one process, and not in 2"):
        run_sweep(sweep, walk.data, local=True, processes=2, progress=Progress())
    with pytest.raises(SwingbyError, match="allowed: 1 and more"):
        run_sweep(walk.sweep(), walk.data, local=True, processes=0, progress=Progress())
    with pytest.raises(SwingbyError, match=r"resources.gpus is 0.5 .*: 2 processes of one batch cannot share a GPU"):
        run_sweep(walk.sweep(resources={"gpus": 0.5}), walk.data, processes=2, progress=Progress())
    with pytest.raises(SwingbyError, match=r"resources.gpus is 0 .* device='cuda' trains on one"):
        run_sweep(walk.sweep(resources={"gpus": 0}), walk.data, device="cuda", progress=Progress())
    with pytest.raises(SwingbyError, match="need 4000, and there are"):
        LocalGroup(2000, gpus=2)


def test_a_plan_tells_of_its_processes(walk: Any) -> None:
    """The summary says how many processes train a batch, and it is no part of a cell's identity."""
    sweep = walk.sweep()
    planned = Planner(sweep, walk.records(), RunOptions(workers=8, processes=2)).preview()
    assert "on 8 workers, 2 processes a batch" in summary(planned)
    assert {each.cpus for each in planned.batch_resources.values()} == {2.0}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(registry.experiment("walk")), "resources", lambda self, params: Resources(most_cpus=16))
        few = walk.sweep(axes={"width": [1, 2]}, seeds=1)
        wide = Planner(few, walk.records(), RunOptions(workers=8, processes=2)).preview()
    assert {each.cpus for each in wide.batch_resources.values()} == {4.0}  # two batches of two processes on eight cores
    assert "2 processes a batch, 2 CPUs a process" in summary(wide)
    assert planned.plan.sweep_id == Planner(sweep, walk.records()).preview().plan.sweep_id


def test_what_is_going_on_is_told(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was stopped in the middle of a cell, and the next one at its start, tell how far the cell is."""
    from swingby.store.status import in_progress

    monkeypatch.setattr(type(registry.experiment("walk")), "max_batch", lambda self, params: 1)
    sweep, said = pieces(walk, axes={"width": [1]}), io.StringIO()

    class AfterTwo(Drain):
        def __call__(self) -> bool:
            return len(walk.records().shards()) >= 2

    run_sweep(sweep, walk.data, local=True, pilot=False, progress=Progress(), drain=AfterTwo())
    (cell,) = sweep.cells()
    (one,) = in_progress(walk.records(), [("walk", sweep.sweep_id)])
    assert str(one) == f"cell {cell.cell_id[:12]}: 3 of 10 steps"
    progress = Lines(said)
    progress.total = 2
    assert progress.remaining() is None
    progress.in_progress([0.75, 0.5])
    assert "0 of 2 cells, 2 in progress (62% of their steps), about" in progress.state()
    run_sweep(sweep, walk.data, local=True, pilot=False, progress=Lines(said))
    assert re.search(r"^\[.* s\] 0 of 1 cells, 1 in progress \(30% of their steps\)$", said.getvalue(), re.MULTILINE)
    assert in_progress(walk.records(), [("walk", sweep.sweep_id)]) == []
    assert "forecast: unmeasured" in said.getvalue()  # half a run measures none
    more = Planner(pieces(walk, axes={"width": [1]}, seeds=2, name="more"), walk.records())
    assert "measured on w1" in summary(more.preview())
    assert more.unmeasured() == []


MACHINES = st.lists(st.integers(1, 64), min_size=1, max_size=5)


@given(MACHINES, st.integers(1, 9), st.integers(1, 4), st.none() | st.integers(1, 16))
def test_cpus_that_nobody_else_needs(machines: list[int], batches: int, processes: int, most: int | None) -> None:
    """Processes get more CPUs than they need only where all of them find room with that, no more than they can make
    use of, and as many as that."""
    cpus = widened(Resources(most_cpus=most), batches, processes, machines).cpus

    def fit(each: float) -> bool:
        return sum(machine // each for machine in machines) >= batches * processes

    assert 1 <= cpus <= max(1, most or 1)
    assert cpus == 1 or fit(cpus)
    assert cpus == (most or 1) or not fit(cpus + 1)


@pytest.mark.parametrize(
    ("resources", "gpus", "said"),
    [
        ({"gpus": 1}, 1.0, "one GPU a process"),
        ({"gpus": 0.125}, 0.125, "0.125 of a GPU a process: 8 share one"),
        ({"gpus": 2}, 2.0, "2 GPUs a process"),
    ],
)
def test_runs_on_cuda_share_gpus_as_the_file_says(walk: Any, resources: Any, gpus: float, said: str) -> None:
    """A run takes a whole GPU by default and the part that is set otherwise; the dry run says so. A CPU takes none."""
    sweep, records = walk.sweep(resources=resources), walk.records()
    planned = Planner(sweep, records, RunOptions(device="cuda")).preview()
    assert {one.gpus for one in planned.process_resources.values()} == {gpus}
    assert f", {said}\n" in summary(planned)
    on_cpu = Planner(sweep, records, RunOptions(device="cpu")).preview()
    assert {one.gpus for one in on_cpu.process_resources.values()} == {0.0}
    assert "GPU" not in summary(on_cpu)


def test_a_run_that_finds_no_memory_on_a_shared_gpu(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails alone, with how many runs shared the GPU and what to set; its neighbours get their results. Where the
    GPU's driver says it, so that another process has to try again, the reason says that too."""

    class OutOfMemoryError(RuntimeError):
        """As torch names it."""

    def full(self: object, cell: Cell, batch: object) -> None:
        if cell.seed == 1:
            raise kind("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(type(registry.experiment("walk")), "_misbehave", full)
    planned, kind = Planner(walk.sweep(seeds=3, axes={}), walk.records(), RunOptions()).commit(), LostWorkerError
    shared = Assignment(walk.data, planned.plan.plan_id, (0,), gpus=0.25)
    advice = (
        r"up to 4 runs shared this GPU \(resources.gpus is 0.25\).* such as 0.5, and have the failed cells tried again"
    )
    with pytest.raises(LostWorkerError, match=rf"{advice}.*\nCUDA out of memory"):
        run_batch(shared)
    kind = OutOfMemoryError
    done = run_batch(shared)
    assert (done.ok, done.failed) == (2, 1)
    ingest(walk.records())
    (row,) = walk.rows("select message from walk where status = 'failed'")
    assert re.match(rf"{advice}.*\n.*OutOfMemoryError: CUDA out of memory", row.message)


@given(st.floats(1e-4, 1) | st.integers(1, 8).map(float), st.sampled_from(["cuda", "cpu", None]))
def test_runs_share_a_gpu_by_parts(gpus: float, device: Any) -> None:
    """As many runs share a GPU as their parts leave room for; a CPU takes none; unset is a whole GPU."""
    runs = runs_on_one(gpus)
    assert runs * gpus <= 1 + 1e-6 * runs or runs == 1
    assert (runs + 1) * gpus > 1
    assert gpus_on(Resources(gpus=gpus), device) == (0.0 if device == "cpu" else gpus)
    assert gpus_on(Resources(), device) == (1.0 if device == "cuda" else 0.0)


def test_batches_that_would_wait_for_ever() -> None:
    """A batch is refused that needs more than there is, or as much but not on one machine."""
    two = [{"CPU": 2.0, "GPU": 1.0}, {"CPU": 2.0}]
    check_fits("s", {"CPU": 1.0}, 4, two)
    check_fits("s", {"CPU": 2.0}, 2, two)
    with pytest.raises(SwingbyError, match=r"shape 's' needs 5 CPU \(5 processes\), and there are 4"):
        check_fits("s", {"CPU": 1.0}, 5, two)
    with pytest.raises(SwingbyError, match="needs 3 CPU on one machine; the machines have 2 CPU; 2 CPU"):
        check_fits("s", {"CPU": 3.0}, 1, two)
    with pytest.raises(SwingbyError, match=r"needs 2 GPU \(2 processes\), and there are 1"):
        check_fits("s", {"CPU": 1.0, "GPU": 1.0}, 2, two)
    check_fits("s", {"CPU": 1.0, "GPU": 0.125}, 1, two)
    with pytest.raises(SwingbyError, match="needs 2 GPU, and there are 1"):
        check_fits("s", {"GPU": 2.0}, 1, two)


USER = """
import sys
from swingby.errors import SwingbyError
from swingby.run.drain import Drain
from swingby.run.driver import run_sweep
from swingby.run.progress import Lines
from swingby.sweepfile.sweep import Sweep
for file, processes in (("walks.yaml", 2), ("long.yaml", 4), ("more.yaml", 5)):
    options = {"pilot": False, "progress": Lines(sys.stdout), "processes": processes, "address": sys.argv[1]}
    options["code"] = "installed"
    try:
        print(run_sweep(Sweep.load(file), "data", **options), flush=True)
    except SwingbyError as error:
        print("refused:", error, flush=True)
"""


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_groups_on_two_nodes(walk: Any) -> None:
    """Through Ray Tune on a cluster of two nodes with two CPUs each, two runs of two processes at a time: a member of
    the one is killed and the first process of the other, and every row of both is there once, as one process leaves
    it; whoever loses its caller is gone within seconds. Then one run of four processes on both nodes, each with a GPU
    of its own; and five find no room."""
    base = {"pieces": 20, "length": 39, "pause": 0.3}
    both, long = pieces(walk, base=base), pieces(walk, axes={"width": [7]}, base={"gpus": 1.0}, name="long")
    (walk.folder / "walks.yaml").write_text(walk.text(axes={"width": [1, 2]}, seeds=1, base=base))
    base = {"pieces": 5, "length": 9, "gpus": 1.0}
    for name, width in (("long", 7), ("more", 8)):
        (walk.folder / f"{name}.yaml").write_text(walk.text(name=name, axes={"width": [width]}, seeds=1, base=base))
    with two_nodes('{"num_cpus": 2, "num_gpus": 2}', walk.environment()) as nodes:
        user = subprocess.Popen(
            [sys.executable, "-c", USER, nodes.address],
            env=walk.environment(RAY_AUTH_TOKEN_PATH=nodes.token),
            cwd=walk.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        walk.children.append(user)
        first, second = (cell.cell_id for cell in both.cells())
        # A busy machine takes its time to start six Ray processes a node; a user who has ended has a reason.
        awaited(lambda: user.poll() is not None or len({(p.cell, p.rank) for p in walk.parts()}) == 4, seconds=180)
        assert user.poll() is None, user.communicate()[0]
        started = walk.parts()
        awaited(lambda: {row["cell_id"] for row in segments_of(walk)} == {first, second})
        os.kill(pid_of(started, first, 1), signal.SIGKILL)
        os.kill(pid_of(started, second, 0), signal.SIGKILL)
        awaited(lambda: gone(pid_of(started, second, 1)), seconds=15)
        said = user.communicate(timeout=200)[0]
    assert user.returncode == 0, said
    check_killed(walk, said, both, started)
    parts = [part for part in walk.parts() if part.cell in {cell.cell_id for cell in long.cells()}]
    assert sorted(part.rank for part in parts) == [0, 1, 2, 3]
    assert sorted(part.devices for part in parts) == ["0", "0", "1", "1"]  # two on each node
    assert "refused: a batch of shape 'w8' needs 5 CPU (5 processes), and there are 4" in said


def check_killed(walk: Any, said: str, both: Any, started: list[Any]) -> None:
    """Both runs went on from where they were, every row is there once, and what was killed is told."""
    assert "2 cells: 2 ok" in said, said
    assert said.count("is tried again") == 2
    assert "the process of rank 1 (of 2) died: " in said
    again = [part for part in walk.parts() if part not in started and part.cell in {part.cell for part in started}]
    assert sorted((part.cell, part.rank) for part in again) == sorted((part.cell, part.rank) for part in started)
    assert all(part.first > 0 for part in again)
    assert {part.threads for part in started} == {"1"}
    rows = [row for row in walk.rows(WHOLE) if row.cell_id in {part.cell for part in started}]
    assert rows == alone(walk, both)
    segments = [(row["cell_id"], row["from_step"]) for row in segments_of(walk)]
    assert len(segments) == len(set(segments))


def pid_of(parts: list[Any], cell: str, rank: int) -> int:
    """The process of this rank that trains a cell."""
    return next(part.pid for part in parts if (part.cell, part.rank) == (cell, rank))
