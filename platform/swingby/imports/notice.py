"""Notices on imported results: how many of a sweep's results were imported, from which files, and when."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from swingby.data.remote.address import DATA_MARK
from swingby.errors import SwingbyError
from swingby.store import Store
from swingby.store.sql import quoted
from swingby.units import counted

FILES = """
select p.provenance, count(*) as cells
from members m join {experiment} e using (cell_id) join shards s on s.shard = e.shard join plans p using (plan_id)
where m.sweep_id = ? and list_contains(e.recorded, 'imported') and p.provenance like '%"imported"%'
group by p.plan_id, p.provenance, p.created order by p.created"""
MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Origin:
    """A file from which cells of a sweep were imported: its name, its SHA-256, the day, and how many cells.

    Attributes:
        account: what its rows and columns were taken for (`Imported.account`); () in imports from before it was kept.
    """

    file: str
    digest: str
    day: str
    cells: int
    account: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{counted(self.cells, 'cell')} from {self.file} (SHA-256 {self.digest[:12]}) on {self.day}"


@dataclass(frozen=True, slots=True)
class ImportedResults:
    """The imported results of a sweep, by the files that they came from."""

    origins: tuple[Origin, ...]

    def __str__(self) -> str:
        shown = [str(origin) for origin in self.origins[:MOST_SHOWN]]
        more = len(self.origins) - MOST_SHOWN
        shown += [f"and of {counted(more, 'import')} more"] if more > 0 else []
        return f"These results were trained elsewhere and imported: {', '.join(shown)}. They cannot be trained here."


def imported_results(store: Store, sweep_id: str) -> ImportedResults | None:
    """The imported results of a sweep; None if there are none, or no such sweep."""
    sweeps = store.sql("select experiment, resolved from sweeps where sweep_id = ?", [sweep_id]).rows()
    if not sweeps or sweeps[0].experiment not in store.names() or not json.loads(sweeps[0].resolved).get("imported"):
        return None
    origins = list[Origin]()
    for row in store.sql(FILES.format(experiment=quoted(sweeps[0].experiment)), [sweep_id]).rows():
        of = json.loads(row.provenance)["imported"]
        origins.append(
            Origin(of["file"], of["sha256"], of["imported"][:10], row.cells, tuple(map(tuple, of.get("account", ()))))
        )
    return ImportedResults(tuple(origins))


@contextmanager
def told_if_imported(data: Path, sweep: str) -> Iterator[None]:
    """Turns what is raised for want of a sweep into an error that says that it was imported, if it was.

    Raises:
        SwingbyError: as inside; or the sweep of this name was imported.
    """
    try:
        yield
    except SwingbyError as error:
        notice = _of_name(data, sweep)
        if notice is None:
            raise
        raise SwingbyError(f"{sweep}: {notice} `swingby report {sweep}` shows them") from error


def _of_name(data: Path, sweep: str) -> ImportedResults | None:
    """The imported results of the newest sweep of a name; None if there are none, or no data folder."""
    if not (data / DATA_MARK).exists():
        return None
    with suppress(SwingbyError), Store.open(data) as store:
        rows = store.sql("select sweep_id from sweeps where name = ? order by created desc", [sweep]).rows()
        return imported_results(store, rows[0].sweep_id) if rows else None
    return None
