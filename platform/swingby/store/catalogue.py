"""What is in the databases of a build, and the views that follow from it."""

from __future__ import annotations

from collections.abc import Mapping

from swingby.store.packing import listed
from swingby.store.sql import statements
from swingby.store.tables import Connection, fetch, widest
from swingby.store.views import (
    CELL_COLUMNS,
    CURVE_COLUMNS,
    DERIVED_COLUMNS,
    ROW_COLUMNS,
    Table,
    derived_views,
    experiment_views,
    quoted,
)

COLUMNS = """
select database_name, schema_name, table_name, column_name, data_type from duckdb_columns()
where schema_name in ('cells', 'rows', 'curves', 'derived') and database_name <> 'temp'
order by database_name, schema_name, table_name, column_index"""


def views(connection: Connection, aliases: Mapping[str, str]) -> list[str]:
    """The views over everything that is attached, named for readers.

    Args:
        connection: has the index attached as `ix`, and every segment.
        aliases: databases that readers attach under another alias than this connection does.
    """
    tables: dict[str, Table] = {}
    kinds: dict[str, list[str]] = {}
    for database, schema, name, column, type_ in fetch(connection, COLUMNS):
        if schema == "derived":
            kinds.setdefault(name, []).append(column)
        else:
            _add(tables.setdefault(name, Table()), aliases.get(database, database), schema, column, type_)
    found: list[str] = list(statements("views"))
    for name, table in sorted(tables.items()):
        table.ragged = {
            curve for (curve,) in fetch(connection, "select name from ix.columns where experiment = ? and ragged", name)
        }
        table.linked = bool(fetch(connection, f"select 1 from ix.links.{quoted(name)} limit 1"))
        found += experiment_views(name, table)
    for kind, columns in sorted(kinds.items()):
        distinct = fetch(connection, f"select distinct version from ix.derived.{quoted(kind)}")
        versions = [version for (version,) in distinct]
        (key,) = fetch(connection, "select key from ix.kinds where kind = ?", kind)[0]
        own = [*key, *sorted(set(columns) - set(key) - set(DERIVED_COLUMNS))]
        found += derived_views(kind, own, versions)
    return found


def _add(table: Table, database: str, schema: str, column: str, type_: str) -> None:
    """Notes one column of one database."""
    if schema == "cells" and column not in CELL_COLUMNS:
        table.parameters.append(column)
    elif schema == "rows" and column not in ROW_COLUMNS:
        table.scalars.append(column)
    elif schema == "curves":
        table.segments.setdefault(database, {})[column] = type_
        if column not in CURVE_COLUMNS:
            seen = listed(type_)
            table.curves[column] = widest(table.curves.get(column, seen), seen) or seen
