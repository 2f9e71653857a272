"""Gradient and Hessian of L at many nets at once, in closed form, and how fast gradient flow leaves a point.

Two layers meet in two Kronecker products. A ReLU net is, on the points of one pattern q of active units, a linear net
(`kernels.patterns` finds the patterns). Write its output on the unit vectors as
F_q = X_l W_l^T B_l for each layer l: X_l (k, in) is what enters the layer, B_l (out, d) what the rest of the net makes
of its outputs. With D_q = A_q (F_q - T), T the identity on the s inputs, and with P_lm (out of l, in of m), what
reaches layer m from layer l < m,

    dL / dW_l[o, i]             = sum_q (B_l D_q^T X_l)[o, i]
    d2L / dW_l[o, i] dW_m[p, j] = sum_q (B_l B_m^T)[o, p] (X_l^T A_q X_m)[i, j] + P_lm[o, j] (B_m D_q^T X_l)[p, i]

the last term for l < m only. A bias is a further column of W, at which X is 1 for the constant input and else 0.
Shapes: C nets, Q patterns (1 for a net linear in x), k = s + bias unit vectors.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

from .nets import build
from .parts import in_parts
from .shapes import NetShape

MOST_PARAMETERS = 400
"""Nets with more trained parameters get no growth rate: it would cost more than a usual run."""
_MOST_NUMBERS = 4_000_000
"""Numbers in the Hessians that are held at a time, by each thread."""


class Pieces:
    """What enters and leaves each layer of C nets, given the weights W (C, out, in) of each, its bias a column of them.

    Attributes:
        inputs: X_l, (C, Q, k, in).
        outputs: B_l, (C, Q, out, d).
        pull: D, (C, Q, k, d).
    """

    def __init__(self, shape: NetShape, W: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor) -> None:
        self._W, self._moments = W, moments
        # Of each layer but the last, whether its units are active, (C, Q, out).
        self._on: list[Tensor] = list(masks) or [moments.new_ones(1, 1, layer.shape[1]) for layer in W[:-1]]
        C, Q, k, _ = moments.shape
        constant = moments.new_zeros(C, Q, k, int(shape.bias))
        constant[:, :, -1:] = 1
        self.inputs = [torch.eye(k, dtype=moments.dtype).expand(C, Q, k, k)]
        for layer, on in zip(W, self._on, strict=False):
            image = (self.inputs[-1] @ layer[:, None].mT) * on[:, :, None]
            self.inputs.append(torch.cat([image, constant], dim=3))
        error = self.inputs[-1] @ W[-1][:, None].mT
        error.diagonal(dim1=2, dim2=3)[..., : shape.s] -= 1
        self.pull = moments @ error
        d = W[-1].shape[1]
        self.outputs = [torch.eye(d, dtype=moments.dtype).expand(C, Q, d, d)]
        for number in range(len(W) - 1, 0, -1):
            self.outputs.insert(0, self._on[number - 1][..., None] * (self._plain(number).mT @ self.outputs[0]))

    def _plain(self, number: int) -> Tensor:
        """W of a layer without its bias, (C, 1, out, in); not for the first layer, whose bias is an input's weight."""
        return self._W[number][:, None, :, : self._W[number - 1].shape[1]]

    def pulled(self, high: int, low: int) -> Tensor:
        """B_high D^T X_low, (C, Q, out of high, in of low); where both are one layer, its gradient of each pattern."""
        return (self.outputs[high] @ self.pull.mT) @ self.inputs[low]

    def block(self, low: int, high: int) -> Tensor:
        """d2L / dW_low dW_high for low <= high, shape (C, out of low, in of low, out of high, in of high)."""
        outer = self.outputs[low] @ self.outputs[high].mT
        inner = self.inputs[low].mT @ (self._moments @ self.inputs[high])
        block = _kronecker(outer, inner).permute(0, 1, 3, 2, 4)
        if low == high:
            return block
        # P of the two layers, (C, Q, out of low, in of high); nothing reaches a bias.
        way = torch.diag_embed(self._on[low])
        for number in range(low + 1, high):
            way = (way @ self._plain(number).mT) * self._on[number][:, :, None]
        way = torch.nn.functional.pad(way, (0, self._W[high].shape[2] - way.shape[3]))
        return block + _kronecker(way, self.pulled(high, low)).permute(0, 1, 4, 3, 2)


def _kronecker(a: Tensor, b: Tensor) -> Tensor:
    """The sum over q of a_q[o, p] b_q[i, j], shape (C, o, p, i, j)."""
    C, Q, *right = b.shape
    left = a.expand(C, Q, -1, -1).flatten(2)
    return (left.mT @ b.flatten(2)).reshape(C, *a.shape[2:], *right)


def layers_of(shape: NetShape, parameters: Sequence[Tensor]) -> list[Tensor]:
    """W (C, out, in) of each layer, the bias its last column, from the `parameters` of nets."""
    first, rest = parameters[0], list(parameters[1:])
    if shape.symmetric:
        return [first[:, : shape.s].mT, first]
    if shape.bias:
        rest = [torch.cat([W, b[:, :, None]], dim=2) for W, b in zip(rest[::2], rest[1::2], strict=True)]
    return [first.mT, *rest]


def hessian(shape: NetShape, W: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor) -> Tensor:
    """The Hessians of C nets over all entries of `layers_of`, or for U U^T over U; shape (C, P, P), upper triangle."""
    pieces = Pieces(shape, W, masks, moments)
    if shape.symmetric:
        # Two layers, the first rows of U transposed and U, that move as one.
        top, mixed, whole = pieces.block(0, 0), pieces.block(0, 1), pieces.block(1, 1)
        C, w, s, d, _ = mixed.shape
        head, P = s * w, d * w
        whole = whole.reshape(C, P, P)
        mixed = mixed.transpose(1, 2).reshape(C, head, P)
        whole[:, :head, :head] += top.permute(0, 2, 1, 4, 3).reshape(C, head, head)
        whole[:, :head] += mixed
        whole[:, :, :head] += mixed.mT
        return whole
    C, sizes = len(moments), [layer[0].numel() for layer in W]
    ends = [0, *itertools.accumulate(sizes)]
    whole = moments.new_zeros(C, ends[-1], ends[-1])
    for low, high in itertools.combinations_with_replacement(range(len(W)), 2):
        block = pieces.block(low, high).reshape(C, sizes[low], sizes[high])
        whole[:, ends[low] : ends[low + 1], ends[high] : ends[high + 1]] = block
    return whole


def gradient_norms(shape: NetShape, parameters: Sequence[Tensor], moments: Tensor) -> Tensor:
    """||grad L|| over all parameters of each of C nets linear in x, shape (C,); moments (C, k, k)."""
    slopes = [torch.zeros_like(parameter) for parameter in parameters]
    build(shape, parameters).push(moments, slopes)
    return torch.cat([slope.flatten(1) for slope in slopes], dim=1).norm(dim=1)


def growth_rates(
    shape: NetShape, parameters: Sequence[Tensor], masks: Sequence[Tensor], moments: Tensor
) -> list[float | None]:
    """The largest growth rate of theta' = -grad L linearised at each of C nets: minus L's smallest Hessian eigenvalue.

    None for nets of more than `MOST_PARAMETERS` parameters. Shapes: parameters with a leading C; masks (C, Q, width),
    or none for nets linear in x; moments (C, Q, k, k).
    """
    if sum(parameter[0].numel() for parameter in parameters) > MOST_PARAMETERS:
        return [None] * len(moments)
    W = layers_of(shape, parameters)
    if shape.kind != "relu":
        W = _narrowed(shape, W)
    P = sum(layer[0].numel() for layer in W)
    rates, together = moments.new_empty(len(moments)), max(1, _MOST_NUMBERS // P**2)

    def compute(nets: slice) -> None:
        for start in range(nets.start, nets.stop, together):
            part = slice(start, start + together)
            H = hessian(shape, [layer[part] for layer in W], [mask[part] for mask in masks], moments[part])
            rates[part] = -torch.linalg.eigvalsh(H, UPLO="U")[:, 0]

    in_parts(compute, len(moments), together)
    return rates.tolist()


def _narrowed(shape: NetShape, W: list[Tensor]) -> list[Tensor]:
    """Nets whose Hessian has the same smallest eigenvalue, with fewer hidden units and outputs where many are idle.

    L does not change if hidden units are rotated, or outputs beyond the first s. A rotation leaves all but a few of
    them without any weight. Each of these has an equal block of the Hessian to itself, so that one of them is kept.
    """
    if shape.symmetric:
        U = _fewer_rows(W[1], shape.s)
        U = _fewer_rows(U.mT, 0).mT
        return [U[:, : shape.s].mT, U]
    W = [*W[:-1], _fewer_rows(W[-1], shape.s)]
    if len(W) != 2:
        return W
    k, w = W[0].shape[2], W[0].shape[1]
    hidden = _fewer_rows(torch.cat([W[0], W[1][:, :, :w].mT], dim=2), 0)
    return [hidden[:, :, :k], torch.cat([hidden[:, :, k:].mT, W[1][:, :, w:]], dim=2)]


def _fewer_rows(W: Tensor, kept: int) -> Tensor:
    """The rows (C, rows, columns) beyond the `kept` first, rotated: as many as there are columns, and one of zeros."""
    if W.shape[1] - kept <= W.shape[2] + 1:
        return W
    R = torch.linalg.qr(W[:, kept:], mode="r").R
    return torch.cat([W[:, :kept], R, torch.zeros_like(R[:, :1])], dim=1)
