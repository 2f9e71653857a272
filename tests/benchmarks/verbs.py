"""Seconds of CPU that verbs take, of this checkout and of another one: `python -m tests.benchmarks.verbs`.

Each verb is a process of its own; the checkouts take turns, so that a busy machine is busy for both. Medians, with the
least and the most in brackets; nothing asserts a time. The other checkout is a git worktree:

    git worktree add --detach /tmp/before main~20
    python -m tests.benchmarks.verbs --before /tmp/before
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from swingby.data.records import Records
from swingby.run.outcomes import derive
from swingby.store import ingest
from tests.benchmarks.__main__ import show
from tests.support import synthetic_sim
from tests.support.places import ROOT

WINGS = ("platform", "analysis", "sweeps")
COLUMNS = ("verb", "CPU s before", "CPU s", "wall s before", "wall s")
SMALL = "verbs"
Times = list[tuple[float, float]]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", type=Path, help="a data folder in which SWEEP is finished; default: made-up curves")
    parser.add_argument("--sweep", default="", help="its name")
    parser.add_argument("--set", action="append", default=[], help="as the sweep was run with; repeatable")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, sweep = asked.data, [asked.sweep, *(f"--set={item}" for item in asked.set)]
        if data is None:
            data, sweep = Path(folder) / "data", [str(made_up(Path(folder)))]
        rows = table(data.absolute(), sweep, Path(folder), asked.before, asked.repeats)
    show(Console(width=150), f"{asked.repeats} times each, in turns: median (least .. most)", COLUMNS, rows)


def made_up(folder: Path) -> Path:
    """A data folder with a finished sweep of 640 cells, whose file is returned."""
    records = synthetic_sim.write(folder / "data", synthetic_sim.square(SMALL, 8, 10))
    ingest(records)
    derive(Records.open(folder / "data"))
    file = folder / f"{SMALL}.yaml"
    file.write_text(synthetic_sim.SQUARE.format(name=SMALL, title="Curves", points=8, seeds=10))
    return file


def table(data: Path, sweep: Sequence[str], folder: Path, before: Path | None, repeats: int) -> list[tuple[str, ...]]:
    """A row a verb."""
    name, at = Path(sweep[0]).stem, ["--data", str(data)]
    report = ["report", name, *at, "--out", str(folder / "out")]
    verbs: list[tuple[str, list[str], list[str]]] = [
        ("--help", ["--help"], []),
        ("run --help", ["run", "--help"], []),
        ("validate", ["validate", *sweep], []),
        ("plan, nothing is missing", ["plan", *sweep, *at], []),
        ("status", ["status", *at], []),
        ('sql "select 1"', ["sql", "select 1", *at], []),
        ("run, finished", ["run", *sweep, *at], []),
        ("report, unchanged", report, []),
        ("report, drawn", report, ["--redraw"]),
    ]
    rows = []
    for title, words, of_now in verbs:
        took: tuple[Times, Times] = [], []
        for _ in range(repeats):
            if before is not None:
                took[0].append(timed(before, words))
            took[1].append(timed(ROOT, [*words, *of_now]))
        cpu, wall = ([spread([one[part] for one in times]) for times in took] for part in (0, 1))
        rows.append((title, *cpu, *wall))
    return rows


def timed(checkout: Path, words: Sequence[str]) -> tuple[float, float]:
    """Seconds of CPU (of the process and those it started) and of the clock that a verb takes."""
    path = os.pathsep.join(str(checkout / wing) for wing in WINGS)
    began, cpu = time.perf_counter(), sum(os.times()[2:4])
    subprocess.run(
        [sys.executable, "-m", "swingby", *words],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tempfile.gettempdir(),
        capture_output=True,
        check=True,
    )
    return sum(os.times()[2:4]) - cpu, time.perf_counter() - began


def spread(values: Sequence[float]) -> str:
    """The median, with the least and the most."""
    if not values:
        return ""
    return f"{statistics.median(values):.2f} ({min(values):.2f} .. {max(values):.2f})"


if __name__ == "__main__":
    main()
