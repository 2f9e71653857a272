"""Diagrams of how far the test point is from the training points, in units of sigma."""

from __future__ import annotations

from swingby_analysis.findings.diagram import PREFIX, Diagram
from swingby_analysis.findings.sentence import NO, UNSURE, YES, Sentence
from swingby_analysis.findings.words import along, common, fate
from swingby_sweeps.sim import theory_lines

_RELU = "relu"

_SCALE = {
    YES: "At one distance in units of sigma it matters how far out the clusters are themselves: farther out, "
    "transient memorization is more common, {far_out:.0%} of the runs against {near_by:.0%}.",
    NO: "At one distance in units of sigma it matters how far out the clusters are themselves: farther out, "
    "transient memorization is rarer, {far_out:.0%} of the runs against {near_by:.0%}.",
    UNSURE: "At one distance in units of sigma no difference can be told by how far out the clusters are "
    "themselves: {near_by:.1%} of the runs where mu_1 is below 1, {far_out:.1%} where it is above.",
}
_NEAR, _FAR = "up to {} sigma from the nearest centre", "from {} sigma on"
_FOUND = {
    YES: "The net gets to the answer more often where the test point is far from the training points: in "
    "{high:.0%} of the runs from {high_from:.2g} sigma on, in {low:.0%} up to {low_to:.2g} sigma.",
    NO: "The net gets to the answer less often where the test point is far from the training points: in {high:.0%} "
    "of the runs from {high_from:.2g} sigma on, in {low:.0%} up to {low_to:.2g} sigma.",
    UNSURE: "How far the test point is from the training points makes no difference that can be told to whether "
    "the net gets to the answer: {high:.1%} of the runs from {high_from:.2g} sigma on, {low:.1%} up to "
    "{low_to:.2g} sigma.",
}
_SPREAD = {
    YES: "But it is the spread that counts for that, and not the distance in units of it: from the smallest third "
    "of the spreads (up to {low_to:.2g}) to the largest (from {high_from:.2g} on) the share that gets to the "
    "answer goes from {small:.0%} to {large:.0%}; over the same spreads it is {near_by:.0%} with mu_1 below 1 and "
    "{far_out:.0%} above.",
    NO: "For that the spread does not count more than how far out the clusters are: from the smallest third of the "
    "spreads (up to {low_to:.2g}) to the largest (from {high_from:.2g} on) the share that gets to the answer goes "
    "from {small:.0%} to {large:.0%}; over the same spreads it is {near_by:.0%} with mu_1 below 1 and "
    "{far_out:.0%} above.",
    UNSURE: "Whether the spread counts more for that than how far out the clusters are cannot be told: from the "
    "smallest third of the spreads (up to {low_to:.2g}) to the largest (from {high_from:.2g} on) the share that "
    "gets to the answer goes from {small:.0%} to {large:.0%}; over the same spreads it is {near_by:.0%} with mu_1 "
    "below 1 and {far_out:.0%} above.",
}
_TIME = {
    YES: "The boundary moves with the time of the run, as sigma^2 T / C = 1 says: above that line "
    "{found_above:.0%} of the runs get to the answer, below it {found_below:.0%}, and it tells {by_time:.1%} of "
    "the runs wrong, where the best single spread, {border:.2g}, tells {by_spread:.1%} wrong. So small spreads "
    "take longer; they are not out of reach.",
    NO: "The boundary does not move with the time of the run as sigma^2 T / C = 1 says: above that line "
    "{found_above:.0%} of the runs get to the answer, below it {found_below:.0%}, and it tells {by_time:.1%} of "
    "the runs wrong, where the best single spread, {border:.2g}, tells {by_spread:.1%} wrong.",
    UNSURE: "Whether the boundary moves with the time of the run, as sigma^2 T / C = 1 says, cannot be told: above "
    "that line {found_above:.0%} of the runs get to the answer, below it {found_below:.0%}, and it tells "
    "{by_time:.1%} of the runs wrong, where the best single spread, {border:.2g}, tells {by_spread:.1%} wrong.",
}
_TRUNCATED = {
    YES: "Without training points near the test point there is less transient memorization: in {without_them:.0%} "
    "of the runs against {with_them:.0%} with them, over the same grid.",
    NO: "Without training points near the test point there is more transient memorization: in {without_them:.0%} "
    "of the runs against {with_them:.0%} with them, over the same grid. It does not come from their being there.",
    UNSURE: "Training points near the test point make no difference that can be told to transient memorization: "
    "{without_them:.1%} of the runs without them, {with_them:.1%} with them, over the same grid.",
}
_TRUNCATED_FOUND = {
    YES: "Without training points near the test point the net gets to the answer less often: in "
    "{found_without:.0%} of the runs against {found_with:.0%} with them, over the same grid.",
    NO: "Without training points near the test point the net gets to the answer more often: in {found_without:.0%} "
    "of the runs against {found_with:.0%} with them, over the same grid.",
    UNSURE: "Training points near the test point make no difference that can be told to whether the net gets to "
    "the answer: {found_without:.1%} of the runs without them, {found_with:.1%} with them, over the same grid.",
}


def _distance(of: str, heading: str) -> tuple[Diagram, Diagram]:
    """The diagram with all training points, and the one without those near the test point."""
    tail = f"-{of}" if of else ""
    two = (f"{PREFIX}distance{tail}", f"{PREFIX}distance-truncated{tail}")
    whole = (
        common("distance", of),
        fate("distance", of),
        along("distance", "x", _NEAR, _FAR, ".2g", of),
        Sentence(f"distance-scale{tail}", _SCALE, sql="distance-scale", either=True),
        Sentence(f"distance-found{tail}", _FOUND, sql="distance-found", either=True),
        *([Sentence(f"distance-spread{tail}", _SPREAD, sql="distance-spread")] if of else []),
    )
    truncated = (
        Sentence(f"distance-truncated{tail}", _TRUNCATED, two, "distance-truncated", either=True),
        Sentence(f"distance-truncated-found{tail}", _TRUNCATED_FOUND, two, "distance-truncated-found", either=True),
        along("distance", "x", _NEAR, _FAR, ".2g", f"truncated{tail}"),
    )
    return (
        Diagram(
            f"distance{tail}", f"{heading}", whole, lines=theory_lines.relu_distance if of else theory_lines.points_near
        ),
        Diagram(
            f"distance-truncated{tail}",
            f"{heading}, without training points near it",
            truncated,
            lines=theory_lines.points_near,
        ),
    )


DISTANCE = (
    *_distance("", "Distance of the test point in units of sigma, linear nets"),
    *_distance(_RELU, "Distance of the test point in units of sigma, ReLU nets"),
    Diagram(
        "spread-time-relu",
        "Spread against time of the run: ReLU nets",
        (
            common("spread-time", _RELU),
            fate("spread-time", _RELU),
            Sentence("spread-time-line", _TIME),
        ),
        lines=theory_lines.spread_needed,
    ),
)
