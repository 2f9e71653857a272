"""How the sweeps over each experiment are reported: what is drawn unasked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reported:
    """How the sweeps over one experiment are reported.

    Attributes:
        companions: what is drawn beside the diagram that a sweep asks for; None: every outcome.
        drawings: what is drawn of a sweep that names no drawings.
        points: whether the page shows the curves of the point that is pointed at, and the report those of examples.
    """

    companions: tuple[str, ...] | None = None
    drawings: tuple[str, ...] = ()
    points: bool = False


REPORTED: Mapping[str, Reported] = {
    "sim": Reported(("retreat", "outcome", "bump_height"), points=True),
    "diffusion": Reported(
        ("learning_order", "color_first", "transient_bend", "bend", "transient_memorization", "color_first_by_trained",
         "transient_bend_by_trained"),
        ("concept_space", "concept_mse", "concept_speed", "training_loss", "sample_grid"),
    ),
}  # fmt: skip
"""By the name of the experiment."""
ANY = Reported()
"""Of any other: diagrams of all that its detectors tell."""


def reported(experiment: str) -> Reported:
    """How the sweeps over an experiment are reported."""
    return REPORTED.get(experiment, ANY)
