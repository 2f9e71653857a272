"""The curves and the scalars of paired cells, read in portions that fit the memory, and how far they lie apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from swingby.model import registry
from swingby_analysis.diff.gaps import SCHEMA, gaps
from swingby_analysis.diff.nested import Nested
from swingby_analysis.diff.pairing import Pairing
from swingby_analysis.diff.side import FINISHED, Side
from swingby_analysis.query import Query

NUMBERS = 4_000_000
"""About so many values of a curve are read of either side at once: 32 MB."""
FEW = 16
"""Cells of the first portion, which shows how large a cell is."""
MOST = 20_000
"""Cells of a portion, at most."""
TIMES = ("s", "1/s")
"""Units of scalars that say how fast a run was; they are no results, and are not compared."""
STEP = "step"


def finished(pairing: Pairing) -> pl.DataFrame:
    """The pairs of which both cells have a result, numbered by `place`; neighbours lie together in A's store."""
    both = pairing.pairs.filter(pl.col("status_a").is_in(FINISHED) & pl.col("status_b").is_in(FINISHED))
    return both.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))


def curves_of(a: Side, b: Side) -> tuple[list[str], list[str], list[str]]:
    """The curves that both sides have, those of A only, and those of B only."""
    names = [{name for name, role in side.roles.items() if role == "curve"} for side in (a, b)]
    return sorted(names[0] & names[1] - {STEP}), sorted(names[0] - names[1]), sorted(names[1] - names[0])


def curve_gaps(a: Side, b: Side, pairs: pl.DataFrame) -> pl.DataFrame:
    """Compares every curve of every pair, in portions; see `gaps.SCHEMA`.

    Args:
        pairs: see `finished`.
    """
    tables = []
    for name in curves_of(a, b)[0]:
        begin, size = 0, FEW
        while begin < pairs.height:
            part = pairs.slice(begin, size)
            one, other = _read(a, part["cell_a"], name), _read(b, part["cell_b"], name)
            steps = (Nested.of(one[STEP]), Nested.of(other[STEP])) if STEP in one.column_names else None
            curves = Nested.of(one[name]), Nested.of(other[name])
            tables.append(gaps(name, *curves, steps, begin))
            begin += part.height
            # Cells of other points may be larger than those seen.
            largest = max(1, *(int(curve.sizes.max(initial=0)) for curve in curves))
            size = int(np.clip(NUMBERS // largest, 1, min(MOST, 64 * size)))
    return pl.concat(tables) if tables else pl.DataFrame(schema=SCHEMA)


def _read(side: Side, cells: pl.Series, name: str) -> pa.Table:
    """The curve and its steps, a row a cell, in the order of the cells."""
    query = curve_query(side, cells.to_list(), name)
    table = side.store.sql(query.text, query.arguments).arrow()
    row_of = {cell: row for row, cell in enumerate(table["cell_id"].to_pylist())}
    return table.take(pa.array([row_of.get(cell) for cell in cells.to_list()], pa.int64()))


def curve_query(side: Side, cells: Sequence[str], name: str) -> Query:
    """The query that reads a curve of some cells."""
    columns = ("cell_id", STEP, name) if STEP in side.types else ("cell_id", name)
    return Query("diff/curve", (side.experiment, tuple(cells), columns, side.sweep["sweep_id"]))


def scalar_gaps(a: Side, b: Side, pairs: pl.DataFrame) -> pl.DataFrame:
    """Compares every scalar that is a result (a number, and no time) of every pair; see `gaps.SCHEMA`."""
    tables = []
    for name, role in a.roles.items():
        if role != "scalar" or b.roles.get(name) != "scalar" or _is_text(a, name) or _is_text(b, name):
            continue
        table = gaps(name, Nested.of(_scalar(a, pairs, "a", name)), Nested.of(_scalar(b, pairs, "b", name)), None)
        if not table["same"].all():  # only then is the experiment asked, which may have to load much
            known = registry.experiment(a.experiment).scalars
            if name in known and known[name].unit in TIMES:
                continue
        tables.append(table)
    return pl.concat(tables) if tables else pl.DataFrame(schema=SCHEMA)


def texts(a: Side, b: Side, pairs: pl.DataFrame) -> dict[str, tuple[str, str, int]]:
    """Scalars that are texts (such as the engine that trained a run) and differ: of A, of B, in how many pairs."""
    differing = {}
    for name, role in a.roles.items():
        if role != "scalar" or b.roles.get(name) != "scalar" or not (_is_text(a, name) and _is_text(b, name)):
            continue
        one, other = (_scalar(side, pairs, letter, name).to_pylist() for letter, side in (("a", a), ("b", b)))
        unlike = [(x, y) for x, y in zip(one, other, strict=True) if x != y]
        if unlike:
            of_a, of_b = (", ".join(sorted({str(item) for item in side})) for side in zip(*unlike, strict=True))
            differing[name] = (of_a, of_b, len(unlike))
    return differing


def _is_text(side: Side, name: str) -> bool:
    return side.types.get(name) == "VARCHAR"


def _scalar(side: Side, pairs: pl.DataFrame, letter: str, name: str) -> pa.ChunkedArray:
    values = pairs.select("place", cell_id=f"cell_{letter}").join(side.cells.select("cell_id", name), on="cell_id")
    return values.sort("place").select(name).to_arrow()[name]
