"""Laws of the shells of experiments: every cell has one final row, however long cells and their preparation take."""

from __future__ import annotations

import pytest

from swingby.model import registry
from swingby.model.experiment import Batch, Recording
from swingby_sweeps.dynamics import shells
from tests.support import experiment_laws

NAMES = [
    name
    for name in sorted(registry.offered(registry.EXPERIMENTS))
    if isinstance(registry.experiment(name), shells.CellExperiment)
]


@pytest.mark.parametrize("together", [0.0, 1000.0])
@pytest.mark.parametrize("name", NAMES)
def test_cells_that_are_slow_come_one_by_one_and_none_is_left_out(
    name: str, together: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table a cell where each takes longer than tables wait, one table where none does."""
    monkeypatch.setattr(shells, "TOGETHER", together)
    cells = tuple(experiment_laws.examples(name)[0].cells())[:3]
    tables = list(registry.experiment(name).run(Batch(cells, Recording(points=4))))
    assert [table.num_rows for table in tables] == ([1, 1, 1] if together == 0 else [3])
    assert [row for table in tables for row in table["cell_id"].to_pylist()] == [cell.cell_id for cell in cells]


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_drains_begins_no_cell(name: str) -> None:
    """What was trained before has its rows."""
    asked = iter([False, True])
    cells = tuple(experiment_laws.examples(name)[0].cells())[:3]
    (table,) = registry.experiment(name).run(Batch(cells, Recording(points=4), draining=lambda: next(asked, True)))
    assert table["cell_id"].to_pylist() == [cells[0].cell_id]
