"""The report of an experiment that nothing is known of: no detector, no declaration, no diagram."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from swingby.run.driver import run_sweep
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.page import Figure
from swingby_analysis.page.plain_files import rows_of
from swingby_analysis.report import data as report_data
from swingby_analysis.report import write_report
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.figures import Figures
from swingby_analysis.report.grid_curves import layout
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


def read(data: Path, name: str) -> tuple[ReportData, Figures]:
    """What a report reads of a sweep, and its figures."""
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
