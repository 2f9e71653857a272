"""The sweeps that statements need: how far each is, and the training or unpacking of what is missing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from swingby.archive import recorded_results, shipped, unpack, unpack_shipped
from swingby.data.records import Records
from swingby.data.remote.address import DATA_MARK
from swingby.errors import SwingbyError
from swingby.imports.notice import imported_results
from swingby.run.outcomes import derive
from swingby.store import Store, ingest
from swingby.store.lookup import find_sweep
from swingby.store.refined import Refined, only_refined
from swingby.store.status import final_counts
from swingby.sweepfile.axes import Axis
from swingby.sweepfile.sweep import Sweep, named_sweeps
from swingby_analysis.statements.compose import QueriedSweep
from swingby_analysis.statements.statement import Statement
from swingby_analysis.train import train

Say = Callable[[str], None]


@dataclass(frozen=True)
class ImportedSweep:
    """A sweep that was imported into the data folder, of which there is no file; see `Sweep`."""

    sweep_id: str
    experiment_name: str
    cells: int
    seeds: tuple[int, ...]
    axes: tuple[Axis, ...]
    diagram: None = None

    def __len__(self) -> int:
        return self.cells


@dataclass(frozen=True)
class Needed:
    """A named sweep that statements need, with the overrides of this run, and how many of its cells have ended.

    Attributes:
        sweep: of its file; of an imported one, what the data folder says.
        hours: it takes hours: it is not trained for a page, and no override changes it.
        done: cells with a result; `failed` ones ended without one, and are not waited for.
        recorded: where its results come from, in words, if recorded ones are among them; else "".
        refined: how its refinement stands, if its file asks for one and not its whole grid was asked for.
    """

    name: str
    sweep: Sweep | ImportedSweep = field(repr=False)
    hours: bool = False
    done: int = 0
    failed: int = 0
    recorded: str = ""
    refined: Refined | None = None

    @property
    def sweep_id(self) -> str:
        """The sweep's id."""
        return self.sweep.sweep_id

    @cached_property
    def cells(self) -> int:
        """The number of its cells."""
        return len(self.sweep)

    @property
    def finished(self) -> bool:
        """Whether every cell has ended, and some with a result; of a refined sweep, those that it asked for."""
        awaited = self.cells if self.refined is None or self.refined.ended is None else self.refined.requested
        return self.done > 0 and self.done + self.failed >= awaited

    @property
    def queried(self) -> QueriedSweep:
        """The sweep as a query names it."""
        return queried_sweep(self.sweep)

    def __str__(self) -> str:
        return f"sweep {self.name}: {self.done:,} of {self.cells:,} cells"


def queried_sweep(sweep: Sweep | ImportedSweep) -> QueriedSweep:
    """A sweep as a query names it."""
    diagram = None if sweep.diagram is None else {"x": sweep.diagram.x, "y": sweep.diagram.y}
    axes = [list(axis.names) for axis in sweep.axes]
    return QueriedSweep(sweep.sweep_id, sweep.experiment_name, axes, diagram, len(sweep.seeds))


def needed_sweeps(
    statements: Sequence[Statement], overrides: Sequence[str], data: Path | None = None
) -> dict[str, Needed]:
    """The sweeps that these statements need, by name, each once; overrides change none that takes hours.

    A name that no package ships is that of a sweep that was imported into the data folder, if one is given.

    Raises:
        SwingbyError: no such sweep, or an override does not fit it.
    """
    hours = {name: statement.hours for statement in statements for name in statement.sweeps}
    shipped_names = named_sweeps()
    needed = dict[str, Needed]()
    for name, long in hours.items():
        imported = None if data is None or name in shipped_names else _imported(data, name)
        needed[name] = Needed(name, imported or Sweep.load(name, () if long else overrides), long)
    return needed


def _imported(data: Path, name: str) -> ImportedSweep | None:
    """The newest sweep of a name in the data folder, if it was imported."""
    if not (data / DATA_MARK).exists():
        return None
    with Store.open(data) as store:
        query = "select sweep_id, experiment, cells, resolved from sweeps where name = ? order by created desc limit 1"
        for row in store.sql(query, [name]).rows():
            resolved = json.loads(row.resolved)
            if resolved.get("imported"):
                find_sweep(store, row.sweep_id)
                axes = tuple(Axis(tuple(one["names"]), tuple(map(tuple, one["values"]))) for one in resolved["axes"])
                return ImportedSweep(row.sweep_id, row.experiment, row.cells, tuple(resolved["seeds"]), axes)
    return None


def progress(store: Store, needed: Mapping[str, Needed]) -> dict[str, Needed]:
    """The sweeps with the number of their cells that have ended, as the store has them."""
    counted = {}
    for name, item in needed.items():
        counts = final_counts(store, item.sweep.experiment_name, item.sweep_id)
        recorded = recorded_results(store, item.sweep_id) or imported_results(store, item.sweep_id)
        asks = isinstance(item.sweep, Sweep) and item.sweep.refine_section is not None
        counted[name] = replace(
            item,
            done=counts["ok"] + counts["diverged"],
            failed=counts["failed"],
            recorded="" if recorded is None else str(recorded),
            refined=only_refined(store, item.sweep_id) if asks else None,
        )
    return counted


def prepare(
    data: Path,
    needed: Mapping[str, Needed],
    overrides: Sequence[str],
    run: Sequence[str] | None,
    recorded: bool,
    say: Say,
) -> tuple[Records, dict[str, Needed], float]:
    """Trains or unpacks what is missing of these sweeps, ingests it, and computes its outcomes.

    Returns the data folder, the sweeps with how far they are, and seconds of training.

    Sweeps that take hours are never trained: where they were not run, their shipped results are unpacked.

    Args:
        run: further options of `swingby run`, by which missing sweeps are trained; None: train nothing.
        recorded: unpack the shipped results of all sweeps that are not finished.

    Raises:
        SwingbyError: there is no data folder, a sweep cannot be trained or unpacked, or the disk refuses.
    """
    records = Records.open(data, create=run is not None or recorded)
    if records.plans():
        ingest(records)
        with Store.open(records.data) as store:
            needed = progress(store, needed)
    lacking = [
        item
        for item in needed.values()
        if not item.finished and not item.hours and not isinstance(item.sweep, ImportedSweep)
    ]
    if recorded:
        known = shipped()
        for item in lacking:
            path = known.get(item.sweep_id)
            none = f"no recorded results of {item.name} with its present parameters are shipped"
            say(none if path is None else str(unpack(records.data, path)))
    training = 0.0
    names = [item.name for item in lacking]
    if run is not None and names:
        say(f"training {len(names)} of {len(needed)} sweeps: {', '.join(names)}")
        began = time.perf_counter()
        # Cells that failed or are missing are reported on the page, statement by statement.
        train(names, records.data, overrides, run)
        training = time.perf_counter() - began
    for item in needed.values():
        if item.hours:
            _bring(records, item, say)
    ingest(records)
    with Store.open(records.data) as store:
        known = progress(store, needed)
    derive(records, [item.sweep_id for item in known.values() if item.done])
    return records, known, training


def _bring(records: Records, item: Needed, say: Say) -> None:
    """Unpacks the shipped results of a sweep of which nothing was trained here.

    Results that cannot be unpacked are no error: statements about them then have no verdict.
    """
    try:
        unpack_shipped(records.data, item.sweep_id, say)
    except SwingbyError as error:
        say(f"recorded results of {item.name} cannot be used: {error}")
