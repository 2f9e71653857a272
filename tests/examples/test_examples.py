"""The studies of `examples` run: each command of their READMEs, as it stands there, in a copy of the folder.

`make test` trains fewer cells and steps of each (see `FEWER`); `make test-all` trains them whole, too.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from swingby.store import Store
from tests.support.command import swingby
from tests.support.places import ROOT

STUDIES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/README.md"))
FEWER = {
    "batched/teacher.yaml": ("points: 8", "points: 2"),
    "batched/teacher.py": ("steps: int = 300", "steps: int = 60"),
    "function/two-weights.yaml": ("seeds: 10", "seeds: 2"),
    "import/their_runs.py": ("range(8)", "range(2)"),
    "paper-figure/figure-5-small.yaml": ("seeds: 40", "seeds: 20"),
}
"""What a file of a study says -> what a copy says that is trained in less time."""
both = pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["fewer", "whole"])


def ran(study: str, folder: Path, whole: bool) -> None:
    """Runs a study's commands, one after the other, in a copy of its folder; each has to end well.

    A shell runs the first as a reader's would, and every one that is not `swingby`; the others are called in this
    process, which spares what Python takes to start.
    """
    copy = Path(shutil.copytree(ROOT / "examples" / study, folder / study))
    for name, (of_the_study, fewer) in FEWER.items():
        if name.startswith(f"{study}/") and not whole:
            text = (folder / name).read_text()
            assert of_the_study in text
            (folder / name).write_text(text.replace(of_the_study, fewer))
    commands = re.findall(r"^\$ (.*)$", (copy / "README.md").read_text(), flags=re.MULTILINE)
    assert commands
    # The commands of a reader's environment are found first, whether it is activated or not.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "200"}
    for place, command in enumerate(commands):
        program, *words = shlex.split(command)
        if place and program == "swingby":
            called = swingby(*words, cwd=copy)
            assert called.exit_code == 0, f"{command}\n{called.output}"
            continue
        done = subprocess.run(
            ["bash", "-c", command], cwd=copy, env=environment, capture_output=True, text=True, timeout=240
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def test_every_study_is_listed_and_tried() -> None:
    """Each folder has a README, and the list of the studies names all of them."""
    listed = re.findall(r"\]\(([\w-]+)/README\.md\)", (ROOT / "examples" / "README.md").read_text())
    folders = [path.name for path in (ROOT / "examples").iterdir() if path.is_dir()]
    assert sorted(listed) == sorted(folders) == STUDIES


@both
def test_a_function_has_its_four_endings(tmp_path: Path, whole: bool) -> None:
    """Descent on two weights falls, is thrown up first, is unfinished, or diverges, and the report maps it."""
    ran("function", tmp_path, whole)
    with Store.open(tmp_path / "function" / "data") as store:
        query = (
            "select ending, lr * size * size as scaled from two_weights join outcomes_of_two_weights using (cell_id)"
        )
        cells = store.sql(query).rows()
    endings = Counter(cell.ending for cell in cells)
    assert sum(endings.values()) == 14 * 6 * (10 if whole else 2)
    assert set(endings) == {"catapult", "diverged", "monotone", "unfinished"}
    assert all(1.9 < cell.scaled < 4.1 for cell in cells if cell.ending == "catapult")
    assert (tmp_path / "function" / "out" / "two-weights" / "report.html").is_file()


@both
def test_both_forms_of_a_loop_agree(tmp_path: Path, whole: bool) -> None:
    """The batched form trains its cells, and those that both forms have end alike up to rounding."""
    pytest.importorskip("torch")
    ran("batched", tmp_path, whole)
    query = 'select a."end" as one, b."end" as other from teacher a join teacher_together b using (lr, gain, seed)'
    with Store.open(tmp_path / "batched" / "data") as store:
        pairs = store.sql(query).rows()
    assert len(pairs) == (8 if whole else 2) * 2 * 2
    assert all(pair.one == pytest.approx(pair.other, rel=1e-2) for pair in pairs)


@both
def test_runs_of_another_program_are_imported(tmp_path: Path, whole: bool) -> None:
    """Every run of the file is a cell that is marked as imported, with its outcome, and the report draws them."""
    ran("import", tmp_path, whole)
    with Store.open(tmp_path / "import" / "data") as store:
        query = "select recorded, learned from theirs join outcomes_of_theirs using (cell_id)"
        cells = store.sql(query).rows()
    assert len(cells) == 4 * 3 * (8 if whole else 2)
    assert all(cell.recorded == ["imported"] for cell in cells)
    assert {cell.learned for cell in cells} == {True, False}
    assert (tmp_path / "import" / "out" / "theirs" / "report.html").is_file()


@both
def test_the_figure_depends_on_the_convention(tmp_path: Path, whole: bool) -> None:
    """From positive starts most seeds show a second descent, from normal ones a minority; the figure is drawn."""
    ran("paper-figure", tmp_path, whole)
    query = """
        select init, avg(non_monotone::int) as share, count(*) as runs
        from sim join outcomes_descents using (cell_id) group by all
    """
    with Store.open(tmp_path / "paper-figure" / "data") as store:
        shares = {row.init: row for row in store.sql(query).rows()}
    assert {init: row.runs for init, row in shares.items()} == dict.fromkeys(("normal", "uniform"), 40 if whole else 20)
    assert shares["normal"].share < 0.5 < shares["uniform"].share
    assert list((tmp_path / "paper-figure" / "out" / "figure-5-small").glob("*.png"))
