"""The map of regimes on the page of phenomena: one figure for all experiments, and tables with what moves them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from swingby.model import registry
from swingby_analysis.charts.maps import PALETTE
from swingby_analysis.charts.strips import Panel, Strip, strips
from swingby_analysis.grid import plain
from swingby_analysis.page import (
    Block,
    Code,
    Figure,
    Fold,
    Items,
    Part,
    Picture,
    QueryRows,
    Section,
    Table,
    Text,
)
from swingby_analysis.phenomena.catalogue import Phenomenon
from swingby_analysis.phenomena.counting import Counted
from swingby_analysis.phenomena.regimes import Along, Placed, Share
from swingby_analysis.report.prose import percent, plural

NAME, TITLE = "regimes", "One map of regimes"
LEAD = (
    "Each strip is a sweep, along the axis on which the regime depends most, from the axis's first value on the left "
    "to its last on the right. Colours are the regimes of the runs there. How many runs are in a regime depends on the "
    "grid that was chosen; what counts is where a regime lies, and which parameter it depends on."
)
READING = (
    "A column of a strip is a value of the axis, whatever lies between two values; its colours are the shares of all "
    "runs there, over every other axis and all seeds. Grey runs are in no regime: they diverged, or their regime is "
    "unknown. Above a strip stand the ends of its axis, and the share of the variance over the points that the axis "
    "explains by itself, of a run's place in the order of the regimes (0, 1, 2, ...). A second strip is drawn where a "
    "second axis explains a tenth or more. Intervals are at 95 %, over seeds: jackknife of explained shares, and "
    "Wilson's at the effective number of runs for shares of runs."
)
HEADINGS = (
    "experiment",
    "sweep",
    "runs with a regime",
    "depends most on",
    "in the lowest third of it",
    "in the highest third",
)


def map_of(placed: Sequence[Placed]) -> Figure:
    """The map of all sweeps."""
    caption = f"Where the runs of {plural(len({one.sweep for one in placed}), 'sweep')} are, and what moves them."
    return Figure(NAME, TITLE, caption, READING, strips([_panel(group) for group in _groups(placed)]).to_dict())


def sections(phenomena: Sequence[Phenomenon], placed: Sequence[Placed], picture: bytes) -> list[Section]:
    """The map as `picture`, and a section for each question with its tables and queries."""
    shown = Picture(NAME, picture, TITLE, READING, f"{NAME}.png", True)
    tables = [
        _section(group, [item for item in phenomena if item.slug == group[0].phenomenon.slug])
        for group in _groups(placed)
    ]
    return [Section("map", TITLE, [Text(LEAD), shown], name="diagram"), *tables]


def _groups(placed: Sequence[Placed]) -> list[list[Placed]]:
    return [list(group) for _, group in itertools.groupby(placed, lambda one: one.phenomenon.slug)]


def _panel(group: Sequence[Placed]) -> Panel:
    lines = list[Strip]()
    for one in group:
        label = f"{one.phenomenon.experiment}: {one.sweep.removeprefix('diagram-')}"
        for along in one.axes:
            text = f"{along.mover.axis} explains {along.mover}"
            ends = (_value(along.values[0]), _value(along.values[-1]))
            lines.append(Strip(label, text, ends, along.shares))
            label = ""
        if not one.axes:
            shares = [share * one.telling / one.runs for share, _, _ in one.shares]
            lines.append(Strip(label, one.why_none, ("", ""), [[*shares, 1 - one.telling / one.runs]]))
    return Panel(group[0].phenomenon.title, group[0].phenomenon.regimes, lines, _colours(group[0].phenomenon))


def _colours(phenomenon: Phenomenon) -> list[str]:
    """The colours that the regimes have in the maps of the experiment's outcomes; of others, those of their order."""
    orders = [
        column.order
        for detector in registry.detectors_for(phenomenon.experiment)
        for column in detector.outcomes.values()
        if set(phenomenon.regimes) <= set(column.order)
    ]
    order = orders[0] if orders else phenomenon.regimes
    return [PALETTE[order.index(regime) % len(PALETTE)] for regime in phenomenon.regimes]


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return f"{value:.3g}" if isinstance(value, float) else plain(value) if isinstance(value, str | int) else str(value)


def meanings(declared: Sequence[Phenomenon], group: Sequence[Placed] | Sequence[Counted]) -> list[Block]:
    """What a phenomenon means in each experiment, and the experiments of which no run here has an answer."""
    blocks: list[Block] = [Items([[Code(item.experiment), f": {item.meaning}"] for item in declared])]
    there = {one.phenomenon.experiment for one in group}
    silent = [item.experiment for item in declared if item.experiment not in there]
    return [*blocks, Text(f"No run here has an answer for {', '.join(silent)}.", "note")] if silent else blocks


def _section(group: Sequence[Placed], declared: Sequence[Phenomenon]) -> Section:
    first, blocks = group[0].phenomenon, meanings(declared, group)
    rows = [_row(one, along) for one in group for along in (one.axes or (None,))]
    blocks += [Table(HEADINGS, rows), Fold("The queries", [QueryRows(one.query) for one in group])]
    return Section(first.slug, first.title, blocks)


def _row(one: Placed, along: Along | None) -> Sequence[Part]:
    regimes = one.phenomenon.regimes
    shares = f"{_shares(regimes, one.shares)}; {one.telling:,} of {one.runs:,} runs have one"
    head: list[Part] = [Code(one.phenomenon.experiment), Code(one.sweep), shares]
    if along is None:
        return [*head, one.why_none, "", ""]
    towards = {True: f", towards {regimes[-1]}", False: f", towards {regimes[0]}", None: ""}[along.mover.rises]
    ends = f"{_value(along.values[0])} to {_value(along.values[-1])}"
    return [
        *head,
        f"{along.mover.axis}, {ends}{towards}: {along.mover}",
        _shares(regimes, along.low),
        _shares(regimes, along.high),
    ]


def _shares(regimes: Sequence[str], shares: Sequence[Share]) -> str:
    """The regimes that have runs, with their shares and intervals."""
    parts = [
        f"{regime} {percent(share)}" + (f" ({percent(low)} to {percent(high)})" if low == low else "")
        for regime, (share, low, high) in zip(regimes, shares, strict=False)
        if share > 0
    ]
    return ", ".join(parts) or "no run has one"
