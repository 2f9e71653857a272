"""Scalar nets with exact laws: the wide net of Theorem 1 ([T] 6.2, 6.3), and a diagonal net that groks."""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"wide_scalar": "wide.experiment:WideScalar", "sparse_diagonal": "sparse.experiment:SparseDiagonal"},
    detectors={
        "wide_regime": "wide.detect.regime:WideRegime",
        "theorem_1": "wide.detect.theorem:Theorem1",
        "generalization": "sparse.detect.generalization:Generalization",
    },
    drawings={
        "laziness": "drawings.nets:Laziness",
        "modes": "drawings.nets:Modes",
        "test_times": "drawings.nets:TestTimes",
    },
    lines={
        "diagram-scalar-regime": "theory_lines:regimes",
        "diagram-scalar-start": "theory_lines:typical_regimes",
        "diagram-scalar-steps": "theory_lines:steps",
        "diagram-scalar-grokking": "theory_lines:critical_start",
        "diagram-scalar-recovery": "theory_lines:recovery",
    },
)
