"""The figures of a diagram: read once from the store, each outcome as a map with the lines of theory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.charts.grid import Grid
from analysis.charts.number_map import Spread
from analysis.findings.charts import number_share_map, outcome_share_map, share_map
from analysis.findings.diagram import Diagram
from analysis.findings.lines import Line
from analysis.report.data import ask
from analysis.report.grid import grid_of
from analysis.report.page import Figure
from analysis.report.phases import Phases, boundary
from analysis.report.prose import spoken
from analysis.report.queries import Query
from swingby.store import Store

FEWEST = 3
"""Runs with a bump from which on a point has a median height of its bumps."""
READING = {
    "share": "A tile is a point of the grid, its colour the share of the seeds. White dots: the 95 % Wilson "
    "interval of that share contains one half. Dark line: the share, interpolated between points, is one half.",
    "outcome": "The colour of a tile is the most common outcome at that point, the stronger the more seeds ended so.",
    "height": f"The colour of a tile is the median height of the bumps, over the runs that show transient "
    f"memorization; tiles without colour have fewer than {FEWEST} such runs. The few highest share the last colour.",
    "number": "The colour of a tile is the median over the seeds.",
}
THEORY = " Red: theory, computed from the sweep's own parameters."


@dataclass(frozen=True)
class Read:
    """What the figures of one sweep are made from."""

    resolved: Mapping[str, Any]
    grid: Grid
    cells: pl.DataFrame
    query: Query

    @classmethod
    def of(cls, store: Store, sweep_id: str) -> Read:
        """Every finished cell of a sweep, without its curves."""
        query = Query("findings/cells", (sweep_id,))
        (row,) = ask(store, Query("sweep", (sweep_id,))).to_dicts()
        resolved = json.loads(row["resolved"])
        cells = ask(store, query)
        firsts = cells.unique("point", keep="first", maintain_order=True)
        return cls(resolved, grid_of(resolved, firsts.iter_rows(named=True)), cells, query)


def figures(store: Store, diagram: Diagram, sweep_id: str) -> list[Figure]:
    """The maps of a diagram, in its order."""
    read = Read.of(store, sweep_id)
    lines = diagram.lines(read.resolved, read.grid)
    return [_figure(read, diagram, outcome, lines) for outcome in diagram.maps]


def _figure(read: Read, diagram: Diagram, outcome: str, lines: Sequence[Line]) -> Figure:
    draw = {"outcome": _outcomes, "bump_height": _heights}.get(outcome, _shares)
    title, reading, spec = (_numbers if outcome.startswith("descents") else draw)(read, outcome, lines)
    seeds = read.cells["seed"].n_unique()
    caption = f"{title}; {read.grid.x.title} against {read.grid.y.title if read.grid.y else ''}, {seeds} seeds a point."
    slug = f"{diagram.slug}-{outcome.replace('_', '-')}"
    facts = {"Sweep": diagram.sweep, "Seeds": f"{seeds} a point, {read.resolved['seed_mode']} draws"}
    return Figure(slug, title, caption, READING[reading] + (THEORY if lines else ""), spec, [read.query], facts)


def _shares(read: Read, outcome: str, lines: Sequence[Line]) -> tuple[str, str, dict[str, Any]]:
    shares = Phases(read.cells).shares(outcome)
    words = spoken(outcome)
    chart = share_map(read.grid, shares, boundary(read.grid, shares), lines, words)
    return f"Where runs show {words}", "share", chart


def _outcomes(read: Read, outcome: str, lines: Sequence[Line]) -> tuple[str, str, dict[str, Any]]:
    phases = Phases(read.cells)
    rows = phases.most_common(outcome)
    chart = outcome_share_map(read.grid, rows, phases.categories(outcome), lines, "most common outcome")
    return "What became of the runs", "outcome", chart


def _heights(read: Read, outcome: str, lines: Sequence[Line]) -> tuple[str, str, dict[str, Any]]:
    with_bump = read.cells.filter(pl.col("transient_memorization") & (pl.col("outcome") != "diverged"))
    rows = [row for row in _medians(with_bump, outcome) if row.n >= FEWEST]
    chart = number_share_map(read.grid, rows, lines, "median height of the bumps / L_ref")
    return "How high the bumps are", "height", chart


def _numbers(read: Read, outcome: str, lines: Sequence[Line]) -> tuple[str, str, dict[str, Any]]:
    words = "number of descents" if outcome == "descents_fine" else spoken(outcome)
    chart = number_share_map(read.grid, _medians(read.cells, outcome), lines, f"median {words}", whole=True)
    return f"The {words}", "number", chart


def _medians(cells: pl.DataFrame, outcome: str) -> list[Spread]:
    """The median at every point; maps show no interval, so none is made."""
    value = pl.col(outcome).cast(pl.Float64)
    found = cells.filter(value.is_not_null()).group_by("point").agg(
        n=pl.len(), median=value.median(), low=value.quantile(0.25), high=value.quantile(0.75)
    ).sort("point")  # fmt: skip
    return [
        Spread(row["point"], row["n"], row["median"], row["low"], row["high"], row["low"], row["high"])
        for row in found.to_dicts()
    ]
