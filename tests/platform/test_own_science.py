"""Somebody else's science: the package in docs/packages.md is built, installed, found, swept and drawn as it says."""

from __future__ import annotations

import re
import subprocess
import sys
from math import sqrt
from pathlib import Path

import pytest

from swingby.store import Store
from tests.support import command
from tests.support.command import in_child
from tests.support.places import ROOT

PAGE = ROOT / "docs" / "packages.md"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, written as they stand there, and their package installed beside them."""
    folder = tmp_path_factory.mktemp("heavyball")
    blocks = dict(re.findall(r"```(python|toml|yaml)\n(.*?)```", PAGE.read_text(), re.DOTALL))
    for language, name in (("python", "heavyball.py"), ("toml", "pyproject.toml"), ("yaml", "damping.yaml")):
        (folder / name).write_text(blocks[language])
    install = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--target", str(folder / "site"), "."]
    subprocess.run([sys.executable, "-m", "pip", *install], cwd=folder, check=True, timeout=120)
    return folder


def swingby(project: Path, *words: str) -> str:
    """What the command prints, where the package is installed."""
    done = in_child(project, *words, PYTHONPATH=str(project / "site"), SWINGBY_DATA=str(project / "data"))
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_readmes_package_is_swept_and_drawn(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by entry point; every run overshoots where theory says so, and none elsewhere; the report draws it."""
    assert "120 cells: 120 ok" in swingby(project, "run", "damping.yaml", "--local")
    monkeypatch.syspath_prepend(str(project / "site"))
    monkeypatch.setenv("SWINGBY_DATA", str(project / "data"))
    with Store.open(project / "data") as store:
        rows = store.sql(
            "select lr, momentum, overshoots from heavyball join outcomes_overshoots using (cell_id)"
        ).rows()
    assert len(rows) == 120
    assert all(row.overshoots == (sqrt(row.lr) > 1 - sqrt(row.momentum)) for row in rows)
    drawn = command.swingby("report", "damping", "--png", cwd=project)
    assert drawn.exit_code == 0, drawn.output
    page = (project / "out" / "damping" / "report.html").read_text()
    assert "it crosses the minimum" in page
    assert (project / "out" / "damping" / "phase-overshoots.png").stat().st_size > 10_000
