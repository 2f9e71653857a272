"""Which curves a report shows, and on which scales: those that the experiment declares, else a few of its first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from swingby.model import registry
from swingby.model.experiment import Column, Experiment
from swingby_analysis.charts.bands import ValueScale, scale_of
from swingby_analysis.report.outcomes import spoken

MOST_CURVES = 4
"""Curves that are shown of an experiment that does not declare any: losses and accuracies, of training and of tests."""


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
    list columns of numbers: those that a detector reads before the others, then losses, each in the order of
    declaration.
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
    names = sorted(
        (name for name in columns if name != "step"), key=lambda name: (name not in read, "loss" not in name)
    )[:MOST_CURVES]
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


def scales_of(shown: Sequence[ShownCurve], values: Iterable[Mapping[str, np.ndarray]]) -> dict[str, ValueScale]:
    """The scale of each curve, by title; `values` are those of each point."""
    every = list(values)
    scales = {}
    for one in shown:
        curves = [point[one.title] for point in every]
        starts = [float(curve[0, 0]) for curve in curves if curve.size and abs(curve[0, 0]) < 1e299]
        start = float(np.median(starts)) if starts else 0.0
        scales[one.title] = scale_of(curves, start if start > 0 else 0.0)
    return scales
