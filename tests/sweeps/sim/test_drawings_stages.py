"""The drawings `stages`, `velocity` and `hypercube`: laws of what they compute, and that what is drawn is that."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.api import Sweep
from swingby.errors import SwingbyError
from swingby.store import Store
from swingby_analysis.page import Figure
from swingby_analysis.page.html import VEGA_LITE
from swingby_analysis.query import Query
from swingby_analysis.report.data import read
from swingby_sweeps.sim.detect import order
from swingby_sweeps.sim.detect.stages import leaves_cone, stages
from swingby_sweeps.sim.drawings import hypercube, jacobian, velocity
from swingby_sweeps.sim.drawings.hypercube import (
    Cube,
    Hypercube,
    HypercubeOptions,
    broken_shares,
    hypercube_chart,
    losses_of,
)
from swingby_sweeps.sim.drawings.jacobian import FLAT, first_step
from swingby_sweeps.sim.drawings.single import curves_of, kept_places, most_descents, usual_seed
from swingby_sweeps.sim.drawings.stages import Stages, StagesOptions
from swingby_sweeps.sim.drawings.subject import SQL, Subject
from swingby_sweeps.sim.drawings.velocity import Velocity

MANY = settings(max_examples=60, deadline=None)
FEW = settings(max_examples=8, deadline=None)
TIME = np.arange(400) / 20
SYMMETRIC = """
name: two-ways
title: A few seeds of the symmetric model, iterated and trained
description: The smallest sweep that the drawings of single runs can draw.
experiment: sim
preset: authors
base: {s: 3, d: 3, mu: [0.7, 1.7, 3.0], sigma: [0.05, 0.05, 0.05], gd_steps: 3000}
axes:
  zip:
    - {model: [w_recurrence, symmetric], drive: [gd, flow]}
seeds: {count: 5, mode: MODE}
record: {also: [jacobian, velocity]}
diagram: {x: model, outcome: outcome}
"""
HIERARCHY = """
name: cube
title: A few seeds of a small ReLU net
description: The smallest sweep that the hypercube can draw.
experiment: sim
preset: authors
base: {model: relu, s: 3, d: 6, width: 6, n: 200, epochs: 4}
axes: {lr: [0.1, 0.2]}
seeds: {count: 3}
record: {also: [hierarchy]}
diagram: {x: lr, outcome: order_violations}
"""


@st.composite
def blocks(draw: st.DrawFn) -> np.ndarray:
    """W(t), (T, s, s): smooth random paths from near 0, with diagonals that rise, stay or fall; not always learned."""
    T, s, seed = draw(st.integers(1, 60)), draw(st.integers(1, 5)), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    W = np.cumsum(rng.normal(0, 0.08, (T, s, s)), axis=0)
    W[:, range(s), range(s)] += np.linspace(0, rng.uniform(-0.5, 2.5, s), T)
    return W


def sigmoid(centre: float, rate: float = 2.0) -> np.ndarray:
    return 1 / (1 + np.exp(-rate * (TIME - centre)))


def two(first: float, second: float, bump: float = 0.0, at: float = 8.0) -> np.ndarray:
    """Two major entries that rise one after the other, and a minor one that comes and goes; (T, 2, 2)."""
    W = np.zeros((len(TIME), 2, 2))
    W[:, 0, 0], W[:, 1, 1] = sigmoid(first), sigmoid(second)
    W[:, 0, 1] = W[:, 1, 0] = bump * np.exp(-(((TIME - at) / 1.5) ** 2))
    return W


@MANY
@given(blocks())
def test_stages_are_in_order_and_cover_the_run(W: np.ndarray) -> None:
    """They start at the first record and end at the last, each where the next starts; none but an only one is empty."""
    found = stages(W)
    assert (found[0].start, found[-1].end) == (0, len(W) - 1)
    assert all(a.end == b.start for a, b in pairwise(found))
    assert len(W) == 1 or all(stage.start < stage.end for stage in found)
    assert [stage.kind for stage in found].count("terminal") <= 1
    assert all(stage.kind != "terminal" for stage in found[:-1])


@MANY
@given(blocks(), st.randoms(use_true_random=False))
def test_stages_do_not_hang_on_names_or_signs(W: np.ndarray, random: Any) -> None:
    """Concepts in another order, or turned about (w_ij -> -w_ij), go through the same stages."""
    s = W.shape[1]
    signs = np.array([random.choice([-1, 1]) for _ in range(s)])
    assert stages(W * signs * signs[:, None]) == stages(W)
    majors = np.diagonal(W, axis1=1, axis2=2)
    times = [int(np.argmax(major >= 0.5)) if (major >= 0.5).any() else None for major in majors.T]
    if len(set(times)) == s and None not in times:  # else equal arrivals are told apart by number
        shuffled = random.sample(range(s), s)
        assert stages(W[:, shuffled][:, :, shuffled]) == stages(W)


@MANY
@given(blocks())
def test_terminal_means_learned_to_the_end(W: np.ndarray) -> None:
    """Every major entry is at least 0.9 from its first record on, and was not all so just before."""
    learned = np.diagonal(W, axis1=1, axis2=2).min(axis=1) >= order.LEARNED
    for stage in stages(W):
        if stage.kind == "terminal":
            assert learned[stage.start :].all()
            assert stage.start == 0 or not learned[stage.start - 1]


def test_a_minor_entry_that_comes_and_goes_makes_a_suppression() -> None:
    """Two entries, one bump: growth to its top, suppression until the second entry makes its fall good, growth."""
    W = two(6, 14, bump=0.3)
    found = stages(W)
    assert [stage.name for stage in found] == ["initial growth", "first suppression", "second growth", "terminal"]
    minor, major = W[:, 0, 1], W[:, 1, 1]
    assert found[1].start == minor.argmax()
    assert abs(np.gradient(minor + major)[found[2].start]) < 1e-3
    assert major[found[2].start] < 0.5


def test_suppression_starts_no_sooner_than_the_major_entry_reaches_a_half() -> None:
    """A minor entry that is largest before that falls all along the stretch: its suppression starts at 1/2."""
    W = two(6, 14, bump=0.3, at=4)
    assert W[:, 0, 1].argmax() < stages(W)[1].start == int(np.argmax(W[:, 0, 0] >= 0.5))


def test_without_a_minor_entry_there_is_no_suppression() -> None:
    names = [stage.name for stage in stages(two(6, 14))]
    assert names == ["initial growth", "second growth", "terminal"]


def test_what_is_never_reached_is_no_stage() -> None:
    """A second entry that stays away leaves the run in its growth; no entry at all, in the first one."""
    assert [stage.name for stage in stages(two(6, 60, bump=0.3))][-1] == "first suppression"
    assert [stage.name for stage in stages(two(60, 70))] == ["initial growth"]


@MANY
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5))
def test_no_square_leaves_the_cone(seed: int, s: int, width: int) -> None:
    """U U^T never does, whatever its rank; taking a little from one eigenvalue does, from that record on."""
    U = np.random.default_rng(seed).normal(size=(20, s, width))
    W = U @ U.swapaxes(1, 2)
    assert leaves_cone(W, "float64") is None
    _, vectors = np.linalg.eigh(W)
    lowest = vectors[:, :, :1]
    values = np.linalg.eigvalsh(W)[:, :1, None]
    W[7:] -= ((values + 1e-6 * np.trace(W, axis1=1, axis2=2)[:, None, None]) * lowest @ lowest.swapaxes(1, 2))[7:]
    assert leaves_cone(W, "float64") == 7


@MANY
@given(st.lists(st.lists(st.floats(-1, 1), min_size=12, max_size=12), min_size=1, max_size=4))
def test_the_axis_starts_before_anything_moves(curves: list[list[float]]) -> None:
    """Up to that step every line is within FLAT of where it began, and it is 1, 2 or 5 times a power of ten."""
    steps = [0, *np.unique(np.geomspace(1, 5000, 11).astype(int)).tolist()]
    lines = [(str(n), step, v) for n, curve in enumerate(curves) for step, v in zip(steps, curve, strict=True)]
    start = first_step(lines)
    assert int(str(start)[0]) in (1, 2, 5)
    assert int(str(start)[1:] or 0) == 0
    if start > 1:
        assert all(abs(v - curves[int(name)][0]) <= FLAT for name, step, v in lines if step <= start)


@MANY
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=400, unique=True))
def test_few_records_are_kept_and_both_ends(steps: list[int]) -> None:
    step = np.array([0, *sorted(steps)])
    places = kept_places(step)
    assert places[0] == 0
    assert places[-1] == len(step) - 1
    assert places == sorted(set(places))
    assert len(places) <= 122


@pytest.mark.parametrize("concepts", [1, 2, 3, 4, 5])
def test_the_graph_is_the_cube(concepts: int) -> None:
    """s 2^(s-1) edges, each between nodes one bit apart and one column apart; no two nodes in one place."""
    found = hypercube.edges(concepts)
    assert len(set(found)) == len(found) == concepts * 2 ** (concepts - 1)
    assert all((u ^ v).bit_count() == 1 and u < v for u, v in found)
    at = hypercube.places(concepts)
    assert len(set(at)) == 2**concepts
    assert all(at[v][0] - at[u][0] == hypercube.APART for u, v in found)
    assert all(hypercube.index(v, concepts)[p] == str(v >> p & 1) for v in range(2**concepts) for p in range(concepts))


@FEW
@given(st.lists(st.floats(0, 2), min_size=8, max_size=8))
def test_broken_edges_are_those_of_the_rule(losses: list[float]) -> None:
    """The edges drawn as broken are those with l(u) > 1.02 l(v) + 0.001, and colours stop at 1."""
    rows = rows_of(hypercube_chart([Cube(["t"], losses)], 1).to_dict())
    at = {place: v for v, place in enumerate(hypercube.places(3))}
    drawn = {(at[r["x"], r["y"]], at[r["x2"], r["y2"]]) for r in rows if r["kind"] == "broken"}
    assert drawn == {(u, v) for u, v in hypercube.edges(3) if losses[u] > 1.02 * losses[v] + 1e-3}
    nodes = [row for row in rows if row["kind"] == "node"]
    assert [n["loss"] for n in nodes] == pytest.approx([min(loss, 1.0) for loss in losses], rel=1e-4)


def test_the_rule_of_the_edges_is_that_of_the_detector() -> None:
    """One violated pair among the edges is one pair in the detector's share."""
    losses = np.array([0.0, 1.0, 1.0, 0.5])
    broken = sum(hypercube.breaks(losses[u], losses[v]) for u, v in order.comparable_pairs(2))
    share = order.violations(losses[None, None], 2)[0][0, 0]
    assert broken == round(share * len(order.comparable_pairs(2))) == 2


def trained(text: str, data: Path) -> Subject:
    sweep = Sweep.parse(text, "sweep.yaml", confirm_above=None)
    Sweep.run(sweep, data, local=True, pilot=False)
    store = Store.open(data)
    return Subject(read(store, sweep.sweep_id), store)


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    return trained(SYMMETRIC.replace("MODE", "common"), tmp_path_factory.mktemp("ways"))


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    return trained(HIERARCHY, tmp_path_factory.mktemp("cube"))


def drawn(figure: Figure) -> list[dict[str, Any]]:
    """The rows of a figure, after it has gone through the renderer; all axes have titles, and so have all panels."""
    spec = json.loads(json.dumps(figure.spec, allow_nan=False))
    assert vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE).startswith("<svg")
    assert figure.title
    assert figure.caption
    assert figure.queries
    assert all(panel["title"]["text"] for panel in spec["concat"])
    axes = [axis for axis in found(spec["concat"], "axis") if axis is not None and axis.get("labels", True)]
    assert all(axis["title"] for axis in axes)
    return rows_of(spec)


def rows_of(spec: Any) -> list[dict[str, Any]]:
    """The table inside a chart."""
    return spec["datasets"][spec["data"]["name"]]


def found(node: Any, key: str) -> list[Any]:
    """Every value under that key, at any depth."""
    if isinstance(node, list):
        return [value for item in node for value in found(item, key)]
    if isinstance(node, dict):
        return [v for name, item in node.items() for v in ([item] if name == key else found(item, key))]
    return []


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, marks=pytest.mark.slow),
        {"training": True},
        pytest.param({"most_descents": True}, marks=pytest.mark.slow),
        pytest.param({"common_seed": True, "mark_step": 700}, marks=pytest.mark.slow),
    ],
)
def test_what_stages_draws_is_what_was_recorded(ways: Subject, options: dict[str, Any]) -> None:
    """Thick lines are the records of the run named above the panel; the ground is its stages; the seed is said."""
    (figure,) = Stages().figures(ways, StagesOptions(**options))
    rows = drawn(figure)
    titles = [panel["title"]["text"] for panel in figure.spec["concat"]]
    assert len(titles) == (4 if options.get("most_descents") else 2)
    for number, title in enumerate(titles):
        seed = int(title[1].split("seed ")[1].split(" ")[0].strip(":,"))
        point = ways.points[number // (len(titles) // 2)]
        run = ways.ask(Query("entry_runs", (ways.sweep_id, (point,), (seed,)), SQL)).row(0, named=True)
        step, W = curves_of(run)
        lines = [row for row in rows if row["panel"] == number and row["kind"] in ("major", "minor")]
        assert lines
        for row in lines:
            i, j = (int(digit) - 1 for digit in row["what"][2:])
            value = W[step.tolist().index(row["step"]), i, j]
            assert row["value"] == pytest.approx(min(max(value, -jacobian.FAR), jacobian.FAR), rel=1e-4)
            assert (row["kind"] == "major") == (i == j)
        ground = [row["text"] for row in rows if row["panel"] == number and row["kind"] == "stage"]
        assert ground == [stage.name for stage in stages(W)]
    curves = {row["what"] for row in rows if row["kind"] == "loss"}
    assert curves == {"OOD loss", *(["training loss"] if options.get("training") else [])}


def test_a_marked_step_counts_the_runs_that_wait_there(ways: Subject) -> None:
    """Each panel has a line at the step, and says how many seeds' smallest major entry is below 1/2 by then."""
    for step in (5, 700, 3000):
        (figure,) = Stages().figures(ways, StagesOptions(common_seed=True, mark_step=step))
        rows = drawn(figure) if step == 700 else rows_of(figure.spec)
        first = min(row["step"] for row in rows if row["kind"] == "major")
        marks = {(row["panel"], row["step"]) for row in rows if row["kind"] == "mark"}
        assert marks == ({(0, step), (1, step)} if step >= first else set())
        waits = {point: waiting(ways, point, step) for point in ways.points}
        for point, panel in zip(ways.points, figure.spec["concat"], strict=True):
            lines = " ".join(panel["title"]["text"])
            assert f"At step {step:,} (dash-dotted): {len(waits[point])} of 5 seeds" in lines
        shown = int(figure.spec["concat"][0]["title"]["text"][1].split("seed ")[1].split(":")[0])
        waited = {seed: sum(seed in found for found in waits.values()) for seed in ways.cells["seed"].unique()}
        assert waited[shown] == max(waited.values())


def waiting(subject: Subject, point: int, step: int) -> set[int]:
    """Seeds of a point with a major entry below 1/2 at the last record up to a step that they reached."""
    seeds = tuple(subject.runs(point)["seed"].to_list())
    asked = Query("entry_runs", (subject.sweep_id, (point,) * len(seeds), seeds), SQL)
    found = set[int]()
    for run in subject.ask(asked).iter_rows(named=True):
        steps, W = curves_of(run)
        if run["step"][-1] >= step and np.diagonal(W[steps <= step][-1]).min() < 0.5:
            found.add(run["seed"])
    return found


def test_most_descents_goes_by_the_fine_count_then_the_coarse_one(ways: Subject) -> None:
    """A run of four small drops is before one of three large ones; the panel says both, and how many have as many."""
    runs = ways.runs(ways.points[1]).with_columns(
        descents=pl.Series([3, 1, 2, 1, 1]), descents_fine=pl.Series([3, 4, 4, 1, 1])
    )
    (shown,) = most_descents(runs, 7)
    assert shown.seed == runs["seed"][2]
    assert shown.why[0].endswith("has the most descents by 0.1 % of L_ref: 4 (by 1 %: 2)")
    assert shown.why[1].startswith("2 of 5 seeds have as many")
    noisy = runs.with_columns(descents_fine=pl.lit(None, dtype=pl.Int64))
    (shown,) = most_descents(noisy, 7)
    assert shown.why[0].endswith("has the most descents: 3")
    assert shown.why[1].startswith("1 of 5 seeds has as many")


@pytest.mark.slow
def test_a_common_seed_is_one_seed_and_needs_common_seeds(ways: Subject, tmp_path: Path) -> None:
    """All panels show one seed, which does at the first point what most do there; independent ones are refused."""
    (figure,) = Stages().figures(ways, StagesOptions(common_seed=True))
    seeds = {panel["title"]["text"][1].split("seed ")[1].split(":")[0] for panel in figure.spec["concat"]}
    first = ways.runs(ways.points[0])
    assert seeds == {str(usual_seed(ways, first))}
    outcomes = first["outcome"].to_list()
    chosen = dict(zip(first["seed"].to_list(), outcomes, strict=True))[int(seeds.pop())]
    assert outcomes.count(chosen) == max(map(outcomes.count, outcomes))
    apart = trained(SYMMETRIC.replace("MODE", "independent"), tmp_path)
    with pytest.raises(SwingbyError, match="common"):
        Stages().figures(apart, StagesOptions(common_seed=True))


def test_velocities_drawn_add_up_to_the_slope(ways: Subject) -> None:
    """W' = G - S - N in every row, and over the flow it is the slope of the entry in the time of eq 4.3."""
    figures = Velocity().figures(ways, Velocity.Options())
    assert len(figures) == 2
    for figure in figures:
        rows = drawn(figure)
        assert re.search(r"median seed \d+$", figure.spec["title"]["text"])
        terms: dict[tuple[str, int], dict[str, float]] = {}
        for row in rows:
            if row["kind"] == "term":
                terms.setdefault((row["entry"], row["step"]), {})[row["term"]] = row["value"]
        scale = max(abs(value) for found in terms.values() for value in found.values())
        for entry in terms.values():
            *parts, total = (entry[name] for name in velocity.TERMS)
            assert total == pytest.approx(sum(parts), abs=1e-4 * scale)
        assert {entry for entry, _ in terms} == {"w_11", "w_22", "w_33", "w_12", "w_13", "w_23"}
    point, seed = ways.points[1], ways.median_seed(ways.points[1])
    run = ways.ask(Query("entry_runs", (ways.sweep_id, (point,), (seed,)), SQL)).row(0, named=True)
    split = ways.ask(Query("velocity", (ways.sweep_id, (point,), (seed,)), SQL)).row(0, named=True)
    step, W = curves_of(run)
    total = np.array(split["growth"]) - np.array(split["suppression"]) - np.array(split["noise"])
    slope = np.gradient(W.reshape(len(step), -1), 2 * split["time_per_step"] * step, axis=0)
    assert np.abs(slope - total)[1:-1].max() < 0.02 * np.abs(total).max()


def test_the_cube_shows_the_recorded_losses(cube: Subject) -> None:
    """Each panel's nodes are medians over the seeds at the record nearest to the epoch's end, or to the step."""
    epochs, steps = [1, 4], [0, 3]
    per_epoch = -(-3 * 200 // 128)
    over_epochs, over_steps = Hypercube().figures(cube, HypercubeOptions(epochs=epochs, steps=steps))
    assert over_epochs.slug != over_steps.slug
    shows_medians(cube, over_epochs, [per_epoch * epoch for epoch in epochs])
    shows_medians(cube, over_steps, steps)


def shows_medians(cube: Subject, figure: Figure, times: Sequence[int]) -> None:
    """The figure's panels are, point by point, the medians at the records nearest to these steps."""
    rows = drawn(figure)
    panel = 0
    for point in cube.points:
        for time in times:
            runs = cube.store.sql(
                "select step, hierarchy_loss from members join sim using (cell_id) where sweep_id = $1 and point = $2",
                [cube.sweep_id, point],
            ).polars()
            losses = []
            for step, loss in runs.iter_rows():
                nearest = min(range(len(step)), key=lambda k: abs(step[k] - time))
                losses.append(loss[nearest])
            wanted = np.minimum(np.median(np.array(losses), axis=0), 1)
            nodes = [row["loss"] for row in rows if row["panel"] == panel and row["kind"] == "node"]
            assert nodes == pytest.approx(wanted.tolist(), rel=1e-4)
            panel += 1
    assert panel == len(figure.spec["concat"])


def test_a_panel_without_losses_says_so_and_no_share() -> None:
    """Below the slack of B.2 nothing can break it; one loss of one seed above it is enough for shares."""
    small = np.full((4, 8), 0.9e-3)
    (line,) = broken_shares(small, 3)
    assert line.startswith("all losses below 0.001")
    small[2, 5] = 1.1e-3
    assert [share.split(" ")[0] for share in broken_shares(small, 3)] == ["B.2", "without"]


def test_a_run_that_diverged_counts_as_infinite(cube: Subject) -> None:
    ones = (1,) * len(cube.points)
    table = cube.ask(Query("hypercube", (cube.sweep_id, tuple(cube.points), ones, ones), SQL))
    gone = table.with_columns(loss=None)
    assert np.isinf(losses_of(gone, 3)).all()
    assert np.isfinite(losses_of(table, 3)).all()
