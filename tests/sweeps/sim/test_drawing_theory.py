"""The drawing `theory`: every time and rate of the store is a mark, and each panel counts what lies within a tenth."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from swingby import sandbox
from swingby.errors import SwingbyError
from swingby.select.intervals import wilson
from swingby.store import Store
from swingby.store.lookup import find_sweep
from swingby_analysis.charts.scatter import Dot, scatter
from swingby_analysis.charts.style import short
from swingby_analysis.page import Figure
from swingby_analysis.report import data as report_data
from swingby_sweeps.sim.drawings.subject import Subject
from swingby_sweeps.sim.drawings.theory import Theory
from tests.support.command import swingby

Row = dict[str, Any]
BASE = "experiment: sim\nrecord: {also: [jacobian]}\n"
SWEEPS = {
    "family": "base: {model: symmetric, s: 3, d: 3, gd_steps: 6000}\naxes: {preset: [paper, authors]}\n",
    "layer": "base: {model: one_layer, d: 4, s: 2, n: 500, lr: 0.05}\naxes: {preset: [paper, authors], mu.1: [2, 3]}\n",
    "short": "base: {model: symmetric, s: 2, d: 2, gd_steps: 300}\n",
    "wild": "base: {model: w_recurrence, s: 3, d: 3, mu: [0.7, 1.7, 3.0], lr: 0.01, gd_steps: 8000}\nseeds: 12\n",
    "deep": "base: {model: linear, d: 2, s: 2, n: 50, epochs: 1}\n",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a small sweep of each kind."""
    folder = tmp_path_factory.mktemp("drawing")
    for name, text in SWEEPS.items():
        (folder / f"{name}.yaml").write_text(f"name: {name}\n{BASE}{text}" + ("" if "seeds:" in text else "seeds: 4\n"))
    files = [str(folder / f"{name}.yaml") for name in SWEEPS]
    done = swingby("run", *files, "--data", folder / "data", "--local", "--no-pilot")
    assert done.exit_code == 0, done.output
    return folder / "data"


@pytest.fixture(scope="module")
def store(data: Path) -> Iterator[Store]:
    with Store.open(data) as opened:
        yield opened


@pytest.fixture(scope="module")
def shown(store: Store) -> Callable[[str], list[Figure]]:
    """The figures of a sweep, each drawn once."""
    return cache(lambda name: drawn(store, name))


def drawn(store: Store, name: str) -> list[Figure]:
    """The figures of a sweep."""
    subject = Subject(report_data.read(store, find_sweep(store, name).sweep_id), store)
    return list(Theory().figures(subject, Theory.Options()))


def rows(figure: Figure, *kinds: str) -> list[Row]:
    return [row for row in values(figure.spec) if row["kind"] in kinds]


def values(spec: Mapping[str, Any]) -> list[Row]:
    """The rows that a chart carries."""
    return spec["datasets"][spec["data"]["name"]]


def compared(store: Store, name: str, level: float = 0.1) -> dict[str, Counter[bool]]:
    """By preset: how many arrival times lie within `level`, from the detectors' own tables, cell by cell."""
    query = """select c.preset, e.steps, o.predicted_t90, o.measured_t90
               from members m join sweeps s using (sweep_id) join conventions c using (sweep_id, point)
               join sim e using (cell_id) join outcomes_theory o using (cell_id)
               where s.name = ? and o.measured_t90 is not null"""
    found: dict[str, Counter[bool]] = {}
    for row in store.sql(query, [name]).rows():
        for predicted, measured in zip(row.predicted_t90, row.measured_t90, strict=True):
            if measured > 0 and not (math.isinf(measured) and predicted > row.steps):
                found.setdefault(row.preset, Counter())[abs(measured / predicted - 1) <= level] += 1
    return found


def test_every_time_is_a_mark_and_every_panel_counts_its_own(
    store: Store, shown: Callable[[str], list[Figure]]
) -> None:
    """As many marks as times to be compared; the panels' counts are those of the detectors' tables, with Wilson."""
    times, rates = shown("family")
    expected = compared(store, "family")
    assert len(rows(times, "dot", "edge")) == sum(counts.total() for counts in expected.values())
    notes = [row["text"] for row in rows(times, "note")]
    assert len(notes) == 2
    for note, preset in zip(notes, ("paper", "authors"), strict=True):
        k, n = expected[preset][True], expected[preset].total()
        low, high = (round(100 * float(end)) for end in wilson(k, n))
        assert note.replace("\u00a0", " ") == f"{k} of {n} within 10 %\n({low} to {high} %)"
    assert {row["series"] for row in rows(times, "dot")} == {"concept 1", "concept 2", "concept 3"}
    assert any(row["series"].endswith("minor entries") for row in rows(rates, "dot"))
    assert times.slug != rates.slug


def test_the_query_beside_the_figure_gives_its_numbers(shown: Callable[[str], list[Figure]], data: Path) -> None:
    """Pasted as it is shown, it gives the rows that the marks are drawn from."""
    (times, *_) = shown("family")
    (query,) = times.queries
    found = [row for row in sandbox.query(data, query.readable).to_pylist() if row["kind"] == "arrival"]
    marks = sorted((row["seed"], row["x"], row["y"]) for row in rows(times, "dot"))
    assert marks == sorted((row["seed"], short(row["predicted"]), short(row["measured"])) for row in found)


def test_what_a_panel_leaves_out_is_said(store: Store) -> None:
    """Runs that diverged, and minor fits that did not fall along a line, are counted; what is drawn is the rest."""
    (times, rates) = drawn(store, "wild")
    query = """select e.seed, e.status, o.minor_r2
               from members m join sweeps s using (sweep_id) join sim e using (cell_id)
               join outcomes_descents o using (cell_id) where s.name = 'wild'"""
    runs = store.sql(query).rows()
    gone = {run.seed for run in runs if run.status == "diverged"}
    assert 0 < len(gone) < len(runs)
    (note,) = (row["text"] for row in rows(times, "note"))
    assert f"{len(gone)} run{'s' if len(gone) > 1 else ''} diverged: left out" in note
    assert f"{len(gone)} that diverged left out" in times.caption
    assert not gone & {row["seed"] for row in rows(times, "dot", "edge")}
    fits = [r2 for run in runs if run.status == "ok" for r2 in run.minor_r2 or [] if r2 is not None]
    minors = [row for row in rows(rates, "dot") if row["series"].endswith("minor entries")]
    assert len(minors) == sum(r2 >= 0.98 for r2 in fits)
    bent = len(fits) - len(minors)
    (note,) = (row["text"] for row in rows(rates, "note"))
    assert (f"R^2 < 0.98: {bent} left out" in note) == (bent > 0)


def test_points_of_which_theory_is_silent_have_no_panel(store: Store) -> None:
    """The authors' one layer has a bias: its points are left out, and the caption says how many."""
    (times, rates) = drawn(store, "layer")
    assert len(rows(times, "note")) == 2
    assert "2 points of which theory does not speak" in times.caption
    assert "Theorem 4.1" in times.reading
    assert "eq 4.3" not in times.reading + rates.reading


def test_a_sweep_without_theory_is_refused(store: Store) -> None:
    """Deep nets cannot be drawn so, and the error says of what theory speaks."""
    with pytest.raises(SwingbyError, match="cannot be drawn as theory: theory speaks of"):
        drawn(store, "deep")


def test_runs_too_short_for_a_concept_leave_it_out(store: Store) -> None:
    """At 300 steps the second concept is to come: no mark, and no miss."""
    (times, *_) = drawn(store, "short")
    assert {row["series"] for row in rows(times, "dot", "edge")} == {"concept 2"}


def test_what_never_came_is_a_triangle_on_the_edge() -> None:
    """Infinite times are drawn on the edges of a range that the finite ones set, and count in no scale."""
    dots = [Dot("a", "concept 1", "concept 1", seed, 10.0, measured) for seed, measured in enumerate((10.0, math.inf))]
    spec = scatter(dots, {"a": ["note"]}, {"concept 1": "#000"}, ("x", "y")).to_dict()
    (edge,) = [row for row in values(spec) if row["kind"] == "edge"]
    assert edge["edge"] == "up"
    assert 10 < edge["y"] < 20
