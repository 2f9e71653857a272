"""No hidden choice: each convention on which the sources differ is a parameter, and the store keeps what it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from swingby.model.experiment import Batch, Recording
from swingby.run.driver import run
from swingby.run.options import RunOptions
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.params import SimParams

CONVENTIONS: dict[str, dict[str, Any]] = {
    "what sigma is": {"sigma_is": "variance"},
    "cluster at the origin": {"zero_cluster": True},
    "loss reduction": {"reduction": "mean"},
    "bias": {"bias": True},
    "size of mini-batches": {"batch_size": 20},
    "order of mini-batches": {"shuffle": "every_epoch"},
    "full batch": {"drive": "gd"},
    "learning rate": {"lr": 0.05},
    "epochs": {"epochs": 3},
    "hidden width": {"width": 4},
    "mu": {"mu": (2.0, 4.0)},
    "sigma": {"sigma": (0.05, 0.5)},
    "truncated set": {"truncate": True, "mu": (1.0, 1.0), "sigma": (0.5, 0.5)},
    "initialisation": {"init": "uniform"},
    "upper end of a uniform start": {"init": "uniform", "init_high": 0.2},
}
SYMMETRIC = {
    "drives with A squared": {"moment_power": 2},
    "its upper end": {"init": "uniform", "init_high": 0.2},
    "time of eq 4.3 or of eq 4.1": {"reduction": "half_sum"},
}
FILE = """
name: {name}
experiment: sim
preset: {preset}
base: {base}
seeds: 1
record: {{points: 20}}
"""


SWEEPS = {
    preset: Sweep.parse(FILE.format(name=preset, preset=preset, base='{"d": 3, "n": 20, "epochs": 2}'), preset)
    for preset in ("paper", "authors")
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with a sweep of one cell of either preset."""
    data = tmp_path_factory.mktemp("conventions") / "data"
    run([*SWEEPS.values()], data, RunOptions(local=True, pilot=False))
    with Store.open(data) as store:
        yield store


def row_of(store: Store, sweep: Sweep) -> dict[str, Any]:
    """The row of the one cell of a sweep."""
    (cell,) = sweep.cells()
    (row,) = store.sql("select * from sim where cell_id = ?", [cell.cell_id]).arrow().to_pylist()
    return row


def loss(**values: Any) -> tuple[str, list[float]]:
    """Id and loss of one small cell of the paper's preset."""
    small = {"d": 4, "n": 30, "epochs": 2, "batch_size": 16, "width": 6, "gd_steps": 300, "moments": "sample"}
    cell = Sim.point("paper", **{**small, "mu": (1.0, 2.0), "sigma": (0.1, 0.1), **values}).cell(0)
    (table,) = Sim().run(Batch((cell,), Recording(points=20)))
    (row,) = table.to_pylist()
    assert row["status"] == "ok"
    return cell.cell_id, row["ood_loss"]


@pytest.mark.parametrize(
    ("model", "name"), [*(("linear", name) for name in CONVENTIONS), *(("symmetric", name) for name in SYMMETRIC)]
)
def test_each_convention_alone_changes_the_curve(model: str, name: str) -> None:
    """Overriding one convention of a preset alone makes another cell with another curve of the loss."""
    values = (CONVENTIONS if model == "linear" else SYMMETRIC)[name]
    besides = {"init": "uniform"} if "init_high" in values else {}
    if "truncate" in values:  # at these settings there are points to draw again
        besides = {key: value for key, value in values.items() if key != "truncate"}
    (plain_id, plain), (other_id, other) = loss(model=model, **besides), loss(model=model, **values)
    assert plain_id != other_id
    assert plain != other


@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_the_store_keeps_the_resolved_values(stored: Store, sweep: Sweep) -> None:
    """A row has every parameter with the value that was trained, also those that only the preset or a default set."""
    row, params = row_of(stored, sweep), sweep.points[0].params
    assert set(SimParams.model_fields) <= set(row)
    for name, value in params.model_dump().items():
        assert row[name] == (list(value) if isinstance(value, tuple) else value), name


def test_every_sweep_tells_where_its_rows_come_from(stored: Store) -> None:
    """Commit and dirty flag, versions of what was used, the resolved plan, host, device and times lead from a row."""
    sweep = SWEEPS["authors"]
    row = row_of(stored, sweep)
    (plan,) = stored.sql("from plans where sweep_id = ?", [sweep.sweep_id]).arrow().to_pylist()
    (shard,) = stored.sql("from shards where shard = ?", [row["shard"]]).arrow().to_pylist()
    told = json.loads(plan["provenance"])
    assert (plan["git_commit"], plan["git_dirty"]) == (told["git_commit"], told["git_dirty"])
    assert {"swingby", "torch", "numpy", "pyarrow", "duckdb", "ray"} <= set(told["versions"])
    assert told["host"]
    assert told["command"]
    assert json.loads(plan["resolved"]) == json.loads(json.dumps(sweep.resolved))
    assert (shard["plan_id"], shard["sweep_id"]) == (plan["plan_id"], sweep.sweep_id)
    assert shard["device"] == "cpu"
    assert shard["host"] == told["host"]
    assert plan["created"] <= shard["started"] <= shard["finished"]
    assert json.loads(shard["versions"])["torch"] == told["versions"]["torch"]
