"""Outcomes over seeds at every point of a grid: shares, categories and medians, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from swingby.errors import SwingbyError
from swingby.select.intervals import wilson

Floats = NDArray[np.float64]
Table = pa.Table | pl.DataFrame
RESAMPLES = 2000
"""Bootstrap samples of the seeds behind an interval of a median."""
RESAMPLED = 2_000_000
"""Bootstrap samples that are in memory at once."""


def shares(table: Table, outcome: str, by: Sequence[str] = ("point",), confidence: float = 0.95) -> pl.DataFrame:
    """The share of seeds with a yes/no outcome at every point.

    Args:
        table: a row a cell, with `outcome` (bool, null where it cannot be told) and the columns `by`.
        by: the columns that identify a point.

    Returns:
        `by`, sorted, then k (cells with the outcome), n (cells in which it could be told), share (null if n = 0), low
        and high (Wilson), half_width, ambiguous (the interval contains one half).
    """
    known = pl.col(outcome).cast(pl.Boolean)
    counts = _frame(table, outcome, by).group_by(by).agg(k=known.sum().cast(pl.Int64), n=known.count().cast(pl.Int64))
    return _with_interval(counts.sort(by), confidence)


def _with_interval(counts: pl.DataFrame, confidence: float) -> pl.DataFrame:
    low, high = wilson(counts["k"].to_numpy(), counts["n"].to_numpy(), confidence)
    counts = counts.with_columns(
        share=pl.when(pl.col("n") > 0).then(pl.col("k") / pl.col("n")), low=pl.Series(low), high=pl.Series(high)
    )
    half = (pl.col("high") - pl.col("low")) / 2
    return counts.with_columns(half_width=half, ambiguous=(pl.col("low") <= 0.5) & (pl.col("high") >= 0.5))


def categories(
    table: Table, outcome: str, by: Sequence[str] = ("point",), order: Sequence[str] = (), confidence: float = 0.95
) -> pl.DataFrame:
    """The most common category at every point, and its share of the seeds.

    Args:
        table: a row a cell, with `outcome` (text, null where there is none) and the columns `by`.
        order: categories by rank; of equally common ones the first in it stands, then the first in the alphabet.

    Returns:
        `by`, sorted, then category, k, n, share, low, high, half_width, ambiguous, and counts: a list of
        structs (category, k), the most common first. Points without any outcome are left out.
    """
    frame = _frame(table, outcome, by).drop_nulls(outcome)
    rank = pl.col(outcome).replace_strict({name: i for i, name in enumerate(order)}, default=len(order))
    counted = frame.group_by([*by, outcome]).agg(k=pl.len().cast(pl.Int64)).with_columns(rank=rank)
    counted = counted.sort([*by, "k", "rank", outcome], descending=[*[False] * len(by), True, False, False])
    points = counted.group_by(by, maintain_order=True).agg(
        category=pl.col(outcome).first(),
        k=pl.col("k").first(),
        n=pl.col("k").sum(),
        counts=pl.struct(pl.col(outcome).alias("category"), "k"),
    )
    return _with_interval(points, confidence).select(pl.exclude("counts"), "counts")


def medians(
    table: Table,
    value: str,
    by: Sequence[str] = ("point",),
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> pl.DataFrame:
    """The median of a number over seeds at every point, with its bootstrap percentile interval.

    Ranks are drawn, by `seed` and the number of seeds alone: a point's interval depends neither on its neighbours nor
    on the order of its seeds. Infinite values (such as the time of something that never happens) count.

    Returns:
        `by`, sorted, then n (cells that have the number), median, low, high (the interval), quartile_low and
        quartile_high (of the seeds themselves); nulls if n = 0.
    """
    frame = _frame(table, value, by).with_columns(pl.col(value).cast(pl.Float64).fill_nan(None))
    points = frame.group_by(by).agg(pl.col(value).drop_nulls()).sort(by)
    names = ("n", "median", "low", "high", "quartile_low", "quartile_high")
    lengths = points[value].list.len().to_numpy()
    columns = {name: np.full(points.height, np.nan) for name in names}
    columns["n"] = lengths.astype(np.int64)
    for n in np.unique(lengths[lengths > 0]).tolist():
        every = np.flatnonzero(lengths == n)
        for places in np.array_split(every, -(-len(every) * resamples // RESAMPLED)):
            numbers = np.sort(np.array(points[value].gather(places).to_list()), axis=1)
            resampled = numbers[:, _middles(n, resamples, seed)].mean(axis=1)
            # The quantiles are values that occur: interpolation between a finite and an infinite one has no meaning.
            ends = np.quantile(resampled, [(1 - confidence) / 2, (1 + confidence) / 2], axis=1, method="inverted_cdf")
            quartiles = np.quantile(numbers, [0.25, 0.75], axis=1, method="inverted_cdf")
            for name, of in zip(names[1:], (np.median(numbers, axis=1), *ends, *quartiles), strict=True):
                columns[name][places] = of
    types = {name: pl.Int64 if name == "n" else pl.Float64 for name in names}
    counted = points.select(by).hstack(pl.DataFrame(columns, schema=types))
    return counted.with_columns(pl.when(pl.col("n") > 0).then(pl.col(names[1:])))


@lru_cache(maxsize=64)
def _middles(n: int, resamples: int, seed: int) -> NDArray[np.int64]:
    """The ranks of the two middle ones of n values drawn from n, with replacement, for every resample: (2, resamples).

    A median depends on ranks alone, so one set of draws serves all points with equally many seeds.
    """
    draws = np.random.Generator(np.random.Philox(key=[seed, n])).integers(0, n, (resamples, n))
    places = [(n - 1) // 2, n // 2]
    return np.partition(draws, places, axis=1)[:, places].T


class Pivot(NamedTuple):
    """Numbers over two axes: the distinct sorted values of each axis; (len(y), len(x)) numbers, NaN without a row."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    values: Floats


def pivot(table: Table, x: str, y: str, value: str) -> Pivot:
    """Spread `value` over the distinct values of two columns.

    Raises:
        SwingbyError: two rows stand at the same place.
    """
    frame = _frame(table, value, (x, y))
    if frame.select(x, y).is_duplicated().any():
        raise SwingbyError(f"more than one row at the same ({x}, {y}): choose the rows of one panel first")
    xs, ys = frame[x].unique().sort().to_list(), frame[y].unique().sort().to_list()
    values = np.full((len(ys), len(xs)), np.nan)
    column, row = {v: i for i, v in enumerate(xs)}, {v: i for i, v in enumerate(ys)}
    for at_x, at_y, number in frame.select(x, y, pl.col(value).cast(pl.Float64)).iter_rows():
        values[row[at_y], column[at_x]] = np.nan if number is None else number
    return Pivot(tuple(xs), tuple(ys), values)


def _frame(table: Table, value: str, by: Sequence[str]) -> pl.DataFrame:
    frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)
    missing = [name for name in (*by, value) if name not in frame.columns]
    if missing:
        raise SwingbyError(f"no column {', '.join(missing)}; there are: {', '.join(frame.columns)}")
    return frame
