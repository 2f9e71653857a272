"""Laws of the recorded training points: they are some of those that the cell was trained on, the nearest ones first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swingby.model.cell import Cell
from swingby.model.experiment import Batch, Recording
from swingby_sweeps.sim import task
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.params import SimParams

SIM = Sim()
Array = np.ndarray
NEAREST, MOST = 50, 500


def run(*cells: Cell, also: tuple[str, ...] = ("points",)) -> list[dict[str, Any]]:
    (table,) = SIM.run(Batch(cells, Recording(points=5, also=also)))
    return table.to_pylist()


def cell(seed: int = 0, **values: Any) -> Cell:
    return Sim.point("paper", **{"d": 3, "width": 3, "epochs": 1, "sigma": (0.5, 0.4), **values}).cell(seed)


def away(drawn: Cell, points: Array) -> Array:
    assert isinstance(drawn.params, SimParams)
    return np.linalg.norm(points - task.test_point(drawn.params), axis=1)


@pytest.mark.parametrize("n", [7, 30, 200, 251, 1000])
@pytest.mark.parametrize("zero_cluster", [False, True])
def test_they_are_drawn_points_each_at_most_once(n: int, zero_cluster: bool) -> None:
    """Bit for bit points of the cell, none twice; all of them if there are few, else nearly 500 from every cluster."""
    one = cell(n=n, zero_cluster=zero_cluster, model="relu")
    points, drawn = np.array(run(one)[0]["training_point"]), task.draw_points(one)
    number = {row.tobytes(): k for k, row in enumerate(drawn)}
    places = [number[row.tobytes()] for row in points]
    assert len(set(places)) == len(places)
    if len(drawn) <= MOST:
        assert len(places) == len(drawn)
    else:
        assert MOST / 2 < len(places) <= MOST
    assert {place // n for place in places} == set(range(2 + zero_cluster))
    assert places[NEAREST:] == sorted(places[NEAREST:])


def test_the_nearest_come_first() -> None:
    """The first 50 are the 50 nearest to the test point, in the order of their distance; no other is nearer."""
    one = cell(n=400, rotate=True)
    drawn, points = task.draw_points(one), np.array(run(one)[0]["training_point"])
    distances = away(one, points)
    np.testing.assert_array_equal(distances[:NEAREST], np.sort(away(one, drawn))[:NEAREST])
    assert distances[NEAREST:].min() >= distances[NEAREST - 1]


def test_none_of_a_truncated_cell_lies_near_the_test_point() -> None:
    """Truncated, the nearest point is at least min(mu)/2 away; the same seed has nearer ones without truncation."""
    wide = {"n": 2000, "mu": (1.0, 1.5), "sigma": (0.6, 0.6)}
    cut, whole = (cell(truncate=truncate, **wide) for truncate in (True, False))
    (row,), (other,) = run(cut), run(whole)
    assert away(cut, np.array(row["training_point"])).min() >= 0.5
    assert away(whole, np.array(other["training_point"])).min() < 0.5


def test_each_cell_has_its_own_or_none_where_none_are_drawn() -> None:
    """In a batch each cell has what it has alone; one driven by population moments has a null."""
    values = {"n": 20, "drive": "gd", "gd_steps": 3}
    cells = [cell(0, **values), cell(1, moments="population", **values), cell(2, mu=(2.0, 1.0), **values)]
    rows = [row["training_point"] for row in run(*cells)]
    assert rows[1] is None
    assert [rows[0], rows[2]] == [run(one)[0]["training_point"] for one in (cells[0], cells[2])]


def test_not_asked_for_they_are_not_there_and_asked_for_they_change_nothing() -> None:
    """The column comes with the recording only, and all other columns are the same with it."""
    (without,), (beside,) = run(cell(n=60), also=()), run(cell(n=60))
    assert set(beside) - set(without) == {"training_point"}
    assert {name: beside[name] for name in without if name != "seconds"} == {
        name: value for name, value in without.items() if name != "seconds"
    }
