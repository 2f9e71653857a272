"""In which regimes the runs of a sweep are, along the axes that move them most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from swingby.errors import SwingbyError
from swingby.store import Store
from swingby_analysis.phenomena.catalogue import Phenomenon
from swingby_analysis.phenomena.counting import EFFECT_POINTS, Mover, axes_of, query_of
from swingby_analysis.stats.intervals import by_units

AXES, LEAST = 2, 0.1
"""Axes of a sweep that are shown at most, and the share of the variance that the second one has to explain."""
Share = tuple[float, float, float]
"""A share of runs, and its interval, in which the runs of one seed may err together; NaN with one seed."""


@dataclass(frozen=True)
class Along:
    """The regimes along one axis.

    Attributes:
        values: of the axis, in order.
        shares: of all runs at each value, in each regime and, last, in none of them.
        low, high: the shares of the regimes in the lowest and in the highest third of the values.
    """

    mover: Mover
    values: Sequence[Any]
    shares: Sequence[Sequence[float]]
    low: Sequence[Share]
    high: Sequence[Share]


@dataclass(frozen=True)
class Placed:
    """The regimes of one sweep's runs.

    Attributes:
        runs, telling: all runs, and those in one of the regimes.
        shares: of the runs that tell, in each regime.
        axes: the one that moves them most, and further ones.
        why_none: why there are no axes; "" where there are some.
        query: by which it was asked.
    """

    phenomenon: Phenomenon
    sweep: str
    runs: int
    telling: int
    shares: Sequence[Share]
    axes: Sequence[Along]
    why_none: str
    query: str


def placed(store: Store, phenomenon: Phenomenon, sweep: dict[str, Any]) -> Placed | None:
    """The regimes of one sweep; None where no run tells.

    Which axis moves them is asked of the place of a run's regime in their order: 0, 1, 2, ...

    Raises:
        SwingbyError: the expression gives a text that is none of the regimes.
    """
    query = query_of(store.names(), phenomenon, sweep["sweep_id"])
    rows = store.sql(query).polars()
    order = {regime: place for place, regime in enumerate(phenomenon.regimes)}
    strange = set(rows["shows"].drop_nulls().to_list()) - set(order)
    if strange:
        raise SwingbyError(
            f"{phenomenon.slug}, {phenomenon.experiment}: {min(strange)!r} is none of its regimes, {', '.join(order)}"
        )
    rows = rows.with_columns(value=pl.col("shows").replace_strict(order, default=None, return_dtype=pl.Float64))
    telling = rows.drop_nulls("value")
    if not len(telling):
        return None
    axes, why_none = list[Along](), "it depends on no axis"
    if sweep["cells"] != sweep["grid_cells"]:
        why_none = "not computed: runs were chosen by their results"
    elif telling["point"].n_unique() > EFFECT_POINTS:
        why_none = f"not computed: more than {EFFECT_POINTS:,} points"
    else:
        for mover, values, places in axes_of(store, phenomenon.experiment, sweep, telling)[:AXES]:
            if not axes or mover.share >= LEAST:
                at = rows["point"].replace_strict(places, default=None, return_dtype=pl.Int64)
                axes.append(_along(mover, values, rows.with_columns(at=at), len(order)))
    shares = _shares(telling, len(order))
    return Placed(phenomenon, sweep["name"], len(rows), len(telling), shares, axes, "" if axes else why_none, query)


def _along(mover: Mover, values: Sequence[Any], rows: pl.DataFrame, regimes: int) -> Along:
    counts = np.zeros((len(values), regimes + 1))
    for at, value in rows.drop_nulls("at").select("at", "value").iter_rows():
        counts[at, regimes if value is None else int(value)] += 1
    third = max(1, len(values) // 3)
    telling = rows.drop_nulls(["value", "at"])
    ends = (telling.filter(pl.col("at") < third), telling.filter(pl.col("at") >= len(values) - third))
    low, high = (_shares(end, regimes) for end in ends)
    return Along(mover, values, (counts / counts.sum(1, keepdims=True).clip(1)).tolist(), low, high)


def _shares(rows: pl.DataFrame, regimes: int) -> list[Share]:
    """The share of each regime over these runs with its interval, by seeds."""
    shares = list[Share]()
    for place in range(regimes):
        seeds = rows.group_by("seed").agg(k=(pl.col("value") == place).sum(), m=pl.len()).sort("seed")
        if not len(seeds):
            return []
        share, interval = by_units(seeds["k"].to_numpy(), seeds["m"].to_numpy())
        ends = (float(interval.low), float(interval.high)) if len(seeds) > 1 else (np.nan, np.nan)
        shares.append((share, *ends))
    return shares
