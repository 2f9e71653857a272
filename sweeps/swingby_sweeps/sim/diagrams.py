"""The phase diagrams of the page of findings, in its order: their headings, maps and lines of theory."""

from __future__ import annotations

from swingby_analysis.statements.diagram import Diagram, Lines, Map, none

from . import theory_lines

FEWEST = 3
"""The least number of runs with a bump for a point to have a median height of its bumps."""

MEMORIZATION = Map("transient_memorization", "share", "Where runs show transient memorization")
OUTCOME = Map("outcome", "category", "What became of the runs", "most common outcome")
HEIGHT = Map(
    "bump_height",
    "median",
    "How high the bumps are",
    "median height of the bumps / L_ref",
    "The colour of a tile is the median height of the bumps, over the runs that show transient memorization; tiles "
    f"without colour have fewer than {FEWEST} such runs. The few highest share the last colour.",
    "transient_memorization and outcome <> 'diverged'",
    fewest=FEWEST,
)
DESCENTS = Map("descents_fine", "mean", "The number of descents", "mean number of descents")


def _diagram(
    slug: str, heading: str, lines: Lines = none, maps: tuple[Map, ...] = (MEMORIZATION, OUTCOME, HEIGHT)
) -> Diagram:
    return Diagram("sim", slug, heading, maps, lines)


DIAGRAMS: tuple[Diagram, ...] = (
    _diagram("ratio-spread", "Signal ratio against spread: deep linear nets"),
    _diagram("ratio-spread-relu", "Signal ratio against spread: ReLU nets"),
    _diagram("dimension-width", "Input dimension against hidden width: deep linear nets"),
    _diagram("dimension-width-relu", "Input dimension against hidden width: ReLU nets"),
    _diagram(
        "depth-gain",
        "Depth against gain of the initialisation: narrow linear nets",
        theory_lines.plateau_and_steepness,
    ),
    _diagram("depth-gain-relu", "Depth against gain of the initialisation: narrow ReLU nets"),
    _diagram(
        "width-gain", "Hidden width against gain of the initialisation: linear nets", theory_lines.plateau_and_steepness
    ),
    _diagram("width-gain-relu", "Hidden width against gain of the initialisation: ReLU nets"),
    _diagram(
        "ratio-gain",
        "Signal ratio against gain: the symmetric model from a normal start",
        theory_lines.symmetric_start,
    ),
    _diagram(
        "ratio-start",
        "Signal ratio against scale: the symmetric model from a positive start",
        theory_lines.symmetric_start,
    ),
    _diagram("rate-depth", "Learning rate against depth: linear nets", theory_lines.steepest_rate),
    _diagram("rate-depth-relu", "Learning rate against depth: ReLU nets", theory_lines.steepest_rate),
    _diagram(
        "latent-concepts",
        "Latent width against number of concepts: structural failure",
        theory_lines.bottleneck,
        (OUTCOME, MEMORIZATION, HEIGHT),
    ),
    _diagram(
        "concepts-start",
        "Number of concepts against scale of the initialisation: descents of the symmetric model",
        maps=(DESCENTS, MEMORIZATION, OUTCOME, HEIGHT),
    ),
    _diagram("distance", "Distance of the test point in units of sigma, linear nets", theory_lines.points_near),
    _diagram(
        "distance-truncated",
        "Distance of the test point in units of sigma, linear nets, without training points near it",
        theory_lines.points_near,
    ),
    _diagram("distance-relu", "Distance of the test point in units of sigma, ReLU nets", theory_lines.relu_distance),
    _diagram(
        "distance-truncated-relu",
        "Distance of the test point in units of sigma, ReLU nets, without training points near it",
        theory_lines.points_near,
    ),
    _diagram("spread-time-relu", "Spread against time of the run: ReLU nets", theory_lines.spread_needed),
)
