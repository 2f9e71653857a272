"""What is recorded of a net: its fit, and the metrics of its features on test and training points.

The metrics are those of `dynamics.metrics`, which are in [T]: kappa, evenness and containment from Definition 2 and
(2.9), the operator "printed" as (2.3) has it; intensities rho (1.29), quality Q* (2.3) and Pi* (2.4), utilization U^
(2.5) without the square that is printed there, effective dimensions (1.16) and (2.6), Algorithm 1 by an SVD, inner
products of other points as (1.34) prints them, and NC1 from (D.4) and (D.5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from swingby_sweeps.dynamics.metrics import Spectrum, effective_dimension, measures
from swingby_sweeps.dynamics.metrics.spectrum import FAINT, from_eigenfunctions, targets_basis

from .columns import COLLAPSE, MEASURES, SETS, SPECTRA
from .data import Points
from .losses import accuracy, value
from .params import FeaturesParams

Array = np.ndarray
_KAPPA = ("kappa_cka", "evenness", "containment", "learned_rank", "target_rank", "modes")


@dataclass(frozen=True)
class Sample:
    """A net at the points of one sample, float64: features (n, p) and outputs (n, C), less those of the start if these
    are subtracted."""

    phi: Array
    f: Array


def fit(p: FeaturesParams, train: Points, test: Points, at_train: Sample, at_test: Sample) -> dict[str, float]:
    """Losses, accuracies, and the variance of the outputs over that of the target."""
    numbers = dict[str, float]()
    for name, points, sample in (("train", train, at_train), ("test", test, at_test)):
        numbers[f"{name}_loss"] = value(p, sample.f, points.y, points.labels)
        numbers[f"{name}_accuracy"] = accuracy(p, sample.f, points.labels)
    target = float(train.y.var(0).sum())
    with np.errstate(over="ignore", invalid="ignore"):
        numbers["output_variance"] = float(at_train.f.var(0).sum()) / target if target > 0 else np.nan
    return numbers


def features(
    p: FeaturesParams, train: Points, test: Points, at_train: Sample, at_test: Sample, weights: Array
) -> dict[str, float]:
    """Metrics of the features on both samples, nan where one does not exist.

    Args:
        weights: of the last layer, (C, p).
    """
    columns = dict.fromkeys(COLLAPSE, np.nan)
    for prefix, points, sample in (("", test, at_test), ("train_", train, at_train)):
        assert prefix in SETS
        classes = p.outputs > 1 and prefix == "train_"
        numbers: dict[str, Any] = measures(
            sample.phi[None],
            sample.f[None],
            points.labels[None],
            weights[None],
            spectrum=False,
            collapse=classes,
            strict=False,
        )[0].numbers()
        numbers |= spectral(p, spectrum(p, points, sample))
        columns |= {f"{prefix}{name}": _number(numbers[name]) for name in MEASURES}
        if classes:
            columns |= {name: _number(numbers[name]) for name in COLLAPSE}
    return columns


def spectral(p: FeaturesParams, s: Spectrum | None) -> dict[str, float | None]:
    """Effective dimensions of a spectrum, and what its first C eigenfunctions express.

    Of a step all intensities count alike in D_eff(rho), since [T] does not set the first one apart there.
    """
    if s is None:
        return dict.fromkeys(set(MEASURES) - set(_KAPPA))
    whole = effective_dimension(s.intensities)
    return {
        "d_eff_intensity": whole if p.data == "step" else s.d_eff_intensity,
        "d_eff_quality": s.d_eff_quality,
        "d_eff_utilization": s.d_eff_utilization,
        "quality_at_classes": s.quality_up_to(p.outputs),
        "utilization_at_classes": s.utilization_up_to(p.outputs),
        "constant_overlap": s.constant_overlap,
    }


def spectrum(p: FeaturesParams, points: Points, sample: Sample) -> Spectrum | None:
    """Intensities, quality and utilization by the eigenvalues of Phi^T Phi, a tenth of the time of an SVD of Phi; None
    where all features are 0.

    Where a class has no point the targets are those of the other classes. Of a step the utilization is that of the
    learned function alone, as in [T] 1.5.3: there the constant is no feature of its own.
    """
    squares, v = np.linalg.eigh(sample.phi.T @ sample.phi)
    squares, v = squares[::-1], v[:, ::-1]
    if not squares[0] > 0:
        return None
    alive = squares >= FAINT * squares[0]
    unit = sample.phi @ (v[:, alive] / np.sqrt(squares[alive]))
    there = np.bincount(points.labels) > 0
    target = targets_basis(points.y if p.outputs == 1 else (there.cumsum() - 1)[points.labels], len(unit), 1)
    measured = from_eigenfunctions(squares[alive] / len(unit), unit, sample.f, target)
    size = float((sample.f**2).sum())
    if p.data != "step" or not size > 0:
        return measured
    return replace(measured, utilization=(unit.T @ sample.f)[:, 0] ** 2 / size)


def spectra(s: Spectrum | None, p: int) -> list[Array]:
    """The first entries of intensities, quality and utilization, as many at every step: 0 where there is no feature.

    Args:
        p: the number of features.
    """
    curves = [np.zeros(min(p, SPECTRA)) for _ in range(3)]
    for out, part in zip(curves, () if s is None else (s.intensities, s.quality, s.utilization), strict=False):
        out[: len(part)] = part[:SPECTRA]
    return curves


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
