"""Drawings of paths and losses: bands hold what they say, marks keep equal times, a run that leaves breaks nothing."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import vl_convert
from hypothesis import example, given, settings
from hypothesis import strategies as st

from swingby.api import Sweep
from swingby.errors import SwingbyError
from swingby.run.outcomes import derive
from swingby.store import Store
from swingby_analysis.charts import plane_rows
from swingby_analysis.charts.paths import (
    GAP,
    NEAR,
    Floats,
    Runs,
    by_depth,
    central,
    corners,
    distances,
    region,
    runs_of,
)
from swingby_analysis.charts.plane_rows import Name
from swingby_analysis.charts.planes import Corner, Mark
from swingby_analysis.charts.style import plasma_colours
from swingby_analysis.charts.trajectories import Place, moves_until
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.data import read
from swingby_analysis.report.selection import along, names_of
from swingby_sweeps.sim.drawings.centre_trajectories import CentreTrajectories
from swingby_sweeps.sim.drawings.loss_curves import PHRASES, LossCurves, thin_seeds
from swingby_sweeps.sim.drawings.panels import MEDIAN_SEED
from swingby_sweeps.sim.drawings.subject import Subject
from swingby_sweeps.sim.drawings.training_points import FIRST, SAMPLE, TrainingPoints
from swingby_sweeps.sim.drawings.training_points import NEAR as NEAREST_POINTS
from swingby_sweeps.sim.drawings.trajectories import Trajectories, point_rows
from tests.support import synthetic_sim

FEW = settings(max_examples=20, deadline=None)
DRAWN = {
    "trajectories": (Trajectories(), {}),
    "along": (Trajectories(), {"along": "mu"}),
    "losses": (LossCurves(), {}),
    "points": (TrainingPoints(), {}),
    "centres": (CentreTrajectories(), {}),
}
SWEEP = """
name: paths
title: Paths
experiment: sim
base: {model: linear, drive: sgd, d: 3, s: 2, layers: 2, width: 3, n: 60, epochs: 30, sigma: [0.05, 0.05]}
axes:
  zip:
    - preset: [paper, authors]
      lr: [60.0, 0.05]
  mu.0: [1.0, 2.0]
seeds: {count: 4}
record: {also: [centres, points]}
"""


def walks(count: int, seed: int, length: int = 60, power: float = 1.0) -> list[Floats]:
    """Smooth paths from near the origin to (1, 1), each bent in its own way; `power` says how they speed up."""
    draw = np.random.default_rng(seed)
    u = np.linspace(0, 1, length)[:, None] ** power
    start, bend = draw.normal(0, 0.1, (count, 2)), draw.normal(0, 0.5, (count, 2))
    return [(1 - u) * a + u + u * (1 - u) * b for a, b in zip(start, bend, strict=True)]


def inside(outline: Floats, place: Floats) -> bool:
    """Whether filling the outline colours a place: a ray from it crosses the line an odd number of times."""
    (x, y), (x2, y2) = outline.T, np.roll(outline, -1, axis=0).T
    crossed = (y > place[1]) != (y2 > place[1])
    at = x + (place[1] - y) * (x2 - x) / np.where(y2 == y, 1.0, y2 - y)
    return bool((crossed & (at > place[0])).sum() % 2)


@FEW
@given(st.integers(3, 25), st.integers(0, 10_000))
def test_the_band_holds_half_of_the_seeds(count: int, seed: int) -> None:
    """At least half of the paths lie in the band from end to end: the central ones."""
    paths = walks(count, seed)
    chosen = central(paths)
    assert len(chosen) == math.ceil(count / 2)
    outline = region([paths[i] for i in chosen])
    whole = sum(all(inside(outline, place) for place in path[::7]) for path in paths)
    assert whole >= len(chosen)


def test_the_band_keeps_off_where_no_central_path_runs() -> None:
    """A hole that is wider than a gap stays open, and so does the room between two pieces."""
    angle = np.linspace(0, 2 * np.pi, 200)
    ring = 0.5 + 0.4 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    far = np.stack([np.linspace(0, 1, 50), np.full(50, -0.6)], axis=1)
    outline = region([ring, far])
    assert not inside(outline, np.array([0.5, 0.5]))
    assert not inside(outline, np.array([0.5, -0.25]))
    assert all(inside(outline, place) for path in (ring, far) for place in path)
    assert not inside(outline, np.array([0.5, 0.9 + GAP]))


@FEW
@given(st.integers(3, 15), st.integers(0, 10_000))
@example(7, 353)  # two paths that are each other's median
def test_the_central_paths_do_not_hang_on_their_order(count: int, seed: int) -> None:
    """The same paths listed in another order have the same depths, ties included."""
    paths = walks(count, seed, 200)
    order = np.random.default_rng(seed).permutation(count)
    shuffled = [paths[i] for i in order]
    assert [int(order[i]) for i in by_depth(shuffled)] == by_depth(paths)
    assert {int(order[i]) for i in central(shuffled)} == set(central(paths))


@FEW
@given(st.integers(3, 15), st.integers(0, 10_000), st.floats(0.6, 1.7))
def test_the_central_paths_do_not_hang_on_time(count: int, seed: int, power: float) -> None:
    """The same paths walked at other speeds are as far from one another as before, within a thousandth of mu; so a path
    of the central half is exchanged only for one whose depth differs by less than two of these."""
    paths, slower = walks(count, seed, 400), walks(count, seed, 300, power)
    before, after = distances(paths), distances(slower)
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-3)
    depth, (left, came) = np.median(before, axis=1), exchanged(central(paths), central(slower))
    assert all(abs(depth[i] - depth[j]) < 2e-3 for i in left for j in came)


def exchanged(before: list[int], after: list[int]) -> tuple[set[int], set[int]]:
    """Who left, and who came instead."""
    return set(before) - set(after), set(after) - set(before)


@FEW
@given(st.integers(3, 25), st.integers(0, 10_000))
def test_the_medoid_lies_where_most_paths_do(count: int, seed: int) -> None:
    """With a minority that goes another way the medoid is of the majority, in three dimensions as in two."""
    draw = np.random.default_rng(seed)
    third = draw.normal(0, 0.05, count)
    paths = [np.column_stack([path, np.full(len(path), z)]) for path, z in zip(walks(count, seed), third, strict=True)]
    few = draw.choice(count, (count - 1) // 2, replace=False).tolist()
    for k in few:
        paths[k] = paths[k] - [0, 0, 3]
    assert by_depth(paths)[0] not in few
    assert sorted(by_depth(paths)) == list(range(count))


def test_the_medoid_is_the_middle_of_parallel_paths() -> None:
    """Of five parallel lines in any order it is the third, and the outermost two come last."""
    line = np.stack([np.linspace(0, 1, 20), np.zeros(20)], axis=1)
    paths = [line + np.array([0, height / 10]) for height in (4, 0, 2, 1, 3)]
    assert by_depth(paths)[0] == 2
    assert set(by_depth(paths)[3:]) == {0, 1}


@FEW
@given(st.integers(0, 10_000), st.integers(2, 300), st.integers(5, 60))
def test_a_path_keeps_its_looks_with_few_corners(seed: int, length: int, most: int) -> None:
    """Both ends stay, no more corners than asked for; and where there is room for all that matter, none is missed."""
    path = np.cumsum(np.random.default_rng(seed).normal(0, 0.02, (length, 2)), axis=0)
    kept = corners(path, most)
    assert (kept[0], kept[-1]) == (0, length - 1)
    assert len(kept) <= most
    exact = corners(path, length)
    for a, b in pairwise(exact.tolist()):
        at = np.linspace(path[a], path[b], 500)
        away = np.linalg.norm(path[a : b + 1, None] - at, axis=2).min(axis=1)
        assert away.max() <= NEAR + np.linalg.norm(path[b] - path[a]) / 500


@FEW
@given(st.integers(0, 10_000), st.sampled_from([1.0, 5.0, 20.0, 50.0]))
def test_marks_stand_at_equal_times(seed: int, every: float) -> None:
    """Dots are the path at multiples of the interval, those left out that lie near to another; arrows likewise."""
    draw = np.random.default_rng(seed)
    steps = np.unique(np.concatenate([[0], draw.integers(1, 400, 60), [400]])).astype(float)
    path = np.cumsum(draw.uniform(0, 0.05, (len(steps), 2)), axis=0)
    places, name = plane_rows.places(path, steps), Name("p", "line")
    dots, arrows = plane_rows.dots(name, places, every), plane_rows.arrows(name, places, every)
    assert dots[0].step == 0
    assert [arrow.step for arrow in arrows] == [dot.step for dot in dots[1:]]
    at = np.array([(dot.x, dot.y) for dot in dots])
    times = np.array([dot.step for dot in dots])
    assert np.abs(np.stack([np.interp(times, steps, along) for along in path.T], axis=1) - at).max() < 2e-4
    apart = np.linalg.norm(at[:, None] - at, axis=2)
    assert apart[~np.eye(len(at), dtype=bool)].min(initial=1.0) >= plane_rows.APART - 2e-4
    for time in np.arange(0, moves_until(places) + 1e-9, every):
        left = [np.interp(time, steps, along) for along in path.T]
        assert time in times or np.linalg.norm(at - left, axis=1).min() < plane_rows.APART + 2e-4
    assert all(0 <= arrow.angle <= 90 for arrow in arrows)  # this path goes up and to the right all along


def test_the_interval_resolves_the_fast_part() -> None:
    """A path that waits, jumps and rests gets several marks on its jump, and none but one where it jitters."""
    draw = np.random.default_rng(3)
    steps = np.arange(2001.0)
    path = np.stack([1 / (1 + np.exp(-(steps - 300) / 10)), np.zeros(2001)], axis=1)
    path[400:] += draw.normal(0, 0.02, (1601, 2))
    places = plane_rows.places(path, steps)
    every = plane_rows.interval([places])
    dots = plane_rows.dots(Name("p", "l"), places, every)
    assert len([dot for dot in dots if 0.1 < dot.x < 0.9]) >= 3
    assert len([dot for dot in dots if dot.step > 400]) <= 3
    assert not [arrow for arrow in plane_rows.arrows(Name("p", "l"), places, every) if arrow.step > 500]


def test_an_arrow_points_along_the_path() -> None:
    """Degrees run clockwise from up: a path to the right has 90, one down 180."""
    for (dx, dy), angle in {(1, 0): 90, (0, -1): 180, (0, 1): 0, (-1, 0): -90}.items():
        path = [Place("", None, float(k), k * dx / 20, k * dy / 20) for k in range(21)]
        assert {arrow.angle for arrow in plane_rows.arrows(Name("p", "l"), path, 5.0)} == {angle}


ZIP = {"mu": [(1.0, 2.0), (0.5, 2.0), (3.0, 2.0), (1.0, 2.0), (1.0, 2.0)], "sigma": [0.05, 0.05, 0.05, 0.5, 1.0]}


def figure_11() -> tuple[list[list[str]], dict[int, dict[str, Any]]]:
    """Axes and points of a sweep with one zip for two parameters, crossed with presets and dimensions."""
    rows = [dict(zip(ZIP, values, strict=True)) for values in zip(*ZIP.values(), strict=True)]
    points = [{"preset": p, "d": d, **row} for p, d, row in product(["paper", "authors"], [2, 64], rows)]
    return [["preset"], ["d"], ["mu", "sigma"]], dict(enumerate(points))


@pytest.mark.parametrize(("name", "count"), [("mu", 3), ("sigma", 3)])
def test_lines_of_a_panel_differ_in_one_parameter_alone(name: str, count: int) -> None:
    """Along one parameter of a zip the other keeps its first value; whatever crosses the zip has panels of its own."""
    axes, varying = figure_11()
    panels = along([name], axes, varying)
    assert len(panels) == 4
    for panel in panels:
        assert len(panel.points) == count
        assert list(panel.values) == sorted(set(panel.values))
        others = {tuple((k, v) for k, v in varying[point].items() if k != name) for point in panel.points}
        assert len(others) == 1


def test_two_ways_along_a_zip_show_every_point_and_share_the_first() -> None:
    """What one zip holds one after the other is drawn whole, each panel's first row in both figures."""
    axes, varying = figure_11()
    ways = [{point for panel in along([name], axes, varying) for point in panel.points} for name in ("mu", "sigma")]
    assert ways[0] | ways[1] == set(varying)
    assert len(ways[0] & ways[1]) == 4


def test_a_preset_is_never_held() -> None:
    """In a zip with a preset both presets have their panel, though the lines differ in something else."""
    varying = {k: {"preset": p, "mu": m} for k, (p, m) in enumerate(product(["paper", "authors"], [1.0, 2.0]))}
    panels = along(["mu"], [["preset", "mu"]], varying)
    assert [len(panel.points) for panel in panels] == [2, 2]
    assert names_of("sigma", ["mu", "sigma.0", "sigma.1"]) == ["sigma.0", "sigma.1"]


def made_up(values: list[Floats]) -> Runs:
    """Runs as they come from the store: a row a run."""
    longest = max(map(len, values))
    rows = [
        {"point": 0, "seed": k, "mu": [1.0, 2.0], "step": list(range(len(path))), "output": path.tolist()}
        for k, path in enumerate(values)
    ]
    runs = runs_of(pl.DataFrame(rows), "output", "mu")[0]
    assert runs.values.shape == (len(values), longest, 2)
    return runs


def test_runs_that_leave_break_no_panel() -> None:
    """With a minority of runs that blow up or stop being numbers, every row is finite, and the median goes on."""
    paths = [path * [1.0, 2.0] for path in walks(7, 3)]
    burst = [
        np.vstack([path[:20], np.full((1, 2), worst)]) for path, worst in zip(paths, (1e300, np.nan), strict=False)
    ]
    runs = made_up([*paths, *burst])
    rows, every = point_rows("p", runs, {MEDIAN_SEED: 0})
    assert every > 0
    assert all(math.isfinite(value) for row in rows for value in row if isinstance(value, float))
    assert runs.median.shape == (60, 2)
    np.testing.assert_allclose(runs.median[30:], made_up(paths).median[30:])
    low, high = plane_rows.shown_range(rows)
    assert -0.5 < low < 0 < 1 < high < 1.5


def test_runs_that_all_leave_at_once_give_no_lines() -> None:
    """Where no run has two places nothing is drawn, and nothing is raised."""
    rows, _ = point_rows("p", made_up([np.array([[0.1, 0.1]])] * 4), {MEDIAN_SEED: 0})
    assert rows == []


def test_colours_are_ordered_from_dark_to_light() -> None:
    """Luminance grows along the scale, so that its order is told without hue."""
    for count in range(2, 10):
        shades = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in plasma_colours(count)]
        light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in shades]
        assert light == sorted(light)
        assert len(set(map(tuple, shades))) == count


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    """A small trained sweep; at a learning rate of 60 its runs diverge."""
    data: Path = tmp_path_factory.mktemp("paths")
    sweep = Sweep.parse(SWEEP, "paths.yaml", confirm_above=None)
    sweep.run(data, local=True, pilot=False)
    with Store.open(data) as store:
        yield Subject(read(store, sweep.sweep_id), store)


def drawn(subject: Subject, name: str, **changed: Any) -> Figure:
    """The one figure of a drawing."""
    drawing, options = DRAWN[name]
    (figure,) = drawing.figures(subject, drawing.Options(**{**options, **changed}))
    return figure


@pytest.fixture(scope="module")
def shown(subject: Subject) -> Callable[[str], Figure]:
    """The figures of `subject`, each drawn once."""
    return cache(lambda name: drawn(subject, name))


def table_of(figure: Figure) -> list[dict[str, Any]]:
    """The rows that a figure carries."""
    (rows,) = figure.spec["datasets"].values()
    return rows


def scene_marks(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every mark of a Vega scene, groups included."""
    if isinstance(value, Mapping):
        if "marktype" in value:
            yield value
        for child in value.values():
            yield from scene_marks(child)
    elif isinstance(value, list):
        for child in value:
            yield from scene_marks(child)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in ("along", "centres") else []) for name in DRAWN]
)
def test_every_drawing_compiles_with_its_titles(shown: Callable[[str], Figure], name: str) -> None:
    """What is drawn has panels titled by what varies, axis titles, finite rows, a legend, and the SQL behind it."""
    figure = shown(name)
    marks = list(scene_marks(vl_convert.vegalite_to_scenegraph(json.dumps(figure.spec, allow_nan=False), "6.4")))
    text = json.dumps([mark["items"] for mark in marks if mark["marktype"] == "text"])
    titles = ("output along concept 1", "loss / L_ref", "concept 1, in the units of the data")
    assert any(title in text for title in titles)
    assert "paper" in text
    assert "authors" in text
    assert any(mark.get("role") == "legend-symbol" for mark in marks)
    rows = table_of(figure)
    assert rows
    assert not any(value is None or value != value for row in rows for value in row.values())
    assert figure.queries
    assert figure.caption.endswith(".")


@pytest.mark.slow
def test_the_median_seed_is_one_that_ended_wherever_one_did(subject: Subject, shown: Callable[[str], Figure]) -> None:
    """It is the same in every drawing, is a seed of its point, and its run is in the band wherever there is one."""
    texts = [json.dumps(shown(name).spec) for name in ("trajectories", "losses", "centres")]
    for point in subject.points:
        seed = subject.median_seed(point)
        (status,) = subject.runs(point).filter(pl.col("seed") == seed)["status"]
        assert status == ("diverged" if (subject.runs(point)["status"] == "diverged").all() else "ok")
        assert subject.medoid(point, [seed]) == seed
        others = [own for own in subject.runs(point)["seed"].to_list() if own != seed]
        assert subject.medoid(point, others) in others
        assert all(f"median seed {seed}" in text for text in texts)


@pytest.mark.slow
def test_diverged_runs_are_counted_in_their_panel(subject: Subject, shown: Callable[[str], Figure]) -> None:
    """A panel whose runs all left says so, and the others are drawn as ever."""
    statuses = subject.cells.filter(pl.col("lr") == 60)["status"].unique().to_list()
    assert statuses == ["diverged"]
    for name in ("trajectories", "losses", "centres"):
        assert json.dumps(shown(name).spec).count("4 of 4 seeds diverged") == 2


def leave_told(subject: Subject, point: int, text: str) -> bool:
    """Whether a panel tells of the seeds that leave it, those with a loss above the axis, if some do."""
    upper = top_of(text)
    runs = subject.ask(Query("runs", (subject.sweep_id, "sim", (point,), 10**6, "ood_loss", "l_ref", (1,))))
    worst = {
        seed: max(own["value"].list.first().fill_null(math.inf))
        for (seed,), own in runs.partition_by("seed", as_dict=True).items()
    }
    beyond = sum(not value <= upper for value in worst.values())
    return not beyond or f"{beyond} of {len(worst)} seeds leave" in text


def top_of(text: str) -> float:
    """The upper end of a loss axis."""
    panel = json.loads(text)["concat"][0]
    (domain,) = {tuple(y["domain"]) for layer in panel["layer"] if (y := layer["encoding"].get("y", {}).get("scale"))}
    return domain[1]


def test_the_shares_above_the_losses_are_those_of_the_cells(subject: Subject, shown: Callable[[str], Figure]) -> None:
    """Each panel tells how many of its runs the detector found non-monotone, and how many memorize transiently."""
    text = json.dumps(shown("losses").spec)
    for point in subject.points:
        runs = subject.runs(point)
        for outcome, words in PHRASES.items():
            told = runs[outcome].drop_nulls()
            assert f"{told.sum()} of {len(told)} {words}: " in text or not len(told)
        assert leave_told(subject, point, text)
    assert "seeds leave" in text


def test_every_bump_has_its_mark(tmp_path: Path) -> None:
    """Each run that the detector finds to rise between two descents has a mark at its peak, in its point's panel."""
    sweep = synthetic_sim.square("bumps", 2, 3)
    derive(synthetic_sim.write(tmp_path, sweep), [sweep.sweep_id])
    with Store.open(tmp_path) as store:
        made = Subject(read(store, sweep.sweep_id), store)
        peaks = [row for row in table_of(drawn(made, "losses")) if row["kind"] in ("peak", "other")]
        told = made.cells.drop_nulls("bump_peak")
        assert sorted(row["step"] for row in peaks) == sorted(told["bump_peak"].to_list())
        assert 0 < len(told) < len(made.cells)


def test_lines_along_a_parameter_are_the_points_that_differ_in_it(
    subject: Subject, shown: Callable[[str], Figure]
) -> None:
    """One line a value in each panel, in the legend's order, with the single seeds left out."""
    rows = [row for row in table_of(shown("along")) if row["kind"] == "line"]
    assert {row["line"] for row in rows} == {"1", "2"}
    assert {row["run"] for row in rows if row["panel"] == "0"} <= set(subject.points)


def test_the_nearest_training_point_is_the_one_that_is_told(shown: Callable[[str], Figure]) -> None:
    """The length of the dashed line is the distance written above it, and no drawn training point is nearer."""
    figure = shown("points")
    for panel in {row["panel"] for row in table_of(figure)}:
        rows = [row for row in table_of(figure) if row["panel"] == panel]
        (target,) = [row for row in rows if row["kind"] == "target"]
        at = np.array([(row["x"], row["y"]) for row in rows if row["kind"] == "point"])
        away = np.linalg.norm(at - [target["x"], target["y"]], axis=1)
        assert f"nearest training point at {away.min():.2f}" in json.dumps(figure.spec)
        assert away[:FIRST].max() <= away[FIRST:].min() + 2e-4
        assert [row["line"] for row in rows if row["kind"] == "point"] == [NEAREST_POINTS] * FIRST + [SAMPLE] * (
            len(at) - FIRST
        )


@pytest.mark.slow
def test_a_truncated_set_is_beside_its_whole_twin(shown: Callable[[str], Figure], tmp_path: Path) -> None:
    """How many sets had a point drawn again is told where the store has the sets as drawn at first, and only there."""
    wide = SWEEP.replace("sigma: [0.05, 0.05]", "sigma: [0.3, 0.3]")
    wide = re.sub(r"  zip:\n(    .*\n)+", "", wide)

    def trained(cut: str) -> str:
        text = wide.replace("name: paths", f"name: cut-{cut}").replace("n: 60", f"n: 60, truncate: {cut}")
        sweep = Sweep.parse(text, "cut.yaml", confirm_above=None)
        sweep.run(tmp_path, local=True)
        return sweep.sweep_id

    def text_of(store: Store, sweep_id: str) -> str:
        return json.dumps(drawn(Subject(read(store, sweep_id), store), "points").spec)

    cut = trained("true")
    with Store.open(tmp_path) as store:
        assert "drawn again" not in text_of(store, cut)
    uncut = trained("false")
    with Store.open(tmp_path) as store:
        assert "drawn again" not in text_of(store, uncut)
        text, near = text_of(store, cut), Counter[int]()
        first = "select point, mu, training_point[1] as first from members join sim using (cell_id) where sweep_id = $1"
        for row in store.sql(first, [uncut]).rows():
            near[row.point] += bool(np.linalg.norm(np.array(row.first) - row.mu) < min(row.mu) / 2)
        assert sum(near.values()) > 0
        for count in near.values():
            assert f"{count} of 4 seeds had a point drawn again" in text
    assert "drawn again" not in json.dumps(shown("points").spec)


def test_the_cells_carry_no_recordings(subject: Subject) -> None:
    """What grows with the records or the training set stays in the store, unless a drawing asks for it."""
    recorded = {"step", "ood_loss", "train_loss", "output", "centre_output", "training_point"}
    kept = {row.column_name for row in subject.store.sql("select column_name from (describe sim)").rows()}
    assert recorded < kept
    assert not recorded & set(subject.cells.columns)
    nested = [
        name for name, kind in subject.cells.schema.items() if isinstance(kind, pl.List) and kind.inner.is_nested()
    ]
    assert nested == []


def test_centre_paths_end_where_training_puts_them(subject: Subject, shown: Callable[[str], Figure]) -> None:
    """Row p of the recorded s x s numbers is the output at centre p: it ends at the own square, not at another's."""
    rows = table_of(shown("centres"))
    point = next(point for point in subject.points if subject.runs(point)["lr"][0] < 1)
    for line, target in (("centre of cluster 1", (1, 0)), ("centre of cluster 2", (0, 1))):
        path = [
            row for row in rows if row["panel"] == f"{point}:1" and row.get("line") == line and row["kind"] == "line"
        ]
        last = max(path, key=lambda row: row["order"])
        others = [math.hypot(last["x"] - x, last["y"] - y) for x, y in ((1, 0), (0, 1), (1, 1)) if (x, y) != target]
        assert math.hypot(last["x"] - target[0], last["y"] - target[1]) < min(others)


def test_what_cannot_be_drawn_says_why(subject: Subject) -> None:
    """A plane that is none, and lines along what does not vary, are refused by name."""
    for name in ("trajectories", "centres"):
        with pytest.raises(SwingbyError, match="two different concepts from 1 to 2"):
            drawn(subject, name, plane=(1, 3))
    with pytest.raises(SwingbyError, match=r"'sigma'; what varies: preset, lr, mu\.0"):
        drawn(subject, "along", along="sigma")


def test_thin_lines_are_few_however_many_panels() -> None:
    """A figure's thin lines stay near their budget, and no panel has more than forty of them."""
    for panels in range(1, 60):
        assert thin_seeds(panels) <= 40
        assert thin_seeds(panels) * panels <= 300 or thin_seeds(panels) == 5


def test_rows_are_of_two_kinds_alone() -> None:
    """What a point gives the chart are corners and marks, each in its own panel."""
    rows, _ = point_rows("key", made_up([path * [1.0, 2.0] for path in walks(5, 1)]), {MEDIAN_SEED: 2})
    assert {type(row) for row in rows} == {Corner, Mark}
    assert {row.panel for row in rows} == {"key"}
