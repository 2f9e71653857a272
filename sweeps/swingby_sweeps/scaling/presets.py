"""The conventions of the thesis for the multilinear model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def thesis(values: Mapping[str, Any]) -> dict[str, Any]:
    """The target scale of [T] C.3 and a small start; [T] does not say the start behind its Figs 4.2 and 4.3."""
    return {"s": 5.0, "r0": 0.01}
