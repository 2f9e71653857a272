"""The store: the fold of all records in DuckDB, written under a lease, published as generations, read with SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from swingby.data.locks import held
from swingby.data.records import Records
from swingby.store.ingest import Ingest, Taken
from swingby.store.layout import Generation, Layout, OlderStoreError
from swingby.store.reader import Store
from swingby.store.results import Finished, Gap, Rows
from swingby.store.tables import FORMAT, check_experiment

__all__ = [
    "Finished",
    "Gap",
    "Generation",
    "Ingest",
    "Layout",
    "Rows",
    "Store",
    "Taken",
    "bring_up",
    "check_experiment",
    "finished",
    "ingest",
    "rebuild",
    "tidy",
]


def ingest(records: Records, wait: float = 30.0, force: bool = True) -> Taken:
    """Takes the lease, folds what is new, and publishes it (with `force` False: unless the last one is too fresh).

    What is new on object storage comes here first, and what is only here goes there.

    Raises:
        SwingbyError: somebody else holds the lease for longer than `wait` seconds; the storage does not answer; or as
            `Ingest.take`.
    """
    records.unite()
    with Ingest(records, wait) as step:
        taken = step.take()
        step.publish(force)
    return taken


def rebuild(records: Records, wait: float = 30.0) -> Taken:
    """Makes the store again from the records, beside the old one, then publishes it in its place.

    Raises:
        SwingbyError: as `ingest`; readers keep the old store.
    """
    with Ingest(records, wait, rebuild=True) as step:
        taken = step.take()
        step.publish(force=True)
    return taken


def bring_up(records: Records, tell: Callable[[str], object]) -> None:
    """Makes a store of an older version one of this version, and says so; does nothing about any other.

    Raises:
        SwingbyError: the store is of a newer version; or as `ingest`.
    """
    try:
        newest = Layout(records.data).newest()
        older = newest is not None and newest.format != FORMAT
    except OlderStoreError:
        older = True
    if older and (said := ingest(records).upgrade):
        tell(said)


def tidy(records: Records, dry_run: bool = False, wait: float = 30.0) -> list[tuple[str, int]]:
    """Removes the store's files that no pointer names: copies, builds, unfinished files. Their names, and bytes.

    Raises:
        SwingbyError: somebody else holds the lease for longer than `wait` seconds, or the pointer cannot be read.
    """
    layout = Layout(records.data)
    if not layout.root.exists():
        return []
    with held(layout.lease, f"the store in {layout.root}", wait=wait):
        newest = layout.newest()
        found = [] if newest is None else layout.unneeded(newest)
        told = [(path.relative_to(records.data).as_posix(), path.stat().st_size) for path in found]
        if newest is not None and not dry_run:
            layout.prune(newest)
    return told


def finished(records: Records, experiment: str, cell_ids: Iterable[Any] | pa.Array, tokens: Sequence[str]) -> Finished:
    """`Store.finished` on the newest generation; call `ingest` first."""
    with Store.open(records.data) as store:
        return store.finished(experiment, cell_ids, tokens)
