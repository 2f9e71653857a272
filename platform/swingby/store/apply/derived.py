"""A derived file into the index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.store.tables import (
    Connection,
    Place,
    alterations,
    check_name,
    check_spelling,
    fetch,
    insert,
    insert_one,
    instant,
    storable,
)
from swingby.store.views import DERIVED_COLUMNS, OF_SHARD, quoted


def apply_derived(connection: Connection, record: str, header: Mapping[str, Any], table: pa.Table) -> None:
    """Applies one derived file; of one version and key (and result of a cell) the latest file's row counts.

    Raises:
        SwingbyError: its name, key or columns do not go with what is there.
    """
    kind, key = header["kind"], list(header["key"])
    check_name(kind, "kind of derived records")
    table = storable(table)
    _check_derived(connection, kind, key, table)
    constants = {"version": header["version"], "record": record, "created": instant(header["created"])}
    for index, (column, value) in enumerate(constants.items()):
        type_ = pa.timestamp("us") if column == "created" else pa.string()
        table = table.add_column(index, column, pa.repeat(pa.scalar(value, type_), table.num_rows))
    # A cell has a result for each recording, and outcomes of each.
    of = [OF_SHARD] if OF_SHARD in table.column_names and OF_SHARD not in key else []
    place, names = Place("ix", "derived", kind), ", ".join(map(quoted, ["version", *key, *of]))
    for change in alterations(connection, place, table.schema):
        connection.execute(change)
    connection.register("incoming", table)
    (repeated,) = fetch(
        connection,
        f"""select exists (from {place} semi join incoming using ({names}))
              or (select count(*) from incoming) > (select count(*) from (select distinct {names} from incoming))""",
    )[0]
    connection.unregister("incoming")
    insert(connection, str(place), table)
    if repeated:  # else every key is new, and comes once
        connection.execute(
            f"""delete from {place} where rowid in (
                  select rowid from (
                    select rowid, row_number() over (partition by {names} order by created desc, record desc) as age
                    from {place} semi join (select {names} from {place} where record = ?) using ({names}))
                  where age > 1)""",
            [record],
        )


def _check_derived(connection: Connection, kind: str, key: list[str], table: pa.Table) -> None:
    check_spelling(table.column_names)
    known = fetch(connection, "select key from ix.kinds where kind = ?", kind)
    if fetch(connection, "select 1 from ix.columns where experiment = ?", kind):
        raise SwingbyError(f"its kind {kind!r} is the name of an experiment")
    if known and known[0][0] != key:
        raise SwingbyError(f"its key is ({', '.join(key)}), and ({', '.join(known[0][0])}) in the store")
    empty = [name for name in key if name not in table.column_names]
    if empty or not key:
        raise SwingbyError(f"its key ({', '.join(key)}) tells no rows apart: {', '.join(empty) or 'it'} holds nothing")
    lower = [name.lower() for name in table.column_names]
    clash = sorted({name for name in lower if name in DERIVED_COLUMNS or lower.count(name) > 1})
    if clash:
        raise SwingbyError(f"its columns {', '.join(clash)} clash with the store's own, or with each other")
    if not known:
        insert_one(connection, "ix.kinds", {"kind": kind, "key": key})
