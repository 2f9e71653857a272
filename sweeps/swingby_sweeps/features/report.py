"""What every report of a sweep over `features` draws and says."""

from __future__ import annotations

from swingby.model.reported import Curves, Reported
from swingby_sweeps.dynamics.metrics import MINIMUM
from swingby_sweeps.dynamics.shells import BAND

LEARNED = ("minimum_features", "runs that diverge, are constant or have not learned are left out")
REPORT = Reported(
    companions=("regime", "end_kappa", "end_evenness", "end_containment", "collapse"),
    drawings=("regime_plane",),
    titles={"regime": "Which features are left", "end_kappa": "kappa of the test sample at the end"},
    among={"end_kappa": LEARNED, "end_evenness": LEARNED, "end_containment": LEARNED},
    doubted={"regime": "regime_certain"},
    curves=Curves(
        titles={"kappa_cka": "kappa on test points", "train_kappa_cka": "kappa on training points"},
        axis="kappa = 1 - CKA",
        level=MINIMUM,
        title="Kappa over training",
        caption="Kappa on test and training points at single points of the grid; dashed: 0.1",
        reading=(
            f"{BAND}Thin: kappa on the test points of each seed. Steps are spaced as log(1 + step), so that step 0 is "
            "on the axis; one step is one mini-batch."
        ),
    ),
)
