"""`swingby serve` under fifty clients while a sweep runs on the same machine: how long each waits for its answer.

`python -m tests.benchmarks.serve` prints the table. Clients ask again as soon as they are answered; nobody pauses.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from rich.console import Console

from tests.benchmarks import path
from tests.benchmarks.tables import draw

CLIENTS = 50
COLUMNS = ("what each client asks", "cells", "answers", "sent away", "p50, s", "p95, s", "most, s", "answers/s")
PHASES = """select m.point, any_value(s.init_gain) as init_gain, any_value(s.mu[2]) as mu, count(*) as cells,
avg((s.final_ood_loss > 1)::int) as share
from members m join sweeps w using (sweep_id) join sim s using (cell_id)
where w.name = 'bench-{cells}' and s.seed >= {least} group by m.point order by m.point"""
RUNNING = """\
name: beside
experiment: sim
base: {{d: 2, s: 2, model: linear, layers: 3, width: 3}}
axes:
  mu.1: {{linspace: {{from: 1.0, to: 3.0, points: 100}}}}
seeds: {seeds}
"""
BY_HAND = ("-m", "swingby")


def table(quick: bool = False) -> list[tuple[str, ...]]:
    """A row a kind of question."""
    cells = 1_000 if quick else 10_000
    with tempfile.TemporaryDirectory(dir=os.environ.get("SWINGBY_BENCH")) as folder:
        data = Path(folder) / "data"
        for stage in ("plan_seeds", "shards", "folding"):
            path._measured(stage, cells, Path(folder))
        with running(data, Path(folder), 200 if quick else 2_000) as busy, server(data) as port:
            rows = []
            for name, address, times in questions(cells, 2 if quick else 6):
                rows.append(measured(name, cells, port, address, times))
                assert busy.poll() is None, "the sweep ended before the measurement: give it more seeds"
    return rows


def questions(cells: int, times: int) -> Iterator[tuple[str, Callable[[int], str], int]]:
    """What is asked (an address by the client's number), and how often by each client."""
    sql = PHASES.format(cells=cells, least=0)
    yield "the list of sweeps", lambda _: "/", 2 * times
    yield "one phase diagram, the same for all", lambda _: f"/sql?{urlencode({'q': sql})}", 2 * times
    own = itertools.count()
    yield (
        "a phase diagram that nobody else asks for",
        lambda _: f"/sql.csv?{urlencode({'q': f'{sql} -- {next(own)}'})}",
        max(1, times // 3),
    )


def measured(name: str, cells: int, port: int, address: Callable[[int], str], times: int) -> tuple[str, ...]:
    """Fifty clients at once, each so many times."""
    start = threading.Barrier(CLIENTS)

    def client(number: int) -> list[tuple[int, float]]:
        start.wait()
        return [ask(port, address(number)) for _ in range(times)]

    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as many:
        found = [one for answers in many.map(client, range(CLIENTS)) for one in answers]
    wall = time.perf_counter() - began
    waited = np.array([seconds for status, seconds in found if status == 200])
    away = sum(status == 503 for status, _ in found)
    assert len(waited) + away == len(found), f"{name}: {sorted({status for status, _ in found})}"
    shown = [f"{value:.2f}" for value in np.quantile(waited, (0.5, 0.95, 1.0))] if len(waited) else ["-"] * 3
    return (name, f"{cells:,}", f"{len(waited):,}", str(away), *shown, f"{len(waited) / wall:.1f}")


def ask(port: int, address: str) -> tuple[int, float]:
    """Status of one answer, and the seconds until its last byte."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    try:
        connection.request("GET", address)
        answer = connection.getresponse()
        answer.read()
        return answer.status, time.perf_counter() - began
    finally:
        connection.close()


@contextmanager
def server(data: Path) -> Iterator[int]:
    """`swingby serve` as it is started by hand; its port."""
    line = [sys.executable, *BY_HAND, "serve", "--data", str(data), "--port", "0", "--timeout", "60"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            found = re.search(r":(\d+)/", child.stdout.readline())
            assert found is not None
            yield int(found[1])
        finally:
            child.send_signal(signal.SIGTERM)


@contextmanager
def running(data: Path, folder: Path, seeds: int) -> Iterator[subprocess.Popen[bytes]]:
    """`swingby run --local` of another sweep into the same store, under way."""
    (folder / "beside.yaml").write_text(RUNNING.format(seeds=seeds))
    line = [sys.executable, *BY_HAND, "run", str(folder / "beside.yaml"), "--data", str(data), "--local", "--no-pilot"]
    line += ["--confirm-above", str(100 * seeds)]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            while not list((data / "shards").glob("beside*/*.parquet")):
                assert child.poll() is None, "the sweep beside does not run"
                time.sleep(0.2)
            yield child
        finally:
            child.kill()


def main() -> None:
    """Prints the table."""
    arguments = argparse.ArgumentParser(description=main.__doc__)
    arguments.add_argument("--quick", action="store_true", help="fewer cells and questions")
    quick = arguments.parse_args().quick
    draw(Console(width=150), f"{CLIENTS} clients at once, while a sweep runs", COLUMNS, table(quick))


if __name__ == "__main__":
    main()
