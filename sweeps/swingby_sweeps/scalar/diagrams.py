"""The phase diagrams of the page of findings, in its order: their headings, maps and lines of theory."""

from __future__ import annotations

from swingby_analysis.statements.diagram import Diagram, Map

from . import theory_lines

REGIME = Map("regime", "category", "Lazy or rich", "most common regime")
GAMMA = Map("gamma_end", "median", "How much the aligned modes grow", "median gamma_+")
DESCENT = Map("descent", "category", "How descent ends", "most common end")
FATE = Map("fate", "category", "When runs generalize", "most common fate")
DELAY = Map("delay", "median", "How late runs generalize", "median of test time over train time", fewest=3)
GENERALIZES = Map("generalizes", "share", "Where runs generalize in the end")

DIAGRAMS: tuple[Diagram, ...] = (
    Diagram(
        "wide_scalar",
        "scalar-regime",
        "Size of the target against alignment of the start: every wide scalar net",
        (REGIME, GAMMA),
        theory_lines.regimes,
    ),
    Diagram(
        "wide_scalar",
        "scalar-start",
        "Size of the weights against the power of the width in Z",
        (REGIME, GAMMA),
        theory_lines.typical_regimes,
    ),
    Diagram(
        "wide_scalar",
        "scalar-steps",
        "Learning rate against target: how descent ends",
        (DESCENT,),
        theory_lines.steps,
    ),
    Diagram(
        "sparse_diagonal",
        "scalar-grokking",
        "Scale of the start against weight decay: grokking of a diagonal net",
        (FATE, DELAY),
        theory_lines.critical_start,
    ),
    Diagram(
        "sparse_diagonal",
        "scalar-recovery",
        "Points against entries of the target: what generalizes at last",
        (GENERALIZES, FATE),
        theory_lines.recovery,
    ),
)
