"""Neural collapse: how far the features of a training set are one point a class, as far apart as can be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swingby.function.values import as_array

from .arrays import LEAST, classes_of, no_points, numbers, of_size_one, one_hot, sample


@dataclass(frozen=True, slots=True)
class Collapse:
    """The four measures of neural collapse and what stands beside them; 0 is a full collapse (Papyan et al. 2020).

    Attributes:
        nc1: Tr(Sigma_W Sigma_B^+) / C, variability within classes over that between them.
        cdnv: mean over pairs of classes of (var_i + var_j) / (2 |mu_i - mu_j|^2) (Galanti et al. 2022).
        nc2: distance of the class means' Gram matrix to a simplex, both of norm 1.
        nc2_norms: standard deviation of the norms of the class means over their mean.
        nc2_angles: mean over pairs of |cos + 1/(C - 1)|.
        nc3: distance of weights and class means, both of norm 1; the mean over classes is taken from both.
        nc3_self_dual: distance of W M^T to a simplex, both of norm 1; far smaller than `nc3` where that is not small.
        nc4: share of points whose largest output is not that of the nearest class mean.
        reasons: name -> why it is None.
    """

    nc1: float | None = None
    cdnv: float | None = None
    nc2: float | None = None
    nc2_norms: float | None = None
    nc2_angles: float | None = None
    nc3: float | None = None
    nc3_self_dual: float | None = None
    nc4: float | None = None
    reasons: dict[str, str] = field(default_factory=dict)


NAMES = ("nc1", "cdnv", "nc2", "nc2_norms", "nc2_angles", "nc3", "nc3_self_dual", "nc4")


def collapse(phi: Any, outputs: Any, labels: Any, weights: Any = None, strict: bool = True) -> Collapse:
    """Neural collapse of features on the points and labels that the net is trained on.

    Args:
        phi: inputs of the last layer at n points, (n, p).
        outputs: its outputs at these points, (n, C); with one output, (n, 1) or (n,), classes are those of the labels.
        labels: the class of each point, whole numbers from 0, (n,).
        weights: the last layer's weights, (C, p); None: NC3 is not taken.
        strict: whether a class without a point is an error; else every quantity is None, with that as its reason.

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, or, if `strict`, a class without a point.
    """
    weights = None if weights is None else as_array(weights)[None]
    return collapses(as_array(phi)[None], as_array(outputs)[None], as_array(labels)[None], weights, strict)[0]


def collapses(phi: Any, outputs: Any, labels: Any, weights: Any = None, strict: bool = True) -> list[Collapse]:
    """`collapse` of each of several nets at once, each array with an axis of cells in front.

    Raises:
        ValueError: as `collapse`.
    """
    phi, outputs = sample(phi, outputs, stacked=True)
    labels = numbers(labels, "labels", (2,), "(points,), the number of a class for each point")
    classes = outputs.shape[-1] if outputs.shape[-1] > 1 else int(labels.max()) + 1
    labels = classes_of(labels, phi.shape[:-1], classes)
    if weights is not None:
        weights = numbers(weights, "weights", (3,), "(classes, features)")
        expected = (len(phi), outputs.shape[-1], phi.shape[-1])
        if weights.shape != expected:
            raise ValueError(f"weights has shape {weights.shape[1:]}; allowed: {expected[1:]}, (outputs, features)")
    faults = [no_points(each, classes) for each in labels]
    if strict and any(faults):
        raise ValueError(next(fault for fault in faults if fault))
    if classes < 2:
        faults = ["all points have one label"] * len(phi)
    return [
        Collapse(reasons=dict.fromkeys(NAMES, fault))
        if fault
        else _collapse(phi[k], outputs[k], labels[k], classes, None if weights is None else weights[k])
        for k, fault in enumerate(faults)
    ]


def _collapse(
    phi: np.ndarray, outputs: np.ndarray, labels: np.ndarray, classes: int, weights: np.ndarray | None
) -> Collapse:
    """The quantities of one net, each of whose classes has a point."""
    phi, weights = of_size_one(phi), None if weights is None else of_size_one(weights)
    values: dict[str, float] = {}
    reasons: dict[str, str] = {}
    hot = one_hot(labels, classes)
    counts = hot.sum(0)
    x = phi - phi.mean(0)  # a mean far from 0 would cost digits of every difference
    middles = hot.T @ x / counts[:, None]
    means = middles - middles.mean(0)
    _, s, vt = np.linalg.svd(means, full_matrices=False)
    if s[0] <= LEAST * np.linalg.norm(phi) / np.sqrt(len(phi)):
        return Collapse(reasons=dict.fromkeys(NAMES, "the class means are equal"))
    residuals = x - middles[labels]
    if len(s) < classes - 1 or s[classes - 2] <= LEAST * s[0]:
        reasons["nc1"] = f"the class means span fewer than {classes - 1} dimensions"
    else:
        along = ((residuals @ vt[: classes - 1].T) ** 2).mean(0)
        values["nc1"] = (along / s[: classes - 1] ** 2).sum()  # Sigma_B has the eigenvalues s^2 / C
    within = hot.T @ np.einsum("ij,ij->i", residuals, residuals) / counts
    i, j = np.triu_indices(classes, 1)
    apart = ((means[i] - means[j]) ** 2).sum(-1)
    if (apart <= (LEAST * s[0]) ** 2).any():
        reasons["cdnv"] = "two class means are equal"
    else:
        values["cdnv"] = ((within[i] + within[j]) / (2 * apart)).mean()
    gram = means @ means.T
    values["nc2"] = _off_simplex(gram)
    norms = np.sqrt(np.diag(gram))
    values["nc2_norms"] = norms.std() / norms.mean()
    if norms.min() <= LEAST * norms.max():
        reasons["nc2_angles"] = "a class mean is the mean of all of them"
    else:
        values["nc2_angles"] = np.abs(gram[i, j] / (norms[i] * norms[j]) + 1 / (classes - 1)).mean()
    if outputs.shape[1] == 1:
        reasons["nc4"] = "there is one output"
    else:
        nearest = ((middles * middles).sum(1) - 2 * x @ middles.T).argmin(1)
        values["nc4"] = (outputs.argmax(1) != nearest).mean()
    if weights is None or len(weights) != classes:
        why = "no weights were given" if weights is None else "there is one output"
        reasons |= dict.fromkeys(("nc3", "nc3_self_dual"), why)
    elif np.ptp(weights, 0).max() <= LEAST * np.abs(weights).max():
        reasons |= dict.fromkeys(("nc3", "nc3_self_dual"), "the weights of all classes are equal")
    else:
        rows = weights - weights.mean(0)
        values["nc3"] = float(np.linalg.norm(rows / np.linalg.norm(rows) - means / np.linalg.norm(means)))
        if np.linalg.norm(rows @ means.T) > 0:
            values["nc3_self_dual"] = _off_simplex(rows @ means.T)
        else:
            reasons["nc3_self_dual"] = "weights and class means are orthogonal"
    return Collapse(**{name: float(value) for name, value in values.items()}, reasons=reasons)


def _off_simplex(gram: np.ndarray) -> float:
    """|G/|G| - (I - 1/C)/sqrt(C - 1)|."""
    classes = len(gram)
    ideal = (np.eye(classes) - 1 / classes) / np.sqrt(classes - 1)
    return float(np.linalg.norm(gram / np.linalg.norm(gram) - ideal))
