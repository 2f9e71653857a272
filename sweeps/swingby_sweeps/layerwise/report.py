"""Contents of every report of a sweep over layerwise models: the loss over training, and the outcomes with maps."""

from __future__ import annotations

from swingby.model.reported import Curves, Reported
from swingby_sweeps.dynamics.shells import BAND

_READING = (
    f"{BAND}Thin: single seeds. A plateau with a fall behind it is a mode that waits and is learned then; one for each "
    "mode where they come in stages."
)


def _loss(of: str) -> Curves:
    return Curves(
        titles={"loss": "loss"},
        axis="loss",
        title="Losses over training",
        caption=f"The loss of {of} at single points of the grid",
        reading=_READING,
    )


MODES = Reported(
    companions=("fate", "stages", "overlap", "in_order", "law_error"),
    titles={
        "fate": "What becomes of the modes",
        "stages": "How many pairs of modes are learned in stages",
        "in_order": "Where modes are learned in the order of E_i",
        "law_error": "By how much the closed forms miss a time",
    },
    curves=_loss("all modes"),
)
NETS = Reported(
    companions=("fate", "order_follows_rho", "rank", "decoupling_error", "law_error", "final_kernel_distance"),
    titles={
        "fate": "What becomes of the nets",
        "order_follows_rho": "Where modes are learned in the order of rho",
        "rank": "How many modes are learned",
        "decoupling_error": "By how much the naive law misses a time",
        "law_error": "By how much the law with Gram-Schmidt misses a time",
        "final_kernel_distance": "How far the tangent kernel turns",
    },
    curves=_loss("linear nets"),
)
