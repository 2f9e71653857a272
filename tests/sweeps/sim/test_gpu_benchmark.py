"""The script for owners of a GPU runs to its end on a CPU, and saves what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.params import SimParams
from tests.benchmarks import gpu


@pytest.mark.slow
def test_the_script_runs_on_a_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every number it gives is there and positive; the saved text is the printed one."""
    gpu.main(["--device", "cpu", "--quick", "--out", str(tmp_path)])
    (page,), (data,) = tmp_path.glob("*.md"), tmp_path.glob("*.json")
    assert page.read_text(encoding="utf-8") in capsys.readouterr().out
    kept = json.loads(data.read_text(encoding="utf-8"))
    assert kept["about"]["torch"] == torch.__version__
    assert [row["shape"] for row in kept["rows"]] == [shape.name for shape in gpu.QUICK]
    for row in kept["rows"]:
        assert all(value > 0 for kind in ("whole", "training", "cores") for value in row[kind])
        assert bool(row["products"]) == ("flow" not in row["shape"])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """The default device is missing: one sentence and what to do, no traceback."""
    with pytest.raises(SystemExit):
        gpu.main([])
    assert "--device cpu" in capsys.readouterr().err


def params(**values: Any) -> SimParams:
    """The parameters of one cell."""
    p = Sim.point("paper", **values).params
    assert isinstance(p, SimParams)
    return p


def test_products_of_a_step_are_those_of_backpropagation() -> None:
    """By hand: two layers on moments of 2 x 2 take one product with them, and three of the second layer."""
    assert gpu.sizes(params(d=5, width=7)) == [(2, 2, 5), (2, 7, 5), (2, 5, 7), (5, 2, 7)]
    assert gpu.sizes(params(d=5, width=7, model="relu", batch_size=32)) == [
        (32, 2, 7),
        (2, 32, 7),
        (32, 7, 5),
        (32, 5, 7),
        (5, 32, 7),
    ]
