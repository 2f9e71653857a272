"""A sweep of coins to refine: heads is more likely up and to the left, and a ledger has a line for each training."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from swingby.data.records import Records
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.sweepfile.sweep import Sweep

COIN = '''
import math, os, pathlib, signal
from swingby import experiment


@experiment
def coin(cell, x: float, y: float, blank: float = 2.0):
    """Heads with a chance that grows from the lower right to the upper left."""
    ledger = pathlib.Path(os.environ["LEDGER"])
    with ledger.open("a") as file:
        file.write(f"{x} {y} {cell.seed}\\n")
    if os.environ.get("KILL_AT") == str(len(ledger.read_text().splitlines())):
        os.kill(os.getpid(), signal.SIGKILL)
    if x > blank:
        raise ValueError("no answer here")
    chance = 1 / (1 + math.exp(-25 * (y - x + 0.1)))
    drawn = float(cell.numpy("draw").random())
    return {"heads": drawn < chance, "height": chance - drawn, "side": "up" if drawn < chance else "down"}
'''
FILE = """
name: coins
experiment: coin.py
axes:
  x: {linspace: {from: 0, to: 1, points: 16}}
  y: {linspace: {from: 0, to: 1, points: 16}}
seeds: {count: 6, mode: independent}
diagram: {x: x, y: y, outcome: heads}
refine: {wrong: 0.02}
"""


def coins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, from now on that of this process, with an experiment that notes each training, and its sweep file."""
    (tmp_path / "coin.py").write_text(COIN)
    (tmp_path / "coins.yaml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEDGER", str(tmp_path / "ledger"))
    return tmp_path


def trained(folder: Path) -> Counter[str]:
    """How often each cell was trained."""
    ledger = folder / "ledger"
    return Counter(ledger.read_text().splitlines() if ledger.exists() else [])


def refine(*overrides: str, data: Any = "data", **options: Any) -> Any:
    """The result of refining the coins."""
    sweep = Sweep.load("coins.yaml", overrides)
    return run_sweep(sweep, data, refine=True, progress=Progress(), **{"local": True, "pilot": False, **options})


def chosen(data: Any) -> list[tuple[int, tuple[tuple[int, int], ...]]]:
    """The cells of each round, as (point, seed)."""
    found: dict[int, set[tuple[int, int]]] = {}
    records = Records.open(data, create=False)
    for plan_id in records.plans():
        one = records.read_plan(plan_id)
        cells = zip(one.table["point"].to_pylist(), one.table["seed"].to_pylist(), strict=True)
        found.setdefault(one.decision["round"], set()).update(cells)
    return [(number, tuple(sorted(cells))) for number, cells in sorted(found.items()) if cells]
