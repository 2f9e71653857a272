"""Records of Protocol Buffers without their schemas: the numbers of fields, and what they hold.

Source: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

VARINT, EIGHT, LENGTH, FOUR = 0, 1, 2, 5


class WireError(ValueError):
    """Bytes that are no message."""


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of every field of a message: an integer, or bytes (a text, a message, a float of 4 or 8 bytes).

    Raises:
        WireError: it ends too early, or has a kind of field that is none.
    """
    place, end = 0, len(data)
    while place < end:
        tag, place = _varint(data, place)
        kind = tag & 7
        if kind == VARINT:
            value, place = _varint(data, place)
            yield tag >> 3, value
            continue
        if kind == LENGTH:
            size, place = _varint(data, place)
        elif kind in (EIGHT, FOUR):
            size = 8 if kind == EIGHT else 4
        else:
            raise WireError(f"a field of kind {kind}")
        if place + size > end:
            raise WireError("a field that ends too early")
        yield tag >> 3, data[place : place + size]
        place += size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(data) and shift < 70:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
    raise WireError("an integer that does not end")


def signed(value: int | bytes) -> int:
    """An int64 of a field."""
    if not isinstance(value, int):
        raise WireError("bytes where an integer stands")
    return value - 2**64 if value >= 2**63 else value


def block(value: int | bytes) -> bytes:
    """The bytes of a field.

    Raises:
        WireError: it holds an integer.
    """
    if isinstance(value, int):
        raise WireError("an integer where bytes stand")
    return value


def text(value: int | bytes) -> str:
    """The text of a field."""
    return block(value).decode(errors="replace")


def real(value: int | bytes) -> float:
    """The float of a field of 4 or 8 bytes."""
    data = block(value)
    if len(data) not in (4, 8):
        raise WireError("a float of another size")
    (plain,) = struct.unpack("<f" if len(data) == 4 else "<d", data)
    return plain
