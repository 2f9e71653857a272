"""The curves of every point, read from the store in one pass: all of a point at the same steps."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from swingby.store import Store
from swingby_analysis.query import Query
from swingby_analysis.report.curves import PointCurves
from swingby_analysis.report.shown import ShownCurve

KEPT_STEPS = 60
"""About how many steps of each curve travel in the page."""
MOST_SEEDS = 100
"""Seeds of a point whose curves are read: more move a median or a decile by less than a line is wide."""
NOWHERE = 1e300
"""A value that is larger than all others: what a value that is not finite counts as, and one after a run diverged."""
ROWS = 2048
"""Runs that are in memory with whole curves: blocks of their size are used again, where larger ones are asked of the
system each time."""
ONES = "ones"
"""The unit of a curve that has none."""


class CurvePart(NamedTuple):
    """A curve of numbers, or an entry (counted from 1) of one of vectors, and the column of its unit."""

    column: str
    unit: str
    entry: int = 1


class Bands(NamedTuple):
    """What is known over the runs of a point at T steps.

    Attributes:
        step: int (T,).
        ranks: median, 10 % and 90 % quantile, and the quartiles, which are values that occur: (5, T). A value that is
            not finite, and any of a run that ended by diverging, counts as `NOWHERE`.
        finite: the median of the finite values, (T,); NaN where there are none.
        runs: how many runs it is over.
    """

    step: np.ndarray
    ranks: np.ndarray
    finite: np.ndarray
    runs: int


Recorded = tuple[bytes, int]
"""Recorded steps, int64, and the last step of any run of the point."""


@dataclass
class _Group:
    """Runs that recorded a curve at the same steps, at points that end at the same step: values of (R, T)."""

    step: np.ndarray
    points: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)


Groups = dict[Recorded, _Group]


def curves_query(head: tuple[str, str], parts: Sequence[CurvePart], last_step: str) -> Query:
    """The query of the runs' curves.

    Args:
        head: sweep and experiment.
        last_step: the column of a run's last step.
    """
    names = dict.fromkeys(name for one in parts for name in (one.column, one.unit) if name != ONES)
    return Query("curves", (*head, MOST_SEEDS, last_step, tuple(names)))


def curves_at(
    store: Store,
    shown: Sequence[ShownCurve],
    head: tuple[str, str],
    paths: Sequence[CurvePart] = (),
) -> dict[int, PointCurves]:
    """The curves of every point: those of all columns at the same steps, and its path where there is a plane.

    A curve that has fewer steps than another of its point is interpolated to those, as a line through its values is.

    Args:
        head: sweep and experiment.
        paths: the two entries of the plane of paths; none: there is no plane.
    """
    parts = {one.title: CurvePart(one.column, one.unit) for one in shown}
    every = [*parts.values(), *paths]
    of = bands(runs_of(store, curves_query(head, every, store.last_step(head[1]))), every)
    known = set[int]().union(*(of[one] for one in parts.values()))
    by_point = {}
    for point in sorted(known):
        there = {title: of[one][point] for title, one in parts.items() if point in of[one]}
        longest = max(there.values(), key=lambda one: len(one.step))
        step, values = longest.step, {}
        for title in parts:
            if title not in there:
                values[title] = np.full((5, len(step)), NOWHERE)
            elif np.array_equal(there[title].step, step):
                values[title] = there[title].ranks
            else:
                values[title] = np.array([np.interp(step, there[title].step, row) for row in there[title].ranks])
        both, quartiles = ({title: five[part] for title, five in values.items()} for part in (slice(3), slice(3, 5)))
        path = np.stack([of[one][point].finite for one in paths]) if paths else None
        by_point[point] = PointCurves(step, both, path, longest.runs, quartiles)
    return by_point


def runs_of(store: Store, query: Query) -> Iterator[pa.Table]:
    """The rows of `curves_query`, some at a time and in any order: to put them in order, all would be in memory."""
    with store.stream(query.text.rpartition("\norder by")[0], query.arguments, ROWS) as tables:
        yield from tables


def bands(tables: Iterable[pa.Table], parts: Sequence[CurvePart]) -> dict[CurvePart, dict[int, Bands]]:
    """Median, quantiles and quartiles of some curves at every point, by point, from the rows of `curves_query`."""
    groups: dict[CurvePart, Groups] = {one: {} for one in parts}
    runs, ended = Counter[int](), defaultdict[int, list[int]](list)
    for table in tables:
        columns = (table[name].to_pylist() for name in ("point", "run_end", "status"))
        for point, end, status in zip(*columns, strict=True):
            runs[point] += 1
            if status == "diverged" and end is not None:
                ended[point].append(end)
        recorded = _recorded(table)
        for one, of_curve in groups.items():
            _add(of_curve, one, table, recorded)
    return {one: _bands(of_curve, runs, ended) for one, of_curve in groups.items()}


def _recorded(table: pa.Table) -> dict[Recorded, np.ndarray]:
    """The rows of the runs that recorded the same steps, at points that end at the same one."""
    steps, ends = _Lists.of(table["step"]), table["point_end"].fill_null(0).to_numpy()
    every, rows = steps.flat.cast(pa.int64()).to_numpy(zero_copy_only=False), defaultdict[Recorded, list[int]](list)
    length = int(steps.length[0]) if len(ends) else 0
    if length and (steps.length == length).all() and steps.there.all():  # most runs share their recorded steps
        recorded = every[steps.start[0] : steps.start[0] + length * len(ends)].reshape(-1, length)
        if (recorded == recorded[0]).all():
            return {(recorded[0].tobytes(), int(end)): np.flatnonzero(ends == end) for end in np.unique(ends)}
    for row, (start, length, end) in enumerate(zip(steps.start, steps.length, ends.tolist(), strict=True)):
        rows[every[start : start + length].tobytes(), int(end)].append(row)
    return {key: np.array(members) for key, members in rows.items()}


class _Lists(NamedTuple):
    """A column of lists: the values of all, where each list begins, its length; and which are there."""

    flat: pa.Array
    start: np.ndarray
    length: np.ndarray
    there: np.ndarray

    @classmethod
    def of(cls, column: pa.ChunkedArray | pa.Array) -> _Lists:
        array = column
        if isinstance(column, pa.ChunkedArray):
            array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        offsets = array.offsets.to_numpy()
        return cls(array.values, offsets[:-1], np.diff(offsets), array.is_valid().to_numpy(zero_copy_only=False))


class _Numbers:
    """Numbers, or an entry of vectors, of which some are read as doubles: NaN where there is none."""

    def __init__(self, values: pa.Array, entry: int) -> None:
        self._vectors, self._entry = None, entry - 1
        self._all = values.null_count == 0
        self._there = None if self._all else values.is_valid().to_numpy(zero_copy_only=False)
        if pa.types.is_list(values.type):
            self._vectors = _Lists.of(values)
            values = self._vectors.flat
        kind = values.type
        number = pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)
        self._flat = (
            values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            if number
            else np.full(len(values), np.nan)
        )

    def __getitem__(self, places: np.ndarray) -> np.ndarray:
        if self._vectors is None:
            return self._flat[places]
        inside = self._vectors.there[places] & (self._entry < self._vectors.length[places])
        starts = self._vectors.start[places] + self._entry
        return np.where(inside, self._flat[np.where(inside, starts, 0)], np.nan) if len(self._flat) else inside * np.nan

    def known(self, start: int, stop: int) -> np.ndarray:
        """Which values of a run are there, be it as NaN."""
        return np.ones(stop - start, dtype=bool) if self._there is None else self._there[start:stop]

    @property
    def whole(self) -> bool:
        """Whether every value is there."""
        return self._all


def _units(table: pa.Table, one: CurvePart) -> np.ndarray:
    """What the values of each run are divided by; NaN where that cannot be."""
    if one.unit == ONES:
        return np.ones(table.num_rows)
    column = table[one.unit].combine_chunks()
    if one.entry > 1 and not pa.types.is_list(column.type):
        return np.full(table.num_rows, np.nan)
    units = _Numbers(column, one.entry)[np.arange(table.num_rows)]
    return np.where(units == 0, np.nan, units)


def _add(groups: Groups, one: CurvePart, table: pa.Table, recorded: Mapping[Recorded, np.ndarray]) -> None:
    """Adds the runs of a table to the groups of a curve."""
    lists, units, points = _Lists.of(table[one.column]), _units(table, one), table["point"].to_numpy()
    numbers = _Numbers(lists.flat, one.entry)
    for (text, end), rows in recorded.items():
        step = np.frombuffer(text, np.int64)
        whole = lists.there[rows] & (lists.length[rows] == len(step))
        if not numbers.whole:
            whole &= [bool(numbers.known(start, start + len(step)).all()) for start in lists.start[rows].tolist()]
        if whole.any():
            kept, members = kept_places(text, end), rows[whole]
            values = _in_unit(numbers[lists.start[members, None] + kept], units[members, None])
            _put(groups, step[kept], (text, end), points[members], values)
        for row in rows[~whole].tolist():
            start, length = int(lists.start[row]), min(int(lists.length[row]), len(step))
            value, there = np.full(len(step), np.nan), np.ones(len(step), dtype=bool)
            if lists.there[row]:  # a step at which a run has no value of this curve is none that it recorded
                value[:length] = numbers[np.arange(start, start + length)]
                there[:length] = numbers.known(start, start + length)
            of_run = step[there]
            kept = kept_places(of_run.tobytes(), end)
            values = _in_unit(value[there][kept][None], units[[row], None])
            _put(groups, of_run[kept], (of_run.tobytes(), end), points[[row]], values)


def _put(groups: Groups, step: np.ndarray, key: Recorded, points: np.ndarray, values: np.ndarray) -> None:
    group = groups.setdefault(key, _Group(step))
    group.points.append(points)
    group.values.append(values)


def _in_unit(values: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Values in their unit; NaN where one is not finite or has no unit."""
    with np.errstate(over="ignore", invalid="ignore"):
        quotient = np.where(np.isfinite(values), values, np.nan) / units
    return np.where(np.isfinite(quotient), quotient, np.nan)


@lru_cache(maxsize=4096)
def kept_places(recorded: bytes, end: int) -> np.ndarray:
    """The places of the steps that are kept: the first in each of `KEPT_STEPS` bins of log(1 + step), and the last.

    Args:
        recorded: the recorded steps, int64.
        end: the last step.
    """
    whole, before, kept = math.log(1 + end), -math.inf, list[int]()
    for place, step in enumerate(np.frombuffer(recorded, np.int64).tolist()):
        of_step = math.floor(KEPT_STEPS * math.log(1 + step) / whole) if whole > 0 else 0
        if step in (0, end) or of_step > before:
            kept.append(place)
        before = of_step
    return np.array(kept, dtype=np.int64)


def _bands(groups: Groups, runs: Mapping[int, int], ended: Mapping[int, Sequence[int]]) -> dict[int, Bands]:
    """The bands at each point, of runs that are in one group or in several."""
    by_point, pieces = dict[int, Bands](), defaultdict[int, list[tuple[np.ndarray, np.ndarray]]](list)
    for group in groups.values():
        if not len(group.step):
            continue
        points, values = np.concatenate(group.points), np.concatenate(group.values)
        of_step = np.ascontiguousarray(values.T)
        order = np.argsort(points, kind="stable")
        every, first, count = np.unique(points[order], return_index=True, return_counts=True)
        whole = np.array([runs[point] for point in every.tolist()]) == count
        for n in np.unique(count[whole]).tolist():
            alike = whole & (count == n)
            rows = order[first[alike, None] + np.arange(n)]
            ranks, finite = _ranks(of_step[:, rows], n)
            for place, point in enumerate(every[alike].tolist()):
                by_point[point] = Bands(group.step, ranks[:, :, place], finite[:, place], n)
        for place in np.flatnonzero(~whole).tolist():
            of_point = order[first[place] : first[place] + count[place]]
            pieces[int(every[place])] += [(group.step, row) for row in values[of_point]]
    for point, of_runs in pieces.items():
        one = _mixed(of_runs, runs[point], np.array(ended.get(point, ()), dtype=float))
        by_point |= {} if one is None else {point: one}
    return by_point


def _mixed(of_runs: Sequence[tuple[np.ndarray, np.ndarray]], runs: int, ended: np.ndarray) -> Bands | None:
    """The bands at a point whose runs recorded different steps: at those that each recorded, or did not live to see."""
    step = np.unique(np.concatenate([step for step, _ in of_runs]))
    values, there = np.full((len(step), runs), np.nan), np.zeros((len(step), runs), dtype=bool)
    for row, (recorded, value) in enumerate(of_runs):
        places = np.searchsorted(step, recorded)
        values[places, row], there[places, row] = value, True
    kept = there.sum(axis=1) + (ended < step[:, None]).sum(axis=1) == runs
    if not kept.any():
        return None
    ranks, finite = _ranks(values[kept], runs)
    return Bands(step[kept], ranks, finite, runs)


def _ranks(values: np.ndarray, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """The ranks of `Bands`, (5, ...), and the medians of the finite values, (...), over the last axis."""
    ordered = np.sort(values, axis=-1)  # NaN last
    whole = not np.isnan(ordered[..., -1]).any()
    seen = ordered if whole else np.where(np.isnan(ordered), NOWHERE, ordered)
    of_share = (max(1, -(-percent * runs // 100)) for percent in (10, 90, 25, 75))
    median = seen[..., (runs + 1) // 2 - 1] / 2 + seen[..., (runs + 2) // 2 - 1] / 2
    if whole:
        return np.stack([median, *(seen[..., rank - 1] for rank in of_share)]), median
    count = np.isfinite(values).sum(axis=-1)[..., None]
    middles = [np.take_along_axis(ordered, np.maximum(count - back, 0) // 2, -1)[..., 0] for back in (1, 0)]
    return np.stack([median, *(seen[..., rank - 1] for rank in of_share)]), middles[0] / 2 + middles[1] / 2
