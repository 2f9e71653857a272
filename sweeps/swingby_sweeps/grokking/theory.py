"""Formulas of [T], each once: effective dimension, the measure of the minimum feature regime, and the scale of the
target beside that of the start."""

from __future__ import annotations

import numpy as np

from swingby_sweeps.dynamics import metrics

Array = np.ndarray


def intensities(phi: Array) -> Array:
    """The eigenvalues rho_k of the feature kernel, falling ([T] eq 1.29).

    Args:
        phi: features of each of n points, (n, p).

    Returns:
        The eigenvalues of T = phi phi^T / n that can differ from 0, (p,).
    """
    return np.maximum(np.linalg.eigvalsh(phi.T @ phi / len(phi))[::-1], 0)


def effective_dimension(rho: Array) -> float:
    """D_eff(rho) = exp(- sum_i r_i ln r_i), r_i = rho_i / sum_j rho_j ([T] eq 1.16); nan where all rho are 0."""
    dimension = metrics.effective_dimension(rho)
    return float("nan") if dimension is None else dimension


def effective_dimension_without_constant(rho: Array) -> float:
    """D_eff of intensities in falling order, of which the first, of a constant function, counts as one ([T] eq 2.6)."""
    return 1 + effective_dimension(rho[1:])


def kappa(phi: Array, f: Array) -> float:
    """1 - CKA(T, T_MP) ([T] eq 2.9, Definition 2): 0 where the features span what is learned, all with one intensity.

    T is the kernel of the features phi (n, p) and T_MP the projection onto the span of the learned function f (n, C) as
    it is, both on n points and both centred. nan where either kernel is constant.
    """
    value = metrics.kappas(phi[None], f[None], operator="span")[0].kappa
    return float("nan") if value is None else value


def target_ratio(target_scale: float, weight_scale: float, output_scale: float) -> float:
    """The target over the output of a net whose hidden units are saturated: target / (output scale x weight scale).

    It stands for S / Sigma_0, the lower bound of gamma_+ ([T] 6.3.1), of which [T] has no formula for a deep net: the
    last layer sums p features of size 1 with weights of standard deviation weight_scale / sqrt(p).
    """
    return target_scale / (output_scale * weight_scale)
