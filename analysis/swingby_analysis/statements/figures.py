"""The figures of a diagram: read once from the store, each outcome as a map with the lines of theory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from swingby.store import Store
from swingby_analysis.charts.maps import count_map, height_map, outcome_map, share_map
from swingby_analysis.grid import Grid, GridLine, grid_of
from swingby_analysis.page import Figure
from swingby_analysis.query import Query, ask
from swingby_analysis.report.data import cells_query
from swingby_analysis.report.outcomes import Outcome, outcomes_of
from swingby_analysis.report.phases import Phases, boundary, pooled
from swingby_analysis.statements.diagram import Diagram, Map

READING = {
    "share": (
        "A tile is a point of the grid, its colour the share of the seeds. White dots: the 95 % Wilson interval of "
        "it contains one half. Dark line: the share, taken together with that of the tiles beside it, is one half."
    ),
    "category": "The colour of a tile is the most common outcome at that point, the stronger the more seeds ended so.",
    "median": "The colour of a tile is the median over the runs. The few highest share the last colour.",
    "mean": "The colour of a tile is the mean over the seeds.",
}
THEORY = " Red: theory, computed from the sweep's own parameters."


@dataclass(frozen=True)
class Read:
    """The rows and the grid that the figures of one sweep are made from."""

    resolved: Mapping[str, Any]
    grid: Grid
    cells: pl.DataFrame
    query: Query
    outcomes: Mapping[str, Outcome]

    @classmethod
    def of(cls, store: Store, diagram: Diagram, sweep_id: str) -> Read:
        """Every finished cell of a sweep, without its curves."""
        query = cells_query(store, diagram.experiment, sweep_id)
        (row,) = ask(store, Query("sweep", (sweep_id,))).to_dicts()
        resolved = json.loads(row["resolved"])
        cells = ask(store, query).filter(pl.col("status") != "failed")
        firsts = cells.unique("point", keep="first", maintain_order=True)
        return cls(
            resolved, grid_of(resolved, firsts.iter_rows(named=True)), cells, query, outcomes_of(diagram.experiment)
        )


def figures(store: Store, diagram: Diagram, sweep_id: str) -> list[Figure]:
    """The maps of a diagram, in its order."""
    read = Read.of(store, diagram, sweep_id)
    lines = diagram.lines(read.resolved, read.grid)
    seeds = read.cells["seed"].n_unique()
    axes = f"{read.grid.x.title} against {read.grid.y.title if read.grid.y else ''}"
    facts = {"Sweep": diagram.sweep, "Seeds": f"{seeds} a point, {read.resolved['seed_mode']} draws"}
    charts = []
    for one in diagram.maps:
        spec = _chart(read, one, lines).to_dict()
        # Legends one below the other: Altair's own checks know no layout of legends.
        spec["config"]["legend"]["layout"] = {"bottom": {"anchor": "start", "direction": "vertical", "margin": 12}}
        slug, caption = (
            f"{diagram.slug}-{one.outcome.replace('_', '-')}",
            f"{one.title}; {axes}, {seeds} seeds a point.",
        )
        reading = (one.reading or READING[one.drawn]) + (THEORY if lines else "")
        charts.append(Figure(slug, one.title, caption, reading, spec, [read.query], facts))
    return charts


def _chart(read: Read, one: Map, lines: Sequence[GridLine]) -> Any:
    outcome = read.outcomes[one.outcome]
    legend = one.legend or outcome.title
    cells = read.cells.filter(pl.sql_expr(one.where)) if one.where else read.cells
    if one.drawn == "share":
        shares = Phases(cells).shares(one.outcome)
        return share_map(read.grid, shares, boundary(read.grid, pooled(read.grid, shares)), legend, lines)
    if one.drawn == "category":
        phases = Phases(cells, {one.outcome: outcome.column.order})
        rows, categories = phases.most_common(one.outcome), phases.categories(one.outcome)
        return outcome_map(read.grid, rows, categories, legend, lines)
    number, draw = (pl.col(one.outcome).median(), height_map)
    if one.drawn == "mean":
        number, draw = pl.col(one.outcome).mean(), count_map
    known = cells.drop_nulls(one.outcome).group_by("point").agg(pl.len().alias("n"), number)
    numbers = known.filter(pl.col("n") >= one.fewest).sort("point").select("point", one.outcome)
    return draw(read.grid, dict(numbers.iter_rows()), legend, lines)
