"""The sentence at the top of a report: what the sweep found, for a reader who was not there.

It compares averages over all points at a value of one axis, the one that explains most, and never single points: the
largest of many shares is one that chance has lifted. Where no axis surely explains anything, it says so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from swingby_analysis.charts.summaries import level_text, written
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.effects import SweptAxis, effects_of, swept
from swingby_analysis.report.prose import percent, plural

ALIKE = 0.67
"""An axis that matters this much of the first one matters about as much."""


class Contrast(NamedTuple):
    """Averages of the points at the values of one axis.

    Attributes:
        axis: its name.
        values: as text, in order.
        means: of the points at each value.
        sure: whether the axis surely explains some of the differences between points.
        importance: how much each axis that varies matters, by name; the axis itself is the first of the largest.
    """

    axis: str
    values: Sequence[str]
    means: Sequence[float]
    sure: bool
    importance: Mapping[str, float]

    @property
    def depends(self) -> str:
        """On what the outcome depends, in words: other axes that matter about as much are named, too."""
        rivals = [
            name
            for name, much in self.importance.items()
            if name != self.axis and much >= ALIKE * self.importance[self.axis]
        ]
        if rivals:
            return f"depends on {' and '.join([self.axis, *rivals])} about equally"
        return f"depends {'mostly ' if len(self.importance) > 1 else ''}on {self.axis}"

    def at(self, rank: int) -> str:
        """A value of the axis, such as "layers = 2"."""
        names, values = self.axis.split(" + "), self.values[rank].split(", ")
        if len(names) != len(values):
            return f"{self.axis}\u00a0=\u00a0{self.values[rank]}"
        return ", ".join(f"{name}\u00a0=\u00a0{value}" for name, value in zip(names, values, strict=True))

    @property
    def ends(self) -> tuple[int, int]:
        """Where the average is largest, and where it is smallest."""
        return int(np.argmax(self.means)), int(np.argmin(self.means))


def finding(data: ReportData) -> str:
    """What the sweep found of the outcome of its diagram, in a sentence or two."""
    of_kind = {"yes_no": _share, "category": _category, "number": _number}
    return of_kind[data.kind](data, data.outcome)


def quoted(title: str) -> str:
    """A title in quotes; one in backticks is a text of code, and needs none."""
    return title if title.startswith("`") else f"“{title}”"


def best_axis(
    data: ReportData, points: Mapping[int, float], outcome: str, category: str | None = None
) -> Contrast | None:
    """The axis that explains most of an outcome; None where no axis varies, or the outcome does not.

    Args:
        points: what is averaged: a number for each point.
        category: the one value of the outcome that is meant, of a category.
    """
    if data.refined is None:
        axes, effects = effects_of(data, outcome, category)
        order = swept(data)[0]
        if effects is None:
            return None
        importance = [one.share for one in effects.axes]
        best = int(np.argmax(importance))
        sure = effects.axes[best].low > 0
    else:  # its cells were chosen by their results: the fitted map stands for all points
        order, axes = swept(data, list(data.grid.places))
        if not axes:
            return None
        importance = [float(np.ptp(_means(axis, order, points))) for axis in axes]
        best, sure = int(np.argmax(importance)), max(importance) > 0.1
    named = {axis.name: much for axis, much in zip(axes, importance, strict=True)}
    return Contrast(axes[best].name, axes[best].values, _means(axes[best], order, points), sure, named)


def _means(axis: SweptAxis, order: Sequence[int], points: Mapping[int, float]) -> list[float]:
    """The mean over the points at each value of an axis; NaN where none has a number."""
    at: list[list[float]] = [[] for _ in axis.values]
    for point, rank in zip(order, axis.ranks.tolist(), strict=True):
        if math.isfinite(points.get(point, math.nan)):
            at[rank].append(points[point])
    means = [float(np.mean(values)) if values else math.nan for values in at]
    middle = float(np.nanmean(means)) if any(map(math.isfinite, means)) else 0.0
    return [middle if math.isnan(mean) else mean for mean in means]


def _share(data: ReportData, outcome: str) -> str:
    known, name = data.phases.shares(outcome), quoted(data.title(outcome))
    runs, shown = sum(one.n for one in known), sum(one.k for one in known)
    if not runs:
        return f"No run can tell whether it shows {name}."
    if shown in (0, runs):
        return f"{'No run shows' if not shown else 'Every run shows'} {name}: {shown:,} of {runs:,}."
    fits = data.fitted(outcome) if data.refined is not None else {}
    points = {point: fit.mean for point, fit in fits.items()} or {one.point: one.share for one in known}
    one = best_axis(data, points, outcome)
    whole = f"{_part(shown / runs)} of the {runs:,} runs show {name}"
    if len(known) == 1:
        return f"{whole} (95\u00a0% interval {percent(known[0].low)} to {percent(known[0].high)})."
    if one is None or not one.sure:
        return f"{whole}, and no axis by itself makes a clear difference."
    most, least = one.ends
    depends = f"{name} {one.depends}"
    fitted = ", by the fitted map" if fits else ""
    shares = (
        f"{_part(one.means[most])} of the runs show it at {one.at(most)}, {_part(one.means[least])} at {one.at(least)}"
    )
    return f"{depends}: {shares}{fitted}.{_crossing(data, outcome, one)}"


def _part(share: float) -> str:
    """A share in words; none and all are exact."""
    if share <= 0 or share >= 1:
        return "none" if share <= 0 else "all"
    if share < 0.01 or share > 0.99:
        return "fewer than 1\u00a0%" if share < 0.01 else "more than 99\u00a0%"
    return percent(share)


def _crossing(data: ReportData, outcome: str, one: Contrast) -> str:
    """Between which values of the single axis of a sweep the share passes the level; "" where it is not once."""
    if len(swept(data)[1]) > 1 or data.grid.y is not None or len(data.grid.facets) > 1:
        return ""
    level = data.level(outcome)
    passes = [rank for rank, (a, b) in enumerate(pairwise(one.means)) if (a > level) != (b > level)]
    if len(passes) != 1:
        return ""
    return f" It passes {level_text(level)} between {one.at(passes[0])} and {one.at(passes[0] + 1)}."


def _category(data: ReportData, outcome: str) -> str:
    column = data.cells[outcome].drop_nulls()
    counts, title = Counter(column.to_list()), data.title(outcome)
    if not counts:
        return f"No run has a result for {quoted(title)}."
    (first, k), *rest = counts.most_common()
    if not rest:
        return f"Every run has the same {title}: {quoted(first)}, {k:,} of {k:,}."
    common = f"The most common {title} is {quoted(first)}, of {_part(k / len(column))} of the {len(column):,} runs"
    best: tuple[float, str, Contrast] | None = None
    for category, _ in counts.most_common(6):
        shares = (
            data.cells.filter(pl.col(outcome).is_not_null()).group_by("point").agg(pl.col(outcome).eq(category).mean())
        )
        one = best_axis(data, dict(shares.iter_rows()), outcome, category)
        if one is not None and one.sure and (best is None or np.ptp(one.means) > best[0]):
            best = float(np.ptp(one.means)), category, one
    if best is None:
        return f"{common}; no axis by itself makes a clear difference."
    _, category, one = best
    most, least = one.ends
    shares = (
        f"{_part(one.means[most])} of the runs end so at {one.at(most)}, {_part(one.means[least])} at {one.at(least)}"
    )
    return f"{common}. {quoted(category)} {one.depends}: {shares}."


def _number(data: ReportData, outcome: str) -> str:
    name, known = data.with_unit(outcome), data.phases.spreads(outcome)
    if not known:
        return f"No run has a {name}."
    medians = {one.point: one.median for one in known}
    if len(known) == 1:
        return f"The {name}: {known[0].text}."
    if len(set(medians.values())) == 1:
        return (
            f"The {name} is the same everywhere: {written(known[0].median)} at each of {plural(len(known), 'point')}."
        )
    one = best_axis(data, medians, outcome) if data.refined is None else None
    values = sorted(medians.values())
    typical, ends = written(values[len(values) // 2]), f"from {written(values[0])} to {written(values[-1])}"
    middle = f"The median {name} of a point is typically {typical}, {ends}"
    if one is None or not one.sure:
        return f"{middle}; no axis by itself makes a clear difference."
    # The middle of the points, since the mean of a few huge ones says nothing of most.
    points, axes = swept(data)
    ranks = next(each.ranks.tolist() for each in axes if each.name == one.axis)
    at: list[list[float]] = [[] for _ in one.values]
    for point, rank in zip(points, ranks, strict=True):
        at[rank] += [medians[point]] if point in medians else []
    middles = [float(np.median(here)) if here else math.nan for here in at]
    if not all(map(math.isfinite, middles)) or len(set(middles)) == 1:
        return f"{middle}; it {one.depends}."
    most, least = int(np.argmax(middles)), int(np.argmin(middles))
    depends = f"The {name} {one.depends}"
    high, low = (f"{written(middles[rank])} at {one.at(rank)}" for rank in (most, least))
    return f"{depends}: typically {high}, {low}."
