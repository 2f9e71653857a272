"""How the sweeps over each experiment are reported: where their queries lie, and what is drawn unasked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swingby.errors import SwingbyError


@dataclass(frozen=True)
class Reported:
    """How the sweeps over one experiment are reported.

    Attributes:
        folder: where its queries lie in `analysis/sql`, with a slash at the end.
        companions: what is drawn beside the diagram that a sweep asks for.
        drawings: what is drawn of a sweep that names no drawings.
        points: whether the page shows the curves of the point that is pointed at, and the report those of examples.
    """

    folder: str
    companions: tuple[str, ...]
    drawings: tuple[str, ...] = ()
    points: bool = False


REPORTED: Mapping[str, Reported] = {
    "sim": Reported("", ("retreat", "outcome", "bump_height"), points=True),
    "diffusion": Reported(
        "diffusion/",
        ("learning_order", "color_first", "transient_bend", "bend", "transient_memorization", "color_first_by_trained",
         "transient_bend_by_trained"),
        ("concept_space", "concept_mse", "concept_speed", "training_loss", "sample_grid"),
    ),
}  # fmt: skip
"""By the name of the experiment."""


def reported(sweep: Mapping[str, Any]) -> Reported:
    """How a sweep is reported.

    Raises:
        SwingbyError: no report is drawn of its experiment.
    """
    name, experiment = sweep["name"], sweep["experiment"]
    if experiment not in REPORTED:
        known = ", ".join(REPORTED)
        raise SwingbyError(f"sweep {name!r} is over {experiment!r}; reports are drawn of sweeps over: {known}")
    return REPORTED[experiment]
