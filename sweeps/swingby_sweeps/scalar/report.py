"""Contents of every report of a sweep over a scalar net: curves, and the outcomes that have maps."""

from __future__ import annotations

from swingby.model.reported import Curves, Reported
from swingby_sweeps.dynamics.shells import BAND, preset

THESIS = preset("The conventions of [T] 6: mean squared error with its factor 1/2, and the defaults of the parameters.")

_READING = f"{BAND}Thin: single seeds. "

WIDE = Reported(
    companions=("regime", "descent", "gamma_end"),
    curves=Curves(
        titles={"loss": "loss"},
        axis="loss",
        title="Losses over training",
        caption="The loss c/2 E (theta - S)^2 at single points of the grid",
        reading=_READING + "A frozen kernel gives a straight line on this axis; a start that is small beside the "
        "target gives a plateau and then a fall.",
    ),
)

SPARSE = Reported(
    companions=("fate", "delay"),
    drawings=("test_times",),
    curves=Curves(
        titles={"test_error": "test error", "train_error": "train error"},
        axis="share of the target",
        level=0.05,
        title="Errors over training",
        caption="Train and test error at single points of the grid",
        reading=_READING + "Stops are evenly spaced in the log of the flow time over the last eight decades of the "
        "run. Dashed: the test error of .05 at or below which a run generalizes; it has fitted its points at .01.",
    ),
)
