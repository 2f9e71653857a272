"""Two sweeps beside each other, or one before and after a change of the code: cell by cell, and by their outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.params import introduced
from swingby.store import Store
from swingby_analysis.diff import curves, shares, side
from swingby_analysis.diff.pairing import Pairing, pair
from swingby_analysis.diff.side import Side
from swingby_analysis.grid import Grid, grid_of
from swingby_analysis.report.outcomes import Outcome, asked_outcome, outcomes_of, spoken
from swingby_analysis.stats.exact import LEVEL


@dataclass(frozen=True)
class Diff:
    """The comparison of two sweeps.

    Attributes:
        a, b: the sides.
        pairing: which of their cells belong together.
        finished: the pairs of which both cells have a result, numbered by `place`.
        shares: the outcomes, see `shares.SCHEMA`.
        curves, scalars: a row a pair and column, see `gaps.SCHEMA`.
        texts: scalars that are texts and differ -> text in A, text in B, how many pairs.
        grid: where the matched points stand in A's diagram.
    """

    a: Side
    b: Side
    pairing: Pairing
    finished: pl.DataFrame
    shares: pl.DataFrame
    curves: pl.DataFrame
    scalars: pl.DataFrame
    texts: dict[str, tuple[str, str, int]]
    grid: Grid

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides, A first."""
        return self.a, self.b

    @property
    def common(self) -> tuple[list[str], list[str], list[str]]:
        """The names of the curves of both sides, of A only, and of B only."""
        return curves.curves_of(self.a, self.b)

    @cached_property
    def ended_differently(self) -> pl.DataFrame:
        """The pairs whose cells ended with different statuses."""
        return self.pairing.pairs.filter(pl.col("status_a") != pl.col("status_b"))

    @cached_property
    def same_cells(self) -> int:
        """How many pairs are one and the same cell of one store, which cannot differ."""
        if self.a.data != self.b.data:
            return 0
        return self.pairing.pairs.filter(pl.col("cell_a") == pl.col("cell_b")).height

    @property
    def curves_same(self) -> bool:
        """Whether every curve of every pair with a result is bit for bit the same, at the same recorded steps."""
        _, only_a, only_b = self.common
        return self.curves.height > 0 and bool(self.curves["same"].all()) and not (only_a or only_b)

    @property
    def same(self) -> bool:
        """Whether every pair ended alike, and every curve and every scalar that is a result is bit for bit the same."""
        return self.curves_same and self.ended_differently.is_empty() and bool(self.scalars["same"].all())

    @property
    def significant(self) -> pl.DataFrame:
        """The rows of `shares` whose corrected test says that A and B differ."""
        return self.shares.filter(pl.col("corrected") <= LEVEL)

    @cached_property
    def columns(self) -> pl.DataFrame:
        """Each curve and scalar over all pairs: how many pairs, in how many it differs, and the worst places."""
        where, rows = ("point", "seed", "step", "entry", "cell_a", "cell_b"), []
        for kind, table in (("curve", self.curves), ("scalar", self.scalars)):
            if table.is_empty():
                continue
            of_column = self._with_cells(table).partition_by("column", as_dict=True, maintain_order=True)
            for (name,), part in of_column.items():
                absolute = part.sort("largest", "place", descending=[True, False]).row(0, named=True)
                relative = part.sort("relative", "place", descending=[True, False]).row(0, named=True)
                rows.append({
                    "kind": kind,
                    "column": name,
                    "pairs": part.height,
                    "differ": int((part["differ"] > 0).sum()),
                    "entries": int(part["entries"].sum()),
                    "left_a": int(part["left_a"].sum()),
                    "left_b": int(part["left_b"].sum()),
                    "largest": absolute["largest"],
                    **{f"largest_{key}": absolute[key] for key in where},
                    "relative": relative["relative"],
                    **{f"relative_{key}": relative[key] for key in where},
                })  # fmt: skip
        return pl.DataFrame(rows, infer_schema_length=None)

    @cached_property
    def cells(self) -> pl.DataFrame:
        """A row for every pair and column, with point, seed and the ids of both cells."""
        return self._with_cells(pl.concat([self.curves, self.scalars]))

    def worst(self, count: int) -> pl.DataFrame:
        """The pairs that lie farthest apart, each by its worst curve (without curves: by its worst scalar)."""
        table = self.curves if self.curves.height else self.scalars
        ranked = self._with_cells(table).filter(~pl.col("same") & (pl.col("differ") > 0))
        ranked = ranked.sort("relative", "largest", "place", descending=[True, True, False])
        return ranked.unique("place", keep="first", maintain_order=True).head(count)

    def _with_cells(self, table: pl.DataFrame) -> pl.DataFrame:
        return table.join(self.finished, on="place", how="left", maintain_order="left")

    @cached_property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The outcomes that diagrams of the experiment can show."""
        return outcomes_of(self.a.experiment, self.a.written, asked_outcome(self.a.resolved))

    def name_of(self, row: Mapping[str, Any]) -> str:
        """The title of the outcome that a row of `shares` is about, or of one of its values."""
        outcome = self.outcomes.get(row["outcome"])
        title = spoken(row["outcome"]) if outcome is None else outcome.title
        return title if row["value"] is None else f"{title} = {row['value']}"

    def label(self, point: int) -> str:
        """The parameters of a point of A, such as "width = 64, rate = 0.1"."""
        return self.grid.label(point)


@contextmanager
def compared(one: str, other: str, data: Path, other_data: Path | None = None) -> Iterator[Diff]:
    """Compares sweep `one` in `data` with sweep `other` in `other_data` (None: in `data`).

    The stores stay open until the context ends.

    Raises:
        SwingbyError: no such sweep, over two experiments, nothing finished, or no point in both.
    """
    folders = [Path(data), Path(data if other_data is None else other_data)]
    together = folders[0].resolve() == folders[1].resolve()
    if together:
        folders[1] = folders[0]
        failed = {"A": side.prepare(folders[0], list(dict.fromkeys([one, other])))}
    else:
        failed = {"A": side.prepare(folders[0], [one]), "B": side.prepare(folders[1], [other])}
    with ExitStack() as stack:
        first = stack.enter_context(Store.open(folders[0]))
        second = first if together else stack.enter_context(Store.open(folders[1]))
        a = side.read("A", first, folders[0], one, failed["A"])
        b = side.read("B", second, folders[1], other, failed.get("B", []))
        yield compare(a, b)


def compare(a: Side, b: Side) -> Diff:
    """Compares two sides.

    Raises:
        SwingbyError: they are over two experiments, or have no point in common.
    """
    if a.experiment != b.experiment:
        over = ", ".join(f"{item.title} is over {item.experiment!r}" for item in (a, b))
        raise SwingbyError(f"two sweeps over one experiment can be compared; {over}")
    if names := unlike(a, b):
        what = f"B writes {', '.join(names)} as another expression than A: what has one name is not compared"
        b = replace(b, warnings=[*b.warnings, what])
    lacking = any(item.cells[name].null_count() for item in (a, b) for name in item.parameters)
    older: dict[str, Any] = {}
    try:
        if lacking or set(a.parameters) != set(b.parameters):
            # Only where older cells lack a parameter is the experiment asked, which may have to load much.
            older = introduced(registry.experiment(a.experiment).Params)
        pairing = pair(a, b, older)
    except SwingbyError as error:
        # Points that are not there may only not be there yet.
        raise SwingbyError("\n  ".join([str(error), *side.unfinished(a, b)])) from error
    finished = curves.finished(pairing)
    rows = a.cells.unique("point", keep="first", maintain_order=True)
    rows = rows.filter(pl.col("point").is_in(pairing.points["point_a"].implode()))
    return Diff(
        a=a,
        b=b,
        pairing=pairing,
        finished=finished,
        shares=shares.compared(_samples(a, b, pairing)),
        curves=curves.curve_gaps(a, b, finished),
        scalars=curves.scalar_gaps(a, b, finished),
        texts=curves.texts(a, b, finished),
        grid=grid_of(a.resolved, rows.iter_rows(named=True)),
    )


def _samples(a: Side, b: Side, pairing: Pairing) -> shares.Samples:
    """The cells at matched points, each with its unit: a seed, where a seed has the same draws at all points; else the
    cell itself. Units are independent of each other."""
    common = any(item.resolved["seed_mode"] == "common" for item in (a, b))
    points = pairing.points.cast(pl.Int64)
    cells = [
        item.cells.with_columns(pl.col("point").cast(pl.Int64))
        .join(points.select(point=f"point_{letter}", at="point_a"), on="point")
        .with_columns(point="at", unit="seed" if common else pl.concat_str("at", "seed", separator=":"))
        for letter, item in (("a", a), ("b", b))
    ]
    pairs = pairing.pairs.select("cell_a", "cell_b") if pairing.by_seed else None
    orders = {name: outcome.column.order for name, outcome in outcomes_of(a.experiment).items()}
    kinds = shares.common_kinds(a.kinds, b.kinds)
    for name in unlike(a, b):
        kinds.pop(name, None)
    return shares.samples(cells[0], cells[1], pairs, kinds, orders)


def unlike(a: Side, b: Side) -> list[str]:
    """The outcomes that both files write as different expressions: names alone do not make them comparable."""
    tables = [{name: one.table for name, one in item.written.items()} for item in (a, b)]
    return [name for name in tables[0] if name in tables[1] and tables[0][name] != tables[1][name]]


def names_of(a: Side, b: Side) -> Sequence[str]:
    """The parts of the name of the comparison's folder: both sweeps' names; one name and both ids if they share it."""
    names = [a.sweep["name"], b.sweep["name"]]
    if names[0] != names[1]:
        return names
    ids = [item.sweep["sweep_id"][:8] for item in (a, b)]
    return names[:1] if ids[0] == ids[1] else [names[0], *ids]
