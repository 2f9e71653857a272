"""A second experiment stands on `dynamics`: its package is found, trained, drawn and judged; its closed form holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from swingby.model.cell import Point
from swingby.model.experiment import Batch, Recording
from tests.support.places import SUPPORT

FOLDER = SUPPORT / "deep_scalar"


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package can be imported."""
    monkeypatch.syspath_prepend(str(FOLDER))


def rows(drive: str, **values: object) -> list[dict[str, object]]:
    """Rows of four cells that differ in a, start and lr."""
    from swingby_deep_scalar.experiment import DeepScalar  # pyright: ignore[reportMissingImports]
    from swingby_deep_scalar.params import ScalarParams  # pyright: ignore[reportMissingImports]

    cells = []
    for seed, (a, start) in enumerate([(1.0, 0.1), (2.0, 0.3), (0.5, 0.6), (1.5, 0.05)]):
        params = ScalarParams(drive=drive, a=a, start=start, lr=0.02 + 0.01 * seed, dtype="float64", **values)
        cells.append(Point("deep_scalar", 1, params).cell(seed))
    (table,) = DeepScalar().run(Batch(tuple(cells), Recording(points=60)))
    return [{**row, **cell.params.model_dump()} for row, cell in zip(table.to_pylist(), cells, strict=True)]


@pytest.mark.usefixtures("on_path")
def test_the_flow_is_logistic() -> None:
    """u(t) = u_0 / (u_0 + (1 - u_0) exp(-2 a t)) at every recorded step."""
    from swingby_deep_scalar import theory  # pyright: ignore[reportMissingImports]

    for row in rows("flow"):
        time = np.array(row["step"]) * row["lr"]
        np.testing.assert_allclose(row["product"], theory.product(row["start"] ** 2, row["a"], time), rtol=1e-6)  # type: ignore[operator]


@pytest.mark.usefixtures("on_path")
def test_sgd_learns_the_identity() -> None:
    """Long enough mini-batch SGD arrives at u = 1 from every start."""
    assert all(abs(row["final_product"] - 1) < 1e-3 for row in rows("sgd", training_steps=2000))  # type: ignore[operator]


COMMANDS = """
import json, sys
from typer.testing import CliRunner
from swingby.cli import app
for words in json.loads(sys.argv[1]):
    done = CliRunner().invoke(app, words)
    print(done.output)
    assert done.exit_code == 0, words
"""


def test_it_goes_from_its_sweep_to_its_report_and_its_statement(tmp_path: Path) -> None:
    """Installed beside, its named sweep is run by the for-loop, its report has its drawing, and its claim is judged.

    In a process of its own, since a process reads the installed statements once.
    """
    environment = {**os.environ, "PYTHONPATH": str(FOLDER), "SWINGBY_DATA": str(tmp_path / "data")}
    words = ("run escape-times --local", "report escape-times", "claims --no-run --only half-time")
    command = [sys.executable, "-c", COMMANDS, json.dumps([one.split() for one in words])]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 cells: 8 ok" in done.stdout
    assert "Half times beside theory" in (tmp_path / "out" / "escape-times" / "report.html").read_text()
    assert "The product reaches one half" in (tmp_path / "out" / "claims" / "claims.html").read_text()
