"""What all else ran on: GPU, driver, and the versions of what computes."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib import metadata

import torch

from tests.gpu.sheet import Row, Setting, Sheet

PACKAGES = ("torch", "triton", "numpy", "numba", "diffusers", "accelerate", "ray", "duckdb", "pytest")
_LARGE = 4096
"""Side of the product that the device's rate is measured with."""


def run(sheet: Sheet, setting: Setting) -> None:
    """A row each."""
    sheet.row("python", lambda: {"value": platform.python_version(), "of": platform.platform()})
    sheet.row("processor", lambda: {"value": f"{len(os.sched_getaffinity(0))} cores", "of": platform.machine()})
    for name in PACKAGES:
        sheet.row(name, lambda name=name: {"value": _version(name)})
    if setting.device == "cuda":
        for number in range(torch.cuda.device_count()):
            sheet.row(f"GPU {number}", lambda number=number: _gpu(number))
        sheet.row("CUDA of torch", lambda: {"value": torch.version.cuda or "none"})
        sheet.row("driver", lambda: {"value": _driver()})
        sheet.row("MPS", lambda: {"value": shutil.which("nvidia-cuda-mps-control") or "none"})
    side = 256 if setting.quick else _LARGE
    for kind in (torch.float32, torch.bfloat16):
        sheet.row(
            f"product of {side} x {side}, {kind}".replace("torch.", ""), lambda kind=kind: _rate(setting, side, kind)
        )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"


def _gpu(number: int) -> Row:
    about = torch.cuda.get_device_properties(number)
    return {"value": about.name, "of": f"{about.total_memory / 1e9:.0f} GB, {about.multi_processor_count} processors"}


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0]


def _rate(setting: Setting, side: int, kind: torch.dtype) -> Row:
    from tests.gpu.sim import waited

    a = torch.ones(side, side, device=setting.device, dtype=kind)
    torch.mm(a, a)
    seconds = min(waited(setting.device, lambda: torch.mm(a, a)) for _ in range(3))
    return {"value": f"{2 * side**3 / seconds / 1e12:.3g} TFLOP/s"}
