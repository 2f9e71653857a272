"""What a drawing is given: the sweep with its results, the store to ask more of, and what all drawings share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from swingby.errors import SwingbyError
from swingby.store import Store
from swingby.sweepfile.parameters import split
from swingby_analysis.charts.axes import plain
from swingby_analysis.charts.paths import Floats, runs_of
from swingby_analysis.charts.regions import by_depth
from swingby_analysis.grid import scalar
from swingby_analysis.query import Query
from swingby_analysis.report.data import ReportData, ask
from swingby_analysis.report.facts import facts_of
from swingby_analysis.report.page import Figure
from swingby_analysis.report.prose import between, plural

MEDIAN_RUN = (
    "The median seed of a panel is that of its medoid: the run whose output, in all concepts, takes the path that lies "
    "nearest to those of the other seeds (least median distance, whenever they pass); diverged runs are left out where "
    "others are not. Where the OOD loss of that run has no bump, but those of other seeds have one, the medoid of "
    "these stands beside it."
)
"""The rules of `Subject.median_seed` and `Subject.bump_seed`, for captions."""


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
        """What tells a point from the others: preset first, then `name = value` of what varies, save `without`."""
        values = {name: value for name, value in self.varying[point].items() if name not in without}
        preset = [values.pop("preset")] if "preset" in values else []
        variance = " (variance)" if self.is_variance(point) else ""
        texts = [
            f"{spoken(name)} = {plain(scalar(value))}{variance if split(name)[0] == 'sigma' else ''}"
            for name, value in values.items()
        ]
        return ", ".join([*preset, *texts])

    def is_variance(self, point: int) -> bool:
        """Whether sigma is a variance at a point, and not a standard deviation."""
        return "sigma_is" in self.cells.columns and self.runs(point)["sigma_is"][0] == "variance"

    def runs(self, point: int) -> pl.DataFrame:
        """The finished cells of a point."""
        return self.cells.filter(pl.col("point") == point)

    def median_seed(self, point: int) -> int:
        """The seed of the most typical run of a point: the medoid of those that ended, or of all if all diverged."""
        runs = self.runs(point)
        ended = runs.filter(pl.col("status") == "ok")
        return self.medoid(point, (runs if ended.is_empty() else ended)["seed"].to_list())

    def bump_seed(self, point: int) -> int | None:
        """The medoid of the seeds with a bump, where the median seed has none but others have one."""
        seeds = self.bumped(point)
        return self.medoid(point, seeds) if seeds and self.median_seed(point) not in seeds else None

    def told_bumps(self, point: int) -> str:
        """How many of a point's seeds have a bump, and which one stands for them."""
        count, seed = len(self.bumped(point)), self.bump_seed(point)
        what = f"{count} of {plural(self.runs(point).height, 'seed')} {'has' if count == 1 else 'have'} a bump"
        who = "" if not count else ", this one too" if seed is None else f"; their median: seed {seed}"
        return what + who

    def bumped(self, point: int) -> list[int]:
        """The seeds of a point in whose OOD loss the detector finds a bump."""
        return self.runs(point).filter(pl.col("bump_peak").is_not_null())["seed"].to_list()

    def medoid(self, point: int, seeds: Collection[int]) -> int:
        """Of some seeds of a point, at least one, that whose output's path is nearest to the others' (`by_depth`).

        Over all informative directions, each in units of its mu; of equal ones the lowest seed.
        """
        paths = {seed: path for seed, path in self._paths.get(point, {}).items() if seed in seeds}
        return list(paths)[by_depth(list(paths.values()))[0]] if paths else min(seeds)

    @cached_property
    def _paths(self) -> Mapping[int, Mapping[int, Floats]]:
        """Point -> seed -> output (T, s) over mu, of the runs with two recorded steps or more."""
        runs = runs_of(self.ask(Query("paths", (self.sweep_id,))), "output", scaled=False)
        return {point: {seed: own.of(seed) / self._units(point) for seed in own.moving} for point, own in runs.items()}

    def _units(self, point: int) -> Floats:
        """The mu of a point, (s,), with 1 where it is 0."""
        mu = np.array(self.runs(point)["mu"][0], dtype=float)
        return np.where(mu == 0, 1.0, mu)

    def figure(
        self, slug: str, title: str, caption: str, reading: str, spec: Mapping[str, Any], queries: Sequence[Query]
    ) -> Figure:
        """A figure of this sweep, with the facts about where it comes from."""
        n = between(*self.data.phases.seeds())
        return Figure(slug, title, caption, reading, spec, queries, facts_of(self.data, n))

    def cannot(self, drawing: str, why: str) -> SwingbyError:
        """The error of a drawing that this sweep does not fit."""
        return SwingbyError(f"sweep {self.data.sweep['name']!r} cannot be drawn as {drawing}: {why}")


def spoken(name: str) -> str:
    """A parameter as figures write it: `mu.0` of a sweep file is mu_1, since concepts are counted from 1."""
    parameter, entry = split(name)
    return parameter if entry is None else f"{parameter}_{entry + 1}"


def _value(row: Mapping[str, Any], name: str) -> Any:
    parameter, entry = split(name)
    return row[parameter] if entry is None else row[parameter][entry]
