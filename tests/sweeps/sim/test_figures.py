"""Laws of the named sweeps: figures under both presets, shared cells trained once, axes that are what they claim."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from swingby.model.cell import Point
from swingby.sweepfile.sweep import Sweep, named_sweeps
from swingby_sweeps.sim import task
from swingby_sweeps.sim.assumptions import Constants, assumptions
from swingby_sweeps.sim.init import Start
from swingby_sweeps.sim.params import SimParams

FIGURES = ["2a", "2b", "2c", "3", "5", *map(str, range(7, 19))]
CONVENTIONS = ("reduction", "bias", "zero_cluster", "sigma_is", "shuffle")
loaded = cache(Sweep.load)


def figure(name: str) -> Sweep:
    return loaded(f"figure-{name}")


def params(sweep: Sweep) -> list[SimParams]:
    return [point.params for point in sweep.points if isinstance(point.params, SimParams)]


def cells(sweep: Sweep) -> set[str]:
    return {cell.cell_id for cell in sweep.cells()}


@cache
def cells_of(name: str) -> set[str]:
    """The ids of the cells of a named sweep."""
    return cells(loaded(name))


def under(sweep: Sweep, preset: str) -> list[SimParams]:
    return [p for p, own in zip(params(sweep), sweep.presets, strict=True) if own == preset]


def differing(a: SimParams, b: SimParams) -> set[str]:
    return {name for name in type(a).model_fields if getattr(a, name) != getattr(b, name)}


def test_every_figure_has_its_sweep() -> None:
    """A sweep for each figure of the paper that shows the SIM task, and none for another."""
    named = {name for name in named_sweeps() if name.startswith("figure-")}
    assert {name for name in named if loaded(name).experiment_name == "sim"} == {f"figure-{n}" for n in FIGURES}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_under_both_presets_from_many_seeds(name: str) -> None:
    """Each figure has as many points under one preset as under the other, at least 20 seeds, and drawings."""
    sweep = figure(name)
    assert set(sweep.presets) == {"paper", "authors"}
    assert len(under(sweep, "paper")) == len(under(sweep, "authors"))
    assert len(sweep.seeds) >= 20
    assert sweep.drawings
    assert (sweep.title or "").startswith(f"Figure {name}: ")
    assert sweep.description


@pytest.mark.parametrize(("part", "whole"), [("2c", "3"), ("5", "17"), ("17", "18"), ("13", "14"), ("2c", "15")])
def test_figures_of_the_same_runs_share_them(part: str, whole: str) -> None:
    """Where figures show the same runs, the cells have the same ids, seeds and recordings: they are trained once."""
    ids, all_ids = (cells_of(f"figure-{name}") for name in (part, whole))
    assert ids <= all_ids
    assert figure(part).recording == figure(whole).recording
    if whole != "3":
        assert ids == all_ids


def test_figure_16_is_15_truncated() -> None:
    """16 differs from 15 in `truncate` alone, point by point."""
    pairs = zip(params(figure("15")), params(figure("16")), strict=True)
    assert all(differing(a, b) == {"truncate"} for a, b in pairs)


@pytest.mark.parametrize("name", ["2a", "2b", "11", "12"])
@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_the_order_of_a_reverses_within_the_axis(name: str, preset: str) -> None:
    """Along mu and along sigma a_1 - a_2 goes from below 0 to above, under either reading of sigma and either C."""
    points = under(figure(name), preset)
    along_mu = [p for p in points if p.sigma == (0.05, 0.05)]
    along_sigma = [p for p in points if p.mu == (1.0, 2.0)]
    for line in (along_mu, along_sigma):
        if len(line) > 1:
            gap = np.array([np.subtract(*task.signal(p)) for p in line])
            assert (np.diff(gap) > 0).all()
            assert gap[0] < 0 < gap[-1]
    assert max(len(along_mu), len(along_sigma)) == 5


def test_figures_11_and_12_repeat_2a_and_2b() -> None:
    """Point by point the data are those of 2a and 2b, each once, and 12 is 11 with ReLU."""
    data = ("mu", "sigma", "sigma_is", "zero_cluster", "d", "n")
    for preset in ("paper", "authors"):
        single = [*under(figure("2a"), preset), *under(figure("2b"), preset)]
        wanted = {tuple(getattr(p, name) for name in data) for p in single}
        deep = [tuple(getattr(p, name) for name in data) for p in under(figure("11"), preset)]
        assert len(deep) == len(set(deep)) == len(single) - 1
        assert set(deep) == wanted
    pairs = zip(params(figure("11")), params(figure("12")), strict=True)
    assert all(differing(a, b) == {"model"} for a, b in pairs)


def test_figure_7_is_recorded_at_the_ends_of_its_epochs() -> None:
    """The recorded steps hold the ends of epochs 1, 3 and 5, at every point."""
    sweep = figure("7")
    for p in params(sweep):
        ends = [epoch * p.steps_per_epoch for epoch in (1, 3, 5)]
        assert set(ends) <= set(sweep.recording.at(p.total_steps).tolist())


def test_figure_10_follows_one_start_in_three_ways() -> None:
    """Per preset the three ways differ in how they are driven, and start from the same W(0), bit for bit."""
    for preset in ("paper", "authors"):
        ways = under(figure("10"), preset)
        assert [(p.model, p.drive) for p in ways] == [
            ("w_recurrence", "gd"),
            ("symmetric", "gd"),
            ("symmetric", "flow"),
        ]
        assert all(differing(ways[0], p) <= {"model", "drive", "dtype"} for p in ways)
    points = figure("10").points
    for three in (points[:3], points[3:]):
        first, *rest = (Start.of(point.cell(5)).layers[0][0] for point in three)
        assert all(np.array_equal(first, other) for other in rest)


def test_a_claims_dimension_and_width_vary_at_one_effective_learning_rate() -> None:
    """Every point takes equal time of the flow of L in one step; all widths meet all dimensions under both presets."""
    sweep = loaded("claim-dimension-width")
    assert {p.time_per_step for p in params(sweep)} == {0.01}
    for preset in ("paper", "authors"):
        points = under(sweep, preset)
        assert {(p.d, p.width) for p in points} == {(d, w) for d in (2, 4, 8, 16, 64) for w in (2, 4, 8, 16, 64)}


def test_conventions_are_exchanged_one_at_a_time() -> None:
    """Within a setting each point differs from the first in one convention, every one of them once, or in all."""
    points = params(loaded("claim-conventions"))
    for start in range(0, len(points), 7):
        first, *others = points[start : start + 7]
        # gd_steps follows from the number of points, and says nothing under SGD.
        toggled: list[Any] = [differing(first, p) - {"gd_steps"} for p in others]
        assert toggled == [*({name} for name in CONVENTIONS), {*CONVENTIONS} - {"shuffle"}]


def test_what_truncation_discards() -> None:
    """At Fig 15's settings next to no seed has a point to discard; at those of the claim every seed has."""

    def discarded(points: Sequence[Point]) -> list[int]:
        drawn = [(point.cell(seed), point.params) for point in points for seed in range(10)]
        return [int((~task.far_enough(p, task.draw_points(c))).sum()) for c, p in drawn if isinstance(p, SimParams)]

    assert sum(discarded(figure("15").points)) <= 2
    claim = loaded("claim-truncation").points
    whole, cut = claim[0::2], claim[1::2]
    assert min(discarded(whole)) > 0
    assert max(discarded(cut)) == 0


def test_claims_that_record_otherwise_share_no_cell_with_a_figure() -> None:
    """A cell stands with one recording: one recorded at other steps must not be one of a figure."""
    for name in named_sweeps():
        if name.startswith("claim-"):
            for other in (f"figure-{number}" for number in FIGURES):
                same = loaded(name).recording.tokens[0] == loaded(other).recording.tokens[0]
                assert same or not cells_of(name) & cells_of(other)


def test_initial_weights_have_one_tau() -> None:
    """tau = init_gain / sqrt(d') is 0.1 at every width."""
    taus = [p.init_gain / np.sqrt(p.width) for p in params(loaded("claim-initial-weights"))]
    np.testing.assert_allclose(taus, 0.1, rtol=1e-15)


def test_the_bounds_are_asked_for_where_app_ds_assumptions_hold_and_where_not() -> None:
    """With the constants that its description names they all hold for most seeds at its first point, else for none."""
    sweep = loaded("claim-bounds")
    constants = Constants(K=20, C=1.5, P=float(np.exp(219)), kappa=1.11)
    shares = []
    for point in sweep.points:
        starts = [Start.of(point.cell(seed)) for seed in sweep.seeds]
        W = [start.parameters[0] @ start.parameters[0].T for start in starts]
        p = starts[0].params
        shares.append(np.mean([assumptions(W0, task.signal(p), constants, p.lr).all_ascending for W0 in W]))
    assert shares[0] > 0.5
    assert shares[1:] == [0.0] * 4
