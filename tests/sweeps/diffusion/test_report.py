"""The report of a diffusion sweep: what it draws and says is what the store holds, of unfinished sweeps too."""

from __future__ import annotations

import html
import io
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy import stats

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.run.outcomes import derive
from swingby.store import Store
from swingby.store.lookup import find_sweep
from swingby_analysis.charts.pictures import Picture, PictureRow, picture_rows
from swingby_analysis.query import Query, ask
from swingby_analysis.report import PAGE, write_report
from swingby_analysis.report import data as report_data
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.subject import Subject
from swingby_sweeps.diffusion.detect.path import path_of
from swingby_sweeps.diffusion.detect.runs import over_seeds, runs_of
from swingby_sweeps.diffusion.detect.speed import slowdown, speeds
from swingby_sweeps.diffusion.drawings import SQL
from swingby_sweeps.diffusion.drawings.concept_curves import ConceptMse, ConceptSpeed
from swingby_sweeps.diffusion.drawings.concept_space import ConceptSpace
from swingby_sweeps.diffusion.drawings.concepts import ConceptOptions, groups_of
from swingby_sweeps.diffusion.drawings.sample_grid import SampleGrid, SampleOptions
from swingby_sweeps.diffusion.summary import sentences
from tests.support import synthetic_diffusion as synthetic
from tests.support.packed import unpacked

LINE = "  contrast: [0.2, 0.6]"
PART = "  contrast: [0.25, 0.65]"
"""No cell of it is one of the line above."""
SEEDS = 3


def fate(cell: Any) -> str | None:
    """One cell is still running, one failed, one was never begun."""
    fates = {(0.65, 2): "running", (0.25, 2): "failed", (0.65, 1): None}
    return fates.get((cell.params.contrast, cell.seed), "ok")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a whole sweep by both judges and with samples, an unfinished one, and one of two axes."""
    folder = tmp_path_factory.mktemp("data")
    synthetic.write(folder, synthetic.sweep("whole", LINE, SEEDS, "trained, samples"))
    synthetic.write(folder, synthetic.sweep("part", PART, SEEDS), fate)
    synthetic.write(folder, synthetic.sweep("square", LINE + "\n  size_contrast: [0.3, 0.5]", 1))
    return folder


@pytest.fixture(scope="module")
def page(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the whole sweep."""
    return write_report("whole", data, tmp_path_factory.mktemp("out"), kinds=()).page


@pytest.fixture(scope="module")
def read(data: Path) -> Iterator[tuple[Store, ReportData]]:
    """The store, and what a report reads of the whole sweep."""
    yield from opened(data, "whole")


def opened(data: Path, name: str) -> Iterator[tuple[Store, ReportData]]:
    """The store, and what a report reads of a sweep."""
    with Store.open(data) as store:
        sweep_id = find_sweep(store, name).sweep_id
        derive(Records.open(data), [sweep_id])
        yield store, report_data.read(store, sweep_id)


def text_of(page: Path) -> str:
    """The page without scripts, as text."""
    bare = re.sub(r"<(script|style)\b.*?</\1>", "", page.read_text(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", bare)).replace("\u00a0", " "))


def figures_of(page: Path) -> dict[str, Any]:
    """The drawings of a page, by name."""
    return json.loads(unpacked(page.read_text()))["figures"]


def values_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows that a drawing is made of."""
    return spec["datasets"][spec["data"]["name"]]


# the store


def test_nested_curves_and_pictures_come_back_as_they_were(data: Path) -> None:
    """Four numbers an evaluation and a PNG at some, written in two segments, are read as one curve each."""
    sweep = synthetic.sweep("whole", LINE, SEEDS, "trained, samples")
    cell = next(iter(sweep.cells()))
    curves = synthetic.rows(cell, synthetic.truth_of(cell), ("trained", "samples"))
    with Store.open(data) as store:
        row = store.sql("select * from diffusion where cell_id = ?", [cell.cell_id]).arrow().to_pylist()[0]
    for name in ("color", "size_sd", "found", "trained_color"):
        assert np.array_equal(np.array(row[name], dtype=float), np.array(curves[name]), equal_nan=True)
    assert row["step"] == curves["step"]
    assert row["samples"] == curves["samples"]
    assert sum(png is not None for png in row["samples"]) == 8


# the page


def test_every_drawing_and_diagram_is_there(page: Path) -> None:
    """Without drawings in the sweep file those of the experiment are drawn, and its diagrams by both judges."""
    slugs = ["concept-space", "bend-over-seeds", "concept-mse", "concept-speed", "training-loss", "samples"]
    diagrams = ["map-learning-order", "phase-color-first", "phase-transient-bend", "phase-color-first-by-trained"]
    assert list(figures_of(page))[:6] == slugs
    assert set(diagrams) <= figures_of(page).keys()
    assert "is left out" not in text_of(page)


def test_the_page_counts_what_the_store_holds(page: Path, data: Path) -> None:
    """Orders are those that the detector's records have."""
    with Store.open(data) as store:
        rows = store.sql(
            """select o.learning_order from members m join sweeps using (sweep_id)
               join outcomes_bends o using (cell_id) where sweeps.name = 'whole'"""
        ).rows()
    orders = [row.learning_order for row in rows]
    assert len(orders) == 2 * SEEDS
    for which in set(orders):
        assert f"{which} at contrast = " in text_of(page)
    assert text_of(page).count(f"({SEEDS} of {SEEDS} runs") >= orders.count("color first") // SEEDS
    assert f"{2 * SEEDS} of {2 * SEEDS} runs are finished" in text_of(page)


def test_the_truth_is_told(read: tuple[Store, ReportData]) -> None:
    """The made-up runs learn color first, bend toward it at the larger contrast; size at the smaller."""
    cells = read[1].cells
    low, high = (cells.filter(cells["contrast"] == value) for value in (0.2, 0.6))
    assert set(low["learning_order"]) == {"size first"}
    assert set(high["learning_order"]) == set(high["learning_order_by_trained"]) == {"color first"}
    assert (low["bend"] < 0).all()
    assert (high["bend"] > 0).all()
    assert high["transient_bend"].all()


def test_the_summary_is_short_and_speaks_of_all_it_should(read: tuple[Store, ReportData], page: Path) -> None:
    """What takes curves, not outcomes, is said too, and it is on the page."""
    store, data = read
    said = sentences(data, store)
    for start in (
        "Learned first",
        "Speed",
        "The path bends, measured",
        "The path bends, trained",
        "The seeds share a bump",
        "To judge",
    ):
        assert any(sentence.startswith(start) for sentence in said), start
    assert len(said) <= 11
    assert len(set(said)) == len(said)
    for sentence in said:
        assert sentence.replace("\u00a0", " ") in text_of(page)


def test_shared_bends_are_told_with_their_side(read: tuple[Store, ReportData], page: Path) -> None:
    """Size at the smaller contrast, color at the larger, in the summary and in the figure alike."""
    store, data = read
    bends = [sentence for sentence in sentences(data, store) if sentence.startswith("The path bends, measured")]
    assert "toward color at contrast = 0.6" in bends[0]
    assert "toward size at contrast = 0.2" in bends[0]
    assert "the power is low" in bends[0]
    means = {row["x"]: row["mean"] for row in values_of(figures_of(page)["bend-over-seeds"]) if "mean" in row}
    assert means[0.2] < 0 < means[0.6]


def test_an_unfinished_sweep_is_reported(data: Path, tmp_path: Path) -> None:
    """The page says how many cells are missing and failed, and draws the rest; nothing is drawn of pictures."""
    written = write_report("part", data, tmp_path, kinds=())
    text = text_of(written.page)
    assert "2 of 6 cells have no result yet" in text
    assert "1 cell failed with an error" in text
    assert written.faults == []
    assert "samples" not in figures_of(written.page)
    assert "3 of 6 runs are finished" in text


def test_every_query_gives_rows_when_pasted(page: Path, data: Path) -> None:
    """The SQL on the page runs as it stands."""
    with Store.open(data) as store:
        for query in set(re.findall(r"<pre><code>(.*?)</code></pre>", page.read_text(), re.DOTALL)):
            assert len(store.sql(html.unescape(query))) > 0


def test_a_sweep_that_names_drawings_gets_these(data: Path, tmp_path: Path) -> None:
    """Only what is asked for, with its options told of in the caption."""
    shown = {"drawings": [{"name": "concept_mse", "options": {"smoothing": 2.0, "first": 7, "judge": "measured"}}]}
    written = write_report("whole", data, tmp_path, kinds=(), presentation=shown)
    assert list(figures_of(written.page)) == ["concept-mse"]
    text = text_of(written.page)
    assert "Smoothed over evaluations by a Gaussian of 2" in text
    assert "The first 7 evaluations are left out" in text


def test_every_drawing_of_an_experiment_is_offered() -> None:
    """What is drawn unasked is installed, and fits its experiment."""
    for experiment in registry.offered(registry.EXPERIMENTS):
        for name in registry.experiment(experiment).report.drawings:
            assert experiment in registry.drawing(name).experiments


# groups, means, pictures


def test_lines_stand_for_the_points_of_the_grid(data: Path) -> None:
    """Of two axes, one tells the lines of a panel apart and the other the panels; every finished point is a line."""
    for store, read in opened(data, "square"):
        subject = Subject(read, store)
        for along, panels in ((None, {"size_contrast"}), ("size_contrast", {"contrast"})):
            options = ConceptOptions.model_validate({"along": along})
            found = groups_of(ask(store, Query("paths", (subject.sweep_id,), SQL)), subject, options)
            assert found is not None
            points = [line.point for group in found.groups for line in group.lines]
            assert sorted(points) == sorted(subject.points)
            assert len(found.groups) == 2
            assert {group.setting.split(" = ")[0] for group in found.groups} == panels


def test_a_drawing_checks_its_options() -> None:
    """Lines that no axis tells apart are refused before anything is trained."""
    drawing = ConceptSpace()
    assert drawing.check(ConceptOptions.model_validate({"along": "contrast"}), ["contrast"]) == ()
    assert drawing.check(ConceptOptions.model_validate({"along": "lr"}), ["contrast"])[0].option == "along"


def test_runs_are_put_together_by_step(read: tuple[Store, ReportData]) -> None:
    """Each seed's path stands at its own steps, with NaN where the judge saw nothing."""
    store, data = read
    rows = ask(store, Query("paths", (data.sweep["sweep_id"],), SQL)).to_dicts()
    for runs in runs_of(rows).values():
        for row, seed in enumerate(runs.seeds):
            own = path_of(next(r for r in rows if r["seed"] == seed and r["point"] in _points(rows, runs)))
            assert own is not None
            at = np.searchsorted(runs.steps, runs.paths[row].steps)
            assert np.array_equal(runs.place[row, at], runs.paths[row].place)
            assert np.isnan(runs.place[row, ~np.isin(np.arange(len(runs.steps)), at)]).all()


def _points(rows: list[dict[str, Any]], runs: Any) -> set[int]:
    """The points whose runs these are."""
    return {point for point, own in runs_of(rows).items() if own.seeds == runs.seeds}


@given(st.lists(st.lists(st.floats(-5, 5), min_size=4, max_size=4), min_size=2, max_size=8))
def test_means_ignore_what_is_not_known(values: list[list[float]]) -> None:
    """Seeds without a value change no mean; where most lack one there is none; the order of seeds is irrelevant."""
    known = np.array(values)
    mean = over_seeds(known)
    assert mean.value == pytest.approx(known.mean(axis=0))
    error = known.std(axis=0, ddof=1) / math.sqrt(len(known))
    assert mean.half == pytest.approx(stats.t.ppf(0.975, len(known) - 1) * error, abs=1e-9)
    more = over_seeds(np.concatenate([known, np.full((len(known), 4), np.nan)]))
    assert more.value == pytest.approx(mean.value)
    assert more.half == pytest.approx(mean.half)
    fewer = over_seeds(np.concatenate([known, np.full((len(known) + 1, 4), np.nan)]))
    assert np.isnan(fewer.value).all()
    turned = over_seeds(known[::-1])
    assert turned.value == pytest.approx(mean.value)
    assert turned.half == pytest.approx(mean.half, abs=1e-9)


def resting(places: np.ndarray, seen: np.ndarray) -> Any:
    """The runs of seeds that each rest at a place of their own, (S, 2), and are seen at some evaluations, (S, T)."""
    rows = []
    for seed, (place, known) in enumerate(zip(places, seen, strict=True)):
        row = synthetic.run(synthetic.Truth(), np.random.default_rng(seed))
        at = [[*[[0.5, 0.5]] * 3, place.tolist()]] * len(known)
        row["step"] = row["step"][: len(known)]
        row |= {name: [[entry[k] for entry in four] for four in at] for k, name in enumerate(("color", "size"))}
        row |= {name: [[0.0] * 4] * len(known) for name in ("color_sd", "size_sd")}
        rows.append({"point": 0, "seed": seed, **row, "found": [[float(one)] * 4 for one in known]})
    return runs_of(rows)[0]


@given(
    st.integers(1, 6).flatmap(
        lambda s: st.lists(st.lists(st.booleans(), min_size=20, max_size=20), min_size=s, max_size=s)
    )
)
def test_a_seed_that_enters_or_leaves_moves_no_mean(patterns: list[list[bool]]) -> None:
    """Seeds that rest, each elsewhere, and are seen now and then: the mean's speed is 0 and its line does not move."""
    seen = np.array(patterns)
    seen[:, [3, 12]] = True  # each is seen twice at least
    places = np.random.default_rng(0).uniform(0, 1, (len(seen), 2))
    runs = resting(places, seen)
    assert runs.speeds.speed == pytest.approx(0, abs=1e-12)
    assert sum(len(at) for at in runs.stretches) >= 10
    for at in runs.stretches:
        assert np.ptp(runs.mean.value[at], axis=0) == pytest.approx(0, abs=1e-12)
        there = np.isfinite(runs.whole[:, at, 0])
        assert (there == there[:, :1]).all()


@given(st.integers(0, 1000), st.integers(0, 5))
def test_of_one_seed_the_mean_speed_is_its_own(seed: int, blind: int) -> None:
    """Speed and noise of the mean of a single seed are those of its path."""
    row = synthetic.run(synthetic.Truth(blind=blind, jitter=0.02), np.random.default_rng(seed))
    row["found"] = [[0.0] * 4 if k % 7 == 3 else entry for k, entry in enumerate(row["found"])]
    runs = runs_of([{"point": 0, "seed": 0, **row}])[0]
    for one, other in zip(runs.speeds, speeds(runs.paths[0]), strict=True):
        assert one == pytest.approx(other)


def test_seeds_that_rest_have_no_slow_down() -> None:
    """Of pure noise at rest, over five seeds, no law is fitted to the mean."""
    truth = synthetic.Truth(color=1, size=1, rest=0.6, jitter=0.05)
    for k in range(20):
        rngs = [np.random.default_rng(100 * k + seed) for seed in range(5)]
        rows = [{"point": 0, "seed": seed, **synthetic.run(truth, rng)} for seed, rng in enumerate(rngs)]
        assert slowdown(runs_of(rows, first=1)[0].speeds) is None


@pytest.mark.slow
def test_smoothing_changes_what_is_drawn_of_runs_and_nothing_else(read: tuple[Store, ReportData]) -> None:
    """Fits, the numbers above the panels and the test of bends are the same however much is smoothed; lines are not."""
    store, data = read
    subject = Subject(data, store)
    for drawing in (ConceptSpace(), ConceptMse(), ConceptSpeed()):
        plain, smooth = (
            drawing.figures(subject, ConceptOptions.model_validate({"smoothing": width})) for width in (0.0, 3.0)
        )
        for one, other in zip(plain, smooth, strict=True):
            titles = [[panel["title"] for panel in figure.spec.get("concat", [])] for figure in (one, other)]
            assert titles[0] == titles[1]
            runs, fits = (
                [[row for row in values_of(dict(f.spec)) if row.get("kind") in kinds] for f in (one, other)]
                for kinds in (("run",), ("dashed", "dotted"))
            )
            if one.slug == "bend-over-seeds":
                assert values_of(dict(one.spec)) == values_of(dict(other.spec))
                assert "Nothing is smoothed" in other.caption
            else:
                assert runs[0] != runs[1]
                assert "as recorded" in other.caption
            if one.slug == "concept-speed":
                assert fits[0] == fits[1] != []


def test_pictures_travel_inside_the_page(page: Path, read: tuple[Store, ReportData]) -> None:
    """The samples of the page are the PNGs of the store, and can be opened."""
    store, data = read
    spec = figures_of(page)["samples"]
    urls = {row["url"] for row in values_of(spec) if row["kind"] == "picture"}
    rows = ask(store, Query("samples", (data.sweep["sweep_id"],), SQL)).to_dicts()
    kept = {Picture(0, png).uri for row in rows for png in row["samples"] if png is not None}
    assert urls == kept
    assert [row["seed"] for row in rows] == [0, 0]
    for row in rows:
        sizes = {Image.open(io.BytesIO(png)).size for png in row["samples"] if png is not None}
        assert sizes == {(64, 64)}
    assert "blue-small (held out)" in json.dumps(spec)
    assert "red-small (held out)" not in json.dumps(spec)


def test_a_sweep_without_samples_says_so(data: Path) -> None:
    """Asked for pictures that no run kept, the drawing says why it fails."""
    for store, read in opened(data, "part"):
        with pytest.raises(SwingbyError, match="no run kept a readable sample"):
            SampleGrid().figures(Subject(read, store), SampleOptions.model_validate({}))


def test_rows_of_pictures_have_one_place_each() -> None:
    """However many pictures the rows have, each stands at its own place with its step below."""
    png = synthetic.png(np.zeros((8, 8, 3), np.uint8))
    rows = [PictureRow(f"row {n}", (), ("a", "b"), [Picture(k, png) for k in range(n)]) for n in (1, 5)]
    values = values_of(picture_rows(rows, 40, 40).to_dict())
    pictures = [(row["row"], row["at"], row["text"]) for row in values if row["kind"] == "picture"]
    assert pictures == [(0, 0, "step 0"), *((1, k, f"step {k}") for k in range(5))]
    assert page_free(values)


def page_free(values: list[dict[str, Any]]) -> bool:
    """No address leads outside."""
    return all(row["url"].startswith("data:image/png;base64,") for row in values if row["kind"] == "picture")


def test_the_page_names_no_address(page: Path) -> None:
    """Nothing on the page is fetched from anywhere."""
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", page.read_text(), flags=re.DOTALL)
    assert page.name == PAGE
    assert re.findall(r'(?:src|href)="(?!#)([^"]*)"', markup) == []
