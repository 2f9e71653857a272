"""The pending cells of a sweep: those without a result, less those that other drivers have reserved.

A driver reserves the cells that it is about to train, so that no two drivers on a data folder train the same cell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.data.locks import Hold, holding, in_words
from swingby.data.parquet import read_parquet
from swingby.data.records import Plan, Records
from swingby.errors import SwingbyError
from swingby.run.cost import Sample
from swingby.run.estimate import sizes_of
from swingby.store import Store
from swingby.store.sql import quoted
from swingby.sweepfile.sweep import Sweep

RECENT = 200
"""Batches of a shape, the newest first, that its cost is fitted to."""
SIZED = 64
"""Most cells of a batch that tells of the sizes of its cells: in a large one they are those of the whole sweep."""

TrainedCells = tuple[pa.Array, frozenset[str]]
"""Ids of cells that another sweep of this run trains, with the tokens of what is recorded of them."""


@dataclass(frozen=True, slots=True)
class CellCounts:
    """The numbers of a sweep's cells that are not to be trained, by the reason.

    Attributes:
        done: cells with a result.
        failed: cells that failed and are left alone.
        shared: cells that other sweeps of this run train.
        reserved: how many cells each other driver trains, with its name.
    """

    done: int = 0
    failed: int = 0
    shared: int = 0
    reserved: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """The cells of another driver's plan, whether trained yet or not.

    Attributes:
        owner: the sweep, and the process that trains it, as text.
        ids: the cells' ids.
        tokens: what the plan records of each cell.
    """

    owner: str
    ids: pa.Array
    tokens: frozenset[str]


class Reservations:
    """The reservations of this driver and of all others on a data folder.

    A reservation is the names of plans in the lock file of their sweep. It ends with the lock when its driver ends or
    dies, and a stale one is gone as soon as another driver takes the lock. A driver reserves a plan right after writing
    it, while it holds the planning lock, and releases everything once it has trained what it can.

    Args:
        holds: the sweep locks of this driver, by sweep id.
    """

    def __init__(self, records: Records, holds: Mapping[str, Hold] | None = None) -> None:
        self._records, self._holds = records, dict(holds or {})
        self._plans: dict[str, tuple[Plan, pa.Array]] = {}
        self._reserved: dict[str, list[str]] = {}

    def reserve(self, plan: Plan, beside: bool = False) -> None:
        """Reserves the batches of a plan for this driver, in place of earlier plans of the same sweep.

        Args:
            beside: earlier plans stay reserved, too.

        Raises:
            SwingbyError: the disk refuses.
        """
        if plan.sweep_id in self._holds:
            plans = [*(self._reserved.get(plan.sweep_id, ()) if beside else ()), plan.plan_id]
            self._reserved[plan.sweep_id] = plans
            self._holds[plan.sweep_id].say(plan=" ".join(plans))

    def release(self) -> None:
        """Ends every reservation of this driver.

        Raises:
            SwingbyError: the disk refuses.
        """
        self._reserved.clear()
        for hold in self._holds.values():
            hold.say()

    def others(self, experiment: str) -> list[Reservation]:
        """The reservations of cells of an experiment by other drivers.

        To be read before the results are: a driver that reserves nothing any more has committed all of its rows.
        """
        reservations = []
        for lock in sorted((self._records.data / "locks").glob("*.lock")):
            try:
                content = None if lock.stem in self._holds else holding(lock)
                if content is None or not isinstance(content.get("plan"), str):
                    continue
                named = [self._reserved_cells(plan_id) for plan_id in content["plan"].split()]
            except (SwingbyError, OSError):  # a lock or plan that cannot be read reserves nothing
                continue
            for plan, ids in named:
                if plan.experiment == experiment:
                    owner = f"sweep {plan.name}: {in_words(content)}"
                    reservations.append(Reservation(owner, ids, frozenset(plan.recording.tokens)))
        return reservations

    def _reserved_cells(self, plan_id: str) -> tuple[Plan, pa.Array]:
        """A plan, and the ids of the cells in its batches; kept, since plans never change."""
        if plan_id not in self._plans:
            plan = self._records.read_plan(plan_id)
            assert plan.path is not None
            _, rows = read_parquet(plan.path, "plan", columns=["cell_id"], filters=[("batch", ">=", 0)])
            self._plans[plan_id] = plan, rows["cell_id"].combine_chunks()
        return self._plans[plan_id]


class PendingCells:
    """The cells of one sweep that have no result, seed by seed.

    Attributes:
        ids: the id of every cell, in the order of `Sweep.cells`.
        requested: the places of the cells that are wanted, where the sweep is refined; None: all.
        places: the places in `ids` of the cells to train, as of the last `refresh`.
        reserved: the places of pending cells that other drivers train.
        older: the places of cells whose result does not count: another version of the experiment's code made it.
        samples: what batches took that ran with the sweep's recording, as of the last `refresh`.

    Args:
        retry_failed: whether cells that failed are pending.
        device: the kind of device whose batches are `samples`; None: any.
        keep: whether results of other versions of the experiment's code count.
    """

    def __init__(
        self,
        sweep: Sweep,
        records: Records,
        retry_failed: bool = False,
        device: str | None = None,
        keep: bool = False,
    ) -> None:
        self._sweep, self._records, self._retry_failed, self._device = sweep, records, retry_failed, device
        self._tokens = sweep.recording.requested if keep else sweep.recording.tokens
        self.samples: Sequence[Sample] = ()
        self.ids = sweep.cell_ids()
        self.requested: np.ndarray | None = None
        self.places = self.reserved = self.older = np.zeros(0, np.int64)
        self._tried = np.zeros(len(self.ids), bool)

    def refresh(self, shared: Sequence[TrainedCells] = (), reservations: Sequence[Reservation] = ()) -> CellCounts:
        """Reads finished cells and samples from the store, and sets `places`, `reserved` and `samples`.

        A cell that another sweep or driver trains is left out if it records all there that this sweep asks for.

        Args:
            shared: cells that other sweeps of this run train.
            reservations: cells that other drivers train; read before the store ingested what is new.
        """
        listed = self.listed
        ids = self.ids if self.requested is None else self.ids.take(pa.array(listed))
        with Store.open(self._records.data) as store:
            done, failed = self._finished(store, ids)
            if self._sweep.recording.code and self._tokens != self._sweep.recording.requested:
                ever = store.states(self._sweep.experiment_name, ids, self._sweep.recording.requested) == "d"
                self.older = listed[ever & ~done]
            places = listed[~(done | failed | self._tried[listed])]
            count = len(places)
            for ids, tokens in shared:
                places = places[~self._covered(places, ids, tokens)]
            free, reserved = places, list[tuple[int, str]]()
            for one in reservations:
                covered = self._covered(free, one.ids, one.tokens)
                free = free[~covered]
                reserved += [(int(covered.sum()), one.owner)] if covered.any() else []
            self.places, self.reserved = free, np.setdiff1d(places, free, assume_unique=True)
            self.samples = self._samples(store)
        return CellCounts(int(done.sum()), int(failed.sum()), count - len(places), tuple(reserved))

    @property
    def listed(self) -> np.ndarray:
        """The places of the cells that are wanted, in order."""
        return np.arange(len(self.ids)) if self.requested is None else self.requested

    def finished(self) -> tuple[np.ndarray, np.ndarray]:
        """Masks over all cells: those that have a result, and those that failed and are left alone."""
        with Store.open(self._records.data) as store:
            return self._finished(store, self.ids)

    def mark_tried(self) -> None:
        """Excludes the cells at `places` from later refreshes: a run plans a cell once, even if it never has a row."""
        self._tried[self.places] = True

    def refresh_reserved(self, reservations: Sequence[Reservation]) -> bool:
        """Drops cells that have finished from `reserved`.

        Args:
            reservations: cells that other drivers train, as in `refresh`.

        Returns:
            Whether some of the remaining cells are reserved by nobody any more.
        """
        with Store.open(self._records.data) as store:
            done, failed = self._finished(store, self.ids.take(pa.array(self.reserved)))
        free = self.reserved = self.reserved[~(done | failed)]
        for one in reservations:
            free = free[~self._covered(free, one.ids, one.tokens)]
        return len(free) > 0

    def _finished(self, store: Store, ids: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """Masks of the cells that have a result, and of those that failed and are left alone."""
        letters = store.states(self._sweep.experiment_name, ids, self._tokens, self._sweep.recording.tokens)
        return letters == "d", (letters == "f") & (not self._retry_failed)

    def _covered(self, places: np.ndarray, ids: pa.Array, tokens: frozenset[str]) -> np.ndarray:
        """Mask of the places whose cells are among `ids`, if `tokens` hold all that this sweep records."""
        if not set(self._sweep.recording.tokens) <= tokens:
            return np.zeros(len(places), bool)
        import pyarrow.compute as pc

        mask = pc.call_function("is_in", [self.ids.take(pa.array(places))], pc.SetLookupOptions(value_set=ids))
        return mask.to_numpy(zero_copy_only=False)

    @cached_property
    def _shapes(self) -> tuple[np.ndarray, list[str]]:
        """The shape of each point as a number, and the names that the numbers stand for."""
        return self._sweep.points.labelled(self._sweep.experiment.shape)

    def kinds(self) -> tuple[np.ndarray, list[Any]]:
        """The shape of each point as a number, and the parameters of a point of each."""
        codes, names = self._shapes
        return codes, [self.representatives[name] for name in names]

    @property
    def shape_names(self) -> list[str]:
        """Every shape of the sweep."""
        return self._shapes[1]

    def shape_codes(self) -> tuple[np.ndarray, list[str]]:
        """The shape of each cell to train as a number, and the names that the numbers stand for."""
        codes, names = self._shapes
        return codes[self.places % len(self._sweep.points)], names

    def shapes(self) -> list[str]:
        """The shapes of the cells to train, in the order of their first cells."""
        codes, names = self.shape_codes()
        unique, first = np.unique(codes, return_index=True)
        return [names[code] for code in unique[np.argsort(first)]]

    def of_shapes(self, shapes: Iterable[str]) -> dict[str, np.ndarray]:
        """The positions in `places` of the cells of each of these shapes."""
        codes, names = self.shape_codes()
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

    def max_batches(self) -> dict[str, int]:
        """The most cells that fit one batch, for each shape to train."""
        most = self._sweep.experiment.max_batch
        return {shape: most(self.representatives[shape]) for shape in self.shapes()}

    def lanes(self) -> dict[str, int]:
        """How many cells cost as much as one, for each shape to train."""
        lanes = self._sweep.experiment.lanes
        return {shape: lanes(self.representatives[shape]) for shape in self.shapes()}

    def _samples(self, store: Store) -> list[Sample]:
        """What batches of the experiment took that ran with the sweep's recording, on this kind of device."""
        name, tokens = self._sweep.experiment_name, " ".join(self._sweep.recording.tokens)
        rows = store.sql(SAMPLES, [name, tokens, self._device or "", RECENT]).rows()
        if rows and max(self.max_batches().values(), default=0) == 1:
            # The time of a run that was stopped half-way is not that of a whole one.
            query = f"select shard from {quoted(name)} where status <> 'running'"
            whole = {row.shard for row in store.sql(query)}
            rows = [row for row in rows if whole.intersection(row.names)]
        sizes = self._sizes_of(store, [row.names if row.cells <= SIZED else [] for row in rows])
        return [Sample(row.shape, row.cells, row.seconds, row.bytes, of) for row, of in zip(rows, sizes, strict=True)]

    @cached_property
    def sizes(self) -> np.ndarray:
        """What the cost of each point may depend on."""
        return sizes_of(self._sweep.points)

    def _sizes_of(self, store: Store, batches: Sequence[Sequence[str]]) -> list[np.ndarray | None]:
        """The mean sizes of the cells in each of these groups of shards, as far as they are cells of the sweep."""
        import pyarrow.compute as pc

        if not any(batches) or not self.sizes.shape[1]:
            return [None] * len(batches)
        query = f"select shard, cell_id from {quoted(self._sweep.experiment_name)} where list_contains($1, shard)"
        rows = store.sql(query, [[name for names in batches for name in names]]).arrow()
        at = pc.call_function("index_in", [rows["cell_id"]], pc.SetLookupOptions(value_set=self.ids)).fill_null(-1)
        shards = rows["shard"].to_pylist()
        places: dict[str, list[int]] = defaultdict(list)
        for shard, place in zip(shards, at.to_pylist(), strict=True):
            if place >= 0:
                places[shard].append(place % len(self._sweep.points))
        of_batches = ([place for name in names for place in places[name]] for names in batches)
        return [self.sizes[of].mean(axis=0) if of else None for of in of_batches]


SAMPLES = """
select shape, cells, seconds, bytes, names from (
  select shape, list(shard) as names, max(cells) as cells,
    sum(seconds) as seconds, sum(bytes)::double as bytes, max(finished) as finished
  from shards
  where experiment = $1 and array_to_string(recorded, ' ') = $2 and ($3 = '' or starts_with(device, $3))
  group by shape, plan_id, batch, attempt, host, pid
) qualify row_number() over (partition by shape order by finished desc) <= $4"""
