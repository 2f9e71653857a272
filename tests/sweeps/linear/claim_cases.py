"""Predicates of the claims on `linear`, on made-up runs: each with runs that hold, and with near misses."""

from __future__ import annotations

from tests.support.claims import Case, Row


def usual(seed: int) -> Row:
    """A regression on Gaussian features with a short tail, as closed forms have it; its cell has no other name."""
    return {
        "seed": seed, "features": "gaussian", "kernel": "rbf", "tail": 1.0, "mode": 1, "alpha": 1.0,
        "n": 100, "p": 2000, "d": 10, "ridge": 0.0, "kappa": 0.01, "full_rank": True, "fit": "benign",
        "label_power": 1.0, "target_power": 2.0, "train_loss": [0.5, 1e-12], "test_loss": [0.5, 0.1],
        "final_test_loss": 0.1, "final_train_loss": 0.1, "predicted_train_loss": 0.1, "unseen_loss": 0.1,
        "predicted_test_error": 0.1, "test_error_bias": 0.0, "signal_error": 0.01, "predicted_signal_error": 0.01,
        "noise_gain": 0.1, "predicted_noise_gain": 0.1, "mean_noise_gain": 0.1, "exact_noise_gain": 0.1,
        "signal_time": 2.3, "predicted_signal_time": 2.3, "noise_time": 69.0, "predicted_noise_time": 69.0,
        "window_state": "open", "fit_window": 30.0, "predicted_fit_window": 30.0, "population_gap": 0.05,
        "largest_rate": 1.0, "gap": 0.01, "gap_error": 0.001, "theory_fits": True, "listed_modes": [1, 2],
        "learnability": [0.99, 0.5], "sample_learnability": [0.99, 0.5], "target_ratio": [0.99, 0.5],
        "sample_learned_modes": 100.0,
    }  # fmt: skip


def ten(strong: float, rising: bool = False) -> Row:
    """Ten listed sines of which the five stronger ones, the first or the last, have this learnability together."""
    strengths = [strong / 5] * 5 + [(4 - strong) / 5] * 5
    measured = strengths[::-1] if rising else strengths
    return {
        "features": "sine", "alpha": -8.0 if rising else 8.0, "listed_modes": list(range(1, 11)),
        "learnability": measured, "sample_learnability": measured, "target_ratio": measured,
    }  # fmt: skip


def moved(mode: int, by: float) -> list[float]:
    """The learnability of ten sines with that of one mode moved."""
    return [0.78 + by * (k == mode) for k in range(1, 6)] + [0.02 + by * (k == mode) for k in range(6, 11)]


def widths(*gains: float) -> list[Row]:
    """Runs at 100, 400 and 2000 features, with these energies of the fit to noise."""
    return [{"p": p, "noise_gain": gain} for p, gain in zip((100, 400, 2000), gains, strict=True)]


def points(*gaps: float) -> list[Row]:
    """Runs on 30, 120 and 480 points, with these distances from the population's curve."""
    return [{"n": n, "population_gap": gap} for n, gap in zip((30, 120, 480), gaps, strict=True)]


FITTED = {"train_loss": [0.5, 4.9e-11]}
SHORT = {"tail": 0.1}
PRINTED = {"tail": 100.0}
DATA = {"n": 480}
CASES = (
    Case("least-norm", [FITTED | {"test_loss": [0.5, 0.1009]}, FITTED | {"test_loss": [0.5, 0.0991]}],
         [{"test_loss": [0.5, 0.1011]}, {"test_loss": [0.5, 0.0989]}],
         [{"train_loss": [0.5, 5.1e-11], "test_loss": [0.5, 0.2]}]),
    Case("noise-time", [{}], [{"noise_time": 69 * 1.16}, {"noise_time": 69 * 0.84}], [PRINTED | {"noise_time": 1.0}]),
    Case("a-9-printed", [SHORT | {"signal_time": 0.045}, SHORT | {"signal_time": 0.012}],
         [{"signal_time": 0.047}, {"signal_time": 0.011}],
         [{"tail": 1.0, "signal_time": 2.3}]),
    Case("eq-1-26", points(0.2, 0.1, 0.05),
         [points(0.4, 0.2, 0.11), points(0.05, 0.05, 0.05), points(0.06, 0.055, 0.05)]),
    Case("signal-time", [{"signal_time": 1.01}, {"signal_time": 9.9}],
         [{"signal_time": 10.1}, {"signal_time": 0.99}], [{"tail": 10.0, "signal_time": 11.0}]),
    Case("window-printed", [PRINTED | {"noise_time": 19.91}], [{"noise_time": 19.89}],
         [{"tail": 1.0, "noise_time": 1.0}]),
    Case("algorithm-1", [DATA | {"largest_rate": 1.24}], [{"largest_rate": 1.26}, {"largest_rate": 0.74}],
         [{"n": 120, "largest_rate": 2.0}]),
    Case("algorithm-1-printed", [DATA | {"largest_rate": 1 / 480}],
         [{"largest_rate": 1.0}, {"largest_rate": 1.26 / 480}], [{"n": 120, "largest_rate": 1.0}]),
    Case("window", [{"window_state": "narrow"}], [{"window_state": "closed"}], [PRINTED | {"window_state": "closed"}]),
    Case("printed-ratio", [{"learnability": [0.021, 0.049], "target_ratio": [0.021, 0.059]}],
         [{"target_ratio": [0.063, 0.049]}, {"target_ratio": [0.021, 0.007]}],
         [{"learnability": [0.051, 0.019], "target_ratio": [0.99, 0.5]}]),
    Case("eq-1-36-small-tail", [{"sample_learnability": [0.901, 0.1]}], [{"sample_learnability": [0.899, 0.99]}],
         [PRINTED | {"sample_learnability": [0.5, 0.5]}]),
    Case("fig-1-2", [ten(3.61)], [ten(3.59)]),
    Case("fig-1-2", [ten(3.61, rising=True)], [[ten(3.59, rising=True)]]),
    Case("eq-1-35", [{}, {"features": "rademacher"}], [{"theory_fits": False}],
         [{"features": "sine", "theory_fits": False}, {"theory_fits": None}]),
    Case("eq-1-35-any-features", [{"features": "sine"}, {"features": "cosine"}], [{"theory_fits": False}],
         [{"features": "gaussian", "theory_fits": False}, {"features": "rademacher", "theory_fits": False}]),
    Case("eq-1-36-printed", [PRINTED | {"sample_learnability": [0.901, 0.1]}], [{"sample_learnability": [0.899, 0.99]}],
         [{"tail": 1.0, "sample_learnability": [0.5, 0.5]}]),
    Case("sum-rule", [{"sample_learned_modes": 100 + 9e-5}],
         [{"sample_learned_modes": 100 + 1.1e-4}, {"sample_learned_modes": 100 - 1.1e-4}],
         [{"full_rank": False, "sample_learned_modes": 90.0}]),

            Case("fig-1-2-numbers", [ten(3.9) | {"sample_learnability": moved(1, 0.049)},
          ten(3.9) | {"sample_learnability": moved(5, -0.7)}],
         [{"sample_learnability": moved(1, 0.051)}, {"sample_learnability": moved(4, -0.051)}]),
    Case("fig-1-2-numbers", [ten(3.9, rising=True) | {"sample_learnability": moved(0, 0.0)[::-1]}],
         [{"sample_learnability": moved(4, 0.051)[::-1]}]),
    Case("kernels", [{"gap": 0.029}], [{"gap": 0.031}]),
    Case("kernel-errors", [{"test_error_bias": 0.049}], [{"test_error_bias": 0.051}, {"test_error_bias": -0.051}]),
    Case("fig-1-4", widths(0.3, 0.2, 0.1), [widths(0.3, 0.1, 0.2), widths(0.2, 0.3, 0.1)]),
    Case("fig-1-5", [{"fit": "malignant"}], [{"fit": "benign"}, {"fit": "underfit"}]),
    Case("isotropic-waves", [{"features": "sine", "mean_noise_gain": 0.1049}],
         [{"mean_noise_gain": 0.1051}, {"mean_noise_gain": 0.0949}],
         [{"features": "gaussian", "mean_noise_gain": 1.0}]),
    Case("errors", [{"test_error_bias": 0.049}], [{"test_error_bias": 0.051}, {"test_error_bias": -0.051}]),
    Case("captions", [{}, {"mode": 10, "fit": "malignant"}], [{"fit": "underfit"}]),
    Case("fig-1-3", [{}], [{"fit": "malignant"}, {"fit": "underfit"}], [PRINTED | {"fit": "malignant"}]),
    Case("kernel-errors-unseen", [{"unseen_loss": 0.1049}], [{"unseen_loss": 0.1051}, {"unseen_loss": 0.0949}]),
    Case("isotropic", [{"mean_noise_gain": 0.1049}], [{"mean_noise_gain": 0.1051}, {"mean_noise_gain": 0.0949}],
         [{"exact_noise_gain": None, "mean_noise_gain": 1.0}]),
    Case("train-errors", [{"ridge": 1.0, "final_train_loss": 0.1049}],
         [{"final_train_loss": 0.1051}, {"final_train_loss": 0.0949}], [{"ridge": 0.0, "final_train_loss": 1.0}]),
    Case("fig-1-3-printed", [PRINTED], [{"fit": "malignant"}], [{"tail": 1.0, "fit": "malignant"}]),
)  # fmt: skip
CLAIMS = {"linear": ((usual, CASES),)}
