"""Times, bytes and counts as text for people."""

from __future__ import annotations


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
