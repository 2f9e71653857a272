"""Regression on fixed features in closed form ([T] chapter 1): learnability, benign and malignant overfitting."""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"linear": "experiment:Linear"},
    detectors={
        "overfitting": "detect.overfitting:Overfitting",
        "learnability_gap": "detect.learnability:LearnabilityGap",
        "fitting_phases": "detect.phases:FittingPhases",
    },
    drawings={
        "learnabilities": "drawings.lines:Learnabilities",
        "fit_over_time": "drawings.lines:FitOverTime",
    },
    lines={
        "diagram-linear-fit": "theory_lines:kinds_of_fit",
        "diagram-linear-time": "theory_lines:times",
        "diagram-linear-ridge": "theory_lines:best_ridges",
    },
)

# Named sweeps: sweeps/figures has one for each figure of [T] chapter 1 that shows runs, sweeps/claims those that claims
# need beyond, sweeps/diagrams the diagrams of the page of findings, sweeps/fresh other points and seeds for these.
#
# archive/ holds the results of sweeps/diagrams and sweeps/fresh, written by `swingby pack SWEEPS --out
# sweeps/swingby_sweeps/linear/archive --curves 0 --digits 5`. If a sweep or a detector changes, its file has to be
# written anew.
