"""Words on a terminal: times ago, and the value of a parameter, short."""

from __future__ import annotations

from typing import Any

from swingby.text import plain
from swingby.units import duration


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
