"""From results to a page: `swingby report` beside peers, on the same runs: `python -m tests.benchmarks pages`.

PEERS names a Python interpreter with optuna, plotly, mlflow and wandb; without it the peers' rows say so. Of this
project the whole command is timed, from the shell to the page; of a peer what follows the imports, from rows in memory.
"""

from __future__ import annotations

import json
import os
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
            folder = Path(place) / str(points)
            data, repeats = folder / "data", 1 if quick else 3
            derive(synthetic_sim.write(data, synthetic_sim.square("runs", points, seeds)))
            runs = f"{points**2 * seeds:,}"
            results = exported(data, folder / "runs.jsonl")
            measured.append(("`swingby report`", runs, *own(data, folder, repeats)))
            measured += [(title, runs, *peer(name, results, folder, repeats)) for name, title in PEERS.items()]
    return measured


def exported(data: Path, path: Path) -> Path:
    """The runs as peers get them: parameters, the final loss, and the curve at 60 of its steps or fewer."""
    with Store.open(data) as store, path.open("w") as lines:
        for row in store.sql("select mu, init_gain, final_ood_loss, step, ood_loss from sim order by cell_id").rows():
            kept = range(0, len(row.step), -(-len(row.step) // 60))
            lines.write(
                json.dumps({
                    "params": {"mu_1": row.mu[1], "init_gain": row.init_gain},
                    "value": row.final_ood_loss,
                    "steps": [row.step[place] for place in kept],
                    "curve": [row.ood_loss[place] for place in kept],
                })
                + "\n"
            )  # fmt: skip
    return path


def own(data: Path, folder: Path, repeats: int) -> tuple[str, str]:
    """Seconds of the whole command, and megabytes of its page."""
    command = [sys.executable, "-m", "swingby", "report", "runs", "--redraw", "--data", str(data), "--out", str(folder)]
    seconds = list[float]()
    for _ in range(repeats):
        began = time.monotonic()
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        seconds.append(time.monotonic() - began)
    return spread(seconds), f"{(folder / 'runs' / 'report.html').stat().st_size / 1e6:.1f}"


def peer(name: str, results: Path, folder: Path, repeats: int) -> tuple[str, str]:
    """Seconds of a peer, and megabytes of what it wrote."""
    python = os.environ.get("PEERS")
    if python is None:
        return "not measured: set PEERS", ""
    seconds, size = list[float](), 0
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            command = [python, str(Path(__file__).with_name("pages_peer.py")), name, str(results), place, str(MOST)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=MOST + 60, cwd=place)
            except subprocess.TimeoutExpired:
                return f"> {MOST}", ""
        if done.returncode:
            return f"fails: {(done.stderr.strip().splitlines() or ['?'])[-1][:60]}", ""
        found = json.loads(done.stdout.strip().splitlines()[-1])
        if "late" in found or found["seconds"] > MOST:
            return f"> {MOST}" + (f" ({found['late']})" if "late" in found else ""), ""
        seconds.append(found["seconds"])
        size = found["bytes"]
    return spread(seconds), f"{size / 1e6:.1f}"


def spread(seconds: list[float]) -> str:
    """The median, with the least and the most."""
    return f"{statistics.median(seconds):.2g} ({min(seconds):.2g} .. {max(seconds):.2g})"


TABLES = [
    Benchmark("From results to a page, seconds: median (least .. most)", ("program", "runs", "seconds", "MB"), rows)
]

if __name__ == "__main__":
    alone(TABLES)
