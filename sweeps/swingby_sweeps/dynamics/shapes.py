"""The shape that the nets of a batch share, and how their training points are cut into mini-batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Array = np.ndarray
CHUNK = 256
"""Points at a time in an evaluation over a whole training set: activations stay in the cache."""


@dataclass(frozen=True, slots=True)
class NetShape:
    """The shape of a net of `s` inputs.

    Attributes:
        kind: layers of weights, "linear" or "relu"; or "symmetric": f(x) = U U^T x with one matrix U.
        s: inputs, without the constant. By default a net learns the identity: they are the targets of the first s
            outputs, and those of the others are 0.
        d: outputs, at least s.
        hidden: widths of the hidden layers; of a symmetric net the number of columns of U.
        bias: whether every layer has biases; the input then has a last coordinate of 1, whose weights are the first
            layer's biases.
    """

    kind: Literal["linear", "relu", "symmetric"]
    s: int
    d: int
    hidden: tuple[int, ...] = ()
    bias: bool = False

    @property
    def k(self) -> int:
        """Coordinates of an input, the constant included."""
        return self.s + self.bias

    @property
    def widths(self) -> tuple[int, ...]:
        """Outputs of every layer, from the input on; d is the last."""
        return (*self.hidden, self.d)

    @property
    def symmetric(self) -> bool:
        """Whether the net is U U^T."""
        return self.kind == "symmetric"


@dataclass(frozen=True, slots=True)
class Batching:
    """Mini-batches: an epoch's points in a random order, `size` at a time, the last mini-batch perhaps smaller.

    Attributes:
        size: points a mini-batch.
        reshuffle: whether every epoch has a new order; else the first epoch's order is that of all.
    """

    size: int
    reshuffle: bool = False

    def batches(self, points: int) -> int:
        """Mini-batches in an epoch."""
        return -(-points // self.size)


class Order:
    """The order of N training points in each epoch, drawn from a random stream: once, or anew for every epoch."""

    def __init__(self, stream: np.random.Generator, points: int, reshuffle: bool) -> None:
        self._stream, self._points, self._once = stream, points, not reshuffle
        self._current: Array | None = None

    def next_epoch(self) -> Array:
        """Indices of the points in the order of the next epoch, shape (N,)."""
        if self._current is None or not self._once:
            self._current = self._stream.permutation(self._points)
        return self._current
