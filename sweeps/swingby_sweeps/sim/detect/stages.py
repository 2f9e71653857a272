"""The stages of growth and suppression of a run's Jacobian entries ([S] 4.2.1), found in its curves."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from swingby_analysis.signals.extrema import Floats
from swingby_analysis.signals.final_stretch import arrived_at

from .order import LEARNED
from .outcome import outside_cone

HALF = 0.5
"""The level of a major entry at which eq 4.3 without its noise moves it fastest."""
GROWTH, SUPPRESSION, TERMINAL = "growth", "suppression", "terminal"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class Stage(NamedTuple):
    """One stage: its name, its kind (growth, suppression or terminal), and its first and last record."""

    name: str
    kind: str
    start: int
    end: int


def stages(W: Floats) -> list[Stage]:
    """The stages of one run, in order; each ends where the next one starts, and together they cover every record.

    Concepts are taken in the order p_1, p_2, ... in which their major entries reach 1/2. Growth k contains the record
    at which w_pp of p_k reaches 1/2. It turns into suppression k where the minor entries between p_k and the concepts
    after it, summed by magnitude, are largest before the next major entry reaches 1/2. The next growth starts at the
    least sum of these entries and the next major entry, in the same stretch: from there on the major entry gains more
    than they lose. A suppression without length (the next major entry always outgrows what is suppressed) is left out.
    The terminal stage is the final stretch in which every major entry is at least 0.9. A run that does not reach a
    stage does not have it: its last stage then goes on to the end.

    Args:
        W: the informative block of the Jacobian at each record, (T, s, s), finite, T >= 1.
    """
    majors, last = np.diagonal(W, axis1=1, axis2=2), len(W) - 1
    reached = [bool((major >= HALF).any()) for major in majors.T]
    order = sorted(range(len(reached)), key=lambda p: (not reached[p], _first(majors[:, p]), -majors[-1, p]))
    starts = [(0, GROWTH, "initial growth")]
    for k, (p, q) in enumerate(pairwise(order)):
        if not reached[p]:
            break
        rest = order[k + 1 :]
        minors = (np.abs(W[:, p, rest]) + np.abs(W[:, rest, p])).sum(axis=1) / 2
        first, until = _first(majors[:, p]), _first(majors[:, q])
        peak = first + int(np.argmax(minors[first : until + 1]))
        trough = peak + int(np.argmin((minors + majors[:, q])[peak : until + 1]))
        starts.append((peak, SUPPRESSION, f"{_ordinal(k)} suppression"))
        starts.append((trough, GROWTH, f"{_ordinal(k + 1)} growth"))
    learned = int(arrived_at(majors[None], LEARNED).max())
    if learned < len(W):
        starts.append((learned, TERMINAL, "terminal"))
    ends = [start for start, _, _ in starts[1:]] + [last]
    every = [Stage(name, kind, start, end) for (start, kind, name), end in zip(starts, ends, strict=True)]
    # The first stage stays even without length, so that a run of one record still has a stage.
    return [stage for place, stage in enumerate(every) if stage.end > stage.start or not (place or last)]


def _first(major: Floats) -> int:
    """The first record at which a major entry is at least 1/2; the last record if it never is."""
    above = np.flatnonzero(major >= HALF)
    return int(above[0]) if len(above) else len(major) - 1


def _ordinal(k: int) -> str:
    """The ordinal of k, counted from 0."""
    return _ORDINALS[k] if k < len(_ORDINALS) else f"{k + 1}th"


def leaves_cone(W: Floats, dtype: str) -> int | None:
    """The first record at which a symmetric W has an eigenvalue that is negative beyond rounding; None if none has.

    Where the given W is a block of a larger one, that one is not positive semidefinite at this record either.

    Args:
        W: (T, s, s), finite.
        dtype: in which W was iterated.
    """
    spectra = np.asarray(np.linalg.eigvalsh(W), dtype=np.float64)
    outside = np.flatnonzero(outside_cone(spectra[:, 0], np.abs(spectra.sum(axis=1)), dtype))
    return int(outside[0]) if len(outside) else None
