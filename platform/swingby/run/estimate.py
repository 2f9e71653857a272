"""The time that is left: what batches took beside their forecasts, by the sizes of their cells, with a range."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swingby.model.points import Points
from swingby.run.cost import Cost, Sample
from swingby.units import span

WEIGHT = 20.0
"""Core seconds of weight that a forecast has beside the measured times."""
SPREAD = 0.3
"""Relative spread of what batches take beside their forecasts, before any has been measured."""
SPREAD_WEIGHT = 2.0
"""Batches of weight that SPREAD has beside the measured ones."""
QUANTILE = 1.6
"""Multiples of the standard error from the estimate to an end of its range: nine of ten ranges hold the truth."""
NARROW = 1.2
"""Ratio of the ends below which one number says as much as a range."""
SLOPE = 0.1
"""Weight against a dependence on the sizes, in batches: two of them that differ by chance show none."""
RECENT = 500
"""Batches, the newest, that the dependence on the sizes is fitted to."""
MOST_SIZES = 8
"""Columns of sizes: with more, chance would decide."""
MOST_LEVELS = 4
"""Values beyond the first of a name that counts as a size."""
MOST_FACTOR = 5.0
"""Logarithm of the most by which sizes change a forecast."""


def sizes_of(points: Points) -> np.ndarray:
    """What the cost of a point may depend on: each parameter that varies, in standard units, as columns.

    Positive numbers count by their logarithm, lists by their sum, names and booleans by whether they are each value.
    """
    columns = list[np.ndarray]()
    for name, column in points.columns.items():
        if column.null_count:
            continue
        if pa.types.is_list(column.type):
            values = column.to_pylist()
            numbers = all(isinstance(one, int | float) for value in values for one in value)
            columns += [_scale(np.array([float(sum(value)) for value in values]))] if numbers else []
        elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            columns.append(_scale(pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)))
        elif (codes := points.codes(name)).max(initial=0) < MOST_LEVELS:
            columns += [(codes == level).astype(float) for level in range(1, int(codes.max(initial=0)) + 1)]
    columns = [(one - one.mean()) / one.std() for one in columns if one.std() > 1e-9]
    return np.stack(columns[:MOST_SIZES], axis=1) if columns else np.zeros((len(points), 0))


def _scale(values: np.ndarray) -> np.ndarray:
    return np.log(values) if (values > 0).all() else values


def slopes(sizes: np.ndarray, ratios: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How the logarithm of a ratio of times depends on the sizes: a slope for each column, near 0 for few batches."""
    if not sizes.shape[1] or len(ratios) < 2:
        return np.zeros(sizes.shape[1])
    x = sizes - np.average(sizes, axis=0, weights=weights)
    y = np.log(ratios) - np.average(np.log(ratios), weights=weights)
    normal = (x * weights[:, None]).T @ x + SLOPE * np.eye(x.shape[1])
    return np.linalg.solve(normal, (x * weights[:, None]).T @ y)


def spread(residuals: np.ndarray) -> float:
    """The relative spread that residuals show, beside that which is there before any is known."""
    return math.sqrt(
        (SPREAD_WEIGHT * SPREAD**2 + float(np.sum(residuals**2))) / (SPREAD_WEIGHT + max(0, len(residuals) - 1))
    )


@dataclass(frozen=True, slots=True)
class Sizes:
    """How batches that ran differ from their cost by the sizes of their cells.

    Attributes:
        slope: of the logarithm of a batch's time, for each column of `sizes_of`.
        middle: the sizes at which the cost holds.
        shift: the logarithm of what batches took there, beside their cost.
        off: the relative error of a forecast for many batches, from their spread.
    """

    slope: np.ndarray
    middle: np.ndarray
    shift: float = 0.0
    off: float = 0.0

    @classmethod
    def of(cls, samples: Iterable[Sample], costs: Mapping[str, Cost]) -> Sizes:
        """That of these batches."""
        used = [one for one in samples if one.shape in costs and one.cells > 0]
        nothing = np.zeros(0)
        if not used:
            return cls(nothing, nothing)
        ratios = np.array([max(one.seconds, 1e-6) / costs[one.shape].seconds(one.cells) for one in used])
        weights = certainty(np.array([one.seconds for one in used]))
        known = [one.sizes is not None for one in used]
        sizes = np.array([one.sizes for one in used if one.sizes is not None])
        slope = middle = nothing
        residuals = np.log(ratios)
        if len(sizes) > 1:
            slope = slopes(sizes, ratios[known], weights[known])
            middle = np.average(sizes, axis=0, weights=weights[known])
            residuals[known] -= (sizes - middle) @ slope
        shift = float(np.average(residuals, weights=weights)) * float(weights.mean())
        off = QUANTILE * spread((residuals - shift) * weights) / math.sqrt(len(used))
        return cls(slope, middle, shift, off)

    def factors(self, sizes: np.ndarray) -> np.ndarray:
        """What to multiply the forecasts with of batches of these sizes."""
        if not self.slope.size:
            return np.ones(len(sizes))
        return np.exp(np.clip(self.shift + (sizes - self.middle) @ self.slope, -MOST_FACTOR, MOST_FACTOR))


def certainty(seconds: np.ndarray) -> np.ndarray:
    """The weight of batches that took so long: what a short one took says little of its cells."""
    return np.maximum(seconds, 1e-6) / (seconds + 2.0)


@dataclass(frozen=True, slots=True)
class Left:
    """Seconds that are left: the estimate, and the ends of its range."""

    seconds: float
    low: float
    high: float

    def __str__(self) -> str:
        return span(self.low, self.high) if self.high > NARROW * self.low else span(self.seconds, self.seconds)


class Estimate:
    """The batches of a run, with what they are forecast to take and what those took that are done.

    Args:
        measured: whether forecasts were measured, so that they have weight of their own; else they say only how many
            times longer than another a batch takes.
    """

    def __init__(self, measured: bool) -> None:
        self.measured = measured
        self._places: dict[Hashable, int] = {}
        self._loads, self._left, self._cpus = list[float](), list[bool](), list[float]()
        self._sizes = np.zeros((0, 0))
        self._done_batches = list[tuple[int, float, float, float]]()  # first batch, load, core seconds, seconds

    def add(self, keys: Sequence[Hashable], loads: Sequence[float], cpus: Sequence[float], sizes: np.ndarray) -> None:
        """Takes batches to come.

        Args:
            loads: their forecasts, in seconds of one core.
            cpus: how many CPUs each occupies.
            sizes: a row for each, as of `sizes_of`; of other columns than those of earlier batches.
        """
        self._places.update((key, len(self._loads) + at) for at, key in enumerate(keys))
        self._loads += loads
        self._cpus += cpus
        self._left += [True] * len(keys)
        before, columns = self._sizes.shape
        if not sizes.size:
            sizes = np.zeros((len(keys), 0))
        whole = np.zeros((before + len(keys), columns + sizes.shape[1]))
        whole[:before, :columns], whole[before:, columns:] = self._sizes, sizes
        self._sizes = whole

    def done(self, keys: Sequence[Hashable], seconds: float, share: float = 1.0) -> None:
        """Counts batches that were trained together, or a share of their cells."""
        places = [self._places[key] for key in keys if key in self._places]
        if not places:
            return
        load = share * sum(self._loads[place] for place in places)
        if load > 0 and seconds > 0:
            self._done_batches.append((places[0], load, seconds * self._cpus[places[0]], seconds))
        for place in places:
            if share < 1.0:
                self._loads[place] *= 1.0 - share
            else:
                self._left[place] = False

    @property
    def core_seconds(self) -> float:
        """What the batches took that are done."""
        return sum(core for _, _, core, _ in self._done_batches)

    def left(self, cores: float, in_flight: float, elapsed: float) -> Left | None:
        """What is left; None while nothing is done.

        Args:
            cores: how many of them train at once.
            in_flight: the share of all batches that is done in batches that are not.
            elapsed: seconds since the first batch began.
        """
        if not self._done_batches:
            return None
        first, load, core, seconds = (np.array(column) for column in zip(*self._done_batches, strict=True))
        first, recent = first.astype(int), slice(-RECENT, None)
        weights = certainty(seconds)
        slope = slopes(self._sizes[first[recent]], (core / load)[recent], weights[recent])
        factors = np.exp(np.clip(self._sizes @ slope, -MOST_FACTOR, MOST_FACTOR))
        done = load * factors[first]
        weight = WEIGHT if self.measured else 0.0
        ratio = (core.sum() + weight) / (done.sum() + weight)
        mask = np.array(self._left)
        loads = (np.array(self._loads) * factors * ratio)[mask]
        if not len(loads):
            return Left(0.0, 0.0, 0.0)
        slots = max(1.0, cores / float(np.mean(self._cpus)))
        # Workers that were busy since the last batch came back are on their way through batches that are not done.
        busy = min(cores * elapsed - core.sum(), min(slots, len(loads)) * float(loads.mean()))
        total = max(0.0, float(loads.sum()) - max(busy, in_flight * float(np.sum(self._loads)) * ratio))
        wall = total / cores
        off = QUANTILE * spread(np.log(core / (done * ratio))[recent] * weights[recent])
        off *= math.sqrt(1 / len(core) + 1 / len(loads))
        # All workers end at the same time at best; at worst one of them begins a last batch as the others end.
        turns = len(loads) / slots
        last = float(loads.mean()) / max(1.0, float(np.mean(self._cpus))) * (math.ceil(turns) - turns)
        return Left(wall, wall * math.exp(-off), wall * math.exp(off) + last)
