"""How many runs of a sweep show a phenomenon, at which of its points, and which axis moves it most."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.detector import Detector
from swingby.store import Store
from swingby.store.sql import literal
from swingby.store.sweep_grid import points_of
from swingby_analysis.grid import SweepGrid
from swingby_analysis.phenomena.catalogue import Phenomenon
from swingby_analysis.report.prose import percent
from swingby_analysis.statements.compose import QueriedSweep, runs_view, words_of
from swingby_analysis.stats.effects import main_effects

WIDE = 0.8
"""Width of an interval of a share from which it says nothing."""
EFFECT_POINTS = 200_000
"""Points up to which the axis that moves a phenomenon most is looked for."""


@dataclass(frozen=True)
class Mover:
    """The axis that explains most of where a phenomenon is.

    Attributes:
        axis: its name.
        share: of the variance over the points; `low` and `high` bound it at 95 %, NaN with one seed.
        rises: whether more runs show it at the larger values; None: neither, by itself, or the values have no order.
    """

    axis: str
    share: float
    low: float
    high: float
    rises: bool | None

    def __str__(self) -> str:
        """The share with its interval where there is one; an estimate below 0 is chance, and is written as 0."""
        share, low, high = (min(max(value, 0.0), 1.0) for value in (self.share, self.low, self.high))
        if math.isnan(self.low):
            return percent(share)
        doubt = "; too few seeds for an answer" if high - low > WIDE else ""
        return f"{percent(share)} ({percent(low)} to {percent(high)}{doubt})"


@dataclass(frozen=True)
class Counted:
    """What the runs of one sweep say of a phenomenon.

    Attributes:
        telling, shown: runs that tell, and those of them that show it.
        every, most, few, none: points at which every run that tells shows it, more than half, at most half, and none.
        seeds: the fewest and the most runs that tell at a point.
        mover: None where nothing varies, with too many points, and of a sweep whose cells were chosen by their results.
        query: by which it was asked.
    """

    phenomenon: Phenomenon
    sweep: str
    telling: int
    shown: int
    every: int
    most: int
    few: int
    none: int
    seeds: tuple[int, int]
    mover: Mover | None
    query: str

    @property
    def points(self) -> int:
        """Points of which some run tells."""
        return self.every + self.most + self.few + self.none


def sweeps_of(store: Store, experiment: str) -> list[dict[str, Any]]:
    """The sweeps of an experiment in the store: `sweep_id`, `name`, `cells`, `grid_cells`, `resolved`, by name."""
    query = "select sweep_id, name, cells, grid_cells, resolved from sweeps where experiment = ? order by name, created"
    return store.sql(query, [experiment]).polars().to_dicts()


def tells_nothing(tables: Collection[str], phenomenon: Phenomenon) -> bool:
    """Whether it is asked of a general detector, and no run of the store has the curves which that one reads."""
    return any(detector.columns for detector in _without_outcomes(tables, phenomenon))


def _without_outcomes(tables: Collection[str], phenomenon: Phenomenon) -> list[Detector]:
    """The detectors whose columns the expression names, and whose outcomes the store does not have."""
    named = words_of(phenomenon.expression)
    return [
        detector
        for detector in registry.detectors_for(phenomenon.experiment)
        if set(detector.outcomes) & named and f"outcomes_{detector.name}" not in tables
    ]


def query_of(tables: Collection[str], phenomenon: Phenomenon, sweep_id: str) -> str:
    """The query for a row a run of the sweep: `point`, `seed`, and `shows`, which is true, false or null.

    Args:
        tables: those of the store.

    Raises:
        SwingbyError: the expression names a detector's column that the store does not have yet.
    """
    named = words_of(phenomenon.expression)
    for detector in _without_outcomes(tables, phenomenon):
        raise SwingbyError(f"{phenomenon.slug}: the store has no outcomes of the detector {detector.name!r}")
    request = QueriedSweep(sweep_id, phenomenon.experiment)
    meaning = textwrap.fill(phenomenon.meaning, 115, initial_indent="-- ", subsequent_indent="-- ")
    return (
        f"{meaning}\nwith\n{runs_view([request], tables, named)}\n"
        f"select distinct point, seed, cell_id,\n    ({phenomenon.expression}) as shows\n"
        f"from members join runs using (cell_id)\nwhere sweep_id = {literal(sweep_id)}"
    )


def counted(store: Store, phenomenon: Phenomenon, sweep: dict[str, Any]) -> Counted | None:
    """The counts of one sweep; None where no run tells."""
    query = query_of(store.names(), phenomenon, sweep["sweep_id"])
    rows = store.sql(query).polars().drop_nulls("shows").with_columns(pl.col("shows").cast(pl.Boolean))
    if not len(rows):
        return None
    points = rows.group_by("point").agg(n=pl.len(), k=pl.col("shows").sum()).sort("point")
    whole = sweep["cells"] == sweep["grid_cells"]
    n, k = points["n"].to_numpy(), points["k"].to_numpy()
    return Counted(
        phenomenon,
        sweep["name"],
        int(n.sum()),
        int(k.sum()),
        int((k == n).sum()),
        int(((2 * k > n) & (k < n)).sum()),
        int(((k > 0) & (2 * k <= n)).sum()),
        int((k == 0).sum()),
        (int(n.min()), int(n.max())),
        _mover(store, phenomenon, sweep, rows) if whole and len(points) <= EFFECT_POINTS else None,
        query,
    )


def _mover(store: Store, phenomenon: Phenomenon, sweep: dict[str, Any], rows: pl.DataFrame) -> Mover | None:
    """The axis with the largest main effect on the phenomenon."""
    numbers = rows.select("point", "seed", value=pl.col("shows").cast(pl.Float64))
    return next((one.mover for one in axes_of(store, phenomenon.experiment, sweep, numbers)), None)


class Moving(NamedTuple):
    """An axis of a sweep, what it does to a number, all of its values, and each point's place among them."""

    mover: Mover
    values: Sequence[Any]
    places: Mapping[int, int]


def axes_of(store: Store, experiment: str, sweep: dict[str, Any], rows: pl.DataFrame) -> list[Moving]:
    """The axes of a sweep by their main effect on a number, the largest first; none where it does not vary.

    The parameters of an axis advance together.

    Args:
        rows: `point`, `seed` and `value` of each run that tells.
    """
    resolved = json.loads(sweep["resolved"])
    groups = [tuple(axis["names"]) for axis in resolved["axes"]]
    known = set(rows["point"].to_list())
    every = points_of(store, experiment, sweep["sweep_id"], groups)
    grid, whole = SweepGrid.of(groups, [row for row in every if row["point"] in known]), SweepGrid.of(groups, every)
    firsts = [grid.groups.index(number) for number in range(len(groups)) if number in grid.groups]
    varied = [place for place in firsts if len(grid.axes[place].values) > 1]
    if not varied:
        return []
    row_of = {point: row for row, point in enumerate(grid.places)}
    places = np.array([[grid.places[point][place] for place in varied] for point in grid.places], dtype=np.int64)
    seeds = {seed: column for column, seed in enumerate(rows["seed"].unique().sort().to_list())}
    values = np.full((len(row_of), len(seeds)), np.nan)
    for point, seed, value in rows.select("point", "seed", "value").iter_rows():
        values[row_of[point], seeds[seed]] = value
    effects = main_effects(places, values, resolved["seed_mode"] == "common")
    if effects is None:
        return []
    means, axes = np.nanmean(values, axis=1), list[Moving]()
    for column, (place, effect) in enumerate(zip(varied, effects.axes, strict=True)):
        ranks = places[:, column]
        trend = 0.0 if np.ptp(ranks) == 0 or np.ptp(means) == 0 else float(np.corrcoef(ranks, means)[0, 1])
        ordered = all(isinstance(value, int | float) for value in grid.axes[place].values)
        rises = trend > 0 if ordered and abs(trend) >= 0.1 else None
        mover = Mover(" + ".join(groups[grid.groups[place]]), effect.share, effect.low, effect.high, rises)
        axes.append(Moving(mover, whole.axes[place].values, {point: at[place] for point, at in whole.places.items()}))
    return sorted(axes, key=lambda one: -one.mover.share)
