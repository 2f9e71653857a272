"""The store: the fold of all records in DuckDB, written under a lease, published as generations, read with SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from swingby.records import Records
from swingby.store.ingest import Ingest, Taken
from swingby.store.layout import Generation, Layout
from swingby.store.reader import Finished, Rows, Store

__all__ = ["Finished", "Generation", "Ingest", "Layout", "Rows", "Store", "Taken", "finished", "ingest", "rebuild"]


def ingest(records: Records, wait: float = 30.0, force: bool = True) -> Taken:
    """Takes the lease, folds what is new, and publishes it (with `force` False: unless the last one is too fresh).

    Raises:
        SwingbyError: somebody else holds the lease for longer than `wait` seconds; or as `Ingest.take`.
    """
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


def finished(records: Records, experiment: str, cell_ids: Iterable[Any] | pa.Array, tokens: Sequence[str]) -> Finished:
    """`Store.finished` on the newest generation; call `ingest` first."""
    with Store.open(records.data) as store:
        return store.finished(experiment, cell_ids, tokens)
