"""The layers of an MLP or of a net with convolutions over a line, as numbers; needs no torch."""

from __future__ import annotations

from dataclasses import dataclass

from .params import VISION, FeaturesParams

TAPS = (5, 3, 3)
"""Taps of the convolutions; their stride is 2, and half of the taps is padding."""


@dataclass(frozen=True)
class Layer:
    """One layer: a matrix on rows of `fan_in` numbers, then batch norm and activation, unless it is the last.

    Attributes:
        fan_in, fan_out: shape of the matrix.
        taps: of a convolution, whose rows are the values under its taps; 0: a dense layer, a row a point.
        places: rows of a point: places of the taps, or 1.
        last: whether it is the output.
    """

    fan_in: int
    fan_out: int
    taps: int = 0
    places: int = 1
    last: bool = False


def layers(p: FeaturesParams) -> list[Layer]:
    """The layers of a net from the input on."""
    stack, length, channels = list[Layer](), p.inputs, 1
    if p.net == "cnn1d":
        for taps in TAPS:
            length = (length - 1) // 2 + 1
            stack.append(Layer(taps * channels, p.channels, taps, length))
            channels = p.channels
    sizes = [length * channels, *[p.width] * (p.layers - 1), p.outputs]
    ends = range(1, len(sizes))
    return [*stack, *(Layer(sizes[i - 1], sizes[i], last=i == len(sizes) - 1) for i in ends)]


def width_of_features(p: FeaturesParams) -> int:
    """The number of features: inputs of the last layer; 512 of both nets of torchvision."""
    return 512 if p.net in VISION else layers(p)[-1].fan_in
