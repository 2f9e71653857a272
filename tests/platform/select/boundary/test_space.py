"""Laws of the grid as the selector of boundaries sees it."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from swingby.select.boundary.space import Space, spread_order

shapes = st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple)


@given(shapes)
def test_the_spread_visits_every_point_once(shape: tuple[int, ...]) -> None:
    """It is a permutation."""
    assert sorted(spread_order(shape)) == list(range(math.prod(shape)))


@given(st.integers(16, 60), st.integers(16, 60), st.integers(3, 7))
def test_every_beginning_of_the_spread_is_spread(rows: int, columns: int, halvings: int) -> None:
    """Of the first points about a quarter lies in each quarter of the grid."""
    first = np.array(np.unravel_index(spread_order((rows, columns))[: 2**halvings], (rows, columns)))
    quarter = (first[0] >= rows / 2) * 2 + (first[1] >= columns / 2)
    # Points on a middle row belong to one half: an odd grid's halves are not equal.
    assert np.abs(np.bincount(quarter, minlength=4) - 2**halvings / 4).max() <= 2 + 2**halvings / 16


@given(st.integers(2, 7), st.integers(1, 30), st.integers(1, 210))
def test_panels_take_turns_in_the_spread(panels: int, points: int, count: int) -> None:
    """At any moment panels of one size differ by one point at most."""
    panel, place = np.divmod(np.arange(panels * points), points)
    space = Space((points,), panel, place, 1)
    taken = np.bincount(space.panel[space.spread[: min(count, len(space))]], minlength=panels)
    assert taken.max() - taken.min() <= 1


def test_ordered_axes_are_axes_and_others_are_panels() -> None:
    """Numbers are even in their rank; names, truth values, and axes that are kept apart make panels."""
    columns = {"rate": [0.1, 1, 10] * 4, "loss": ["a"] * 6 + ["b"] * 6, "depth": [2, 2, 2, 5, 5, 5] * 2}
    groups = [["rate"], ["loss"], ["depth"]]
    space = Space.of(groups, columns)
    assert space.shape == (3, 2)
    assert [len(points) for points in space.panels] == [6, 6]
    assert space.place.tolist() == [0, 2, 4, 1, 3, 5] * 2
    apart = Space.of(groups, columns, apart=["depth"])
    assert apart.shape == (3,)
    assert len(apart.panels) == 4
    assert Space.of([["flag"]], {"flag": [True, False]}).shape == (1,)


def test_parameters_that_advance_together_are_one_axis() -> None:
    """It is ordered as the first of them that holds numbers."""
    columns = {"name": ["x", "y", "z"], "size": [3, 1, 2]}
    space = Space.of([["name", "size"]], columns)
    assert space.shape == (3,)
    assert space.place.tolist() == [2, 0, 1]


def test_an_axis_of_one_value_is_none() -> None:
    """A panel of a single point is a panel."""
    space = Space.of([["a"], ["b"]], {"a": [1.0, 1.0], "b": ["x", "y"]}, seeds=3)
    assert space.shape == (1,)
    assert [points.tolist() for points in space.panels] == [[0], [1]]
    assert space.cells == 6
    assert len(Space.of([], {})) == 0


def test_points_that_advance_together_have_a_place_each() -> None:
    """Also where the first of their numbers is equal: the next decides."""
    columns = {"d": [2, 2, 64, 64], "width": [4, 8, 4, 8], "kind": ["a", "a", "b", "b"]}
    space = Space.of([["kind", "d", "width"]], columns)
    assert space.shape == (4,)
    assert space.place.tolist() == [0, 1, 2, 3]
    assert space.panel.tolist() == [0, 0, 0, 0]
