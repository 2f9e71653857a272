"""Training in stages: modes, or skills, that are learned one after another, by the overlaps of consecutive pairs.

The overlap of a pair is the strength of the later one when both add up to one whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

WITHIN = 0.05
"""The overlap up to which one of a pair counts as learned after the other."""


def stages(overlaps: Iterable[float]) -> int | None:
    """How many pairs, from the first on without a gap, overlap by `WITHIN` at most.

    None where there is no pair, and where one that decides is not known (NaN).
    """
    count = 0
    for value in overlaps:
        if math.isnan(value):
            return None
        if value > WITHIN:
            return count
        count += 1
    return count or None
