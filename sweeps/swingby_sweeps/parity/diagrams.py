"""The phase diagrams of the page of findings, in its order."""

from __future__ import annotations

from swingby_analysis.statements.diagram import Diagram, Map

from . import theory_lines

LEARNED = Map("skills_learned", "mean", "How many skills are learned", "mean number of skills learned")
OUTCOME = Map("outcome", "category", "Which skills were learned", "most common outcome")
VIOLATED = Map("order_violated", "share", "Where a rarer skill gets ahead")
DELAY = Map(
    "decoupling",
    "median",
    "How much later the second skill comes than its own samples say",
    "median of t_2 p_2 / (t_1 p_1)",
)
GROWTH = Map(
    "growth_constant",
    "median",
    "How slowly a skill leaves a small start",
    "median of g",
    "g is 2 c S over the growth rate of ln R: the theory has 5.66, 13.86 and 16 for two, three and four bits.",
)

DIAGRAMS: tuple[Diagram, ...] = (
    Diagram(
        "parity_net",
        "parity-width-samples",
        "Width against the size of the training set: how many of five skills",
        (LEARNED, OUTCOME, VIOLATED),
        theory_lines.samples_and_units,
    ),
    Diagram(
        "parity_net",
        "parity-width-bits",
        "Width against the bits of a skill: how many units a skill takes",
        (LEARNED, OUTCOME, VIOLATED),
        theory_lines.units_of_skills,
    ),
    Diagram(
        "parity_net",
        "parity-alpha-skills",
        "The exponent of the frequencies against the number of skills: how far skills are decoupled",
        (DELAY, LEARNED),
        theory_lines.last_in_time,
    ),
    Diagram("parity_net", "parity-delay", "Five skills over time, in narrow and wide nets", (DELAY, LEARNED)),
    Diagram("parity_net", "parity-growth", "One skill from a small start, by its bits", (GROWTH,)),
)
