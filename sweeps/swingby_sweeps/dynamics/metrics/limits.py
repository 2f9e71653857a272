"""Where words for features change: the limits that detectors, drawings and pages share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MINIMUM = 0.1
"""kappa below which features are the minimum that the learned function needs."""
CONTAINED = 0.95
"""Containment below which features lie outside of the learned space, too."""
COLLAPSED: Mapping[str, float] = MappingProxyType({"nc1": 0.01, "nc2": 0.2, "nc3": 0.2, "nc4": 0.01})
"""Of each measure of neural collapse: the value below which it has collapsed."""
