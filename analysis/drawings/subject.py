"""What a drawing is given: the sweep with its results, the store to ask more of, and what all drawings share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from analysis.charts.grid import plain
from analysis.report.data import ReportData, ask
from analysis.report.facts import facts_of
from analysis.report.grid import scalar
from analysis.report.page import Figure
from analysis.report.prose import between
from analysis.report.queries import Query
from swingby.errors import SwingbyError
from swingby.store import Store
from swingby.sweepfile.parameters import split


@dataclass(frozen=True)
class Subject:
    """One sweep, to be drawn.

    Attributes:
        data: what its report reads.
        store: for the queries of the drawing itself.
    """

    data: ReportData
    store: Store

    @property
    def sweep_id(self) -> str:
        """`$1` of every query."""
        return self.data.sweep["sweep_id"]

    @property
    def cells(self) -> pl.DataFrame:
        """A row a finished cell: point, preset, seed, parameters, scalars and outcomes; by point and seed."""
        return self.data.cells

    @cached_property
    def points(self) -> list[int]:
        """The points with a finished cell, in the order of the grid."""
        return self.cells["point"].unique(maintain_order=True).to_list()

    @cached_property
    def varying(self) -> Mapping[int, Mapping[str, Any]]:
        """Point -> what its axes set there, by the names of the sweep file; names that never change are left out."""
        names = [name for axis in self.data.resolved["axes"] for name in axis["names"]]
        firsts = self.cells.unique("point", keep="first", maintain_order=True)
        found = {row["point"]: {name: _value(row, name) for name in names} for row in firsts.iter_rows(named=True)}
        kept = [name for name in names if len({str(values[name]) for values in found.values()}) > 1]
        return {point: {name: values[name] for name in kept} for point, values in found.items()}

    def ask(self, query: Query) -> pl.DataFrame:
        """The rows of one query."""
        return ask(self.store, query)

    def label(self, point: int, without: Collection[str] = ()) -> str:
        """What tells a point from the others: preset first, then `name value` of what varies, save `without`."""
        values = {name: value for name, value in self.varying[point].items() if name not in without}
        preset = [values.pop("preset")] if "preset" in values else []
        return ", ".join([*preset, *(f"{name} {plain(scalar(value))}" for name, value in values.items())])

    def runs(self, point: int) -> pl.DataFrame:
        """The finished cells of a point."""
        return self.cells.filter(pl.col("point") == point)

    def median_seed(self, point: int, by: str = "bump_height") -> int:
        """The seed of the middle run of a point by an outcome, the lower of two; of equal ones the runs go by seed.

        Runs of which it is not known come last; diverged ones are left out where there are others.
        """
        runs = self.runs(point)
        ended = runs.filter(pl.col("status") == "ok")
        ordered = (runs if ended.is_empty() else ended).sort(by, "seed", nulls_last=True)
        return int(ordered["seed"][(ordered.height - 1) // 2])

    def figure(
        self, slug: str, title: str, caption: str, reading: str, spec: Mapping[str, Any], queries: Sequence[Query]
    ) -> Figure:
        """A figure of this sweep, with the facts about where it comes from."""
        n = between(*self.data.phases.seeds())
        return Figure(slug, title, caption, reading, spec, queries, facts_of(self.data, n))

    def cannot(self, drawing: str, why: str) -> SwingbyError:
        """The error of a drawing that this sweep does not fit."""
        return SwingbyError(f"sweep {self.data.sweep['name']!r} cannot be drawn as {drawing}: {why}")


def _value(row: Mapping[str, Any], name: str) -> Any:
    parameter, entry = split(name)
    return row[parameter] if entry is None else row[parameter][entry]
