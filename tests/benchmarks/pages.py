"""From results to a page: `swingby report` beside peers, on the same runs: `python -m tests.benchmarks pages`.

PEERS names a Python interpreter with optuna, plotly, mlflow and wandb; without it the peers' rows say so. Of this
project the whole command is timed, from the shell to the page; of a peer what follows the imports, from rows in memory.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from swingby.run.outcomes import derive
from swingby.store import Store
from tests.benchmarks.tables import Benchmark, alone
from tests.support import synthetic_sim
from tests.support.places import ROOT

SIZES = ((10, 10), (20, 25), (44, 31))
"""Values of each of two axes, and seeds: 1,000, 10,000 and 60,016 runs."""
MOST = 120
"""Seconds after which a peer is stopped."""
PEERS = {
    "optuna": "Optuna: `plot_contour` and `plot_slice` as HTML",
    "optuna-curves": "the same and `plot_intermediate_values`",
    "mlflow": "MLflow: runs into SQLite, `search_runs` (no page without a server)",
    "wandb": "W&B: offline runs (no page without its server)",
}


def rows(quick: bool) -> list[tuple[str, ...]]:
    """A row a program and size: seconds, and megabytes of the page or of what there is instead."""
    measured = list[tuple[str, ...]]()
    with tempfile.TemporaryDirectory() as place:
        for points, seeds in SIZES[:1] if quick else SIZES:
            data = Path(place) / str(points) / "data"
            derive(synthetic_sim.write(data, synthetic_sim.square("runs", points, seeds)))
            measured += of_sweep("runs", data, data.parent, 1 if quick else 3)
    return measured


def of_sweep(sweep: str, data: Path, folder: Path, repeats: int) -> list[tuple[str, ...]]:
    """The rows of the results of one sweep of SIM; `folder` takes what is written."""
    results, count = exported(sweep, data, folder / "runs.jsonl")
    own_row = ("`swingby report`", f"{count:,}", *own(sweep, data, folder, repeats))
    return [own_row, *((title, f"{count:,}", *peer(name, results, folder, repeats)) for name, title in PEERS.items())]


def exported(sweep: str, data: Path, path: Path) -> tuple[Path, int]:
    """The runs as peers get them, and how many: parameters, the final loss, the curve at 60 of its steps or fewer."""
    query = """
        select mu[2] as mu_1, init_gain, layers, width, final_ood_loss, step, ood_loss
        from sim join members using (cell_id) join sweeps using (sweep_id) where sweeps.name = $1 order by cell_id
    """
    with Store.open(data) as store, path.open("w") as lines:
        rows = store.sql(query, [sweep]).rows()
        names = [
            name for name in ("mu_1", "init_gain", "width", "layers") if len({getattr(row, name) for row in rows}) > 1
        ]
        for row in rows:
            kept = range(0, len(row.step), -(-len(row.step) // 60))
            one = {
                "params": {name: float(getattr(row, name)) for name in names},
                "value": row.final_ood_loss,
                "steps": [row.step[place] for place in kept],
                "curve": [row.ood_loss[place] for place in kept],
            }
            lines.write(f"{json.dumps(one)}\n")
    return path, len(rows)


def own(sweep: str, data: Path, folder: Path, repeats: int) -> tuple[str, str, str]:
    """Seconds of the whole command, its CPU seconds, and megabytes of its page."""
    command = [sys.executable, "-m", "swingby", "report", sweep, "--redraw", "--data", str(data), "--out", str(folder)]
    seconds, cpu = list[float](), list[float]()
    for _ in range(repeats):
        began, used = time.monotonic(), children()
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        seconds.append(time.monotonic() - began)
        cpu.append(children() - used)
    return spread(seconds), spread(cpu), f"{(folder / sweep / 'report.html').stat().st_size / 1e6:.1f}"


def children() -> float:
    """The CPU seconds of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peer(name: str, results: Path, folder: Path, repeats: int) -> tuple[str, str, str]:
    """Seconds of a peer, its CPU seconds, and megabytes of what it wrote."""
    python = os.environ.get("PEERS")
    if python is None:
        return "not measured: set PEERS", "", ""
    seconds, cpu, size = list[float](), list[float](), 0
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            command = [python, str(Path(__file__).with_name("pages_peer.py")), name, str(results), place, str(MOST)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=MOST + 60, cwd=place)
            except subprocess.TimeoutExpired:
                return f"> {MOST}", "", ""
        if done.returncode:
            return f"fails: {(done.stderr.strip().splitlines() or ['?'])[-1][:60]}", "", ""
        found = json.loads(done.stdout.strip().splitlines()[-1])
        if "late" in found or found["seconds"] > MOST:
            return f"> {MOST}" + (f" ({found['late']})" if "late" in found else ""), f"{found['cpu']:.2g}", ""
        seconds.append(found["seconds"])
        cpu.append(found["cpu"])
        size = found["bytes"]
    return spread(seconds), spread(cpu), f"{size / 1e6:.1f}"


def spread(seconds: list[float]) -> str:
    """The median, with the least and the most."""
    return f"{statistics.median(seconds):.2g} ({min(seconds):.2g} .. {max(seconds):.2g})"


TABLES = [
    Benchmark(
        "From results to a page, seconds: median (least .. most)",
        ("program", "runs", "seconds", "CPU seconds", "MB"),
        rows,
    )
]

if __name__ == "__main__":
    alone(TABLES)
