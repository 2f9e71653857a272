"""The conventions of a sweep: those common to all points, and those that its presets set differently."""

from __future__ import annotations

from swingby.model import registry
from swingby.sweepfile.parameters import split
from swingby_analysis.page import Code, Table
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.prose import shown

ALL = "all points"
MOST = 4
"""Values of one parameter under one preset that are written out."""


def common(data: ReportData) -> Table:
    """The parameters that have one value at all points."""
    return Table(
        ["parameter", "value"],
        [[Code(name), shown(value)] for name, value in data.resolved["common"].items()],
        name="pairs",
    )


def differing(data: ReportData) -> Table | None:
    """The parameters that differ between points without being on an axis: they follow from preset and axes.

    A column for each preset, or one for all points where there is a single one.
    """
    axes = {split(name)[0] for axis in data.resolved["axes"] for name in axis["names"]}
    known = registry.experiment(data.sweep["experiment"]).Params.model_fields
    names = [name for name in known if name not in {*axes, *data.resolved["common"]} and name in data.cells.columns]
    presets = sorted(set(data.cells["preset"].drop_nulls().to_list())) or [ALL]
    rows = [[Code(name), *(_values(data, name, preset) for preset in presets)] for name in names]
    return Table(["parameter", *presets], rows, name="pairs") if rows else None


def _values(data: ReportData, name: str, preset: str) -> str:
    """The values that a parameter takes at the points of a preset."""
    cells = data.cells if preset == ALL else data.cells.filter(data.cells["preset"] == preset)
    texts = list(dict.fromkeys(shown(value) for value in cells.sort("point")[name].to_list()))
    return " or ".join(texts[:MOST]) + (f" or {len(texts) - MOST} more" if len(texts) > MOST else "")
