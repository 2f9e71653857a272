"""The diagrams of regression on fixed features on the page of findings: their headings, maps and lines of theory."""

from __future__ import annotations

from swingby_analysis.statements.diagram import Diagram, Map

from . import theory_lines

FIT = Map(
    "fit",
    "category",
    "What overfitting does",
    "most common kind",
    "Benign: B up to 0.05 and V up to 0.2; tempered: V up to 2; catastrophic: more; partial: B above 0.05; malignant: "
    "above 0.5. B is the share of the target that the fit to the signal misses, V the energy of the fit to unit noise. "
    "Lines: where theory has these borders, both levels with one dash; those of both targets are drawn in both panels. "
    "In the left one V tells between the lines of B of a strong mode; in the right one it is B of a mode of the tail.",
)
DIAGRAMS: tuple[Diagram, ...] = (
    Diagram(
        "linear",
        "linear-fit",
        "Tail against number of features: what overfitting does",
        (FIT, Map("predicted_fit", "category", "What overfitting does by theory")),
        theory_lines.kinds_of_fit,
    ),
    Diagram(
        "linear",
        "linear-gap",
        "Points against alpha: how far learnability is from theory, by features",
        (
            Map(
                "gap",
                "median",
                "Gap of learnability",
                "largest |L_k(D) - L_k|",
                "Largest over the modes that are listed; up to 0.02 theory is said to fit. Blank: the rank of the "
                "sample's kernel is lost in rounding, "
                "and learnabilities cannot be measured.",
                ticks=(0.001, 0.005, 0.02, 0.1, 0.5),
            ),
        ),
    ),
    Diagram(
        "linear",
        "linear-time",
        "Time against tail: what is fitted by when",
        (Map("phase", "category", "What is fitted"), Map("predicted_phase", "category", "What is fitted by theory")),
        theory_lines.times,
    ),
    Diagram(
        "linear",
        "linear-ridge",
        "Ridge against noise: the error, and the best ridge by theory",
        (
            Map(
                "test_error",
                "median",
                "Error",
                "E |f^ - f*|^2/|f*|^2",
                "Blank: errors above 1, worse than no fit. Lines: the best ridge by theory, for both targets in both "
                "panels; there is none where the error still falls at the least ridge of the grid.",
                where="test_error <= 1",
            ),
            Map("test_error_bias", "mean", "How far theory's error is off", "error over theory's, less 1"),
        ),
        theory_lines.best_ridges,
    ),
    Diagram(
        "linear",
        "linear-kernel",
        "Kernels on digits: learning curves by bandwidth",
        (
            Map("test_error", "median", "Error over all images", "E |f^ - f*|^2/|f*|^2"),
            Map("predicted_test_error", "median", "Error by theory", "E |f^ - f*|^2/|f*|^2"),
        ),
    ),
)
