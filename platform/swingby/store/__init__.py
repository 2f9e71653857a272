"""The store: all records in DuckDB databases, written under a lease, published as generations, read with SQL."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swingby.data.records import Records
    from swingby.store.connection import Rows
    from swingby.store.ingestion import Ingest, Taken, ingest, rebuild, upgrade
    from swingby.store.layout import Generation, Layout
    from swingby.store.reader import Gap, Store
    from swingby.store.tables import check_experiment

__all__ = [
    "Gap",
    "Generation",
    "Ingest",
    "Layout",
    "Rows",
    "Store",
    "Taken",
    "check_experiment",
    "ingest",
    "rebuild",
    "tidy",
    "upgrade",
]


def __getattr__(name: str) -> Any:
    """A name of the package, from its module: whoever checks a sweep file, or asks in the sandbox, loads no DuckDB."""
    if name in ("Ingest", "Taken", "ingest", "rebuild", "upgrade"):
        from swingby.store import ingestion as module
    elif name in ("Generation", "Layout"):
        from swingby.store import layout as module
    elif name == "Rows":
        from swingby.store import connection as module
    elif name in ("Gap", "Store"):
        from swingby.store import reader as module
    elif name == "check_experiment":
        from swingby.store import tables as module
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module, name)


def tidy(
    records: Records, dry_run: bool = False, older_than: float = 24.0, wait: float = 30.0
) -> list[tuple[str, int]]:
    """Removes the store's files that no pointer names: copies, builds, unfinished files; returns their names and bytes.

    Unfinished ones go by `forsaken`, after `older_than` hours, and under the lease: DuckDB makes a file of its own in
    the place of one that is locked, so that a lock alone does not say that it is being written.

    Raises:
        SwingbyError: somebody else holds the lease for longer than `wait` seconds, or the pointer cannot be read.
    """
    from swingby.data.files import TEMPORARY, files_below, forsaken
    from swingby.data.locks import held
    from swingby.store.layout import Layout

    layout = Layout(records.data)
    if not layout.root.exists():
        return []
    with held(layout.lease, f"the store in {layout.root}", wait=wait):
        newest = layout.newest()
        files = [] if newest is None else layout.unneeded(newest)
        unneeded = [(path.relative_to(records.data).as_posix(), path.stat().st_size) for path in files]
        for path in files_below(layout.root):
            with suppress(FileNotFoundError):
                entry = (path.relative_to(records.data).as_posix(), path.stat().st_size)
                unfinished = path.name.startswith(TEMPORARY) and forsaken(path, older_than * 3600, remove=not dry_run)
                if unfinished and entry not in unneeded:
                    unneeded.append(entry)
        if newest is not None and not dry_run:
            layout.prune(newest)
    return unneeded
