"""Laws of every installed statement: its head is complete, its sweeps are there, and its SQL runs on an empty store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import duckdb
import pyarrow as pa
import pytest
from scipy.stats import binom
from scipy.stats import t as student

from swingby.model import registry
from swingby.model.columns import parameter_schema
from swingby.select.intervals import wilson
from swingby.sweepfile.sweep import Sweep, named_sweeps
from swingby_analysis.phenomena.catalogue import Phenomenon, every_phenomenon
from swingby_analysis.phenomena.counting import query_of
from swingby_analysis.statements.catalogue import catalogue, diagrams
from swingby_analysis.statements.compose import QueriedSweep, compose
from swingby_analysis.statements.diagram import Diagram
from swingby_analysis.statements.needed import queried_sweep
from swingby_analysis.statements.statement import Statement, parse

EXPERIMENTS = sorted(registry.offered(registry.EXPERIMENTS))
IDS = [statement.slug for statement in catalogue()]
INTERVALS = """-- sweeps: none
-- found: yes
-- not found: no
-- cannot be told: unsure
-- asks: Which rows does the view have?
select n as seed, n, majority, student, told, 1 as effect from intervals"""
"""A finding that shows the whole view `intervals`."""


@cache
def loaded(name: str) -> Sweep:
    """A named sweep."""
    return Sweep.load(name, confirm_above=None)


@cache
def asked(name: str) -> QueriedSweep:
    """A named sweep as a query names it."""
    return queried_sweep(loaded(name))


@dataclass(frozen=True)
class Empty:
    """A database whose tables have no row, and their names."""

    connection: duckdb.DuckDBPyConnection
    names: frozenset[str]


@pytest.fixture(scope="module")
def empty() -> Iterator[Empty]:
    """The tables that statements read, with every declared column and no row."""
    text, number = pa.string(), pa.int64()
    tables = {
        "members": {"sweep_id": text, "point": number, "cell_id": text},
        "conventions": {"sweep_id": text, "point": number, "preset": text},
    }
    for name in EXPERIMENTS:
        experiment = registry.experiment(name)
        curves = [experiment.curves, *experiment.recordings.values(), experiment.scalars]
        tables[name] = {
            "cell_id": text, "seed": number, "shard": text, "status": text, "steps": number,
            **{field.name: field.type for field in parameter_schema(experiment.Params)},
            **{name: column.type for columns in curves for name, column in columns.items()},
        }  # fmt: skip
        for detector in registry.detectors_for(name):
            own = {key: column.type for key, column in detector.outcomes.items()}
            tables[f"outcomes_{detector.name}"] = {"cell_id": text, "of_shard": text, **own}
    with duckdb.connect() as connection:
        for name, columns in tables.items():
            connection.register(name, pa.schema(list(columns.items())).empty_table())
        yield Empty(connection, frozenset(tables))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_column_of_runs_has_one_meaning(name: str) -> None:
    """No two detectors of an experiment have an outcome of one name, and none has that of a parameter or result."""
    experiment = registry.experiment(name)
    curves = [experiment.curves, *experiment.recordings.values(), experiment.scalars]
    columns = [
        *(field.name for field in parameter_schema(experiment.Params)),
        *(key for item in curves for key in item),
    ]
    columns += [outcome for detector in registry.detectors_for(name) for outcome in detector.outcomes]
    assert sorted({column for column in columns if columns.count(column) > 1}) == []


@pytest.mark.parametrize("statement", catalogue(), ids=IDS)
def test_its_query_runs_where_nothing_was_run(statement: Statement, empty: Empty) -> None:
    """A claim then has no row, or one in which no seed tells; a finding has its one row. Nothing is left to fill in."""
    query = compose(statement, [asked(name) for name in statement.sweeps], empty.names)
    rows = empty.connection.execute(query).fetchall()
    if statement.claims:
        assert all(row[2] == 0 for row in rows)
    else:
        assert len(rows) == 1
    texts = [statement.text, statement.setting, statement.measured, *statement.words.values()]
    assert not [text for text in texts if re.search(r"\[[a-z_]+\]", re.sub(r"\{.*?\}", "", text))]


@pytest.mark.parametrize("item", every_phenomenon(), ids=lambda item: f"{item.slug}-{item.experiment}")
def test_a_phenomenon_can_be_asked_of_every_run(item: Phenomenon, empty: Empty) -> None:
    """Its expression is true or false, or a text of regimes, of columns that the experiment and its detectors have."""
    columns = empty.connection.sql(query_of(empty.names, item, "0")).description
    kinds = {name: str(kind) for name, kind, *_ in columns}
    assert kinds["shows"] in (("VARCHAR", "STRING") if item.regimes else ("BOOLEAN", "bool")), item.expression
    assert item.meaning[0].isupper()


def test_the_view_of_intervals_has_the_numbers_of_python() -> None:
    """For each number of seeds of the sweeps: the least count above one half by Wilson, and Student's quantile."""
    (statement,) = parse(INTERVALS, "intervals.sql")
    query = compose(statement, [QueriedSweep("", "sim", seeds=30), QueriedSweep("", "sim", seeds=10)], ())
    with duckdb.connect() as connection:
        (found,) = connection.sql(query).to_arrow_table().to_pylist()
    assert found["n"] == list(range(1, 41))
    for n, majority, factor, told in zip(*(found[key] for key in ("n", "majority", "student", "told")), strict=True):
        above = [k for k in range(n + 1) if wilson(k, n)[0] > 0.5]
        assert majority == (above[0] if above else None)
        assert (told is None) == (majority is None)
        assert told is None or binom.sf(majority - 1, n, told) == pytest.approx(0.8, abs=0.02)
        assert factor == (pytest.approx(student.ppf(0.975, n - 1), rel=1e-5) if n > 1 else None)


@pytest.mark.parametrize("statement", catalogue(), ids=IDS)
def test_its_head_says_all_that_pages_show(statement: Statement) -> None:
    """A slug for addresses, sweeps of its own experiment, a place on the page, and a question in words."""
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", statement.slug)
    assert {asked(name).experiment for name in statement.sweeps} <= set(statement.shared.experiments)
    assert statement.shared.order.count(statement.slug) == 1
    assert statement.question[0].isupper()
    assert len(statement.question) > 30


@pytest.mark.parametrize("statement", catalogue(), ids=IDS)
def test_it_asks_no_refined_sweep(statement: Statement) -> None:
    """Refined cells were chosen by their results, so that means and counts over them are none over the grid."""
    names = {*statement.sweeps, *statement.fresh} & named_sweeps().keys()
    assert not [name for name in names if loaded(name).refine_section is not None]


@pytest.mark.parametrize("diagram", diagrams(), ids=[diagram.slug for diagram in diagrams()])
def test_a_refined_diagram_draws_the_boundaries_that_its_sweep_seeks(diagram: Diagram) -> None:
    """It has a map of shares for each outcome of `refine`, in its words; no sweep has two diagrams."""
    if diagram.slug.endswith("-fine"):
        sought = [label.text for label in loaded(diagram.sweep).refinement().labels]
        assert [one.outcome for one in diagram.maps if one.drawn == "share"] == sought
    assert [one.slug for one in diagrams() if one.sweep == diagram.sweep] == [diagram.slug]
