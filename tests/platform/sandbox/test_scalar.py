"""Laws of scalar SQL from sweep files: it computes from one row, and does nothing else."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from swingby.sandbox import scalar
from swingby.sandbox.scalar import FUNCTIONS, ScalarError, columns_of, evaluate, kind_of

LIST = pa.list_(pa.float64())
ROWS = pa.table(
    {
        "loss": pa.array([[4.0, 2.0, 1.0], [1.0, 3.0, math.nan], [], None], LIST),
        "rate": [0.5, 1.0, 2.0, 0.0],
        "note": ["1", "x", "3", "4"],
        "Weights": pa.array([[[1.0, 2.0]], [[3.0]], [], None], pa.list_(LIST)),
    }
)

HOSTILE = [
    "(select 1)",
    "(select content from read_text('/etc/passwd'))",
    "exists (select 1)",
    "rate in (select 1)",
    "rate = any ([1, 2])",
    "read_csv('/etc/passwd')",
    "read_text('/etc/passwd')",
    "rate from read_csv('/etc/passwd')",
    "rate) from (select 1",
    "rate), (rate",
    "rate); drop table one_row; select (1",
    "rate; select 1",
    "pragma version",
    "copy one_row to '/tmp/x'",
    "with a as (copy (select 1) to 'file') select 1",
    "getenv('HOME')",
    "current_setting('home_directory')",
    "getvariable('x')",
    "nextval('s')",
    "write_log('x')",
    "query('select 1')",
    "random() < rate",
    "uuid()",
    "now() is null",
    "current_date",
    "sum(rate)",
    "max(loss)",
    "count(*)",
    "rate over ()",
    "row_number() over ()",
    "list_max(loss) filter (where true)",
    "*",
    "columns(*)",
    "$1",
    "#1",
    "one_row.rate",
    "loss.len()",
    "main.len(loss)",
    "unnest(loss)",
    "range(1000000000)",
    "list_resize(loss, 1000000000)",
    "repeat(note, 1000000000)",
    "lpad(note, 1000000000, 'x')",
    "loss || loss",
    "list_reduce(loss, lambda a, b: a + b)",
    "list_transform([[loss, loss]], lambda a: [a, a])",
    "list_transform(loss, lambda x: list_transform(loss, lambda y: x * y))",
    "rate::int[100000]",
    "cast(note as json)",
    "{'a': rate}",
    "try_cast(note as timestamp)",
    "rate /*",
    "rate -- \n) from read_csv('x') where (true",
    "\ud800",
    "rate\0",
    "",
    " ",
    "(" * 3000,
    "-" * 1500 + "rate" + " -" * 600,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_an_expression_is_arithmetic_on_a_row_or_refused(text: str) -> None:
    """What is no scalar expression over the columns, or could do more than compute from them, is refused unrun."""
    with pytest.raises(ScalarError):
        kind_of(text, ROWS.schema)
    with pytest.raises(ScalarError):
        evaluate(text, ROWS, "number")


@pytest.mark.parametrize(
    ("text", "names", "kind", "values"),
    [
        ("loss[-1] < 0.5 * loss[1]", ("loss",), "yes_no", [True, False, None, None]),
        ("LOSS[2] / loss[1]", ("loss",), "number", [0.5, 3.0, None, None]),
        ("loss[-1]", ("loss",), "number", [1.0, None, None, None]),
        ("note::int", ("note",), "number", [1.0, None, 3.0, 4.0]),
        ("1 / nullif(rate, 0)", ("rate",), "number", [2.0, 1.0, 0.5, None]),
        ("case when rate > 0.7 then 'fast' else note end", ("rate", "note"), "category", ["1", "fast", "fast", "4"]),
        ("len(list_filter(loss, lambda x: x > rate))", ("loss", "rate"), "number", [3.0, 2.0, 0.0, None]),
        ("list_max([x + rate for x in loss])", ("loss", "rate"), "number", [4.5, None, None, None]),
        ("list_sum(list_transform(weights, lambda w: list_sum(w)))", ("Weights",), "number", [3.0, 3.0, None, None]),
        ("rate between 1 and 2 and note like '%3%'", ("rate", "note"), "yes_no", [False, False, True, False]),
        ("coalesce(loss[1], -1) -- a remark", ("loss",), "number", [4.0, 1.0, -1.0, -1.0]),
    ],
)  # fmt: skip
def test_values_are_those_of_each_row(text: str, names: tuple[str, ...], kind: str, values: list[object]) -> None:
    """An expression has a kind before anything is computed; what cannot be computed, and NaN, is null."""
    assert columns_of(text, ROWS.column_names) == names
    found = kind_of(text, ROWS.schema)
    assert found == kind
    assert evaluate(text, ROWS, found).to_pylist() == values


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("los[1] > 0", "unknown column 'los'", "did you mean 'loss'?"),
        ("max(loss) > 1", "the function 'max' is not allowed", "list_max("),
        ("flor(rate)", "the function 'flor' is not allowed", "did you mean 'floor'?"),
        ("loss", "gives DOUBLE[]", "[-1]"),
        ("rate + note", "cannot be computed: No function matches", ""),
        ("1 > 0", "names no column", "loss[-1]"),
        ("loss.len()", "'loss.len()' is not allowed", "write len(loss)"),
        ("rate >", "syntax error", "one expression"),
    ],
)
def test_a_fault_says_what_is_wrong_and_what_is_allowed(text: str, message: str, hint: str) -> None:
    """Each fault names the part that is at fault and, where something is near to it, that."""
    with pytest.raises(ScalarError) as caught:
        kind_of(text, ROWS.schema)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("text", ["loss[0] > 1", "loss[-1] < loss[0]", "weights[1][0]"])
def test_an_entry_zero_is_refused_with_how_to_count(text: str) -> None:
    """A list has none: the outcome would be null in every cell."""
    with pytest.raises(ScalarError, match=r"no entry 0\n.*loss\[1\] is the first"):
        kind_of(text, ROWS.schema)


def test_a_strict_value_raises_where_it_cannot_be_computed() -> None:
    """With `strict` the first row that cannot be computed is an error in DuckDB's words."""
    with pytest.raises(ScalarError, match="Could not convert string 'x'"):
        evaluate("note::int", ROWS, "number", strict=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("acc[-1]", [0.5, 0.2]),
        ("Acc[-2]", [0.1, None]),
        ("acc[3]", [0.5, None]),
        ("loss[-1]", [4.0, 4.0]),
        ("loss[-1] + acc[-1] - acc[ -1 ]", [4.0, 4.0]),
        ("list_sum(list_filter(loss, lambda acc: acc > 3))", [4.0, 4.0]),
        ("len(list_filter(loss, lambda x: x > 6 * acc[-1]))", [1.0, 3.0]),
    ],
)
def test_entries_counted_from_the_end_are_those_that_were_recorded(text: str, expected: list[float | None]) -> None:
    """A curve of another cadence has nulls between; counted from the begin its entries are those of the steps."""
    acc = [[0.1, None, 0.5, None], [0.2, None, None, None]]
    table = pa.table({"acc": acc, "loss": [[1.0, 2.0, 3.0, 4.0]] * 2})
    assert evaluate(text, table, "number", strict=True).to_pylist() == expected


def test_an_expression_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told with the limit, and nothing is evaluated on."""
    long = "list_sum(list_filter(range(1, 200000 + cast(rate as bigint)), lambda x: x % 7 = 3))"
    table = pa.table({"rate": [float(k) for k in range(50)]})
    monkeypatch.setattr("swingby.sandbox.scalar.SECONDS", 0.02)
    monkeypatch.setattr("swingby.sandbox.scalar.FUNCTIONS", FUNCTIONS | {"range"})
    with pytest.raises(ScalarError, match=r"takes longer than 0.02 s on 50 rows"):
        evaluate(long, table, "number")


def test_expressions_at_once_see_their_own_rows_alone() -> None:
    """Threads that evaluate at once get the values of their own tables, also while one of them is ended."""

    def tripled(number: int) -> list[object]:
        if number % 10 == 0:
            with pytest.raises(ScalarError):
                evaluate("cast(note as double)", ROWS, "number", strict=True)
        table = pa.table({"rate": [float(number), number + 1.0]})
        return evaluate("3 * rate", table, "number").to_pylist()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tripled, range(80))) == [[3.0 * number, 3.0 * number + 3] for number in range(80)]


def test_a_database_that_an_expression_ended_is_made_again() -> None:
    """What DuckDB calls a fatal error closes its database: the next expression has another one."""
    scalar._database(os.getpid()).close()
    assert evaluate("rate", ROWS, "number").to_pylist() == [0.5, 1.0, 2.0, 0.0]
