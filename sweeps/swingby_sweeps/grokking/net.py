"""A net of tanh layers with its gradient written out, on buffers that are made once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from swingby.model.cell import Cell

from .params import MlpParams

Array = np.ndarray


def start(cell: Cell[MlpParams]) -> Array:
    """The initial weights of a cell: layer by layer from the input on its matrix (fan in, fan out), then its bias."""
    p, draws = cell.params, cell.stream("init")
    parts = list[Array]()
    for fan_in, fan_out in p.layer_shapes:
        parts.append(p.weight_scale / np.sqrt(fan_in) * draws.normal(size=fan_in * fan_out))
        parts.append(draws.uniform(-1, 1, size=fan_out) / np.sqrt(fan_in))
    return np.concatenate(parts)


class Net:
    """f(x) = output_scale (h W_L + b_L), h the last of the hidden layers tanh(h W_l + b_l).

    Attributes:
        matrices: of the layers.
        trained, gradient: the weights of the layers that are trained, in the order of `start`, flat, and the gradient
            there. All are views of one memory.
    """

    def __init__(self, p: MlpParams, weights: Array) -> None:
        """`weights`: the initial ones, in the arithmetic of the net; they are copied."""
        whole = torch.tensor(weights)
        slopes = torch.zeros_like(whole)
        self.matrices, self._biases = _layers(whole, p.layer_shapes)
        self._matrix_gradients, self._bias_gradients = _layers(slopes, p.layer_shapes)
        self._scale = p.output_scale
        self._lowest = 0 if p.trained == "all" else p.layers - 1
        first = sum((fan_in + 1) * fan_out for fan_in, fan_out in p.layer_shapes[: self._lowest])
        self.trained, self.gradient = whole[first:], slopes[first:]
        self._buffers = dict[int, tuple[list[Tensor], list[Tensor]]]()

    def outputs(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The features in the last hidden layer (n, width) and f (n, outputs), in memory of their own."""
        h = x
        for matrix, bias in zip(self.matrices[:-1], self._biases[:-1], strict=True):
            h = torch.addmm(bias, h, matrix).tanh_()
        return h, torch.addmm(self._biases[-1], h, self.matrices[-1]).mul_(self._scale)

    def descend(self, x: Tensor, y: Tensor) -> None:
        """Put the gradient of the mean of (f - y)^2 over points and outputs into `gradient`."""
        h, d = self._memory(x)
        layers = len(self.matrices)
        for layer, (matrix, bias) in enumerate(zip(self.matrices, self._biases, strict=True)):
            torch.addmm(bias, h[layer], matrix, out=h[layer + 1])
            if layer < layers - 1:
                h[layer + 1].tanh_()
        # The slope of the loss at the last layer, before the output is scaled.
        torch.sub(h[-1], y, alpha=1 / self._scale, out=d[-1]).mul_(2 * self._scale**2 / y.numel())
        for layer in range(layers - 1, self._lowest - 1, -1):
            torch.mm(h[layer].t(), d[layer + 1], out=self._matrix_gradients[layer])
            torch.sum(d[layer + 1], 0, out=self._bias_gradients[layer])
            if layer > self._lowest:
                torch.mm(d[layer + 1], self.matrices[layer].t(), out=d[layer])
                torch.ops.aten.tanh_backward.grad_input(d[layer], h[layer], grad_input=d[layer])

    def _memory(self, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Values of all layers for a mini-batch, the input first, and slopes of the loss there."""
        if len(x) not in self._buffers:
            sizes = [matrix.shape[1] for matrix in self.matrices]
            h, d = ([x.new_empty(len(x), size) for size in sizes] for _ in range(2))
            self._buffers[len(x)] = [x, *h], [x, *d]
        h, d = self._buffers[len(x)]
        h[0] = x
        return h, d


def _layers(flat: Tensor, shapes: Sequence[tuple[int, int]]) -> tuple[list[Tensor], list[Tensor]]:
    """Matrices and biases of the layers, as views."""
    sizes = [size for fan_in, fan_out in shapes for size in (fan_in * fan_out, fan_out)]
    parts = flat.split(sizes)
    return [part.view(shape) for part, shape in zip(parts[::2], shapes, strict=True)], list(parts[1::2])
