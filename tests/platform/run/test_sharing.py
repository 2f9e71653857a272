"""Laws of runs that share a GPU: how many do is decided by memory and a measured gain, and no cell's result by that."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from swingby.data.records import BatchNote
from swingby.model import registry
from swingby.model.experiment import Batch, Resources
from swingby.model.memory import memory_of_torch
from swingby.model.process_group import LostWorkerError
from swingby.run.cost import Cost
from swingby.run.drain import Drain
from swingby.run.driver import run_sweep
from swingby.run.forecast import forecast, summary
from swingby.run.options import RunOptions
from swingby.run.plan import Planner
from swingby.run.progress import Progress
from swingby.run.ray.slots import Slots
from swingby.run.ray.trainable import LOST
from swingby.run.ray.trials import TrialsInFlight
from swingby.run.sharing import GAIN, INTERVALS, MARGIN, PARTS, Limit, Measurement, Report, Window, most_runs
from swingby.run.worker.batch import Assignment, BatchDone, run_batch

SHARES = st.floats(1e-3, 1.0)
COUNTS = st.integers(1, len(PARTS))


def settled(limit: Limit, rates: Any, each: float, others: float = 0.0) -> list[int]:
    """The limits that runs see which have these rates (a function of how many share) and take `each` of the memory,
    beside what others hold, until nothing changes any more."""
    seen = [limit.runs]
    for _ in range(20):
        limit.measured(Measurement(rates(limit.runs), min(1.0, others + limit.runs * each), each))
        if limit.settled and limit.runs == seen[-1]:
            return seen
        seen.append(limit.runs)
    raise AssertionError(f"no end: {seen}")


@given(most=COUNTS, each=SHARES, others=st.floats(0, 1), data=st.data())
def test_memory_holds_all_that_share(most: int, each: float, others: float, data: st.DataObject) -> None:
    """Whatever rates are measured: there are never more runs than fit with the margin, nor than may be; only the first
    needs no room. The limit is settled after few measurements, and no measurement changes it then."""
    limit = Limit(most)
    seen = settled(limit, lambda runs: data.draw(st.floats(1e-3, 1e3)), each, others)
    for runs in seen:
        assert 1 <= runs <= most
        assert runs == 1 or others + runs * each <= 1 - MARGIN + 1e-9
    assert len(seen) <= math.log2(len(PARTS)) + 3
    assert limit.settled


@given(first=st.floats(1e-3, 1e3), slower=st.floats(0, 2), noise=st.floats(0, 0.02), data=st.data())
@example(first=1.0, slower=0.0, noise=0.0, data=None)
@example(first=1.0, slower=1.0, noise=0.0, data=None)
def test_the_limit_is_where_the_gain_ends(first: float, slower: float, noise: float, data: Any) -> None:
    """Of runs with the rate r(k) = r(1) k / (1 + a (k - 1)) together, as many share a GPU as the last doubling that
    gains `GAIN`; noise moves that only where the gain of a doubling is nearer to GAIN than the noise."""

    def rate(runs: int) -> float:
        return first * runs / (1 + slower * (runs - 1))

    def gain(runs: int) -> float:
        return rate(runs) / rate(runs // 2) - 1

    def measured(runs: int) -> float:
        return rate(runs) * (1 + noise * (data.draw(st.floats(-1, 1)) if data else 0))

    limit = Limit(len(PARTS))
    settled(limit, measured, 1e-3)
    off = (1 + GAIN) * 2 * noise / (1 - noise) + 1e-9
    assert limit.runs == 1 or gain(limit.runs) >= GAIN - off
    assert limit.runs == len(PARTS) or gain(2 * limit.runs) < GAIN + off


@given(most=COUNTS, steps=st.lists(st.integers(1, len(PARTS)) | st.none(), max_size=30))
def test_a_lack_of_memory_ends_with_a_gpu_for_each(most: int, steps: list[int | None]) -> None:
    """Where runs find no memory, fewer share a GPU, down to one, and never more again; runs that were admitted before
    and find none while the number falls do not count again."""
    limit, lacked = Limit(most), False
    for runs in steps:
        before = limit.runs
        if runs is None:
            limit.measured(Measurement(float(limit.runs), 0.0, 0.0))
        else:
            limit.lacked_memory(runs)
            lacked = True
            assert limit.runs == (before if runs > before else max(1, before // 2))
        assert not lacked or limit.runs <= before
    for _ in range(4):
        limit.lacked_memory(limit.runs)
    assert limit.alone


@given(gpus=st.integers(1, 4), lanes=COUNTS)
def test_ray_has_room_for_one_of_each_part(gpus: int, lanes: int) -> None:
    """Parts are handed out as Ray does, to the GPU with the least room that is enough: each GPU has one of each."""
    free, there = [10_000] * gpus, [list[float]() for _ in range(gpus)]
    for slot in range(gpus * lanes):
        part = PARTS[slot // gpus]
        amount = round(10_000 * part)
        assert amount == pytest.approx(10_000 * part)  # no finer than Ray counts
        best = min((one for one in range(gpus) if free[one] >= amount), key=free.__getitem__)
        free[best] -= amount
        there[best].append(part)
    assert there == [list(PARTS[:lanes])] * gpus


@given(
    speeds=st.lists(st.floats(0.1, 10), min_size=2, max_size=6),
    gpus=st.integers(1, 2),
    starts=st.lists(st.integers(0, 30), min_size=6, max_size=6),
    whole=st.booleans(),
)
def test_a_rate_is_that_of_all_at_once(speeds: list[float], gpus: int, starts: list[int], whole: bool) -> None:
    """Runs of constant speeds, which begin to report at different times, and which report in the middle or (`whole`) at
    their ends alone: the rate is the sum of the speeds. Before all of them report, they are twice as fast."""
    window, all_there = Window(len(speeds), gpus), max(starts[: len(speeds)])
    for slot in range(len(speeds)):
        window.begins(slot)
    work, began = [0.0] * len(speeds), list(map(float, starts))
    for now in range(1, all_there + 4 * INTERVALS + 3):
        for slot, speed in enumerate(speeds):
            if now <= starts[slot]:
                continue
            work[slot] += speed * (2 if now <= all_there + 1 else 1)
            if not whole:
                window.take(slot, Report(float(now), work[slot], now, gpu="a", used=0.5, peak=0.1))
            elif (now - starts[slot]) % 2 == 0:
                window.take(
                    slot, Report(float(now), work[slot], 1, began[slot], ended=True, gpu="a", used=0.5, peak=0.1)
                )
                work[slot], began[slot] = 0.0, float(now)
                window.begins(slot)
    measurement = window.measurement()
    assert measurement is not None
    assert measurement.rate == pytest.approx(sum(speeds) / gpus)
    assert measurement.used == 0.5
    assert measurement.each == pytest.approx(max(0.1, 0.5 * gpus / len(speeds)))


def test_nothing_is_known_of_memory() -> None:
    """Where nobody says what memory there is, each run keeps a GPU to itself."""
    window, limit = Window(1, 1), Limit(len(PARTS))
    window.begins(0)
    for now in range(INTERVALS + 2):
        window.take(0, Report(float(now), float(now), now))
    measurement = window.measurement()
    assert measurement is not None
    limit.measured(measurement)
    assert limit.alone
    assert memory_of_torch() is None  # of this process, on a machine without a GPU


def test_processors_bound_the_runs() -> None:
    """No more runs share a GPU than its machine has CPUs for; machines without a GPU do not count."""
    assert most_runs([{"CPU": 16.0, "GPU": 4.0}, {"CPU": 64.0}], 1.0) == 4
    assert most_runs([{"CPU": 16.0, "GPU": 4.0}, {"CPU": 6.0, "GPU": 2.0}], 1.0) == 3
    assert most_runs([{"CPU": 1.0, "GPU": 1.0}], 2.0) == 1
    assert most_runs([{"CPU": 64.0, "GPU": 1.0}], 1.0) == len(PARTS)


@given(st.integers(1, 8), st.integers(1, 40), st.sampled_from([0.25, 0.5, 1.0, 2.0]))
def test_a_forecast_counts_gpus(gpus: int, batches: int, each: float) -> None:
    """Batches on GPUs take as long as the GPUs need, however many cores there are."""
    notes = [BatchNote(number, "a", 10) for number in range(batches)]
    on = forecast(notes, {"a": Cost(1.0, 0.1, 50.0)}, {"a": Resources(gpus=each)}, 64, gpus)
    assert on is not None
    assert on.core_seconds == pytest.approx(2.0 * batches)
    assert on.wall_seconds == pytest.approx(2.0 * math.ceil(batches / max(1, int(gpus / each))))


def test_who_shares(walk: Any) -> None:
    """Runs share GPUs by measurements where nothing else is set, on "cuda", by Ray and in one process each."""
    records, one = walk.records(), {"gpus": 1}
    cuda = RunOptions(device="cuda")
    for sweep, options, shared in (
        (walk.sweep(), cuda, True),
        (walk.sweep(resources=one), cuda, False),
        (walk.sweep(base={"gpus": 1.0}), cuda, False),
        (walk.sweep(), RunOptions(), False),
        (walk.sweep(), RunOptions(device="cuda", local=True), False),
        (walk.sweep(), RunOptions(device="cuda", processes=2), False),
    ):
        planned = Planner(sweep, records, options, gpus=3).preview()
        assert planned.shares == shared
        assert {one.gpus for one in planned.process_resources.values()} == {float(options.device == "cuda")}
        assert ("3 GPUs" in summary(planned)) == shared
        machines = [{"CPU": 8.0, "GPU": 3.0}]
        assert (Slots.of([planned], machines, Progress()) is not None) == shared
        assert Slots.of([planned], [{"CPU": 8.0}], Progress()) is None


class Simulated:
    """Ray and its workers, as the driver of a run sees them: trials begin where their part of a GPU is free, report how
    far they are, and end in any order; those that are too large find no memory beside others.

    Attributes:
        ended: the first batches of the trials that ended well.
        lacked: how often each found no memory.
        most: the most trials that ran at once on a GPU.
    """

    def __init__(self, flight: TrialsInFlight, slots: Slots, gpus: int, large: set[int], error: Path) -> None:
        self.flight, self.slots, self.large, self.error = flight, slots, large, error
        self.free, self.pending, self.running = [10_000] * gpus, list[Any](), dict[int, tuple[Any, int, int]]()
        self.ended, self.lacked, self.most, self.now = list[int](), Counter[int](), 0, 0
        error.write_text(f"Traceback ...\n{LOST}CUDA out of memory\n")

    def go_on(self) -> None:
        """Begins what is new, and has all report."""
        self.now += 1
        while (config := self.flight.config()) is not None:
            self.pending.append(config)
            if config["meter"]:  # else it waits until a whole GPU is free
                assert len(self.pending) + len(self.running) <= self.slots.limit.runs * len(self.free)
        for config in tuple(self.pending):
            room = [(free, gpu) for gpu, free in enumerate(self.free) if free >= amount(config)]
            if room:
                self.pending.remove(config)
                self.free[min(room)[1]] -= amount(config)
                self.running[config["batches"][0]] = config, min(room)[1], self.now
        self.most = max([self.most, *self.sharing().values()])
        for config, _, began in self.running.values():
            if config["meter"]:
                report = Report(self.now, self.now - began, self.now - began, used=0.1, peak=0.05)
                Path(config["meter"]).write_text(json.dumps(asdict(report)))

    def end(self, which: int) -> None:
        """Ends one of the trials."""
        batch, sharing = sorted(self.running)[which % len(self.running)], self.sharing()
        config, gpu, _ = self.running.pop(batch)
        self.free[gpu] += amount(config)
        if batch in self.large and sharing[gpu] > 1:
            assert config["meter"], "a trial with a GPU of its own has none beside it"
            self.lacked[batch] += 1
            self.flight.died(SimpleNamespace(config=config, error_file=str(self.error)))
        else:
            self.ended.append(batch)
            done = {**asdict(BatchDone(batch, ok=1, seconds=1.0)), "plan_id": config["plan_id"]}
            self.flight.finished({"key": config["key"], "batch_done": done})

    def sharing(self) -> Counter[int]:
        """How many trials run on each GPU."""
        return Counter(gpu for _, gpu, _ in self.running.values())


def amount(config: Any) -> int:
    """Ten thousandths of a GPU that a trial takes."""
    return round(10_000 * config["bundle"]["GPU"])


@given(
    gpus=st.integers(1, 2),
    cpus=st.integers(1, 8),
    large=st.sets(st.integers(0, 15)),
    order=st.lists(st.integers(0, 15), min_size=1),
)
@example(gpus=1, cpus=8, large={5}, order=[0])
@example(gpus=2, cpus=8, large=set(range(16)), order=[15])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_gpu_that_refuses_memory_costs_no_result(
    walk: Any, gpus: int, cpus: int, large: set[int], order: list[int]
) -> None:
    """Whichever runs are too large to share a GPU, and in whatever order runs end: each is trained to its end once,
    none fails, and none is begun in vain more than twice. No more share a GPU than there are CPUs for; where none is
    too large, as many do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swingby.run.ray.slots.LOOK_SECONDS", 0.0)
        patch.setattr(type(registry.experiment("walk")), "max_batch", lambda self, params: 1)
        sweep, records = walk.sweep(axes={"width": [1]}, seeds=16), walk.records()
        planned = Planner(sweep, records, RunOptions(device="cuda")).preview()
        slots = Slots.of([planned], [{"CPU": float(gpus * cpus), "GPU": float(gpus)}], Progress())
        assert slots is not None
        flight = TrialsInFlight([planned], records, walk.folder / "flag", Progress(), Drain(), None, slots)
        (walk.data / "work").mkdir(exist_ok=True)
        simulated = Simulated(flight, slots, gpus, large, walk.folder / "error")
        for turn in range(3 * 16):
            for _ in range(5 if turn == 0 else INTERVALS + 2):
                simulated.go_on()
            if not simulated.running:
                break
            simulated.end(order[turn % len(order)])
    assert sorted(simulated.ended) == list(range(16))
    assert (flight.retries.given_up, flight.fault, simulated.pending) == ({}, None, [])
    assert max(simulated.lacked.values(), default=0) <= 2
    assert simulated.most <= cpus
    assert large or simulated.most == min(cpus, len(PARTS)) or gpus == 2
    assert not list((walk.data / "work").glob("*.meter*"))


@pytest.mark.parametrize("raised", [True, False], ids=["raised", "yielded"])
def test_a_lack_of_memory_is_no_failure_beside_others(walk: Any, monkeypatch: pytest.MonkeyPatch, raised: bool) -> None:
    """A run that may share its GPU leaves no row where it finds no memory, whether its experiment raises that or yields
    it as a failure; the run that is alone has failed."""
    experiment = type(registry.experiment("walk"))
    message = "OutOfMemoryError: CUDA out of memory"

    def run(self: Any, batch: Batch) -> Iterator[pa.Table]:
        if raised:
            raise RuntimeError(message)
        columns = {"cell_id": batch.cells[0].cell_id, "from_step": 0, "to_step": 0, "final": True, "status": "failed"}
        row = {**dict.fromkeys(self.schema(batch.recording).names), **columns, "message": message, "step": []}
        yield pa.table({name: [value] for name, value in row.items()}, schema=self.schema(batch.recording))

    monkeypatch.setattr(experiment, "run", run)
    planned = Planner(walk.sweep(axes={"width": [1]}, seeds=1), walk.records(), RunOptions()).commit()
    assignment = Assignment(walk.data, planned.plan.plan_id, (0,), gpus=0.25, meter=walk.folder / "a.meter")
    with pytest.raises(LostWorkerError, match="CUDA out of memory"):
        run_batch(assignment)
    assert walk.records().shards() == []
    done = run_batch(replace(assignment, gpus=1.0, meter=None))
    assert (done.ok, done.failed) == (0, 1)
    assert len(walk.records().shards()) == 1


class Lines(Progress):
    """Keeps its lines, and the states that it would show."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.states: list[str] = []

    def line(self, text: str) -> None:
        """Kept."""
        self.lines.append(text)

    def _show(self, first: bool = False, last: bool = False) -> None:
        self.states.append(self.state())


@pytest.mark.xdist_group("ray")
def test_runs_come_to_share_gpus(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two GPUs by name, whose memory the runs themselves account for. One run begins on each, and a second one comes to
    one of them; where that finds no memory, or the first does, it is trained again from its checkpoint, no cell fails,
    and each run has a GPU of its own from then on. Every row is that of a plain loop."""
    monkeypatch.setenv("RAY_OVERRIDE_RESOURCES", json.dumps({"GPU": 2}))
    monkeypatch.setattr(type(registry.experiment("walk")), "max_batch", lambda self, params: 1)
    base = {"length": 400, "pause": 0.2, "holds": 0.3, "grows": 3.0}
    sweep, progress = walk.sweep(axes={"width": [1]}, seeds=6, base=base), Lines()
    result = run_sweep(sweep, walk.data, device="cuda", pilot=False, workers=4, progress=progress)
    assert (result.ok, result.failed, result.missing) == (6, 0, 0)
    most = {path.stem: max(map(int, path.read_text().split())) for path in walk.folder.glob("gpu-*.most")}
    assert most.keys() == {"gpu-0", "gpu-1"}
    assert max(most.values()) == 2
    assert any("2 runs share each GPU" in state for state in progress.states)
    assert any(line.startswith("one run on each GPU from now on") for line in progress.lines)
    again = [line for line in progress.lines if "tried again with fewer runs beside it" in line]
    assert again
    assert all("CUDA out of memory" in line for line in again)
    assert not list((walk.data / "work").glob("*.meter*"))
    query = "select cell_id, status, step, position, final_position from walk order by cell_id"
    shared, walk.data = walk.rows(query), walk.folder / "by-loop"
    run_sweep(sweep, walk.data, local=True, pilot=False, progress=Progress())
    assert repr(shared) == repr(walk.rows(query))
