"""Tables that grow with what is put into them: created, widened, and checked for names that clash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.model.experiment import Experiment
from swingby.store.views import CELL_COLUMNS, FIXED, RESERVED, ROW_COLUMNS, STEPS, quoted

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Connection(Protocol):
    """The part of a database connection that is used here."""

    def execute(self, query: str, parameters: Any = ..., /) -> Any:
        """Runs statements; the result has fetchall()."""
        ...

    def register(self, name: str, table: Any, /) -> Any:
        """Makes an Arrow table readable under a name."""
        ...

    def unregister(self, name: str, /) -> Any:
        """Forgets that name."""
        ...


def fetch(connection: Connection, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    return connection.execute(query, list(parameters)).fetchall()


def indexed(connection: Connection) -> list[str]:
    """The experiments of which the index has rows."""
    query = "select table_name from duckdb_tables() where database_name = 'ix' and schema_name = 'rows'"
    return [name for (name,) in fetch(connection, query)]


def insert(connection: Connection, target: str, table: pa.Table) -> None:
    """Appends an Arrow table, column by name."""
    connection.register("incoming", table)
    connection.execute(f"insert into {target} by name select * from incoming")
    connection.unregister("incoming")


def insert_one(connection: Connection, target: str, row: Mapping[str, Any]) -> None:
    """Appends one row, column by name."""
    names, marks = ", ".join(map(quoted, row)), ", ".join("?" * len(row))
    connection.execute(f"insert into {target} ({names}) values ({marks})", list(row.values()))


@dataclass(frozen=True, slots=True)
class Place:
    """A table by database, schema and name."""

    database: str
    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.database}.{self.schema}.{quoted(self.table)}"

    def columns(self, connection: Connection) -> dict[str, str]:
        """Column -> type; empty if there is no such table."""
        query = """select column_name, data_type from duckdb_columns()
                   where database_name = ? and schema_name = ? and table_name = ? order by column_index"""
        return dict(fetch(connection, query, self.database, self.schema, self.table))


_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_FLOATS = ("FLOAT", "DOUBLE")
_NESTED = re.compile(r"(.*)(\[\d*\])")


def widest(first: str, second: str) -> str | None:
    """The type that holds the numbers of both, list depth for list depth; None if there is none.

    Arrays of two widths become lists.
    """
    if first == second:
        return first
    one, other = _NESTED.fullmatch(first), _NESTED.fullmatch(second)
    if one and other:
        inner = widest(one[1], other[1])
        return None if inner is None else inner + (one[2] if one[2] == other[2] else "[]")
    if first in _INTEGERS and second in _INTEGERS:
        return max(first, second, key=_INTEGERS.index)
    return "DOUBLE" if {first, second} <= {*_INTEGERS, *_FLOATS} else None


def alterations(connection: Connection, place: Place, schema: pa.Schema) -> list[str]:
    """The statements after which the table holds such rows: columns added (null in older rows), numbers widened.

    Raises:
        SwingbyError: a column has a type that does not go with what is there.
    """
    connection.register("incoming", schema.empty_table())
    new_types = {name: type_ for name, type_, *_ in fetch(connection, "describe select * from incoming")}
    connection.unregister("incoming")
    there = place.columns(connection)
    changes, types = [], dict(there)
    for name, type_ in new_types.items():
        if name not in there:
            changes.append(f"alter table {place} add column {quoted(name)} {type_}")
            types[name] = type_
            continue
        wide = widest(there[name], type_)
        if wide is None:
            raise SwingbyError(f"its column {name!r} is {type_}, and {there[name]} in the store")
        if wide != there[name]:
            changes.append(f"alter table {place} alter column {quoted(name)} type {wide}")
            types[name] = wide
    if not there or (changes and not fetch(connection, f"select 1 from {place} limit 1")):
        columns = ", ".join(f"{quoted(name)} {type_}" for name, type_ in types.items())
        return [f"create or replace table {place} ({columns})"]  # at once: each `alter` looks at all columns
    return changes


def instant(text: str) -> datetime:
    """An ISO 8601 time of a record as the index has it: naive, in UTC.

    Raises:
        SwingbyError: the text is no such time.
    """
    try:
        time = datetime.fromisoformat(text)
    except (ValueError, TypeError) as error:
        raise SwingbyError(f"{text!r} is not a time (ISO 8601)") from error
    return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)


def storable(table: pa.Table) -> pa.Table:
    """A table as database columns can take it: without columns of nulls alone, and with dictionaries decoded."""
    for index in reversed(range(table.num_columns)):
        type_ = table.schema.field(index).type
        if pa.types.is_null(type_):
            table = table.remove_column(index)
        elif pa.types.is_dictionary(type_):
            table = table.set_column(index, table.column_names[index], table.column(index).cast(type_.value_type))
    return table


def ensure_experiment(connection: Connection, name: str) -> None:
    """Makes the tables of an experiment.

    Raises:
        SwingbyError: the name cannot be a table's.
    """
    check_name(name, "experiment")
    for schema, columns in (
        ("cells", CELL_COLUMNS),
        ("rows", ROW_COLUMNS),
        ("dropped", {"cell_id": "VARCHAR", "curve": "BIGINT"}),
        ("spare", {"cell_id": "VARCHAR", "curve": "BIGINT"}),
        (
            "links",
            {"cell_id": "VARCHAR", "head": "BIGINT", "part": "BIGINT", "place": "BIGINT", "before_step": "BIGINT"},
        ),
    ):
        spelled = ", ".join(f"{quoted(column)} {type_}" for column, type_ in columns.items())
        connection.execute(f"create table if not exists ix.{schema}.{quoted(name)} ({spelled})")


def check_name(name: str, what: str) -> None:
    """Refuses a name that no table of the store can have.

    Raises:
        SwingbyError: says what is allowed.
    """
    if not _NAME.fullmatch(name) or name in FIXED:
        allowed = f"lower-case letters, digits and _, and none of {', '.join(FIXED)}"
        raise SwingbyError(f"{name!r} cannot name the table of an {what}; allowed: {allowed}")


def check_columns(connection: Connection, experiment: str, roles: Mapping[str, str]) -> None:
    """Refuses column names (name -> role) that clash, upper and lower case being one, with others of the experiment.

    Raises:
        SwingbyError: names the first that clashes.
    """
    check_spelling(roles)
    known = fetch(connection, "select lower(name), name, role from ix.columns where experiment = ?", experiment)
    if clashes := _clashes(roles.items(), {lower: (name, role) for lower, name, role in known}):
        raise SwingbyError(clashes[0])


def check_spelling(names: Iterable[str]) -> None:
    """Refuses names that no column can have: empty ones, and those with a zero byte.

    Raises:
        SwingbyError: names the first.
    """
    wrong = next((name for name in names if not name or "\0" in name), None)
    if wrong is not None:
        raise SwingbyError(f"{wrong!r:.80} cannot name a column: allowed is any text without a zero byte")


def _clashes(roles: Iterable[tuple[str, str]], taken: dict[str, tuple[str, str]]) -> list[str]:
    """In words, which columns clash with those that are taken (name in lower case -> name and role)."""
    clashes = []
    for name, role in roles:
        there = taken.setdefault(name.lower(), (name, role))
        if name.lower() in RESERVED and (name, role) != (STEPS, "parameter"):
            clashes.append(f"its {role} {name!r} has the name of a column that every experiment has")
        elif there != (name, role):
            clashes.append(f"its {role} {name!r} clashes with the {there[1]} {there[0]!r}")
    return clashes


def check_experiment(experiment: Experiment) -> None:
    """Refuses, before anything is trained, an experiment whose results no table could hold.

    Raises:
        SwingbyError: its name or some of its columns' cannot be; names them all.
    """
    check_name(experiment.name, "experiment")
    curves = [*experiment.curves, *(name for columns in experiment.recordings.values() for name in columns)]
    roles = [
        *((name, "parameter") for name in experiment.Params.model_fields),
        *((name, "scalar") for name in experiment.scalars),
        *((name, "curve") for name in dict.fromkeys(curves)),
    ]
    if clashes := _clashes(roles, {}):
        raise SwingbyError(
            f"experiment {experiment.name!r} cannot be stored: {'; '.join(clashes)}; taken, in upper or lower "
            f"case, are {', '.join(sorted(RESERVED))}"
        )


def note_columns(connection: Connection, experiment: str, roles: Mapping[str, str]) -> None:
    """Stores the role of each column (name -> role)."""
    known = {name for (name,) in fetch(connection, "select name from ix.columns where experiment = ?", experiment)}
    if rows := [
        {"experiment": experiment, "name": name, "role": role, "ragged": False}
        for name, role in roles.items()
        if name not in known
    ]:
        insert(connection, "ix.columns", pa.Table.from_pylist(rows))
