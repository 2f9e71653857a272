"""Contents of every report of a sweep over a scalar net: curves, and the outcomes that have maps."""

from __future__ import annotations

from swingby.model.reported import Curves, Reported

_READING = (
    "Thick: the median over the seeds at each step. Shaded: from the 10 % to the 90 % quantile of the seeds, which is "
    "their spread and not a confidence interval. Thin: single seeds. "
)

WIDE = Reported(
    curves=Curves(
        titles={"loss": "loss"},
        axis="loss",
        title="Losses over training",
        caption="The loss c/2 E (theta - S)^2 at single points of the grid",
        reading=_READING + "A frozen kernel gives a straight line on this axis; a start that is small beside the "
        "target gives a plateau and then a fall.",
    ),
)
