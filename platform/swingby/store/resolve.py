"""Which row is the result of a cell, and which pieces make its curves: `sql/resolve.sql` says it."""

from __future__ import annotations

import pyarrow as pa

from swingby.store.sql import query
from swingby.store.tables import Connection, fetch


def resolve(connection: Connection, experiment: str, fresh: pa.Table) -> None:
    """Chooses again for those of the cells in `fresh` that have anything but one final row from step 0."""
    connection.register("fresh", fresh)
    touched = [cell for (cell,) in fetch(connection, query("affected", experiment))]
    connection.unregister("fresh")
    if not touched:
        return
    connection.register("affected", pa.table({"cell_id": pa.array(touched, pa.string())}))
    connection.execute(query("resolve", experiment))
    connection.unregister("affected")
