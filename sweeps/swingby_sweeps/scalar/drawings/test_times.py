"""The drawing `test_times`: when diagonal nets generalize, beside the law that has no fitted number."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import polars as pl

from swingby_analysis.charts.scatter import COLOURS, Dot, scatter
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject

MOST = 6
"""Panels, one a value of alpha."""


class TestTimes(QueryDrawing):
    """A panel a scale of the start, a mark a run, coloured by the decay."""

    name = "test_times"
    experiments = ("sparse_diagonal",)
    title = "The time of generalization"
    empty = "no run has a decay, a C* and a start with alpha^2 > C*"
    reading = (
        "Across: ln(alpha^2 / C*) / (2 decay), with C* computed from each run's own points before it is trained. Up: "
        "when |theta - w|^2 first was at most .05. Line: the identity; shaded: 10 % about it. Runs that are above it "
        "had not fitted their points exactly yet: the law takes the decay as small. Triangles on the upper edge: not "
        "by the end of the run. Left out: starts with alpha^2 <= C*, which generalize as they fit. Both axes are "
        "logarithmic."
    )

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart of all runs that the law speaks of."""
        alphas = rows["alpha"].unique().sort().to_list()
        alphas = alphas[:: math.ceil(len(alphas) / MOST)]
        runs = rows.filter(pl.col("alpha").is_in(alphas)).to_dicts()
        decays = sorted({row["decay"] for row in runs})
        shown = {decay: _decade(decay) if len(decays) > len(COLOURS) else f"decay {decay:g}" for decay in decays}
        colours = dict(zip(dict.fromkeys(shown.values()), COLOURS, strict=False))
        dots = [_dot(row, shown[row["decay"]]) for row in runs]
        notes = {f"alpha = {alpha:g}": _note([row for row in runs if row["alpha"] == alpha]) for alpha in alphas}
        axes = ("predicted time of generalization", "measured time of generalization")
        caption = f"When {plural(len(runs), 'run')} generalized, predicted from their points and measured."
        yield Drawn(scatter(dots, notes, colours, axes), caption)


def _decade(decay: float) -> str:
    return f"decay from 1e{math.floor(math.log10(decay)):d}"


def _dot(row: dict[str, Any], series: str) -> Dot:
    panel, measured = f"alpha = {row['alpha']:g}", math.inf if row["test_time"] is None else row["test_time"]
    return Dot(panel, series, f"decay {row['decay']:g}", row["seed"], row["predicted_test_time"], measured)


def _note(rows: list[dict[str, Any]]) -> list[str]:
    near = [row for row in rows if row["test_time"] and abs(row["test_time"] / row["predicted_test_time"] - 1) <= 0.1]
    return [f"{len(near):,} of {len(rows):,} within 10 %"]
