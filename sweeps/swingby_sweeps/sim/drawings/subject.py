"""A sweep over SIM for drawings: which run represents a point, and how its points are labelled."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

import numpy as np
import polars as pl

from swingby.sweepfile.parameters import split
from swingby_analysis.charts.paths import Floats, by_depth, runs_of
from swingby_analysis.query import Query
from swingby_analysis.report import subject
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import ChartDrawing, QueryDrawing

from ..params import SimParams

SQL = __name__.rpartition(".")[0]
"""The folder of the queries of these drawings."""
MEDIAN_RUN = (
    "The median seed of a panel is that of its medoid: the run whose output, in all concepts, takes the path that lies "
    "nearest to the paths of the other seeds (least median distance, whatever the times). Diverged runs count only "
    "where all runs diverged. Where the OOD loss of the median seed has no bump, but that of other seeds has one, the "
    "medoid of these is shown too."
)
"""The rules of `Subject.median_seed` and `Subject.bump_seed`, for captions."""


class Subject(subject.Subject):
    """One sweep over SIM."""

    def noted(self, name: str, point: int) -> str:
        """A note on the value of a parameter: that a sigma is a variance, where it is one."""
        return " (variance)" if split(name)[0] == "sigma" and self.is_variance(point) else ""

    def is_variance(self, point: int) -> bool:
        """Whether sigma is a variance at a point, and not a standard deviation."""
        return "sigma_is" in self.cells.columns and self.runs(point)["sigma_is"][0] == "variance"

    def median_seed(self, point: int) -> int:
        """The seed of the most typical run of a point: the medoid of those that ended, or of all if all diverged."""
        runs = self.runs(point)
        ended = runs.filter(pl.col("status") == "ok")
        return self.medoid(point, (runs if ended.is_empty() else ended)["seed"].to_list())

    def bump_seed(self, point: int) -> int | None:
        """The medoid of the seeds with a bump, where the median seed has none but others have one."""
        seeds = self.bumped(point)
        return self.medoid(point, seeds) if seeds and self.median_seed(point) not in seeds else None

    def bumps_in_words(self, point: int) -> str:
        """How many of a point's seeds have a bump, and which seed represents them, as text."""
        count, seed = len(self.bumped(point)), self.bump_seed(point)
        share = f"{count} of {plural(self.runs(point).height, 'seed')} {'has' if count == 1 else 'have'} a bump"
        return share + ("" if not count else ", this one too" if seed is None else f"; their median: seed {seed}")

    def bumped(self, point: int) -> list[int]:
        """The seeds of a point in whose OOD loss the detector finds a bump."""
        return self.runs(point).filter(pl.col("bump_peak").is_not_null())["seed"].to_list()

    def medoid(self, point: int, seeds: Collection[int]) -> int:
        """The seed, of one or more seeds of a point, whose output takes the path nearest to the others' (`by_depth`).

        Paths are in all informative directions, each in units of its mu. Of equal paths the lowest seed wins.
        """
        paths = {seed: path for seed, path in self._paths.get(point, {}).items() if seed in seeds}
        return list(paths)[by_depth(list(paths.values()))[0]] if paths else min(seeds)

    @cached_property
    def _paths(self) -> Mapping[int, Mapping[int, Floats]]:
        """Point -> seed -> output (T, s) over mu, of the runs with two recorded steps or more."""
        runs = runs_of(self.ask(Query("paths", (self.sweep_id,), SQL)), "output")
        paths: dict[int, dict[int, Floats]] = {}
        for point, point_runs in runs.items():
            mu = np.array(self.runs(point)["mu"][0], dtype=float)
            unit = np.where(mu == 0, 1.0, mu)
            paths[point] = {seed: point_runs.of(seed) / unit for seed in point_runs.moving}
        return paths


def parameters_of(runs: pl.DataFrame) -> SimParams:
    """The parameters of a point from its runs; the columns that are no parameters are left out."""
    row = runs.row(0, named=True)
    return SimParams.model_construct(
        **{name: row[name] for name in SimParams.model_fields if row.get(name) is not None}
    )


class SimDrawing(ChartDrawing):
    """A drawing of SIM."""

    experiments = ("sim",)
    subject = Subject


class SimQueryDrawing(SimDrawing, QueryDrawing):
    """A drawing of the rows of one query of SIM."""
