"""The stages of growth and suppression that a run's Jacobian entries go through ([S] 4.2.1), read off its curves."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from swingby_analysis.signals.extrema import Floats

from .order import LEARNED

HALF = 0.5
"""The level of a major entry at which eq 4.3 without its noise moves it fastest: from there on it slows down."""
GROWTH, SUPPRESSION, TERMINAL = "growth", "suppression", "terminal"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class Stage(NamedTuple):
    """One stage: its name, its kind (growth, suppression or terminal) and the records that it reaches from and to."""

    name: str
    kind: str
    start: int
    end: int


def stages(W: Floats) -> list[Stage]:
    """The stages of one run, in order; each ends where the next one starts, and together they cover every record.

    Concepts are taken in the order p_1, p_2, ... in which their major entries reach 1/2. Growth k contains the record
    at which w_pp of p_k reaches 1/2. It turns into suppression k where the minor entries between p_k and the concepts
    after it, summed by magnitude, are largest before the next major entry reaches 1/2. The next growth starts where
    the fall of these entries is first made good by the next major entry: at the least of their sum with it, in the
    same stretch. A suppression without length (the next major entry always outgrows what is suppressed) is left out.
    The terminal stage is the final stretch in which every major entry is at least 0.9. What a run does not reach, it
    does not have: its last stage then goes on to the end.

    Args:
        W: the informative block of the Jacobian at each record, (T, s, s), finite, T >= 1.
    """
    bounds, last = _bounds(W), len(W) - 1
    edges = [start for start, _, _ in bounds] + [last]
    found = [
        Stage(_named(kind, k), kind, start, end)
        for (start, kind, k), (_, end) in zip(bounds, pairwise(edges), strict=True)
    ]
    # The first one stays even without length, so that a run that is over at once still has a stage.
    return [stage for place, stage in enumerate(found) if stage.end > stage.start or not (place or last)]


def _bounds(W: Floats) -> list[tuple[int, str, int]]:
    """Where each stage starts, its kind, and its number, counted from 0."""
    majors = np.diagonal(W, axis1=1, axis2=2)
    reached, arrivals = _arrivals(majors)
    bounds = [(0, GROWTH, 0)]
    for k, (p, q) in enumerate(pairwise(arrivals)):
        if not reached[p]:
            return bounds
        rest = arrivals[k + 1 :]
        minors = (np.abs(W[:, p, rest]) + np.abs(W[:, rest, p])).sum(axis=1) / 2
        first, until = _first(majors[:, p]), _first(majors[:, q])
        peak = first + int(np.argmax(minors[first : until + 1]))
        trough = peak + int(np.argmin((minors + majors[:, q])[peak : until + 1]))
        bounds += [(peak, SUPPRESSION, k), (trough, GROWTH, k + 1)]
    learned = np.array([bool((record >= LEARNED).all()) for record in majors])
    if learned[-1]:
        bounds.append((len(W) - int(np.argmin(np.append(learned[::-1], False))), TERMINAL, 0))
    return bounds


def _arrivals(majors: Floats) -> tuple[list[bool], list[int]]:
    """Whether each major entry reaches 1/2; and the concepts by when they do, those that never do last."""
    reached = [bool((major >= HALF).any()) for major in majors.T]
    keys = [(not reached[p], _first(majors[:, p]), -majors[-1, p]) for p in range(majors.shape[1])]
    return reached, sorted(range(majors.shape[1]), key=keys.__getitem__)


def _first(major: Floats) -> int:
    """The first record at which a major entry is at least 1/2; the last one if it never is."""
    above = np.flatnonzero(major >= HALF)
    return int(above[0]) if len(above) else len(major) - 1


def _named(kind: str, k: int) -> str:
    ordinal = _ORDINALS[k] if k < len(_ORDINALS) else f"{k + 1}th"
    if kind == TERMINAL:
        return kind
    return "initial growth" if (kind, k) == (GROWTH, 0) else f"{ordinal} {kind}"


def leaves_cone(W: Floats, tolerance: float) -> int | None:
    """The first record at which a symmetric W has an eigenvalue below -tolerance x trace; None if it never has.

    Of a block of W, such a record is also one at which the whole of W is no longer positive semidefinite.

    Args:
        W: (T, s, s), finite.
    """
    spectra = np.linalg.eigvalsh(W)
    outside = np.flatnonzero(spectra[:, 0] < -tolerance * np.abs(spectra.sum(axis=1)))
    return int(outside[0]) if len(outside) else None
