"""The detector `lines`: what it says of a cell follows from parameters, for archived results too."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from swingby.archive import pack, shipped, unpack
from swingby.data.records import Records
from swingby.run.driver import run_sweep
from swingby.run.outcomes import derive
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_sweeps.sim import task, theory
from swingby_sweeps.sim.detect.theory_lines import OUTCOMES, TheoryLines, lines
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.params import SimParams


def of(**values: Any) -> SimParams:
    """Parameters of one point."""
    p = Sim.point(**values).params
    assert isinstance(p, SimParams)
    return p


def test_archived_results_get_their_lines_without_their_curves(tmp_path: Path) -> None:
    """Every recorded cell of a shipped diagram has a row; all other detectors say no more of it than was shipped."""
    (path,) = [path for path in shipped().values() if path.stem == "diagram-dimension-width-relu"]
    unpack(tmp_path, path)
    counts = derive(Records.open(tmp_path))
    assert {name for name, count in counts.items() if count} == {"theory_lines"}
    with Store.open(tmp_path) as store:
        query = "select count(*) as n, count(steepest_rate) as told from outcomes_theory_lines join sim using (cell_id)"
        (row,) = store.sql(query).rows()
    assert (row.n, row.told) == (1620, 1620)
    assert not any(derive(Records.open(tmp_path)).values())


def test_packing_neither_rounds_nor_freezes_lines(tmp_path: Path) -> None:
    """A thin file has no column of the detector; of the unpacked results it says what it said of the trained ones."""
    sweep = Sweep.parse("name: small\nexperiment: sim\nbase: {d: 2, n: 30, epochs: 2, batch_size: 7}\n", "small.yaml")
    run_sweep(sweep, tmp_path / "trained", local=True, pilot=False)
    packed = pack(tmp_path / "trained", "small", tmp_path)
    assert not [name for name in pq.read_schema(packed.path).names if name.startswith("lines.")]
    unpack(tmp_path / "unpacked", packed.path)
    derive(Records.open(tmp_path / "unpacked"))
    columns, rows = ", ".join(f'"{name}"' for name in OUTCOMES), []
    for data in ("trained", "unpacked"):
        with Store.open(tmp_path / data) as store:
            query = f"select cell_id, {columns} from outcomes_theory_lines order by cell_id"
            rows.append(store.sql(query).arrow().to_pylist())
    assert rows[0] == rows[1] != []


def test_what_applies_to_a_cell() -> None:
    """Nets of layers have rates and gains, one layer has rates in steps, the symmetric model has starts."""
    net = lines(of(model="linear", layers=4, width=4, d=2, init="normal", lr=0.02, epochs=40, n=5000, batch_size=128))
    a = np.array([0.5025, 2.0025])
    assert net["steps_per_epoch"] == math.ceil(2 * 5000 / 128)
    assert net["run_time"] == pytest.approx(40 * 79 * 0.02)
    assert net["steepest_rate"] == pytest.approx(2 / (4 * a[1]))
    assert net["plateau_gain"] == theory.plateau_gain(a, 4, 2.0, net["run_time"])
    assert net["steep_gain"] == pytest.approx((2 / (0.02 * a[1] * (1 + 3 * 2))) ** (1 / 6))
    assert net["spread_needed"] == pytest.approx(math.sqrt(2 / net["run_time"]))
    one = lines(of(model="one_layer", layers=1, lr=0.6))
    assert one["rate_in_steps"][0] == pytest.approx(-math.log(1 - 0.6 * 0.5025) / 0.6)
    assert one["rate_in_steps"][1] is None
    symmetric = of(model="symmetric", drive="flow", d=2, width=9, init="normal", init_gain=0.3)
    start = lines(symmetric)
    assert start["start_sd"] == pytest.approx(0.1)
    mu, signals = np.array(symmetric.mu), task.signal(symmetric)
    assert start["predicted_rise"] == pytest.approx(theory.predicted_rise(mu, signals, 0.09, 0.03))
    equal = of(model="symmetric", drive="flow", d=2, width=2, init="uniform", mu=(1.0, 1.0))
    assert lines(equal)["predicted_rise"] is None
    assert {*net, *one, *start} <= {*OUTCOMES}
    assert {"steepest_rate", "rate_in_steps", "spread_needed"}.isdisjoint(start)


def test_one_or_two_layers_have_no_first_plateau_and_one_is_never_too_steep() -> None:
    """Every gain lies between the two of one layer; the least one of two layers is 0."""
    one, two = (lines(of(model="linear", layers=layers, init="normal")) for layers in (1, 2))
    assert (one["plateau_gain"], one["steep_gain"]) == (0, math.inf)
    assert two["plateau_gain"] == 0
    assert 0 < two["steep_gain"] < math.inf


def test_the_rate_in_steps_is_that_of_descent() -> None:
    """|1 - w| of w' = a (1 - w), in steps of h, falls by exp(-rate h) a step."""
    a, h = np.array([0.3, 1.7]), 0.2
    assert np.exp(-theory.rate_in_steps(a, h) * h) == pytest.approx(1 - h * a)
    assert np.isnan(theory.rate_in_steps(np.array([5.0]), h)).all()


def test_a_parameter_that_a_row_lacks_stands_at_its_default() -> None:
    """Of a table written before `moment_power` was a parameter."""
    p = of(model="symmetric", drive="flow", d=2, width=2, init="normal")
    row = {name: getattr(p, name) for name in TheoryLines.needs}
    rows = [{"cell_id": "a", **row}, {"cell_id": "b", **row, "moment_power": None}]
    first, second = TheoryLines().detect(pa.Table.from_pylist(rows)).drop_columns(["cell_id"]).to_pylist()
    assert first == second
