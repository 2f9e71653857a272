"""SIM: thousands of cells on one device, beside the products of their steps and two CPU cores.

Cells a second of each shape, in turn: the torch engine from draws to rows with all cells on the device, drawn by a
thread a core, and by one; of it steps and records alone; the batched matrix products of all steps alone,
the device's ceiling for these shapes (on CUDA captured as a graph, as the engine's steps are); and two CPU cores that
run the compiled engine on the same cells.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import torch

from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.training import one_thread
from swingby_sweeps.sim.engine import Ready, SimTraining
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.params import SimParams
from tests.benchmarks.engine import QUICK, SHAPES, Shape, batch_of
from tests.gpu.sheet import Row, Setting, Sheet

_CORES, _CHAIN = 2, 16
_REPEATS, _SECONDS = 5, 4.0
"""The most repeats whose median counts, and the seconds after which there is none more."""


def run(sheet: Sheet, setting: Setting) -> None:
    """A row a shape; of GPU's interest first: those of 64 outputs."""
    shapes = (QUICK[0], QUICK[-1]) if setting.quick else sorted(SHAPES, key=lambda shape: "d=64" not in shape.name)
    with workers() as pool:
        for shape in shapes:
            sheet.row(shape.name, lambda shape=shape: measure(pool, shape, setting.device, setting.quick))


def measure(pool: Executor, shape: Shape, device: str, quick: bool) -> Row:
    """One row: everything warmed up, then in turn, so that a slow moment of the machine hits all of them."""
    cells, cores = (4, 4) if quick else (min(4096, 16 * shape.torch), 4 * shape.batch)
    p = batch_of(shape, 1).cells[0].params
    assert isinstance(p, SimParams)
    two_cores(pool, shape, _CORES)
    train(shape, 2, device)
    rates: dict[str, list[float]] = {
        "cells/s": [],
        "drawn by one thread": [],
        "of it training": [],
        "products alone": [],
        "two CPU cores": [],
    }
    with one_thread():
        products = None if p.drive == "flow" else chain(p, cells, device)
        began, repeats = time.perf_counter(), 1 if quick else _REPEATS
        while len(rates["cells/s"]) < repeats and (not rates["cells/s"] or time.perf_counter() - began < _SECONDS):
            rates["cells/s"].append(cells / whole(shape, cells, device, os.cpu_count() or 1))
            rates["drawn by one thread"].append(cells / whole(shape, cells, device, 1))
            rates["of it training"].append(cells / train(shape, cells, device))
            if products is not None:
                took = min(waited(device, products) for _ in range(3))
                rates["products alone"].append(cells * _CHAIN / p.total_steps / took)
            rates["two CPU cores"].append(cores / two_cores(pool, shape, cores))
    middle = {name: statistics.median(values) for name, values in rates.items() if values}
    return {"cells": cells, **middle, "ratio": middle["cells/s"] / middle["two CPU cores"]}


def sizes(p: SimParams) -> list[tuple[int, int, int]]:
    """(m, r, n) of every product (m, r) by (r, n) of one step of one net."""
    k = p.s + p.bias
    if p.model == "symmetric":
        return [(k, p.width, p.d), (k, k, p.d), (k, p.d, p.width), (p.d, k, p.width)]
    outs, moments = [out for out, _ in p.layer_shapes], p.model != "relu"
    rows = k if moments else p.batch_size
    products = [(k, k, p.d)] if moments else [(rows, k, outs[0]), (k, rows, outs[0])]
    for m, n in itertools.pairwise(outs):
        products += [(rows, m, n), (rows, n, m), (n, rows, m)]
    return products


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


def train(shape: Shape, cells: int, device: str) -> float:
    """Seconds of steps and records of so many cells on the device."""
    with one_thread():
        ready = [Ready(cell) for cell in batch_of(shape, cells).cells]
        training = SimTraining(ready, Recording(), device, "torch")
        return waited(device, training.run)


def whole(shape: Shape, cells: int, device: str, threads: int) -> float:
    """Seconds from draws to rows of so many cells on the device, drawn by so many threads."""
    batch, sim = batch_of(shape, cells), Sim("torch")
    batch = replace(batch, device=device, cpus=threads)
    return waited(device, lambda: list(sim.run(batch)))


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
