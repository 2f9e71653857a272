"""What measures on a GPU runs on a CPU, too, keeps what it knows, and goes on from there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.params import SimParams
from tests.benchmarks.diffusion import QUICK
from tests.gpu import shared, steps
from tests.gpu.__main__ import ENDED, PARTS, main
from tests.gpu.sheet import FAILURE, Row, Setting, Sheet, table
from tests.gpu.sim import sizes
from tests.support.recorded_operations import OperationRecorder

TINY = ["--device", "cpu", "--quick"]
WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

class Without(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("ray", "altair", "vl_convert", "starlette", "uvicorn"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Without())
"""


def report(out: Path) -> dict[str, Any]:
    """The numbers of a run so far."""
    return json.loads((out / "report.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_part_runs_on_a_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where Ray and what draws and serves are not installed: each part ends with rows, none of which failed, and
    with the cells that it trained; the same command then has nothing left to do."""
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "without"), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    out = tmp_path / "out"
    main([*TINY, "--out", str(out)])
    parts = report(out)
    assert {name: part["state"] for name, part in parts.items()} == {part.name: ENDED for part in PARTS}
    for name, part in parts.items():
        assert part["rows"], name
        assert not [row for row in part["rows"].values() if FAILURE in row], part
    page = (out / "report.md").read_text(encoding="utf-8")
    assert all(f"## {part.title}\n" in page for part in PARTS)
    assert parts["cells"]["rows"]["quick, ok"]["cells"] == 1
    before = sorted((out / "logs").iterdir()), page
    main([*TINY, "--out", str(out)])
    assert (sorted((out / "logs").iterdir()), (out / "report.md").read_text(encoding="utf-8")) == before


def test_what_is_cut_short_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A part that its limit ends says so in its table, and the same command with more time completes it."""
    only = ["--out", str(tmp_path), "--only", "machine"]
    main([*TINY, *only, "--minutes", "0.001"])
    assert "cut short" in report(tmp_path)["machine"]["state"]
    assert "cut short" in capsys.readouterr().out
    main([*TINY, *only])
    machine = report(tmp_path)["machine"]
    assert machine["state"] == ENDED
    assert machine["rows"]["torch"]["value"] == torch.__version__
    assert table(machine["rows"]) in capsys.readouterr().out


def test_a_row_is_kept_and_a_failure_is_one(tmp_path: Path) -> None:
    """Each row is on disk at once and not measured again; an error becomes a row with its reason, and the next one is
    measured, unless the GPU is lost to this process."""
    path = tmp_path / "parts" / "some.json"

    def measure(error: Exception | None) -> Row:
        if error is not None:
            raise error
        return {"ms": 1234.5}

    sheet = Sheet(path)
    sheet.row("first", lambda: measure(ValueError("no compiler here\nmore")))
    sheet.row("second", lambda: measure(None))
    assert Sheet(path).rows == {"first": {FAILURE: "ValueError: no compiler here"}, "second": {"ms": 1234.5}}
    again = Sheet(path)
    again.row("second", lambda: measure(KeyError()))
    assert again.rows["second"] == {"ms": 1234.5}
    with pytest.raises(torch.AcceleratorError):
        again.row("third", lambda: measure(torch.AcceleratorError("CUDA error: unspecified launch failure")))
    assert "launch failure" in Sheet(path).rows["third"][FAILURE]
    assert table(sheet.rows).splitlines()[2:] == [
        "| first | ValueError: no compiler here |  |",
        "| second |  | 1,234 |",
    ]


def test_real_cells_are_trained_in_the_best_company(tmp_path: Path) -> None:
    """As many processes share the GPU as made the most steps a second; where none were measured, one."""
    sheet = Sheet(tmp_path / "shared.json")
    assert shared.best(sheet, "authors") == 1
    for count, rate in ((1, 50.0), (2, 70.0), (4, 60.0)):
        sheet.put(f"authors, bf16, processes: {count}", {"steps/s of all": rate})
    sheet.put("authors, bf16, processes under MPS: 8", {"steps/s of all": 999.0})
    sheet.put("authors, bf16, processes: 8", {FAILURE: "out of memory"})
    assert shared.best(sheet, "authors") == 2


def test_what_is_timed_as_a_graph_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step counts as a graph's only where one was recorded; elsewhere the row says why there is no number."""
    setting = Setting("cpu", True, 1.0, Path())
    with steps.training(QUICK[0], "bf16", "launched", setting) as step:
        assert steps.timed(step, setting)["ms a step"] > 0
    monkeypatch.setattr(steps, "recorder_of", lambda accelerator: OperationRecorder())
    with steps.training(QUICK[0], "bf16", "graph", setting) as step:
        assert steps.timed(step, setting)["ms a step"] > 0
    monkeypatch.setattr(steps, "recorder_of", lambda accelerator: None)
    with pytest.raises(RuntimeError, match="no graph was recorded"):
        steps.project(QUICK[0], "bf16", "graph", setting)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """The default device is missing: one sentence and what to do, no traceback."""
    with pytest.raises(SystemExit):
        main([])
    assert "--device cpu" in capsys.readouterr().err


def params(**values: Any) -> SimParams:
    """The parameters of one cell."""
    p = Sim.point("paper", **values).params
    assert isinstance(p, SimParams)
    return p


def test_products_of_a_step_are_those_of_backpropagation() -> None:
    """By hand: two layers on moments of 2 x 2 take one product with them, and three of the second layer."""
    assert sizes(params(d=5, width=7)) == [(2, 2, 5), (2, 7, 5), (2, 5, 7), (5, 2, 7)]
    assert sizes(params(d=5, width=7, model="relu", batch_size=32)) == [
        (32, 2, 7),
        (2, 32, 7),
        (32, 7, 5),
        (32, 5, 7),
        (5, 32, 7),
    ]
