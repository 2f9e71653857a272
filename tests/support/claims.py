"""Claims asked of made-up runs, in the place of those of a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from swingby_analysis.statements.catalogue import claims
from swingby_analysis.statements.compose import compose
from swingby_analysis.statements.judging import answer
from swingby_analysis.statements.kinds import ALWAYS, EXISTS, Outcome
from swingby_analysis.statements.statement import Statement
from swingby_analysis.statements.verdict import Answer

Row = dict[str, Any]
SEEDS = range(24)
"""Seeds of a made-up table: enough for a verdict by any rule."""
EXCEPTION = 7
"""The one seed that is against a claim of what always is."""


def answers(slug: str | Statement, runs: pa.Table) -> list[Answer]:
    """The rows of a claim, by its slug or itself, asked of these runs."""
    claim = claims(only=[slug])[0] if isinstance(slug, str) else slug
    query, connection = compose(claim, (), (), defined=("runs",)), _connection()
    connection.register("runs", runs)
    try:
        found = connection.execute(query)
        names = [column[0] for column in found.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    finally:
        connection.unregister("runs")
    return [answer(claim, row) for row in rows]


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    """One database of this process, which holds nothing between two questions: to start one costs more than to ask."""
    return duckdb.connect(config={"threads": 1})


@dataclass(frozen=True)
class Case:
    """A claim with runs on which it holds, near misses, and runs that it is not about.

    A value may be a function of the row it stands in.

    Attributes:
        slug: of the claim.
        points: of each run of a seed, the values on which the claim holds, beside those of a usual run.
        near: near misses: values that every run of a seed has instead, or other points in the place of all.
        aside: values of runs that would be against the claim, were it about them.
    """

    slug: str
    points: Sequence[Row]
    near: Sequence[Row | Sequence[Row]]
    aside: Sequence[Row] = ()

    def check(self, usual: Callable[[int], Row]) -> None:
        """Asserts that the claim holds on its points, that each near miss is against it, and that the rest is left out.

        What always is has one seed that is against it; of every other kind all seeds are. Each of these tables of runs
        stands under a preset of its own, and all are asked at once.
        """
        claim = claims(only=[self.slug])[0]
        against = {EXCEPTION} if claim.rule == ALWAYS else set(SEEDS)
        rows = self._rows(usual, "it holds", {})
        for place, near in enumerate(self.near):
            rows += self._rows(usual, f"near {place}", near, against)
        for place, aside in enumerate(self.aside):
            rows += self._rows(usual, f"aside {place}", aside) + self._rows(usual, f"aside {place}", {})
        names = {name: None for row in rows for name in row}
        found: dict[str, list[Outcome]] = defaultdict(list)
        for row in answers(claim, pa.Table.from_pylist([{**names, **row} for row in rows])):
            found[row.convention].append(row.outcome)
        holds = found["it holds"]
        assert holds
        assert all(item.sign == 1 and not item.few for item in holds), holds
        for place, near in enumerate(self.near):
            signs = [item.sign for item in found[f"near {place}"] if not item.few]
            assert (0 if claim.rule == EXISTS else -1) in signs, near
        for place, aside in enumerate(self.aside):
            assert found[f"aside {place}"] == holds, aside

    def _rows(
        self, usual: Callable[[int], Row], preset: str, change: Row | Sequence[Row], of: Collection[int] = SEEDS
    ) -> list[Row]:
        """The runs of all seeds under a preset, changed in some of them."""
        changed = [{**point, **change} for point in self.points] if isinstance(change, dict) else change
        rows = [
            {**usual(seed), **point, "preset": preset}
            for seed in SEEDS
            for point in (changed if seed in of else self.points)
        ]
        return [{name: value(row) if callable(value) else value for name, value in row.items()} for row in rows]


def law(
    slug: str,
    parameter: str,
    error: str,
    slope: float | None,
    within: float,
    values: Sequence[float] = (1e-1, 1e-2, 1e-3, 1e-4),
    own: Row | None = None,
    aside: Sequence[Row] = (),
) -> Case:
    """A law that holds just below what it allows; errors above it, falling too slowly, or growing are against it.

    Args:
        slope: the exponent of the error in the column `parameter`; None where theory gives none.
        within: the error allowed at the last of these values.
        own: values of all of its runs.
    """

    def runs(power: float, last: float) -> list[Row]:
        return [{**(own or {}), parameter: value, error: last * (value / values[-1]) ** power} for value in values]

    power = slope or 0.1
    near = [runs(power, 1.02 * within), runs(-0.01 * power, 0.98 * within)]
    if slope is not None:
        near.append(runs(0.45 * slope, 0.5 * within))
    return Case(slug, runs(power, 0.98 * within), near, aside)


def claims_of(experiment: str) -> list[str]:
    """The slugs of all claims on an experiment."""
    return sorted(claim.slug for claim in claims() if experiment in claim.shared.experiments)
