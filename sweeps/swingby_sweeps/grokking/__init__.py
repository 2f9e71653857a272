"""Grokking, collapse and laziness of small tanh nets on handwritten digits, after the thesis on layerwise linear models
[T], 2.3, 3.5.3 and 6.4."""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"mlp_regimes": "experiment:MlpRegimes"},
    detectors={"regimes": "detect.regimes:Regimes"},
    drawings={"generalization_curves": "drawings.generalization_curves:GeneralizationCurves"},
    lines={
        "diagram-weight-target": "theory_lines:as_large",
        "diagram-weight-target-fine": "theory_lines:as_large",
        "diagram-weight-output": "theory_lines:as_large",
        "diagram-weight-output-fine": "theory_lines:as_large",
    },
)
