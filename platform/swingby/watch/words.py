"""Words on a terminal: other people's text without what steers it, times ago, and numbers of any size."""

from __future__ import annotations

from typing import Any

from swingby.run.progress import duration


def plain(text: object, most: int = 300) -> str:
    """Text that can only be read: a space for every run of white space, a mark for whatever else is not printable.

    Terminals obey control characters, and draw text backwards for some invisible ones.
    """
    cut = " ".join(str(text)[: 4 * most].split())
    safe = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in cut)
    return safe if len(safe) <= most else f"{safe[: most - 1]}…"


def ago(seconds: float) -> str:
    """How long something is past; clocks of two machines differ, so that it may seem to come."""
    return f"{duration(max(0.0, seconds))} ago"


def shown(value: Any) -> str:
    """A parameter's value, short."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return plain("(" + ", ".join(map(shown, value)) + ")", 40)
    return plain(value, 40)
