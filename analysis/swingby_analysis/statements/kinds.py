"""Kinds of claim, each with its own rule: what the seeds of one convention and setting say of it, and how strongly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swingby.errors import SwingbyError
from swingby.select.intervals import wilson
from swingby_analysis.stats.exact import LEVEL, rank_sum
from swingby_analysis.stats.seeds import t_interval
from swingby_analysis.stats.superiority import superiority

Floats = NDArray[np.float64]
EXISTS, MEAN, MOST, LAW, ALWAYS = "exists", "in the mean", "in most seeds", "law", "always"
KINDS = (EXISTS, MEAN, MOST, LAW, ALWAYS)
LEAST: Mapping[str, int] = {EXISTS: 1, MEAN: 5, MOST: 6, LAW: 5, ALWAYS: 20}
"""Seeds that have to tell before a row has a verdict, where a claim says no number of its own.

That six of six agree has a chance of 3 % where each way is as likely; twenty seeds without an exception leave room for
exceptions in less than 17 %.
"""
HOLDS, FAILS, UNTOLD = "holds", "does not hold", "cannot be told"
SHOWN, NOT_SHOWN, REVERSE = "shown", "not shown", "the reverse holds"
WORDS: Mapping[str, tuple[str, str, str]] = {
    EXISTS: (NOT_SHOWN, SHOWN, NOT_SHOWN),
    MEAN: (NOT_SHOWN, HOLDS, REVERSE),
    MOST: (UNTOLD, HOLDS, FAILS),
    LAW: (UNTOLD, HOLDS, FAILS),
    ALWAYS: (UNTOLD, HOLDS, FAILS),
}
"""What a verdict is called by kind, for signs of 0, 1 and -1."""
PARAMETERS = 3
"""Values of the small parameter that a law needs at least."""
ZERO = 1e-4
"""Errors of a law up to this share of the largest one allowed count as zero: rounding has no exponent."""
HALF = 0.5
LARGER = "P(larger)"
"""What the probability of superiority is called."""


@dataclass(frozen=True)
class Number:
    """A number with its interval at 95 %."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.value:.3g} (every seed)"
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True)
class Outcome:
    """What the seeds of one row say of a claim.

    Attributes:
        sign: 1 for the claim, -1 against it, 0 if neither is shown.
        n, k: seeds that tell, and those of them for the claim; of two samples, those of the side that is to be larger.
        few: too few seeds tell for a verdict of any sort.
        strength: how strongly, in words.
        share: of the seeds, with its interval; None where the rule counts no seeds.
        effect: the size of the effect, with its interval; None where the rule has none.
        equal: the claim is that the effect is zero.
        example: a seed that shows what exists, or that refutes what always is.
        reversible: an effect below zero is the reverse of the claim, and not only against it.
    """

    kind: str
    sign: int
    n: int
    k: int
    few: bool
    strength: str
    share: Number | None = None
    effect: Number | None = None
    equal: bool = False
    example: int | None = None
    reversible: bool = True

    @property
    def verdict(self) -> str:
        """The row's own verdict in words."""
        if self.few:
            return UNTOLD
        against = self.sign < 0 and (self.equal or not self.reversible)
        return FAILS if against else WORDS[self.kind][self.sign]


def exists(n: int, k: int, example: int | None, least: int = LEAST[EXISTS]) -> Outcome:
    """One seed that holds shows it, and is named; none, however many, only bounds how common it can be."""
    share, few = _share(n, k), not k and n < max(least, 1)
    if k:
        strength = f"shown by seed {example}; by {k} of {n} seeds: {share}"
    else:
        strength = _wanting(n, least) if few else f"none of {n} seeds: less than {_percent(share.high)} of starts do"
    return Outcome(EXISTS, int(k > 0), n, k, few, strength, share, example=example)


def always(n: int, k: int, example: int | None, least: int = LEAST[ALWAYS]) -> Outcome:
    """One exception refutes it, and is named; without any it holds, up to the share that exceptions can still have."""
    exceptions, few = n - k, n == k and n < max(least, 1)
    if exceptions:
        strength = f"{exceptions} of {n} seeds {'is' if exceptions == 1 else 'are'} against it, such as seed {example}"
    else:
        bound = f"no exception in {n} seeds: less than {_percent(_share(n, 0).high)} of seeds can be exceptions"
        strength = _wanting(n, least) if few else bound
    return Outcome(ALWAYS, -1 if exceptions else 1, n, k, few, strength, _share(n, k), example=example)


def most(n: int, k: int, least: int = LEAST[MOST]) -> Outcome:
    """Wilson's interval of the share of seeds lies beyond one half, below it, or on both sides."""
    share, few = _share(n, k), n < max(least, 1)
    strength = _wanting(n, least) if few else f"{share} of seeds"
    return Outcome(MOST, int(share.low > HALF) - int(share.high < HALF), n, k, few, strength, share)


def mean(
    seeds: Sequence[Any],
    effects: ArrayLike,
    least: int = LEAST[MEAN],
    within: float | None = None,
    reversible: bool = True,
) -> Outcome:
    """Student's interval of the mean over seeds of an effect lies above 0 or below; or within a tolerance of 0.

    Args:
        seeds, effects: a number a seed; the numbers of one seed are averaged, and those not finite tell nothing.
        within: the claim is that the mean is 0, which holds where its interval lies within this distance of it.
        reversible: an interval below 0 says that the reverse holds; else only that the claim does not.
    """
    values = _by_seed(seeds, effects)
    n, above = len(values), int((values > 0).sum())
    if n < max(least, 2):
        return Outcome(MEAN, 0, n, above, True, _wanting(n, max(least, 2)))
    effect = _mean(values)
    if within is None:
        sign = int(effect.low > 0) - int(effect.high < 0)
        strength = f"{effect}; above 0 in {above} of {n} seeds"
    else:
        sign = 1 if -within <= effect.low and effect.high <= within else 0
        sign -= int(effect.low > within or effect.high < -within)
        strength = f"{effect}, of {n} seeds; to within {within:g} of 0"
    equal = within is not None
    return Outcome(MEAN, sign, n, above, False, strength, effect=effect, equal=equal, reversible=reversible)


def larger(seeds: Sequence[Any], sides: Sequence[Any], values: ArrayLike, least: int = LEAST[MEAN]) -> Outcome:
    """Two independent samples: whether values are larger where the side is true, by how often they are.

    The two-sided test of Mann and Whitney and the interval of the probability of superiority have to agree. The numbers
    of one seed on one side are averaged; seeds without a number tell nothing.
    """
    on = np.array([bool(side) for side in sides], dtype=bool)
    known = np.array([side is not None for side in sides], dtype=bool)
    numbers, keys = np.asarray(values, dtype=float), np.asarray(seeds)
    one, other = (_by_seed(keys[known & part], numbers[known & part], infinite=True) for part in (on, ~on))
    n, fewest = len(one) + len(other), min(len(one), len(other))
    if fewest < max(least, 2):
        return Outcome(MEAN, 0, n, len(one), True, _wanting(fewest, max(least, 2), "of the smaller sample "))
    effect, p = Number(*superiority(one, other)), rank_sum(one, other).p
    sign = (int(effect.low > HALF) - int(effect.high < HALF)) if p < LEVEL else 0
    return Outcome(
        MEAN, sign, n, len(one), False, f"{LARGER} = {effect}; {len(one)} against {len(other)} seeds, p = {p:.1g}",
        effect=effect,
    )  # fmt: skip


def law(
    seeds: Sequence[Any],
    parameters: ArrayLike,
    errors: ArrayLike,
    within: float,
    slope: float | None = None,
    least: int = LEAST[LAW],
) -> Outcome:
    """The error goes to 0 with a parameter: it falls with it, seed by seed, and is small enough where it is least.

    Args:
        seeds, parameters, errors: rows; an error that is NaN tells nothing, and one that is infinite counts.
        within: the largest mean error allowed at the smallest parameter.
        slope: the exponent that theory gives; a law whose exponent lies below half of it does not hold.

    Raises:
        SwingbyError: a parameter is not above 0, or an error is below 0.
    """
    keys, small, off = np.asarray(seeds), np.asarray(parameters, dtype=float), np.asarray(errors, dtype=float)
    known = ~np.isnan(off) & ~np.isnan(small)
    keys, small, off = keys[known], small[known], off[known]
    if (small <= 0).any() or (off < 0).any():
        raise SwingbyError("the rows of a law have a parameter above 0, and an error of 0 or more")
    values = np.unique(small)
    last = _by_seed(keys[small == values[0]], off[small == values[0]], infinite=True) if len(values) else np.empty(0)
    n, k = len(last), int((last <= within).sum())
    if n < max(least, 2):
        return Outcome(LAW, 0, n, k, True, _wanting(n, max(least, 2)))
    if len(values) < PARAMETERS:
        return Outcome(LAW, 0, n, k, True, f"{len(values)} values of the parameter; {PARAMETERS} are needed")
    error = _mean(last) if np.isfinite(last).all() else Number(np.inf, np.inf, np.inf)
    exponents = _exponents(keys, small, off, within * ZERO)
    exponent = _mean(exponents) if len(exponents) > 1 else None
    vanished = bool((last <= within * ZERO).all())
    slow = exponent is not None and not vanished and exponent.high < (0.0 if slope is None else slope / 2)
    falls = vanished or (exponent is not None and exponent.low > 0)
    sign = -1 if error.low > within or slow else 1 if falls and error.high <= within else 0
    fit = "no exponent: the errors are zero" if exponent is None else f"exponent {exponent}"
    expected = "" if slope is None or exponent is None else f", {slope:g} expected"
    strength = f"{fit}{expected}; error {error} at {values[0]:.3g}, {within:g} allowed; {n} seeds"
    return Outcome(LAW, sign, n, k, False, strength, effect=exponent)


def _exponents(seeds: NDArray[Any], parameters: Floats, errors: Floats, zero: float) -> Floats:
    """The slope of log error against log parameter of each seed that has errors other than zero at two values."""
    kept = (errors > zero) & np.isfinite(errors)
    slopes = []
    for seed in np.unique(seeds[kept]):
        points = kept & (seeds == seed)
        x, y = np.log(parameters[points]), np.log(errors[points])
        if x.max() > x.min():
            slopes.append(float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()))
    return np.array(slopes)


def _by_seed(seeds: ArrayLike, values: ArrayLike, infinite: bool = False) -> Floats:
    """The mean of each seed's numbers, in the order of the seeds; without those that are NaN, or not finite."""
    keys, numbers = np.asarray(seeds), np.asarray(values, dtype=float)
    kept = ~np.isnan(numbers) if infinite else np.isfinite(numbers)
    _, group, sizes = np.unique(keys[kept], return_inverse=True, return_counts=True)
    return np.bincount(group, numbers[kept], minlength=len(sizes)) / sizes


def _mean(values: Floats) -> Number:
    return Number(float(values.mean()), *t_interval(values, 1 - LEVEL))


def _share(n: int, k: int) -> Number:
    low, high = wilson(k, n)
    return Number(k / n if n else np.nan, float(low), float(high))


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _wanting(n: int, least: int, of: str = "") -> str:
    """That too few seeds have an answer."""
    seeds = f"{n or 'no'} seed {of}has" if n < 2 else f"{n} seeds {of}have"
    return f"{seeds} an answer; {max(least, 1)} are needed"
