"""The cells of a sweep that lack a result, by their shapes, and what batches of these took before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swingby.data.records import Records
from swingby.run.cost import Sample
from swingby.run.reservations import Pledge
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep

RECENT = 200
"""Batches of a shape, the newest first, that its cost is fitted to."""

Elsewhere = tuple[pa.Array, frozenset[str]]
"""Ids of cells that another sweep of this run trains, with the tokens of what is recorded of them."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How many cells of a sweep have a result, failed and are left alone, are trained by other sweeps of this run, and
    by other drivers (and by whom, in words)."""

    done: int = 0
    failed: int = 0
    shared: int = 0
    left: tuple[tuple[int, str], ...] = ()


class Lacking:
    """The cells of one sweep that lack a result, seed by seed.

    Attributes:
        ids: of every cell, in the order of `Sweep.cells`.
        todo: the places in it of the cells to train, as last looked at.
        left: those of the cells without a result that other drivers train.

    Args:
        retry_failed: whether cells that failed are among them.
    """

    def __init__(self, sweep: Sweep, records: Records, retry_failed: bool = False) -> None:
        self._sweep, self._records, self._retry_failed = sweep, records, retry_failed
        self.ids = sweep.cell_ids()
        self.todo = self.left = np.zeros(0, np.int64)
        self._had = np.zeros(len(self.ids), bool)

    def look(self, elsewhere: Sequence[Elsewhere] = (), pledges: Sequence[Pledge] = ()) -> Standing:
        """Reads from the store what is finished, and finds what is to do.

        Cells that somebody else trains are left alone if what is recorded of them is all that this sweep asks for.

        Args:
            elsewhere: what other sweeps of this run train.
            pledges: what other drivers train; looked at before the store took what is new.
        """
        done, failed = self._stand(self.ids)
        todo = np.flatnonzero(~(done | failed | self._had))
        lacking = len(todo)
        for ids, tokens in elsewhere:
            todo = todo[~self._trained(todo, ids, tokens)]
        shared, left = lacking - len(todo), list[tuple[int, str]]()
        unpledged = todo
        for pledge in pledges:
            pledged = self._trained(unpledged, pledge.ids, pledge.tokens)
            unpledged = unpledged[~pledged]
            left += [(int(pledged.sum()), pledge.who)] if pledged.any() else []
        self.todo, self.left = unpledged, np.setdiff1d(todo, unpledged, assume_unique=True)
        return Standing(int(done.sum()), int(failed.sum()), shared, tuple(left))

    def take(self) -> None:
        """What is to do is done: it is tried once, and does not come again whatever becomes of it."""
        self._had[self.todo] = True

    def wait(self, pledges: Sequence[Pledge]) -> bool:
        """Reads from the store which of the cells that were left to others are still to come.

        Args:
            pledges: what other drivers train, as in `look`.

        Returns:
            Whether nobody trains some of them any more.
        """
        done, failed = self._stand(self.ids.take(pa.array(self.left)))
        free = self.left = self.left[~(done | failed)]
        for pledge in pledges:
            free = free[~self._trained(free, pledge.ids, pledge.tokens)]
        return len(free) > 0

    def _stand(self, ids: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """Which of these cells have a result, and which failed and are left alone."""
        with Store.open(self._records.data) as store:
            letters = store.stand(self._sweep.experiment_name, ids, self._sweep.recording.tokens)
        return letters == "d", (letters == "f") & (not self._retry_failed)

    def _trained(self, places: np.ndarray, ids: pa.Array, tokens: frozenset[str]) -> np.ndarray:
        """Which of the cells at these places are among those that somebody trains so that they serve this sweep."""
        if not set(self._sweep.recording.tokens) <= tokens:
            return np.zeros(len(places), bool)
        found = pc.call_function("is_in", [self.ids.take(pa.array(places))], pc.SetLookupOptions(value_set=ids))
        return found.to_numpy(zero_copy_only=False)

    @cached_property
    def _shapes(self) -> tuple[np.ndarray, list[str]]:
        """The shape of each point as a number, and the shapes that the numbers stand for."""
        return self._sweep.points.told(self._sweep.experiment.shape)

    @property
    def names(self) -> list[str]:
        """Every shape of the sweep."""
        return self._shapes[1]

    def coded(self) -> tuple[np.ndarray, list[str]]:
        """The shape of each cell to train as a number, and the shapes that the numbers stand for."""
        codes, names = self._shapes
        return codes[self.todo % len(self._sweep.points)], names

    def shapes(self) -> list[str]:
        """The shapes of the cells to train, in the order in which they come."""
        codes, names = self.coded()
        found, first = np.unique(codes, return_index=True)
        return [names[code] for code in found[np.argsort(first)]]

    def of_shapes(self, shapes: Iterable[str]) -> dict[str, np.ndarray]:
        """The positions in `todo` of the cells of each of these shapes."""
        codes, names = self.coded()
        return {shape: np.flatnonzero(codes == names.index(shape)) for shape in shapes}

    @cached_property
    def representatives(self) -> Mapping[str, Any]:
        """The parameters of one point of each shape."""
        codes, names = self._shapes
        _, first = np.unique(codes, return_index=True)
        return {name: self._sweep.points[int(place)].params for name, place in zip(names, first, strict=True)}

    def work(self, shapes: Iterable[str]) -> dict[str, float]:
        """`Experiment.work` of a cell of each of these shapes."""
        return {shape: float(self._sweep.experiment.work(self.representatives[shape])) for shape in shapes}

    def most(self) -> dict[str, int]:
        """The most cells of each shape that can be trained together, of shapes to train."""
        most = self._sweep.experiment.max_batch
        return {shape: most(self.representatives[shape]) for shape in self.shapes()}

    def samples(self, device: str | None) -> list[Sample]:
        """Batches of this experiment that ran with this recording, on this kind of device (None: on any)."""
        name, tokens = self._sweep.experiment_name, " ".join(self._sweep.recording.tokens)
        with Store.open(self._records.data) as store:
            rows = store.sql(SAMPLES, [name, tokens, device or "", RECENT]).rows()
            if max(self.most().values(), default=0) == 1 and rows:
                # A run that was stopped in the middle says nothing of what a whole one costs.
                whole = {row.shard for row in store.sql(f"""select shard from "{name}" where status <> 'running'""")}
                rows = [row for row in rows if whole.intersection(row.names)]
        return [Sample(row.shape, row.cells, row.seconds, row.bytes) for row in rows]


SAMPLES = """
select shape, cells, seconds, bytes, names from (
  select shape, list(shard) as names, max(cells) as cells,
    sum(seconds) as seconds, sum(bytes)::double as bytes, max(finished) as finished
  from shards
  where experiment = $1 and array_to_string(recorded, ' ') = $2 and ($3 = '' or starts_with(device, $3))
  group by shape, plan_id, batch, attempt, host, pid
) qualify row_number() over (partition by shape order by finished desc) <= $4"""
