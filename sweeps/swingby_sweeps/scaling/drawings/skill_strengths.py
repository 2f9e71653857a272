"""The drawing `skill_strengths`: how the strengths of the most frequent skills grow over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from swingby.model import drawing
from swingby_analysis.charts.lines import Line, line_panels
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.prose import plural
from swingby_analysis.report.subject import Subject

from .look import LOOK, SQL

DRAWN = (1, 2, 3, 5, 10)
"""The skills that are drawn."""
READING = (
    "The strength R_k over S of the skills 1, 2, 3, 5 and 10, by frequency. A pair of skills comes one after the other "
    "where the first is at S before the second has left 0. The axis of time is logarithmic."
)


class SkillStrengths(drawing.Drawing):
    """Strengths of skills over time: a panel a point of the grid, a colour a skill."""

    name: ClassVar[str] = "skill_strengths"
    experiments: ClassVar[tuple[str, ...]] = ("multilinear",)
    recordings: ClassVar[tuple[str, ...]] = ("strengths",)

    def figures(self, subject: Subject, options: Any) -> Sequence[Figure]:
        """One figure of the curves over time.

        Raises:
            SwingbyError: no finished curve is over time.
        """
        query = Query("skill_strengths", (subject.sweep_id,), SQL)
        rows = subject.ask(query)
        if rows.is_empty():
            raise subject.cannot(self.name, "no finished curve is over time, with the recording `strengths`")
        lines = []
        for own in rows.partition_by("point", "skill"):
            point, skill = own["point"][0], own["skill"][0]
            if skill in DRAWN:
                panel = subject.label(point) or "all skills"
                lines.append(Line(panel, f"k = {skill}", "curve", own["x"].to_list(), own["strength"].to_list()))
        series = [f"k = {skill}" for skill in DRAWN]
        spec = line_panels(lines, series, ("time T", "R / S"), "linear", LOOK).to_dict()
        caption = f"Strengths of the most frequent skills over time, {plural(rows['point'].n_unique(), 'point')}."
        return [subject.figure("skill-strengths", "Skills over time", caption, READING, spec, [query])]
