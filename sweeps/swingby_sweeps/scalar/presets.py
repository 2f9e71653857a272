"""The conventions of the experiments of this folder: those of the thesis's text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def thesis(values: Mapping[str, Any]) -> dict[str, Any]:
    """The conventions of [T] 6: mean squared error with its factor 1/2, and the defaults of the parameters."""
    return {}
