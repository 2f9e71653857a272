"""Loss, strengths, neural collapse and kappa of states W, H, in the rotated points of `kernels`.

An average over N points is a sum over the C + r columns of H, divided by N; the constant function has the entries
sqrt(m_c/N) on the first C columns. Every formula is that of a last layer's features ([T] 2.3, D) in these coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Array = np.ndarray
NEGLIGIBLE = 1e-6
"""Directions of the outputs below this share of the strongest one are not counted; outputs below this share of the
target's size are constant."""


def _size(A: Array) -> Array:
    """Frobenius norms, (...)."""
    return np.sqrt((A * A).sum((-2, -1)))


def _unit(A: Array) -> Array:
    return A / _size(A)[..., None, None]


def measure(W: Array, H: Array, sizes: Array, decay_w: float, decay_h: float) -> Mapping[str, Array]:
    """Every curve of a run from its states W (T, C, p) and H (T, p, C + r); NaN where one does not exist."""
    C, N, s = len(sizes), sizes.sum(), np.sqrt(sizes)
    outputs = W @ H
    residual = outputs.copy()
    residual[:, np.arange(C), np.arange(C)] -= s
    fit = _size(residual) ** 2 / (2 * N)
    strengths = np.linalg.svd(outputs, compute_uv=False)
    M, within = H[:, :, :C], H[:, :, C:]
    means = np.swapaxes(M, 1, 2) / s[:, None]
    nc1, nc2 = collapse(means, within, N)
    return {
        "fit_loss": fit,
        "loss": fit + decay_w / 2 * _size(W) ** 2 + decay_h / 2 * _size(H) ** 2,
        "strengths": strengths,
        "strongest": strengths[:, 0],
        "weakest": strengths[:, -1],
        "nc1": nc1,
        "nc2": nc2,
        "nc3": alignment(W, means),
        "nc3_printed": alignment_printed(W, means),
        "unbalance": _size(np.swapaxes(W, 1, 2) @ W - H @ np.swapaxes(H, 1, 2)),
        "output_variance": output_variance(outputs, sizes),
        **kappa(outputs, H, sizes),
    }


def output_variance(outputs: Array, sizes: Array) -> Array:
    """The variance of the outputs (T, C, C + r) over points, summed over classes, over that of one-hot labels."""
    shares = sizes / sizes.sum()
    mean = (outputs[:, :, : len(sizes)] @ np.sqrt(shares)) / np.sqrt(sizes.sum())
    return (_size(outputs) ** 2 / sizes.sum() - (mean**2).sum(1)) / (1 - (shares**2).sum())


def collapse(means: Array, within: Array, N: float) -> tuple[Array, Array]:
    """NC1 = Tr(Sigma_W Sigma_B^+)/C and NC2 of class means (..., C, p) with H (..., p, r) within classes ([T] D).

    There is no NC1 with p < C - 1, where class means depend on each other.
    """
    C, p = means.shape[-2:]
    _, sizes, v = np.linalg.svd(means - means.mean(-2, keepdims=True), full_matrices=False)
    sizes, v = sizes[..., : C - 1], v[..., : C - 1, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        nc1 = (((v @ within) ** 2).sum(-1) / N / sizes**2).sum(-1) if p >= C - 1 else np.full(sizes.shape[:-1], np.nan)
    return nc1, gram_collapse(means @ np.swapaxes(means, -2, -1))


def gram_collapse(G: Array) -> Array:
    """NC2 from the Gram matrices of class means, (..., C, C), before their mean is taken off."""
    C = G.shape[-1]
    centre = np.eye(C) - 1 / C
    with np.errstate(divide="ignore", invalid="ignore"):
        return _size(_unit(centre @ G @ centre) - centre / np.sqrt(C - 1))


def alignment(W: Array, means: Array) -> Array:
    """NC3 = |W/|W| - M/|M|| of W (..., C, p) and class means, both without their mean over classes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _size(_unit(W - W.mean(-2, keepdims=True)) - _unit(means - means.mean(-2, keepdims=True)))


def alignment_printed(W: Array, means: Array) -> Array:
    """(D.8) as printed: the mean over classes of |w_c/|w_c| - m_c/|m_c||, where w_c keeps the mean over classes."""
    M = means - means.mean(-2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        units = [rows / np.sqrt((rows * rows).sum(-1, keepdims=True)) for rows in (W, M)]
    return np.sqrt(((units[0] - units[1]) ** 2).sum(-1)).mean(-1)


def kappa(outputs: Array, H: Array, sizes: Array) -> Mapping[str, Array]:
    """kappa = 1 - evenness x containment ([T] Def. 2) of outputs (T, C, C + r) and features H (T, p, C + r)."""
    constant = np.zeros(H.shape[-1])
    constant[: len(sizes)] = np.sqrt(sizes / sizes.sum())
    X = np.swapaxes(H, 1, 2) - constant[:, None] * (H @ constant)[:, None, :]
    F = outputs - outputs.mean(1, keepdims=True)
    F = np.swapaxes(F - (F @ constant)[..., None] * constant, 1, 2)
    Q, strength, _ = np.linalg.svd(F, full_matrices=False)
    counted = strength >= NEGLIGIBLE * strength[:, :1]
    A = np.swapaxes(Q, 1, 2) * counted[..., None] @ X
    rank = counted.sum(1)
    inside = _size(A @ np.swapaxes(A, 1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        evenness = _size(A) ** 2 / (np.sqrt(rank) * inside)
        containment = inside / _size(np.swapaxes(X, 1, 2) @ X)
    lost = strength[:, 0] < NEGLIGIBLE * np.sqrt(sizes.max())
    columns = {"kappa_cka": 1 - evenness * containment, "evenness": evenness, "containment": containment}
    return {name: np.where(lost, np.nan, values) for name, values in columns.items()}


def predicted(P: Array, KH: Array, sizes: Array) -> tuple[Array, Array]:
    """NC1 and NC2 from P = K K^T (T, C, C) and K H (T, C, r) of `theory.small_start`, where class means are K/sqrt(m).

    Sigma_B^+ = C M^T (M M^T)^+2 M with the centred means M, so that NC1 = |(M M^T)^+ M H|^2/N.
    """
    C, N = len(sizes), sizes.sum()
    centre = np.eye(C) - 1 / C
    B = centre / np.sqrt(sizes)
    w, v = np.linalg.eigh(B @ P @ B.T)
    w, v = w[:, 1:], v[:, :, 1:]
    seen = np.swapaxes(v, 1, 2) @ (B @ KH)
    with np.errstate(divide="ignore", invalid="ignore"):
        nc1 = ((seen**2).sum(-1) / w**2).sum(-1) / N
    return nc1, gram_collapse(P / np.sqrt(np.outer(sizes, sizes)))
