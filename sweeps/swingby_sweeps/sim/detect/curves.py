"""Curves of a table of runs as arrays: grouped by equal recorded steps, and cut where a run diverges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from swingby.errors import SwingbyError
from swingby_analysis.signals.extrema import Floats, Ints

from .. import task
from ..params import DIVERGED_AT, SimParams

CHUNK = 1000
"""Cells that are held as dense arrays at once: few enough that a curve of each stays in a core's cache."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Lists:
    """A list column with its lists end to end; a record is a number, or a vector whose width is the row's own.

    Attributes:
        values: every number of the column; nulls are NaN.
        start: where each row begins in `values`, int (R,).
        count: how many records each row has, int (R,); 0 for a null row.
        width: numbers a record of each row, int (R,); 1 for a plain list and for a row without records.
    """

    values: Floats
    start: Ints
    count: Ints
    width: Ints

    def dense(self, rows: Ints, times: int, width: int) -> Floats:
        """The first `times` records of rows that have them, all of this width: (C, times, width)."""
        size, start = times * width, self.start[rows]
        if len(self.values) % size == 0 and not (start % size).any():  # whole rows of a matrix
            flat = self.values.reshape(-1, size)[start // size]
        else:
            flat = self.values[start[:, None] + np.arange(size)]
        return flat.reshape(len(rows), times, width)

    def row(self, row: int) -> Floats | None:
        """The records of one row, (T, width); None where it has none."""
        count, width, start = self.count[row], self.width[row], self.start[row]
        return self.values[start : start + count * width].reshape(count, width) if count else None


def lists(column: pa.ChunkedArray) -> Lists:
    """A column of lists of numbers, or of lists of lists of numbers that are equally long within a row.

    Raises:
        ValueError: the inner lists of a row differ in length, or one is null; the message says in which row.
    """
    array = _whole(column)
    if pa.types.is_null(array.type):
        nothing = np.zeros(len(array), dtype=np.int64)
        return Lists(np.zeros(0), nothing, nothing, np.ones_like(nothing))
    count, flat, width = _lengths(array, 0), array.flatten(), np.ones(len(array), dtype=np.int64)
    if pa.types.is_list(flat.type) or pa.types.is_large_list(flat.type) or pa.types.is_fixed_size_list(flat.type):
        inner, filled = _lengths(flat, -1), count > 0
        width[filled] = inner[(np.cumsum(count) - count)[filled]]
        wrong = np.flatnonzero((inner != np.repeat(width, count)) | (inner < 0))
        if len(wrong):
            row = int(np.searchsorted(np.cumsum(count), wrong[0], side="right"))
            raise ValueError(f"row {row} holds vectors of different lengths; one length a row is allowed")
        flat = flat.flatten()
    size = count * width
    values = flat.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return Lists(values, np.cumsum(size) - size, count, width)


def _lengths(array: pa.Array, null: int) -> Ints:
    return array.value_lengths().fill_null(null).to_numpy(zero_copy_only=False).astype(np.int64)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array


@dataclass(frozen=True)
class Group:
    """Cells whose curves have the same steps: C rows, T records, s concepts.

    Attributes:
        rows: their rows in the table, int (C,).
        steps: recorded steps, (T,), T >= 1.
        mu: (C, s).
    """

    runs: Runs
    rows: Ints
    steps: Floats
    mu: Floats

    @cached_property
    def l_ref(self) -> Floats:
        """The unit of loss, (C,)."""
        return self.runs.l_ref[self.rows]

    @cached_property
    def a(self) -> Floats:
        """The signal a_p, (C, s)."""
        return self.runs.a.dense(self.rows, self.mu.shape[1], 1)[:, :, 0]

    def words(self, name: str) -> NDArray[np.object_]:
        """A column of text, (C,)."""
        return self.runs.words(name)[self.rows]

    def flags(self, name: str) -> Mask:
        """A column of yes and no, (C,); null is no."""
        return self.runs.flags(name)[self.rows]

    def curve(self, name: str) -> Floats:
        """A curve of numbers, (C, T); NaN where the row has none."""
        return self.vectors(name, 1)[:, :, 0]

    def vectors(self, name: str, width: int) -> Floats:
        """A curve of vectors, (C, T, width); NaN where the row has none.

        Raises:
            SwingbyError: a cell's curve has another width, or fewer records than steps.
        """
        source, times = self.runs.curves[name], len(self.steps)
        filled = self.has(name)
        rows = self.rows[filled]
        wrong = rows[(source.count[rows] < times) | (source.width[rows] != width)]
        if len(wrong):
            actual = f"{source.count[wrong[0]]} records of {source.width[wrong[0]]} numbers"
            raise SwingbyError(f"cell {self.runs.ids[wrong[0]]}: {name} has {actual}; expected {times} of {width}")
        if filled.all():
            return source.dense(rows, times, width)
        result = np.full((len(self.rows), times, width), np.nan)
        if len(rows):
            result[filled] = source.dense(rows, times, width)
        return result

    def has(self, name: str) -> Mask:
        """Which rows recorded this curve, (C,)."""
        return self.runs.curves[name].count[self.rows] > 0


class Runs:
    """A table of runs with its curves.

    Attributes:
        table: the table.
        final: rows that are results (status ok or diverged), (R,).
        diverged: rows of status diverged, and results with a record that is not finite or above 1e6 L_ref, (R,).
        length: number of records before the first such record, int (R,); 0 for rows that are not results.
        l_ref: ||x^||^2 / 2, (R,).
        mu, a: the centres' distances, and the signals a_p as recorded, or else computed from the parameters.

    Raises:
        SwingbyError: curves of one cell that differ in length.
    """

    def __init__(self, table: pa.Table, curves: tuple[str, ...]) -> None:
        self.table = table
        self.ids = table["cell_id"].to_pylist()
        self.curves = {name: _read(table, name) for name in curves}
        self._words: dict[str, NDArray[np.object_]] = {}
        status = self.words("status")
        self.final = (status == "ok") | (status == "diverged")
        self._prepare()
        self.mu = lists(table["mu"])
        self.a = self._signal()
        row = np.repeat(np.arange(len(self.ids)), self.mu.count)
        self.l_ref = np.bincount(row, self.mu.values**2 / 2, minlength=len(self.ids)).astype(np.float64)
        steps = self.curves["step"].count
        for name in ("ood_loss", "train_loss"):
            count = self.curves[name].count
            wrong = np.flatnonzero(self.final & (count != steps) & ~((count == 0) & (name != "ood_loss")))
            if len(wrong):
                first = wrong[0]
                raise SwingbyError(f"cell {self.ids[first]}: {count[first]} records of {name} at {steps[first]} steps")
        cut = self._first_divergence()
        self.diverged = (status == "diverged") | (self.final & (cut < steps))
        self.length = np.where(self.final, cut, 0)

    def _prepare(self) -> None:
        """Hook of `Twins`, before lengths are compared."""

    def words(self, name: str) -> NDArray[np.object_]:
        """A column of text, (R,)."""
        if name not in self._words:
            # Few values differ: equal ones become one Python object.
            coded = _whole(self.table[name]).dictionary_encode()
            values = np.array([*coded.dictionary.to_pylist(), None], dtype=object)
            self._words[name] = values[coded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)]
        return self._words[name]

    def flags(self, name: str) -> Mask:
        """A column of yes and no, (R,); null is no."""
        return self.words(name).astype(bool)

    def numbers(self, name: str) -> Floats:
        """A column of numbers, (R,); null is NaN."""
        return self.table[name].cast(pa.float64()).to_numpy()

    def _signal(self) -> Lists:
        """a_p of every row; NaN where it was not recorded and sigma has another length than mu."""
        recorded, sigma, count = lists(self.table["a"]), lists(self.table["sigma"]), self.mu.count
        row = np.repeat(np.arange(len(count)), count)
        entry = np.arange(len(row)) - np.repeat(self.mu.start, count)
        values, known = np.full(len(row), np.nan), (recorded.count == count)[row]
        values[known] = recorded.values[(recorded.start[row] + entry)[known]]
        for place in np.flatnonzero((recorded.count != count) & (sigma.count == count)):
            span = slice(self.mu.start[place], self.mu.start[place] + count[place])
            p = SimParams.model_construct(
                s=int(count[place]),
                mu=tuple(self.mu.values[span]),
                sigma=tuple(sigma.values[sigma.start[place] :][: count[place]]),
                sigma_is=self.words("sigma_is")[place],
                zero_cluster=bool(self.flags("zero_cluster")[place]),
            )
            values[span] = task.signal(p)
        return Lists(values, self.mu.start, count, self.mu.width)

    def _first_divergence(self) -> Ints:
        """The first record that is not finite or above the bound; the number of records if there is none."""
        first, least_bound = self.curves["step"].count.copy(), DIVERGED_AT * np.fmin.reduce(self.l_ref, initial=np.inf)
        for name in ("ood_loss", "train_loss", "output"):
            source = self.curves[name]
            # Nearly always all values are finite, and within the least bound of all rows.
            if len(source.values) and -np.inf < source.values.min() and source.values.max() <= least_bound:
                continue
            bad = np.flatnonzero(~np.isfinite(source.values))
            if name == "ood_loss":
                bound = DIVERGED_AT * np.repeat(self.l_ref, source.count)
                bad = np.union1d(bad, np.flatnonzero(source.values > bound))
            row = np.searchsorted(source.start, bad, side="right") - 1
            # Rows without a curve share their start with the next row; searchsorted's last is the one with the curve.
            np.minimum.at(first, row, (bad - source.start[row]) // source.width[row])
        return first

    def groups(self) -> Iterator[Group]:
        """Chunks of cells with equal steps and equally many concepts; rows without a usable record are left out."""
        step = self.curves["step"]
        usable = np.flatnonzero(self.length > 0)
        kinds, kind = np.unique(np.stack([self.mu.count, self.length], axis=1)[usable], axis=0, return_inverse=True)
        for number, (concepts, times) in enumerate(kinds.tolist()):
            rows = usable[kind.reshape(-1) == number]
            for steps, members in _alike(rows, step.dense(rows, times, 1)[:, :, 0]):
                for begin in range(0, len(members), CHUNK):
                    chunk = members[begin : begin + CHUNK]
                    mu = self.mu.values[self.mu.start[chunk, None] + np.arange(concepts)]
                    yield Group(self, chunk, steps, mu)


class Twins(Runs):
    """The twins of a table of runs, as runs of their own; rows without a twin are no results.

    Attributes:
        name: the recording, which is how the twins' columns begin.
    """

    def __init__(self, table: pa.Table, name: str, drive: str) -> None:
        """`drive`: what drives the twins."""
        self.name, self._drive = name, drive
        super().__init__(table, ("step",))

    def _prepare(self) -> None:
        curves = {name: _read(self.table, f"{self.name}_{name}") for name in ("ood_loss", "train_loss", "output")}
        # A twin that diverged has fewer records than its run.
        step, count = self.curves["step"], curves["ood_loss"].count
        self.curves = {"step": Lists(step.values, step.start, np.minimum(step.count, count), step.width), **curves}
        self.final &= count > 0
        self._words["drive"] = np.full(len(self.ids), self._drive, dtype=object)


def _read(table: pa.Table, name: str) -> Lists:
    try:
        return lists(table[name])
    except ValueError as error:
        raise SwingbyError(f"column {name}: {error}") from None


def _alike(rows: Ints, steps: Floats) -> Iterator[tuple[Floats, Ints]]:
    """Every distinct row of steps (C, T), in the order of appearance, with the members of `rows` (C,) that have it."""
    if (steps == steps[0]).all():  # as nearly always
        yield steps[0], rows
        return
    members_of: dict[bytes, list[int]] = {}
    # float64 keeps every step below 2^53 exactly.
    for row, cell_steps in zip(rows.tolist(), steps, strict=True):
        members_of.setdefault(cell_steps.tobytes(), []).append(row)
    for cell_steps, members in members_of.items():
        yield np.frombuffer(cell_steps), np.array(members, dtype=np.int64)
