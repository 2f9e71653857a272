"""The whole study of the swing-by paper at a few seeds, from nothing: every figure and every claim, by two commands."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from swingby.store import Store
from swingby_analysis.gallery import figure_names


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_figures_and_claims_from_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`figures --quick` and `claims --quick` leave a report for each figure, a verdict for each claim, and say when."""
    began = time.monotonic()
    for verb in ("figures", "claims"):
        command = [sys.executable, "-m", "swingby", verb, "--quick", "--data", "data", "--out", "out"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr[-4000:]
        with capsys.disabled():
            print(f"\n{verb} --quick: {time.monotonic() - began:.0f} s since the start")
    for name in figure_names(["sim"]):
        page = tmp_path / "out" / name / "report.html"
        assert 100_000 < page.stat().st_size < 10_000_000
    with Store.open(tmp_path / "data") as store:
        rows = store.sql("select claim, verdict, n from claims").rows()
    assert len({row.claim for row in rows}) >= 30
    assert all(row.verdict for row in rows)
