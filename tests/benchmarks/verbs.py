"""Seconds of CPU that verbs take, of this checkout and of another one: `python -m tests.benchmarks.verbs`.

Each verb is a process of its own; the checkouts take turns, so that a busy machine is busy for both. Medians, with the
least and the most in brackets; nothing asserts a time. Byte code is kept, as where swingby is installed, and a first
round, which compiles, does not count. The last rows are a sweep of 1,000 cells of a millisecond, from the command to
its outcomes. The other checkout is a git worktree:

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
import tomllib
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from swingby.data.records import Records
from swingby.run.outcomes import derive
from swingby.store import Store, ingest
from tests.benchmarks.tables import draw
from tests.support import synthetic_sim
from tests.support.places import ROOT

WINGS = ("platform", "analysis", "sweeps")
COLUMNS = ("verb", "CPU s before", "CPU s", "wall s before", "wall s")
SMALL = "verbs"
OUT = "OUT"
"""Stands for the folder of reports in the words of a command."""
TINY = """from swingby import experiment

@experiment
def tiny(cell, rate: float = 0.1, steps: int = 60):
    x = 1.0
    for step in range(steps + 1):
        cell.record(step, loss=x * x)
        x -= rate * x
    return {"reached": x}
"""
TINY_SWEEP = "name: tiny\nexperiment: tiny.py\naxes: {rate: {range: {from: 0.01, to: 0.5, step: 0.01}}}\nseeds: 20\n"
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
        places = [installed(one, Path(folder) / name) for one, name in ((asked.before, "before"), (ROOT, "now")) if one]
        rows = table(data.absolute(), sweep, Path(folder), places, asked.repeats)
        rows += thousand(places[-1], Path(folder) / "tiny", asked.repeats)
    draw(Console(width=150), f"{asked.repeats} times each, in turns: median (least .. most)", COLUMNS, rows)


def made_up(folder: Path) -> Path:
    """A data folder with a finished sweep of 640 cells, whose file is returned."""
    records = synthetic_sim.write(folder / "data", synthetic_sim.square(SMALL, 8, 10))
    ingest(records)
    derive(Records.open(folder / "data"))
    file = folder / f"{SMALL}.yaml"
    file.write_text(synthetic_sim.SQUARE.format(name=SMALL, title="Curves", points=8, seeds=10))
    return file


def installed(checkout: Path, folder: Path) -> str:
    """The path of modules on which a checkout is as if it were installed: with the entry points that it has itself."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    metadata = folder / f"swingby-{project['version']}.dist-info"
    metadata.mkdir(parents=True)
    needs = "".join(f"Requires-Dist: {one}\n" for one in project["dependencies"])
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: swingby\nVersion: {project['version']}\n{needs}", encoding="utf-8"
    )
    groups = project["entry-points"].items()
    lines = [line for group, of in groups for line in (f"[{group}]", *(f"{name} = {at}" for name, at in of.items()))]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    return os.pathsep.join([str(folder), *(str(checkout / wing) for wing in WINGS)])


def table(data: Path, sweep: Sequence[str], folder: Path, places: Sequence[str], repeats: int) -> list[tuple[str, ...]]:
    """A row a verb.

    Args:
        places: the paths of modules of the other checkout, if there is one, and of this one.
    """
    name, at = Path(sweep[0]).stem, ["--data", str(data)]
    report = ["report", name, *at, "--out", OUT]
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
        took: list[Times] = [[] for _ in places]
        for turn in range(repeats + 1):
            for place, times in zip(places, took, strict=True):
                last = place is places[-1]
                # Before, every report was drawn anew, and nobody had to ask for it.
                asked = [*words, *(of_now if last else [])]
                # Each has its own pages: a page of the other checkout would be drawn again.
                out = str(folder / f"out-{places.index(place)}")
                one = timed(place, [out if word == OUT else word for word in asked])
                times += [one] if turn else []
        cpu, wall = ([spread([one[part] for one in times]) for times in took] for part in (0, 1))
        gap = [""] * (2 - len(places))
        rows.append((title, *gap, *cpu, *gap, *wall))
    return rows


def thousand(place: str, folder: Path, repeats: int) -> list[tuple[str, ...]]:
    """Rows of a run of 1,000 cells of a millisecond, and of what it takes beside their training."""
    folder.mkdir()
    (folder / "tiny.py").write_text(TINY)
    (folder / "tiny.yaml").write_text(TINY_SWEEP)
    whole, beside = list[tuple[float, float]](), list[tuple[float, float]]()
    for turn in range(repeats + 1):
        data = str(folder / f"data-{turn}")
        cpu, wall = timed(place, ["run", str(folder / "tiny.yaml"), "--data", data])
        with Store.open(data) as store:
            ((trained,),) = store.sql("select sum(seconds) from shards").rows()
        whole += [(cpu, wall)] if turn else []
        beside += [(cpu - trained, wall - trained)] if turn else []
    named = (("run of 1,000 cells of 1 ms, to outcomes", whole), ("the same, above their training", beside))
    return [(title, "", spread([c for c, _ in times]), "", spread([w for _, w in times])) for title, times in named]


def timed(place: str, words: Sequence[str]) -> tuple[float, float]:
    """Seconds of CPU (of the process and those it started) and of the clock that a verb takes."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began, cpu = time.perf_counter(), sum(os.times()[2:4])
    subprocess.run(
        [sys.executable, "-m", "swingby", *words],
        env={**kept, "PYTHONPATH": place},
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
