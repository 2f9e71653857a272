"""The initialisation of a network: each parameter from a stream of its own, keyed by its name."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd

from .draws import sample_stream

DRAWN = (_ConvNd, nn.Linear)
ONES = (nn.GroupNorm, nn.LayerNorm, _BatchNorm)


def start_at_zero(layer: nn.Module) -> None:
    """Set a layer's own parameters to zero, now and whenever `initialise` draws the network."""
    layer._starts_at_zero = True  # pyright: ignore[reportArgumentType]
    _fill(layer, dict.fromkeys(("weight", "bias"), 0.0))


@torch.no_grad()
def initialise(module: nn.Module, key: bytes, scale: float = 1.0) -> None:
    """Draw every parameter of a network anew: torch's defaults in law, but a function of key and name alone.

    Weights and biases of convolutions and linear layers are uniform within +- 1/sqrt(fan in), drawn in float64,
    scaled and cast; norms get weight 1 and bias 0; layers given to `start_at_zero` get 0. Neither torch's version and
    random state nor the device, dtype or order of the layers matter.

    Args:
        module: any network of such layers.
        key: 16 bytes, see `Cell.key`.
        scale: factor of the weights and biases of convolutions and linear layers.

    Raises:
        TypeError: for a layer of another kind that has parameters of its own.
    """
    for name, layer in module.named_modules():
        if not list(layer.parameters(recurse=False)):
            continue
        if getattr(layer, "_starts_at_zero", False):
            _fill(layer, {"weight": 0.0, "bias": 0.0})
        elif isinstance(layer, ONES):
            _fill(layer, {"weight": 1.0, "bias": 0.0})
        elif isinstance(layer, DRAWN):
            weight = layer.weight
            assert isinstance(weight, Tensor)
            # The fan in as torch counts it: the weight's axis 1 times the kernel's size.
            bound = 1 / math.sqrt(weight[0].numel())
            for parameter_name, parameter in layer.named_parameters(recurse=False):
                stream = sample_stream(hashlib.sha256(key + f"{name}.{parameter_name}".encode()).digest()[:16], 0)
                drawn = np.asarray(stream.uniform(-bound, bound, tuple(parameter.shape)))
                parameter.copy_(torch.from_numpy(scale * drawn).to(parameter.dtype))
        else:
            raise TypeError(
                f"{name or 'the network itself'} is a {type(layer).__name__} with parameters of its own; "
                "allowed: convolutions, linear layers and norms"
            )


def _fill(layer: nn.Module, values: dict[str, float]) -> None:
    for name, parameter in layer.named_parameters(recurse=False):
        with torch.no_grad():
            parameter.fill_(values[name])
