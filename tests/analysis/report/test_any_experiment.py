"""The report of an experiment that nothing is known of: no detector, no declaration, no diagram."""

from __future__ import annotations

import csv
import importlib
import io
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import vl_convert

from swingby.api import Results, Sweep
from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.store import Store
from swingby_analysis.page import Figure
from swingby_analysis.page.html import VEGA_LITE
from swingby_analysis.page.plain_files import csv_of, rows_of, vega_lite_of
from swingby_analysis.report import data as report_data
from swingby_analysis.report import write_report
from swingby_analysis.report.chosen import chosen_curves
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.effects import effects_of
from swingby_analysis.report.examples import Examples
from swingby_analysis.report.figures import Figures
from swingby_analysis.report.grid_curves import layout
from swingby_analysis.report.interactive import interactive
from tests.support.places import BARE

BARE_SWEEP = """
name: {name}
experiment: {experiment}
base: {{noise: 0.3}}
axes: {{lr: [0.01, 0.1, 1.0], momentum: [0.1, 0.9], length: [20, 30]}}
seeds: 7
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder with a sweep of each of the two experiments, trained."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BARE))
        importlib.invalidate_caches()
        folder = tmp_path_factory.mktemp("bare")
        for experiment in ("bare", "bare_scalars"):
            text = BARE_SWEEP.format(name=experiment.replace("_", "-"), experiment=experiment)
            run_sweep(Sweep.parse(text, "bare.yaml"), folder, local=True, pilot=False)
        yield folder


@cache
def read(data: Path, name: str) -> tuple[ReportData, Figures]:
    """What a report reads of a sweep, and its figures, which are drawn once."""
    with Store.open(data) as store:
        sweep_id = store.sql("select sweep_id from sweeps where name = $1", [name]).rows()[0].sweep_id
        found = report_data.read(store, sweep_id)
    return found, Figures(found, None)


def slugs(figures: Figures) -> list[str]:
    """The names of the figures."""
    return [figure.slug for figure in figures.every]


def drawn(figures: Figures, slug: str) -> Figure:
    """The figure of a name."""
    return next(figure for figure in figures.every if figure.slug == slug)


def test_curves_alone_make_a_report(data: Path, tmp_path: Path) -> None:
    """Without scalars the last values of the curves are the outcomes; curves, panel and table are there."""
    report = write_report("bare", data, tmp_path, kinds=())
    assert report.faults == []
    text = report.page.read_text()
    assert "final loss" in text
    assert "84 of 84 runs are finished" in text
    found, figures = read(data, "bare")
    assert [one.column for one in found.shown] == ["loss", "spot"]
    assert {"map-final-loss", "map-final-spot", "curves-loss", "curves-spot"} <= set(slugs(figures))
    assert figures.main.points


def test_scalars_are_drawn_as_what_they_are(data: Path) -> None:
    """Numbers, yes and no, and categories with an order are outcomes; the first is the diagram's."""
    found, figures = read(data, "bare-scalars")
    kinds = {name: one.kind for name, one in found.outcomes.items()}
    assert kinds == {"last_loss": "number", "crossed": "yes_no", "side": "category", "status": "category"}
    assert slugs(figures)[0] == "map-last-loss"
    assert {"phase-crossed", "map-side"} <= set(slugs(figures))


def test_bands_are_quantiles_of_the_stored_rows(data: Path) -> None:
    """Median, quartiles and deciles of every drawn line are numpy's over the rows of its point."""
    _, figures = read(data, "bare")
    rows = rows_of(drawn(figures, "curves-spot").spec)
    with Store.open(data) as store:
        stored = store.sql(
            """select lr, momentum, length, step, spot from bare
               where length = 20 and lr = 0.1 and momentum = 0.9"""
        ).rows()
    spots = np.array([row.spot for row in stored])
    label = "momentum = 0.9|length = 20"
    line = [row for row in rows if row["group"] == label and row["line"] == "0.1"]
    assert [row["step"] for row in line] == stored[0].step
    quantiles = np.quantile(spots, [0.1, 0.9, 0.25, 0.75], axis=0, method="inverted_cdf")
    for name, values in zip(("low", "high", "quartile_low", "quartile_high"), quantiles, strict=True):
        assert [row[name] for row in line] == pytest.approx(values, rel=1e-4)
    assert [row["median"] for row in line] == pytest.approx(np.median(spots, axis=0), rel=1e-4)


def test_a_loss_is_drawn_by_its_logarithm_and_a_place_evenly(data: Path) -> None:
    """The scale follows from the values, and the axis says which it is, with the unit."""
    found, figures = read(data, "bare")
    assert found.scales["loss"].log
    assert not found.scales["spot"].log
    assert "loss / J (log scale)" in str(drawn(figures, "curves-loss").spec)
    assert "spot (linear scale)" in str(drawn(figures, "curves-spot").spec)


def test_the_layout_shows_each_point_once(data: Path) -> None:
    """A small grid is drawn whole, a line a point; of a large one a choice from end to end is."""
    found, _ = read(data, "bare")
    chosen = layout(found.grid, list(found.curves))
    points = [point for _, lines in chosen.panels for _, point in lines]
    assert sorted(points) == sorted(found.grid.places)


def test_every_figure_compiles(data: Path) -> None:
    """Vega-Lite takes every spec; main effects and parallel axes are among them, and the CSV has a row for each row."""
    for name in ("bare", "bare-scalars"):
        _, figures = read(data, name)
        assert {"main-effects", "parallel"} <= set(slugs(figures))
        for figure in figures.every:
            assert vl_convert.vegalite_to_vega(dict(figure.spec), vl_version=VEGA_LITE)["marks"]
            lines = list(csv.DictReader(io.StringIO(csv_of(figure.spec))))
            assert len(lines) == len(rows_of(figure.spec)) > 0
            assert json.loads(vega_lite_of(figure.spec)) == figure.spec


def test_effects_are_those_of_the_cells(data: Path) -> None:
    """The rows of the figure are the main effects over the cells, of every axis in the order of the sweep."""
    found, figures = read(data, "bare-scalars")
    axes, effects = effects_of(found, "last_loss")
    assert effects is not None
    assert [axis.name for axis in axes] == ["lr", "momentum", "length"]
    assert effects.points == found.cells["point"].n_unique() == 12
    rows = [
        row for row in rows_of(drawn(figures, "main-effects").spec) if row["outcome"] == "last loss / J (log scale)"
    ]
    assert [row["share"] for row in rows[:3]] == pytest.approx([one.share for one in effects.axes], rel=1e-4)


def results(data: Path, experiment: str) -> Results:
    """What `Sweep.run` returns, of a sweep that is trained."""
    name = experiment.replace("_", "-")
    return Results(Sweep.parse(BARE_SWEEP.format(name=name, experiment=experiment), "bare.yaml"), data, None)


def test_charts_are_the_figures_of_the_report(data: Path) -> None:
    """An outcome over the sweep's own axes, and a curve, are drawn as the report draws them, and compile."""
    _, figures = read(data, "bare-scalars")
    of = results(data, "bare_scalars")
    for what, slug in ((None, "map-last-loss"), ("crossed", "phase-crossed"), ("side", "map-side")):
        spec = of.chart(what).to_dict()
        assert rows_of(spec) == rows_of(drawn(figures, slug).spec)
    _, figures = read(data, "bare")
    of = results(data, "bare")
    assert rows_of(of.chart("spot").to_dict()) == rows_of(drawn(figures, "curves-spot").spec)
    assert vl_convert.vegalite_to_vega(of.chart("loss").to_dict(), vl_version=VEGA_LITE)["marks"]


def test_a_chart_has_the_axes_that_are_named(data: Path) -> None:
    """With x alone there are marks along it, with y tiles; the other axes are panels, and each point is drawn once."""
    of = results(data, "bare_scalars")
    for axes, marks, panels in (({"x": "momentum"}, "rule", 6), ({"x": "length", "y": "lr"}, "rect", 2)):
        spec = of.chart("last_loss", **axes).to_dict()
        rows = rows_of(spec)
        assert len({row["point"] for row in rows}) == len(rows) == 12
        assert len({row["facet"] for row in rows}) == panels
        assert marks in [layer["mark"]["type"] for layer in spec["spec"]["layer"]]
    for wrong, said in (
        ({"what": "last_los"}, "did you mean 'last_loss'"),
        ({"x": "lrr"}, "'lrr' is no axis of 'bare-scalars'; did you mean 'lr'"),
        ({"x": "lr", "y": "lr"}, "allowed: an axis as x"),
        ({"y": "lr"}, "allowed: an axis as x"),
    ):
        with pytest.raises(SwingbyError, match=re.escape(said)):
            of.chart(**wrong)


def test_figures_for_a_paper_are_files_by_the_names_of_the_report(data: Path, tmp_path: Path) -> None:
    """Each named figure is written once, as wide as asked; a name that is none is an error with all that there are."""
    of = results(data, "bare_scalars")
    written = of.paper(tmp_path, figure=["map", "map-last-loss"], width="90mm", formats=["pgf", "svg"])
    assert [one.path.name for one in written] == ["map-last-loss.pgf", "map-last-loss.svg"]
    assert all(one.width == pytest.approx(90) and one.unit == "mm" for one in written)
    assert [one.line for one in written] == ["\\input{map-last-loss.pgf}", ""]
    with pytest.raises(SwingbyError, match="there is no figure 'map-last-los'; did you mean 'map-last-loss'"):
        of.paper(tmp_path, figure="map-last-los")


def test_single_runs_are_the_stored_ones(data: Path) -> None:
    """The page has each run of a point, read back to the packing's step; a figure draws those of the chosen points."""
    found, figures = read(data, "bare")
    page = interactive(figures)
    with Store.open(data) as store:
        stored = store.sql(
            """select members.point, seed, step, spot from bare join members using (cell_id)
               join sweeps on sweeps.sweep_id = members.sweep_id and sweeps.name = 'bare' order by all"""
        ).rows()
        examples = Examples.of(found, store)
    (low, high), unit = found.scales["spot"].near, page["panel"]["units"][1]
    assert len(stored) == sum(len(runs) for runs in page["runs"]["of"].values()) == 84
    for row in stored:
        steps, _, spot = page["runs"]["of"][str(row.point)][row.seed]
        at = np.cumsum(page["runs"]["steps"][steps])
        wanted = np.clip(np.array(row.spot)[np.searchsorted(row.step, at)], low, high)
        assert np.cumsum(spot) * page["runs"]["coarseness"] * unit == pytest.approx(wanted, abs=10.1 * unit)
    figure = chosen_curves(found, examples)
    seeds = {(row["point"], row["line"], row["seed"]) for row in rows_of(figure.spec) if row["kind"] == "run"}
    assert len(seeds) == 3 * 2 * 7
    assert vl_convert.vegalite_to_vega(dict(figure.spec), vl_version=VEGA_LITE)["marks"]


def test_parallel_lines_are_the_points(data: Path) -> None:
    """Each point with a result crosses every axis once, and ends at its outcome."""
    found, figures = read(data, "bare-scalars")
    lines = [row for row in rows_of(drawn(figures, "parallel").spec) if row["kind"] == "line"]
    assert len(lines) == 4 * len(found.grid.places)
    ends = {row["point"]: row for row in lines if row["axis"] == "last loss / J"}
    assert sorted(ends) == sorted(found.grid.places)
    assert all(0 <= row["place"] <= 1 for row in lines)
