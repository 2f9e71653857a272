"""The check of a query: it is one SELECT, or EXPLAIN of one, that changes nothing and calls no function near a file.

The type of a statement is not enough: to DuckDB 2 `with a as (copy (select 1) to 'file') select 1` is a SELECT, and it
writes the file. So the parsed statement is searched, and every node of it must be of a kind that only reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import duckdb

QUERIES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
TABLE_FUNCTIONS = {
    *("range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree", "summary"),
    *("duckdb_columns", "duckdb_constraints", "duckdb_databases", "duckdb_functions", "duckdb_keywords"),
    *("duckdb_memory", "duckdb_schemas", "duckdb_settings", "duckdb_tables", "duckdb_types", "duckdb_views"),
    *("pragma_table_info", "pragma_version", "histogram_values", "test_all_types"),
}
"""Functions that may be used as a table: none of them reads a file, runs SQL given as text, or changes a setting."""
FORBIDDEN = {"write_log", "nextval", "setval"}
"""Functions of values that leave a trace."""
ALLOWED = "allowed: one SELECT, or EXPLAIN of one"

_EXPLAIN = re.compile(r"explain\b(\s*analyze\b)?(\s*\(\s*format\s+\w+\s*\))?", re.IGNORECASE)


class RefusedError(ValueError):
    """A statement is not allowed; the message says which part, and what is allowed."""


def readable(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    """The one statement in `sql`, checked; run the text that is returned.

    Raises:
        RefusedError: it is not one statement, or it could do more than read tables.
        duckdb.Error: it is no SQL.
    """
    if any("\ud800" <= char <= "\udfff" for char in sql):
        raise RefusedError("it holds half a character, which is no text")
    statement = _one(connection, sql)
    if _kind(statement) == "SELECT":
        return _inspected(connection, statement.query)
    explain = _EXPLAIN.match(statement.query)
    if _kind(statement) != "EXPLAIN" or explain is None:
        raise RefusedError(f"{_kind(statement)} is not allowed; {ALLOWED}")
    # What is explained is checked as a statement of its own; EXPLAIN ANALYZE would run it, whatever it is.
    inner = _one(connection, statement.query[explain.end() :])
    if _kind(inner) != "SELECT":
        raise RefusedError(f"EXPLAIN of {_kind(inner)} is not allowed; {ALLOWED}")
    return f"{explain[0]} {_inspected(connection, inner.query)}"


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    statements = connection.extract_statements(sql)
    if re.match(r"\s*pivot\b", sql, re.IGNORECASE) and [_kind(statement) for statement in statements] != ["SELECT"]:
        # DuckDB would first store the values that it finds in a type of its own.
        raise RefusedError("PIVOT has to name its values: pivot t on width in (2, 4) using avg(height)")
    if len(statements) != 1:
        raise RefusedError(f"{len(statements) or 'no'} statements; {ALLOWED}")
    return statements[0]


def _kind(statement: Any) -> str:
    try:
        return str(statement.type).rpartition(".")[2].replace("_", " ")
    except ValueError:
        return "this kind of statement"  # one that DuckDB's Python side has no name for, such as UPDATE EXTENSIONS


def _inspected(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    parsed(connection, query)
    return query


def parsed(connection: duckdb.DuckDBPyConnection, query: str) -> dict[str, Any]:
    """The node of a SELECT as DuckDB's parser has it, every part of it checked.

    Raises:
        RefusedError: it is not one SELECT, or it could do more than read tables.
    """
    ((text,),) = connection.execute("select json_serialize_sql(?)", [query]).fetchall()
    try:
        tree = json.loads(text)
        nodes = list(parts(tree))
    except RecursionError:
        raise RefusedError(f"nested too deeply; {ALLOWED}") from None
    if tree.get("error", True) or len(tree["statements"]) != 1:
        raise RefusedError(f"{tree.get('error_message', 'it cannot be checked')}; {ALLOWED}")
    for part in nodes:
        _check(part)
    return tree["statements"][0]["node"]


def parts(tree: Any) -> Iterator[dict[str, Any]]:
    """Every mapping in a tree, itself included."""
    left = [tree]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            yield part
            left.extend(part.values())
        elif isinstance(part, list):
            left.extend(part)


def _check(part: dict[str, Any]) -> None:
    kind = part.get("type")
    if isinstance(kind, str) and kind.endswith("_NODE") and kind not in QUERIES:
        raise RefusedError(f"{kind.removesuffix('_QUERY_NODE').removesuffix('_NODE')} is not allowed; {ALLOWED}")
    if "info_type" in part:
        raise RefusedError(f"{part['info_type']} is not allowed; {ALLOWED}")
    if kind == "TABLE_FUNCTION":
        name = _function(part.get("function", {}))
        if name not in TABLE_FUNCTIONS:
            known = ", ".join(sorted(TABLE_FUNCTIONS))
            raise RefusedError(f"the function {name!r} is not allowed as a table; allowed: {known}")
    elif part.get("class") == "FUNCTION" and _function(part) in FORBIDDEN:
        raise RefusedError(f"the function {_function(part)!r} is not allowed: a query only reads")


def _function(part: dict[str, Any]) -> str:
    return str(part.get("function_name", "")).lower()
