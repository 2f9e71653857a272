"""One run by two processes that share every batch: by NCCL where there are two GPUs, by gloo where there is none."""

from __future__ import annotations

import time
from pathlib import Path

import torch

from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from tests.gpu.sheet import FAILURE, Row, Setting, Sheet

SWEEP = """
name: group-{processes}
experiment: diffusion
preset: {preset}
base: {{batch_size: 32, training_steps: {steps}, images: 64{more}}}
seeds: [0]
record: {{steps: sqrt, points: 3}}
"""
TOLERANCE = 0.02
"""How far the loss may lie off, relative: sums in another order, over so few steps."""


def run(sheet: Sheet, setting: Setting) -> None:
    """A row for each number of processes, and one that compares them."""
    if setting.device == "cuda" and torch.cuda.device_count() < 2:
        sheet.put("two processes", {"not measured": "there is one GPU, and NCCL refuses two processes on it"})
        return
    for processes in (1, 2):
        sheet.row(f"{processes} processes", lambda processes=processes: trained(processes, setting))
    losses = [row["loss"] for row in sheet.rows.values() if "loss" in row]
    if len(losses) == 2:
        apart = abs(losses[1] / losses[0] - 1)
        sheet.put("apart", {"loss": apart, **({} if apart <= TOLERANCE else {FAILURE: f"more than {TOLERANCE}"})})


def trained(processes: int, setting: Setting) -> Row:
    """Trains a short run anew; its loss at the end, and its steps a second.

    Raises:
        SwingbyError: it did not end well.
    """
    data = Path(setting.out, "group", f"{processes}-{time.time_ns()}")
    more = ", pixels: 8, width: 8, sampling_steps: 4" if setting.quick else ""
    shape = {"preset": "small" if setting.quick else "authors", "steps": 12 if setting.quick else 200, "more": more}
    sweep = Sweep.parse(SWEEP.format(processes=processes, **shape), "group.yaml")
    options = {"local": True, "pilot": False, "device": setting.device, "processes": processes}
    run_sweep(sweep, data, progress=Progress(), **options)
    with Store.open(data) as store:
        (row,) = store.sql("select status, message, steps_per_second, loss[-1] as loss from diffusion").rows()
    if row.status != "ok":
        raise SwingbyError(row.message)
    return {"steps/s": row.steps_per_second, "loss": row.loss}
