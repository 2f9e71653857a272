"""What a reader of the store is answered."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa


class Rows:
    """What a query gave."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return self._table.num_rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows())

    def arrow(self) -> pa.Table:
        """As an Arrow table."""
        return self._table

    def polars(self) -> pl.DataFrame:
        """As a polars frame."""
        frame = pl.from_arrow(self._table)
        return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()

    def rows(self) -> list[Any]:
        """As named tuples (a column whose name is no Python name is called `_0`, `_1`, ... by its place)."""
        row = namedtuple("Row", self._table.column_names, rename=True)
        columns = [column.to_pylist() for column in self._table.columns]
        return [row(*values) for values in zip(*columns, strict=True)]


@dataclass(frozen=True, slots=True)
class Finished:
    """Which of the asked cells need no run: `done` have a result with every recording; `failed` only ever raised."""

    done: frozenset[str]
    failed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Gap:
    """A cell that is not finished, since a piece of its curve is in no shard any more; the sweeps that have it."""

    cell_id: str
    experiment: str
    sweeps: tuple[str, ...]
