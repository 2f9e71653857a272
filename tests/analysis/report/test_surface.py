"""Laws of the fitted surface of a share map: its line, its band, points that were never trained, and cells spent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.select.boundary import share_fit as module
from swingby.select.boundary.share_fit import SCHEMA, share_fit
from swingby.select.boundary.space import Space
from swingby.select.boundary.verdicts import Goal
from swingby_analysis.charts.maps import MOST_FITTED, _fitted_tiles, share_map
from swingby_analysis.charts.summaries import BAND, LINE, Corner, Fitted, Share, Surface
from swingby_analysis.grid import Grid, GridAxis, SweepGrid
from swingby_analysis.page.plain_files import rows_of
from swingby_analysis.report import phases
from swingby_analysis.report.figures import spent_map
from swingby_analysis.report.phases import Phases, boundary
from swingby_analysis.stats.shares import wilson
from tests.analysis.charts.test_charts import items

X, Y = [float(x) for x in range(1, 10)], [2.0**y for y in range(7)]


def grid(x: Sequence[float], y: Sequence[float] | None, facets: Sequence[Any] = (None,)) -> Grid:
    """A full grid with a point a tile, its panels along an axis of their own."""
    axes = {"x": x, "y": y or [0], "z": facets}
    rows = [{"x": a, "y": b, "z": c} for c in facets for b in axes["y"] for a in x]
    sweep = SweepGrid.of([["x"], ["y"], ["z"]], [{"point": point, **row} for point, row in enumerate(rows)])
    places = {p: (x.index(r["x"]), axes["y"].index(r["y"]), facets.index(r["z"])) for p, r in enumerate(rows)}
    drawn = GridAxis.of("y", "y", y) if y else None
    labels = ("",) if facets == (None,) else tuple(f"z = {value}" for value in facets)
    return Grid(GridAxis.of("x", "x", x), drawn, labels, places, {}, sweep, "z")


def share(point: int, k: int, n: int) -> Share:
    low, high = wilson(k, n)
    return Share(point, k, n, k / n, float(low), float(high))


def shares(shape: Grid, of: Callable[[int, int, int], float], seeds: int, leave: Collection[int] = ()) -> list[Share]:
    """The shares of as many seeds at each point, as near as they can be to those that are given by place."""
    return [
        share(point, round(seeds * of(*place)), seeds) for point, place in shape.places.items() if point not in leave
    ]


def step(i: int, j: int, facet: int) -> float:
    """Never on the left of the grid, always on its right."""
    return float(i >= 5)


def fitted(shape: Grid, known: Sequence[Share], trained: Collection[int] | None = None) -> Surface:
    found = boundary(shape, known, trained)
    assert found is not None
    return found


def of_part(surface: Surface, part: str) -> list[Corner]:
    return [corner for corner in surface.corners if corner.part == part]


def test_a_flat_surface_has_no_line() -> None:
    """Where every share is nine tenths, there is neither a line nor a band, and every point is told."""
    shape = grid(X, Y)
    surface = fitted(shape, shares(shape, lambda *_: 0.9, 20))
    assert surface.corners == []
    assert {fit.verdict for fit in surface.at.values()} == {"above"}
    assert all(0.8 < fit.mean < 0.97 for fit in surface.at.values())


@pytest.mark.parametrize("x", [X, [10.0**k for k in range(9)]], ids=["linear", "log"])
def test_the_line_of_a_step_runs_between_its_tiles(x: list[float]) -> None:
    """It crosses the whole panel between the last point below and the first above, from edge to edge."""
    shape = grid(x, Y)
    surface = fitted(shape, shares(shape, step, 10))
    line = of_part(surface, LINE)
    assert {corner.line for corner in line} == {line[0].line}
    assert all(x[4] < corner.x < x[5] for corner in line)
    assert shape.y is not None
    assert [min(c.y for c in line), max(c.y for c in line)] == pytest.approx([shape.y.edges[0], shape.y.edges[-1]])
    sides = {point: fit.verdict for point, fit in surface.at.items() if shape.places[point][0] in (2, 7)}
    assert all(verdict == ("below" if shape.places[point][0] == 2 else "above") for point, verdict in sides.items())


def test_the_band_is_narrower_with_more_seeds() -> None:
    """Around a slope the points whose side is not told are fewer, and the band's two lines nearer to each other."""
    shape = grid([float(x) for x in range(20)], Y)
    widths, open_ = [], []
    for seeds in (4, 40):
        surface = fitted(shape, shares(shape, lambda i, j, _: 1 / (1 + math.exp((9.5 - i) / 3)), seeds))
        ends = [corner.x for corner in of_part(surface, BAND)]
        widths.append(float(np.mean([x for x in ends if x > 9.5]) - np.mean([x for x in ends if x < 9.5])))
        open_.append(sum(not fit.decided for fit in surface.at.values()))
    assert widths[1] < 0.7 * widths[0]
    assert open_[1] < open_[0]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 10), min_size=24, max_size=24))
def test_lines_agree_with_what_is_said_of_points(counts: list[int]) -> None:
    """Between neighbours told to lie above and below run the line and both lines of the band; else a band at most."""
    shape = grid([1.0, 2.0, 3.0], [2.0, 4.0, 8.0, 16.0], (1, 2))
    surface = fitted(shape, [share(point, k, 10) for point, k in enumerate(counts)])
    assert shape.y is not None
    at = {shape.places[point]: fit.verdict for point, fit in surface.at.items()}
    for (i, j, panel), verdict in at.items():
        beside = at.get((i + 1, j, panel))
        between = {  # a ring ends where it began
            (corner.part, corner.x)
            for corner in surface.corners
            if corner.facet == shape.facets[panel]
            and math.isclose(corner.y, shape.y.positions[j])
            and i + 1 < corner.x < i + 2
        }
        if {verdict, beside} == {"above", "below"}:
            assert Counter(part for part, _ in between) == {LINE: 1, BAND: 2}
        elif beside == verdict and verdict in ("above", "below"):
            assert not between


def test_panels_of_the_diagram_tell_nothing_of_each_other() -> None:
    """The same results in a panel give the same fit, whatever the other panel shows; its axis has numbers."""
    shape = grid(X, Y, (1, 2))
    alike, unlike = (
        fitted(shape, shares(shape, lambda i, j, f, other=other: step(i, j, 0) if f == 0 else other, 6))
        for other in (0.0, 1.0)
    )
    first = [point for point, place in shape.places.items() if place[2] == 0]
    assert [alike.at[point] for point in first] == [unlike.at[point] for point in first]
    assert {corner.facet for corner in alike.corners} == {"z = 1"}


def test_a_point_that_was_never_trained_has_a_faint_tile() -> None:
    """It has the fitted share, and its tooltip says that it has no seed; a point without an answer stays blank."""
    shape = grid(X, Y)
    left, silent = [10, 40, 41], 5
    known = shares(shape, step, 10, leave=[*left, silent])
    surface = fitted(shape, known, {one.point for one in known} | {silent})
    assert set(surface.at) == set(shape.places) - {silent}
    spec = share_map(shape, known, surface, "it").to_dict()
    faint = [row for row in rows_of(spec) if row["kind"] == "fitted"]
    assert [row["point"] for row in faint] == left
    assert all(row["share"] == pytest.approx(surface.at[row["point"]].mean, rel=1e-4) for row in faint)
    assert all(row["text"].startswith("no seed; fitted ") for row in faint)
    assert sum(item["marktype"] == "rect" for item in items(spec)) == len(shape.places) - 1
    assert sum(item["marktype"] == "rect" for item in items(share_map(shape, known, None, "it").to_dict())) == len(
        known
    )


@pytest.mark.parametrize("count", [141, 142, 143, 213, 250])
def test_very_many_points_without_seeds_share_tiles_in_blocks(count: int) -> None:
    """The blocks cover a panel without gaps or overlaps, each with the fitted share of the point in its middle."""
    shape = grid(list(range(count)), list(range(count)))
    at = {point: Fitted(i / count, 0.0, 1.0, "unknown") for point, (i, _, _) in shape.places.items()}
    rows = _fitted_tiles(shape, at, set() if count == 141 else {0, 1})
    assert len(rows) <= MOST_FITTED
    x0, x1, y0, y1 = (np.array([row[name] for row in rows]) for name in ("x0", "x1", "y0", "y1"))
    assert ((x1 - x0) * (y1 - y0)).sum() == pytest.approx(count**2)
    corners = {(row["x0"], row["y0"]) for row in rows}
    assert len(corners) == len(rows)
    assert (min(x0), max(x1), min(y0), max(y1)) == (-0.5, count - 0.5, -0.5, count - 0.5)
    assert all(row["share"] == row["x"] / count for row in rows)


def test_a_tile_says_its_fitted_share_and_the_side() -> None:
    """The tooltip has the counts first, then the fitted share with its interval; a dot stands where no side is told."""
    shape = grid(X, Y)
    known = shares(shape, step, 3)
    surface = fitted(shape, known)
    spec = share_map(shape, known, surface, "it").to_dict()
    tiles = [row for row in rows_of(spec) if row["kind"] == "tile"]
    for row in tiles:
        assert row["text"].startswith(f"{row['k']} of 3 seeds: ")
        assert row["text"].endswith(surface.at[row["point"]].text)
    drawn = list(items(spec))
    open_ = sum(not fit.decided for fit in surface.at.values())
    assert 0 < open_ == sum(item["marktype"] == "symbol" and item.get("shape", "circle") == "circle" for item in drawn)
    assert sum(item["marktype"] == "line" for item in drawn) == 2 * len(surface.corners)  # each over its casing


def test_along_one_parameter_the_fit_is_a_line_with_a_band() -> None:
    """One line and one area are drawn beside the marks; points without a seed have no mark."""
    shape = grid(X, None)
    known = shares(shape, step, 8, leave=[3, 4])
    drawn = list(items(share_map(shape, known, fitted(shape, known, {one.point for one in known}), "it").to_dict()))
    kinds = Counter(item["marktype"] for item in drawn)
    assert kinds["symbol"] == len(known)
    assert kinds["rule"] == len(known) + 1  # the line at one half
    assert kinds["area"] == kinds["line"] == len(X)  # an item a corner


def test_few_results_have_no_surface() -> None:
    """A single point, and a panel of two seeds, are drawn as without a fit."""
    alone, small = grid([1.0], [1.0]), grid(X, Y)
    assert boundary(alone, [share(0, 3, 9)]) is None
    assert boundary(small, [share(0, 0, 1), share(1, 1, 1)]) is None
    assert boundary(small, []) is None


def test_a_fit_that_fails_costs_only_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The map is drawn without a surface."""

    def fails(*_: object) -> pa.Table:
        raise np.linalg.LinAlgError("not positive definite")

    monkeypatch.setattr(module, "share_fit", fails)
    phases._fit.cache_clear()
    shape = grid(X, Y)
    known = shares(shape, step, 7)
    assert boundary(shape, known) is None
    phases._fit.cache_clear()


def test_equal_counts_are_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second map of the same counts takes the first one's fit."""
    asked = list[int]()

    def counted(space: Space, *more: Any) -> pa.Table:
        asked.append(len(space))
        return share_fit(space, *more)

    monkeypatch.setattr(module, "share_fit", counted)
    phases._fit.cache_clear()
    known = [shares(grid(X, Y), step, seeds) for seeds in (3, 3, 4)]
    for one in known:
        boundary(grid(X, Y), one)
    assert asked == [len(X) * len(Y)] * 2


def cells(seeds: Sequence[int]) -> pl.DataFrame:
    """Finished cells: so many of each point."""
    return pl.DataFrame({"point": [point for point, n in enumerate(seeds) for _ in range(n)]})


def test_cells_spent_are_drawn_where_they_differ() -> None:
    """A full grid has no such map; one whose points differ has, with every point of the sweep on it."""
    shape = grid([1.0, 2.0, 3.0], [1.0, 2.0])
    assert spent_map(shape, Phases(cells([4] * 6))) is None
    figure = spent_map(shape, Phases(cells([4, 0, 4, 1, 4, 0])))
    assert figure is not None
    assert [row["seeds"] for row in rows_of(figure.spec)] == [4, 0, 4, 1, 4, 0]
    assert "4 of 6 points have cells; seeds per point from 1 to 4" in figure.caption


# the table


def test_the_table_has_a_row_a_point_and_no_fit_without_labels() -> None:
    """Panels of few labels are null; counts are as given, and the verdict agrees with the probability of its side."""
    columns = {"x": [1, 2, 3, 4] * 2, "kind": ["a"] * 4 + ["b"] * 4}
    k, n = np.array([0, 0, 9, 9, 0, 1, 0, 0]), np.array([9, 9, 9, 9, 1, 1, 0, 0])
    table = share_fit(Space.of([["x"], ["kind"]], columns), Goal(), k, n)
    assert table.schema == SCHEMA
    assert table["k"].to_pylist() == k.tolist()
    assert table["n"].to_pylist() == n.tolist()
    assert table["verdict"].to_pylist()[4:] == [None] * 4
    for row in table.slice(0, 4).to_pylist():
        assert 0 <= row["low"] < row["mean"] < row["high"] <= 1
        assert (row["above"] > 0.975) == (row["verdict"] == "above")
        assert (row["above"] < 0.025) == (row["verdict"] == "below")
