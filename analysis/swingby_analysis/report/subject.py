"""The subject of a drawing: a sweep with its results, and the store for further queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, cast

import polars as pl

from swingby.errors import SwingbyError
from swingby.store import Store
from swingby.sweepfile.parameters import split
from swingby_analysis.grid import plain, scalar
from swingby_analysis.page import Figure
from swingby_analysis.query import Query, ask
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.origins import facts_of
from swingby_analysis.report.prose import between

Kind = TypeVar("Kind", bound="Subject")


@dataclass(frozen=True)
class Subject:
    """One sweep with its results, to be drawn.

    Attributes:
        data: what its report reads.
        store: for the queries of the drawing itself.
    """

    data: ReportData
    store: Store
    _seen: dict[type[Subject], Subject] = field(default_factory=dict, compare=False, repr=False)

    @property
    def sweep_id(self) -> str:
        """The id of the sweep, `$1` of every query."""
        return self.data.sweep["sweep_id"]

    @property
    def cells(self) -> pl.DataFrame:
        """A row a finished cell, by point and seed: parameters, scalars, and outcomes but those that are lists."""
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
        at: dict[int, dict[str, Any]] = {}
        for row in firsts.iter_rows(named=True):
            entries = [(name, *split(name)) for name in names]
            at[row["point"]] = {
                name: row[column] if entry is None else row[column][entry] for name, column, entry in entries
            }
        kept = [name for name in names if len({str(values[name]) for values in at.values()}) > 1]
        return {point: {name: values[name] for name in kept} for point, values in at.items()}

    def ask(self, query: Query) -> pl.DataFrame:
        """The rows of one query."""
        return ask(self.store, query)

    def label(self, point: int, without: Collection[str] = ()) -> str:
        """The values at a point of what varies: preset first, then `name = value`, save `without`."""
        values = {name: value for name, value in self.varying[point].items() if name not in without}
        preset = [values.pop("preset")] if "preset" in values else []
        texts = [f"{indexed(name)} = {plain(scalar(value))}{self.noted(name, point)}" for name, value in values.items()]
        return ", ".join([*preset, *texts])

    def noted(self, name: str, point: int) -> str:
        """A remark behind the value of a parameter at a point, in `label`; subclasses that have one override it."""
        return ""

    def seen_as(self, kind: type[Kind]) -> Kind:
        """The subject as a subclass, made once: what it computes is shared by all drawings of its package."""
        if isinstance(self, kind):
            return self
        if kind not in self._seen:
            self._seen[kind] = kind(self.data, self.store)
        return cast(Kind, self._seen[kind])

    def runs(self, point: int) -> pl.DataFrame:
        """The finished cells of a point."""
        return self.cells.filter(pl.col("point") == point)

    def figure(
        self, slug: str, title: str, caption: str, reading: str, spec: Mapping[str, Any], queries: Sequence[Query]
    ) -> Figure:
        """A figure of this sweep, with the facts about where it comes from."""
        n = between(*self.data.phases.seeds())
        return Figure(slug, title, caption, reading, spec, queries, facts_of(self.data, n))

    def cannot(self, drawing: str, why: str) -> SwingbyError:
        """The error of a drawing that this sweep does not fit."""
        return SwingbyError(f"sweep {self.data.sweep['name']!r} cannot be drawn as {drawing}: {why}")


def indexed(name: str) -> str:
    """A parameter as figures write it: entry `rates.0` of a sweep file is rates_1, since entries are counted from 1."""
    parameter, entry = split(name)
    return parameter if entry is None else f"{parameter}_{entry + 1}"
