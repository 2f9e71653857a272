"""Calibrates the thresholds of `noise.py` on synthetic curves.

`python -m swingby_analysis.signals.calibration` prints their errors.

Null curves fall monotonically and converge within their records, plateaus included, as real runs do; their noise is
white, heavy-tailed (Student's t with three degrees of freedom) or AR(1) up to 0.95 from record to record, of constant
size or falling with the curve. Bumps are 7 % of the unit of the losses high. No sweep takes part. `--fit` lists the
constants that hold the targets, on draws of its own; the table is made on other draws.

Of the constants that hold the targets, those in `noise.py` were chosen that find many bumps of real runs which have the
same bump without sampling noise, on seeds and points that no statement uses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.special import expit

from swingby.model.cell import philox
from swingby.model.experiment import Recording
from swingby_analysis.signals import noise
from swingby_analysis.signals.bumps import FLOOR, descend
from swingby_analysis.signals.extrema import Floats, zigzag

HEAVY = "t3"
"""White noise of Student's t with three degrees of freedom, with unit variance."""
NOISES: tuple[float | str, ...] = (0.0, HEAVY, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
"""Correlation of AR(1) noise from record to record, or HEAVY."""
SPACINGS = ("even", "log")
LENGTHS = (200, 1000)
"""Records of a curve; a curve that is log-spaced has the first number."""
STEPS = 4720
"""Steps of a log-spaced curve."""
LEVELS = (0.003, 0.01, 0.03)
"""Standard deviations of the noise, in units of the loss."""
WIDTHS = (0.04, 0.06, 0.12, 0.25)
"""Trough to peak, as a share of the records."""
HEIGHT = 0.07
"""Rise of a planted bump, in units of the loss."""
TARGET_WHITE, TARGET_RED = 0.02, 0.05
"""Shares of null curves that may be called non-monotone: under white or heavy-tailed noise, and under AR(1) noise."""


def noise_of(rng: np.random.Generator, curves: int, times: int, kind: float | str) -> Floats:
    """Noise of unit variance, (curves, times): HEAVY, or stationary AR(1) with this correlation."""
    if kind == HEAVY:
        return rng.standard_t(3, (curves, times)) / np.sqrt(3)
    correlation = float(kind)
    draws = rng.standard_normal((curves, times))
    draws[:, 1:] *= np.sqrt(1 - correlation**2)
    return np.asarray(lfilter([1.0], [1.0, -correlation], draws, axis=1))


def monotone(rng: np.random.Generator, curves: int, times: int) -> Floats:
    """Curves over their unit that never rise, (curves, times): up to three sigmoid falls, or an exponential, to zero.

    They end their last fall after a quarter of the records at the earliest; some do not reach zero.
    """
    t, last = np.linspace(0, 1, times), rng.uniform(0.25, 1.2, (curves, 1))
    weights = rng.dirichlet(np.ones(3), curves) * rng.choice([0, 1, 1], size=(curves, 3))
    weights[:, 0] += 1e-3
    weights /= weights.sum(axis=1, keepdims=True)
    values = np.zeros((curves, times))
    for i in range(3):
        centre, slope = rng.uniform(-0.1, 1.0, (curves, 1)), 10 ** rng.uniform(-2, -0.7, (curves, 1))
        values += weights[:, i : i + 1] * expit((centre - t / last) / slope)
    decay = 10 ** rng.uniform(-1.5, -0.3, (curves, 1))
    return np.where(rng.random((curves, 1)) < 0.7, values, np.exp(-t / (last * decay)))


def bumpy(rng: np.random.Generator, curves: int, times: int, width: float, height: float = HEIGHT) -> Floats:
    """Curves that fall from 1 to 0.1-0.6, rise by `height` over a share `width` of the records, and fall to 0."""
    t = np.arange(times)
    first, last = rng.uniform(0.1, 0.3, (curves, 1)) * times, rng.uniform(0.05, 0.3, (curves, 1)) * times
    low, top = rng.uniform(0.1, 0.6, (curves, 1)), first + width * times
    fall = _ramp(1, low, t / first)
    rise = _ramp(low, low + height, (t - first) / (width * times))
    return np.where(t <= first, fall, np.where(t <= top, rise, _ramp(low + height, 0, (t - top) / last)))


def _ramp(start: Floats | float, stop: Floats | float, share: Floats) -> Floats:
    return start + (stop - start) * (1 - np.cos(np.pi * np.clip(share, 0, 1))) / 2


def steps_of(spacing: str, times: int) -> Floats:
    """The recorded steps of a curve of `times` records, (times,) or, where log-spaced, about as many."""
    return np.arange(times, dtype=float) if spacing == "even" else Recording("log", times).at(STEPS).astype(float)


def noisy(rng: np.random.Generator, curves: Floats, level: float, kind: float | str) -> Floats:
    """Curves with noise of `level` times their value to the power 0, 1/2 or 1, drawn for each: it may go quiet."""
    power = rng.choice([0.0, 0.5, 1.0], size=(len(curves), 1))
    return curves + level * np.maximum(curves, 1e-9) ** power * noise_of(rng, curves.shape[0], curves.shape[1], kind)


def descents(curves: Floats, steps: Floats | None = None) -> NDArray[np.int64]:
    """The detector's number of descents of noisy curves over their unit, (C,); by default recorded at every step."""
    nothing = np.zeros_like(curves)
    at = np.arange(curves.shape[1], dtype=float) if steps is None else steps
    return descend(curves, nothing, nothing, at, np.ones(len(curves), dtype=bool)).drops


class Rate(NamedTuple):
    """How often curves of one kind are called non-monotone."""

    kind: str
    spacing: str
    length: int
    noise: float | str
    level: float
    width: float
    share: float


def settings() -> Iterator[tuple[str, int]]:
    """Every spacing with its lengths."""
    return ((spacing, length) for spacing in SPACINGS for length in (LENGTHS if spacing == "even" else LENGTHS[:1]))


def rates(null_curves: int, bump_curves: int, key: str = "table") -> Iterator[Rate]:
    """The detector's errors on every kind of null curve, and its finds among bumps."""
    for (spacing, length), kind, level in product(settings(), NOISES, LEVELS):
        rng, steps = philox(key, "null", spacing, length, repr(kind), repr(level)), steps_of(spacing, length)
        curves = noisy(rng, monotone(rng, null_curves, len(steps)), level, kind)
        yield Rate("null", spacing, length, kind, level, 0.0, float((descents(curves, steps) > 1).mean()))
    for length, kind, width, level in product(LENGTHS, (0.0, HEAVY, 0.5, 0.8, 0.9), WIDTHS, LEVELS[:2]):
        rng = philox(key, "bump", length, repr(kind), repr(width), repr(level))
        curves = noisy(rng, bumpy(rng, bump_curves, length, width), level, kind)
        yield Rate("bump", "even", length, kind, level, width, float((descents(curves) > 1).mean()))


class Needed(NamedTuple):
    """For each curve the largest factor at which it still shows two descents, and what its noise is like, (C,)."""

    factor: Floats
    slowness: Floats
    telling: NDArray[np.int64]


def needed(curves: Floats, steps: Floats) -> Needed:
    """The largest threshold, in local standard deviations, at which each curve has two descents, by bisection."""
    read = noise.measure(curves, steps, FLOOR)
    low, high = np.full(len(curves), 0.25), np.full(len(curves), 256.0)
    for _ in range(12):
        middle = np.sqrt(low * high)
        turns = zigzag(read.curve, middle[:, None] * read.sd, np.full(len(curves), FLOOR))
        # Peaks that a drop follows: all but a last one.
        dropping = (turns.sign > 0) & np.append(turns.curve[1:] == turns.curve[:-1], False)[: len(turns.curve)]
        several = np.bincount(turns.curve[dropping], minlength=len(curves)) > 1
        low, high = np.where(several, middle, low), np.where(several, high, middle)
    return Needed(low, read.slowness, read.telling)


class Fit(NamedTuple):
    """Constants with their worst error over its target, and the share of bumps that they find."""

    slope: float
    limits: tuple[float, float]
    untold: float
    worst: float
    power: float


def fit(null_curves: int = 800, bump_curves: int = 300) -> list[Fit]:
    """The constants whose errors hold the targets in every noise and spacing, those that find the most bumps first.

    An error is the mean over the three levels of noise.
    """
    nulls: dict[tuple[str, int, float | str], list[Needed]] = {}
    for (spacing, length), kind, level in product(settings(), NOISES, LEVELS):
        rng, steps = philox("fit", "null", spacing, length, repr(kind), repr(level)), steps_of(spacing, length)
        curves = noisy(rng, monotone(rng, null_curves, len(steps)), level, kind)
        nulls.setdefault((spacing, length, kind), []).append(needed(curves, steps))
    bumps = []
    for kind, width, level in product((0.0, 0.5, 0.8, 0.9), WIDTHS, LEVELS[:2]):
        rng, steps = philox("fit", "bump", repr(kind), repr(width), repr(level)), steps_of("even", LENGTHS[0])
        bumps.append(needed(noisy(rng, bumpy(rng, bump_curves, len(steps), width), level, kind), steps))
    fits = []
    for slope, low, high, untold in product((8, 10, 12, 14), (3, 4, 5, 6), (14, 16, 18, 20, 24), (5, 8, 10, 14, 20)):
        point = float(slope), (float(low), float(high)), float(untold)
        worst = max(
            float(np.mean([_share(item, *point) for item in items]))
            / (TARGET_WHITE if kind in (0.0, HEAVY) else TARGET_RED)
            for (_, _, kind), items in nulls.items()
        )
        if worst <= 1:
            fits.append(Fit(*point, worst, float(np.mean([_share(item, *point) for item in bumps]))))
    return sorted(fits, key=lambda item: -item.power)


def _share(item: Needed, slope: float, limits: tuple[float, float], untold: float) -> float:
    """The share of curves that show two descents with these constants."""
    used = np.where(item.telling < noise.TELLING, untold, np.clip(slope * item.slowness, *limits))
    return float((item.factor > used).mean())


def main(arguments: list[str]) -> None:
    """Print the table of errors, or the search with `--fit`."""
    if "--fit" in arguments:
        for item in fit():
            sys.stdout.write(f"{item}\n")
        return
    sys.stdout.write("kind  spacing  records  noise  noise/unit   width  called non-monotone\n")
    for rate in rates(2000, 1000):
        sys.stdout.write(
            f"{rate.kind}  {rate.spacing:7}  {rate.length:7}  {rate.noise!s:>5}  {rate.level:10}  {rate.width:6}  "
            f"{rate.share:.4f}\n"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
