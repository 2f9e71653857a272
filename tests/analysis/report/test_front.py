"""The first screen of a report: what it says was found, and how runs that failed or diverged are shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.store import Store
from swingby.store.failures import Failed, failures
from swingby.store.sweep_grid import SweepAxis, SweepGrid
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.charts.states import FAILED
from swingby_analysis.charts.summaries import BOUND, Spread
from swingby_analysis.page import Page, Section, Text
from swingby_analysis.page.html import html
from swingby_analysis.page.markdown import markdown
from swingby_analysis.page.plain_files import rows_of
from swingby_analysis.report import data as report_data
from swingby_analysis.report import page as page_of
from swingby_analysis.report import write_report
from swingby_analysis.report.figures import Figures, map_of
from swingby_analysis.report.finding import finding

TRAIN = """
from swingby import experiment

SLOPE = {"slow": 0.1, "fast": 1.0, "wild": 1e60}


@experiment
def slopes(cell, lr: float, act: str = "slow", steps: int = 5):
    w, slope = 1.0 + 0.1 * cell.seed, SLOPE[act]
    for step in range(steps + 1):
        cell.record(step, loss=min(w * w, 1e300))
        w = max(-1e140, min(1e140, w * (1 - lr * slope)))
    return {"small": w * w < 0.5, "left": w * w}
"""
FILE = """
name: slopes
experiment: train.py
description: A weight is multiplied by `1 - lr * slope`.
axes:
  lr: [0.1, 0.3, 1.0]
  act: [slow, fast, wild, unknown]
seeds: 3
outcomes:
  pace: "case when loss[-1] < 0.5 then 'small' else 'large' end"
diagram: {x: lr, facet: act, outcome: small}
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a sweep of which one value of an axis fails."""
    folder = tmp_path_factory.mktemp("slopes")
    (folder / "train.py").write_text(TRAIN)
    (folder / "slopes.yaml").write_text(FILE)
    run_sweep(Sweep.load(folder / "slopes.yaml"), folder / "data", local=True, pilot=False, progress=Progress())
    write_report("slopes", folder / "data", folder / "out", kinds=())
    return folder / "data"


@pytest.fixture(scope="module")
def store(ran: Path) -> Iterator[Store]:
    with Store.open(ran) as opened:
        yield opened


def read(store: Store, outcome: str) -> report_data.ReportData:
    sweep_id = store.sql("select sweep_id from sweeps").rows()[0].sweep_id
    diagram = {"x": "lr", "y": None, "facet": "act", "title": None, "outcome": outcome}
    return report_data.read(store, sweep_id, presentation={"diagram": diagram})


@pytest.mark.parametrize("outcome", ["small", "pace", "left"])
def test_what_was_found_are_averages_over_points(store: Store, outcome: str) -> None:
    """The sentence names an axis and two of its values, with the average at each, which a plain count gives again."""
    data = read(store, outcome)
    sentence = finding(data).replace("\u00a0", " ")
    ends = re.findall(r"([^,:]+) at (lr|act) = (\w[\w.]*)", sentence)
    assert len(ends) == 2, sentence
    for text, axis, value in ends:
        cells = data.cells.filter(pl.col(axis).cast(pl.String).is_in([value.rstrip("."), f"{value.rstrip('.')}.0"]))
        if outcome == "left":
            medians = cells.group_by("point").agg(pl.col("left").median())["left"].to_list()
            number = float(np.median(medians))
            assert f"{number:.3g}" in text if abs(number) < BOUND else "1e100" in text
            continue
        shown = cells["small"] if outcome == "small" else cells["pace"] == re.findall("“(.*?)”", sentence)[-1]
        share = float(shown.cast(pl.Float64).mean() or 0.0)  # pyright: ignore[reportArgumentType]
        assert {0.0: "none", 1.0: "all"}.get(share, f"{100 * share:.0f} %") in text


def test_points_without_a_value_have_the_colour_of_their_reason(store: Store) -> None:
    """Where all runs failed the map has a panel with a mark at each point, and so has where numbers are beyond all."""
    for outcome in ("small", "left"):
        data = read(store, outcome)
        drawn = map_of(data.grid, data.phases, data.outcomes[outcome], None, data.ended)
        rows = rows_of(drawn.spec)
        assert {row["facet"] for row in rows} == set(data.grid.facets)
        failed = {row["point"] for row in rows if row.get("state") == FAILED}
        assert failed == set(data.failed["point"].to_list()) != set()
        assert {point for point in data.grid.places if "unknown" in data.grid.label(point)} == failed
        assert "failed" in drawn.marks


def test_the_page_groups_failures_and_shows_code(store: Store) -> None:
    """Failures are one line with what they have in common; backticks are code; no huge number is printed."""
    data = read(store, "left")
    figures = Figures(data, None)
    text = html(page_of(figures))
    assert "9 cells at act = unknown: KeyError: &#39;unknown&#39;, train.py line 9" in text
    assert "<code>1 - lr * slope</code>" in text
    assert not re.search(r"\de\+[12]\d\d", re.sub(r"<(script|pre)\b.*?</\1>", "", text, flags=re.DOTALL))


@given(
    st.lists(st.integers(2, 4), min_size=1, max_size=3).flatmap(
        lambda sizes: st.tuples(st.just(sizes), st.lists(st.integers(0, 1), min_size=len(sizes), max_size=len(sizes)))
    ),
    st.integers(1, 3),
)
def test_failures_are_named_by_what_they_have_in_common(shape: Any, seeds: int) -> None:
    """Of cells that all failed at one value of some axes, and only there, these values are named, and no others; every
    failed cell is counted once."""
    sizes, fixed = shape
    places = dict(enumerate(product(*map(range, sizes))))
    grid = SweepGrid(
        tuple(SweepAxis(f"a{k}", tuple(range(10, 10 + size))) for k, size in enumerate(sizes)),
        tuple(range(len(sizes))), places,
    )  # fmt: skip
    there = [
        point for point, at in places.items() if all(not one or rank == 0 for one, rank in zip(fixed, at, strict=True))
    ]
    rows = [Failed(point, f"ValueError: loss {seed}.5 (a.py, line 3)") for point in there for seed in range(seeds)]
    (one,) = failures(rows, grid)
    assert one.cells == len(rows)
    named = {k for k in range(len(sizes)) if f"a{k} = " in one.where}
    assert {k for k, of in enumerate(fixed) if of} <= named
    for k in named:
        ranks = {places[point][k] for point in there}
        assert len(ranks) < sizes[k]
    assert "a.py line 3" in str(one)


@given(st.floats(allow_nan=False), st.integers(1, 9))
def test_no_number_is_written_whose_digits_say_nothing(value: float, n: int) -> None:
    """A median of any size is written, and none in more than three digits of exponent."""
    text = Spread(0, n, value, value, value, value, value).text
    assert not re.search(r"e[+]1\d\d|e[+][23]\d\d", text)
    assert (f"{value:.3g}" in text) == (abs(value) < BOUND)


@given(st.lists(st.text("ab<&_ *`", max_size=6), max_size=6).map("`".join))
def test_backticks_are_code_in_both_writers(text: str) -> None:
    """What stands between backticks is code, and all other characters are there as they were."""
    page = Page("test", "Title", [Section("s", "Heading", [Text(text)])])
    plain = re.search(r"<p>(.*?)</p>", html(page).split("<h2>")[1], re.DOTALL)
    assert plain is not None
    assert re.sub("</?code>|`", "", plain[1]).replace("&lt;", "<").replace("&amp;", "&") == text.replace("`", "")
    assert len(re.findall("`.+?`", markdown(page))) >= plain[1].count("<code>")
