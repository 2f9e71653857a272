"""The phase diagrams of the page of findings, in its order: their headings, maps and lines of theory."""

from __future__ import annotations

from swingby_analysis.statements.diagram import Diagram, Map

from . import theory_lines

MODES: tuple[Diagram, ...] = (
    Diagram(
        "modes",
        "moment-ratio-start",
        "Ratio of second moments against start: overlap of two modes",
        (
            Map(
                "predicted_overlap",
                "median",
                "How far the second mode has come when both add to 1, in closed form",
                "overlap eps*",
                reading="Of L layers S / u(0) is start^-L, where S = 1. Where the modes start above 1 together, there "
                "is no overlap.",
            ),
            Map(
                "overlap",
                "median",
                "How far it has come by the records",
                "overlap eps*",
                reading="No colour: records lie too far apart to tell it. This is so of deep modes from small starts, "
                "which come within a thousandth of their own time.",
            ),
            Map("stage_like", "share", "Where two modes are learned in stages, by the records"),
        ),
        theory_lines.stage_like,
    ),
    Diagram(
        "modes",
        "alpha-start",
        "Exponent of the second moments against start: number of stages",
        (Map("stages", "mean", "How many pairs of ten modes are learned in stages", "mean number of pairs"),),
        theory_lines.numbers_of_stages,
    ),
)
NETS: tuple[Diagram, ...] = (
    Diagram(
        "linear_net",
        "rho-width",
        "Ratio of correlations against width: order, and error of the naive times",
        (
            Map("order_follows_rho", "share", "Where the larger correlation is learned first"),
            Map("decoupling_error", "median", "By how much the naive law misses a time", "median relative error"),
            Map("law_error", "median", "By how much the law with Gram-Schmidt misses a time", "median relative error"),
        ),
    ),
    Diagram(
        "linear_net",
        "target-imbalance",
        "Target over imbalance against size: distance of the tangent kernel",
        (Map("final_kernel_distance", "median", "How far the tangent kernel turns", "1 - cos"),),
        theory_lines.kernel_distances,
    ),
    Diagram(
        "linear_net",
        "balanced",
        "Size of the task against width: what becomes of balanced starts",
        (Map("fate", "category", "What becomes of balanced starts", "most common fate"),),
        theory_lines.wide_enough,
    ),
)
