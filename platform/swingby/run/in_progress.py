"""Cells that have begun and have no result yet: how far each is, by the rows that it left so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.run.replay import cell_of
from swingby.store import Store

MOST = 100
"""Cells that are looked at; where more run at once, none takes long."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A cell that is being trained, or was when its run ended: its last recorded step, and how many it takes.

    `total` is 0 where nobody knows: the experiment is not installed, say.
    """

    cell_id: str
    steps: int
    total: int

    @property
    def share(self) -> float:
        """How much of its training is done."""
        return min(1.0, self.steps / self.total) if self.total else 0.0

    def __str__(self) -> str:
        return f"cell {self.cell_id[:12]}: {self.steps:,}{f' of {self.total:,}' if self.total else ''} steps"


def begun(store: Store, records: Records, experiment: str, sweep_id: str) -> list[Begun]:
    """The cells of a sweep that have begun, as of the last publication; those that are furthest first."""
    if experiment not in store.tables():
        return []
    query = f"""select e.cell_id, e.steps from members m join "{experiment}" e using (cell_id)
                where m.sweep_id = ? and e.status = 'running' order by e.steps desc, e.cell_id limit {MOST}"""
    rows = store.sql(query, [sweep_id]).rows()
    return [Begun(row.cell_id, row.steps, _total(records, experiment, row.cell_id)) for row in rows]


def begun_of(records: Records, sweeps: Sequence[tuple[str, str]]) -> list[Begun]:
    """The same of several sweeps (experiment and id of each), a cell once."""
    with Store.open(records.data) as store:
        found = [one for experiment, sweep_id in sweeps for one in begun(store, records, experiment, sweep_id)]
    return list({one.cell_id: one for one in found}.values())


@lru_cache(maxsize=10 * MOST)
def _total(records: Records, experiment: str, cell_id: str) -> int:
    """The steps that a cell takes."""
    try:
        return int(registry.experiment(experiment).steps(cell_of(records, cell_id).params))
    except SwingbyError:
        return 0
