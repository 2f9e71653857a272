"""The conventions of this experiment: double precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def exact(values: Mapping[str, Any]) -> dict[str, Any]:
    """Arithmetic in float64."""
    return {"dtype": "float64"}
