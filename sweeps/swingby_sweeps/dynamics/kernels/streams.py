"""NumPy's random streams inside kernels: Philox, the normal ziggurat, uniforms and permutations, bit for bit.

A cell draws some ten thousand numbers, and NumPy's own calls cost more than the training they feed. Each function here
gives exactly what `numpy.random.Generator(numpy.random.Philox(key=key))` gives; a law holds them to it.

A stream is one array: key, counter, position in half words, and the words of output that were made ahead. It draws
numbers of one kind: of words (normals, uniforms), or of half words (permutations).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numba.np.random import _constants

from swingby.model.cell import Cell

Array = np.ndarray
AHEAD = 256
"""Words of output made at a time."""
STREAM = 4 + AHEAD
"""Words of a stream."""
# Positions count half words.
_END = 2 * AHEAD
# The tables of NumPy's ziggurat (its distributions.c), as numba carries them for its own Generator.
_KI, _WI, _FI = _constants.ki_double, _constants.wi_double, _constants.fi_double
_R, _INVERSE_R = _constants.ziggurat_nor_r, _constants.ziggurat_nor_inv_r
# The multipliers of Philox4x64 and the steps of its key (Salmon et al. 2011).
_M0, _M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_W0, _W1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_U0, _U1, _U8, _U9, _U11 = (np.uint64(number) for number in (0, 1, 8, 9, 11))
# Of a word a normal takes 8 bits for its layer of the ziggurat, one for its sign and 52 for its size.
_MANTISSA, _BYTE = np.uint64(0x000FFFFFFFFFFFFF), np.uint64(0xFF)
# Its type says that the first argument is passed, too.
_inside: Any = intrinsic
# 2^-53: a double is made of the upper 53 bits of a word.
_TO_DOUBLE = 1.0 / 9007199254740992.0


def keys(cells: Sequence[Cell], name: str) -> Array:
    """The keys of the cells' streams `name`, shape (C, 2), uint64."""
    digests = b"".join(cell.key(name) for cell in cells)
    return np.frombuffer(digests, dtype="<u8").reshape(-1, 2).astype(np.uint64)


@_inside
def _high(_: Any, a: Any, b: Any) -> Any:
    """The upper 64 bits of a product of two 64-bit numbers: one instruction, which numba's own types cannot say."""

    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        a, b = (builder.zext(argument, wide) for argument in arguments)
        product = builder.mul(a, b)
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@njit(cache=True, nogil=True)
def begin(key: Array, stream: Array) -> None:
    """Set `stream` (STREAM,), uint64, to its beginning; `key` is (2,), uint64."""
    stream[0], stream[1], stream[2], stream[3] = key[0], key[1], 0, _END


@njit(cache=True, nogil=True)
def _round(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    return _high(_M1, c2) ^ c1 ^ k0, _M1 * c2, _high(_M0, c0) ^ c3 ^ k1, _M0 * c0


@njit(cache=True, nogil=True)
def _refill(stream: Array) -> None:
    """Philox4x64-10 (Salmon et al. 2011), two blocks at a time: a round waits for the last one of its own block.

    No stream of a cell needs a second word of its counter.
    """
    counter = stream[2]
    for place in range(4, STREAM, 8):
        k0, k1 = stream[0], stream[1]
        a0, a1, a2, a3 = counter + _U1, _U0, _U0, _U0
        counter += _U1 + _U1
        b0, b1, b2, b3 = counter, _U0, _U0, _U0
        for _ in range(10):
            a0, a1, a2, a3 = _round(a0, a1, a2, a3, k0, k1)
            b0, b1, b2, b3 = _round(b0, b1, b2, b3, k0, k1)
            k0, k1 = k0 + _W0, k1 + _W1
        stream[place], stream[place + 1], stream[place + 2], stream[place + 3] = a0, a1, a2, a3
        stream[place + 4], stream[place + 5], stream[place + 6], stream[place + 7] = b0, b1, b2, b3
    stream[2] = counter


@njit(cache=True, nogil=True)
def _uniform(stream: Array) -> Any:
    """One number of [0, 1)."""
    place = np.intp(stream[3])
    if place == _END:
        _refill(stream)
        place = 0
    stream[3] = place + 2
    return (stream[4 + (place >> 1)] >> _U11) * _TO_DOUBLE


@njit(cache=True, nogil=True)
def uniforms(stream: Array, out: Array) -> None:
    """Fill `out` (n,), float64, with numbers of [0, 1)."""
    for i in range(len(out)):
        out[i] = _uniform(stream)


@njit(cache=True, nogil=True)
def _rare(stream: Array, index: Any, x: Any, size: Any) -> Any:
    """What follows where the first word did not decide: (whether there is a number, the number)."""
    # The outermost layer has a tail, drawn by Marsaglia's method; bit 8 of the size is its sign.
    if index == 0:
        while True:
            far = -_INVERSE_R * math.log1p(-_uniform(stream))
            near = -math.log1p(-_uniform(stream))
            if near + near > far * far:
                return True, (-(_R + far) if (size >> 8) & 1 else _R + far)
    inside = (_FI[index - 1] - _FI[index]) * _uniform(stream) + _FI[index] < math.exp(-0.5 * x * x)
    return inside, x


@njit(cache=True, nogil=True)
def normals(stream: Array, out: Array) -> None:
    """Fill `out` (n,), float64, with standard normal numbers."""
    place = np.intp(stream[3])
    for i in range(len(out)):
        while True:
            if place == _END:
                _refill(stream)
                place = 0
            word = stream[4 + (place >> 1)]
            place += 2
            index = np.intp(word & _BYTE)
            size = np.int64((word >> _U9) & _MANTISSA)
            x = size * _WI[index]
            if (word >> _U8) & _U1:
                x = -x
            if size < np.int64(_KI[index]):
                break
            stream[3] = place
            accepted, x = _rare(stream, index, x, size)
            place = np.intp(stream[3])
            if accepted:
                break
        out[i] = x
    stream[3] = place


@njit(cache=True, nogil=True)
def permute(stream: Array, order: Array, partners: Array) -> None:
    """`order` (N,) becomes a permutation of 0 .. N - 1; `partners` (N,) is scratch.

    Fisher and Yates, with half words cut to the bits that i has. Whether one is taken is not foreseeable, so none is
    asked: each is written down as the partner of i, and i goes on or not.
    """
    halves = stream[4:].view(np.uint32)
    for i in range(len(order)):
        order[i] = i
    place, mask = np.intp(stream[3]), 1
    while mask < len(order) - 1:
        mask = 2 * mask + 1
    i = len(order) - 1
    while i > 0:
        last = mask >> 1
        while i > last:
            if place == _END:
                _refill(stream)
                place = 0
            j = np.intp(halves[place]) & mask
            place += 1
            partners[i] = j
            i -= np.intp(j <= i)
        mask = last
    for i in range(len(order) - 1, 0, -1):
        j = partners[i]
        order[i], order[j] = order[j], order[i]
    stream[3] = place


@njit(cache=True, nogil=True)
def next_orders(streams: Array, orders: Array) -> None:
    """The next permutation of each of C streams (C, STREAM): orders (C, N)."""
    partners = np.empty_like(orders[0])
    for c in range(len(orders)):
        permute(streams[c], orders[c], partners)
