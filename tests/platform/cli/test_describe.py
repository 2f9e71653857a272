"""What `describe` says of a table is what the store has: every column, its type, and a meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from swingby.api import Sweep
from swingby.cli.describe import names
from swingby.model import registry
from swingby.model.columns import parameter_schema
from swingby.run.driver import run_sweep
from swingby.store import Store
from tests.support.command import swingby


def described(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, dict[str, str]]:
    """What is printed of a table, and the type of each column in it."""
    monkeypatch.setenv("COLUMNS", "400")
    result = swingby("describe", name)
    assert "\ncolumn " in result.stdout
    assert result.exit_code == 0, result.output
    cells = [[cell.strip() for cell in line.split("│")] for line in result.stdout.splitlines() if "│" in line]
    return result.stdout, {row[0]: row[1] for row in cells}


def test_every_column_is_described(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the tables that every store has, of an experiment's two, and of its detectors': names and types."""
    run_sweep(walk.sweep(), walk.data, local=True, pilot=False)
    experiment = registry.experiment("walk")
    with Store.open(walk.data) as store:
        tables = sorted(store.names())
        assert {"walk", "walk_points", "sweeps", "retractions"} <= {*tables}
        for table in tables:
            if table.endswith("_all"):
                continue
            there = {name: type_.split("(")[0] for name, type_ in store.columns(table).items()}
            text, told = described(table, monkeypatch)
            if table == "walk":
                assert {*parameter_schema(experiment.Params).names} <= {*told}
                there = {name: type_ for name, type_ in there.items() if name not in experiment.Params.model_fields}
            absent = {column for added in experiment.recordings.values() for column in added}
            assert {name: told.get(name) for name in there} == there, table
            assert {*told} - {*there} <= absent | {*experiment.Params.model_fields} | _outcomes(text), table


def _outcomes(text: str) -> set[str]:
    """The outcomes that the description of an experiment lists behind its own columns."""
    after = text.split("\ntable outcomes_", 1)
    return {line.split("│")[0].strip() for line in after[1].splitlines() if "│" in line} if len(after) > 1 else set()


def test_an_experiment_is_described_whole(toy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Presets, parameters with their values and defaults, under which others they are read, and outcomes."""
    monkeypatch.setattr(type(registry.experiment(toy)), "read_where", {"gain": "kind == 'relu'"})
    monkeypatch.setenv("COLUMNS", "400")
    text = swingby("describe", toy).stdout
    assert "presets: plain, counted; where a sweep names none: plain" in text
    lines = {line.split("│")[0].strip(): line for line in text.splitlines() if "│" in line}
    assert "linear, relu" in lines["kind"]
    assert "> 0" in lines["gain"]
    assert "read where kind == 'relu'" in lines["gain"]
    assert "BOOLEAN" in lines["bumped"]


def test_a_wrong_name_is_told_with_the_nearest(toy: str) -> None:
    """Among experiments and tables."""
    result = swingby("describe", "outcomes_tox")
    assert result.exit_code == 2
    assert f"{toy}_points" in names("toy_")
    assert f"did you mean 'outcomes_{toy}'?" in result.stderr


SLOPE = '''
from typing import Annotated
import pyarrow as pa
from pydantic import Field
from swingby import Column, experiment


@experiment(curves={"loss": Column(pa.list_(pa.float64()), "squared error", unit="nat")}, scalars={"last": "its end"})
def slope(cell, lr: Annotated[float, Field(gt=0, le=1, description="learning rate")], width: int = 3, steps: int = 4):
    """Goes down."""
    for step in range(steps + 1):
        cell.record(step, loss=lr**step)
    return {"last": lr**steps}
'''


def test_a_function_is_described_by_its_file_its_sweep_and_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Types, defaults, limits and descriptions always; columns with types once there are results, also without code."""
    (tmp_path / "train.py").write_text(SLOPE)
    (tmp_path / "down.yaml").write_text("name: down\nexperiment: train.py\naxes: {lr: [0.1, 0.2]}\n")
    data = tmp_path / "data"

    def lines(name: str) -> dict[str, str]:
        monkeypatch.setenv("COLUMNS", "400")
        result = swingby("describe", name, "--data", data)
        assert result.exit_code == 0, result.output
        assert "slope: Goes down" in result.stdout
        return {line.split("│")[0].strip(): line for line in result.stdout.splitlines() if "│" in line}

    before = lines(f"{tmp_path}/train.py")
    assert all(text in before["lr"] for text in ("number, > 0, at most 1", "learning rate"))
    assert all(text in before["width"] for text in ("integer", "3"))
    assert all(text in before["loss"] for text in ("nat", "squared error"))
    assert "BIGINT" not in " ".join(before.values())
    run_sweep(Sweep.load(tmp_path / "down.yaml"), data, local=True, pilot=False)
    of_files = [lines(f"{tmp_path}/{name}") for name in ("train.py", "train.py:slope", "down.yaml")]
    (tmp_path / "train.py").unlink()
    monkeypatch.setattr(registry, "_adopted", {})
    for told in (*of_files, lines("down"), lines("slope")):
        assert {name: told[name] for name in before if name not in ("loss", "last")} == {
            name: line for name, line in before.items() if name not in ("loss", "last")
        }
        assert "DOUBLE[]" in told["loss"]
        assert "DOUBLE" in told["last"]
        assert "steps" in told
        assert "last_step" in told
    result = swingby("describe", "slope_points", "--data", data)
    assert "squared error" in result.stdout
    result = swingby("describe", "slop", "--data", data)
    assert result.exit_code == 2
    assert "did you mean 'slope'?" in result.stderr
