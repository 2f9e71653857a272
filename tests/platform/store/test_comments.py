"""What columns mean stands in DuckDB's catalogue wherever somebody looks, and costs nobody else anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from swingby import sandbox
from swingby.api import Sweep
from swingby.model import registry
from swingby.run.driver import run_sweep
from swingby.store import Store
from swingby.store.attach import Reader, attach, keep

TRAIN = '''
from typing import Annotated
import pyarrow as pa
from pydantic import Field
from swingby import Column, experiment


@experiment(
    curves={"loss": Column(pa.list_(pa.float64()), "mean squared error", unit="nat")},
    scalars={"last": "the final 'loss'"},
)
def slope(cell, lr: Annotated[float, Field(gt=0, description="learning rate")], order: int = 3, steps: int = 4):
    """Goes down."""
    for step in range(steps + 1):
        cell.record(step, loss=lr**step)
    return {"last": lr**steps}
'''
COLUMNS = """select column_name, comment from duckdb_columns()
             where table_name = ? and database_name = current_database() order by column_index"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a finished sweep over a function, one outcome of which is an expression."""
    folder = tmp_path_factory.mktemp("slope")
    (folder / "train.py").write_text(TRAIN)
    (folder / "slope.yaml").write_text(
        "name: slope\nexperiment: train.py\naxes: {lr: [0.1, 0.2]}\noutcomes: {small: 'last < 0.001'}\n"
    )
    run_sweep(Sweep.load(folder / "slope.yaml"), folder / "data", local=True, pilot=False)
    return folder / "data"


def test_every_column_of_an_experiment_has_a_comment(walk: Any) -> None:
    """Parameters, scalars, curves and those of the platform; each has its declared meaning, with the unit."""
    run_sweep(walk.sweep(), walk.data, local=True, pilot=False)
    experiment = registry.experiment("walk")
    declared = {**experiment.scalars, **experiment.curves}
    with Store.open(walk.data) as store:
        found = store.sql("select table_name, column_name, comment from duckdb_columns() where not internal").rows()
        told = {(row.table_name, row.column_name): row.comment for row in found if row.comment}
        for table, columns in store.tables().items():
            if not table.startswith("outcomes_"):
                assert {name for name, _ in columns} == {name for of, name in told if of == table}
    for name, column in declared.items():
        assert told["walk", name].startswith(column.meaning)
        assert column.unit in told["walk", name]


def test_the_sandbox_shows_what_a_function_says(data: Path) -> None:
    """Descriptions of parameters, meanings with units, expressions of outcomes; of tables, too."""
    rows = sandbox.query(data, COLUMNS.replace("?", "'slope'")).to_pylist()
    told = {row["column_name"]: row["comment"] for row in rows}
    assert told["lr"] == "learning rate"
    assert told["order"] == "parameter: integer"
    assert told["loss"] == "mean squared error [nat]"
    assert told["last"] == "the final 'loss'"
    assert None not in told.values()
    outcomes = sandbox.query(data, COLUMNS.replace("?", "'outcomes_of_slope'")).to_pylist()
    assert {"column_name": "small", "comment": "the expression last < 0.001"} in outcomes
    (view,) = sandbox.query(data, "select comment from duckdb_views() where view_name = 'slope'").to_pylist()
    assert view == {"comment": "Goes down: a row for each cell"}


def test_other_programs_find_them(data: Path, tmp_path: Path) -> None:
    """By the statements that `attach` prints, and in a snapshot; both can go without."""
    check = """print(db.sql("select comment from duckdb_columns() where column_name = 'lr' and comment is not null"))"""
    done = subprocess.run([sys.executable, "-c", f"{attach(data, Reader.python)}\n{check}"], capture_output=True)
    assert b"learning rate" in done.stdout, done.stderr
    assert "comment on" not in attach(data, comments=False)
    keep(data, tmp_path / "kept")
    assert """comment on column "slope"."last" is 'the final ''loss'''""" in (tmp_path / "kept/attach.sql").read_text()


def test_who_does_not_look_pays_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a store and any other query write no comment; a query of the catalogue writes them once."""
    made: list[Any] = []
    from swingby.store import comments

    own = comments.comments
    monkeypatch.setattr(comments, "comments", lambda store: made.append(store) or own(store))
    with Store.open(data) as store:
        store.sql("select * from slope")
        store.tables()
        assert not made
        for _ in range(2):
            assert any(row.comment == "learning rate" for row in store.sql(COLUMNS, ["slope"]))
    assert len(made) == 1


def test_experiments_that_are_not_here_take_nothing_away(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a package is not installed its columns have no meaning, and all else is as it was."""
    run_sweep(walk.sweep(), walk.data, local=True, pilot=False)
    monkeypatch.setattr(registry, "known", lambda name: False)
    with Store.open(walk.data) as store:
        told = {row.column_name: row.comment for row in store.sql(COLUMNS, ["walk"])}
        assert told["cell_id"]
        assert any(comment is None for comment in told.values())
