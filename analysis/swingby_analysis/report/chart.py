"""One chart of a sweep's results for notebooks: an outcome or a curve over the axes that are named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.registry import nearest
from swingby.run.outcomes import derive, refresh
from swingby.store import Store
from swingby.store.lookup import find_sweep
from swingby_analysis.page import Figure
from swingby_analysis.report import data as report_data
from swingby_analysis.report.figures import map_of
from swingby_analysis.report.grid_curves import grid_curves
from swingby_analysis.report.notebook import chart_of
from swingby_analysis.report.outcomes import spoken
from swingby_analysis.report.shown import ShownCurve, is_number, shown_curves, with_unit


def chart(
    sweep: str,
    data: Path,
    what: str | None = None,
    x: str | None = None,
    y: str | None = None,
    presentation: Mapping[str, Any] | None = None,
) -> Any:
    """The map of an outcome over two axes, its marks with intervals along one, or the bands of a curve.

    Args:
        sweep: a sweep's name or id.
        data: the data folder.
        what: an outcome, a scalar or a curve of the experiment; None: the outcome of the sweep's diagram.
        x, y: axes of the sweep; all others get a panel for each of their values. None for both: those of the sweep's
            diagram, else its first two.
        presentation: how the sweep is shown (`Sweep.presentation`); None: as its last run had it.

    Raises:
        SwingbyError: no such sweep, outcome, curve or axis, or no cell of the sweep is finished.
    """
    records = Records.open(data, create=False)
    published = refresh(records)
    with Store.open(records.data) as store:
        row = find_sweep(store, sweep)
        shown = dict(presentation or {})
        if published is None:
            derive(records, [row.sweep_id], {row.sweep_id: shown["outcomes"]} if "outcomes" in shown else {})
        curve = curve_of(row.experiment, what)
        read = report_data.read(store, row.sweep_id, presentation=shown, shown=[] if curve is None else [curve])
        if x is not None or y is not None:
            shown["diagram"] = {"x": x, "y": y, "outcome": read.outcome, "facet": None, "title": None}
            axes = [name for axis in read.resolved["axes"] for name in axis["names"]]
            for name in (x, y):
                if name is not None and name not in axes:
                    raise SwingbyError(f"{name!r} is no axis of {row.name!r}; {nearest(name, axes)}")
            if x is None or x == y:
                raise SwingbyError(f"x is {x!r} and y is {y!r}; allowed: an axis as x, and another one or none as y")
            read = report_data.read(store, row.sweep_id, presentation=shown, shown=read.shown)
    if curve is not None:
        figures = grid_curves(read)
        if not figures:
            raise SwingbyError(f"the curve {what!r} is finite in no finished cell of {row.name!r}")
        return drawn(figures[0])
    name = what or read.outcome
    if name not in read.outcomes:
        known = [*read.outcomes, *curves_of(row.experiment)]
        raise SwingbyError(f"{row.name!r} has no outcome or curve {name!r}; {nearest(name, known)}")
    if not read.cells[name].is_not_null().any():
        raise SwingbyError(f"{name!r} is known of no finished cell of {row.name!r}")
    surface = read.surface(name) if read.outcomes[name].kind == "yes_no" else None
    return drawn(map_of(read.grid, read.phases, read.outcomes[name], surface))


def curves_of(experiment: str) -> list[str]:
    """The columns of an experiment, also those recorded on request, with one number a step."""
    kind = registry.experiment(experiment)
    every = {**kind.curves, **{name: one for columns in kind.recordings.values() for name, one in columns.items()}}
    return [name for name, column in every.items() if name != "step" and is_number(column, of_list=True)]


def curve_of(experiment: str, name: str | None) -> ShownCurve | None:
    """The curve of a name, as the experiment declares that it is shown; None if there is none."""
    if name is None or name not in curves_of(experiment):
        return None
    kind = registry.experiment(experiment)
    declared = [one for one in shown_curves(kind) if one.column == name]
    if declared:
        return declared[0]
    every = {**kind.curves, **{name: one for columns in kind.recordings.values() for name, one in columns.items()}}
    title = every[name].title or spoken(name)
    return ShownCurve(name, title, with_unit(title, every[name]), meaning=every[name].meaning)


def drawn(figure: Figure) -> Any:
    """The figure as an Altair chart, with its title."""
    chart = chart_of(figure.spec)
    chart.title = alt.TitleParams(figure.title, anchor="start", fontSize=14)
    return chart
