"""The phase diagrams of the page of findings, in its order."""

from __future__ import annotations

from collections.abc import Callable

from swingby_analysis.statements.diagram import Diagram, Lines, Map

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
ALL = Map("learns_all", "share", "Where all skills are learned within the run", "all skills learned")
GROWTH = Map(
    "growth_constant",
    "median",
    "How slowly a skill leaves a small start",
    "median of g",
    "g is 2 c S over the growth rate of ln R: the theory has 5.66, 13.86 and 16 for two, three and four bits.",
)


def _at_least(skills: int, lines: Callable[[int], Lines]) -> Map:
    """Where a number of skills is learned, beside where theory has the last of them at half its strength."""
    some = "one skill is" if skills == 1 else f"{skills} skills are"
    title = f"Where at least {some} learned"
    return Map(f"skills_learned > {skills - 0.5}", "share", title, f"{some} learned", lines=lines(skills))


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
        "parity-width-samples-fine",
        "Width against the size of the training set: the boundaries, refined",
        (*(_at_least(skills, theory_lines.corner) for skills in (1, 2, 3, 4)), LEARNED),
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
        "parity-width-bits-fine",
        "Width against the bits of a skill: the boundaries, refined",
        (*(_at_least(skills, theory_lines.units_of_skill) for skills in (1, 2, 3)), LEARNED),
        theory_lines.units_of_skills,
    ),
    Diagram(
        "parity_net",
        "parity-alpha-skills",
        "The exponent of the frequencies against the number of skills: how far skills are decoupled",
        (DELAY, LEARNED),
        theory_lines.last_in_time,
    ),
    Diagram(
        "parity_net",
        "parity-alpha-skills-fine",
        "The exponent of the frequencies against the number of skills: the boundary of learning all, refined",
        (ALL, DELAY),
        theory_lines.last_in_time,
    ),
    Diagram("parity_net", "parity-delay", "Five skills over time, in narrow and wide nets", (DELAY, LEARNED)),
    Diagram("parity_net", "parity-growth", "One skill from a small start, by its bits", (GROWTH,)),
)
