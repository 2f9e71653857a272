"""A retraction into the index."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from swingby.data.records.retractions import Retraction
from swingby.store.apply.instant import instant
from swingby.store.resolve import resolve
from swingby.store.tables import Connection, fetch, insert, insert_one


def apply_retraction(connection: Connection, record: str, retraction: Retraction) -> None:
    """Applies one retraction; the results of its cells are chosen again, without what it takes back."""
    insert_one(connection, "ix.retractions", _retraction_row(record, retraction))
    table = retraction.table.append_column("record", pa.repeat(pa.scalar(record), retraction.table.num_rows))
    insert(connection, "ix.retracted", table)
    known = "select table_name from duckdb_tables() where database_name = 'ix' and schema_name = 'rows'"
    for (experiment,) in fetch(connection, known):
        resolve(connection, experiment, table.select(["cell_id"]))


def _retraction_row(record: str, retraction: Retraction) -> dict[str, Any]:
    plain = ("reason", "sweep_id", "sweep", "who", "host", "command")
    cells = pc.call_function("count_distinct", [retraction.table["cell_id"]]).as_py()
    told = {name: getattr(retraction, name) for name in plain}
    return {"record": record, **told, "cells": cells, "created": instant(retraction.created)}
