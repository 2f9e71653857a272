"""Contents of every report of a sweep over regression on fixed features: its curves, and the outcomes with maps."""

from __future__ import annotations

from swingby.model.reported import Curves, Reported

REPORT = Reported(
    companions=("fit", "predicted_fit", "test_error", "predicted_test_error", "gap", "phase"),
    titles={"fit": "What overfitting does", "predicted_fit": "What overfitting does, by theory"},
    curves=Curves(
        titles={
            "test_loss": "test loss",
            "signal_loss": "test loss by the signal",
            "noise_loss": "test loss by the noise",
            "train_loss": "training loss",
        },
        axis="loss",
        numbered="record, even in log(eta t)",
        title="Losses over time",
        caption="Losses at single points of the grid",
        reading=(
            "Records are spaced evenly in the logarithm of eta t, over `decades` powers of ten up to `end_time`. The "
            "fit is linear in the labels, so that those of the signal and of the noise are kept apart. Thick: the "
            "median over training sets; shaded: from 10 % to 90 % of them."
        ),
    ),
)
