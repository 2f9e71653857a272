"""Laws of the columns of the detector `theory`: they meet experiment where they should, in any units and company."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings

from swingby.model.cell import Cell
from swingby.model.columns import parameter_schema
from swingby.model.experiment import Batch, Recording
from swingby_sweeps.sim import theory
from swingby_sweeps.sim.detect import arrivals
from swingby_sweeps.sim.detect.descents import Descents
from swingby_sweeps.sim.detect.theory import Theory
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.params import SimParams
from tests.support.profiles import examples

Array = np.ndarray
Values = dict[str, Any]


def trained(cells: list[Cell], **recording: Any) -> pa.Table:
    """Cells of one shape, trained, with what a detector reads of them."""
    (table,) = Sim().run(Batch(tuple(cells), Recording(also=("jacobian",), **recording)))
    for field in parameter_schema(SimParams):
        table = table.append_column(field, pa.array([getattr(cell.params, field.name) for cell in cells], field.type))
    table = table.append_column("seed", pa.array([cell.seed for cell in cells], pa.int64()))
    table = table.append_column("seed_mode", pa.array([cell.point.seeds for cell in cells]))
    return table.append_column("steps", table["to_step"])


def said(table: pa.Table) -> list[Values]:
    return Theory().detect(table).to_pylist()


def family(seed: int, a: Array, **values: Any) -> Cell:
    """The symmetric model at signal strengths a (sigma = 0), from a normal start."""
    s = len(a)
    rest: Values = {"model": "symmetric", "d": s, "width": s + 1, "mu": tuple(np.sqrt(s * a).tolist())}
    return Sim.point(**{**rest, "sigma": (0.0,) * s, "init": "normal", **values}).cell(seed)


layers = st.fixed_dictionaries(
    {
        "mu": st.lists(st.floats(0.5, 3.0), min_size=1, max_size=3).map(tuple),
        "sigma_is": st.sampled_from(["sd", "variance"]),
        "zero_cluster": st.booleans(),
        "reduction": st.sampled_from(["half_sum", "mean", "quarter_sum"]),
        "rotate": st.booleans(),
        "d": st.integers(3, 6),
        "lr": st.floats(0.01, 0.5),
    }
)


@settings(max_examples=examples(25, 10), deadline=None)
@given(layers, st.integers(0, 1000))
def test_the_closed_form_arrives_when_predicted(values: Values, seed: int) -> None:
    """Theorem 4.1's own trajectory, at any conventions, arrives at the predicted steps to a thousandth."""
    s = len(values["mu"])
    point = Sim.point(model="one_layer", drive="closed_form", moments="population", sigma=(0.1,) * s, **values)
    p = point.params
    assert isinstance(p, SimParams)
    slowest = 0.01 + min(values["mu"]) ** 2 / p.clusters
    p = p.model_copy(update={"gd_steps": int(12 / (slowest * p.time_per_step)) + 20})
    cell = Sim.point(**p.model_dump()).cell(seed)
    table = trained([cell], points=2000)
    (row,) = said(table)
    # Between records log(1 - r) is bent by the noise of the start: a record's own interval bounds what that does.
    steps = np.array(table["step"].to_pylist()[0])
    for predicted, measured in zip(row["predicted_t90"], row["measured_t90"], strict=True):
        record = int(np.searchsorted(steps, measured))
        interval = steps[min(record, len(steps) - 1)] - steps[max(record - 1, 0)]
        assert measured == pytest.approx(predicted, rel=1e-3, abs=float(interval))
    assert row["predicted_terminal"] == pytest.approx(row["a_p"])


strengths = st.lists(st.floats(1.4, 2.0), min_size=2, max_size=3).flatmap(
    lambda factors: st.permutations((0.4 * np.cumprod(factors)).tolist()).map(np.array)
)


@settings(max_examples=examples(12, 8), deadline=None)
@given(strengths, st.integers(0, 10_000), st.sampled_from(["flow", "gd"]))
def test_from_a_small_start_every_concept_arrives_in_order_and_within_a_tenth(a: Array, seed: int, drive: str) -> None:
    """At W(0) of order 1e-6, a_p a factor of 1.4 apart or more, by flow and by descent in steps of 2 a eta < 0.05."""
    end = 1.3 * (np.log(1e6) + 8) / (2 * a.min())
    lr = 0.02 / a.max()
    cell = family(seed, a, drive=drive, init_gain=1e-3, lr=float(lr), gd_steps=int(end / lr), dtype="float64")
    (row,) = said(trained([cell], points=400))
    assert row["times_within_tenth"] == 1
    assert row["predicted_order_right"]
    assert row["predicted_order"] == np.argsort(-a).tolist()
    assert row["least_training_loss"] == 0


@settings(max_examples=examples(20, 10), deadline=None)
@given(st.lists(st.floats(0.2, 2.0), min_size=2, max_size=4).map(np.array), st.data())
def test_too_low_a_rank_is_predicted_and_measured(a: Array, data: st.DataObject) -> None:
    """With width r < s, s - r concepts are predicted never to arrive, and L stays above what the column says."""
    rank = data.draw(st.integers(1, len(a) - 1))
    cell = family(data.draw(st.integers(0, 1000)), a, width=rank, init_gain=0.1, lr=0.02, gd_steps=2000)
    table = trained([cell])
    (row,), (outcome,) = said(table), Descents().detect(table).to_pylist()
    assert not row["rank_enough"]
    assert not row["width_enough"]
    assert sum(np.isinf(row["predicted_t90"])) == len(a) - rank
    assert outcome["outcome"] == "structural"
    assert table["final_train_loss"][0].as_py() >= row["least_training_loss"] * (1 - 1e-9) > 0


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(0.25, 4.0), st.sampled_from(["half_sum", "mean", "quarter_sum"]))
def test_predictions_are_in_the_steps_of_the_run(seed: int, factor: float, reduction: str) -> None:
    """Steps twice as long, by lr or by the reduction, halve every predicted time and change no rate, order or a_p."""
    a = np.array([0.5, 1.2])
    one, other = (
        family(seed, a, lr=0.01 * f, reduction=kind, gd_steps=2)
        for f, kind in ((1.0, "quarter_sum"), (factor, reduction))
    )
    (x,), (y,) = (said(trained([cell])) for cell in (one, other))
    steps = [cell.params.time_per_step for cell in (one, other)]
    for name in ("predicted_t90", "predicted_alone", "predicted_delay"):
        np.testing.assert_allclose(np.array(x[name]) * steps[0], np.array(y[name]) * steps[1], rtol=1e-9, atol=1e-12)
    for name in ("a_p", "predicted_order", "predicted_terminal", "predicted_minor", "d_4_small_start", "omega"):
        assert x[name] == y[name]


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), st.integers(0, 10_000), st.floats(1e-6, 0.1))
@example(4, 133, 0.09375)
def test_relabelling_concepts_relabels_predictions(s: int, seed: int, omega: float) -> None:
    """A permutation of the concepts permutes times and order, whatever the start, be several entries there already."""
    random = np.random.default_rng(seed)
    a, U = random.uniform(0.2, 3.0, s), np.sqrt(omega) * random.standard_normal((s, s + 1))
    new = random.permutation(s)
    one, other = (arrivals.symmetric((U @ U.T)[np.ix_(to, to)], a[to], 0.01) for to in (np.arange(s), new))
    np.testing.assert_allclose(other.times, one.times[new], rtol=1e-6)
    # Those that are there at the start have no order among themselves.
    assert [one.times[new[k]] for k in other.order] == [one.times[k] for k in one.order]
    later = [k for k in one.order if one.times[k] > 0]
    assert [int(new[k]) for k in other.order if one.times[new[k]] > 0] == later
    assert np.all(one.delay >= -1e-9)
    np.testing.assert_allclose(one.alone, theory.time_to_reach(np.diag(U @ U.T), a) / 0.02)
