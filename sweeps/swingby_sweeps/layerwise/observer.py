"""The curves of linear nets, from their weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from swingby_sweeps.dynamics.nets import Net

from .nets import Nets

Array = np.ndarray


class Observer:
    """Computes the curves of C nets from their weights: of several states at once, or as a `dynamics.recorder.Observe`.

    Arrays have the axes (C, T, ...), a state each; those of the nets have T = 1.
    """

    def __init__(self, nets: Nets, also: Sequence[str]) -> None:
        self._drift = "drift" in also
        self._U, self._V, self._target, self._moments = (
            array[:, None] for array in (nets.U, nets.V, nets.target, nets.moments)
        )
        self._full = self._strengths(self._target)
        self._roots = np.sqrt(self._moments)[..., None]
        start = nets.W1[:, None], nets.W2.swapaxes(1, 2)[:, None]
        self._kernel, self._difference = self._tangent(*start), _difference(*start)

    def __call__(self, net: Net, going: Array) -> dict[str, Array]:
        W1, V2 = (parameter.numpy()[:, None] for parameter in net.parameters)
        return {name: values[:, 0] for name, values in self.curves(W1, V2).items()}

    def curves(self, W1: Array, V2: Array) -> dict[str, Array]:
        """The curves, (C, T) or (C, T, m) each, of the weights W_1 (C, T, d, p) and W_2^T (C, T, c, p)."""
        with np.errstate(over="ignore", invalid="ignore"):
            F = W1 @ V2.swapaxes(-1, -2)
            fine: Array = np.all(np.isfinite(F), axis=(-1, -2), keepdims=True)
            singular = torch.linalg.svdvals(torch.from_numpy(np.where(fine, F, 0))).numpy()
            (A0, B0), (A, B) = self._kernel, self._tangent(W1, V2)
            curves = {
                "strength": self._strengths(F) / self._full,
                "loss": 0.5 * _squares(self._roots * (F - self._target)),
                "singular_values": singular,
                "effective_rank": _effective(singular),
                # Half the squared distance of kernels of norm 1, which does not cancel where they are close.
                "kernel_distance": self._inner(A - A0, B - B0) / 2,
            }
            if self._drift:
                drift = np.sqrt(_squares(_difference(W1, V2) - self._difference))
                curves["drift"] = drift / (_squares(W1) + _squares(V2))
        return curves

    def _strengths(self, F: Array) -> Array:
        """u_i^T F v_i of each mode, (C, T, m)."""
        return (self._U * (F @ self._V)).sum(-2)

    def _tangent(self, W1: Array, V2: Array) -> tuple[Array, Array]:
        """Both parts of the tangent kernel A x I + C_xx x B over its norm: (C, T, d, d) and (C, T, c, c)."""
        weighted = self._roots * W1
        A, B = weighted @ weighted.swapaxes(-1, -2), V2 @ V2.swapaxes(-1, -2)
        norm = np.sqrt(self._inner(A, B))[..., None, None]
        return A / norm, B / norm

    def _inner(self, A: Array, B: Array) -> Array:
        """|A x I + C_xx x B|^2, (C, T)."""
        moments = self._moments
        crossed = (np.einsum("...dd->...d", A) * moments).sum(-1) * np.einsum("...ee->...", B)
        return B.shape[-1] * _squares(A) + 2 * crossed + _squares(moments[..., None]) * _squares(B)


def _squares(A: Array) -> Array:
    """|A|^2 of each matrix, (..., m, n) to (...)."""
    return np.einsum("...mn,...mn->...", A, A)


def _difference(W1: Array, V2: Array) -> Array:
    """W_1^T W_1 - W_2 W_2^T, (..., p, p)."""
    return W1.swapaxes(-1, -2) @ W1 - V2.swapaxes(-1, -2) @ V2


def _effective(singular: Array) -> Array:
    """exp of the entropy of the singular values over their sum: (..., m) to (...); 0 where all are 0."""
    total = singular.sum(-1, keepdims=True)
    share = singular / np.where(total > 0, total, 1)
    entropy = -(share * np.log(np.where(share > 0, share, 1))).sum(-1)
    return np.where(total[..., 0] > 0, np.exp(entropy), 0.0)
