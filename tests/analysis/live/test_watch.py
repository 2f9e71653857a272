"""Laws of watching: the facts add up, frames fit and cannot be steered, and a watcher is in nobody's way."""

from __future__ import annotations

import io
import itertools
import json
import math
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.store import Layout, rebuild
from swingby.store.failures import Failure
from swingby.store.status import Delivery, InProgress
from swingby.store.sweep_grid import SweepAxis, SweepGrid
from swingby_analysis.live.cli import _again, _OnTerminal, _tell
from swingby_analysis.live.facts import Facts, Snapshot, SweepFacts, facts, facts_json, measured_rate
from swingby_analysis.live.frame import frame
from swingby_analysis.live.phase import Kind, Outcome, Phase, Pool, phase
from swingby_analysis.live.poll import Watch
from swingby_analysis.live.terminal_map import EMPTY, WITHOUT, draw_map
from swingby_analysis.stats import shares as phases
from tests.support.command import swingby
from tests.support.packages import walking

PATIENCE = 120.0
CLIENT = Path(sys.executable).with_name("duckdb")


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A sweep that is over: 18 cells, of which six failed and six diverged; a text axis and one of numbers."""
    with walking(tmp_path_factory.mktemp("watch")) as kit:
        sweep = kit.sweep(axes={"wants": ["ok", "raise", "diverge"], "rate": [0.5, 1.0]}, seeds=3)
        run_sweep(sweep, kit.data, local=True, pilot=False, progress=Progress())
        yield kit


def sweeps(kit: Any, **options: Any) -> tuple[Facts, ...]:
    """The facts of the sweeps now."""
    with Watch(kit.data, **options) as watching:
        return watching.poll(time.time())


def poll(kit: Any, **options: Any) -> Facts:
    """The facts of the only sweep now."""
    (found,) = sweeps(kit, **options)
    return found


def drawn(found: Any, width: int, height: int = 60, colour: bool = False) -> str:
    """A frame as a terminal without colours gets it."""
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(frame(found, width, height, colour))
    return capture.get()


# the facts


def test_the_counts_are_those_of_the_sweep(ended: Any) -> None:
    """What came to an end and what did not add up to the planned cells, over the sweep and over its diagram."""
    found = poll(ended)
    assert found.counts == {"ok": 6, "diverged": 6, "failed": 6, "missing": 0}
    assert found.finished
    assert (found.holder, found.rate, found.left) == (None, None, None)
    assert sum(host.cells for host in found.hosts) == 18
    (failure,) = found.snapshot.failures
    assert failure.cells == 6
    assert failure.message.startswith("ValueError: the walk of seed")
    assert found.snapshot.phase is not None
    pools = found.snapshot.phase.pools
    assert sorted(pools) == [(x, y) for x in range(3) for y in range(2)]
    assert [(pool.planned, pool.results) for pool in pools.values()] == [(3, 3)] * 6
    assert {pools[place].with_outcome for place in pools if place[0] == 1} == {0}
    assert {pools[place].with_outcome for place in pools if place[0] != 1} == {3}


def test_axes_are_held_or_taken_together(ended: Any) -> None:
    """A held axis leaves the cells at its value; one that is not shown is named, and its cells are pooled."""
    held = poll(ended, at=[("rate", "0.5")], outcome="noisy").snapshot.phase
    assert held is not None
    assert held.outcome == Outcome("outcomes_walk_height", "noisy", "share", "true")
    assert (held.x.name if held.x else None, held.y, held.at) == ("wants", None, (("rate", "0.5"),))
    assert [pool.counts for pool in held.pools.values()] == [{"false": 3}, {}, {"false": 3}]
    for at, outcome, words in (
        ("rate=7", "height", "allowed: 0.5, 1"),
        ("speed=7", "height", "no axis"),
        ("rate", "height", "AXIS=VALUE"),
        ("rate=1", "hight", "did you mean 'height'"),
    ):
        done = swingby("watch", "--once", "--data", ended.data, "--at", at, "--outcome", outcome)
        assert done.exit_code == 2
        assert words in done.output


def test_a_frame_of_a_finished_sweep_is_the_same_tomorrow(ended: Any) -> None:
    """--once prints the same whenever it is asked, says that cells failed by its exit code, and changes no file."""

    def files() -> dict[str, tuple[int, int]]:
        stats = {str(path): path.stat() for path in ended.data.rglob("*")}
        return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in stats.items()}

    before = files()
    with Watch(ended.data) as watching:
        today, tomorrow = (drawn(watching.poll(time.time() + day), 80) for day in (0, 86_400))
    assert today == tomorrow
    printed = swingby("watch", "walks", "--once", "--data", ended.data)
    assert printed.exit_code == 3
    assert printed.output == today
    assert "FAILED 6" in today
    assert "6 cells at wants = raise: ValueError: the walk of seed" in " ".join(today.split())
    followed = swingby("watch", "--data", ended.data)
    assert (followed.exit_code, followed.output) == (3, today)
    assert files() == before


def test_json_tells_the_same(ended: Any) -> None:
    """--json is one object with the counts of the frame, plain values only, and the points of the diagram."""
    done = swingby("watch", "--json", "--data", ended.data, "--outcome", "height")
    assert done.exit_code == 3
    (sweep,) = json.loads(done.output)["sweeps"]
    assert [sweep[name] for name in ("ok", "diverged", "failed", "missing", "finished")] == [6, 6, 6, 0, True]
    assert sweep["phase"]["outcome"] == "height"
    assert {point["at"]["wants"] for point in sweep["phase"]["points"]} == {"ok", "raise", "diverge"}
    assert sum(point["planned"] for point in sweep["phase"]["points"]) == 18


def test_a_watcher_outlives_a_rebuild_and_a_pointer_that_cannot_be_read(ended: Any) -> None:
    """The store may be made anew under it: the facts are the same; while it cannot be read, the last facts stay."""
    pointer = Layout(ended.data).pointer
    with Watch(ended.data) as watching:
        (first,) = watching.poll(0.0)
        rebuild(ended.records())
        (second,) = watching.poll(0.0)
        assert second.snapshot.generation > first.snapshot.generation
        assert second.counts == first.counts
        sound = pointer.read_bytes()
        pointer.write_text("{")
        try:
            with pytest.raises(SwingbyError):
                watching.poll(0.0)
            assert _again(watching, [second]) == [second]
        finally:
            pointer.write_bytes(sound)
        (third,) = watching.poll(0.0)
        assert third.counts == first.counts


@pytest.fixture
def unwritable(ended: Any, tmp_path: Path) -> Iterator[Path]:
    """The data folder of the ended sweep where nobody can write it, not even root."""
    place = tmp_path / "unwritable"
    place.mkdir()
    done = subprocess.run(["mount", "--bind", str(ended.data), str(place)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(place)], check=True)
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_folder_that_cannot_be_written_is_watched_and_attached(unwritable: Path, ended: Any, tmp_path: Path) -> None:
    """Watching needs no right to write: the frame is the same, and a snapshot of the folder can be kept elsewhere."""
    with pytest.raises(OSError, match="Read-only"):
        (unwritable / "note").touch()
    seen, own = (swingby("watch", "--once", "--data", data) for data in (unwritable, ended.data))
    assert (seen.exit_code, seen.output) == (3, own.output)
    assert swingby("attach", "--data", unwritable, "--keep", tmp_path / "kept").exit_code == 0
    rows = subprocess.run(
        [CLIENT, "-init", tmp_path / "kept" / "attach.sql", "-csv", "-noheader", "-c", "select count(*) from walk"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert rows.stdout.strip() == "18"


# while a sweep runs

DRIVER = """
import sys, time
from pathlib import Path
from swingby.run import driver, ingest_thread
from swingby.run.progress import Progress
from swingby.store.sweep_grid import SweepAxis, SweepGrid
from swingby.sweepfile.sweep import Sweep
ingest_thread.INGEST_SECONDS, ingest_thread.TURN_EVERY = 0.1, 0.1
ingest_thread.TURN_COST, ingest_thread.SHARD_GROWTH = 0.0, 1.0
go = Path(sys.argv[1])

class Wait(Progress):
    def batch_done(self, done):
        super().batch_done(done)
        while self.batches == 2 and not go.exists():
            time.sleep(0.05)

driver.run_sweep(Sweep.parse(Path("walks.yaml").read_text(), "walks"), "data", local=True, pilot=False, progress=Wait())
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A sweep of twelve cells in a driver of its own, which waits after eight for a file `go`."""
    with walking(tmp_path_factory.mktemp("running")) as kit:
        (kit.folder / "walks.yaml").write_text(kit.text(axes={"width": [1, 2, 3], "rate": [0.5, 1.0]}, seeds=2))
        kit.go = kit.folder / "go"
        child = kit.driver(DRIVER.replace("sys.argv[1]", repr(str(kit.go))))
        kit.child = child
        until(child, lambda: len(sweeps(kit)) == 1 and sweeps(kit)[0].counts["ok"] == 8)
        yield kit
        kit.go.touch()


def until(child: subprocess.Popen[str], true: Any) -> None:
    """Waits for what becomes true while a driver runs."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            if true():
                return
        except SwingbyError:
            pass  # nothing there yet
        if child.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(child.communicate(timeout=10)[0] if child.poll() is not None else "it takes too long")
        time.sleep(0.3)


def test_a_sweep_is_seen_while_it_runs(running: Any) -> None:
    """Who runs it, how fast, how much is left, and outcomes where there are results; empty points are marked."""
    until(running.child, lambda: any(pool.with_outcome for pool in pools(running)))
    found = poll(running)
    assert found.counts == {"ok": 8, "diverged": 0, "failed": 0, "missing": 4}
    assert f"process {running.child.pid} on" in (found.holder or "")
    assert found.rate is not None
    assert found.rate.per_minute > 0
    assert found.left is not None
    assert found.left > 0
    assert not found.finished
    assert sorted(pool.results for pool in pools(running)) == [0, 0, 2, 2, 2, 2]
    text = drawn([found], 80)
    assert "8 of 12 cells 67%" in text
    assert EMPTY in text
    assert "no result yet" in text


def pools(kit: Any) -> list[Pool]:
    """The cells at the points of the diagram."""
    found = poll(kit).snapshot.phase
    assert found is not None
    return list(found.pools.values())


def test_others_read_while_it_runs(running: Any, tmp_path: Path) -> None:
    """Two DuckDB clients, polars and a snapshot that is kept see every finished cell once, at the same time."""
    asked = "select count(*) as rows, count(distinct cell_id) as cells from walk"
    attach = tmp_path / "attach.sql"
    attach.write_text(swingby("attach", "--data", running.data).output)
    kept = tmp_path / "kept"
    said = swingby("attach", "--data", running.data, "--keep", kept)
    assert said.output.splitlines() == [f"kept; to read it: duckdb -init {kept / 'attach.sql'}"]
    files = [attach, kept / "attach.sql"]
    clients = [
        subprocess.Popen([CLIENT, "-init", file, "-json", "-c", asked], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for file in files
    ]
    here: dict[str, Any] = {}
    exec(swingby("attach", "--data", running.data, "--for", "polars").output, here)
    assert here["frame"].rows() == [("walks", "walk", 12)]
    assert here["db"].sql(asked).pl().rows() == [(8, 8)]
    for client in clients:
        rows, errors = client.communicate(timeout=PATIENCE)
        assert client.returncode == 0, errors
        assert json.loads(rows) == [{"rows": 8, "cells": 8}]
    again = swingby("attach", "--data", running.data, "--keep", kept)
    assert again.exit_code == 2
    assert "has something in it" in again.output

    here["db"].close()


def test_a_watch_ends_with_ctrl_c_or_with_the_sweep(running: Any, tmp_path: Path) -> None:
    """A watcher that is interrupted ends with code 0; one that is left alone ends when the sweep is finished."""
    command = [sys.executable, "-m", "swingby", "watch", "--data", str(running.data), "--every", "0.2"]
    seen = [tmp_path / "interrupted", tmp_path / "patient"]
    with ExitStack() as stack:
        watchers = [
            subprocess.Popen(
                command,
                stdout=stack.enter_context(file.open("w")),
                stderr=subprocess.STDOUT,
                env=running.environment(PYTHONUNBUFFERED="1"),
            )
            for file in seen
        ]
        for watcher in watchers:
            stack.callback(watcher.kill)
        until(running.child, lambda: all("no result yet" in file.read_text() for file in seen))
        watchers[0].send_signal(signal.SIGINT)
        assert watchers[0].wait(timeout=PATIENCE) == 0, seen[0].read_text()
        running.go.touch()
        assert watchers[1].wait(timeout=PATIENCE) == 0, seen[1].read_text()
    assert seen[0].read_text().startswith("walks  walk  ")
    assert "8 of 12 cells" in seen[0].read_text()
    assert "12 of 12 cells" not in seen[0].read_text()
    assert "12 of 12 cells 100%" in seen[1].read_text()
    assert poll(running).finished


# frames of anything

hostile = st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(
    [
        "\x1b]0;owned\x07",
        "\x1b[2J[bold red]x[/bold red]",
        "[link=file:///etc]y[/link]",
        "a\rb\nc",
        "\u202eolleh",
        ":smile:",
        "",
    ]
)
times = st.floats(0, 4e9)
shards = st.builds(
    Delivery, st.sampled_from(["ok", "diverged", "failed"]), st.integers(1, 9), hostile, st.integers(0, 3), times
)
values = st.lists(st.integers(-5, 5) | st.floats(-9, 9) | hostile, min_size=1, max_size=6, unique=True)
counters = st.dictionaries(hostile, st.integers(1, 9), max_size=3)
numbers = st.lists(st.floats(allow_nan=False), max_size=3)
kinds: st.SearchStrategy[Kind] = st.sampled_from(["share", "category", "median"])


@st.composite
def stands(draw: st.DrawFn) -> Facts:
    """Facts of any sweep: over up to three axes, of any outcome, whatever its words are."""
    axes = tuple(SweepAxis(draw(hostile), tuple(draw(values))) for _ in range(draw(st.integers(0, 3))))
    places = [()]
    for axis in axes:
        places = [(*place, at) for place in places for at in range(len(axis.values))]
    kind = draw(kinds)
    asked = Outcome("outcomes_x", draw(hostile), kind, draw(hostile) if kind == "share" else None)
    some = draw(st.lists(st.builds(Pool, st.just(9), st.integers(0, 9)), min_size=1, max_size=4))
    for pool in some:
        if pool.results and kind == "median":
            pool.numbers += draw(numbers)
        elif pool.results:
            pool.counts.update(draw(counters))
    found = [some[place % len(some)] for place in range(len(places))]
    grid = SweepGrid(axes, tuple(range(len(axes))), dict(enumerate(places)))
    shown = phase(grid, dict(enumerate(found)), draw(st.just(asked) | st.none()), {}, ())
    ended = tuple(draw(st.lists(shards, max_size=5)))
    cells = sum(shard.cells for shard in ended) + draw(st.integers(0, 9))
    known = SweepFacts(
        "f" * 16, draw(hostile), draw(hostile), cells, draw(times), {}, 3, draw(st.none() | st.floats(0, 1e6))
    )
    failures = tuple(
        draw(st.lists(st.builds(Failure, st.integers(1, 9), hostile, hostile, hostile, hostile, times), max_size=2))
    )
    begun = tuple(draw(st.lists(st.builds(InProgress, hostile, st.integers(0, 9), st.integers(0, 9)), max_size=4)))
    seen = Snapshot(known, 1, draw(times), ended, failures, begun, shown)
    return facts(seen, draw(st.none() | hostile), draw(st.integers(0, 2)), draw(times))


@settings(max_examples=40)
@given(stands(), st.integers(1, 130), st.integers(1, 60), st.booleans())
def test_no_frame_crashes_or_steers_the_terminal(found: Facts, width: int, height: int, colour: bool) -> None:
    """Whatever the names, messages and numbers and however narrow the terminal: lines of printable text as wide as it
    at most, in which markup stands as it was written; and the JSON is JSON."""
    text = drawn([found], width, height, colour)
    assert all(char.isprintable() for line in text.split("\n") for char in line)
    assert width < 20 or all(cell_len(line) <= width for line in text.split("\n"))
    if "[bold red]x[/bold red]" in found.snapshot.sweep.name and width > 80:
        assert "[bold red]x[/bold red]" in text
    assert sum(found.counts.values()) == found.snapshot.sweep.cells
    json.dumps(facts_json(found), allow_nan=False)


@settings(max_examples=40)
@given(stands(), st.integers(8, 130), st.integers(1, 30))
def test_a_diagram_keeps_to_its_lines(found: Facts, width: int, rows: int) -> None:
    """However many points there are, the tiles take no more lines than they may."""
    shown = found.snapshot.phase
    assert shown is not None
    assert len(draw_map(shown, width, rows, False)) <= max(rows, 1) + 6


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3))
def test_a_diagram_pools_every_point(sizes: list[int]) -> None:
    """Over two axes of a sweep, or one, stand the cells of all the others."""
    axes = tuple(SweepAxis(f"axis {number}", tuple(range(size))) for number, size in enumerate(sizes))
    places = dict(enumerate(itertools.product(*map(range, sizes))))
    grid = SweepGrid(axes, tuple(range(len(axes))), places)
    shown = phase(grid, {point: Pool(9, point) for point in places}, None, {}, ())
    assert sorted(shown.pools) == sorted(itertools.product(*map(range, [*sizes, 1][:2])))
    assert {pool.planned for pool in shown.pools.values()} == {9 * math.prod(sizes[2:])}
    assert sum(pool.results for pool in shown.pools.values()) == sum(places)
    assert shown.over == tuple(axis.name for axis in axes[2:] if len(axis.values) > 1)


@settings(max_examples=60)
@given(st.integers(1, 150), st.integers(1, 40), st.integers(8, 130), st.integers(1, 30), st.data())
def test_no_point_falls_out_of_a_diagram(across: int, up: int, width: int, rows: int, data: st.DataObject) -> None:
    """However many points share a tile, the only one that has results is seen, wherever it lies."""
    pools = {place: Pool(9) for place in itertools.product(range(across), range(up))}
    pools[data.draw(st.sampled_from([(0, 0), (across - 1, up - 1)]) | st.sampled_from(list(pools)))].results = 9
    axes = SweepAxis("x", tuple(range(across))), SweepAxis("y", tuple(range(up)))
    shown = Phase(Outcome("outcomes_x", "bent", "share", "true"), *axes, pools, (), ())
    _, *tiles, legend = (line.plain for line in draw_map(shown, width, rows, False))
    assert sum(line.count(WITHOUT) for line in tiles) == 1
    assert WITHOUT in legend


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_interval_is_that_of_the_reports(k: int, more: int) -> None:
    """Wilson's interval here is that of `swingby_analysis.stats.shares`."""
    low, high = phases.wilson(k, k + more)
    pool = Pool(k + more, k + more, Counter({"yes": k, "no": more}))
    assert pool.interval("yes") == pytest.approx((float(low), float(high)), abs=1e-9)


@given(st.floats(0.1, 100), st.integers(1, 9), st.integers(10, 200))
def test_a_steady_run_has_its_pace(every: float, cells: int, shards: int) -> None:
    """A run that finishes so many cells every so many seconds is measured at that, whatever was finished before it."""
    marks = [(1000 + every * number, cells) for number in range(1, shards + 1)]
    found = measured_rate([(999.0, 5), *marks], 1000.0, marks[-1][0], marks[-1][0])
    assert found is not None
    assert found.per_minute == pytest.approx(60 * cells / every, rel=0.21)
    assert measured_rate([(999.0, 5)], 1000.0, 1001.0, 1001.0) is None
    stalled = measured_rate(marks, 1000.0, marks[-1][0], marks[-1][0] + 1e6)
    assert stalled is not None
    assert stalled.per_minute < found.per_minute


def test_marks_of_a_diagram() -> None:
    """Nothing yet, nothing told, undecided and sure are four different tiles, with and without colours."""
    grid = SweepGrid((SweepAxis("x", tuple(range(30))),), (0,), {n: (n,) for n in range(30)})
    found = [Pool(9, 9) for _ in range(30)]
    found[0].results = 0
    for pool in found[2:]:
        pool.counts.update({"true": 9})
    found[2].counts.update({"false": 8})
    asked = Outcome("outcomes_x", "bent", "share", "true")
    shown = phase(grid, dict(enumerate(found)), asked, {}, ())
    plain, coloured = (draw_map(shown, 80, 10, colour)[1].plain for colour in (False, True))
    assert [EMPTY in plain, WITHOUT in plain, "?" in plain, "█" in plain] == [True] * 4
    assert [EMPTY in coloured, WITHOUT in coloured, "?" in coloured] == [True] * 3


def test_what_the_storage_fails_at_stands_above_the_frame() -> None:
    """A line is told while the frame stands on a terminal: it is there, once, and the frame comes below it."""
    shown = io.StringIO()
    with _OnTerminal(Console(file=shown, force_terminal=True, width=80, height=24)) as show:
        show(())
        _tell("cannot list shards \x1b[2J; going on with what is here")
    text = shown.getvalue()
    assert text.count("going on with what is here") == 1
    assert "\x1b[2J" not in text
    assert "no sweep yet" in text.rpartition("going on")[2]
