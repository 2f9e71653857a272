"""The drawings `loss_over_resource` and `skill_strengths`: the loss beside its laws, and how skills grow."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from swingby_analysis.charts.lines import Line, LinesLook
from swingby_analysis.report.query_drawing import LinesDrawing
from swingby_analysis.report.subject import Subject

RESOURCES = {
    "time": "time T",
    "data": "samples D",
    "width": "basis functions N",
    "compute": "compute C = T N",
    "all": "time T",
}
DRAWN = (1, 2, 3, 5, 10)
"""The skills that are drawn."""


class _Curves(LinesDrawing):
    experiments = ("multilinear",)
    look = LinesLook(
        dashes={"curve": (1, 0), "law": (6, 4), "corrected": (2, 3)},
        side=250,
        x_format="~e",
        shade=0.15,
        legend_columns=8,
        across=lambda panels: 4 if panels % 4 == 0 else 3,
    )


class LossOverResource(_Curves):
    """The loss over the resource on logarithmic axes, with the power law and the law corrected for finite skills.

    A panel for each value of what is neither alpha nor the width.
    """

    name = "loss_over_resource"
    title = "The loss and its laws"
    caption = "The loss over the resource beside its laws: {points} of the grid."
    empty = "no curve is finished"
    y = "log"
    reading = (
        "Solid: the loss; of several training sets the median, shaded from 10 % to 90 % of them. Dashed: the power law "
        "of [T] Table 4.1 with the prefactor that follows from the model. Dotted, of finitely many skills: this law "
        "less the loss L_C of the missing skills ([T] C.2). No line is fitted. Of skills = none there are infinitely "
        "many. Both axes are logarithmic, and the same in all panels."
    )

    def axes_of(self, rows: pl.DataFrame) -> tuple[str, str]:
        """The resources, and the loss."""
        resources = dict.fromkeys(RESOURCES[name] for name in rows["bottleneck"].unique(maintain_order=True))
        return " / ".join(resources), "loss"

    def series_of(self, lines: Sequence[Line]) -> Sequence[str]:
        """In the order of the lines."""
        return list(dict.fromkeys(line.series for line in lines))

    def lines(self, group: pl.DataFrame, rows: pl.DataFrame, subject: Subject) -> Sequence[Line]:
        """The curve of one point, and its laws."""
        # Curves of single widths share a panel with that of the best width; else those of each alpha do.
        by = "width" if rows["width"].n_unique() > 1 else "alpha"
        first = group.row(0, named=True)
        panel = subject.label(first["point"], {by}) or "all curves"
        named = f"alpha = {first['alpha']:g}" if by == "alpha" else f"N = {first['width']}"
        series = "best N" if by == "width" and first["width"] is None else named
        group = group.unique("x", keep="first", maintain_order=True).filter(pl.col("loss") > 0)
        x, loss = group["x"].to_list(), group["loss"].to_list()
        lines = [Line(panel, series, "curve", x, loss, group["low"].to_list(), group["high"].to_list())]
        if first["prefactor"] is not None:
            law = [first["prefactor"] * at ** first["exponent"] for at in x]
            lines.append(Line(panel, series, "law", x, law))
            if first["lost"]:
                lines.append(Line(panel, series, "corrected", x, [value - first["lost"] for value in law]))
        return lines


class SkillStrengths(_Curves):
    """Strengths of skills over time: a panel a point of the grid, a colour a skill."""

    name = "skill_strengths"
    title = "Skills over time"
    caption = "Strengths of the most frequent skills over time, {points}."
    empty = "no finished curve is over time, with the recording `strengths`"
    recordings = ("strengths",)
    axes = ("time T", "R / S")
    series = tuple(f"k = {skill}" for skill in DRAWN)
    y = "linear"
    by = ("point", "skill")
    reading = (
        "The strength R_k over S of the skills 1, 2, 3, 5 and 10, by frequency. A pair of skills comes one after the "
        "other where the first is at S before the second has left 0. The axis of time is logarithmic."
    )

    def lines(self, group: pl.DataFrame, rows: pl.DataFrame, subject: Subject) -> Sequence[Line]:
        """The line of one skill at one point."""
        point, skill = group["point"][0], group["skill"][0]
        if skill not in DRAWN:
            return []
        panel = subject.label(point) or "all skills"
        return [Line(panel, f"k = {skill}", "curve", group["x"].to_list(), group["strength"].to_list())]
