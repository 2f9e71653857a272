"""The look of the drawings of scaling, and the folder of their queries."""

from __future__ import annotations

from swingby_analysis.charts.lines import LinesLook

SQL = __name__.rpartition(".")[0]
"""The folder of the queries of these drawings."""
LOOK = LinesLook(
    dashes={"curve": (1, 0), "law": (6, 4), "corrected": (2, 3)},
    side=250,
    x_format="~e",
    shade=0.15,
    legend_columns=8,
    across=lambda panels: 4 if panels % 4 == 0 else 3,
)
