"""Claims asked of made-up runs, in the place of those of a store."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from swingby_analysis.statements.catalogue import claims
from swingby_analysis.statements.compose import compose
from swingby_analysis.statements.judging import answer
from swingby_analysis.statements.statement import Statement
from swingby_analysis.statements.verdict import Answer


def answers(slug: str | Statement, runs: pa.Table) -> list[Answer]:
    """The rows of a claim, by its slug or itself, asked of these runs."""
    claim = claims(only=[slug])[0] if isinstance(slug, str) else slug
    query = compose(claim, (), (), given=("runs",))
    with duckdb.connect() as connection:
        connection.register("runs", runs)
        found = connection.execute(query)
        names = [column[0] for column in found.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    return [answer(claim, row) for row in rows]
