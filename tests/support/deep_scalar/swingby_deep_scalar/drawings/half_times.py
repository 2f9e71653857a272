"""The drawing `half_times`: measured half times over predicted ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import altair as alt

from swingby.model import drawing
from swingby_analysis.page import Figure
from swingby_analysis.report.subject import Subject


class HalfTimes(drawing.Drawing):
    """One point for each run; on the diagonal theory holds."""

    name: ClassVar[str] = "half_times"
    experiments: ClassVar[tuple[str, ...]] = ("deep_scalar",)

    def figures(self, subject: Subject, options: drawing.Options) -> Sequence[Figure]:
        """One figure with the runs that reach 1/2."""
        rows = subject.cells.select("half_time", "predicted_half_time").drop_nulls().to_dicts()
        chart = alt.Chart(alt.Data(values=rows)).mark_point().encode(x="predicted_half_time:Q", y="half_time:Q")
        title, reading = "Half times beside theory", "A point is a run; on the diagonal theory holds."
        caption = f"{len(rows)} runs that reach 1/2."
        return [subject.figure("half-times", title, caption, reading, chart.to_dict(), ())]
