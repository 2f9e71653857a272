"""The drawing `loss_over_resource`: the loss over time, data, width or compute, and its laws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import polars as pl

from swingby.model import drawing
from swingby_analysis.charts.lines import Line, line_panels
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.prose import plural
from swingby_analysis.report.subject import Subject

from .look import LOOK, SQL

AXES = {
    "time": "time T",
    "data": "samples D",
    "width": "basis functions N",
    "compute": "compute C = T N",
    "all": "time T",
}
READING = (
    "Solid: the loss; of several training sets the median, shaded from 10 % to 90 % of them. Dashed: the power law of "
    "[T] Table 4.1 with the prefactor that follows from the model. Dotted, of finitely many skills: this law less the "
    "loss L_C of the missing skills ([T] C.2). No line is fitted. Of skills = none there are infinitely "
    "many. Both axes are logarithmic, and the same in all panels."
)


class LossOverResource(drawing.Drawing):
    """The loss over the resource on logarithmic axes, with the power law and the law corrected for finite skills."""

    name: ClassVar[str] = "loss_over_resource"
    experiments: ClassVar[tuple[str, ...]] = ("multilinear",)

    def figures(self, subject: Subject, options: Any) -> Sequence[Figure]:
        """One figure; a panel for each value of what is neither alpha nor the width.

        Raises:
            SwingbyError: no cell has finished.
        """
        query = Query("loss_over_resource", (subject.sweep_id,), SQL)
        rows = subject.ask(query)
        if rows.is_empty():
            raise subject.cannot(self.name, "no curve is finished")
        # Curves of single widths share a panel with that of the best width; else those of each alpha do.
        by = "width" if rows["width"].n_unique() > 1 else "alpha"
        lines = [line for own in rows.partition_by("point") for line in _lines(own, subject, by)]
        series = list(dict.fromkeys(line.series for line in lines))
        titles = " / ".join(dict.fromkeys(AXES[name] for name in rows["bottleneck"].unique(maintain_order=True)))
        spec = line_panels(lines, series, (titles, "loss"), "log", LOOK).to_dict()
        caption = (
            f"The loss over the resource beside its laws: {plural(rows['point'].n_unique(), 'point')} of the grid."
        )
        return [subject.figure("loss-over-resource", "The loss and its laws", caption, READING, spec, [query])]


def _lines(own: pl.DataFrame, subject: Subject, by: str) -> list[Line]:
    """The curve of one point, and its laws."""
    first = own.row(0, named=True)
    panel = subject.label(first["point"], {by}) or "all curves"
    named = f"alpha = {first['alpha']:g}" if by == "alpha" else f"N = {first['width']}"
    series = "best N" if by == "width" and first["width"] is None else named
    own = own.unique("x", keep="first", maintain_order=True).filter(pl.col("loss") > 0)
    x, loss = own["x"].to_list(), own["loss"].to_list()
    lines = [Line(panel, series, "curve", x, loss, own["low"].to_list(), own["high"].to_list())]
    if first["prefactor"] is not None:
        law = [first["prefactor"] * at ** first["exponent"] for at in x]
        lines.append(Line(panel, series, "law", x, law))
        if first["lost"]:
            lines.append(Line(panel, series, "corrected", x, [value - first["lost"] for value in law]))
    return lines
