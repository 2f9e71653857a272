"""Scalar SQL over one row: checked part by part, typed on an empty table, and evaluated away from all files.

Outcomes of a sweep file are such expressions, and a sweep file may come from anybody. What is evaluated runs in the
process that asks, so an expression is held to less than a query is: no function that is not on a list, none that makes
a long value out of a short one, and no lambda within a lambda.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from swingby.errors import SwingbyError, plain_words
from swingby.model.detector import OutcomeKind
from swingby.model.registry import nearest
from swingby.sandbox.statement import RefusedError, parsed, parts

LONGEST = 2_000
"""Most characters of an expression."""
OPERATORS = {"+", "-", "*", "/", "//", "%", "**", "^", "~~", "!~~", "~~*", "!~~*"}
"""Operators that the parser takes for functions; the last four are LIKE and ILIKE."""
FUNCTIONS = OPERATORS | {
    *("abs", "ceil", "ceiling", "floor", "round", "trunc", "sign", "sqrt", "cbrt", "exp", "ln", "log", "log2", "log10"),
    *("pow", "power", "mod", "pi", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
    *("greatest", "least", "isnan", "isinf", "isfinite", "if", "nullif"),
    *("lower", "upper", "trim", "left", "right", "substr", "substring", "strlen", "contains", "prefix", "suffix"),
    *("starts_with", "ends_with", "regexp_matches", "regexp_full_match"),
    *("len", "length", "list_value", "list_extract", "list_element", "array_extract", "list_slice", "array_slice"),
    *("list_max", "list_min", "list_sum", "list_avg", "list_median", "list_mad", "list_product", "list_mode"),
    *("list_stddev_pop", "list_stddev_samp", "list_var_pop", "list_var_samp", "list_sem", "list_skewness"),
    *("list_kurtosis", "list_entropy", "list_first", "list_last", "list_any_value", "list_count", "list_unique"),
    *("list_bool_and", "list_bool_or", "list_contains", "list_has", "list_has_all", "list_has_any"),
    *("list_position", "list_indexof", "list_filter", "list_transform", "list_apply", "list_distinct", "list_sort"),
    *("list_reverse_sort", "list_reverse", "list_grade_up", "list_dot_product", "list_inner_product"),
    *("list_distance", "list_cosine_similarity", "list_cosine_distance"),
}
"""Functions that an expression may call: equal rows give equal values, none longer than what it is made of."""
CLASSES = {
    *("BETWEEN", "CASE", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION", "LAMBDA"),
    *("OPERATOR", "TYPE"),
}
"""Kinds of parts that an expression may have."""
REFUSED_OPERATORS = {"GROUPING_FUNCTION", "STRUCT_EXTRACT", "OPERATOR_UNPACK"}
CASTS = {
    *("double", "float", "real", "integer", "int", "bigint", "smallint", "tinyint", "hugeint", "boolean", "bool"),
    *("varchar", "text", "string"),
}
"""Types that a value may be cast to."""
SECONDS = 60.0
"""Seconds that an expression may take on the rows that it is given at once."""
MEMORY = "1GB"
"""Memory that it may use."""
ROW = "one_row"
"""The table that an expression sees."""
SELECT = "select ("
"""What stands before an expression where it is parsed."""

_TYPES: Mapping[OutcomeKind, str] = {"yes_no": "boolean", "category": "varchar", "number": "double"}
_ARROW: Mapping[OutcomeKind, pa.DataType] = {"yes_no": pa.bool_(), "category": pa.string(), "number": pa.float64()}
_NUMBERS = re.compile(r"(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM|FLOAT|DOUBLE|DECIMAL\(.*\))")
_WORDS = {"SUBQUERY": "a subquery", "WINDOW": "a window function", "STAR": "*", "PARAMETER": "a parameter of a query"}
_ONE = "allowed: one expression over the columns of a row, such as loss[-1] < 0.1 * loss[1]"


class ScalarError(SwingbyError):
    """A fault of an expression: what is wrong, and what is allowed (`hint`)."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\n    {hint}")
        self.message, self.hint = message, hint


def arrow_type(kind: OutcomeKind) -> pa.DataType:
    """The Arrow type that values of a kind are kept in."""
    return _ARROW[kind]


def columns_of(text: str, known: list[str] | None = None) -> tuple[str, ...]:
    """The columns that an expression names, once its text is found to be one scalar expression that only reads.

    Args:
        text: the expression.
        known: the columns that there are; case is no matter. None: not known, so any name is taken for one.

    Raises:
        ScalarError: it is no such expression, or names a column that is not there, or none.
    """
    with _connection() as connection:
        return _columns(connection, text, known)


def _columns(connection: duckdb.DuckDBPyConnection, text: str, known: list[str] | None) -> tuple[str, ...]:
    tree = _checked(connection, text)
    spelt = {name.lower(): name for name in known or ()}
    columns: dict[str, None] = {}
    for names in _free(tree, frozenset()):
        if len(names) > 1:
            message = f"{'.'.join(names)!r} is no column"
            raise ScalarError(message, "an entry of a list is written rates[2], counted from 1; [-1] is the last")
        name = spelt.get(names[0].lower()) if known is not None else names[0]
        if name is None:
            raise ScalarError(f"unknown column {names[0]!r}", nearest(names[0], known or []))
        columns.setdefault(name)
    if not columns:
        raise ScalarError("names no column, so that every cell has one and the same value", _ONE)
    return tuple(columns)


def syntax(text: str) -> dict[str, Any]:
    """The parsed expression, as DuckDB writes it in JSON.

    Raises:
        ScalarError: it is no expression, or holds more than one may.
    """
    with _connection() as connection:
        return _checked(connection, text)


def kind_of(text: str, schema: pa.Schema) -> OutcomeKind:
    """What an expression gives over rows of this schema; nothing is evaluated.

    Raises:
        ScalarError: it is no expression, or none over such rows; or gives something else, such as a list.
    """
    with _connection() as connection:
        _columns(connection, text, schema.names)
        return _kind(connection, text, schema.empty_table())


def evaluate(text: str, table: pa.Table, kind: OutcomeKind, strict: bool = False) -> pa.Array:
    """The value of an expression at every row, in order; null where it cannot be computed, and for NaN.

    A curve has a null at each step at which it was not recorded. Counted from the end, as in `acc[-1]`, its entries are
    those that were recorded; counted from the begin they are those of the steps.

    Args:
        text: an expression that `columns_of` took.
        strict: raise where it cannot be computed.

    Raises:
        ScalarError: the table lacks a column, it takes too long or too much memory, or, with `strict`, there is a row
            at which it cannot be computed.
    """
    with _connection() as connection:
        _columns(connection, text, table.column_names)
        text = _of_recorded(_checked(connection, text), text, table)
    value = f"cast(({text}\n) as {_TYPES[kind]})"
    value = value if strict else f"try({value})"
    if kind == "number":
        value = f"(select case when isnan(v) then null else v end from (select {value} as v))"
    with _connection() as connection:
        connection.register(ROW, table)
        try:
            with interrupted_after(connection, SECONDS):
                result = connection.sql(f"select {value} as value from {ROW}").to_arrow_table()
        except duckdb.InterruptException as error:
            raise ScalarError(f"takes longer than {SECONDS:g} s on {table.num_rows:,} rows, and was ended") from error
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise ScalarError(f"needs more than {MEMORY} of memory on {table.num_rows:,} rows") from error
        except duckdb.Error as error:
            raise ScalarError(_first_line(error)) from error
    return pa.concat_arrays([*result["value"].chunks, pa.array([], _ARROW[kind])])


def _of_recorded(tree: dict[str, Any], text: str, table: pa.Table) -> str:
    """The expression, in which entries that are counted from the end are those of lists without their nulls."""
    lists = [
        name for name, type_ in zip(table.column_names, table.schema.types, strict=True) if pa.types.is_list(type_)
    ]
    gapped = {name.lower() for name in lists if any(chunk.flatten().null_count for chunk in table[name].chunks)}
    places = list[tuple[int, int]]()
    for part in parts(tree) if gapped else ():
        if part.get("type") != "ARRAY_EXTRACT":
            continue
        of, entry = part["children"][:2]
        backwards = str((entry.get("literal") or {}).get("text", "")).startswith("-")
        if backwards and of.get("class") == "COLUMN_REF" and [n.lower() for n in of["column_names"]][-1] in gapped:
            places.append((of["query_location"] - len(SELECT), of["query_location_length"]))
    written = text.encode()
    for start, length in sorted(places, reverse=True):
        column = written[start : start + length]
        recorded = b"list_filter(" + column + b", lambda recorded: recorded is not null)"
        written = written[:start] + recorded + written[start + length :]
    return written.decode()


@contextmanager
def interrupted_after(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """While inside, what the connection does is interrupted after so many seconds.

    Raises:
        duckdb.InterruptException: it was.
    """
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of its own to a database in memory, which holds nothing and reaches no file."""
    try:
        connection = _database(os.getpid()).cursor()
        connection.execute("select 1").fetchall()
    except duckdb.Error:  # a fatal error has ended the database
        _database.cache_clear()
        connection = _database(os.getpid()).cursor()
    try:
        yield connection
    finally:
        connection.close()


@cache
def _database(pid: int) -> duckdb.DuckDBPyConnection:
    """The database of this process, whose settings cannot be changed: to make one takes longer than an expression."""
    return duckdb.connect(
        ":memory:",
        config={
            "allow_community_extensions": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "enable_external_access": False,
            "lock_configuration": True,
            "memory_limit": MEMORY,
            "python_enable_replacements": False,
            "temp_directory": "",
            "threads": 1,
        },
    )


def _checked(connection: duckdb.DuckDBPyConnection, text: str) -> dict[str, Any]:
    """The parsed expression.

    Raises:
        ScalarError: it is no expression, or holds more than an expression may.
    """
    if not text.strip():
        raise ScalarError("is empty", _ONE)
    if len(text) > LONGEST:
        raise ScalarError(f"{len(text):,} characters long; allowed: {LONGEST:,}")
    if any("\ud800" <= char <= "\udfff" or char == "\0" for char in text):
        raise ScalarError("holds half a character, or none, which is no text")
    try:
        node, plain = parsed(connection, f"{SELECT}{text}\n)"), parsed(connection, f"{SELECT}1\n)")
    except RefusedError as error:
        raise ScalarError(f"is not allowed: {str(error).rpartition(';')[0] or error}", _ONE) from None
    except (duckdb.Error, UnicodeError) as error:
        raise ScalarError(f"cannot be read: {_first_line(error)}", _ONE) from None
    expressions = node.get("select_list", [])
    if len(expressions) != 1 or expressions[0].get("alias") or _around(node) != _around(plain):
        raise ScalarError("is more than one expression", _ONE)
    for part in parts(expressions[0]):
        _check(part)
    return expressions[0]


def _around(node: Any) -> Any:
    """A SELECT without the expressions that it selects, and without places in its text."""
    if isinstance(node, dict):
        left_out = ("select_list", "query_location", "query_location_length")
        return {key: _around(value) for key, value in node.items() if key not in left_out}
    return [_around(item) for item in node] if isinstance(node, list) else node


def _check(part: dict[str, Any]) -> None:
    """Refuses a part of an expression that is more than arithmetic on a row.

    Raises:
        ScalarError: says which part, and what is allowed.
    """
    of, kind = part.get("class"), str(part.get("type", ""))
    if of is None:
        return
    if of not in CLASSES or (of == "OPERATOR" and kind in REFUSED_OPERATORS):
        raise ScalarError(f"{_WORDS.get(of, kind.replace('_', ' ').lower())} is not allowed", _ONE)
    if of == "FUNCTION":
        _check_function(part)
    elif of == "CAST":
        target = part.get("type_expr", {}).get("type_name") or part.get("cast_type", {}).get("id", "")
        if str(target).lower() not in CASTS or part.get("type_expr", {}).get("schema"):
            raise ScalarError(f"a cast to {target} is not allowed", "allowed: double, bigint, boolean, varchar")
    elif of == "LAMBDA" and any(inner is not part and inner.get("class") == "LAMBDA" for inner in parts(part)):
        raise ScalarError("a lambda within a lambda is not allowed")
    elif of == "OPERATOR" and kind == "ARRAY_CONSTRUCTOR":
        _check_constants(part)
    elif of == "OPERATOR" and kind == "ARRAY_EXTRACT":
        _check_entry(part["children"][1])


def _check_function(part: dict[str, Any]) -> None:
    name = str(part.get("function_name", "")).lower()
    if part.get("schema") or part.get("catalog"):
        raise ScalarError(f"'{part['schema']}.{name}()' is not allowed", f"write {name}({part['schema']})")
    if name not in FUNCTIONS:
        hint = nearest(name, sorted(FUNCTIONS - OPERATORS))
        if f"list_{name}" in FUNCTIONS:
            hint = f"an expression sees one cell; of its curve take list_{name}(...)"
        elif name in ("struct_pack", "struct_extract"):
            hint = "take list_filter(loss, lambda x: x > 1), and write the text in quotes"
        raise ScalarError(f"the function {name!r} is not allowed", hint)
    if part.get("filter") or part.get("distinct") or part.get("order_bys", {}).get("orders"):
        raise ScalarError(f"{name} with filter, distinct or order by is not allowed", _ONE)
    if name == "list_value":
        _check_constants(part)


def _check_entry(place: dict[str, Any]) -> None:
    """Refuses the entry 0, which no list has: every cell would have null."""
    literal = place.get("literal") or {}
    if literal.get("kind") == "INTEGER" and not literal["text"].strip("-0"):
        hint = "entries are counted from 1: loss[1] is the first, loss[-1] the last"
        raise ScalarError("a list has no entry 0", hint)


def _check_constants(part: dict[str, Any]) -> None:
    """Lists that are written out hold constants: a list of curves could double again and again."""
    if any(inner.get("class") in ("COLUMN_REF", "LAMBDA") for inner in parts(part)):
        raise ScalarError("a list that is written out may hold constants only", "such as [1, 2, 4]")


def _free(node: Any, bound: frozenset[str]) -> Iterator[list[str]]:
    """The names in an expression that are none of a lambda's own."""
    if isinstance(node, list):
        for item in node:
            yield from _free(item, bound)
    elif isinstance(node, dict):
        if node.get("class") == "COLUMN_REF":
            names = [str(name) for name in node["column_names"]]
            if names[0].lower() not in bound:
                yield names
        elif node.get("class") == "LAMBDA":
            arguments = {name[0].lower() for name in _free(node["lhs"], frozenset())}
            yield from _free(node["expr"], bound | arguments)
        else:
            for value in node.values():
                yield from _free(value, bound)


def _kind(connection: duckdb.DuckDBPyConnection, text: str, table: pa.Table) -> OutcomeKind:
    connection.register(ROW, table)
    try:
        ((_, type_, *_),) = connection.execute(f"describe select ({text}\n) as value from {ROW}").fetchall()
    except duckdb.Error as error:
        raise ScalarError(f"cannot be computed: {_first_line(error)}") from None
    if type_ == "BOOLEAN":
        return "yes_no"
    if type_ == "VARCHAR":
        return "category"
    if _NUMBERS.fullmatch(type_):
        return "number"
    hint = "take an entry, such as [-1], or list_max(...), list_sum(...)" if type_.endswith("]") else None
    raise ScalarError(f"gives {type_}; allowed: true or false, a number, or a text", hint)


def _first_line(error: Exception) -> str:
    """What DuckDB says is wrong, without its own advice and the place in a text that nobody wrote."""
    return plain_words(error).partition("\n")[0]
