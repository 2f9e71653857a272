"""One small study in four tools, from a loop to a map of when it learns: `python -m tests.benchmarks study`.

160 runs of `studies/loop.py`: four rates, four widths, ten seeds. Lines are those that the tool asks for besides the
loop, without blank ones and comments. PEERS names a Python interpreter with
optuna, plotly, mlflow, wandb, altair and pandas.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.pages import spread
from tests.benchmarks.tables import Benchmark, alone

STUDIES = Path(__file__).with_name("studies")
SWINGBY = ("-m", "swingby")
TOOLS = {
    "swingby": (
        ("in_swingby.py", "in_swingby.yaml"),
        ((*SWINGBY, "run", "in_swingby.yaml"), (*SWINGBY, "report", "in_swingby.yaml")),
        "shares with intervals, boundary, every point's curves, SQL; a killed run goes on, more seeds train alone",
    ),
    "Optuna 5": (
        ("in_optuna.py",),
        (("in_optuna.py",),),
        "a contour of single runs and all curves in two pages; a killed run goes on; no shares over seeds",
    ),
    "MLflow": (
        ("in_mlflow.py",),
        (("in_mlflow.py",),),
        "a map of shares, by own code; curves need its server; a killed run begins anew",
    ),
    "W&B offline": (
        ("in_wandb.py",),
        (("in_wandb.py",),),
        "a map of shares, by own code; curves need its server; a killed run begins anew",
    ),
}
"""Files that are written, commands, and what is there at the end."""
MOST = 600
"""Seconds after which a tool is stopped."""


def rows(quick: bool) -> list[tuple[str, ...]]:
    """A row a tool: lines, seconds until the page is there, and what it shows."""
    return [
        (tool, str(lines_of(files)), seconds(tool, commands, 1 if quick else 3), shows)
        for tool, (files, commands, shows) in TOOLS.items()
    ]


def lines_of(files: tuple[str, ...]) -> int:
    """The lines of these files that are neither blank nor comments."""
    lines = (line.strip() for name in files for line in (STUDIES / name).read_text().splitlines())
    return sum(bool(line) and not line.startswith("#") for line in lines)


def seconds(tool: str, commands: tuple[tuple[str, ...], ...], repeats: int) -> str:
    """Seconds of the commands one after another, each time in a folder of its own."""
    python = sys.executable if tool == "swingby" else os.environ.get("PEERS")
    if python is None:
        return "not measured: set PEERS"
    taken = list[float]()
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(shutil.copytree(STUDIES, Path(place) / "study"))
            began = time.monotonic()
            try:
                for command in commands:
                    subprocess.run([python, *command], cwd=folder, check=True, capture_output=True, timeout=MOST)
            except subprocess.TimeoutExpired:
                return f"> {MOST}"
            taken.append(time.monotonic() - began)
    return spread(taken)


TABLES = [
    Benchmark(
        "A study of 160 runs, from the loop to a map",
        ("tool", "lines", "seconds: median (least .. most)", "at the end"),
        rows,
    )
]

if __name__ == "__main__":
    alone(TABLES)
