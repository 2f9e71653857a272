"""The grid of a report's diagrams: every point has its own place, and nothing that varies is pooled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swingby.store.sweep_grid import SweepAxis, SweepGrid
from swingby_analysis.grid import Grid, GridAxis, GridLine, axis_title, grid_of


def resolved(axes: list[tuple[list[str], list[list[Any]]]], diagram: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "axes": [{"names": names, "values": values} for names, values in axes],
        "diagram": diagram,
        "experiment": "sim",
    }


def test_what_else_varies_gets_panels_and_is_never_pooled() -> None:
    """Points that differ in more than x and y stand in different panels, the asked facet's values outermost."""
    axes = [(["lr"], [[0.1], [0.2]]), (["layers"], [[1], [2]]), (["width"], [[4], [8]]), (["mu.1"], [[1.0], [2.0]])]
    every = np.array(np.meshgrid([0.1, 0.2], [1, 2], [4, 8], [1.0, 2.0])).T.reshape(-1, 4).tolist()
    points = [
        {"point": index, "lr": lr, "layers": layers, "width": width, "mu": [1.0, mu]}
        for index, (lr, layers, width, mu) in enumerate(every)
    ]
    grid = grid_of(
        resolved(axes, {"x": "mu.1", "y": "width", "facet": "layers", "outcome": "x", "title": None}), points
    )
    assert len(set(grid.places.values())) == len(points)
    assert grid.facets[0] == "layers = 1, lr = 0.1"
    assert [label.split(",")[0] for label in grid.facets] == ["layers = 1"] * 2 + ["layers = 2"] * 2


def test_zipped_parameters_are_one_axis() -> None:
    """A parameter that advances with x makes no panels; if neither is drawn, a panel names both."""
    axes = [(["d", "width"], [[2, 4], [64, 64]]), (["layers"], [[1], [2]])]
    points = [
        {"point": 2 * i + j, "d": d, "width": w, "layers": layers}
        for i, (d, w) in enumerate([(2, 4), (64, 64)])
        for j, layers in enumerate([1, 2])
    ]
    along = grid_of(resolved(axes, {"x": "d", "y": "layers", "facet": None, "outcome": "x", "title": None}), points)
    assert along.facets == ("",)
    apart = grid_of(resolved(axes, {"x": "layers", "y": None, "facet": None, "outcome": "x", "title": None}), points)
    assert apart.facets == ("d = 2, width = 4", "d = 64, width = 64")
    assert apart.y is None


def test_a_sweep_without_axes_has_one_place() -> None:
    """A single point is a diagram, too."""
    grid = grid_of(resolved([], None), [{"point": 0}])
    assert grid.places == {0: (0, 0, 0)}


@pytest.mark.parametrize("name", ["mu.1", "width", "batch_size", "init_high"])
def test_axes_say_what_they_mean(name: str) -> None:
    """An axis is titled with what the parameter is, and with how the sweep file writes it."""
    title = axis_title(name, "sim")
    assert title.endswith(f"({name})")
    assert len(title) > len(name) + 6


def test_a_line_inside_a_diagram_has_the_corners_within_its_tiles() -> None:
    """Corners beyond the outer edges of the tiles are left out; a diagram along one parameter has no tiles."""
    axis = GridAxis.of("x", "x", [1.0, 2.0, 3.0])
    line = GridLine.through("a line", [(0.4, 1.0), (0.5, 3.5), (2.0, 2.0), (3.0, 3.6)])
    assert line.inside(Grid(axis, axis, ("",), {})) == GridLine("a line", [0.5, 2.0], [3.5, 2.0])
    with pytest.raises(ValueError, match="two axes"):
        line.inside(Grid(axis, None, ("",), {}))


def test_values_of_an_axis_are_those_of_the_sweep() -> None:
    """Whether a diagram draws the axis or not; a parameter that does not vary has none."""
    sweep = SweepGrid((SweepAxis("width", (8, 16)),), (0,), {0: (0,), 1: (1,)})
    axis = GridAxis.of("x", "x", [1.0, 2.0, 3.0])
    grid = Grid(axis, None, ("",), {}, sweep=sweep)
    assert (grid.values("width"), grid.values("x")) == ((8, 16), ())
    assert Grid(axis, None, ("",), {}).values("width") == ()
