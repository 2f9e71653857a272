"""Laws of what a query gives as people see it: a table that fits, with its types and its size."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from swingby.store.connection import WIDEST, Rows

WIDE = ", ".join(f"'a text that is not short' as column_{place}" for place in range(30))
ODD = "map {'a': 1} as m, interval 1 month as i, {'x': 1} as s, 'a'::blob as b, '<b>&' as t, [1, 2] as l, uuid() as u"


@pytest.mark.parametrize(
    ("query", "size"),
    [
        ("select range as n from range(3000)", "3,000 rows, 1 column"),
        ("select 1.5 as x, 'a' as y where false", "0 rows, 2 columns"),
        (f"select {WIDE} from range(2)", "2 rows, 30 columns"),
        (f"select {ODD}", "1 row, 7 columns"),
        ("select 1 as a, 2 as a", "1 row, 2 columns"),
    ],
)
def test_rows_show_themselves(query: str, size: str) -> None:
    """Aligned, no wider than a terminal and shorter than one, with their number; in HTML texts are texts."""
    relation = duckdb.sql(query)
    assert relation is not None
    rows = Rows(relation.to_arrow_table())
    lines = repr(rows).splitlines()
    assert lines[-1] == size
    assert len(lines) <= 30
    assert len({len(line) for line in lines[:-1]}) == 1
    assert len(lines[0]) <= WIDEST
    page: Any = rows._repr_html_()
    assert page.endswith(f"<p>{size}</p>")
    assert "<b>" not in page
