"""Notices on recorded results: how many of a sweep's results are recorded ones, and where they were computed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swingby.data.records.headers import WHOLE
from swingby.store.reader import Store
from swingby.store.sql import query

OF_FILE = """
select any_value(p.name) as name, any_value(s.experiment) as experiment
from sweeps s join plans p using (sweep_id) where sweep_id = ? group by sweep_id"""
"""A sweep's experiment, and its name as its file has it: what `swingby run` takes, also where it was renamed."""
DOUBLE = 15
"""Significant digits up to which a double is rounded; with more it is kept as it is."""


@dataclass(frozen=True, slots=True)
class RecordedResults:
    """The recorded results of a sweep in a data folder.

    Attributes:
        name: of the sweep.
        cells: how many results are recorded ones.
        results: how many results there are.
        thin: how many of the recorded ones have thin curves or none.
        computed: where and when they were computed, see `Recording`.
        digits: significant digits of their numbers, at least.
        origins: where those came from that somebody published (`swingby.archive.get`), in words.
    """

    name: str
    cells: int
    results: int
    thin: int
    computed: Sequence[Mapping[str, Any]]
    digits: int
    origins: Sequence[str] = ()

    @property
    def when(self) -> str:
        """The day on which they were computed, or the first and the last day."""
        first = min(entry["started"][:10] for entry in self.computed)
        last = max(entry["finished"][:10] for entry in self.computed)
        return f"on {first}" if first == last else f"from {first} to {last}"

    @property
    def where(self) -> str:
        """The kinds of machines on which they were computed."""
        return ", ".join(dict.fromkeys(f"{entry['host']} ({entry['device']})" for entry in self.computed))

    @property
    def code(self) -> str:
        """The commits of the code that computed them."""
        commits = dict[str, None]()
        for entry in self.computed:
            changed = " with changes that no commit holds" if entry["git_dirty"] else ""
            known = f"commit {entry['git_commit'][:7]}{changed}" if entry["git_commit"] else "code of no known commit"
            commits[known] = None
        return ", ".join(commits)

    def __str__(self) -> str:
        origin = f"computed {self.when} on {self.where}, by {self.code}"
        if self.cells == self.results:
            what = f"These are recorded results, not trained here: all {self.results:,} were {origin}."
        else:
            what = (
                f"{self.cells:,} of {self.results:,} results are recorded ones, not trained here: they were {origin}."
            )
        rounding = f" Their numbers are rounded to {self.digits} digits" if self.digits <= DOUBLE else ""
        if self.origins:
            return f"{what} Others published them: {'; '.join(self.origins)}.{rounding}{rounding and '.'}"
        return f"{what}{rounding and f'{rounding};'} `swingby run {self.name}` trains them here."


def recorded_results(store: Store, sweep_id: str) -> RecordedResults | None:
    """The recorded results of a sweep; None if there are none, or no such sweep."""
    sweeps = store.sql(OF_FILE, [sweep_id]).rows()
    if not sweeps or sweeps[0].experiment not in store.names():
        return None
    ((name, experiment),) = sweeps
    rows = store.sql(query("results", experiment), {"sweep": sweep_id, "whole": WHOLE}).rows()
    recorded = [row for row in rows if row.recorded]
    if not recorded:
        return None
    computed, digits, origins = list[Mapping[str, Any]](), list[int](), dict[str, None]()
    for row in recorded:
        marks = json.loads(row.provenance)["recorded"]
        computed += [marks["computed"][row.batch]] if row.whole else marks["computed"]
        digits.append(marks["digits"])
        if "origin" in marks:
            origins[str(marks["origin"])] = None
    return RecordedResults(
        name,
        sum(row.cells for row in recorded),
        sum(row.cells for row in rows),
        sum(row.cells for row in recorded if not row.whole),
        computed,
        min(digits),
        tuple(origins),
    )
