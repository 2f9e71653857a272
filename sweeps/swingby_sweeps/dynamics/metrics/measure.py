"""Every metric of a last layer by one call, as a flat record of numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from swingby.function.values import as_array

from .arrays import (
    LEAST,
    classes_of,
    exponent,
    no_points,
    numbers,
    of_size_one,
    one_hot,
    sample,
    warn_if_few,
)
from .collapse import NAMES as COLLAPSE
from .collapse import Collapse, collapses
from .learned import Operator, centred, kappas
from .spectrum import InnerProducts, decomposed

COLUMNS = {
    "kappa_cka": "1 - CKA of the features' kernel and the projection onto the learned space; 0: minimum features",
    "evenness": "1 where the features reach every direction of the learned space with one intensity",
    "containment": "1 where no feature lies outside of the learned space",
    "learned_rank": "dimensions of the learned space beside the constant",
    "target_rank": "dimensions that the targets span beside the constant: of classes one less than there are",
    "modes": "directions of the learned space that the features reach, learned_rank x evenness^2",
    "output_variance": "variance of the outputs over points, over that of the targets",
    "d_eff_intensity": "effective dimension of the intensities, the first counted as one",
    "d_eff_quality": "effective dimension of the quality",
    "d_eff_quality_adjusted": "effective dimension of the quality without what features fit by chance",
    "d_eff_utilization": "effective dimension of the utilization",
    "quality_at_classes": "quality of the first features together, as many as there are classes",
    "utilization_at_classes": "utilization of the first features together, as many as there are classes",
    "constant_overlap": "|<e_1 | 1>|: 1 where the strongest feature is constant",
    "nc1": "variability of the features within classes over that between classes, on the training points",
    "cdnv": "variance within two classes over their distance, mean over pairs, on the training points",
    "nc2": "distance of the class means' Gram matrix to a simplex, on the training points",
    "nc2_norms": "spread of the norms of the class means over their mean, on the training points",
    "nc2_angles": "mean distance of the cosines between class means to -1/(C - 1), on the training points",
    "nc3": "distance of the last layer's weights and the class means, both of norm 1, on the training points",
    "nc3_self_dual": "distance of W M^T to a simplex, on the training points",
    "nc4": "share of training points whose largest output is not that of the nearest class mean",
}
"""Names of the numbers and what they mean, as columns of an experiment."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of a last layer on one sample, as `COLUMNS` says them; None: there is no such number.

    Attributes:
        reasons: name -> why it is None, of those that are.
    """

    kappa_cka: float | None = None
    evenness: float | None = None
    containment: float | None = None
    learned_rank: int | None = None
    target_rank: int | None = None
    modes: float | None = None
    output_variance: float | None = None
    d_eff_intensity: float | None = None
    d_eff_quality: float | None = None
    d_eff_quality_adjusted: float | None = None
    d_eff_utilization: float | None = None
    quality_at_classes: float | None = None
    utilization_at_classes: float | None = None
    constant_overlap: float | None = None
    nc1: float | None = None
    cdnv: float | None = None
    nc2: float | None = None
    nc2_norms: float | None = None
    nc2_angles: float | None = None
    nc3: float | None = None
    nc3_self_dual: float | None = None
    nc4: float | None = None
    reasons: dict[str, str] = field(default_factory=dict)

    def numbers(self) -> dict[str, float | None]:
        """Every number by name, without the reasons."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "reasons"}


SPECTRAL = tuple(COLUMNS)[7:14]
"""Those that need a spectrum."""


SAMPLES = (None, "train", "test")
"""Whose points features are measured at: of the only sample, or of one of two."""


def as_columns(metrics: Metrics, sample: str | None = None, spectrum: bool = True) -> dict[str, float | None]:
    """The numbers of one sample by the names of columns.

    Args:
        metrics: those of the sample; `Metrics()` for the names.
        sample: "train": every name but those of neural collapse gets the prefix `train_`. "test": without neural
            collapse, which is of training points. None: there is one sample, and no prefix.
        spectrum: whether those that need a spectrum are among them.
    """
    return {
        f"train_{name}" if sample == "train" and name not in COLLAPSE else name: value
        for name, value in metrics.numbers().items()
        if (spectrum or name not in SPECTRAL) and (sample != "test" or name not in COLLAPSE)
    }


def measure(
    phi: Any,
    outputs: Any,
    labels: Any,
    weights: Any = None,
    *,
    spectrum: bool = True,
    collapse: bool = True,
    strict: bool = True,
    operator: Operator = "projection",
    inner_products: InnerProducts = "same",
    train_phi: Any = None,
) -> Metrics:
    """Every metric of the features at the points of one sample.

    Args:
        phi: inputs of the last layer at n points, (n, p).
        outputs: its outputs at these points, (n, C); (n, 1) or (n,) for a single one.
        labels: the class of each point, whole numbers from 0, (n,); or targets as numbers, (n, C), which have a quality
            and no collapse; then an output is a number, and no class.
        weights: the last layer's weights, (C, p), for NC3.
        spectrum: whether intensities, quality and utilization are taken, by an SVD of `phi`: the costly part.
        collapse: whether neural collapse is taken, which is about the points and labels that the net is trained on.
        strict: whether a class without a point is an error; else what needs one is None, with that as its reason.
        operator: see `kappa`.
        inner_products: see `spectrum`.
        train_phi: see `spectrum`.

    Warns:
        FeaturesWarning: there are fewer than 4 points a feature.

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, or, if `strict`, a class without a point.
    """
    warn_if_few(*numbers(phi, "phi", (2,), "(points, features)").shape)
    options: dict[str, Any] = {"spectrum": spectrum, "collapse": collapse, "strict": strict, "operator": operator}
    return measured(phi, outputs, labels, weights, **options, inner_products=inner_products, train_phi=train_phi)


def measured(
    phi: Any, outputs: Any, labels: Any, weights: Any = None, *, train_phi: Any = None, **options: Any
) -> Metrics:
    """`measure` without its warning.

    Raises:
        ValueError: as `measure`.
    """
    phi, outputs = sample(phi, outputs, stacked=False)
    weights, other = (None if each is None else as_array(each)[None] for each in (weights, train_phi))
    return measures(phi[None], outputs[None], as_array(labels)[None], weights, train_phi=other, **options)[0]


def measures(
    phi: Any,
    outputs: Any,
    labels: Any,
    weights: Any = None,
    *,
    spectrum: bool = True,
    collapse: bool = True,
    strict: bool = True,
    operator: Operator = "projection",
    inner_products: InnerProducts = "same",
    train_phi: Any = None,
) -> list[Metrics]:
    """`measure` of each of several nets at once, each array with an axis of cells in front; it does not warn.

    Raises:
        ValueError: as `measure`.
    """
    phi, outputs = sample(phi, outputs, stacked=True)
    labels = numbers(labels, "labels", (2, 3), "(points,), classes, or (points, targets), numbers")
    numeric = labels.ndim == 3
    if labels.shape[:2] != phi.shape[:2]:
        raise ValueError(f"labels has {labels.shape[1]} points and phi {phi.shape[1]}; both have to be equal")
    if not numeric:
        classes = outputs.shape[-1] if outputs.shape[-1] > 1 else int(labels.max()) + 1
        labels = classes_of(labels, phi.shape[:2], classes)
    if collapse and not numeric:
        collapsed = collapses(phi, outputs, labels, weights, strict)
    else:
        why = "the targets are numbers, and no classes" if numeric else "it was not asked for"
        collapsed = [Collapse(reasons=dict.fromkeys(COLLAPSE, why))] * len(phi)
    metrics = []
    for k, near in enumerate(kappas(phi, outputs, operator, classes=not numeric)):
        variance, why_none = _output_variance(outputs[k], labels[k])
        values: dict[str, Any] = {
            "kappa_cka": near.kappa,
            "evenness": near.evenness,
            "containment": near.containment,
            "learned_rank": near.rank,
            "target_rank": _target_rank(labels[k], outputs.shape[-1]),
            "modes": None if near.evenness is None else near.rank * near.evenness**2,
            "output_variance": variance,
            **{name: getattr(collapsed[k], name) for name in COLLAPSE},
        }
        reasons = dict(collapsed[k].reasons)
        if variance is None:
            reasons["output_variance"] = why_none
        if near.reason:
            reasons |= dict.fromkeys(("kappa_cka", "evenness", "containment", "modes"), near.reason)
        elif near.evenness is None:
            why = "no feature is in the learned space" if operator == "projection" else f"operator {operator} has none"
            reasons |= {name: why for name in ("evenness", "containment", "modes") if values[name] is None}
        if spectrum:
            other = None if train_phi is None else as_array(train_phi)[k]
            spectral, why = _spectral(phi[k], outputs[k], labels[k], inner_products, other, strict)
            values, reasons = values | spectral, reasons | why
        else:
            reasons |= dict.fromkeys(SPECTRAL, "it was not asked for")
        metrics.append(Metrics(**values, reasons=reasons))
    return metrics


def _target_rank(labels: np.ndarray, outputs: int) -> int:
    """Dimensions of the targets beside the constant; no more than so many outputs can span."""
    if labels.ndim == 1:
        return min(len(np.unique(labels)) - 1, max(outputs - 1, 1))
    targets = of_size_one(labels)
    s = np.linalg.svd(centred(targets), compute_uv=False)
    return min(int(((s > LEAST * s[0]) & (s > LEAST * np.linalg.norm(targets))).sum()), outputs)


def _output_variance(outputs: np.ndarray, labels: np.ndarray) -> tuple[float | None, str]:
    """The outputs' variance over the points beside that of one-hot labels, or of targets that are numbers; or None, and
    why."""
    several = outputs.shape[1] > 1 and labels.ndim == 1
    targets = one_hot(labels, outputs.shape[1]) if several else labels.reshape(len(labels), -1).astype(np.float64)
    size, spread = ((centred(of_size_one(array)) ** 2).sum() for array in (outputs, targets))
    if not spread > 0:
        return None, "the targets are constant over the points"
    with np.errstate(over="ignore"):
        variance = np.ldexp(size / spread, 2 * int((exponent(outputs) - exponent(targets)).item()))
    return (float(variance), "") if np.isfinite(variance) else (None, "the outputs are larger than a number can tell")


def _spectral(
    phi: np.ndarray, outputs: np.ndarray, labels: np.ndarray, inner_products: InnerProducts, other: Any, strict: bool
) -> tuple[dict[str, float | None], dict[str, str]]:
    """What an SVD tells of one net, and why some of it is None."""
    if not np.any(phi):
        return {}, dict.fromkeys(SPECTRAL, "the features are 0 throughout")
    targets, why = labels, None
    if labels.ndim == 1:
        classes = outputs.shape[1] if outputs.shape[1] > 1 else int(labels.max()) + 1
        why = no_points(classes_of(labels, phi.shape[:1], classes), classes)
        # Intensities and utilization ask for no targets: with another class there is the rest.
        targets = np.ones((len(phi), 1)) if why and not strict else labels
    else:
        classes = labels.shape[1]
        if not np.any(labels):
            why, targets = "the targets are 0 throughout", np.ones((len(phi), 1))
    known = labels.ndim == 1
    s = decomposed(phi, outputs, targets, inner_products=inner_products, train_phi=other, classes=known)
    columns: dict[str, float | None] = {
        "d_eff_intensity": s.d_eff_intensity,
        "d_eff_quality": s.d_eff_quality,
        "d_eff_quality_adjusted": s.d_eff_quality_adjusted if s.points > 2 else None,
        "d_eff_utilization": s.d_eff_utilization,
        "quality_at_classes": s.quality_up_to(classes),
        "utilization_at_classes": s.utilization_up_to(classes),
        "constant_overlap": s.constant_overlap,
    }
    reasons: dict[str, str] = {}
    for name in ("d_eff_quality", "d_eff_quality_adjusted", "quality_at_classes"):
        if why:
            columns[name] = None
        if columns[name] is None:
            reasons[name] = why or "the features express nothing of the targets"
    if columns["d_eff_utilization"] is None:
        reasons["d_eff_utilization"] = "the features express neither a constant nor the outputs"
    return columns, reasons
