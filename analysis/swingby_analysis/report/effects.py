"""The figures over all axes of a sweep: main effects, and parallel coordinates of grids of three axes and more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import polars as pl

from swingby_analysis.charts import style
from swingby_analysis.charts.bands import ValueScale, decades_of, scale_of, scale_ticks
from swingby_analysis.charts.effects import KINDS, Corner, EffectBar, Tick, effect_bars, parallel
from swingby_analysis.charts.maps import HUES
from swingby_analysis.charts.summaries import BOUND
from swingby_analysis.charts.ticks import shortened
from swingby_analysis.grid import SweepGrid, plain, scalar
from swingby_analysis.page import Figure
from swingby_analysis.report import prose
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.grid_curves import spread
from swingby_analysis.report.origins import facts_of
from swingby_analysis.stats.effects import Effect, Effects, main_effects

MOST_OUTCOMES = 4
"""Outcomes whose main effects are drawn."""
MOST_LINES = 300
"""Points that parallel coordinates draw."""
BESIDE = 0.62
"""The lines at one value take this much of the room up to the next value."""
OVER = {
    "yes_no": "share of the seeds of which it is true",
    "number": "median over the seeds",
    "category": "most common one",
}
"""What of the seeds a line stands for."""
FITTED = "share of the seeds of which it is true, fitted to all points"
"""That of a yes/no outcome of a refined sweep."""
TICKS, MOST_NAMES = 8, 20
"""Values of a parallel axis that are written, and names of categories, which have a line each."""
LEGEND = 500
"""The px of a row of the legend of categories."""
READING = (
    "A bar is the share of the variance of the outcome over the points of the grid that an axis explains by itself: "
    "how far the averages of the outcome at its values, taken over all other axes, lie apart. What chance adds, since "
    "a point has few seeds, is taken off and has a bar of its own; an axis without any effect is 0 on average, and may "
    "lie below. Lines are 95 % jackknife intervals over the seeds. An axis with a short bar can matter all the same: "
    "where its effect depends on other axes it is among the interactions. Of a number over two decades and more it is "
    "the logarithm whose variance is explained. A share says neither in which direction an "
    "axis acts nor anything about values that are not in the grid."
)
PARALLEL = (
    "A line is a point of the grid. It crosses each axis, whose values stand evenly apart, near the value that the "
    "point has there, and the last axis at its outcome, which is its colour, too. Lines at one value lie side by side "
    "in the order of their outcomes, so that the colours beside a value show what happened at it."
)


class SweptAxis(NamedTuple):
    """An axis of the sweep file: its name, its values as text in order, and the rank of each point's value."""

    name: str
    values: Sequence[str]
    ranks: np.ndarray


def swept(data: ReportData, among: Sequence[int] = ()) -> tuple[list[int], list[SweptAxis]]:
    """The points with a result, or these, and each axis that varies over them; what advances together is one axis."""
    key = "swept", *among
    if key not in data.computed:
        data.computed[key] = _swept(data, among)
    return data.computed[key]


def _swept(data: ReportData, among: Sequence[int]) -> tuple[list[int], list[SweptAxis]]:
    groups = [tuple(axis["names"]) for axis in data.resolved["axes"]]
    if among and data.grid.sweep is not None:
        whole = data.grid.sweep
        grid = SweepGrid(whole.axes, whole.groups, {point: whole.places[point] for point in among})
    else:
        firsts = data.cells.unique("point", keep="first", maintain_order=True)
        grid = SweepGrid.of(groups, firsts.iter_rows(named=True))
    points, axes = list(grid.places), list[SweptAxis]()
    every = np.array([grid.places[point] for point in points]).reshape(len(points), -1)
    for number, names in enumerate(groups):
        columns = [column for column, group in enumerate(grid.groups) if group == number]
        kept, ranks = np.unique(every[:, columns], axis=0, return_inverse=True)
        if len(kept) < 2:
            continue
        values = [[scalar(grid.axes[c].values[i]) for c, i in zip(columns, row, strict=True)] for row in kept.tolist()]
        axes.append(SweptAxis(" + ".join(names), [", ".join(map(plain, row)) for row in values], ranks.reshape(-1)))
    return points, axes


def effects_of(data: ReportData, outcome: str, category: str | None = None) -> tuple[list[SweptAxis], Effects | None]:
    """The main effects of the sweep's axes on an outcome, over the points.

    A yes/no outcome counts as 0 and 1, and so does whether a category is this one; a number over decades
    (`over_decades`) counts by its logarithm.
    """
    key = "effects", outcome, category
    if key not in data.computed:
        data.computed[key] = _effects_of(data, outcome, category)
    return data.computed[key]


def _effects_of(data: ReportData, outcome: str, category: str | None) -> tuple[list[SweptAxis], Effects | None]:
    points, axes = swept(data)
    seeds = {seed: rank for rank, seed in enumerate(data.cells["seed"].unique().sort().to_list())}
    values, scale = np.full((len(points), len(seeds)), np.nan), None
    column = pl.col(outcome) if category is None else pl.col(outcome) == category
    known = data.cells.select("point", "seed", column.cast(pl.Float64).alias(outcome)).drop_nulls()
    if data.outcomes[outcome].kind == "number":
        scale = over_decades(data, outcome)
    if scale is not None:
        known = known.with_columns(pl.col(outcome).clip(scale.low, None).log10())
    rows, columns = (
        known[name].replace_strict(list(ranks), list(ranks.values()), return_dtype=pl.Int64).to_numpy()
        for name, ranks in (("point", {point: row for row, point in enumerate(points)}), ("seed", seeds))
    )
    finite = known[outcome].to_numpy()
    values[rows, columns] = np.where(np.abs(finite) < BOUND, finite, np.nan)
    if not axes:
        return axes, None
    places = np.stack([axis.ranks for axis in axes], axis=1)
    return axes, main_effects(places, values, data.resolved["seed_mode"] == "common")


def over_decades(data: ReportData, outcome: str) -> ValueScale | None:
    """The scale of a number without bounds whose medians are positive and lie over decades; None for any other."""
    if data.outcomes[outcome].column.bounds is not None:
        return None
    return decades_of([one.median for one in data.phases.spreads(outcome) if abs(one.median) < BOUND])


def effects_figure(data: ReportData) -> Figure | None:
    """The main effects on the diagram's outcome and its companions; None with fewer than two axes, or no variance.

    None of a refined sweep, too: its cells were chosen by their results, so that averages over them are none over axes.
    """
    if data.refined is not None:
        return None
    outcomes = [name for name in (data.outcome, *data.companions) if data.outcomes[name].kind != "category"]
    bars, sentences, points, whole = list[EffectBar](), list[str](), 0, True
    for name in outcomes[:MOST_OUTCOMES]:
        axes, effects = effects_of(data, name)
        if effects is None or len(axes) < 2:
            continue
        title = data.with_unit(name)
        if data.outcomes[name].kind == "number" and over_decades(data, name) is not None:
            title += " (log scale)"
        alone, together, chance = KINDS
        bars += [
            EffectBar(title, axis.name, alone, *one, _text(one)) for axis, one in zip(axes, effects.axes, strict=True)
        ]
        bars.append(EffectBar(title, together, together, *effects.rest, _text(effects.rest)))
        bars.append(EffectBar(title, chance, chance, effects.noise, math.nan, math.nan, prose.percent(effects.noise)))
        best, points = int(np.argmax([one.share for one in effects.axes])), max(points, effects.points)
        whole = whole and effects.whole
        sentences.append(_sentence(data.title(name), axes[best].name, effects.axes[best]))
    if not bars:
        return None
    caption = " ".join(sentences) + f" Over {points:,} points of the grid."
    if data.coverage:
        caption += f" {data.coverage}: points count alike, however many seeds they have."
    if not whole:
        caption += " The grid is not whole: axes whose values go together are each given what they have in common."
    facts = facts_of(data, prose.between(*data.phases.seeds()))
    spec = effect_bars(bars).to_dict(validate=False)
    return Figure(
        "main-effects",
        "Which axis explains how much",
        caption,
        READING,
        spec,
        [data.queries["cells"]],
        facts,
        section="axes",
    )


def parallel_figure(data: ReportData) -> Figure | None:
    """Parallel coordinates over the axes and the diagram's outcome; None with fewer than three axes."""
    points, axes = swept(data)
    if len(axes) < 3:
        return None
    outcome, title = data.outcome, data.with_unit(data.outcome)
    values, texts = _values(data)
    known = [point for point in points if point in values]
    if len(known) < 2:
        return None
    order = sorted(known, key=lambda point: (values[point], point))
    chosen = [order[rank] for rank in spread(len(order), MOST_LINES)]
    row_of = {point: row for row, point in enumerate(points)}
    names = data.phases.categories(outcome) if data.kind == "category" else []
    scale = _scale(data, names, np.array([values[point] for point in known]))
    ends = {point: _place(scale, values[point]) for point in chosen}
    corners, ticks = list[Corner](), list[Tick]()

    def corner(point: int, axis: str, at: float) -> Corner:
        value = names[int(values[point])] if names else min(max(values[point], scale.low), scale.high)
        return Corner(point, axis, at, value, data.grid.label(point), texts[point])

    for axis in axes:
        step = 1 / len(axis.values)
        ticks += [Tick(axis.name, (rank + 0.5) * step, axis.values[rank]) for rank in spread(len(axis.values), TICKS)]
        for rank in range(len(axis.values)):
            here = [point for point in chosen if axis.ranks[row_of[point]] == rank]
            aside = [BESIDE * step * ((place + 0.5) / len(here) - 0.5) for place in range(len(here))]
            corners += [
                corner(point, axis.name, (rank + 0.5) * step + by) for point, by in zip(here, aside, strict=True)
            ]
    corners += [corner(point, title, ends[point]) for point in chosen]
    if names:
        kept = range(len(names)) if len(names) <= MOST_NAMES else spread(len(names), MOST_NAMES)
        ticks += [Tick(title, _place(scale, rank), shortened(names[rank])) for rank in kept]
    else:
        even = [scale.low + share * (scale.high - scale.low) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
        written = "{:.0%}" if data.kind == "yes_no" else "{:.3g}"
        ticks += [Tick(title, _place(scale, value), written.format(value)) for value in scale_ticks(scale) or even]
    colour = _colour(title, names, {corner.value for corner in corners}, scale, data.kind == "yes_no")
    spec = parallel(corners, ticks, [*(axis.name for axis in axes), title], colour, title).to_dict(validate=False)
    sampled = "all" if len(chosen) == len(known) else f"{len(chosen)} of {len(known):,}"
    over = FITTED if data.refined is not None and data.kind == "yes_no" else OVER[data.kind]
    over += ", on a log scale" if scale.log else ""
    caption = f"{title[:1].upper()}{title[1:]} ({over}); {sampled} points of the grid with a result."
    if len(chosen) < len(known):
        caption += " They are a sample, evenly spread over the ranks of the outcome."
    if data.coverage:
        caption += f" {data.coverage}."
    facts = facts_of(data, prose.between(*data.phases.seeds(outcome)))
    queries = [data.queries["cells"]]
    return Figure(
        "parallel",
        "All axes side by side",
        caption,
        PARALLEL,
        spec,
        queries,
        facts,
        points=bool(data.curves),
        section="axes",
    )


def _scale(data: ReportData, names: Sequence[str], values: np.ndarray) -> ValueScale:
    """The scale of the outcome's axis and colours."""
    if data.kind == "yes_no":
        return ValueScale(False, 0.0, 1.0)
    return ValueScale(False, 0.0, max(1.0, len(names) - 1.0)) if names else scale_of([values])


def _place(scale: ValueScale, value: float) -> float:
    """Where a value lies between the ends of a scale, from 0 to 1."""
    value = min(max(value, scale.low), scale.high)
    if scale.log:
        return math.log(value / scale.low) / math.log(scale.high / scale.low)
    return (value - scale.low) / (scale.high - scale.low)


def _values(data: ReportData) -> tuple[dict[int, float], dict[int, str]]:
    """The outcome of each point as a number (a category by its rank), and in words."""
    name, phases = data.outcome, data.phases
    if data.kind == "yes_no":
        shares = phases.shares(name)
        fits = data.fitted(name) if data.refined is not None else {}
        if fits:  # of one seed of one, the share would be all
            seen = [(one.point, fits[one.point]) for one in shares if one.point in fits]
            return {point: fit.mean for point, fit in seen}, {point: fit.text for point, fit in seen}
        return {one.point: one.share for one in shares}, {one.point: prose.share_text(one) for one in shares}
    if data.kind == "number":
        known = [one for one in phases.spreads(name) if abs(one.median) < BOUND]
        return {one.point: one.median for one in known}, {one.point: one.text for one in known}
    ranks, most = phases.categories(name), phases.most_common(name)
    return {one.point: float(ranks.index(one.outcome)) for one in most}, {one.point: one.counts for one in most}


def _colour(title: str, names: Sequence[str], seen: set[Any], scale: ValueScale, share: bool) -> alt.Color:
    """The colour of a line: that of the outcome's map; of the categories `names` the legend lists those `seen`."""
    if names:
        colours = {name: HUES[rank % len(HUES)] for rank, name in enumerate(names) if name in seen}
        hues = alt.Scale(domain=list(colours), range=list(colours.values()))
        room = style.legend_columns(colours, LEGEND)
        legend = alt.Legend(title=title, orient="bottom", direction="horizontal", symbolType="stroke", **room)
        return alt.Color("value:N", scale=hues, legend=legend)
    shown: dict[str, Any] = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".0%"} if share else {"format": ".2~g"}
    legend = alt.Legend(
        title=title, orient="bottom", gradientLength=220, gradientThickness=10, gradientOpacity=1, **shown
    )
    kind = "log" if scale.log else "linear"
    hues = alt.Scale(type=kind, scheme="viridis" if share else "cividis", domain=[scale.low, scale.high])
    return alt.Color("value:Q", scale=hues, legend=legend)


def _text(one: Effect) -> str:
    """A share with its interval."""
    if math.isnan(one.low):
        return _percent(one.share)
    return f"{_percent(one.share)} ({_percent(one.low)} to {_percent(one.high)})"


def _percent(share: float) -> str:
    """A share that may lie below 0."""
    return prose.percent(share if abs(share) >= 0.005 else 0.0)


def _sentence(outcome: str, axis: str, best: Effect) -> str:
    """Which axis explains most of an outcome, and whether the seeds are enough to say that it explains anything."""
    share = _percent(best.share)
    if math.isnan(best.low):
        return f"Of {outcome}, {axis} explains most by itself: {share}; one seed a point gives no interval."
    explained = f"{share} of the variance (95\u00a0% interval {_percent(best.low)} to {_percent(best.high)})"
    if best.low <= 0:
        return f"Of {outcome} no axis surely explains anything by itself; {axis} comes first with {explained}."
    return f"Of {outcome}, {axis} explains most by itself: {explained}."
