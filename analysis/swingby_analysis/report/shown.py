"""Which curves a report shows, and on which scales: those that the experiment declares, else a few of its first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from swingby.model import registry
from swingby.model.experiment import Column, Experiment
from swingby_analysis.charts.bands import ValueScale
from swingby_analysis.report.outcomes import spoken

MOST_CURVES = 3
"""Curves that are shown of an experiment that does not declare any."""
DECADES = 9
"""Decades that a logarithmic axis may span."""
RATIO = 30
"""Positive values whose largest is so many times their smallest are drawn on a logarithmic axis."""


class ShownCurve(NamedTuple):
    """A curve of numbers that a report shows.

    Attributes:
        column: of the experiment's table.
        title: in legends and sentences.
        axis: title of the axis of its values, with their unit.
        unit: the scalar or parameter of a cell that it is divided by; "ones" for none.
        meaning: what it means, for people; "" where the declaration of the report says it.
    """

    column: str
    title: str
    axis: str
    unit: str = "ones"
    meaning: str = ""


def shown_curves(experiment: Experiment) -> list[ShownCurve]:
    """The curves that a report shows.

    `Reported.curves` decides. Where nothing is declared, neither curves nor drawings, it is the first `MOST_CURVES`
    list columns of numbers: those that a detector reads before the others, each in the order of declaration.
    """
    declared = experiment.report.curves
    columns = {name: column for name, column in experiment.curves.items() if is_number(column, of_list=True)}
    if declared is not None:
        return [
            ShownCurve(
                name,
                title,
                declared.axis if declared.unit else with_unit(title, columns.get(name)),
                declared.unit or "ones",
                columns[name].meaning if name in columns else "",
            )
            for name, title in declared.titles.items()
        ]
    if experiment.report.drawings:
        return []
    read = {name for detector in registry.detectors_for(experiment.name) for name in detector.needs}
    names = sorted((name for name in columns if name != "step"), key=lambda name: name not in read)[:MOST_CURVES]
    return [
        ShownCurve(name, title, with_unit(title, columns[name]), meaning=columns[name].meaning)
        for name in names
        for title in [columns[name].title or spoken(name)]
    ]


def is_number(column: Column, of_list: bool = False) -> bool:
    """Whether a column has one number a cell, or one a step."""
    kind = column.type
    if of_list:
        if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
            return False
        kind = kind.value_type
    return pa.types.is_floating(kind) or pa.types.is_integer(kind)


def with_unit(title: str, column: Column | None) -> str:
    """A title, and the unit of its column behind it."""
    return f"{title} / {column.unit}" if column is not None and column.unit else title


def scale_of(values: Iterable[np.ndarray]) -> ValueScale:
    """The scale on which a curve's values are drawn.

    It is logarithmic where they are positive (a few zeros lie on its lower edge) and their largest is `RATIO` times
    their smallest or more, else linear. A few values that are far beyond all others lie outside of it.

    Args:
        values: of any shape; what is not finite, or beyond 1e299, is left out.
    """
    parts = [part[np.isfinite(part) & (np.abs(part) < 1e299)] for part in values]
    known = np.concatenate(parts) if parts else np.empty(0)
    if not known.size:
        return ValueScale(log=False, low=0.0, high=1.0)
    positive = known[known > 0]
    if known.min() >= 0 and positive.size >= 0.9 * known.size:
        low, high = map(math.log10, ends(np.log10(positive), 10.0))
        low = max(low, high - DECADES)
        if high - low >= math.log10(RATIO):
            return ValueScale(log=True, low=10**low, high=10**high)
    low, high = ends(known)
    room = 0.03 * (high - low) or 0.05 * abs(high) or 0.5
    return ValueScale(log=False, low=low if low == 0 else low - room, high=high + room)


def ends(values: np.ndarray, base: float | None = None) -> tuple[float, float]:
    """The least and the largest of what is not far beyond the others; as powers of `base`, if one is given."""
    low, high = float(values.min()), float(values.max())
    usual = np.quantile(values, [0.01, 0.99])
    reach = 2.0 * float(usual[1] - usual[0])
    if reach > 0:
        low, high = max(low, float(usual[0]) - reach), min(high, float(usual[1]) + reach)
    return (low, high) if base is None else (base**low, base**high)


def scales_of(shown: Sequence[ShownCurve], values: Iterable[Mapping[str, np.ndarray]]) -> dict[str, ValueScale]:
    """The scale of each curve, by title; `values` are those of each point."""
    every = list(values)
    return {one.title: scale_of(point[one.title] for point in every) for one in shown}
