"""An expression tried on results that are there: its values over seeds and points, and its map; nothing is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from swingby.data.files import utc_now, write_whole
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model.experiment import Column
from swingby.options import option
from swingby.run.expressions import Expression, expression, schema_of
from swingby.run.outcomes import CHUNK, SHARD, AsPublished, cells_without_outcome, refresh
from swingby.sandbox.scalar import ScalarError, arrow_type, evaluate
from swingby.store import Store
from swingby.store.lookup import KnownSweep, find_sweep
from swingby.store.sweep_grid import points_of
from swingby_analysis.grid import Grid, grid_of
from swingby_analysis.page import Figure, Page, Section
from swingby_analysis.page.html import html
from swingby_analysis.page.pictures import KINDS, pictures
from swingby_analysis.query import Query, ask
from swingby_analysis.report.cells import bare_cells_query
from swingby_analysis.report.extremes import ENDS, extremes, seen_text
from swingby_analysis.report.figures import map_of
from swingby_analysis.report.outcomes import Outcome
from swingby_analysis.report.phases import Phases, boundary
from swingby_analysis.report.prose import percent, plural
from swingby_analysis.stats.shares import wilson

NAME = "outcome"
"""What an expression is called while it is tried."""
SUFFIXES = (".html", *(f".{kind}" for kind in KINDS))
"""Endings of the files that its map can be written to."""


@dataclass(frozen=True)
class Trial:
    """The values of an expression over the cells of a sweep.

    Attributes:
        text: the expression.
        outcome: how it is drawn.
        cells: a row a cell with a result: point, seed, parameters, and the value in `NAME`.
        query: that of the cells.
        remarks: what a reader must know first.
    """

    sweep: KnownSweep
    text: str
    outcome: Outcome
    grid: Grid
    cells: pl.DataFrame
    query: Query
    remarks: Sequence[str]

    @property
    def phases(self) -> Phases:
        """The values over seeds."""
        return Phases(self.cells)

    @property
    def known(self) -> pl.Series:
        """The values that are known."""
        return self.cells[NAME].drop_nulls()

    def summary(self) -> Iterator[str]:
        """Lines about all cells together."""
        known, cells = self.known, plural(self.cells.height, "cell")
        if self.outcome.kind == "yes_no" and len(known):
            k = int(known.sum())
            low, high = (float(end) for end in wilson(k, len(known)))
            share = f"{percent(k / len(known))} (95\u00a0% interval {percent(low)} to {percent(high)})"
            yield f"true at {k:,} of {plural(len(known), 'cell')}: {share}"
            shares = self.phases.shares(NAME)
            above, below = sum(one.low > 0.5 for one in shares), sum(one.high < 0.5 for one in shares)
            rest = len(shares) - above - below
            points = plural(len(shares), "point")
            yield f"of {points}, above one half {above:,}, below {below:,}, either (interval includes it) {rest:,}"
            yield from self._ends("share")
        elif self.outcome.kind == "category" and len(known):
            counts = known.value_counts(sort=True).iter_rows()
            yield ", ".join(f"{value} {count:,}" for value, count in counts) + f", of {cells}"
        elif len(known):
            marks = {"least": 0.0, "10 %": 0.1, "median": 0.5, "90 %": 0.9, "largest": 1.0}
            parts = [f"{name} {known.quantile(q, 'linear'):.4g}" for name, q in marks.items()]
            yield f"{', '.join(parts)}, of {cells}"
            yield from self._ends("median")
        if len(known) < self.cells.height:
            yield f"not known (NULL) of {self.cells.height - len(known):,} of {cells}"

    def _ends(self, noun: str) -> Iterator[str]:
        """A line about the extreme point at either end, with what is left of it after shrinking."""
        extreme = extremes(self.phases, NAME, self.outcome.kind)
        if extreme is None:
            return
        for row in [one for end in ENDS for one in extreme.at(end)[:1]]:
            yield f"{row.end} {noun} at {self.grid.label(row.point)}: {seen_text(row.seen)}; {extreme.qualified(row)}"

    def rows(self) -> tuple[list[str], list[tuple[str, ...]]]:
        """The headings and a row a point: what is known of it over its seeds."""
        label, phases = self.grid.label, self.phases
        if self.outcome.kind == "yes_no":
            return ["point", "true", "share", "95 % interval"], [
                (label(s.point), f"{s.k} of {s.n}", percent(s.share), f"{percent(s.low)} to {percent(s.high)}")
                for s in phases.shares(NAME)
            ]
        if self.outcome.kind == "category":
            return ["point", "cells"], [(label(one.point), one.counts) for one in phases.most_common(NAME)]
        return ["point", "cells", "median", "95 % interval", "quartiles"], [
            (
                label(s.point),
                str(s.n),
                f"{s.median:.4g}",
                f"{s.low:.4g} to {s.high:.4g}",
                f"{s.quartile_low:.4g} to {s.quartile_high:.4g}",
            )
            for s in phases.spreads(NAME)
        ]

    def figure(self) -> Figure:
        """Its map over the grid, or its marks along one parameter."""
        of_share = self.outcome.kind == "yes_no"
        surface = boundary(self.grid, self.phases.shares(NAME), self.phases.trained) if of_share else None
        drawn = map_of(self.grid, self.phases, self.outcome, surface)
        seeds = f"{self.cells['seed'].n_unique()}"
        facts = {"Sweep": f"{self.sweep.name} {self.sweep.sweep_id}", "Seeds": seeds, "Expression": self.text}
        titles = {"yes_no": "Share of the seeds for which it is true", "category": "Most common value"}
        title = f"{titles.get(self.outcome.kind, 'Median over the seeds')}: {self.text}"
        return replace(drawn, title=title, queries=[self.query], facts=facts)

    def write(self, path: Path) -> None:
        """Writes the map as a page or a picture, by the ending of the path; the file is whole or as it was before.

        Raises:
            SwingbyError: another ending, no value is known, or the disk refuses.
        """
        check_ending(path)
        if not len(self.known):
            raise SwingbyError(f"no value of {self.text} is known, so there is nothing to draw")
        figure = self.figure()
        if path.suffix == ".html":
            byline = (
                f"Sweep {self.sweep.name}, id {self.sweep.sweep_id}; written {utc_now()[:16].replace('T', ' ')} UTC."
            )
            section = Section(figure.slug, figure.title, [figure], contents="The map")
            page = Page(
                kind="outcome", title=self.text, lead=" ".join(self.summary()), byline=byline, sections=[section]
            )
            content = html(page, {"figures": {figure.slug: figure.spec}, "panel": None}).encode()
        else:
            content = pictures([figure], [path.suffix[1:]])[f"{figure.slug}{path.suffix}"]
        write_whole(path.expanduser().absolute(), lambda file: file.write_bytes(content))


def check_ending(path: Path) -> None:
    """Refuses the path of a map with another ending.

    Raises:
        SwingbyError: names those that are allowed.
    """
    if path.suffix not in SUFFIXES:
        raise SwingbyError(f"{option('out', path)}: its ending says no kind of file; allowed: {', '.join(SUFFIXES)}")


def attempt(sweep: str, text: str, data: Path) -> Trial:
    """Computes an expression for every cell of a sweep that has a result.

    Raises:
        SwingbyError: it is no expression over the sweep's cells, there is no such sweep, or no cell has a result.
    """
    records = Records.open(data, create=False)
    published: AsPublished | None = refresh(records)
    with Store.open(records.data) as store:
        row = find_sweep(store, sweep)
        detector = expression(row.experiment, NAME, text, schema_of(store, row.experiment), name="tried")
        chunks, remarks = list[pa.Table](), [] if published is None else [str(published)]
        empty = set(detector.needs)
        sweep_ids = [row.sweep_id]
        for table in cells_without_outcome(store, row.experiment, detector, sweep_ids, CHUNK, read_as=sweep_ids):
            outcomes = detector.detect(table.drop_columns([SHARD]))
            chunks.append(outcomes)
            empty -= {name for name in detector.needs if table[name].null_count < table.num_rows}
            if outcomes["value"].null_count and len(remarks) < 2 and (fault := first_fault(detector, table)):
                remarks.append(f"it cannot be computed for some cells, such as {fault[0]}: {fault[1]}")
        if not chunks:
            raise SwingbyError(f"sweep {row.name!r} has no cell with a result yet; `swingby run` trains them")
        remarks += [f"column {name!r} is empty in every cell: was it recorded?" for name in sorted(empty)]
        query = bare_cells_query(row.experiment, row.sweep_id)
        cells = ask(store, query).filter(pl.col("status") != "failed")
        resolved: dict[str, Any] = json.loads(
            ask(store, Query("sweep", (row.sweep_id,))).row(0, named=True)["resolved"]
        )
        every = points_of(store, row.experiment, row.sweep_id, [axis["names"] for axis in resolved["axes"]])
    (kind,) = detector.kinds.values()
    values = pl.DataFrame(pl.from_arrow(pa.concat_tables(chunks))).rename({"value": NAME})
    cells = cells.join(values, on="cell_id", how="inner", maintain_order="left")
    grid = grid_of(resolved, every)
    return Trial(row, text, Outcome(NAME, kind, Column(arrow_type(kind), text)), grid, cells, query, remarks)


def first_fault(detector: Expression, table: pa.Table) -> tuple[str, str] | None:
    """A cell for which an expression raises, and what; None where it is merely null. Found by halving."""
    (kind,) = detector.kinds.values()
    try:
        evaluate(detector.text, detector.held(table), kind, strict=True)
    except ScalarError as error:
        if table.num_rows == 1:
            return table["cell_id"][0].as_py(), error.message
    else:
        return None
    half = table.num_rows // 2
    return first_fault(detector, table.slice(0, half)) or first_fault(detector, table.slice(half))
