"""The sweeps that statements need: how far each is, and how what is missing of them comes about."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from swingby.archive import recorded_results, shipped, unpack, unpack_shipped
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.store import Store, ingest
from swingby.store.status import final_counts
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.statements.compose import Asked
from swingby_analysis.statements.statement import Statement
from swingby_analysis.train import train

Say = Callable[[str], None]


@dataclass(frozen=True)
class Needed:
    """A named sweep that statements need, with the overrides of this run, and how far it is.

    Attributes:
        hours: it takes hours: it is not trained for a page, and no override changes it.
        done: cells with a result; `failed` ones ended without one, and are not waited for.
        recorded: how its results came about, in words, if recorded ones are among them; else "".
    """

    name: str
    sweep: Sweep = field(repr=False)
    hours: bool = False
    done: int = 0
    failed: int = 0
    recorded: str = ""

    @property
    def sweep_id(self) -> str:
        """Of the sweep."""
        return self.sweep.sweep_id

    @cached_property
    def cells(self) -> int:
        """How many it has."""
        return len(self.sweep)

    @property
    def finished(self) -> bool:
        """Nothing is left to train, and something is there to read."""
        return self.done > 0 and self.done + self.failed == self.cells

    @property
    def asked(self) -> Asked:
        """The sweep as a query names it."""
        return asked_of(self.sweep)

    def __str__(self) -> str:
        return f"sweep {self.name}: {self.done:,} of {self.cells:,} cells"


def asked_of(sweep: Sweep) -> Asked:
    """A sweep as a query names it."""
    diagram = None if sweep.diagram is None else {"x": sweep.diagram.x, "y": sweep.diagram.y}
    return Asked(sweep.sweep_id, sweep.experiment_name, [list(axis.names) for axis in sweep.axes], diagram)


def wanted(statements: Sequence[Statement], overrides: Sequence[str]) -> dict[str, Needed]:
    """The sweeps that these statements need, by name, each once; overrides change none that takes hours.

    Raises:
        SwingbyError: no such named sweep, or an override does not fit it.
    """
    hours = {name: statement.hours for statement in statements for name in statement.sweeps}
    return {name: Needed(name, Sweep.load(name, () if long else overrides), long) for name, long in hours.items()}


def progress(store: Store, needed: Mapping[str, Needed]) -> dict[str, Needed]:
    """The same sweeps with how far each is in the store."""
    found = {}
    for name, item in needed.items():
        counts = final_counts(store, item.sweep.experiment_name, item.sweep_id)
        told = recorded_results(store, item.sweep_id)
        found[name] = replace(
            item,
            done=counts["ok"] + counts["diverged"],
            failed=counts["failed"],
            recorded="" if told is None else str(told),
        )
    return found


def prepare(
    data: Path,
    needed: Mapping[str, Needed],
    overrides: Sequence[str],
    run: Sequence[str] | None,
    recorded: bool,
    say: Say,
) -> tuple[Records, float]:
    """Brings about what is missing of these sweeps, and ingests it; the data folder, and seconds of training.

    Sweeps that take hours are never trained: where they were not run, their shipped results are unpacked.

    Args:
        run: further options of `swingby run`, by which missing sweeps are trained; None: train nothing.
        recorded: unpack the shipped results of all sweeps that are not finished.

    Raises:
        SwingbyError: there is no data folder, a sweep cannot be trained or unpacked, or the disk refuses.
    """
    records = Records.open(data, create=run is not None or recorded)
    needed = _as_they_stand(records, needed)
    lacking = [item for item in needed.values() if not item.finished]
    if recorded:
        _unpack(records, [item for item in lacking if not item.hours], say)
    training = 0.0
    names = [item.name for item in lacking if not item.hours]
    if run is not None and names:
        say(f"training {len(names)} of {len(needed)} sweeps: {', '.join(names)}")
        began = time.perf_counter()
        # Cells that failed or are missing are told on the page, statement by statement.
        train(names, records.data, overrides, run)
        training = time.perf_counter() - began
    for item in needed.values():
        if item.hours:
            _bring(records, item, say)
    ingest(records)
    return records, training


def _as_they_stand(records: Records, needed: Mapping[str, Needed]) -> Mapping[str, Needed]:
    if not records.plans():
        return needed
    ingest(records)
    with Store.open(records.data) as store:
        return progress(store, needed)


def _unpack(records: Records, lacking: Sequence[Needed], say: Say) -> None:
    known = shipped()
    for item in lacking:
        path = known.get(item.sweep_id)
        if path is None:
            say(f"no recorded results of {item.name} as it is written here are shipped")
        else:
            say(str(unpack(records.data, path)))


def _bring(records: Records, item: Needed, say: Say) -> None:
    """Unpacks the shipped results of a sweep that was never begun here; what cannot be unpacked is told, and no fault:
    statements about it then have no verdict."""
    try:
        unpack_shipped(records.data, item.sweep_id, say)
    except SwingbyError as error:
        say(f"recorded results of {item.name} cannot be used: {error}")
