"""Laws of every installed detector: its columns, outcomes whatever the company, and nulls that are no fault."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.detector import Detector
from swingby.store import Store
from tests.laws.conftest import Trained

PAIRS = [
    (detector, experiment)
    for experiment in sorted(registry.offered(registry.EXPERIMENTS))
    for detector in registry.detectors_for(experiment)
]
IDS = [f"{detector.name}-{experiment}" for detector, experiment in PAIRS]


@pytest.fixture(scope="module")
def stores(trained: Trained) -> dict[str, Path]:
    """A data folder with finished runs of each experiment that a detector reads."""
    return {experiment: trained(experiment)[0] for experiment in sorted({experiment for _, experiment in PAIRS})}


def rows(detector: Detector, experiment: str, stores: dict[str, Path]) -> pa.Table:
    """What the detector is given of every run, a column that the table lacks as nulls."""
    with Store.open(stores[experiment]) as store:
        there = {name for name, _ in store.tables()[experiment]}
        needs = [f'"{name}"' if name in there else f'null as "{name}"' for name in detector.needs]
        return store.sql(f'select {", ".join(["cell_id", *needs])} from "{experiment}" order by cell_id').arrow()


def said(detector: Detector, table: pa.Table) -> dict[str, list[object]]:
    """What the detector says, cell by cell, in the types that it declares; NaN as a word, so that it equals itself."""
    told = detector.detect(table)
    assert told.column_names == ["cell_id", *detector.outcomes]
    types = pa.schema([("cell_id", pa.string()), *((name, column.type) for name, column in detector.outcomes.items())])
    values = told.cast(types).to_pylist()
    assert [row["cell_id"] for row in values] == table["cell_id"].to_pylist()
    return {row["cell_id"]: [repr(value) for value in row.values()] for row in values}


@pytest.mark.parametrize(("detector", "experiment"), PAIRS, ids=IDS)
def test_what_is_declared(detector: Detector, experiment: str) -> None:
    """What a diagram may draw is an outcome; every outcome says what it means; categories are texts."""
    assert set(detector.kinds) <= set(detector.outcomes)
    assert all(column.meaning for column in detector.outcomes.values())
    fitting = {"yes_no": pa.types.is_boolean, "category": pa.types.is_string, "number": pa.types.is_primitive}
    assert [name for name, kind in detector.kinds.items() if not fitting[kind](detector.outcomes[name].type)] == []
    assert experiment in registry.offered(registry.EXPERIMENTS)


@pytest.mark.parametrize(("detector", "experiment"), PAIRS, ids=IDS)
def test_a_cell_is_told_of_alone_as_in_company(detector: Detector, experiment: str, stores: dict[str, Path]) -> None:
    """One cell at a time, all at once, in the other order and cut in two: each cell's outcomes are equal to the bit."""
    table = rows(detector, experiment, stores)
    whole = said(detector, table)
    assert len(whole) == table.num_rows >= 6
    assert any(set(values[1:]) != {"None"} for values in whole.values())
    backwards = said(detector, table.take(list(reversed(range(table.num_rows)))))
    alone = [said(detector, table.slice(index, 1)) for index in range(table.num_rows)]
    assert backwards == whole
    assert {cell: values for one in alone for cell, values in one.items()} == whole


@pytest.mark.parametrize(("detector", "experiment"), PAIRS, ids=IDS)
def test_nulls_and_no_rows_are_no_fault(detector: Detector, experiment: str, stores: dict[str, Path]) -> None:
    """Without rows there are none; where all that runs recorded is null, each has its row. Where one column of it is
    null, too, or the detector says in words of which cell the curves do not fit each other."""
    table, offered = rows(detector, experiment, stores), registry.experiment(experiment)
    results = {*offered.scalars, *offered.curves}.union(*offered.recordings.values())
    recorded = [name for name in detector.needs if name in results]
    assert said(detector, table.slice(0, 0)) == {}
    assert len(said(detector, without(table, recorded))) == table.num_rows
    for name in recorded:
        assert told_or_refused(detector, without(table, [name]))


def told_or_refused(detector: Detector, table: pa.Table) -> bool:
    """Whether the detector tells of every row, or refuses the table by the name of a cell."""
    try:
        return len(said(detector, table)) == table.num_rows
    except SwingbyError as error:
        return any(cell in str(error) for cell in table["cell_id"].to_pylist())


def without(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The table with nulls in these columns."""
    for name in names:
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.nulls(table.num_rows, table.schema.field(name).type))
    return table
