"""The figures of a diagram: read once from the store, each outcome as a map with the lines of theory."""

from __future__ import annotations

import json
import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from altair.utils.schemapi import debug_mode

from swingby.store import Store
from swingby.store.sweep_grid import points_of
from swingby.sweepfile.refinement import labelled
from swingby.sweepfile.sections import DiagramMap
from swingby_analysis.charts.maps import count_map, height_map, outcome_map, share_map
from swingby_analysis.grid import Grid, GridLine, grid_of
from swingby_analysis.page import Figure
from swingby_analysis.query import Query, ask
from swingby_analysis.report import prose
from swingby_analysis.report.cells import cells_query
from swingby_analysis.report.figures import spent_map
from swingby_analysis.report.outcomes import Outcome, outcomes_of
from swingby_analysis.report.phases import Phases, boundary
from swingby_analysis.statements.diagram import Diagram

READING = {
    "share": (
        "A tile is a point of the grid, its colour the share of the seeds. Thick dark line: the share, fitted to all "
        "points by a smooth surface, is one half. Between the thin lines, at the white dots, the fit does not tell "
        "the side with 95 %. Faint tiles were never trained: their colour is the fitted share."
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
        every = points_of(store, diagram.experiment, sweep_id, [axis["names"] for axis in resolved["axes"]])
        outcomes = ChainMap(
            *(dict(outcomes_of(diagram.experiment, diagram_outcome=one.outcome)) for one in diagram.maps)
        )
        return cls(resolved, grid_of(resolved, every), cells, query, outcomes)


def figures(store: Store, diagram: Diagram, sweep_id: str) -> list[Figure]:
    """The maps of a diagram, in its order."""
    read = Read.of(store, diagram, sweep_id)
    phases = Phases(read.cells)
    least, most = phases.seeds()
    seeds, spread = f"{most} a point", f"{most} seeds a point"
    if least < most or len(phases.trained) < len(read.grid.places):
        spread = prose.coverage(len(phases.trained), len(read.grid.places), least, most)
        seeds = f"{least} to {most} a point"
    axes = f"{read.grid.x.title} against {read.grid.y.title if read.grid.y else ''}"
    facts = {"Sweep": diagram.sweep, "Seeds": f"{seeds}, {read.resolved['seed_mode']} draws"}
    theory, charts = diagram.lines(read.resolved, read.grid), []
    for one in diagram.maps:
        lines = [line for line in theory if line.outcome in (None, one.outcome)]
        with debug_mode(False):  # Altair checks each part of a chart as it is made, and then the whole again
            spec = _chart(read, one, lines).to_dict()
        # Legends one below the other: Altair's own checks know no layout of legends.
        spec["config"]["legend"]["layout"] = {"bottom": {"anchor": "start", "direction": "vertical", "margin": 12}}
        slug, caption = (
            f"{diagram.slug}-{_slug(one.outcome)}",
            f"{one.title}; {axes}, {spread}.",
        )
        reading = (one.reading or READING[one.drawn]) + (THEORY if lines else "")
        charts.append(Figure(slug, one.title, caption, reading, spec, [read.query], facts))
    spent = spent_map(read.grid, phases)
    if spent is not None and any(one.drawn == "share" for one in diagram.maps):
        charts.append(replace(spent, slug=f"{diagram.slug}-{spent.slug}", queries=[read.query], facts=facts))
    return charts


def _chart(read: Read, one: DiagramMap, lines: Sequence[GridLine]) -> Any:
    outcome = read.outcomes.get(one.outcome)  # none of a share whose map says what makes an outcome a yes
    legend = one.legend or (outcome.title if outcome is not None else one.outcome)
    cells = read.cells.filter(pl.sql_expr(one.where)) if one.where else read.cells
    if one.drawn == "share":
        shares = Phases(cells.with_columns(_yes(read, one.outcome).alias(one.outcome))).shares(one.outcome)
        return share_map(read.grid, shares, boundary(read.grid, shares, Phases(read.cells).trained), legend, lines)
    if one.drawn == "category":
        phases = Phases(cells, {one.outcome: read.outcomes[one.outcome].column.order})
        rows, categories = phases.most_common(one.outcome), phases.categories(one.outcome)
        return outcome_map(read.grid, rows, categories, legend, lines)
    number = pl.col(one.outcome).mean() if one.drawn == "mean" else pl.col(one.outcome).median()
    known = cells.drop_nulls(one.outcome).group_by("point").agg(pl.len().alias("n"), number)
    numbers = known.filter(pl.col("n") >= one.fewest).sort("point").select("point", one.outcome)
    values = dict(numbers.iter_rows())
    if one.drawn == "mean":
        return count_map(read.grid, values, legend, lines)
    return height_map(read.grid, values, legend, lines, one.ticks)


def _slug(text: str) -> str:
    """An outcome, or what makes it a yes, as a part of a file's name."""
    return re.sub("[^a-z0-9]+", "-", text.replace(">", "above").replace("<", "below"))


def _yes(read: Read, text: str) -> pl.Expr:
    """Whether a cell counts in a share: a yes/no outcome, or a text such as "kind = late"; null where it has none."""
    label = labelled(text, {name: one.kind for name, one in read.outcomes.items()})
    value = pl.col(label.name)
    if label.test == "=":
        return value == label.value
    if label.test == "is":
        return value
    number = value.cast(pl.Float64).fill_nan(None)
    return number > label.value if label.test == ">" else number < label.value
