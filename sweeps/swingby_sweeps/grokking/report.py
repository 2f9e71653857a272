"""What every report of a sweep over `mlp_regimes` draws and says."""

from __future__ import annotations

from swingby.model.reported import Curves, Reported
from swingby_sweeps.dynamics.shells import BAND

REPORT = Reported(
    companions=(
        *("generalization", "delay", "final_test_accuracy", "final_kappa", "final_feature_change"),
        *("regime", "end_kappa", "end_evenness", "end_containment"),
    ),
    titles={
        "generalization": "When the runs generalise",
        "delay": "How long the test accuracy lags behind",
        "final_kappa": "kappa on training points",
    },
    curves=Curves(
        titles={"test_loss": "test loss", "train_loss": "training loss"},
        axis="mean squared error",
        title="Losses over training",
        caption="Losses on training and test points at single points of the grid",
        reading=(
            f"{BAND}Thin: the test loss of each seed. Steps are spaced as log(1 + step), so that step 0 is on the "
            "axis; one step is one mini-batch."
        ),
    ),
    decides="delay",
)
