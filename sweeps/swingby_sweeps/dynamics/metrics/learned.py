"""The space of functions that a net has learned, and how far its features are the minimum that spans it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from .arrays import LEAST, numbers, of_size_one, sample, warn_if_few

Operator = Literal["projection", "span", "printed"]
OPERATORS = get_args(Operator)
ROUNDING = 1e-12
"""What float64 leaves of an array less its mean, beside its size, where it is constant."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """The distance of a feature kernel to the minimum projection, and the two parts of it.

    Attributes:
        kappa: 1 - evenness x containment, 0 to 1; None: outputs or features are constant.
        evenness: 1 where the features reach every direction of the learned space with one intensity; with m of r
            directions alive sqrt(m/r). None: no feature is in the learned space.
        containment: 1 where no feature is outside of the learned space.
        rank: dimensions of the learned space, classes - 1 as a rule.
        reason: why `kappa` is None; empty otherwise.
    """

    kappa: float | None
    evenness: float | None
    containment: float | None
    rank: int
    reason: str = ""


def centred(array: np.ndarray) -> np.ndarray:
    """An array minus the mean over its points, (..., n, k)."""
    return array - array.mean(-2, keepdims=True)


def learned_basis(outputs: np.ndarray, classes: bool = True) -> np.ndarray:
    """An orthonormal basis of the learned space beside the constant, (..., n, C); columns that are zero are none.

    Where outputs are those of `classes`, their mean is taken from each point first: outputs of a net that has learned
    one-hot targets sum to nearly 1, and that tiny direction would count as a whole one.
    """
    several = classes and outputs.shape[-1] > 1
    outputs = of_size_one(outputs)
    spread = centred(outputs - outputs.mean(-1, keepdims=True) if several else outputs)
    u, s, _ = np.linalg.svd(spread, full_matrices=False)
    size = np.linalg.norm(outputs, axis=(-2, -1))[..., None]
    alive = (s > LEAST * s[..., :1]) & (s[..., :1] > LEAST * size)
    return u * alive[..., None, :]


def learned_space(outputs: Any) -> np.ndarray:
    """An orthonormal basis of what the outputs span beside the constant function.

    Args:
        outputs: the net's function at n points, (n, C) or (n,).

    Returns:
        (n, r), columns orthogonal to the constant; r = 0 where the outputs are constant over the points.

    Raises:
        ValueError: another shape, or numbers that are not finite.
    """
    outputs = numbers(outputs, "outputs", (1, 2), "(points, classes)")
    basis = learned_basis(outputs.reshape(len(outputs), -1))
    return basis[:, np.any(basis != 0, 0)]


def kappa(phi: Any, outputs: Any, operator: Operator = "projection", classes: bool = True) -> Kappa:
    """1 - CKA of the kernel of the features and the projection onto the learned space (Kornblith et al. 2019).

    Unchanged where features are rotated, scaled or shifted, and where a number is added to all outputs of a point.

    Args:
        phi: inputs of the last layer at n points, (n, p).
        outputs: its outputs at these points, (n, C) or (n,).
        operator: the kernel that features are compared with, centred over points. "projection": onto the learned
            space. "span": the projection onto the span of the outputs as they are, not centred over points or classes;
            the constant and the sum of the outputs count as dimensions there. "printed": sum_j f_j f_j^T / |f_j|^2 of
            outputs as they are, which is that projection where they are orthogonal. Only the first has evenness and
            containment.
        classes: whether an output is a class; else outputs are numbers, and their mean over a point has a meaning.

    Warns:
        FeaturesWarning: there are fewer than 4 points a feature.

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, or another operator.
    """
    phi, outputs = sample(phi, outputs, stacked=False)
    warn_if_few(*phi.shape)
    return _kappas(phi[None], outputs[None], operator, classes)[0]


def kappas(phi: Any, outputs: Any, operator: Operator = "projection", classes: bool = True) -> list[Kappa]:
    """`kappa` of each of several nets at once: phi (cells, n, p), outputs (cells, n, C); it does not warn.

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, or another operator.
    """
    return _kappas(*sample(phi, outputs, stacked=True), operator, classes)


def _kappas(phi: np.ndarray, outputs: np.ndarray, operator: Operator, classes: bool) -> list[Kappa]:
    if operator not in OPERATORS:
        raise ValueError(f"operator: {operator!r}; allowed: {', '.join(OPERATORS)}")
    phi, outputs = of_size_one(phi), of_size_one(outputs)
    if operator == "span":
        return [_of_span(*one) for one in zip(phi, outputs, strict=True)]
    x = centred(phi)
    kernel = _gram_norm(x)
    dead = np.linalg.norm(x, axis=(-2, -1)) <= LEAST * np.linalg.norm(phi, axis=(-2, -1))
    basis = learned_basis(outputs, classes)
    ranks = (np.abs(basis) > 0).any(-2).sum(-1)
    target = _printed(outputs) if operator == "printed" else basis
    a = target.swapaxes(-1, -2) @ x
    overlap, inside = (a * a).sum((-2, -1)), _gram_norm(a)
    ideal = _gram_norm(target)
    kappas = []
    for k, rank in enumerate(ranks.tolist()):
        if rank == 0 or dead[k]:
            what = "outputs are" if rank == 0 else "features are"
            kappas.append(Kappa(None, None, None, rank, f"the {what} constant over the points"))
            continue
        value = _share(1 - overlap[k] / (ideal[k] * kernel[k]))
        if operator == "printed":
            kappas.append(Kappa(value, None, None, rank))
            continue
        even = _share(overlap[k] / (ideal[k] * inside[k])) if inside[k] > 0 else None
        kappas.append(Kappa(value, even, _share(inside[k] / kernel[k]), rank))
    return kappas


def _of_span(phi: np.ndarray, f: np.ndarray) -> Kappa:
    """The distance to the projection onto the span of outputs f (n, C); traces of n x n matrices are norms of p x C,
    p x p and C x C ones."""
    q, s, _ = np.linalg.svd(f, full_matrices=False)
    q = q[:, s > LEAST * s[0]]
    rank = q.shape[1]
    size, phi, q = np.linalg.norm(phi), phi - phi.mean(0), q - q.mean(0)
    dead = np.linalg.norm(phi) <= ROUNDING * size or np.linalg.norm(q) <= ROUNDING
    sizes = np.linalg.norm(phi.T @ phi) * np.linalg.norm(q.T @ q)
    if dead or not sizes > 0:
        return Kappa(None, None, None, rank, "the features or the outputs are constant over the points")
    return Kappa(float(1 - np.linalg.norm(phi.T @ q) ** 2 / sizes), None, None, rank)


def _gram_norm(x: np.ndarray) -> np.ndarray:
    """|X^T X| = |X X^T| by the smaller of both, (...)."""
    t = x.swapaxes(-1, -2)
    return np.linalg.norm(t @ x if x.shape[-1] <= x.shape[-2] else x @ t, axis=(-2, -1))


def _printed(outputs: np.ndarray) -> np.ndarray:
    """Outputs over their norms, centred; one that is zero stays zero."""
    norms = np.linalg.norm(outputs, axis=-2, keepdims=True)
    return centred(outputs / np.where(norms > 0, norms, 1))


def _share(value: float) -> float:
    """A share without what rounding adds beyond 0 and 1."""
    return float(min(max(value, 0.0), 1.0))
