"""Nets, batched over cells: each holds its parameters, and the gradient of L by hand-written backpropagation.

Shapes: C cells; k = s + bias input coordinates (the last one is 1); d outputs. The loss is L = E[1/2 |f(x) - x T|^2]
with a linear target T (k, d) of each cell; without one it is the identity: the first s outputs have the inputs as
targets, the others 0. Inputs are rows: x (k) -> x @ first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from .shapes import CHUNK, NetShape

StepData = Tensor | tuple[Tensor, Tensor]
"""Data of a step: for moment nets scaled second moments (C, k, k); else points (C, B, k) and a scale (C, 1, 1)."""


def _by_vectors(r: int, m: int, n: int) -> bool:
    """Whether a product of sizes (m, r) and (r, n) is computed as r outer products.

    Below 400 multiplications torch uses a scalar loop; outer products use vector instructions, and are 3 times faster.
    """
    return r <= 4 and n >= 16 and 128 <= r * m * n < 400


def outer_(into: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """into += left^T @ right, of shapes (C, m, n), (C, r, m), (C, r, n), in place."""
    if _by_vectors(left.shape[1], left.shape[2], right.shape[2]):
        for i in range(left.shape[1]):
            into.addcmul_(left[:, i, :, None], right[:, i, None, :])
        return into
    return into.baddbmm_(left.mT, right)


def product(left: Tensor, right: Tensor, out: Tensor) -> Tensor:
    """out = left @ right, of shapes (C, m, r), (C, r, n), (C, m, n)."""
    if _by_vectors(left.shape[2], left.shape[1], right.shape[2]):
        return outer_(out.zero_(), left.mT, right)
    return torch.bmm(left, right, out=out)


class Net(ABC):
    """C nets of one shape.

    Attributes:
        shape: of each net.
        parameters: tensors with a leading cell axis, changed in place by training. Of layered nets the images of the k
            unit vectors under the first layer, (C, k, out), then weight (C, out, in) (and bias (C, out)) of each
            further layer; of symmetric nets U, (C, d, width).
        target: T of every cell, (C, k, d); None: the identity.
        together: recorded states whose curves are best computed together, from snapshots; 1: each at once.
    """

    together: int = 1

    def __init__(self, shape: NetShape, parameters: Sequence[Tensor], target: Tensor | None = None) -> None:
        self.shape, self.parameters, self.target = shape, list(parameters), target
        self.s, self.d, self.k, self.bias = shape.s, shape.d, shape.k, shape.bias

    @abstractmethod
    def push(self, data: StepData, into: Sequence[Tensor]) -> None:
        """Add to `into`, which may be `parameters`, the gradient of L on `data`, times the scale that data carries."""

    @abstractmethod
    def outputs(self, x: Tensor) -> Tensor:
        """f at points x of shape (C, m, k), as shape (C, m, d)."""

    @abstractmethod
    def jacobian(self, x: Tensor) -> Tensor:
        """df/dx at one point x (C, k), of the first s outputs by the s inputs: shape (C, s, s), row = output."""

    @abstractmethod
    def loss(self, whole: Tensor) -> Tensor:
        """L on moments (C, k, k) for moment nets, on points (C, N, k) for others: shape (C,), float64."""

    def snapshot(self, group: list[Net]) -> Net:
        """The nets as they are now, of use until they move; where `together` > 1, for as long as `group` lasts, the
        list of all snapshots that are looked at together."""
        return self

    def zero(self, cells: Tensor) -> None:
        """Set the weights of the cells of a mask (C,) to zero."""
        for parameter in self.parameters:
            parameter[cells] = 0

    @property
    def cells(self) -> int:
        """Number of cells."""
        return len(self.parameters[0])

    @property
    def device(self) -> torch.device:
        """Device of the parameters."""
        return self.parameters[0].device

    def minus_target(self) -> Tensor:
        """-T, shape (C, k, d); of the identity there is nothing for the constant."""
        if self.target is not None:
            return -self.target
        target = self.parameters[0].new_zeros(self.k, self.d)
        target.diagonal()[: self.s] = -1
        return target.expand(self.cells, -1, -1)


class MomentNet(Net):
    """A net linear in x: f(x) = x @ F with F (C, k, d), and the gradient needs the data's second moments only."""

    @abstractmethod
    def affine(self) -> Tensor:
        """F: the images of the k unit vectors, shape (C, k, d)."""

    def outputs(self, x: Tensor) -> Tensor:
        return torch.bmm(x, self.affine())

    def jacobian(self, x: Tensor) -> Tensor:
        return self.affine()[:, : self.s, : self.s].mT

    def loss(self, whole: Tensor) -> Tensor:
        """L = 1/2 tr (F - T)^T A (F - T) for moments A, in float64."""
        error = (self.affine() + self.minus_target()).double()
        return 0.5 * (error * torch.bmm(whole.double(), error)).sum((1, 2))


class LinearNet(MomentNet):
    """f(x) = W_L ... W_1 x, with biases or without, of one layer or more."""

    def __init__(self, shape: NetShape, parameters: Sequence[Tensor], target: Tensor | None = None) -> None:
        super().__init__(shape, parameters, target)
        stride = 1 + shape.bias
        self._weights = [self.parameters[0], *self.parameters[1::stride]]
        self._offsets = self.parameters[2::stride] if shape.bias else []
        empty = self.parameters[0].new_empty
        # Images of the unit vectors after each layer (H_1 is the first parameter itself), and the errors below each.
        self._H = [empty(self.cells, self.k, W.shape[1]) for W in self._weights[1:]]
        self._D = [empty(self.cells, self.k, W.shape[2]) for W in self._weights[1:]]
        self._error = empty(self.cells, self.k, self.d)
        self._D_last = empty(self.cells, self.k, self.d)
        self._minus_target = self.minus_target()

    def _forward(self) -> list[Tensor]:
        """[H_1, ..., H_(L-1)], each (C, k, width), and then the error F - T, (C, k, d)."""
        images = [self.parameters[0]]
        for layer, W in enumerate(self._weights[1:]):
            if layer == len(self._weights) - 2:
                H = torch.baddbmm(self._minus_target, images[-1], W.mT, out=self._error)
            else:
                H = torch.bmm(images[-1], W.mT, out=self._H[layer])
            if self.bias:
                H[:, -1].add_(self._offsets[layer])
            images.append(H)
        if len(images) == 1:
            images = [torch.add(self.parameters[0], self._minus_target, out=self._error)]
        return images

    def affine(self) -> Tensor:
        return self._forward()[-1] - self._minus_target

    def push(self, data: StepData, into: Sequence[Tensor]) -> None:
        assert isinstance(data, Tensor)
        images = self._forward()
        D = torch.bmm(data, images[-1], out=self._D_last)
        for layer in range(len(self._weights) - 1, 0, -1):
            # dL/dW = D^T H of the layer below; D goes down before W may change.
            below = product(D, self._weights[layer], out=self._D[layer - 1])
            place = 1 + (layer - 1) * (1 + self.bias)
            outer_(into[place], D, images[layer - 1])
            if self.bias:
                into[place + 1].add_(D[:, -1])
            D = below
        into[0].add_(D)


class SymmetricNet(MomentNet):
    """f(x) = U U^T x; the parameter is U, never W = U U^T."""

    def __init__(self, shape: NetShape, parameters: Sequence[Tensor], target: Tensor | None = None) -> None:
        super().__init__(shape, parameters, target)
        self._minus_target = self.minus_target()

    def affine(self) -> Tensor:
        U = self.parameters[0]
        return torch.bmm(U[:, : self.s], U.mT)

    def push(self, data: StepData, into: Sequence[Tensor]) -> None:
        assert isinstance(data, Tensor)
        U = self.parameters[0]
        top = U[:, : self.s].clone()
        D = torch.bmm(data, torch.baddbmm(self._minus_target, top, U.mT))
        through_inner = torch.bmm(D, U)
        into[0].baddbmm_(D.mT, top)
        into[0][:, : self.s].add_(through_inner)


class ReluNet(Net):
    """f(x) = W_L relu(... relu(W_1 x)), with biases or without."""

    def __init__(self, shape: NetShape, parameters: Sequence[Tensor], target: Tensor | None = None) -> None:
        super().__init__(shape, parameters, target)
        stride = 1 + shape.bias
        self._weights = self.parameters[1::stride]
        self._offsets = self.parameters[2::stride] if shape.bias else [None] * len(self._weights)
        self._buffers: dict[tuple[str, int, int], Tensor] = {}

    def _buffer(self, name: str, layer: int, rows: int, columns: int) -> Tensor:
        key = (name, layer, rows)
        if key not in self._buffers:
            self._buffers[key] = self.parameters[0].new_empty(self.cells, rows, columns)
        return self._buffers[key]

    def _forward(self, x: Tensor) -> list[Tensor]:
        """Activations after each layer, (C, B, width) each; the last is the output (C, B, d)."""
        rows, first = x.shape[1], self.parameters[0]
        h = torch.bmm(x, first, out=self._buffer("h", 0, rows, first.shape[2]))
        seen = [h]
        for layer, (W, b) in enumerate(zip(self._weights, self._offsets, strict=True), start=1):
            h.relu_()
            out = self._buffer("h", layer, rows, W.shape[1])
            h = torch.bmm(h, W.mT, out=out) if b is None else torch.baddbmm(b[:, None], h, W.mT, out=out)
            seen.append(h)
        return seen

    def _less_target(self, f: Tensor, x: Tensor) -> Tensor:
        """f - x T, in place, at points x (C, B, k)."""
        if self.target is not None:
            return f.baddbmm_(x, self.target, alpha=-1)
        f[:, :, : self.s].sub_(x[:, :, : self.s])
        return f

    def outputs(self, x: Tensor) -> Tensor:
        return self._forward(x)[-1].clone()

    def loss(self, whole: Tensor) -> Tensor:
        total = torch.zeros(self.cells, dtype=torch.float64, device=whole.device)
        for x in whole.split(CHUNK, dim=1):
            error = self._less_target(self._forward(x)[-1], x)
            total += error.square_().sum((1, 2), dtype=torch.float64)
        return 0.5 * total / whole.shape[1]

    def jacobian(self, x: Tensor) -> Tensor:
        seen = self._forward(x[:, None])
        slope = self.parameters[0][:, : self.s] * (seen[0] > 0) if self._weights else self.parameters[0][:, : self.s]
        for layer, W in enumerate(self._weights, start=1):
            slope = torch.bmm(slope, W.mT)
            if layer < len(self._weights):
                slope = slope * (seen[layer] > 0)
        return slope[:, :, : self.s].mT

    def push(self, data: StepData, into: Sequence[Tensor]) -> None:
        x, scale = data
        seen = self._forward(x)
        delta = self._less_target(seen[-1], x).mul_(scale)
        stride = 1 + self.bias
        for layer in range(len(self._weights), 0, -1):
            W, h = self._weights[layer - 1], seen[layer - 1]
            below = torch.bmm(delta, W, out=self._buffer("delta", layer, x.shape[1], W.shape[2]))
            place = 1 + (layer - 1) * stride
            outer_(into[place], delta, h)
            if self.bias:
                into[place + 1].add_(delta.sum(1))
            # h is a rectified activation: its sign is the derivative, 0 or 1.
            delta = below.mul_(h.sign_())
        into[0].baddbmm_(x.mT, delta)


def build(shape: NetShape, parameters: Sequence[Tensor], target: Tensor | None = None) -> Net:
    """Nets of a shape, of the class of its kind, that learn the target (C, k, d), or the identity."""
    return {"linear": LinearNet, "symmetric": SymmetricNet, "relu": ReluNet}[shape.kind](shape, parameters, target)
