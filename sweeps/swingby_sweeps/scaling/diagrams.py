"""The diagrams of scaling on the page of findings, in its order: their headings, maps and lines of theory."""

from __future__ import annotations

from swingby_analysis.statements.diagram import Diagram, Map

from . import theory_lines

BIAS = Map(
    "bias",
    "median",
    "How far the exponent over time is off",
    "exponent over theory's, less 1",
    "The colour of a tile is the bias of the exponent; tiles without colour have a bias above 1, or nothing is left of "
    "the loss.",
    "abs(bias) <= 1",
)
LAW = Map(
    "followed_law",
    "category",
    "Which law the exponent follows",
    reading="The first law within 5 % of the exponent: -alpha/(alpha + 1) (power law), the law with the loss L_C of "
    "the missing skills ([T] C.2, corrected), and this law with what is left of the last skill's own loss "
    "(last skill). Each panel has a line of its own.",
)
BINDS = Map("binds", "category", "Which resource binds", "most common resource")
PREDICTED = Map("predicted_binds", "category", "Which resource binds by theory")
STAGES = Map("predicted_stages", "median", "How many pairs of skills come one after the other", "stage-like pairs")
SPREAD = Map(
    "exponent_spread",
    "median",
    "How far the local exponent ranges",
    "largest less least d ln L / d ln T, over the exponent",
)

DIAGRAMS: tuple[Diagram, ...] = (
    Diagram(
        "multilinear",
        "skills-alpha",
        "Number of skills against alpha: bias of the exponent over time",
        (LAW, BIAS),
        theory_lines.enough_skills,
    ),
    Diagram(
        "multilinear",
        "time-width",
        "Time against width: the resource that binds",
        (BINDS, PREDICTED),
        theory_lines.equal_reach,
    ),
    Diagram(
        "multilinear",
        "skills-start",
        "The start against alpha: stage-like pairs and the spread of the local exponent",
        (STAGES, SPREAD),
        theory_lines.stage_like,
    ),
)
