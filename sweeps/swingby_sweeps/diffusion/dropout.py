"""Dropout whose masks belong to samples: a pure function of a sample's key, the layer's number and the element's index.

The same mask on every device, in a batch of any company and order, on any number of processes, in any precision and
memory format; torch's own random numbers are not touched.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import torch
from torch import Tensor, nn

_WORD = 1 << 32


def _signed(word: int, bits: int = 32) -> int:
    """The integer of two's complement that has the bits of a not negative one."""
    return word - (1 << bits) if word >> (bits - 1) else word


def _shifted(x: Tensor, by: int, bits: int) -> Tensor:
    """`x` shifted to the right, zeros coming in (torch's own shift of signed integers copies the sign)."""
    return (x >> by).bitwise_and_((1 << (bits - by)) - 1)


def _mix32(x: Tensor) -> Tensor:
    """An avalanching permutation of int32 (C. Wellons's lowbias32), in place."""
    x.bitwise_xor_(_shifted(x, 16, 32)).mul_(_signed(0x7FEB352D))
    x.bitwise_xor_(_shifted(x, 15, 32)).mul_(_signed(0x846CA68B))
    return x.bitwise_xor_(_shifted(x, 16, 32))


def _mix64(x: Tensor) -> Tensor:
    """An avalanching permutation of int64 (the finaliser of SplitMix64), in place; products wrap around."""
    x.bitwise_xor_(_shifted(x, 30, 64)).mul_(_signed(0xBF58476D1CE4E5B9, 64))
    x.bitwise_xor_(_shifted(x, 27, 64)).mul_(_signed(0x94D049BB133111EB, 64))
    return x.bitwise_xor_(_shifted(x, 31, 64))


@functools.cache
def _words(layers: tuple[int, ...], device: torch.device) -> Tensor:
    """A word for each layer, (L, 1) int64; cached for good, since recorded steps read it where it lies."""
    return _mix64(torch.tensor(layers, device=device) * _signed(0x9E3779B97F4A7C15, 64))[:, None]


def seeds(keys: Tensor, layers: tuple[int, ...]) -> Tensor:
    """Two words for each layer and sample; the mask is a function of them.

    Args:
        keys: (N,) int64, one a sample.
        layers: L numbers.

    Returns:
        (L, N, 2) int32.
    """
    both = _mix64(_words(layers, keys.device) + _mix64(keys.clone()))
    low, high = both.bitwise_and(_WORD - 1), _shifted(both, 32, 64)
    return (torch.stack((low, high), -1) - (1 << 31)).to(torch.int32)


@functools.cache
def _spread(elements: int, device: torch.device) -> Tensor:
    """The hashes of 0, 1, ..., elements - 1; cached for good: recorded steps read them, and they are dear to make."""
    return _mix32(torch.arange(elements, dtype=torch.int32, device=device))


class SampleDropout(nn.Module):
    """Dropout by masks that belong to samples. In evaluation, and at p = 0, the identity.

    A forward in training needs seeds, see `give_keys`.

    Args:
        p: share of elements that become zero, 0 <= p < 1; the others are divided by 1 - p.
        layer: number of the layer; layers of different numbers have independent masks.
    """

    def __init__(self, p: float, layer: int = 0) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"dropout p = {p}; allowed: 0 <= p < 1")
        self.p = p
        self.layer = layer
        self.seeds: Tensor | None = None

    def extra_repr(self) -> str:
        """The text that a print of the module shows."""
        return f"p={self.p}, layer={self.layer}"

    def forward(self, x: Tensor) -> Tensor:
        """`x` (N, ...), dropped out; ValueError in training without the keys of just these N samples."""
        if not self.training or not self.p:
            return x
        if self.seeds is None or len(self.seeds) != len(x):
            keys = "none" if self.seeds is None else f"{len(self.seeds)} keys"
            raise ValueError(
                f"dropout layer {self.layer} has {keys} for a batch of {len(x)}; "
                "allowed: in training, one key for each sample (see `give_keys`)"
            )
        return torch.where(self._kept(x, self.seeds), x * (1 / (1 - self.p)), 0)

    def _kept(self, x: Tensor, words: Tensor) -> Tensor:
        """The mask (N, ...): by a hash of the element's index in its sample and of the sample's two words."""
        index = _spread(x[0].numel(), x.device).view(1, *x.shape[1:])
        if x.dim() == 4 and not x.is_contiguous():  # the mask is laid out as x is; its elements are the same
            index = index.contiguous(memory_format=torch.channels_last)
        first, second = words.to(x.device).view(-1, 2, *[1] * (x.dim() - 1)).unbind(1)
        # The index is spread over all bits before it meets a sample's words, and two rounds part them: a word that
        # two samples share by chance, or words that differ in few bits, then make no masks that are alike.
        hashed = _mix32(index ^ first)
        hashed = hashed.bitwise_xor_(second).mul_(_signed(0x9E3779B1))
        return hashed >= round(self.p * _WORD) - (1 << 31)


def give_keys(layers: Iterable[SampleDropout], keys: Tensor | None) -> None:
    """Hand the samples' keys to the dropout layers of a network, for the next forward.

    Args:
        layers: numbered each with its own number.
        keys: (N,) int64, one a sample, on the device of the network; none takes them away.
    """
    chosen = [layer for layer in layers if layer.p]
    if not chosen:
        return
    words: Iterable[Tensor | None] = [None] * len(chosen)
    if keys is not None:
        words = seeds(keys, tuple(layer.layer for layer in chosen)).unbind(0)
    for layer, word in zip(chosen, words, strict=True):
        layer.seeds = word
