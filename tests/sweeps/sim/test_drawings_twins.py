"""Drawings of twins: what they count is what the detector says of the runs, and what is left out is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import polars as pl
import pytest

from swingby.errors import SwingbyError
from swingby.run.driver import run
from swingby.run.options import RunOptions
from swingby.select.intervals import wilson
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.page import Figure
from swingby_analysis.report import data as report_data
from swingby_analysis.report.subject import Subject
from swingby_sweeps.sim.drawings.detection import ALL, Detection, classes, counted
from swingby_sweeps.sim.drawings.twins import Twins, differences

BASE = "base: {model: linear, d: 2, s: 2, mu: [1.0, 2.7], width: 3, n: 200, epochs: 30, batch_size: 32}"
SWEEPS = {
    "beside": f"""
experiment: sim
preset: authors
{BASE}
axes: {{lr: [0.03, 0.1, 3.0], layers: [2, 4]}}
seeds: {{count: 12, mode: independent}}
record: {{points: 100, also: [twin_gd, twin_flow]}}
diagram: {{x: lr, y: layers, outcome: transient_memorization}}
""",
    "alone": f"""
experiment: sim
{BASE.replace("epochs: 30", "epochs: 1")}
axes: {{lr: [0.03, 0.1]}}
diagram: {{x: lr, outcome: transient_memorization}}
""",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with a small sweep with twins, some of which diverge, and one without."""
    data = tmp_path_factory.mktemp("twins") / "data"
    sweeps = [Sweep.parse(f"name: {name}\n{text}", f"{name}.yaml") for name, text in SWEEPS.items()]
    run(sweeps, data, RunOptions(local=True, pilot=False))
    with Store.open(data) as opened:
        yield opened


@pytest.fixture(scope="module")
def subject_of(store: Store) -> Callable[[str], Subject]:
    """The subject of a sweep, each read once."""

    @cache
    def read(name: str) -> Subject:
        (found,) = store.sql("select sweep_id from sweeps where name = ?", [name]).rows()
        return Subject(report_data.read(store, found.sweep_id, (1, 2), {}), store)

    return read


def rows(figure: Figure) -> list[dict[str, Any]]:
    """The rows that a chart carries."""
    json.dumps(figure.spec, allow_nan=False)
    return figure.spec["datasets"][figure.spec["data"]["name"]]


def test_detection_counts_what_the_detector_found(subject_of: Callable[[str], Subject]) -> None:
    """Every tile of the table and every false call is a count of the store's outcomes, with Wilson's interval."""
    subject = subject_of("beside")
    power, table, calls = Detection().figures(subject, Detection.Options())
    cells = subject.cells.filter(pl.col("status") == "ok")
    assert 0 < cells.height < subject.cells.height
    bumps = cells.filter("twin_gd_transient_memorization")
    assert bumps.height
    sums = {figure.slug: sum(row["n"] for row in rows(figure) if row["panel"] == ALL) for figure in (power, calls)}
    assert sums == {
        "detection-power": bumps.height,
        "detection-false-calls": cells.filter(pl.col("twin_gd_descents_fine") < 2).height,
    }
    for row in rows(table):
        (low, high) = next(
            ends for name, *ends in [*classes(), ("5 and more", 0.05, float("inf"))] if name == row["column"]
        )
        own = bumps.filter(pl.col("twin_gd_bump_height").is_between(low, high, closed="left"))
        own = own.filter(pl.col("lr") == float(row["line"]))
        if row["panel"] != ALL:
            own = own.filter(pl.col("layers") == int(row["panel"].split()[0]))
        assert (row["k"], row["n"]) == (own["found_of_twin"].sum(), own.height)
        assert (row["low"], row["high"]) == pytest.approx([float(end) for end in wilson(row["k"], row["n"])], abs=1e-4)
    assert "diverged left out" in power.caption


def test_classes_of_size_hold_their_lower_edge() -> None:
    """A bump of just 5 % counts among those of 5 % and more; sizes without a run have no row."""
    runs = pl.DataFrame(
        {"lr": [0.1] * 3, "layers": [2] * 3, "bump": [0.05, 0.049, 0.0], "transient": [True, True, False],
         "monotone": [False, False, True], "called": [True, False, True]}
    )  # fmt: skip
    assert [(row.column, row.k, row.n) for row in counted(runs, classes())] == [("2 to 5", 0, 1), ("5 to 10", 1, 1)]
    assert [(row.panel, row.k, row.n) for row in counted(runs)] == [("2 layers", 1, 1)]


def test_maps_of_twins(subject_of: Callable[[str], Subject]) -> None:
    """The maps have the shares of the store without runs that diverged, which have a map of their own."""
    subject = subject_of("beside")
    figures = {figure.slug: figure for figure in Twins().figures(subject, Twins.Options())}
    assert list(figures) == ["twins-phenomenon", "twins-found", "twins-difference", "twins-diverged"]
    gone = subject.cells.filter(pl.col("status") == "diverged")
    assert "that diverged" in figures["twins-phenomenon"].caption
    assert sum(row["k"] for row in rows(figures["twins-diverged"]) if row["kind"] == "tile") >= gone.height > 0
    kept = subject.cells.filter((pl.col("status") == "ok") & (pl.col("lr") < 1))
    for slug, outcome in (("twins-phenomenon", "twin_gd_transient_memorization"), ("twins-found", "found_of_twin")):
        for row in rows(figures[slug]):
            if row["kind"] == "tile" and row["x"] < 1:
                own = kept.filter((pl.col("point") == row["point"]) & pl.col(outcome).is_not_null())
                assert (row["k"], row["n"]) == (own[outcome].sum(), own.height)


def test_a_difference_is_no_chance_where_enough_pairs_differ() -> None:
    """Share of runs less share of twins; a pair of which one is unknown is left out; a few pairs decide nothing."""
    of = {"point": [1] * 20 + [2] * 5, "transient_memorization": [False] * 20 + [True, None, True, False, False]}
    runs = pl.DataFrame({**of, "twin_gd_transient_memorization": [True] * 15 + [False] * 5 + [True] * 2 + [False] * 3})
    first, second = differences(runs)
    assert (first.difference, first.sure) == (-0.75, True)
    assert first.low < -0.75 < first.high < 0
    assert (second.difference, second.sure) == (0.25, False)


@pytest.mark.parametrize("drawing", [Detection(), Twins()], ids=lambda drawing: drawing.name)
def test_a_sweep_without_twins_is_refused(subject_of: Callable[[str], Subject], drawing: Detection | Twins) -> None:
    """It is told that no run has a twin."""
    with pytest.raises(SwingbyError, match=f"cannot be drawn as {drawing.name}: no run by SGD"):
        drawing.figures(subject_of("alone"), drawing.Options())
