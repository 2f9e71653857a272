"""The terminal slow-down: rates at which the output nears the right answer, measured and predicted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swingby_analysis.signals import kernels
from swingby_analysis.signals.extrema import Floats, Ints

from .. import theory

BAND = (0.02, 0.3)
"""The distance from the answer over whose last visit a rate is fitted."""
FEWEST = 5
"""The least number of records of a visit."""
SETTLED = 0.98
"""All diagonal entries exceed this before the rate of a minor entry is read."""
DECADES = 1e-3
"""The share of its first size down to which a minor entry is followed."""


class Rates(NamedTuple):
    """Rates a unit of time, R^2 of their fits, and predictions, each (C, K); NaN where there is none."""

    rate: Floats
    r2: Floats
    predicted: Floats


class Visits(NamedTuple):
    """Records start .. stop - 1 of each of K curves of C cells, int (C, K); none where the two are equal."""

    start: Ints
    stop: Ints


def last_visit(size: Floats) -> Visits:
    """The last unbroken stretch of at least FEWEST records of size (C, T, K) within BAND."""
    return Visits(*kernels.last_visit(size, *BAND, FEWEST))


def fit(size: Floats, time: Floats, visits: Visits, in_pairs: bool = False) -> tuple[Floats, Floats]:
    """Minus the slope of log(size) against time over the visits, and R^2; each (C, K).

    Args:
        size: positive where visited, (C, T, K).
        time: (C, T).
        visits: those of fewer than FEWEST records give NaN.
        in_pairs: whether sums are pairwise (`kernels.pairwise`); the order of a sum decides about its last bits.
    """
    start, stop = visits
    stop = np.where(stop - start >= FEWEST, stop, start)
    xx, xy, yy = kernels.moments(
        np.log(kernels.picked(size, start, stop)), time, start, stop, in_pairs or size.shape[2] == 1
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(xx > 0, -xy / xx, np.nan), np.where((xx > 0) & (yy > 0), xy**2 / (xx * yy), np.nan)


def _banded(size: Floats, time: Floats) -> tuple[Floats, Floats]:
    return fit(size, time, last_visit(size))


def outputs(progress: Floats, time: Floats) -> Rates:
    """Rate of log |r_k - 1| against flow time, without a prediction. progress (C, T, s), time (C, T)."""
    rate, r2 = _banded(np.abs(progress - 1), time)
    return Rates(rate, r2, np.full_like(rate, np.nan))


def symmetric_majors(jacobian: Floats, time: Floats, a: Floats, d: Floats) -> Rates:
    """Rate of log(|1 - w_kk| / w_kk) against the time of eq 4.3 (twice the flow's); predicted: 2 a_k where d = s.

    Args:
        jacobian: informative block, (C, T, s, s).
        time: time of the flow of L, (C, T).
        a: (C, s).
        d: (C,), NaN where it is not known, and then taken for s.
    """
    diagonal = np.diagonal(jacobian, axis1=2, axis2=3)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(diagonal > 0, np.abs(1 - diagonal) / diagonal, np.nan)
    rate, r2 = _banded(size, 2 * time)
    return Rates(rate, r2, theory.terminal_rates(a.T, d)[0].T)


def symmetric_minors(jacobian: Floats, time: Floats, a: Floats, d: Floats, least: Floats) -> Rates:
    """Rate of log |w_ij|, i < j row by row, once all s diagonals exceed 0.98 for good; predicted: a_i + a_j, if d = s.

    Both of its own diagonals are not enough: an entry w_kk that is still small lets the product w_ki w_kj feed w_ij,
    and that product falls at (a_i + a_j - 2 a_k) / 2 only. Where d > s there are such k, with a_k = 0, to the end.

    An entry is followed while it lies above a thousandth of its size at that moment and above `least` (C,), rounding.
    """
    i, j = np.triu_indices(a.shape[1], 1)
    diagonal = np.diagonal(jacobian, axis1=2, axis2=3)
    size = np.abs(jacobian[:, :, i, j])
    high = np.broadcast_to(np.all(diagonal > SETTLED, axis=2, keepdims=True), size.shape)
    start = kernels.final_stretch(~high)
    first = np.take_along_axis(size, (start % size.shape[1])[:, None], axis=1)
    large = (size > DECADES * first) & (size > least[:, None, None])
    # Only up to the first small record: later ones are noise or a change of sign.
    small = ~(large | (np.arange(size.shape[1])[:, None] < start[:, None]))
    stop = np.where(small.any(axis=1), small.argmax(axis=1), size.shape[1])
    rate, r2 = fit(size, 2 * time, Visits(start, stop), in_pairs=True)
    return Rates(rate, r2, theory.terminal_rates(a.T, d)[1].T)


def one_layer(progress: Floats, jacobian: Floats, mu: Floats, time: Floats, a: Floats) -> Rates:
    """Rate of log |r_k - 1| without the initial-noise term of (4.2); predicted: a_k.

    Args:
        progress: r_k, (C, T, s).
        jacobian: informative block at the first record (step 0), (C, s, s).
        mu, a: (C, s).
        time: time of the flow of L, (C, T).
    """
    decay = np.exp(-time[:, :, None] * a[:, None, :])
    with np.errstate(divide="ignore", invalid="ignore"):
        initial = np.einsum("cti,cki,ci->ctk", decay, jacobian, mu) / mu[:, None, :]
        rate, r2 = _banded(np.abs(progress - initial - 1), time)
    return Rates(rate, r2, a.copy())
