"""Slices of grids that have too many points to be drawn whole."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from swingby_analysis.report import slices
from swingby_analysis.report.slices import sliced


def grid(counts: tuple[int, int, int]) -> tuple[pa.Table, dict[str, Any]]:
    """Points on x, y and the second entry of a vector, and their sweep."""
    points = [(i, j, k) for i in range(counts[0]) for j in range(counts[1]) for k in range(counts[2])]
    columns = {
        "point": list(range(len(points))),
        "x": [i for i, _, _ in points],
        "y": [j for _, j, _ in points],
        "z": [[0.0, float(k)] for _, _, k in points],
    }
    axes = [{"names": [name], "values": [[value] for value in range(count)]} for name, count in zip(
        ("x", "y", "z.1"), counts, strict=True)]  # fmt: skip
    return pa.table(columns), {"axes": axes, "diagram": {"x": "x", "y": "y"}}


def test_a_small_grid_is_drawn_whole() -> None:
    """And nothing is said."""
    points, resolved = grid((3, 4, 5))
    assert sliced(points, resolved) == (points, "")


def test_a_large_grid_is_drawn_at_some_values_of_further_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first and the last value are among them; every point of x and y is there; a sentence says which."""
    monkeypatch.setattr(slices, "MOST", 100)
    points, resolved = grid((4, 5, 11))
    drawn, said = sliced(points, resolved)
    assert drawn.num_rows == 4 * 5 * slices.SLICES
    assert sorted({z for _, z in drawn["z"].to_pylist()}) == [0, 2, 4, 6, 8, 10]
    assert said.startswith("The maps show slices: z.1 at 6 of 11 values (0, 2, 4, 6, 8, 10).")


def test_an_axis_of_few_values_is_drawn_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a panel for each of them, however many points there are."""
    monkeypatch.setattr(slices, "MOST", 100)
    points, resolved = grid((10, 10, slices.SLICES))
    assert sliced(points, resolved) == (points, "")
