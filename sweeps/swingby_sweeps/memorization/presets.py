"""Bundles of conventions: nets that a core trains in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]


def small(values: Values) -> dict[str, Any]:
    """Two components well apart in eight dimensions, and a net of two blocks of 64 units, which learns 16 points by
    heart within some thousand steps of Adam: the defaults."""
    return {}


def tiny(values: Values) -> dict[str, Any]:
    """The same data and one block of 16 units, for grids of many runs."""
    return {"width": 16, "blocks": 1, "batch_size": 16, "samples": 128}
