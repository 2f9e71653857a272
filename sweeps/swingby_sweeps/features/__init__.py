"""Features of the last layer of nets that classify: what moves them into the minimum feature regime, after the thesis
on layerwise linear models [T], 2.4 and 7; and features that are free parameters, 3.5.2."""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"features": "experiment:Features", "unconstrained": "unconstrained.experiment:Unconstrained"},
    detectors={
        "features": "detect.features:Features",
        "unconstrained_fate": "unconstrained.detect.fate:UnconstrainedFate",
    },
    general=("features",),
    drawings={
        "learning_curve": "drawings.learning_curve:LearningCurve",
        "regime_plane": "drawings.regime_plane:RegimePlane",
        "spectra": "drawings.spectra:Spectra",
        "tightness": "drawings.tightness:Tightness",
    },
    lines={
        "diagram-features-lr-decay": "theory_lines:constant_above",
        "diagram-features-collapse": "theory_lines:constant_above",
        "diagram-features-target-width": "theory_lines:root_of_width",
        "diagram-unconstrained-decays": "unconstrained.theory_lines:boundary",
    },
)
