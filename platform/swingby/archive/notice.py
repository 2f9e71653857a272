"""Telling of a sweep in a data folder that its results are recorded ones: how many, and how they came about."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swingby.run.outcomes import WHOLE
from swingby.store import Store

RESULTS = """
select s.plan_id, s.batch, s.shape = $whole as whole, count(*) as cells, any_value(p.provenance) as provenance,
       len(e.recorded) = 0 as recorded
from members m join "{experiment}" e using (cell_id) join shards s on s.shard = e.shard
left join plans p using (plan_id)
where m.sweep_id = $sweep and e.status in ('ok', 'diverged')
group by all order by all"""


@dataclass(frozen=True, slots=True)
class OfRecord:
    """The recorded ones among the results of a sweep.

    Attributes:
        cells, results: how many are recorded ones, and how many there are.
        thin: how many of the recorded ones have hardly a curve.
        computed: where and when they were computed, see `Recording`.
        digits: significant digits of their numbers, at least.
    """

    name: str
    cells: int
    results: int
    thin: int
    computed: Sequence[Mapping[str, Any]]
    digits: int

    @property
    def when(self) -> str:
        """The days of the first and the last, or the one day."""
        begun, ended = (pick(entry[name][:10] for entry in self.computed) for pick, name in _SPAN)
        return f"on {begun}" if begun == ended else f"from {begun} to {ended}"

    @property
    def where(self) -> str:
        """The kinds of machines."""
        return _listed(f"{entry['host']} ({entry['device']})" for entry in self.computed)

    @property
    def code(self) -> str:
        """The commits."""
        return _listed(_commit(entry) for entry in self.computed)

    def __str__(self) -> str:
        came = f"computed {self.when} on {self.where}, by {self.code}"
        if self.cells == self.results:
            what = f"These are recorded results, not trained here: all {self.results:,} were {came}."
        else:
            what = f"{self.cells:,} of {self.results:,} results are recorded ones, not trained here: they were {came}."
        return f"{what} Their numbers are rounded to {self.digits} digits; `swingby run {self.name}` trains them here."


_SPAN = ((min, "started"), (max, "finished"))


def _listed(texts: Any) -> str:
    return ", ".join(dict.fromkeys(texts))


def _commit(entry: Mapping[str, Any]) -> str:
    if not entry["git_commit"]:
        return "code of no known commit"
    changed = " with changes that no commit holds" if entry["git_dirty"] else ""
    return f"commit {entry['git_commit'][:7]}{changed}"


def of_record(store: Store, sweep_id: str) -> OfRecord | None:
    """The recorded ones among the results of a sweep; None if there are none, or no such sweep."""
    sweeps = store.sql("select name, experiment from sweeps where sweep_id = ?", [sweep_id]).rows()
    if not sweeps or sweeps[0].experiment not in store.tables():
        return None
    ((name, experiment),) = sweeps
    rows = store.sql(RESULTS.format(experiment=experiment), {"sweep": sweep_id, "whole": WHOLE}).rows()
    recorded = [row for row in rows if row.recorded]
    if not recorded:
        return None
    computed, digits = list[Mapping[str, Any]](), list[int]()
    for row in recorded:
        marks = json.loads(row.provenance)["recorded"]
        computed += [marks["computed"][row.batch]] if row.whole else marks["computed"]
        digits.append(marks["digits"])
    return OfRecord(
        name,
        sum(row.cells for row in recorded),
        sum(row.cells for row in rows),
        sum(row.cells for row in recorded if not row.whole),
        computed,
        min(digits),
    )
