"""The law that no other sweep over the same cells changes what is said of a sweep, whatever it records."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from swingby.cli import app
from swingby.data.records import Records
from swingby.store import Store, rebuild
from swingby.store.lookup import find_sweep, sweep_rows
from swingby.store.status import statuses
from swingby.sweepfile.sweep import named_sweeps

STUDY = "figure-2a"
CLAIM = "fig-2a-order"
RECORD = "{also: [jacobian]}"
COARSER = "{points: 20, also: [hierarchy, jacobian]}"
FINER = "{points: 400, also: [jacobian]}"


def swingby(*words: object) -> str:
    """What a command prints to standard output."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code in (0, 1), done.output
    return done.stdout


def study(folder: Path, name: str = STUDY, record: str = RECORD) -> Path:
    """The study with two seeds as a file, by this name and so recorded; of its drawings it shows that of curves."""
    text = named_sweeps()[STUDY].read_text()
    for old, new in (
        (f"name: {STUDY}\n", f"name: {name}\n"),
        ("count: 100", "count: 2"),
        ("  - theory\n", ""),
        (f"record: {RECORD}\n", f"record: {record}\n"),
    ):
        assert old in text
        text = text.replace(old, new)
    file = folder / f"{name}.yaml"
    file.write_text(text)
    return file


def run(data: Path, *files: Path) -> None:
    """Trains these sweeps."""
    swingby("run", *files, "--data", data, "--local", "--no-pilot")


def given(rows: list[dict[str, Any]]) -> str:
    """Rows without the columns that are null in all: a recording on request brings columns that other sweeps lack."""
    there = {name for row in rows for name, value in row.items() if value is not None}
    return str([{name: value for name, value in sorted(row.items()) if name in there} for row in rows])


def told(data: Path) -> dict[str, Any]:
    """What the store tells of the study."""
    with Store.open(data) as store:
        wanted = find_sweep(store, STUDY).sweep_id
        (status,) = (one for one in statuses(store) if one.sweep_id == wanted)
    points = sweep_rows(data, STUDY, points=True).sort_by([("cell_id", "ascending"), ("k", "ascending")])
    by_id = f"select * from members join sim using (cell_id) where sweep_id = '{wanted}' order by cell_id"
    by_option = (
        "select sim.* from sim join members using (cell_id) join sweeps using (sweep_id) "
        f"where sweeps.name = '{STUDY}' order by cell_id"
    )
    asked = [["sql", by_id], ["sql", by_option, "--sweep", STUDY]]
    return {
        "rows": given(sweep_rows(data, STUDY).to_pylist()),
        "points": given(points.to_pylist()),
        "sql": [given(json.loads(swingby(*words, "--data", data, "--format", "json"))) for words in asked],
        "status": (status.cells, status.ok, status.diverged, status.failed, status.missing),
        "outcome": swingby("outcome", STUDY, "train_loss[-1] < 0.01", "--data", data),
        "claim": swingby("sql", f"select * from claims where claim = '{CLAIM}'", "--data", data, "--format", "json"),
    }


def drawn(data: Path, untouched: Path, file: Path, out: Path) -> dict[str, Any]:
    """What is drawn of the store, judged anew: the difference to the untouched, and the report but for its date."""
    swingby("claims", "sim", "--no-run", "--seeds", 2, "--only", CLAIM, "--data", data, "--out", out)
    swingby("report", file, "--data", data, "--out", out, "--redraw")
    compared = swingby("diff", STUDY, "--data", data, "--other-data", untouched, "--no-page", "--format", "json")
    report = re.sub(r"[\d-]{10} \d\d:\d\d UTC", "", (out / STUDY / "report.html").read_text())
    return {"diff": compared, "report": report}


def test_other_recordings_of_its_cells_change_nothing_that_is_said_of_a_sweep(tmp_path: Path) -> None:
    """Neither coarser curves with one recording more, nor finer ones; also after a rebuild."""
    data, untouched = tmp_path / "data", tmp_path / "untouched"
    file = study(tmp_path)
    run(data, file)
    shutil.copytree(data, untouched)
    pages = drawn(data, untouched, file, tmp_path / "before")
    before = told(data)
    assert before["status"][:2] == (20, 20)
    assert '"k":' in before["claim"]
    run(data, study(tmp_path, "coarser", COARSER), study(tmp_path, "finer", FINER))
    names = ("coarser", STUDY, "finer")
    lengths = [{len(row["step"]) for row in sweep_rows(data, name).to_pylist()} for name in names]
    assert max(lengths[0]) < min(lengths[1])
    assert max(lengths[1]) < min(lengths[2])
    assert told(data) == before
    rebuild(Records.open(data))
    assert drawn(data, untouched, file, tmp_path / "again") == pages
    assert told(data) == before
