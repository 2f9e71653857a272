"""The phase diagrams of the page of findings, in its order: their headings, maps and lines of theory."""

from __future__ import annotations

from swingby_analysis.statements.diagram import Diagram, Map

from . import theory_lines

DIAGRAMS: tuple[Diagram, ...] = (
    Diagram(
        "unconstrained",
        "unconstrained-decays",
        "Decay of the weights against decay of the features: where nothing is learned",
        (Map("fate", "category", "How unconstrained features end", "most common fate"),),
        theory_lines.boundary,
    ),
    Diagram(
        "unconstrained",
        "unconstrained-start",
        "Size of the start against weight decay: when features collapse",
        (
            Map("collapse_decades", "median", "When unconstrained features collapse", "log10 of growth times, median"),
            Map("fate", "category", "How runs end after 1,000 growth times", "most common fate"),
        ),
    ),
)
