"""Twins without sampling noise: what trains them, what they leave alone, and what the detector says of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Recording
from swingby_sweeps.sim import task
from swingby_sweeps.sim.detect.descents import Descents
from swingby_sweeps.sim.engine import TWIN_RTOL
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.init import Start

Row = dict[str, Any]
CURVES = ("ood_loss", "train_loss", "output")
TWINS = Recording(points=20, also=("twin_gd", "twin_flow"))
BASE: Row = {
    "d": 3, "s": 2, "mu": (1.0, 2.0), "sigma": (0.05, 0.05), "n": 64, "epochs": 3, "batch_size": 16, "width": 4,
    "drive": "sgd", "lr": 0.05,
}  # fmt: skip
KINDS: dict[str, Row] = {
    "two layers": {"layers": 2},
    "four layers with bias": {"layers": 4, "bias": True, "zero_cluster": True, "shuffle": "every_epoch"},
    "one layer": {"model": "one_layer"},
    "one layer with bias": {"model": "linear", "layers": 1, "bias": True},
    "symmetric": {"model": "symmetric", "init": "normal", "init_gain": 0.5, "rotate": False, "gd_steps": 24},
}
ROUNDING = 3e-5
"""Of curves in float32, over their largest value."""


def cell(seed: int = 3, **values: Any) -> Cell:
    """A tiny cell; equal seeds have equal draws, whatever their parameters."""
    return Sim.point(**{**BASE, **values}).cell(seed)


def rows(cells: Sequence[Cell], recording: Recording = TWINS) -> list[Row]:
    """The rows of one batch."""
    (table,) = Sim().run(Batch(tuple(cells), recording))
    return table.to_pylist()


def assert_near(a: Row, b: Row, left: str, right: str, tolerance: float) -> None:
    """The curves of `a` whose names begin with `left` are those of `b` that begin with `right`."""
    for name in CURVES:
        x, y = np.array(a[left + name]), np.array(b[right + name])
        assert x.shape == y.shape, name
        assert np.abs(x - y).max() <= tolerance * np.abs(y).max(), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_twin_is_the_run_of_its_drive(kind: str) -> None:
    """From the same start on the same training set, a cell driven by gd or by the flow has the curves of the twin.

    The seed mode `common` gives cells that differ in their drive equal draws.
    """
    values = KINDS[kind]
    run, still = cell(**values), {**values, "moments": "sample"}
    descent, flow = cell(**still, drive="gd"), cell(**still, drive="flow", dtype="float64")
    for other in (descent, flow):
        assert np.array_equal(task.draw_points(run), task.draw_points(other))
        for a, b in zip(Start.of(run).parameters, Start.of(other).parameters, strict=True):
            assert np.array_equal(a, b)
    (own,), (by_gd,), (by_flow,) = rows([run]), rows([descent]), rows([flow])
    assert_near(own, by_gd, "twin_gd_", "", ROUNDING)
    assert_near(own, by_flow, "twin_flow_", "", 100 * TWIN_RTOL)
    assert_near(by_gd, by_flow, "twin_flow_", "", 100 * TWIN_RTOL)
    assert own["twin_gd_ood_loss"][0] == pytest.approx(own["ood_loss"][0], rel=ROUNDING)
    assert own["twin_gd_ood_loss"][-1] != own["ood_loss"][-1]
    for name in CURVES:
        assert by_gd[f"twin_gd_{name}"] is None
        assert by_flow[f"twin_gd_{name}"] is None
        assert by_flow[f"twin_flow_{name}"] is None


def test_a_twin_starts_from_explicit_weights() -> None:
    """Weights that the parameters give are the start of the twin as well."""
    first = cell(layers=2, rotate=False)
    weights = [tuple(row.tolist()) for weight, _ in Start.of(first).layers for row in weight]
    given = {"layers": 2, "rotate": False, "init": "explicit", "init_weights": tuple(weights)}
    run, descent = cell(**given), cell(**given, drive="gd", moments="sample")
    (own,), (by_gd,), (drawn,) = rows([run]), rows([descent]), rows([first])
    assert_near(own, by_gd, "twin_gd_", "", ROUNDING)
    assert_near(own, drawn, "twin_gd_", "twin_gd_", ROUNDING)


@pytest.mark.parametrize("kind", ["four layers with bias", "symmetric"])
def test_twins_do_not_know_their_company(kind: str) -> None:
    """Eight cells in one batch have the twins that each has alone."""
    cells = [cell(seed, **KINDS[kind], mu=(1.0, 1.0 + 0.2 * seed), lr=0.02 + 0.01 * seed) for seed in range(8)]
    for item, together in zip(cells, rows(cells), strict=True):
        (alone,) = rows([item])
        assert_near(alone, together, "twin_gd_", "twin_gd_", ROUNDING)
        assert_near(alone, together, "twin_flow_", "twin_flow_", 100 * TWIN_RTOL)


@pytest.mark.parametrize("kind", ["two layers", "symmetric"])
def test_recording_twins_leaves_the_run_as_it_is(kind: str) -> None:
    """Every column of the run is equal, to the last bit, with and without its twins."""
    run = cell(**KINDS[kind])
    (with_twins,), (without,) = rows([run]), rows([run], Recording(points=20))
    assert not [name for name in without if name.startswith("twin")]
    for name in without.keys() - {"seconds"}:
        assert repr(with_twins[name]) == repr(without[name]), name


def test_which_runs_have_no_twins() -> None:
    """ReLU nets and the recurrence on W have neither; nothing is recorded of a twin that was not asked for."""
    none = [
        cell(model="relu", layers=2),
        cell(model="w_recurrence", drive="gd", init="normal", gd_steps=20, rotate=False),
        cell(model="one_layer", drive="closed_form", dtype="float64", gd_steps=20),
    ]
    for item in none:
        (row,) = rows([item])
        assert all(row[f"{twin}_{name}"] is None for twin in TWINS.also for name in CURVES)
    (row,) = rows([cell(layers=2)], Recording(points=20, also=("twin_gd",)))
    assert row["twin_gd_output"] is not None
    assert "twin_flow_output" not in row


def test_a_twin_that_diverges_is_shorter() -> None:
    """At steps too long for descent some twins diverge before their run does: their finite records are kept, the run is
    as it would be alone, and the detector reads both."""
    cells = [cell(seed, layers=2, lr=0.85, mu=(1.0, 1.6 + 0.02 * (seed % 8)), epochs=9) for seed in range(48)]
    (table,) = Sim().run(Batch(tuple(cells), TWINS))
    found = table.to_pylist()
    lengths = [(len(row["step"]), len(row["twin_gd_ood_loss"]), len(row["twin_flow_ood_loss"])) for row in found]
    assert any(twin < run for run, twin, _ in lengths)
    for row, (run, twin, flow) in zip(found, lengths, strict=True):
        assert twin <= run
        assert flow == run
        assert np.isfinite(row["twin_gd_ood_loss"]).all()
        assert len(row["twin_gd_output"]) == len(row["twin_gd_train_loss"]) == twin
    values = [item.params.model_dump() for item in cells]
    for name in ("model", "drive", "layers", "mu", "sigma", "sigma_is", "zero_cluster", "bias", "dtype"):
        table = table.append_column(name, pa.array([list(v) if isinstance(v := p[name], tuple) else v for p in values]))
    outcomes = Descents().detect(table).to_pylist()
    assert [row["twin_gd_non_monotone"] is None for row in outcomes] == [not twin for _, twin, _ in lengths]


# what the detector says of twins: made-up curves whose truth is known

LIST, ROWS = pa.list_(pa.float64()), pa.list_(pa.list_(pa.float64()))
TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(("mu", "sigma", "a"), LIST), "step": pa.list_(pa.int64()),
    **dict.fromkeys(("status", "model", "drive", "sigma_is", "dtype"), pa.string()),
    **dict.fromkeys(("zero_cluster", "bias"), pa.bool_()),
    **{f"{of}{name}": ROWS if name == "output" else LIST for of in ("", "twin_gd_", "twin_flow_") for name in CURVES},
    "jacobian": ROWS, "hierarchy_loss": ROWS,
}  # fmt: skip
MU = (1.0, 2.0)


def path(*corners: tuple[float, float], records: Sequence[int] = (40, 40, 40)) -> np.ndarray:
    """Outputs along straight lines through the corners, so many records a line."""
    lines = [np.linspace(a, b, count, endpoint=False) for (a, b), count in zip(pairwise(corners), records, strict=True)]
    return np.concatenate([*lines, np.array([corners[-1]])])


CORNERS = (0.0, 0.0), (0.7, 1.6), (0.1, 2.0), MU
SWING = path(*CORNERS)
"""Toward the answer (1, 2), back toward the cluster at (0, 2), to the answer: the loss rises by 11 % of L_ref."""
STRAIGHT = path((0.0, 0.0), (0.4, 0.8), (0.7, 1.4), MU)


def curves(output: np.ndarray, train: np.ndarray | None = None, prefix: str = "") -> Row:
    """The curves of a run or of a twin with this output, (T, s); its training loss falls evenly unless it is given."""
    loss = 0.5 * ((output - np.array(MU)) ** 2).sum(axis=1)
    falling = 0.1 * np.linspace(1, 0, len(output)) if train is None else train
    named = {"ood_loss": loss.tolist(), "train_loss": falling.tolist(), "output": output.tolist()}
    return {f"{prefix}{name}": values for name, values in named.items()}


def judged(twin: np.ndarray, own: np.ndarray = SWING, train: np.ndarray | None = None, **other: Any) -> Row:
    """The outcomes of a run by SGD with the output `own`, whose twin by full-batch descent has the output `twin`."""
    row: Row = {
        "cell_id": "0" * 32, "status": "ok", "model": "linear", "drive": "sgd", "layers": 3.0, "mu": list(MU),
        "sigma": [0.05, 0.05], "sigma_is": "sd", "zero_cluster": False, "bias": False, "dtype": "float32",
        "a": [0.5, 2.0], "time_per_step": 0.01, "narrowest": 4.0, "step": list(range(len(own))),
        **curves(own), **curves(twin, train, "twin_gd_"), **other,
    }  # fmt: skip
    detector = Descents()
    columns = {name: pa.array([row.get(name)], TYPES.get(name, pa.float64())) for name in detector.needs}
    (found,) = detector.detect(pa.table({"cell_id": pa.array([row["cell_id"]]), **columns})).to_pylist()
    return found


def test_a_bump_of_a_twin_is_found_or_not() -> None:
    """`found_of_twin` is true or false where the twin shows transient memorization, and null where it does not."""
    found = judged(SWING)
    assert found["twin_gd_transient_memorization"]
    assert found["twin_gd_bump_height"] == pytest.approx((0.405 - 0.125) / 2.5)
    assert found["twin_gd_descents_fine"] == 2
    assert found["twin_gd_retreat"]
    assert found["found_of_twin"] is True
    assert judged(SWING, STRAIGHT)["found_of_twin"] is False
    straight = judged(STRAIGHT)
    assert straight["twin_gd_transient_memorization"] is False
    assert straight["twin_gd_bump_height"] == 0
    assert straight["non_monotone"]
    assert straight["found_of_twin"] is None
    nothing: Row = dict.fromkeys((f"twin_gd_{name}" for name in CURVES), None)
    without = judged(SWING, SWING, None, **nothing)
    assert without["twin_gd_transient_memorization"] is None
    assert without["found_of_twin"] is None


def test_a_twin_shorter_than_its_run_is_judged_to_its_last_record() -> None:
    """Of a twin that ends at its peak one descent is known; one that ends in the second descent has its bump."""
    assert not judged(SWING[:81])["twin_gd_non_monotone"]
    assert judged(SWING[:110])["twin_gd_transient_memorization"]


@pytest.mark.parametrize("other", [{"layers": 1.0}, {"model": "one_layer", "layers": 1.0}])
def test_one_layer_never_shows_transient_memorization(other: Row) -> None:
    """A rise of one layer, or of its twins, comes of a bias, the start or the step."""
    found = judged(SWING, **other, **curves(SWING, prefix="twin_flow_"))
    assert found["twin_gd_non_monotone"]
    for outcome in ("transient_memorization", "twin_gd_transient_memorization", "twin_flow_transient_memorization"):
        assert found[outcome] is False
    assert found["found_of_twin"] is None


def test_a_rise_of_a_few_steps_is_none() -> None:
    """A rise has to last five steps of descent, however many records; the marks of a flow are no steps."""
    for steps, lasts in ((4, False), (5, True)):
        twin = path(*CORNERS, records=(60, steps, 60 - steps))
        found = judged(twin, SWING, **curves(twin, prefix="twin_flow_"))
        assert found["twin_gd_non_monotone"]
        assert found["twin_gd_transient_memorization"] is lasts
        assert found["twin_flow_transient_memorization"] is True


def test_a_training_loss_that_rises_within_the_rise_makes_it_none() -> None:
    """It counts anywhere between trough and peak, though the training loss is lower at the peak than at the trough."""
    train = 0.5 * np.linspace(1, 0, len(SWING))
    assert judged(SWING, train=train)["twin_gd_transient_memorization"]
    for place, shown in ((60, False), (20, True), (100, True)):
        hump = train + 0.15 * np.exp(-(((np.arange(len(SWING)) - place) / 4) ** 2))
        assert hump[80] < hump[40]
        assert judged(SWING, train=hump)["twin_gd_transient_memorization"] is shown, place


def test_too_long_a_step_needs_the_flow() -> None:
    """From a step times L a_max of 2 on a rise counts only where the twin by gradient flow is non-monotone, too."""
    a_max, layers = 2.0, 3
    short, long = (factor * 2 / (layers * a_max) for factor in (0.99, 1.01))
    swings, falls = (curves(output, prefix="twin_flow_") for output in (SWING, STRAIGHT))
    for step, flow, shown in ((short, {}, True), (short, falls, True), (long, {}, False), (long, falls, False)):
        assert judged(SWING, time_per_step=step, **flow)["twin_gd_transient_memorization"] is shown
    found = judged(SWING, time_per_step=long, **swings)
    assert found["twin_gd_transient_memorization"]
    assert found["transient_memorization"]
    family = {"model": "symmetric", "layers": 2.0}
    for factor, shown in ((0.99, True), (1.01, False)):
        found = judged(SWING, **family, time_per_step=factor * 2 / (4 * a_max))
        assert found["twin_gd_transient_memorization"] is shown
