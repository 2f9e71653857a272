"""`python -m tests.benchmarks.relu`: small ReLU nets beside the plain loop in CPU time, and where their time goes.

`--beside CHECKOUT` measures another checkout of the project, too, in a process of its own and in turn with this one, so
that a slow moment of the machine hits both.
"""

from __future__ import annotations

import argparse
import functools
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.table import Table

_HERE = Path(__file__).resolve().parents[2]
_SHAPES = ("relu d=2 L=2 w=2", "relu d=2 L=2 w=64", "relu d=2 L=4 w=8")
_WORKER = """
import time, torch
from tests.benchmarks import engine, plain
from swingby_sweeps.sim.experiment import Sim
torch.set_num_threads(1)
shapes = {shape.name: shape for shape in engine.SHAPES}
shapes["relu d=2 L=4 w=8"] = engine.Shape("", {"d": 2, "layers": 4, "width": 8, "model": "relu"}, 64)
batches = {name: engine.batch_of(shapes[name], shapes[name].batch) for name in NAMES}
for name in NAMES:
    list(Sim("compiled").run(engine.batch_of(shapes[name], 2)))
plain.train(epochs=1)
while True:
    what, name = input().split(" ", 1)
    batch, began = batches[name], time.process_time()
    if what == "plain":
        plain.train(**plain.settings(batch.cells[0].params))
        print("took", time.process_time() - began, flush=True)
    else:
        list(Sim("compiled").run(batch))
        print("took", (time.process_time() - began) / len(batch.cells), flush=True)
"""


class Worker:
    """A process with the sources of one checkout, which takes a turn when asked."""

    def __init__(self, checkout: Path, names: tuple[str, ...]) -> None:
        paths = [str(checkout / folder) for folder in ("platform", "analysis", "sweeps")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(checkout)])}
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"NAMES = {names!r}\n{_WORKER}"],
            cwd=checkout, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def seconds(self, what: str, name: str) -> float:
        """CPU seconds of a run, by the plain loop or as a share of a batch."""
        told, heard = self._process.stdin, self._process.stdout
        assert told is not None
        assert heard is not None
        told.write(f"{what} {name}\n")
        told.flush()
        return float(_answer(heard).split()[1])

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def _answer(heard: IO[str]) -> str:
    for line in heard:
        if line.startswith("took "):
            return line
    raise RuntimeError("the process that measures has ended; its error is above")


def beside(names: tuple[str, ...], others: list[Path], turns: int) -> Table:
    """Each shape by the plain loop, by this checkout and by others, in turn: medians and spreads."""
    workers = {str(path): Worker(path, names) for path in [_HERE, *others]}
    table = Table("shape", "plain loop, ms", "checkout", "ms a run", "ratio, of each turn")
    try:
        for name in names:
            plain, took = list[float](), {path: list[float]() for path in workers}
            for _ in range(turns):
                plain.append(workers[str(_HERE)].seconds("plain", name))
                for path, worker in workers.items():
                    took[path].append(worker.seconds("batch", name))
            for path, seconds in took.items():
                ratios = [loop / own for loop, own in zip(plain, seconds, strict=True)]
                row = (spread(plain, 1000), Path(path).name, spread(seconds, 1000), spread(ratios, 1))
                table.add_row(name, *row)
    finally:
        for worker in workers.values():
            worker.end()
    return table


def spread(values: list[float], unit: float) -> str:
    """Median and range, in a unit of which there are so many in one."""
    return f"{unit * statistics.median(values):.3g} ({unit * min(values):.3g} .. {unit * max(values):.3g})"


def parts(turns: int) -> Table:
    """CPU time of the parts of a run of the first shape, in this process."""
    import torch

    from swingby_sweeps.dynamics.kernels import mixture, points, points_two
    from swingby_sweeps.sim import certificate, rows
    from swingby_sweeps.sim.experiment import Sim
    from tests.benchmarks import engine

    spent: defaultdict[str, float] = defaultdict(float)
    _count(spent, "training loss over all points", points_two, "losses")
    _count(spent, "steps", points_two, "train")
    _count(spent, "draws of points", mixture.MixtureDraws, "points")
    _count(spent, "order of points: drawn, brought about", points, "next_orders")
    _count(spent, "order of points: drawn, brought about", points_two, "shuffle")
    _count(spent, "layout of points", points_two, "arrange")
    _count(spent, "certificates: patterns of active units", certificate, "patterns")
    _count(spent, "certificates, the rest", rows, "certify")
    torch.set_num_threads(1)
    shape = next(shape for shape in engine.SHAPES if shape.name == _SHAPES[0])
    batch, found = engine.batch_of(shape, shape.batch), list[dict[str, float]]()
    for _ in range(turns + 1):
        spent.clear()
        began = time.process_time()
        list(Sim("compiled").run(batch))
        whole = time.process_time() - began
        spent["certificates, the rest"] -= spent["certificates: patterns of active units"]
        found.append({**spent, "all else": whole - sum(spent.values()), "whole": whole})
    table = Table("part", "ms a run", "share")
    for name in found[-1]:
        seconds = [own[name] / len(batch.cells) for own in found[1:]]
        share = statistics.median(own[name] / own["whole"] for own in found[1:])
        table.add_row(name, spread(seconds, 1000), f"{share:.0%}")
    return table


def _count(spent: defaultdict[str, float], name: str, owner: Any, function: str) -> None:
    """Add the CPU time of a function, from now on, to what is spent on a part."""
    own = getattr(owner, function)

    @functools.wraps(own)
    def counted(*given: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return own(*given, **named)
        finally:
            spent[name] += time.process_time() - began

    setattr(owner, function, counted)


def main() -> None:
    """Print both tables."""
    arguments = argparse.ArgumentParser(description=main.__doc__)
    arguments.add_argument("--beside", type=Path, action="append", default=[], help="another checkout")
    arguments.add_argument("--turns", type=int, default=9)
    arguments.add_argument("--shape", choices=_SHAPES, action="append", help="default: all")
    given = arguments.parse_args()
    console = Console(width=150)
    console.print("CPU time of one thread, in turn: median (least .. most)")
    names, others = tuple(given.shape or _SHAPES), [path.resolve() for path in given.beside]
    console.print(beside(names, others, given.turns))
    console.print(parts(given.turns))


if __name__ == "__main__":
    main()
