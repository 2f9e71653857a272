"""The detector `theory`: how arrivals are predicted and read, of which rows it speaks, and the verb for both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from swingby.model.cell import Cell
from swingby.model.columns import parameter_schema
from swingby.model.experiment import Batch, Recording
from swingby.store import Store
from swingby_sweeps.sim import theory
from swingby_sweeps.sim.detect import arrivals
from swingby_sweeps.sim.detect.cells import cells_of
from swingby_sweeps.sim.detect.curves import lists
from swingby_sweeps.sim.detect.theory import CONSTANTS, Theory, predictions
from swingby_sweeps.sim.experiment import Sim
from tests.support.command import swingby

Array = np.ndarray
NEVER = np.inf


def stored(cells: list[Cell], table: pa.Table) -> pa.Table:
    """A trained table as the store hands it to a detector: with parameters, seed and last step."""
    for field in parameter_schema(type(cells[0].params)):
        values = [getattr(cell.params, field.name) for cell in cells]
        table = table.append_column(field, pa.array(values, field.type))
    columns = {
        "seed": pa.array([cell.seed for cell in cells], pa.int64()),
        "seed_mode": pa.array([cell.point.seeds for cell in cells]),
        "steps": table["to_step"],
    }
    for name, column in columns.items():
        table = table.append_column(name, column)
    return table.select(["cell_id", *(name for name in Theory.needs if name in table.column_names)])


def trained(count: int = 2, also: tuple[str, ...] = ("jacobian",), **values: Any) -> pa.Table:
    """Some seeds of one point, trained, as the store hands them over."""
    cells = list(Sim.point(**values).cells(range(count)))
    (table,) = Sim().run(Batch(tuple(cells), Recording(also=also)))
    return stored(cells, table)


def said(table: pa.Table) -> list[dict[str, Any]]:
    return Theory().detect(table).to_pylist()


SYMMETRIC: dict[str, Any] = {"model": "symmetric", "d": 2, "width": 2, "gd_steps": 3000}
LAYER: dict[str, Any] = {"model": "one_layer", "d": 4, "n": 200, "epochs": 20}


# reading


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-6, 0.5), st.floats(0.1, 3.0), st.floats(1.0, 40.0))
def test_a_logistic_entry_is_read_exactly_between_any_records(w0: float, a: float, between: float) -> None:
    """However far apart the records are, the crossing of a major entry on its own is where eq 4.3 has it."""
    expected = float(theory.time_to_reach(np.array(w0), np.array(a)))
    steps = np.arange(0, expected + 2 * between, between)
    w = theory.logistic(np.array(w0), np.array(a), steps)[:, None]
    if w[-1, 0] < 1 - 1e-9:  # beyond, 1 - w is all rounding
        assert arrivals.first_crossing(steps, w)[0] == pytest.approx(expected, rel=1e-6)


def test_first_and_final_crossings_differ_by_the_swing() -> None:
    """A curve that comes, goes and comes again arrives first at the first crossing, and finally at the last."""
    steps = np.array([0.0, 10, 20, 30, 40])
    curve = np.array([[0.0, 0.95, 0.5, 0.95, 0.99]]).T
    first, final = (float(read(steps, curve)[0]) for read in (arrivals.first_crossing, arrivals.final_crossing))
    assert 0 < first < 10
    assert 20 < final < 30
    ends = np.array([[0.0, 0.95, 0.95, 0.95, 0.5], [0.95] * 5, [0.1] * 5, [np.nan, 0.95, 0.95, 0.95, 0.95]]).T
    np.testing.assert_array_equal(arrivals.final_crossing(steps, ends), [NEVER, 0, NEVER, 10])
    assert arrivals.first_crossing(steps, ends)[1:3].tolist() == [0, NEVER]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.integers(0, 10_000), st.floats(0.01, 2.0))
def test_theorem_4_1_arrives_where_its_trajectory_does(s: int, seed: int, gain: float) -> None:
    """The predicted final stretch is that of eq 4.2 looked at 20,000 times."""
    random = np.random.default_rng(seed)
    a, mu, W0 = random.uniform(0.2, 3, s), random.uniform(0.3, 3, s), gain * random.standard_normal((s, s))
    found = arrivals.one_layer(W0, a, mu, 1.0)
    finite = found.times[np.isfinite(found.times)]
    assert len(finite) == s
    time = np.linspace(0, 1.01 * finite.max() + 1e-3, 20_000)
    r = np.sum(theory.theorem_4_1(a, mu, W0, time), axis=0) / mu
    # Where it only just grazes 0.9, a finer look finds more: such stretches are left out.
    extremes = np.abs(np.diff(np.sign(np.diff(r, axis=0)), axis=0)) > 0
    grazing = (np.abs(r[1:-1] - 0.9) < 1e-4) & extremes
    for k in np.flatnonzero(~grazing.any(0)):
        read = arrivals.final_crossing(time, r[:, [k]])[0]
        assert found.times[k] == pytest.approx(read, abs=2 * time[1])
    np.testing.assert_allclose(found.alone, np.log(10) / a)
    np.testing.assert_allclose(found.alone + found.delay, found.times, atol=1e-9)


@given(st.integers(1, 3), st.floats(0.01, 20), st.integers(0, 2**32), st.booleans())
def test_with_equal_signals_growth_is_all_there_is(s: int, a: float, seed: int, from_zero: bool) -> None:
    """Equal a_p: one exponential, whose root may be the very end of the grid; from W(0) = 0 it is log 10 / a."""
    W0 = np.zeros((s, s)) if from_zero else np.random.default_rng(seed).normal(0, 0.1, (s, s))
    found = arrivals.one_layer(W0, np.full(s, a), np.full(s, 2.0), 1.0)
    left = np.abs(W0.sum(axis=1) - 1) if not from_zero else np.ones(s)
    assert found.times == pytest.approx(np.log(left / 0.1) / a, rel=1e-6)


def test_a_concept_without_signal_never_arrives() -> None:
    """mu_k = 0 has no r_k; with sigma = 0 its a_k is 0 too, and its neighbour arrives all the same."""
    found = arrivals.one_layer(0.1 * np.ones((2, 2)), np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.5)
    assert np.isinf(found.times).tolist() == [True, False]
    assert found.order == [1, 0]


@pytest.mark.parametrize(
    ("predicted", "measured", "right"),
    [
        ([1, 2, 3], [10, 20, 30], True),
        ([1, 2, 3], [10, 30, 20], False),
        ([1, 2, NEVER], [10, 20, NEVER], True),
        ([1, 2, 3], [10, NEVER, NEVER], None),
        ([1, 2, 3], [NEVER, 20, NEVER], False),
        ([1, 1, 3], [10, 20, 30], None),
        ([5], [5], None),
    ],
)
def test_an_order_is_right_wrong_or_not_told(predicted: list[float], measured: list[float], right: bool | None) -> None:
    """One pair told wrong makes it wrong; one pair that cannot be told leaves the rest open."""
    assert arrivals.order_right(np.array(predicted, float), np.array(measured, float)) is right


def test_times_are_compared_where_both_speak() -> None:
    """What should have come and did not is a miss; what the run was too short for, or was there at first, is not."""
    predicted = np.array([100, 100, 100, 5000, NEVER, NEVER, 0])
    measured = np.array([105, 115, NEVER, NEVER, NEVER, 100, 0])
    found = arrivals.ratios(predicted, measured, end=1000)
    np.testing.assert_array_equal(found, [1.05, 1.15, NEVER, np.nan, np.nan, 0, np.nan])
    assert arrivals.within_tenth(found) == 1 / 4
    assert arrivals.within_tenth(np.array([0.899, 0.901, 1.099, 1.101])) == 1 / 2
    assert arrivals.within_tenth(np.array([np.nan])) is None


def test_curves_are_read_row_by_row() -> None:
    """Vectors, plain lists, nulls and empty lists, in chunks; the rows as they are."""
    pieces = [[[[1.0, 2.0], [3.0, 4.0]], None], [[], [[5.0, 6.0]]]]
    column = pa.chunked_array([pa.array(piece, pa.list_(pa.list_(pa.float64()))) for piece in pieces])
    rows = [lists(column).row(row) for row in range(4)]
    assert [None if row is None else row.tolist() for row in rows] == [[[1, 2], [3, 4]], None, None, [[5, 6]]]
    (steps,) = [lists(pa.chunked_array([pa.array([[0, 7]], pa.list_(pa.int64()))])).row(0)]
    assert steps is not None
    assert steps.tolist() == [[0], [7]]
    assert lists(pa.chunked_array([pa.nulls(2)])).row(1) is None


# which rows


def test_theory_is_silent_where_it_has_nothing_to_say() -> None:
    """Deep nets, ReLU, a bias, a truncated set: nulls, save for a linear net's width; rows keep their order."""
    silent = [
        {"model": "linear", "layers": 2, "width": 1, "d": 4, "n": 100, "epochs": 1},
        {"model": "relu", "width": 1, "d": 4, "n": 100, "epochs": 1},
        {**LAYER, "bias": True, "epochs": 1},
        {**LAYER, "truncate": True, "epochs": 1},
    ]
    tables = [trained(1, **values) for values in silent]
    rows = said(pa.concat_tables([trained(1, **SYMMETRIC), *tables, trained(1, **LAYER)], promote_options="default"))
    assert [row["a_p"] is not None for row in rows] == [True, False, False, False, False, True]
    assert [row["width_enough"] for row in rows] == [True, False, None, True, True, True]
    for row in rows[1:5]:
        assert {name for name, value in row.items() if value is not None} <= {"cell_id", "width_enough"}


def test_a_linear_net_of_one_layer_is_one_layer() -> None:
    """Under either name of the model the same predictions are made of the same draws."""
    one, linear = (said(trained(1, **{**LAYER, **model}))[0] for model in ({}, {"model": "linear", "layers": 1}))
    assert {**one, "cell_id": 0} == {**linear, "cell_id": 0}
    assert one["predicted_t90"]


def test_a_row_of_another_version_gets_no_prediction() -> None:
    """Where this code gives the parameters another id, it would draw another start: it says nothing."""
    table = trained(1, **SYMMETRIC)
    foreign = table.set_column(0, "cell_id", pa.array(["0" * 32]))
    assert said(foreign)[0]["predicted_t90"] is None
    assert cells_of(foreign) == [None]
    seed = table.set_column(table.column_names.index("seed_mode"), "seed_mode", pa.array(["independent"]))
    assert cells_of(seed) == [None]


def test_starts_are_drawn_again_under_both_seed_modes() -> None:
    """With independent seeds, too, the predictions are those of the run's own start: w_ij(0) as it was recorded."""
    for seeds in ("common", "independent"):
        table = trained(3, seeds=seeds, **{**SYMMETRIC, "rotate": True, "gd_steps": 10})
        for row, recorded in zip(said(table), table["jacobian"].to_pylist(), strict=True):
            assert np.abs(recorded[0]).max() == pytest.approx(row["largest_start"], rel=1e-12)
            assert np.abs(recorded[0]).min() == pytest.approx(row["omega"], rel=1e-12)


def test_the_start_of_explicit_weights_is_what_they_say() -> None:
    """A given U_0 of rank 1: the second concept never arrives, and L keeps its share."""
    table = trained(1, **SYMMETRIC, init="explicit", init_weights=((0.1, 0.2), (0.2, 0.4)), mu=(1.0, 2.0))
    (row,) = said(table)
    assert row["predicted_t90"][0] == NEVER
    assert row["predicted_order"] == [1, 0]
    assert row["rank_enough"] is False
    assert row["least_training_loss"] == pytest.approx(row["a_p"][0] / 2)
    assert row["largest_start"] == pytest.approx(0.2)
    assert (row["K"], row["C"], row["P"], row["kappa"]) == (CONSTANTS.K, CONSTANTS.C, CONSTANTS.P, CONSTANTS.kappa)


@pytest.mark.parametrize(("reduction", "unit"), [("quarter_sum", 1.0), ("half_sum", 2.0)])
def test_the_step_that_app_d_bounds_is_that_of_the_run_in_the_time_of_d_2(reduction: str, unit: float) -> None:
    """D.2 holds up to eta = 1/(9 K a_max): eta is lr under quarter_sum, twice that under half_sum, and 0 for a flow."""
    values = {**SYMMETRIC, "mu": (1.0, 2.0), "sigma": (0.0, 0.0), "reduction": reduction}
    edge = 1 / (9 * CONSTANTS.K * 2.0) / unit
    for drive, lr, holds in (("gd", 0.999 * edge, True), ("gd", 1.001 * edge, False), ("flow", 9 * edge, True)):
        said_, _ = predictions(Sim.point(**{**values, "drive": drive, "lr": lr}).cell(0))
        assert said_["d_2_small_step"] is holds


def test_without_the_jacobian_there_is_no_measured_time_of_the_symmetric_model() -> None:
    """Its t90 is of w_pp, which the output does not tell; one layer needs the output only."""
    (row,), (layer,) = said(trained(1, also=(), **SYMMETRIC)), said(trained(1, also=(), **LAYER))
    for name in ("measured_t90", "measured_order", "predicted_order_right", "times_within_tenth"):
        assert row[name] is None
        assert layer[name] is not None
    assert row["predicted_t90"]


def test_a_run_that_diverged_has_predictions_and_no_measured_times() -> None:
    """What flew through 0.9 has not arrived there."""
    table = trained(1, **{**SYMMETRIC, "drive": "gd", "lr": 100.0, "gd_steps": 200})
    assert table["status"].to_pylist() == ["diverged"]
    (row,) = said(table)
    assert row["predicted_t90"]
    assert row["measured_t90"] is None


def test_columns_that_a_table_lacks_are_nulls() -> None:
    """A table without curves, as an older store may have it, still gets its predictions; an empty one gets no row."""
    table = trained(2, **SYMMETRIC)
    bare = table.drop_columns(["step", "output", "jacobian"])
    assert [row["predicted_t90"] for row in said(bare)] == [row["predicted_t90"] for row in said(table)]
    assert Theory().detect(table.slice(0, 0)).num_rows == 0


# the verb

SWEEP = """
name: {name}
experiment: sim
base: {{{base}}}
axes: {{preset: [paper, authors], mu.1: [1.5, 2.0]}}
seeds: 3
record: {{also: [jacobian]}}
"""
LOOP = "--local", "--no-pilot"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a finished sweep of the symmetric model, one of one layer, and one of deep nets."""
    folder = tmp_path_factory.mktemp("theory")
    bases = {"family": "model: symmetric, d: 2, s: 2, gd_steps: 4000, mu: [1.0, 1.0]",
             "layer": "model: one_layer, d: 2, s: 2, mu: [1.0, 1.0], n: 200, epochs: 2",
             "deep": "model: linear, d: 2, s: 2, mu: [1.0, 1.0], n: 50, epochs: 1"}  # fmt: skip
    for name, base in bases.items():
        (folder / f"{name}.yaml").write_text(SWEEP.format(name=name, base=base))
    done = swingby("run", *(str(folder / f"{name}.yaml") for name in bases), "--data", folder / "data", *LOOP)
    assert done.exit_code == 0, done.output
    return folder / "data"


def theory_verb(data: Path, *arguments: str) -> Any:
    return swingby("theory", *arguments, "--data", data)


def test_the_verb_prints_every_point_and_keeps_the_assumptions(data: Path) -> None:
    """A line a point in both tables; the judgements under the given constants can be joined, once however often."""
    done, again = (theory_verb(data, "family", "--P", "3") for _ in range(2))
    assert (done.exit_code, again.output) == (0, done.output)
    for label in ("paper, mu.1 1.5", "paper, mu.1 2", "authors, mu.1 1.5", "authors, mu.1 2"):
        assert done.output.count(label) == 2
    assert theory_verb(data, "family", "--K", "10").exit_code == 0
    query = "select K, P, count(*) as cells, bool_and(d_1_bounded) as d1 from assumptions group by all"
    with Store.open(data) as store:
        found = {(row.K, row.P): (row.cells, row.d1) for row in store.sql(query).rows()}
    assert found == {(20, 3): (12, True), (10, 2): (12, True)}
    assert len(list((data / "derived" / "assumptions").glob("*.parquet"))) == 2


def test_the_verb_counts_concepts_from_1_and_names_silent_points(data: Path) -> None:
    """The stronger concept, 2, comes first; points that theory does not speak of are counted and named."""
    family = theory_verb(data, "family").output
    assert "2 > 1" in family
    assert "> 0" not in family
    assert "silent" not in family
    layer = " ".join(theory_verb(data, "layer").output.split())
    assert "silent on 2 of the sweep's 4 points: authors, mu.1 1.5; authors, mu.1 2." in layer
    assert "paper, mu.1 1.5" in layer


@pytest.mark.parametrize(
    ("constant", "value", "line"),
    [("K", "19.9", "D.2 asks for K >= 20"),
     *(pytest.param(*given, marks=pytest.mark.slow) for given in (
         ("P", "1.9", "D.4 asks for P >= 2"), ("C", "1", "D.5 asks for C > 1"),
         ("kappa", "1.1", "D.4 asks for kappa > 1.1"), ("kappa", "2.1", "D.4 asks for kappa <= 1 + K/(2C) = 2")))],
)  # fmt: skip
def test_the_verb_says_which_constants_no_run_can_meet(data: Path, constant: str, value: str, line: str) -> None:
    """A constant outside what App. D.1 asks for fails its assumption in every run, and the verb says so."""
    done = theory_verb(data, "family", f"--{constant}", value)
    assert f"{line}, and {constant} is {value}" in " ".join(done.output.split())
    assert "asks for" not in theory_verb(data, "family").output
    column = {"D.2": "d_2_small_step", "D.4": "d_4_small_start", "D.5": "d_5_gap_ascending"}[line[:3]]
    with Store.open(data) as store:
        (found,) = store.sql(f"select bool_or({column}) as met from assumptions where {constant} = {value}").rows()
    assert found.met is False


def test_the_verb_says_what_is_wrong(data: Path, tmp_path: Path) -> None:
    """Unknown sweeps, sweeps of which theory is silent, constants that are none: one line and exit code 2."""
    for arguments, message in (
        (["famly"], "did you mean 'family'"),
        (["deep"], "theory is silent"),
        (["family", "--kappa", "-1"], "--kappa"),
        (["family", "--C", "inf"], "--C"),
    ):
        done = theory_verb(data, *arguments)
        assert done.exit_code == 2
        assert message in done.output
    assert theory_verb(tmp_path / "none", "family").exit_code == 2


def test_both_detectors_join_in_one_export(data: Path, tmp_path: Path) -> None:
    """A row a cell with the columns of both, none of them twice."""
    out = tmp_path / "rows.csv"
    assert swingby("export", "family", "--data", data, "--out", out).exit_code == 0
    header, *rows = out.read_text().splitlines()
    names = header.split(",")
    assert len(set(names)) == len(names)
    assert {"t90", "predicted_t90"} <= set(names)
    assert len(rows) == 12
