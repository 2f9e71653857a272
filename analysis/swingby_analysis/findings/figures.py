"""The figures of a diagram: read once from the store, each outcome as a map with the lines of theory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import polars as pl

from swingby.store import Store
from swingby_analysis.charts.maps import Share
from swingby_analysis.findings.charts import count_map, number_share_map, outcome_share_map, share_map
from swingby_analysis.findings.diagram import Diagram
from swingby_analysis.grid import Grid, grid_of
from swingby_analysis.query import Query, ask
from swingby_analysis.report.outcomes import outcomes_of, spoken
from swingby_analysis.report.page import Figure
from swingby_analysis.report.phases import Phases, boundary
from swingby_sweeps.sim.theory_lines import Line

FEWEST = 3
"""Runs with a bump from which on a point has a median height of its bumps."""
FINE = 20
"""Values from which on an axis is fine enough for neighbours to be taken together."""
READING = {
    "share": (
        "A tile is a point of the grid, its colour the share of the seeds. White dots: the 95 % Wilson interval of "
        "it contains one half. Dark line: the share, taken together with that of the tiles beside it, is one half."
    ),
    "outcome": "The colour of a tile is the most common outcome at that point, the stronger the more seeds ended so.",
    "height": (
        "The colour of a tile is the median height of the bumps, over the runs that show transient memorization; tiles "
        f"without colour have fewer than {FEWEST} such runs. The few highest share the last colour."
    ),
    "number": "The colour of a tile is the mean over the seeds.",
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
    chart = share_map(read.grid, shares, boundary(read.grid, pooled(read.grid, shares)), lines, words)
    return f"Where runs show {words}", "share", chart


def _outcomes(read: Read, outcome: str, lines: Sequence[Line]) -> tuple[str, str, dict[str, Any]]:
    phases = Phases(read.cells, {name: one.column.order for name, one in outcomes_of("sim").items()})
    rows = phases.most_common(outcome)
    chart = outcome_share_map(read.grid, rows, phases.categories(outcome), lines, "most common outcome")
    return "What became of the runs", "outcome", chart


def _heights(read: Read, outcome: str, lines: Sequence[Line]) -> tuple[str, str, dict[str, Any]]:
    with_bump = read.cells.filter(pl.col("transient_memorization") & (pl.col("outcome") != "diverged"))
    found = with_bump.group_by("point").agg(pl.len().alias("n"), pl.col(outcome).median()).filter(pl.col("n") >= FEWEST)
    heights = dict(found.sort("point").select("point", outcome).iter_rows())
    chart = number_share_map(read.grid, heights, lines, "median height of the bumps / L_ref")
    return "How high the bumps are", "height", chart


def _numbers(read: Read, outcome: str, lines: Sequence[Line]) -> tuple[str, str, dict[str, Any]]:
    words = "number of descents" if outcome == "descents_fine" else spoken(outcome)
    means = read.cells.drop_nulls(outcome).group_by("point").agg(pl.col(outcome).mean()).sort("point")
    chart = count_map(read.grid, dict(means.select("point", outcome).iter_rows()), lines, f"mean {words}")
    return f"The {words}", "number", chart


def pooled(grid: Grid, shares: Sequence[Share]) -> list[Share]:
    """Each share over the seeds of its point and of those beside it, along axes of at least `FINE` values.

    The contour of the single shares would go around every tile that chance has lifted.
    """
    reach = [int(axis is not None and len(axis.values) >= FINE) for axis in (grid.x, grid.y)]
    at = {grid.places[share.point]: share for share in shares}
    found = []
    for share in shares:
        i, j, facet = grid.places[share.point]
        near = product(range(i - reach[0], i + reach[0] + 1), range(j - reach[1], j + reach[1] + 1))
        beside = [at[x, y, facet] for x, y in near if (x, y, facet) in at]
        k, n = sum(item.k for item in beside), sum(item.n for item in beside)
        found.append(share._replace(share=k / n))
    return found
