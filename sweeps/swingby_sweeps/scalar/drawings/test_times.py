"""The drawing `test_times`: when diagonal nets generalize, beside the law that has no fitted number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from swingby.model import drawing
from swingby_analysis.charts.scatter import COLOURS, Dot, scatter
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.prose import plural
from swingby_analysis.report.subject import Subject

SQL = __name__.rpartition(".")[0]
MOST = 6
"""Panels, one a value of alpha."""
READING = (
    "Across: ln(alpha^2 / C*) / (2 decay), with C* computed from each run's own points before it is trained. Up: when "
    "|theta - w|^2 first was at most .05. Line: the identity; shaded: 10 % about it. Runs that are above it had not "
    "fitted their points exactly yet: the law takes the decay as small. Triangles on the upper edge: not by the end of "
    "the run. Left out: starts with alpha^2 <= C*, which generalize as they fit. Both axes are logarithmic."
)


class TestTimes(drawing.Drawing):
    """A panel a scale of the start, a mark a run, coloured by the decay."""

    name: ClassVar[str] = "test_times"
    experiments: ClassVar[tuple[str, ...]] = ("sparse_diagonal",)

    def figures(self, subject: Subject, options: drawing.Options) -> Sequence[Figure]:
        """One figure of all runs that the law speaks of.

        Raises:
            SwingbyError: it speaks of none.
        """
        query = Query("test_times", (subject.sweep_id,), SQL)
        rows = subject.ask(query).to_dicts()
        alphas = sorted({row["alpha"] for row in rows})
        if not rows:
            raise subject.cannot(self.name, "no run has a decay, a C* and a start with alpha^2 > C*")
        alphas = alphas[:: math.ceil(len(alphas) / MOST)]
        rows = [row for row in rows if row["alpha"] in alphas]
        decays = sorted({row["decay"] for row in rows})
        shown = {decay: _decade(decay) if len(decays) > len(COLOURS) else f"decay {decay:g}" for decay in decays}
        colours = dict(zip(dict.fromkeys(shown.values()), COLOURS, strict=False))
        dots = [_dot(row, shown[row["decay"]]) for row in rows]
        notes = {f"alpha = {alpha:g}": _note([row for row in rows if row["alpha"] == alpha]) for alpha in alphas}
        axes = ("predicted time of generalization", "measured time of generalization")
        spec = scatter(dots, notes, colours, axes).to_dict()
        caption = f"When {plural(len(rows), 'run')} generalized, predicted from their points and measured."
        return [subject.figure("test-times", "The time of generalization", caption, READING, spec, [query])]


def _decade(decay: float) -> str:
    return f"decay from 1e{math.floor(math.log10(decay)):d}"


def _dot(row: dict[str, Any], series: str) -> Dot:
    panel, measured = f"alpha = {row['alpha']:g}", math.inf if row["test_time"] is None else row["test_time"]
    return Dot(panel, series, f"decay {row['decay']:g}", row["seed"], row["predicted_test_time"], measured)


def _note(rows: list[dict[str, Any]]) -> list[str]:
    near = [row for row in rows if row["test_time"] and abs(row["test_time"] / row["predicted_test_time"] - 1) <= 0.1]
    return [f"{len(near):,} of {len(rows):,} within 10 %"]
