"""Small runs by `swingby run`: one at a time on the GPU, and as many as its memory and a measured gain allow."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.gpu.cells import QUICK
from tests.gpu.sheet import Row, Setting, Sheet

RUNS = 12
SWEEP = f"""
name: small-runs
experiment: diffusion
preset: small
base: {{training_steps: 3000, mixed_precision: bf16}}
seeds: {RUNS}
record: {{steps: sqrt, points: 20}}
"""
WAYS = {"gpus=1": ["--set", "resources.gpus=1"], "as many as pay": []}


def run(sheet: Sheet, setting: Setting) -> None:
    """A row for each way; without a GPU both train alike, on cores."""
    for way, options in WAYS.items():
        sheet.row(way, lambda w=way, o=options: timed(setting.out / "sharing" / w.replace(" ", "-"), o, setting))


def timed(folder: Path, options: list[str], setting: Setting) -> Row:
    """The seconds of the command, how many cells it trained, and how many runs shared the GPU at its end.

    Raises:
        RuntimeError: the command failed.
    """
    shutil.rmtree(folder, ignore_errors=True)  # what an attempt that was cut short left
    folder.mkdir(parents=True)
    (folder / "sweep.yaml").write_text(QUICK if setting.quick else SWEEP, encoding="utf-8")
    command = [sys.executable, "-m", "swingby", "run", "sweep.yaml", "--data", "data", "--no-pilot", "--ray"]
    command += ["--device", setting.device, *options]
    began = time.perf_counter()
    environment = {**os.environ, "SWINGBY_WATCH_SECONDS": "2"}  # runs report at that pace, and here they are short
    done = subprocess.run(command, cwd=folder, env=environment, stdout=-1, stderr=-2, text=True, check=False)
    print(done.stdout, flush=True)
    if done.returncode:
        raise RuntimeError(f"it ended with {done.returncode}: the log says why")
    limits = re.findall(r"(\d+) runs share each GPU from now on|(one) run on each GPU from now on", done.stdout)
    shared = [int(many or 1) for many, _ in limits]
    trained = re.search(r"(\d+) cells?: (\d+) ok", done.stdout)
    return {
        "runs": int(trained[2]) if trained else 0,
        "seconds": time.perf_counter() - began,
        "runs that share the GPU": shared[-1] if shared else "",
    }
