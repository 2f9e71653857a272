"""The look of the drawings of regression on fixed features, and the folder of their queries."""

from __future__ import annotations

from swingby_analysis.charts.lines import LinesLook

SQL = __name__.rpartition(".")[0]
"""The folder of the queries of these drawings."""
LOOK = LinesLook(
    dashes={"measured": (1, 0), "theory": (5, 4)},
    side=230,
    x_format="~g",
    shade=0.2,
    legend_columns=2,
    across=lambda panels: min(panels, 4),
)
