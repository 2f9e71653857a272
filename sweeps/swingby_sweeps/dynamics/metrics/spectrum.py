"""Features one by one: how strong each is, how much of the target it expresses, and how much the net uses it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

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
from .learned import learned_basis

InnerProducts = Literal["same", "other", "other_qr"]
INNER_PRODUCTS = get_args(InnerProducts)
FAINT = 1e-10
"""An intensity below this share of the largest is rounding, and no feature."""


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Eigenfunctions of a feature kernel in the order of their intensities, and what each contributes.

    Attributes:
        intensities: rho_k, falling, (K,).
        quality: Q*_k, the share of the targets' space that e_k expresses, (K,) (Canatar et al. 2021).
        utilization: U^_k, the share of the space of constant and learned functions, (K,); sums to 1 where features
            span both.
        eigenfunctions: e_k at the points, each of mean square 1 where it was found, (n, K).
        constant_overlap: |<e_1 | 1>|.
        points: points at which inner products were taken, n.
        relative: the intensities of features of size one, where these are apart: no square of theirs vanishes or
            overflows.
    """

    intensities: np.ndarray
    quality: np.ndarray
    utilization: np.ndarray
    eigenfunctions: np.ndarray
    constant_overlap: float
    points: int
    relative: np.ndarray | None = None

    @property
    def d_eff_intensity(self) -> float:
        """1 + D_eff(rho_2, ...): the first feature, of a constant function as a rule, counts as one."""
        rho = self.intensities if self.relative is None else self.relative
        return 1 + (effective_dimension(rho[1:]) or 0.0)

    @property
    def d_eff_quality(self) -> float | None:
        """D_eff(Q*); too large where there are few points a feature."""
        return effective_dimension(self.quality)

    @property
    def d_eff_quality_adjusted(self) -> float | None:
        """D_eff of what `adjusted` leaves of the quality, feature by feature; None: it leaves nothing."""
        steps = np.diff(adjusted(self.quality.cumsum(), self.points), prepend=0)
        return effective_dimension(steps.clip(min=0))

    @property
    def d_eff_utilization(self) -> float | None:
        """D_eff(U^)."""
        return effective_dimension(self.utilization)

    def quality_up_to(self, k: int) -> float:
        """Pi*(k), the quality of the first k features together."""
        return float(self.quality[:k].sum())

    def utilization_up_to(self, k: int) -> float:
        """U^ of the first k features together."""
        return float(self.utilization[:k].sum())


def effective_dimension(values: Any) -> float | None:
    """D_eff(v) = exp(-sum q ln q), q = v / sum v (Roy and Vetterli 2007): d for d equal entries; None where all are 0.

    Raises:
        ValueError: a negative entry, or one that is not finite.
    """
    values = np.asarray(values, np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("the values of an effective dimension have to be finite and at least 0")
    largest = values.max(initial=0)
    if not largest > 0:
        return None
    q = values[values > 0] / largest  # no overflow of the sum
    q = q[q > 0] / q.sum()
    return float(np.exp(-(q * np.log(q, where=q > 0, out=np.zeros_like(q))).sum()))


def adjusted(cumulative: Any, points: int) -> np.ndarray:
    """Pi_adj(k) = 1 - (1 - Pi(k)) n / (n - k) for k < n/2, a quality without what features fit by chance.

    Args:
        cumulative: Pi(1), Pi(2), ..., (K,).
        points: n, the points at which it was taken.

    Raises:
        ValueError: fewer than 3 points, of which none may be adjusted.
    """
    if points < 3:
        raise ValueError(f"an adjusted quality needs at least 3 points, not {points}")
    cumulative = np.asarray(cumulative, np.float64)[: (points - 1) // 2]
    k = np.arange(1, len(cumulative) + 1)
    return 1 - (1 - cumulative) * points / (points - k)


def spectrum(
    phi: Any,
    outputs: Any,
    labels: Any,
    *,
    inner_products: InnerProducts = "same",
    train_phi: Any = None,
    classes: bool | None = None,
) -> Spectrum:
    """Intensities, quality and utilization of features, by a thin SVD.

    Args:
        phi: inputs of the last layer at n points, (n, p).
        outputs: its outputs at these points, (n, C) or (n,).
        labels: classes as whole numbers from 0, (n,), or targets as numbers, (n, C).
        inner_products: "same": eigenfunctions are found at the points at which they are used, and are orthonormal
            there. "other": they are found at the points of `train_phi` and normalised at
            those of `phi`; not being orthogonal there they read about 1/n too much a feature, and their sum can pass
            1. "other_qr": those, made orthonormal at the points of `phi` one after the other.
        train_phi: features at other points, (m, p), for "other" and "other_qr".
        classes: whether an output is a class (`kappa`); None: where labels are classes.

    Warns:
        FeaturesWarning: there are fewer than 4 points a feature.

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, features or targets that are 0 throughout, a
            class without a point, other inner products, or `train_phi` missing or given in vain.
    """
    warn_if_few(*numbers(phi, "phi", (2,), "(points, features)").shape)
    options: dict[str, Any] = {"inner_products": inner_products, "train_phi": train_phi, "classes": classes}
    return decomposed(phi, outputs, labels, **options)


def decomposed(
    phi: Any, outputs: Any, labels: Any, *, inner_products: InnerProducts, train_phi: Any, classes: bool | None
) -> Spectrum:
    """`spectrum` without its warning.

    Raises:
        ValueError: as `spectrum`.
    """
    phi, outputs = sample(phi, outputs, stacked=False)
    target = targets_basis(labels, len(phi), outputs.shape[-1])
    if inner_products not in INNER_PRODUCTS:
        raise ValueError(f"inner_products: {inner_products!r}; allowed: {', '.join(INNER_PRODUCTS)}")
    if (inner_products == "same") != (train_phi is None):
        raise ValueError(
            f"inner_products: {inner_products} {'takes no' if train_phi is not None else 'needs'} train_phi"
        )
    features = phi if train_phi is None else numbers(train_phi, "train_phi", (2,), "(points, features)")
    if features.shape[1] != phi.shape[1]:
        raise ValueError(f"train_phi has {features.shape[1]} features and phi {phi.shape[1]}; both have to be equal")
    u, s, vt = np.linalg.svd(of_size_one(features), full_matrices=False)
    if not s[0] > 0:
        raise ValueError(f"{'phi' if train_phi is None else 'train_phi'} is 0 throughout; no feature has an intensity")
    alive = s**2 >= FAINT * s[0] ** 2
    relative = s[alive] ** 2 / len(features)
    with np.errstate(over="ignore", under="ignore"):
        rho = np.ldexp(relative, 2 * int(exponent(features).item()))
    if train_phi is None:
        unit = u[:, alive]
    else:
        unit = of_size_one(phi) @ vt[alive].T
        unit = _orthogonal(unit) if inner_products == "other_qr" else unit
        norms = np.linalg.norm(unit, axis=0)
        unit = unit / np.where(norms > 0, norms, 1)
    known = np.ndim(labels) < 2 if classes is None else classes
    return replace(from_eigenfunctions(rho, unit, outputs, target, known), relative=relative)


def _orthogonal(unit: np.ndarray) -> np.ndarray:
    """Columns (n, K) made orthonormal one after the other; one that those before it span is 0, as are all beyond n."""
    q, r = np.linalg.qr(unit)
    sizes = np.abs(np.diag(r))
    norms = np.linalg.norm(unit, axis=0)
    basis = np.zeros_like(unit)
    basis[:, : len(sizes)] = q * ((sizes > LEAST * norms[: len(sizes)]) & (norms[: len(sizes)] > LEAST * norms.max()))
    return basis


def from_eigenfunctions(
    rho: np.ndarray, unit: np.ndarray, outputs: np.ndarray, target: np.ndarray, classes: bool = True
) -> Spectrum:
    """The spectrum of eigenfunctions of norm 1 at n points, (n, K), beside the targets' orthonormal basis, (n, c).

    Args:
        classes: whether an output is a class (`kappa`).
    """
    basis = learned_basis(outputs, classes)
    rank = int((np.abs(basis) > 0).any(0).sum())
    constant = unit.sum(0) ** 2 / len(unit)
    return Spectrum(
        intensities=rho,
        quality=((unit.T @ target) ** 2).sum(1) / target.shape[1],
        utilization=(constant + ((unit.T @ basis) ** 2).sum(1)) / (rank + 1),
        eigenfunctions=np.sqrt(len(unit)) * unit,
        constant_overlap=float(np.sqrt(constant[0])),
        points=len(unit),
    )


def targets_basis(labels: Any, points: int, outputs: int) -> np.ndarray:
    """An orthonormal basis of the space of the targets at n points, (n, c).

    Args:
        labels: classes as whole numbers from 0, (n,), or targets as numbers, (n, c).
        points: n.
        outputs: C, the number of classes where it is more than 1.

    Raises:
        ValueError: a shape that does not fit, a class without a point, or targets that are 0 throughout.
    """
    labels = numbers(labels, "labels", (1, 2), "(points,) or (points, targets)")
    if len(labels) != points:
        raise ValueError(f"labels has {len(labels)} points and phi {points}; both have to be equal")
    if labels.ndim == 1:
        classes = outputs if outputs > 1 else int(labels.max()) + 1
        members = classes_of(labels, (points,), classes)
        if fault := no_points(members, classes):
            raise ValueError(fault)
        hot = one_hot(members, classes)
        return hot / np.linalg.norm(hot, axis=0)
    u, s, _ = np.linalg.svd(labels, full_matrices=False)
    if not s[0] > 0:
        raise ValueError("labels is 0 throughout; there is no target to express")
    return u[:, s > LEAST * s[0]]
