"""Times, bytes and counts as text for people."""

from __future__ import annotations

import re

from swingby.errors import SwingbyError

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def duration(seconds: float) -> str:
    """Seconds as a person says them: 4.2 s, 42 s, 3 min 20 s, 2 h 05 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def span(low: float, high: float) -> str:
    """A range of seconds as a person says it: 40 to 70 s, 4 to 6 h; one duration where both ends read alike."""
    unit, name = next(
        (unit, name) for unit, name in ((3600, "h"), (60, "min"), (1, "s")) if high >= 1.5 * unit or unit == 1
    )
    ends = [_rounded(seconds / unit) for seconds in (low, high)]
    return duration((low + high) / 2) if ends[0] == ends[1] or low == high else f"{ends[0]:g} to {ends[1]:g} {name}"


def _rounded(value: float) -> float:
    """To halves below 3, to two digits above 10."""
    if value < 3:
        return round(2 * value) / 2
    return round(value, 0 if value < 100 else -1)


def size(count: float) -> str:
    """Bytes as a person says them: 340 B, 1.2 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number and its noun: 1 worker, 2 workers; `many` where an s does not make the plural."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def count_of_bytes(text: str, what: str = "size") -> int:
    """The bytes that a text such as 500MB or 4GiB stands for.

    Raises:
        SwingbyError: it is of another form; `what` names it.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]i?B)\s*", text, re.IGNORECASE)
    if match is None:
        raise SwingbyError(f"{what} {text!r} is not understood; allowed: a number and KB, MB, GB, KiB, MiB or GiB")
    return int(float(match[1]) * _UNITS[match[2].upper()])
