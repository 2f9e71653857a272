"""Contents of every report of a sweep over SIM: curves, planes of two concepts, and the outcomes that have maps."""

from __future__ import annotations

from swingby.model.reported import Curves, Landmark, Plane, Reported
from swingby_sweeps.dynamics.shells import BAND

OOD_LOSS, TRAINING_LOSS = "OOD loss", "training loss"
"""Names of the curves in figures."""
GENERALIZED = 0.01
"""Final OOD loss over L_ref at or below which a run counts as generalized."""
LANDMARKS = (
    Landmark("training", 1, 0),
    Landmark("training", 0, 1),
    Landmark("training", 0, 0, where="zero_cluster"),
    Landmark("test point", 1, 1, target=True),
)
"""The centres of the training clusters, and the test point, over mu."""

REPORT = Reported(
    companions=("retreat", "outcome", "bump_height", "regime", "end_kappa", "end_evenness", "end_containment"),
    titles={"outcome": "What became of the runs"},
    curves=Curves(
        titles={"ood_loss": OOD_LOSS, "train_loss": TRAINING_LOSS},
        axis="loss / L_ref",
        unit="l_ref",
        of_unit=" of L_ref",
        level=GENERALIZED,
        title="Losses over training",
        caption="OOD loss (at the test point) and training loss at single points of the grid",
        reading=(
            f"{BAND}Thin: the OOD loss of each seed; a bump that comes "
            "at different times is flatter in the median than in the runs. Dashed: 1 % of L_ref, at or below which a "
            "run counts as generalized. L_ref is half the squared length of the test point. Steps are spaced as "
            "log(1 + step), so that step 0 is on the axis. Losses below 0.001 are cut off. Of more than 100 seeds "
            "at a point, the first 100 are drawn."
        ),
    ),
    plane=Plane(
        curve="output",
        entries="s",
        unit="mu",
        entry="concept",
        axis="output along concept {} (1 = right)",
        landmarks=LANDMARKS,
        title="Where the output goes",
        caption="The output at the test point in the plane of concepts {} and {}",
        reading=(
            "The output at the test point, each concept in units of its own mu: (1, 1) is the right answer (diamond); "
            "the centres of the training clusters (squares) are right in one concept at most. Thick: the median over "
            "the seeds, coordinate by coordinate, with dots at equal intervals of training steps, so that dots far "
            "apart mean fast. Thin: the single seeds. Of more than 100 seeds at a point, the first 100 are drawn."
        ),
    ),
    decides="bump_height",
    doubted={"outcome": "certain"},
)
