"""`python -m tests.benchmarks.gpu`: thousands of cells on one device, beside its matrix products and two CPU cores.

Three numbers a shape, cells a second each, in one process and in turn: the torch engine from draws to rows with all
cells on the device; two CPU cores that run the compiled engine on the same cells; and the device's ceiling, the batched
matrix products of all steps alone, of just these shapes (on CUDA captured as a graph, as the engine's steps are).
Saves the table as text and as JSON. `--device cpu` tries the script itself where there is no GPU: its ratios say
nothing then but that it ran. So far it has been tried that way alone: nothing here has met a GPU yet.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import multiprocessing
import platform
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.training import one_thread
from swingby_sweeps.sim.engine import Ready, SimTraining
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.params import SimParams
from tests.benchmarks.engine import QUICK, SHAPES, Shape, batch_of

RESULTS = Path(__file__).parent / "results"
_CORES, _CHAIN = 2, 16
_LARGE = 4096


@dataclass(frozen=True)
class Row:
    """Cells a second of one shape: all repeats of each kind, and what they are of.

    Attributes:
        whole: the device, from draws to rows.
        training: the device, steps and records alone.
        products: the device, the steps' matrix products alone; empty for flows, whose steps are not known beforehand.
        cores: two CPU cores, from draws to rows.
    """

    shape: str
    cells: int
    whole: list[float]
    training: list[float]
    products: list[float]
    cores: list[float]


def sizes(p: SimParams) -> list[tuple[int, int, int]]:
    """(m, r, n) of every product (m, r) by (r, n) of one step of one net."""
    k = p.s + p.bias
    if p.model == "symmetric":
        return [(k, p.width, p.d), (k, k, p.d), (k, p.d, p.width), (p.d, k, p.width)]
    outs, moments = [out for out, _ in p.layer_shapes], p.model != "relu"
    rows = k if moments else p.batch_size
    found = [(k, k, p.d)] if moments else [(rows, k, outs[0]), (k, rows, outs[0])]
    for m, n in itertools.pairwise(outs):
        found += [(rows, m, n), (rows, n, m), (n, rows, m)]
    return found


def waited(device: str, call: Callable[[], object]) -> float:
    """Wall seconds until the device is done."""
    if device != "cpu":
        torch.cuda.synchronize(device)
    began = time.perf_counter()
    call()
    if device != "cpu":
        torch.cuda.synchronize(device)
    return time.perf_counter() - began


def chain(p: SimParams, cells: int, device: str) -> Callable[[], object]:
    """`_CHAIN` steps' worth of products of so many nets, as one call."""
    how = {"dtype": getattr(torch, p.dtype), "device": device}
    pairs = [(torch.ones(cells, m, r, **how), torch.ones(cells, r, n, **how)) for m, r, n in sizes(p)]
    outs = [torch.bmm(a, b) for a, b in pairs]

    def run() -> None:
        for _ in range(_CHAIN):
            for (a, b), out in zip(pairs, outs, strict=True):
                torch.bmm(a, b, out=out)

    if device == "cpu":
        return run
    graph = torch.cuda.CUDAGraph()
    run()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def large_product(device: str, side: int) -> float:
    """Multiplications a second of one large product in float32."""
    a = torch.ones(side, side, device=device)
    torch.mm(a, a)
    return side**3 / min(waited(device, lambda: torch.mm(a, a)) for _ in range(3))


def train(shape: Shape, cells: int, device: str) -> float:
    """Seconds of steps and records of so many cells on the device."""
    with one_thread():
        ready = [Ready(cell) for cell in batch_of(shape, cells).cells]
        training = SimTraining(ready, Recording(), device, "torch")
        return waited(device, training.run)


def whole(shape: Shape, cells: int, device: str) -> float:
    """Seconds from draws to rows of so many cells on the device."""
    batch, sim = batch_of(shape, cells), Sim("torch")
    return waited(device, lambda: list(sim.run(type(batch)(batch.cells, batch.recording, device))))


def on_cpu(shape: Shape, cells: int) -> None:
    """So many cells by the compiled engine of this process."""
    list(Sim("compiled").run(batch_of(shape, cells)))


def two_cores(pool: Executor, shape: Shape, cells: int) -> float:
    """Seconds of so many cells, half on each of two processes."""
    began = time.perf_counter()
    for done in [pool.submit(on_cpu, shape, cells // _CORES) for _ in range(_CORES)]:
        done.result()
    return time.perf_counter() - began


@contextmanager
def workers() -> Iterator[Executor]:
    """Two processes of one thread each."""
    with ProcessPoolExecutor(_CORES, multiprocessing.get_context("spawn")) as pool:
        yield pool


def measure(pool: Executor, shape: Shape, device: str, quick: bool) -> Row:
    """One row: everything warmed up, then in turn, so that a slow moment of the machine hits all of them."""
    cells, cores = (4, 4) if quick else (min(4096, 16 * shape.torch), 4 * shape.batch)
    p = batch_of(shape, 1).cells[0].params
    assert isinstance(p, SimParams)
    two_cores(pool, shape, _CORES)
    train(shape, 2, device)
    row = Row(shape.name, cells, [], [], [], [])
    with one_thread():
        products = None if p.drive == "flow" else chain(p, cells, device)
        for _ in range(1 if quick else 5):
            row.whole.append(cells / whole(shape, cells, device))
            row.training.append(cells / train(shape, cells, device))
            if products is not None:
                took = min(waited(device, products) for _ in range(3))
                row.products.append(cells * _CHAIN / p.total_steps / took)
            row.cores.append(cores / two_cores(pool, shape, cores))
    return row


def machine(device: str, quick: bool) -> dict[str, str]:
    """What it ran on."""
    found = {"device": platform.processor() or platform.machine(), "driver": "none"}
    if device != "cpu":
        found["device"] = torch.cuda.get_device_name(device)
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        found["driver"] = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split("\n")[0]
    rate = large_product(device, 256 if quick else _LARGE)
    return {
        **found,
        "cuda": torch.version.cuda or "none",
        "torch": torch.__version__,
        "cpu": platform.processor() or platform.machine(),
        "large float32 product, 1e12 multiplications/s": f"{rate / 1e12:.3g}",
        "date": datetime.date.today().isoformat(),
    }


COLUMNS = ("shape", "cells", "cells/s", "of it training", "products alone", "share", "two CPU cores", "ratio")


def text(about: dict[str, str], rows: Sequence[Row]) -> str:
    """The table in Markdown: medians, least and most of the repeats in brackets."""
    lines = [f"- {name}: {value}" for name, value in about.items()]
    lines += ["", "| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for row in rows:
        entries = [row.shape, f"{row.cells:,}", spread(row.whole), spread(row.training)]
        share = f"{middle(row.training) / middle(row.products):.0%}" if row.products else ""
        entries += [spread(row.products) if row.products else "", share, spread(row.cores)]
        lines.append("| " + " | ".join([*entries, f"{middle(row.whole) / middle(row.cores):.2g} x"]) + " |")
    note = (
        "Cells a second: median (least .. most). Share: training beside the products alone. Ratio: whole beside cores."
    )
    return "\n".join([*lines, "", note, ""])


def middle(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


def spread(values: Sequence[float]) -> str:
    """Median and range."""
    return f"{middle(values):,.3g} ({min(values):,.3g} .. {max(values):,.3g})"


def main(given: Sequence[str] | None = None) -> None:
    """Measure, print and save."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--device", default="cuda", help="cuda, cuda:1, ... or cpu; default: cuda")
    arguments.add_argument("--quick", action="store_true", help="three shapes, four cells, once: does it run?")
    arguments.add_argument("--out", type=Path, default=RESULTS, help="where the two files go; default: results/")
    asked = arguments.parse_args(given)
    if asked.device != "cpu" and not torch.cuda.is_available():
        arguments.error("this torch sees no CUDA device; --device cpu tries the script without one")
    about = machine(asked.device, asked.quick)
    with workers() as pool:
        rows = [measure(pool, shape, asked.device, asked.quick) for shape in (QUICK if asked.quick else SHAPES)]
    told = text(about, rows)
    print(told)
    asked.out.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^a-z0-9]+", "-", f"{about['device']} {about['date']}".lower()).strip("-")
    (asked.out / f"{stem}.md").write_text(told, encoding="utf-8")
    data = {"about": about, "rows": [asdict(row) for row in rows]}
    (asked.out / f"{stem}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
