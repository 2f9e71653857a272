"""Compiled loops over curves: running medians, turning points, and the last stretch that a curve spends in a band."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from swingby.model.needed import require

F = TypeVar("F", bound=Callable[..., Any])
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Compiled:
    """A function that is compiled on its first call; numba, which takes long to import, is loaded then."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        update_wrapper(self, function)

    @cached_property
    def dispatcher(self) -> Any:
        """What numba makes of the function; so are the compiled functions of its module that it calls."""
        require({"numba": "swingby[outcomes]"}, "computing outcomes of curves that are not stored yet")
        from numba import njit

        names = self._function.__globals__
        for name in self._function.__code__.co_names:
            if isinstance(called := names.get(name), Compiled):
                names[name] = called.dispatcher
        return njit(cache=True, nogil=True, error_model="numpy")(self._function)

    def __call__(self, *arguments: Any) -> Any:
        """The function's result."""
        return self.dispatcher(*arguments)


def compiled(function: F) -> F:
    """The function compiled on its first call, kept on disk; arithmetic as numpy's, so that no bit of a result moves.

    Loops instead of slices inside, for these take many times as long to compile.
    """
    return cast(F, Compiled(function))


@compiled
def residual(values: Floats, weight: Floats, norm: Floats) -> Floats:
    """|values - the line through both neighbours| / norm, (C, T - 2); `weight` (T - 2,): of the one before."""
    curves, count = values.shape[0], values.shape[1] - 2
    result = np.empty((curves, count))
    for row in range(curves):
        curve = values[row]
        for t in range(count):
            line = weight[t] * curve[t] + (1 - weight[t]) * curve[t + 2]
            result[row, t] = abs(curve[t + 1] - line) / norm[t]
    return result


@compiled
def running_median(values: Floats, order: Ints, window: int, pad: int, scale: float) -> Floats:
    """`scale` times the median over `window` (odd) neighbours along each row of values (C, N), finite, N >= window.

    Edges repeat, and go on for `pad` more at either end: (C, N + 2 pad).

    The window is kept as the set of its values' ranks in the row; a step puts one in and takes one out, after which the
    middle is at most one member away.

    Args:
        order: places of each row's values, ascending: argsort along axis 1.
    """
    curves, count = values.shape
    half = window // 2
    result, rank, inside = np.empty((curves, count + 2 * pad)), np.empty(count, np.int64), np.empty(count, np.bool_)
    for row in range(curves):
        sequence, medians = order[row], result[row]
        for i in range(count):
            rank[sequence[i]] = i
            inside[i] = False
        for t in range(window):
            inside[rank[t]] = True
        middle, below = -1, -1
        while below < half:
            middle += 1
            below += inside[middle]
        medians[pad + half] = scale * values[row, sequence[middle]]
        for t in range(window, count):
            old, new = rank[t - window], rank[t]
            inside[old], inside[new] = False, True
            below += (new < middle) - (old < middle)
            if below > half:
                middle -= 1
                while not inside[middle]:
                    middle -= 1
            elif below < half or not inside[middle]:
                middle += 1
                while not inside[middle]:
                    middle += 1
            below = half
            medians[pad + t - half] = scale * values[row, sequence[middle]]
        first, last = pad + half, pad + count - 1 - half
        for t in range(first):
            medians[t] = medians[first]
        for t in range(last + 1, count + 2 * pad):
            medians[t] = medians[last]
    return result


@compiled
def turning_points(values: Floats, scale: Floats, floor: Floats) -> tuple[Ints, Ints, Ints]:
    """Rows, places and signs of `extrema.zigzag`, row by row."""
    curves, times = values.shape
    # A curve turns at most once a record; memory that is not written to costs nothing.
    curve, at, sign = np.empty((3, curves * times), np.int64)
    count = 0
    for row in range(curves if times else 0):
        least = floor[row]
        low, high, way = 0, 0, 0
        lowest = highest = values[row, 0]
        noise_low = noise_high = max(scale[row, 0], least)
        for t in range(1, times):
            now, local = values[row, t], scale[row, t]
            rise = way <= 0 and now - lowest > max(noise_low, local)
            fall = way >= 0 and highest - now > max(noise_high, local)
            if rise:
                curve[count], at[count], sign[count] = row, low, -1
                count, way = count + 1, 1
            elif fall:
                curve[count], at[count], sign[count] = row, high, 1
                count, way = count + 1, -1
            if now < lowest or fall:
                low, lowest, noise_low = t, now, max(local, least)
            if now > highest or rise:
                high, highest, noise_high = t, now, max(local, least)
        if way != 0:
            curve[count], at[count], sign[count] = row, high if way > 0 else low, way
            count += 1
    return curve[:count].copy(), at[:count].copy(), sign[:count].copy()


@compiled
def median_of(values: Floats, spread: int) -> Floats:
    """Median over `spread` (odd) neighbours along each row of (C, T); fewer at the ends, as many on each side."""
    curves, times = values.shape
    result, window = np.empty((curves, times)), np.empty(spread)
    for row in range(curves):
        curve = values[row]
        for t in range(times):
            half = min(spread // 2, t, times - 1 - t)
            for i in range(2 * half + 1):  # sorted by insertion
                value, place = curve[t - half + i], i
                while place > 0 and window[place - 1] > value:
                    window[place] = window[place - 1]
                    place -= 1
                window[place] = value
            result[row, t] = window[half]
    return result


@compiled
def pool(curve: Floats, first: int, stop: int, sign: float, fit: Floats, size: Ints) -> None:
    """Monotone least-squares fit of curve[first:stop], rising for sign 1 and falling for -1, by pooling neighbours.

    Writes the fit, and for each record how many share its value.
    """
    level, weight, blocks = np.empty(stop - first), np.empty(stop - first, np.int64), 0
    for t in range(first, stop):
        level[blocks], weight[blocks] = sign * curve[t], 1
        blocks += 1
        while blocks > 1 and level[blocks - 2] >= level[blocks - 1]:
            whole = weight[blocks - 2] + weight[blocks - 1]
            total = level[blocks - 2] * weight[blocks - 2] + level[blocks - 1] * weight[blocks - 1]
            blocks -= 1
            level[blocks - 1], weight[blocks - 1] = total / whole, whole
    t = first
    for block in range(blocks):
        for _ in range(weight[block]):
            fit[t], size[t] = sign * level[block], weight[block]
            t += 1


@compiled
def monotone_residual(values: Floats, sd: Floats, alive: NDArray[np.bool_], least: int) -> tuple[Floats, Ints]:
    """Root mean square of what falling curves with one rise leave of values (C, T), over sd, and of how many records.

    The rise is the largest one in units of sd: a curve falls, rises and falls, each part fitted by `pool`. Records
    count that are alive and share the fit's value with at least `least` - 1 others; 0 without any.
    """
    curves, times = values.shape
    result, count = np.zeros(curves), np.zeros(curves, np.int64)
    fit, size = np.empty(times), np.empty(times, np.int64)
    for row in range(curves):
        curve, scale = values[row], sd[row]
        low, start, peak, highest = 0, 0, 0, 0.0
        for t in range(1, times):
            if curve[t] < curve[low]:
                low = t
            local = max(scale[low], scale[t])
            if local > 0 and curve[t] - curve[low] > highest * local:
                start, peak, highest = low, t, (curve[t] - curve[low]) / local
        pool(curve, 0, start, -1.0, fit, size)
        pool(curve, start, peak, 1.0, fit, size)
        pool(curve, peak, times, -1.0, fit, size)
        total = 0.0
        for t in range(times):
            if alive[row, t] and size[t] >= least and scale[t] > 0:
                total += ((curve[t] - fit[t]) / scale[t]) ** 2
                count[row] += 1
        if count[row]:
            result[row] = np.sqrt(total / count[row])
    return result, count


@compiled
def largest_rise(values: Floats, row: Ints, start: Ints, stop: Ints) -> Floats:
    """The largest rise from a record to a later one within values[row, start:stop + 1], (N,); 0 where all falls."""
    result = np.zeros(len(row))
    for i in range(len(row)):
        curve = values[row[i]]
        lowest = curve[start[i]]
        for t in range(start[i], stop[i] + 1):
            lowest = min(lowest, curve[t])
            result[i] = max(result[i], curve[t] - lowest)
    return result


@compiled
def final_stretch(below: NDArray[np.bool_]) -> Ints:
    """Where the last unbroken stretch of False begins along axis 1 of (C, T, s); T where it ends with True: (C, s)."""
    curves, times, concepts = below.shape
    result = np.empty((curves, concepts), np.int64)
    for row in range(curves):
        for k in range(concepts):
            t = times
            while t > 0 and not below[row, t - 1, k]:
                t -= 1
            result[row, k] = t
    return result


@compiled
def last_visit(size: Floats, low: float, high: float, fewest: int) -> tuple[Ints, Ints]:
    """First and last-but-one record of the last stay of at least `fewest` records within [low, high], each (C, K).

    Both are 0 where there is none. `size` is (C, T, K); NaN lies outside.
    """
    curves, times, columns = size.shape
    start, stop = np.zeros((curves, columns), np.int64), np.zeros((curves, columns), np.int64)
    for row in range(curves):
        for k in range(columns):
            end = times
            t = times - 1
            while t >= 0:
                if size[row, t, k] >= low and size[row, t, k] <= high:
                    begins = t == 0 or not (size[row, t - 1, k] >= low and size[row, t - 1, k] <= high)
                    if begins and end - t >= fewest:
                        start[row, k], stop[row, k] = t, end
                        break
                else:
                    end = t
                t -= 1
    return start, stop


@compiled
def picked(values: Floats, start: Ints, stop: Ints) -> Floats:
    """The records start .. stop - 1 of every column of values (C, T, K), end to end."""
    total = 0
    for row in range(start.shape[0]):
        for k in range(start.shape[1]):
            total += stop[row, k] - start[row, k]
    result, place = np.empty(total), 0
    for row in range(start.shape[0]):
        for k in range(start.shape[1]):
            for t in range(start[row, k], stop[row, k]):
                result[place] = values[row, t, k]
                place += 1
    return result


@compiled
def _eightfold(values: Floats, first: int, stop: int) -> float:
    """The sum of up to 128 values in numpy's order: by eight sums side by side."""
    count, total = stop - first, 0.0
    whole = count - count % 8
    if whole:
        sums = np.zeros(8)
        for i in range(whole):
            sums[i % 8] += values[first + i]
        total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
    for i in range(first + whole, stop):
        total += values[i]
    return total


@compiled
def pairwise(values: Floats) -> float:
    """The sum of values in the order in which numpy adds up a row: by halves, down to 128 of them."""
    waiting, halved = [(0, len(values), False)], [0.0]
    while waiting:
        first, stop, summed_below = waiting.pop()
        half = (stop - first) // 2
        half -= half % 8
        if stop - first <= 128:
            halved.append(_eightfold(values, first, stop))
        elif summed_below:
            right = halved.pop()
            halved.append(halved.pop() + right)
        else:
            waiting.append((first, stop, True))
            waiting.append((first + half, stop, False))
            waiting.append((first, first + half, False))
    return halved.pop()


@compiled
def summed(values: Floats, first: int, stop: int, in_pairs: bool) -> float:
    """The sum of values that are zero outside of [first:stop], one after the other or by `pairwise`."""
    if in_pairs:
        return pairwise(values)
    total = 0.0
    for i in range(first, stop):
        total += values[i]
    return total


@compiled
def moments(flat: Floats, time: Floats, start: Ints, stop: Ints, in_pairs: bool) -> Floats:
    """Central second moments of time (C, T) and `flat`, as `picked` lays it: xx, xy and yy, (3, C, K); NaN if empty.

    `in_pairs`: whether sums are taken by `pairwise`; what of this is drawn into a result is its last bit.
    """
    curves, columns = start.shape
    result, place = np.full((3, curves, columns), np.nan), 0
    x, y, z = np.zeros((3, time.shape[1]))
    for row in range(curves):
        for k in range(columns):
            first, last = start[row, k], stop[row, k]
            if last <= first:
                continue
            for t in range(first, last):
                x[t], y[t] = time[row, t], flat[place + t - first]
            mean_x = summed(x, first, last, in_pairs) / (last - first)
            mean_y = summed(y, first, last, in_pairs) / (last - first)
            for t in range(first, last):
                dx, dy = x[t] - mean_x, y[t] - mean_y
                x[t], y[t], z[t] = dx * dx, dx * dy, dy * dy
            result[0, row, k] = summed(x, first, last, in_pairs)
            result[1, row, k] = summed(y, first, last, in_pairs)
            result[2, row, k] = summed(z, first, last, in_pairs)
            for t in range(first, last):
                x[t] = y[t] = z[t] = 0.0
            place += last - first
    return result


@compiled
def first_back(values: Floats, row: Ints, start: Ints, peak: Ints) -> Ints:
    """First record after each peak at or below the value at its start; the lowest one after it if there is none."""
    result = np.empty(len(row), np.int64)
    for i in range(len(row)):
        curve = values[row[i]]
        level, lowest = curve[start[i]], np.inf
        result[i] = 0
        for t in range(peak[i] + 1, len(curve)):
            if curve[t] < lowest:
                result[i], lowest = t, curve[t]
                if lowest <= level:
                    break
    return result


@compiled
def exceeded(values: Floats, row: Ints, place: Ints, after: Ints) -> NDArray[np.bool_]:
    """Whether the value at each place is exceeded by one from record `after` on, (N,)."""
    result = np.zeros(len(row), np.bool_)
    for i in range(len(row)):
        curve = values[row[i]]
        for t in range(after[i], len(curve)):
            if curve[t] > curve[place[i]]:
                result[i] = True
                break
    return result
