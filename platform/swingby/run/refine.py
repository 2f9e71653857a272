"""Refined sweeps: rounds of few cells, each chosen by what the store knows and what is being trained.

Every round is a plan, and the plan holds the decision: what was asked for, on what evidence, and what the selector has
to remember. So a run that was killed goes on as if it had not been.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swingby.data.locks import HeldError
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model.params import as_tuple
from swingby.run.forecast import Planned
from swingby.run.labels import evidence
from swingby.run.outcomes import derive
from swingby.run.plan import Planner
from swingby.run.progress import Progress
from swingby.select.boundary.boundary import Boundary, Standing
from swingby.select.boundary.company import Company
from swingby.select.boundary.share_fit import one_blas_thread, share_fit
from swingby.select.boundary.space import Space
from swingby.select.boundary.verdicts import VERDICTS, Goal
from swingby.store import Store, ingest
from swingby.store.grid_points import ranges
from swingby.store.refined import Refined
from swingby.store.views import SHARE_FIT
from swingby.sweepfile.parameters import PRESET, split
from swingby.sweepfile.refinement import Refinement
from swingby.sweepfile.sweep import Sweep
from swingby.units import counted

VERSION = 1
"""Of the way cells are chosen; raised whenever the same evidence can lead to another choice."""
FIT_VERSION = "1"
"""Of the table `share_fit`."""
KEY = ("sweep_id", "outcome", "point")
"""The columns that tell its rows apart."""
LAG = 0.5
"""Cells in flight, as a share of the last round's, at which the next round is chosen."""


def space_of(sweep: Sweep, apart: tuple[str, ...]) -> Space:
    """The points of a sweep as the selector sees them."""
    groups = [axis.names for axis in sweep.axes]
    columns = {name: _values(sweep, name) for names in groups for name in names}
    return Space.of(groups, columns, apart, len(sweep.seeds))


def _values(sweep: Sweep, name: str) -> Sequence[Any]:
    """The value of an axis at each point, an entry of a vector where the axis is one."""
    parameter, entry = split(name)
    if name == PRESET:
        return sweep.presets
    if parameter not in sweep.points.columns:
        return [sweep.points.constants[parameter]] * len(sweep.points)
    values = sweep.points.columns[parameter]
    if entry is not None:
        values = pc.call_function("list_element", [values, entry])
    is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    return values.to_numpy() if is_number and not values.null_count else values.to_pylist()


def left_by_filter(sweep: Sweep) -> list[list[int]]:
    """Which points of the product of its axes a sweep's filter leaves, as stretches."""
    flat = np.zeros(len(sweep.points), np.int64)
    for axis in sweep.axes:
        known = {repr(value): place for place, value in enumerate(axis.values)}
        columns = [_values(sweep, name) for name in axis.names]
        plain = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]
        # What is not read is null, and stands at the first place.
        places = [known.get(repr(tuple(map(as_tuple, value))), 0) for value in zip(*plain, strict=True)]
        flat = flat * len(axis.values) + np.array(places)
    return ranges(flat)


def goals_of(refinement: Refinement) -> tuple[Goal, ...]:
    """What is to be told of each outcome."""
    return tuple(
        Goal(0.5 if label.median else refinement.share, refinement.within, refinement.confidence, refinement.wrong)
        for label in refinement.labels
    )


def _places(cell_ids: pa.ChunkedArray, ids: pa.Array) -> np.ndarray:
    """The places of some cells among all."""
    places = pc.call_function("index_in", [cell_ids], pc.SetLookupOptions(value_set=ids))
    return places.combine_chunks().drop_null().to_numpy(zero_copy_only=False)


class Rounds:
    """The rounds of one refined sweep, a source of plans while earlier ones run.

    Attributes:
        ended: whether no further plan will come.
        fault: the error that ended it, if one did.
        refined: how it stands, as of the last round.

    Args:
        planner: of the sweep; its caller holds the sweep's lock.
        waits: each round waits for all cells of the rounds before it, and is chosen in the thread that asks for it.
        progress: shows what was chosen.
        planned: hears of every plan that is made here.
        stop: true once the run was asked to stop.
    """

    def __init__(
        self,
        sweep: Sweep,
        planner: Planner,
        records: Records,
        progress: Progress,
        stop: Callable[[], bool],
        waits: bool,
        planned: Callable[[Planned], object] = lambda one: None,
    ) -> None:
        self.refinement = sweep.refinement()
        self._sweep, self._planner, self._records = sweep, planner, records
        self._progress, self._stop, self._waits, self._planned = progress, stop, waits, planned
        self._space = space_of(sweep, self.refinement.apart)
        self._goals = goals_of(self.refinement)
        self._left = None if sweep.where is None and not sweep.shared else left_by_filter(sweep)
        self._requested = np.zeros(len(sweep), bool)
        self._ready: deque[Planned] = deque()
        self._new_plans: deque[str] = deque()
        self._since = 0
        self._lock = threading.Lock()
        self._round, self._last, self._written = 0, 0, False
        self.ended = False
        self.fault: Exception | None = None
        self.refined: Refined | None = None
        self._boundary = self._selector(None)

    def _selector(self, memory: Mapping[str, Any] | None) -> Boundary:
        codes, representatives = self._planner.pending.kinds()
        lanes = np.array([self._sweep.experiment.lanes(params) for params in representatives])
        company = Company(codes, lanes) if (lanes > 1).any() else None
        return Boundary(self._space, self._goals, self.refinement.budget, memory, company)

    # the first plan

    def begin(self, preview: bool = False) -> None:
        """Sets what the planner plans first: cells that were asked for and have no result, else the next choice.

        Args:
            preview: write no plan, also where cells that another sweep has trained would be made this one's.

        Raises:
            SwingbyError: the store cannot be read, or an outcome is not what was expected.
        """
        ingest(self._records)
        self._since = self._records.next_sequence(self._sweep.name, self._sweep.sweep_id)
        done, failed = self._planner.pending.finished()
        ids = self._planner.pending.ids
        with Store.open(self._records.data) as store:
            known = store.sql("select cell_id from members where sweep_id = ?", [self._sweep.sweep_id]).arrow()
            query = """select plan_id, decision from plans where sweep_id = ? and decision is not null
                       order by sequence desc, created desc"""
            rows = store.sql(query, [self._sweep.sweep_id]).rows()
        decisions = [json.loads(row.decision) for row in rows]
        for row in rows:
            listed = _places(self._records.read_plan(row.plan_id).table["cell_id"], ids)
            self._requested[listed] = True
        finished = done | failed
        members = np.zeros(len(ids), bool)
        members[_places(known["cell_id"], ids)] = True
        pending = np.flatnonzero(self._requested & ~finished)
        self._requested |= finished
        self._round = max((one["round"] for one in decisions), default=0)
        same = [one for one in decisions if self._key(one) == self._key(self._decision(None))]
        memory = same[0]["memory"] if same else None
        self._boundary = self._selector(memory)
        if len(reused := np.flatnonzero(finished & ~members)) and not preview:
            # They were trained for another sweep: a plan makes them this one's, so that they count as evidence.
            self._planner.pending.requested = reused
            self._planner.decision = {**self._decision(None), "memory": memory, "reused": len(reused)}
            self._planner.commit()
        self._derive()
        if len(pending):
            self._want(pending)
            decision = same[0] if same else self._decision(None)
            self._planner.decision = {**decision, "since": self._since, "again": len(pending)}
            return
        chosen = self._choose()
        self._say(chosen)
        self._want(chosen)
        self.ended = not len(chosen)
        if self.ended and same and same[0]["ended"] and same[0]["evidence"] == self._planner.decision["evidence"]:
            self._planner.decision = {}  # nothing has changed since it ended: no record is due
            self._written = True

    def _derive(self) -> None:
        """Derives the outcomes of what has come; their faults are told at the end of the run."""
        with suppress(SwingbyError):
            derive(self._records, [self._sweep.sweep_id], {self._sweep.sweep_id: self._sweep.outcomes})

    def _want(self, places: np.ndarray) -> None:
        self._planner.pending.requested = places
        self._requested[places] = True
        self._last = len(places)

    # later plans

    def take(self) -> Planned | None:
        """A further plan, if one is ready; where rounds wait for each other it is made now."""
        if self._waits and not self.ended and not self._ready and not self._stop():
            self._next()
        return self._ready.popleft() if self._ready else None

    def turn(self) -> None:
        """Chooses the next round, if few enough cells are in flight; called again and again while the run goes on.

        Raises:
            SwingbyError: the store is being written, or cannot be read.
        """
        if not self._waits and not self.ended and not self._ready and not self._stop():
            try:
                self._next()
            except HeldError:  # another process writes the store just now
                return
            except Exception as error:
                self.fault, self.ended = error, True  # nobody else would end the run, which waits for plans
                raise

    def new_plans(self) -> list[str]:
        """The ids of the plans that were made since the last call."""
        return [self._new_plans.popleft() for _ in range(len(self._new_plans))]

    def _next(self) -> None:
        """Looks at what has come, and plans the next round if it is time for it."""
        with self._lock:
            ingest(self._records)
            flying = self._flying()
            if flying > (0 if self._waits else LAG * self._last):
                return
            self._derive()
            chosen = self._choose()
            if not len(chosen) and flying:
                self._last = 0  # what is in flight may change that
                return
            self._say(chosen)
            self._want(chosen)
            planned = self._planner.commit()
            self._planner.pending.mark_tried()
            self._planned(planned)
            self._new_plans.append(planned.plan.plan_id)
            if len(chosen):
                self._progress.more(planned)
                self._ready.append(planned)
            else:
                self.ended = True

    def _flying(self) -> int:
        """Cells asked for that have no final row."""
        query = f"""select count(*) as cells from members m semi join "{self._sweep.experiment_name}" e
                    on e.cell_id = m.cell_id and e.status <> 'running' where m.sweep_id = ?"""
        with Store.open(self._records.data) as store:
            there = self._sweep.experiment_name in store.names()
            finished = store.sql(query, [self._sweep.sweep_id]).rows()[0].cells if there else 0
        return int(self._requested.sum()) - finished

    def _choose(self) -> np.ndarray:
        """Places of the cells of the next round, none if it has ended; the decision goes to the planner."""
        with Store.open(self._records.data) as store:
            known = evidence(store, self._sweep, self.refinement.labels)
        requested = self._requested.reshape(len(self._sweep.seeds), len(self._space)).sum(axis=0)
        flying = np.maximum(requested - known.cells, 0)
        self._boundary.tell(known)
        with one_blas_thread():
            points = self._boundary.ask(flying)
        standing = self._boundary.last
        ended = None if len(points) else "accuracy" if self._boundary.reached(standing) else "budget"
        places = self._cells_at(points)
        self._planner.decision = {
            **self._decision(standing),
            "round": self._round + 1,
            "asked": int(self._requested.sum()) + len(places),
            "chosen": len(places),
            "evidence": {
                "cells": int(known.cells.sum()),
                "labels": known.n.sum(axis=1).astype(int).tolist(),
                "in_flight": int(flying.sum()),
                "digest": hashlib.sha256(known.cells.tobytes() + known.yes.tobytes() + known.n.tobytes()).hexdigest()[
                    :16
                ],
            },
            "memory": self._boundary.memory,
            "ended": ended,
        }
        return places

    def _say(self, chosen: np.ndarray) -> None:
        """Begins the round that was chosen, and shows how the refinement stands."""
        self._round += 1
        self.refined = Refined.of(self._planner.decision)
        if len(chosen):
            self._progress.line(f"round {self._round}: {counted(len(chosen), 'cell')}; {self.refined.spent}")
            for line in self.refined.lines() if self._boundary.evidence.cells.any() else ():
                self._progress.line(f"  {line}")

    def _cells_at(self, points: np.ndarray) -> np.ndarray:
        """The places of the next cells of some points; a point that comes twice gets two.

        Each point begins with another seed, so that where points share the draws of a seed, few of them do.
        """
        seeds, places = len(self._sweep.seeds), list[int]()
        requested = self._requested.reshape(seeds, len(self._space)).copy()
        for point in points.tolist():
            order = (int(self._space.turn[point]) + np.arange(seeds)) % seeds
            seed = int(order[np.argmin(requested[order, point])])
            requested[seed, point] = True
            places.append(seed * len(self._space) + point)
        return np.sort(np.array(places, dtype=np.int64))

    # the record

    def _decision(self, standing: Standing | None) -> dict[str, Any]:
        """What every decision of this refinement says."""
        of, verdicts = self.refinement, list[dict[str, Any]]()
        for number, label in enumerate(of.labels):
            points, wrong = {"unknown": len(self._space)}, 1.0
            if standing is not None:
                counts = np.bincount(standing.estimates[number].verdict, minlength=len(VERDICTS))
                points = {name: int(count) for name, count in zip(VERDICTS, counts, strict=True)}
                wrong = standing.wrong(number)
            verdicts.append({"outcome": label.text, "points": points, "wrong": round(wrong, 6)})
        looked = len(self._space) if standing is None else len(standing.points)
        return {
            "version": VERSION,
            "since": self._since,
            "round": 0,
            "outcomes": [label.text for label in of.labels],
            "share": of.share,
            "within": of.within,
            "confidence": of.confidence,
            "wrong": of.wrong,
            "apart": list(of.apart),
            "budget": of.budget,
            "grid": len(self._sweep),
            "asked": int(self._requested.sum()),
            **({"left": self._left} if self._left is not None else {}),
            "told": verdicts,
            "looked": looked,
            "memory": None,
            "ended": None,
        }

    @staticmethod
    def _key(decision: Mapping[str, Any]) -> list[Any]:
        """What two decisions have to share for one to go on where the other was."""
        return [decision.get(name) for name in ("version", "outcomes", "share", "within", "confidence", "apart")]

    def finish(self) -> None:
        """Writes the fitted shares of all points as the derived table `share_fit`, unless it is there.

        Raises:
            SwingbyError: the store cannot be read, or the disk refuses.
        """
        if not self._written:
            write_share_fit(self._sweep, self._records, self._space)


def write_share_fit(sweep: Sweep, records: Records, space: Space | None = None) -> None:
    """Writes the fitted shares of all points of a refined sweep as the derived table `share_fit`.

    Args:
        space: of the sweep; None: it is made.

    Raises:
        SwingbyError: the store cannot be read, or the disk refuses.
    """
    refinement = sweep.refinement()
    space = space_of(sweep, refinement.apart) if space is None else space
    with Store.open(records.data) as store:
        known = evidence(store, sweep, refinement.labels)
    tables = list[pa.Table]()
    for number, (label, goal) in enumerate(zip(refinement.labels, goals_of(refinement), strict=True)):
        if known.n[number].sum():
            yes, n = known.yes[number].astype(np.int64), known.n[number].astype(np.int64)
            table = share_fit(space, goal, yes, n)
            count = table.num_rows
            table = table.add_column(0, "outcome", pa.array([label.text] * count, pa.string()))
            tables.append(table.add_column(0, "sweep_id", pa.array([sweep.sweep_id] * count, pa.string())))
    if tables:
        records.write_derived(SHARE_FIT, FIT_VERSION, KEY, pa.concat_tables(tables))
        ingest(records)
