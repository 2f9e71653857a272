"""What a report of a sweep over diffusion runs draws and says unasked."""

from __future__ import annotations

from swingby.model.reported import Reported

REPORT = Reported(
    companions=(
        "learning_order", "color_first", "transient_bend", "bend", "transient_memorization", "color_first_by_trained",
        "transient_bend_by_trained",
    ),
    drawings=("concept_space", "concept_mse", "concept_speed", "training_loss", "sample_grid"),
    summary=f"{__name__.rpartition('.')[0]}.summary:sentences",
    summed=("learning_order", "learning_order_by_trained"),
)  # fmt: skip
