"""Curves of the loss over one resource: time, data, width, compute, or time where all are limited ([T] 4.17)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import Trained

from . import draws, theory
from .levels import Levels, expected, moving
from .params import ScalingParams

Array = np.ndarray
Curves = dict[str, Array]
STRENGTHS = 10
"""Skills whose strengths are recorded on request, those that come up most."""
_LARGEST_WIDTH = 10**9
"""The end of the search for the best width."""


def resource(p: ScalingParams) -> Array:
    """The values x of the curve, (points,): whole numbers for data and width."""
    x = np.geomspace(p.smallest, p.largest, p.points)
    return np.rint(x) if p.bottleneck in ("data", "width") else x


def train(cell: Cell[ScalingParams], recording: Recording) -> Trained:
    """The curves of a cell at the recorded points; what was not asked for is left out by its table."""
    p, steps = cell.params, recording.at(cell.params.points - 1)
    every = curves(cell)
    if "strengths" in recording.also and (recorded := strengths(p, every["x"])) is not None:
        every["strength"] = recorded
    return Trained({"step": steps, **{name: values[steps] for name, values in every.items()}}, {})


def curves(cell: Cell[ScalingParams]) -> Curves:
    """`x` and `loss`, (points,), and what the bottleneck has beyond: `best_width`, or the losses without a limit."""
    p = cell.params
    x = resource(p)
    return {"x": x, **_OVER[p.bottleneck](p, cell, x)}


def strengths(p: ScalingParams, x: Array) -> Array | None:
    """R_k of the first skills over time, (points, STRENGTHS), without a limit to data; None unless x is the time."""
    if p.bottleneck != "time":
        return None
    k = np.arange(1.0, min(p.skills or STRENGTHS, STRENGTHS) + 1)
    rates = theory.frequency(p.alpha, p.skills, k) * theory.pace(p.model, p.s, p.lr)
    return p.s * theory.strength(np.multiply.outer(x, rates), _lag(p))


def _lag(p: ScalingParams) -> float:
    return theory.lag(p.model, p.s, p.r0)


def _over_time(p: ScalingParams, cell: Cell, x: Array) -> Curves:
    return {"loss": _loss(p, expected(p.alpha, p.skills, None, _pace(p) * x[-1]), x)}


def _over_data(p: ScalingParams, cell: Cell, x: Array) -> Curves:
    """T is infinite: a skill is learned if it has a sample ([T] 4.26); in the mean with chance 1 - (1 - p)^D (4.27)."""
    if p.drawn:
        sets = draws.draw(cell.stream("data"), p.alpha, p.skills, x.astype(np.int64))
        unseen = draws.unseen_mass(p.alpha, p.skills, sets)
    else:
        levels = expected(p.alpha, p.skills, None, x[-1])
        unseen = np.exp(np.multiply.outer(x, np.log1p(-np.minimum(levels.rate, 1 - 1e-16)))) @ levels.weight
        unseen += levels.idle
    return {"loss": p.s**2 / 2 * theory.unseen(_lag(p)) * unseen}


def _over_width(p: ScalingParams, cell: Cell, x: Array) -> Curves:
    """T and D are infinite: a skill is learned if it has a basis function ([T] 4.35)."""
    return {"loss": p.s**2 / 2 * np.array([theory.mass_beyond(p.alpha, p.skills, n) for n in x])}


def _over_compute(p: ScalingParams, cell: Cell, x: Array) -> Curves:
    """C = T N: the loss of one width, or the least loss of all widths."""
    if p.width is not None:
        levels = expected(p.alpha, p.skills, p.width, _pace(p) * x[-1] / p.width)
        return {"loss": _loss(p, levels, x / p.width), "best_width": np.full(len(x), p.width)}
    best, losses, low = [], [], 1
    for compute in x:
        # The best width never falls as compute grows.
        low = _least(lambda n, at=compute: _loss_at(p, n, at / n), low, min(p.skills or _LARGEST_WIDTH, _LARGEST_WIDTH))
        best.append(low)
        losses.append(_loss_at(p, low, compute / low))
    return {"loss": np.array(losses), "best_width": np.array(best)}


def _over_all(p: ScalingParams, cell: Cell, x: Array) -> Curves:
    """One training set and one width, over time; and the losses with each of the three resources unlimited."""
    unlimited = expected(p.alpha, p.skills, p.width, _pace(p) * x[-1])
    seen = any_width = unlimited
    if p.data is not None:
        sets = _training_set(cell.key("data"), p.alpha, p.skills, p.data)
        seen, any_width = (draws.levels(p.alpha, p.skills, width, sets) for width in (p.width, None))
    elif p.width is not None:
        any_width = expected(p.alpha, p.skills, None, _pace(p) * x[-1])
    in_the_end = seen.idle * theory.unseen(_lag(p)) + seen.missing if p.data is not None else unlimited.missing
    loss, any_data = _loss(p, seen, x), _loss(p, unlimited, x)
    return {
        "loss": loss,
        "loss_any_time": np.full(len(x), p.s**2 / 2 * in_the_end),
        "loss_any_data": any_data,
        "loss_any_width": _loss(p, any_width, x) if p.width is not None else loss,
    }


_OVER: dict[str, Callable[[ScalingParams, Cell, Array], Curves]] = {
    "time": _over_time,
    "data": _over_data,
    "width": _over_width,
    "compute": _over_compute,
    "all": _over_all,
}


def _pace(p: ScalingParams) -> float:
    return theory.pace(p.model, p.s, p.lr)


def _loss(p: ScalingParams, levels: Levels, times: Array) -> Array:
    """L at these times, (n,)."""
    c = _lag(p)
    left = moving(levels, _pace(p) * times, c)
    return p.s**2 / 2 * (left + levels.idle * theory.unseen(c) + levels.missing)


def _loss_at(p: ScalingParams, width: int, time: float) -> float:
    return float(_loss(p, expected(p.alpha, p.skills, width, _pace(p) * time), np.array([time]))[0])


def _least(of: Callable[[int], float], low: int, high: int) -> int:
    """The whole number from `low` to `high` at which a function that falls and then rises is least."""
    step = 1
    while low + step < high and of(low + step) < of(low):
        low, step = low + step, 2 * step
    low, high = max(low - step // 2, 1), min(low + step, high)
    known: dict[int, float] = {}

    def value(n: int) -> float:
        if n not in known:
            known[n] = of(n)
        return known[n]

    while high - low > 2:
        third = (high - low) // 3
        left, right = low + max(third, 1), high - max(third, 1)
        if left >= right:
            left, right = low + 1, low + 2
        low, high = (low, right) if value(left) <= value(right) else (left, high)
    return min(range(low, high + 1), key=value)


@lru_cache(maxsize=32)
def _training_set(key: bytes, alpha: float, skills: int | None, size: int) -> draws.TrainingSets:
    """One training set: all points of a diagram that share its draws draw it once."""
    random = np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))
    return draws.draw(random, alpha, skills, np.array([size]))
