"""Where time, memory and disk go as sweeps grow: every step of one, and every verb on it, on cells that cost nothing.

`python -m tests.benchmarks.scale` prints the tables (`--most 100000` stops there). Each step is a process of its own,
whose peak of memory, with that of its children, is the system's word. Times are those of cores, so that a busy machine
tells about the same as an idle one; beside them the time that passed here. Cells leave one curve of eight points.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

SIZES = {1_000: 10, 10_000: 10, 100_000: 25, 1_000_000: 40}
"""Cells -> places on each axis of the square; the rest are seeds."""
MOST_BY_RAY = 100_000
FAR = 100_000_000
PLUGIN = Path(__file__).parent / "trivial"
COLUMNS = ("step", "core seconds", "growth", "passed", "peak MB", "growth", "disk, B a cell", "at 10^8 cells", "note")
SWEEP = """\
name: scale
experiment: trivial
axes:
  x: {{linspace: {{from: 0.0, to: 2.0, points: {places}}}}}
  y: {{linspace: {{from: -1.0, to: 1.0, points: {places}}}}}
seeds: {seeds}
diagram: {{x: x, y: y, outcome: above}}
"""
PHASE = """select m.point, count(*) as n, count_if(o.above) as k, any_value(t.x) as x, any_value(t.y) as y
from members m join trivial t using (cell_id) join outcomes_trivial_fate o using (cell_id)
group by m.point order by all"""


@dataclass(frozen=True)
class Found:
    """What one step took: seconds that passed, and those of cores; its process's peak of memory in MB; by how many MB
    the data folder grew; and what else is to be told."""

    seconds: float
    core: float
    peak: float
    disk: float
    note: str = ""


def table(most: int = 1_000_000, quick: bool = False) -> list[tuple[str, ...]]:
    """A row a step; with several numbers at 10^4, 10^5 and 10^6 cells, as far as it was measured.

    The growth is the exponent between the two largest sizes (1: in proportion), and what is told of 10^8 cells lies on
    the line through them.
    """
    sizes = [1_000] if quick else [size for size in SIZES if 1_000 < size <= most]
    found: dict[str, dict[int, Found]] = {step: {} for step in STEPS}
    for cells in sizes:
        with tempfile.TemporaryDirectory(dir=os.environ.get("SWINGBY_BENCH")) as folder:
            (Path(folder) / "scale.yaml").write_text(text(cells))
            for step in STEPS:
                if cells <= MOST_BY_RAY or not step.startswith("run by Ray"):
                    found[step][cells] = one = _measured(step, cells, Path(folder))
                    sys.stderr.write(f"{cells:,} {step}: {one.core:.2f} s, {one.peak:,.0f} MB {one.note}\n")
    return [_row(step, found[step]) for step in STEPS]


def text(cells: int) -> str:
    """The sweep file of that size."""
    return SWEEP.format(places=SIZES[cells], seeds=cells // SIZES[cells] ** 2)


def _row(step: str, found: dict[int, Found]) -> tuple[str, ...]:
    seconds = {cells: one.core for cells, one in found.items()}
    peaks = {cells: one.peak for cells, one in found.items()}
    last = max(found)
    disk = 1e6 * found[last].disk / last
    far = f"{_time(_line(seconds))}, {_line(peaks) / 1e3:,.1f} GB" if len(found) > 1 else ""
    told = [" / ".join(f"{value:.2f}" for value in seconds.values()), _growth(seconds), f"{found[last].seconds:.2f}"]
    told += [" / ".join(f"{value:,.0f}" for value in peaks.values()), _growth(peaks)]
    return (step, *told, f"{disk:,.0f}" if disk >= 1 else "", far, found[last].note)


def _growth(found: dict[int, float]) -> str:
    """The exponent between the two largest sizes."""
    if len(found) < 2:
        return ""
    (small, low), (large, high) = sorted(found.items())[-2:]
    return f"{math.log(max(high, 1e-3) / max(low, 1e-3)) / math.log(large / small):.2f}"


def _line(found: dict[int, float]) -> float:
    """Where the line through the two largest sizes is at FAR cells; no lower than at the largest."""
    (small, low), (large, high) = sorted(found.items())[-2:]
    return high + max(0.0, high - low) / (large - small) * (FAR - large)


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _measured(step: str, cells: int, folder: Path) -> Found:
    """One step in a process of its own."""
    data, before = folder / "data", _bytes(folder / "data")
    out = folder / "told.json"
    line = [sys.executable, "-m", "tests.benchmarks.scale", "--step", step, str(cells), str(folder), str(out)]
    path = os.pathsep.join([str(PLUGIN), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "SWINGBY_DATA": str(data), "RAY_USAGE_STATS_ENABLED": "0"}
    with (folder / "said.txt").open("wb") as said:
        actions = [(os.POSIX_SPAWN_DUP2, said.fileno(), 1), (os.POSIX_SPAWN_DUP2, said.fileno(), 2)]
        child = os.posix_spawn(sys.executable, line, environment, file_actions=actions)
        _, status, used = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"{step!r} of {cells:,} cells failed:\n{(folder / 'said.txt').read_text()[-3000:]}")
    told = json.loads(out.read_text())
    grown = (_bytes(data) - before) / 1e6
    return Found(told["seconds"], told["core"], used.ru_maxrss / 1e3, grown, told.get("note", ""))


def _bytes(folder: Path) -> int:
    """What lies in a folder; a file with several names counts once."""
    stats = {(s.st_dev, s.st_ino): s.st_blocks * 512 for p in folder.rglob("*") if p.is_file() for s in [p.stat()]}
    return sum(stats.values())


# the steps, each in its own process


class Clock:
    """Seconds of a block: that passed, and of cores, in this process and in children that ended."""

    def __enter__(self) -> Clock:
        self.began = time.perf_counter(), _core()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = {"seconds": time.perf_counter() - self.began[0], "core": _core() - self.began[1]}


def _core() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def planner(cells: int, folder: Path, sweep: str | None = None, data: str = "data") -> Any:
    """A planner for the sweep of that size."""
    from swingby.data.records import Records
    from swingby.run.plan import Planner
    from swingby.sweepfile.sweep import Sweep

    parsed = Sweep.parse(text(cells) if sweep is None else sweep, "scale.yaml", confirm_above=None)
    return Planner(parsed, Records.open(folder / data), workers=1)


def plan(cells: int, folder: Path) -> dict[str, Any]:
    """What a dry run does: the sweep read, every cell's id, batches."""
    with Clock() as clock:
        planner(cells, folder, data="other").preview()
    return clock.seconds


def plan_points(cells: int, folder: Path) -> dict[str, Any]:
    """The same where every cell is a point of its own."""
    side = round(cells**0.5)
    square = SWEEP.format(places=side, seeds=1)
    with Clock() as clock:
        planner(cells, folder, square, "other").preview()
    return {**clock.seconds, "note": f"{side**2:,} points, one seed each"}


def write_plan(cells: int, folder: Path) -> dict[str, Any]:
    """The pilots' plan and the sweep's, written and taken into the store."""
    one = planner(cells, folder)
    one.preview()
    one.measure()
    with Clock() as clock:
        planned = one.commit()
    return {**clock.seconds, "note": f"{len(planned.batches):,} batches"}


def _newest(folder: Path) -> tuple[Any, Any]:
    from swingby.data.records import Records

    records = Records.open(folder / "data")
    return records, records.read_plan(records.plans()[-1])


def deal(cells: int, folder: Path) -> dict[str, Any]:
    """Every trial of the plan, handed out and told back, with nobody training."""
    from types import SimpleNamespace

    from swingby.run.options import RunOptions
    from swingby.run.scheduler import Scheduler

    _, planned = _newest(folder)
    one: Any = SimpleNamespace(batches=planned.batches, max_batch={"all": 4096}, plan=planned, options=RunOptions())
    with Clock() as clock:
        scheduler, trials = Scheduler([one], 2), 0
        for trial in scheduler:
            scheduler.record_time(trial, 1e-5 * trial.cells)
            trials += 1
    return {**clock.seconds, "note": f"{trials:,} trials"}


def train(cells: int, folder: Path) -> dict[str, Any]:
    """Each batch read from the plan, trained, and written as a shard, without Ray."""
    from swingby.run.worker.batch import Assignment, run_batch

    records, planned = _newest(folder)
    with Clock() as clock:
        for note in planned.batches:
            run_batch(Assignment(records.data, planned.plan_id, (note.batch,)))
    return {**clock.seconds, "note": f"{len(records.shards()):,} shards"}


def take_in(cells: int, folder: Path) -> dict[str, Any]:
    """All shards into the store."""
    from swingby.data.records import Records
    from swingby.store import Ingest

    with Ingest(Records.open(folder / "data")) as step, Clock() as clock:
        step.take()
    return clock.seconds


def publish(cells: int, folder: Path) -> dict[str, Any]:
    """The store's files copied for readers."""
    from swingby.data.records import Records
    from swingby.store import Ingest

    with Ingest(Records.open(folder / "data")) as step, Clock() as clock:
        step.publish(force=True)
    return clock.seconds


def derive(cells: int, folder: Path) -> dict[str, Any]:
    """The detector over all cells, and its outcomes into the store, published again."""
    from swingby.data.records import Records
    from swingby.run.outcomes import derive as told

    with Clock() as clock:
        told(Records.open(folder / "data"))
    return clock.seconds


def plan_again(cells: int, folder: Path) -> dict[str, Any]:
    """Planning where all cells have results."""
    with Clock() as clock:
        planned = planner(cells, folder).preview()
    assert planned.missing == 0, planned.missing
    return clock.seconds


def query(cells: int, folder: Path) -> dict[str, Any]:
    """The query of a phase diagram, in a process that has the store open."""
    from swingby.store import Store

    with Store.open(folder / "data") as store:
        store.sql("select 1")
        with Clock() as clock:
            rows = store.sql(PHASE).arrow()
    return {**clock.seconds, "note": f"{rows.num_rows:,} points"}


def by_ray(cells: int, folder: Path) -> dict[str, Any]:
    """A sweep from nothing through Ray on two workers: training only, its start and end apart."""
    from swingby.run.driver import run_sweep
    from swingby.run.progress import Progress
    from swingby.sweepfile.sweep import Sweep

    class Counting(Progress):
        trials = 0

        def batch_done(self, *given: Any, **named: Any) -> None:
            super().batch_done(*given, **named)
            self.trials += 1

    progress, sweep = Counting(), Sweep.parse(text(cells), "scale.yaml", confirm_above=None)
    with Clock() as clock:
        result = run_sweep(sweep, folder / "ray", workers=2, ray=True, progress=progress)
    assert result.ok == cells, result
    each = 1e3 * progress.wall_seconds / max(progress.trials, 1)
    note = f"{progress.trials:,} trials in {progress.wall_seconds:.1f} s: {each:.0f} ms each"
    return {**clock.seconds, "note": note}


def verb(*words: str) -> Callable[[int, Path], dict[str, Any]]:
    """A verb of the command, Python's start included."""

    def run(cells: int, folder: Path) -> dict[str, Any]:
        from swingby.cli import app

        os.chdir(folder)
        with Clock() as clock:
            app(words, standalone_mode=False)
        return clock.seconds

    return run


STEPS: dict[str, Callable[[int, Path], dict[str, Any]]] = {
    "plan: few points, many seeds": plan,
    "plan: a point a cell": plan_points,
    "write the plan, take it in": write_plan,
    "deal all trials": deal,
    "train in a loop, write shards": train,
    "take all shards in": take_in,
    "publish": publish,
    "derive: one detector, published": derive,
    "plan again: nothing is missing": plan_again,
    "query of a phase diagram": query,
    "`sql` of it (sandbox)": verb("sql", PHASE),
    "`status`": verb("status"),
    "`watch --once`": verb("watch", "scale", "--once"),
    "`report`": verb("report", "scale"),
    "`gc`": verb("gc"),
    "`rebuild`": verb("rebuild"),
    "run by Ray, 2 workers, whole": by_ray,
}


def main() -> None:
    """Prints the table, or does one step and writes what it took."""
    arguments = argparse.ArgumentParser(description=main.__doc__)
    arguments.add_argument("--quick", action="store_true", help="a thousand cells")
    arguments.add_argument("--most", type=int, default=1_000_000, help="no sizes above this")
    arguments.add_argument(
        "--step", nargs=4, metavar=("STEP", "CELLS", "FOLDER", "OUT"), help="one step, in this process"
    )
    given = arguments.parse_args()
    if given.step:
        step, cells, folder, out = given.step
        Path(out).write_text(json.dumps(STEPS[step](int(cells), Path(folder))))
        return
    drawn = Table(*COLUMNS, title="A sweep of cells that cost nothing", title_justify="left")
    for row in table(given.most, given.quick):
        drawn.add_row(*row)
    Console(width=170).print(drawn)


if __name__ == "__main__":
    main()
