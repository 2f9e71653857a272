"""What the page's script needs to show the curves of the point that is pointed at."""

from __future__ import annotations

from typing import Any

from swingby_analysis.charts.curves import log_panel
from swingby_analysis.charts.planes import landmark_rows, trajectory_panel
from swingby_analysis.grid import plain
from swingby_analysis.report.curves import packed
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.examples import Examples
from swingby_analysis.report.figures import Figures
from swingby_analysis.report.prose import plural, told


def interactive(figures: Figures) -> dict[str, Any]:
    """The specs, the two empty panels, the grid's axes, what is known of each point, and its curves, as JSON values.

    Without a diagram to point at, or curves to show there, the specs alone.
    """
    data, examples = figures.data, figures.examples
    if not figures.has_main or examples is None:
        return {"figures": {figure.slug: figure.spec for figure in figures.every}, "panel": None}
    return {
        "figures": {figure.slug: figure.spec for figure in figures.every},
        "panel": _panel(figures, examples),
        "grid": _axes(data),
        "points": _points(data),
        "curves": packed(data.curves),
    }


def _panel(figures: Figures, examples: Examples) -> dict[str, Any]:
    view, names = figures.data.view, figures.curve_titles
    return {
        "figure": figures.main.slug,
        "losses": log_panel(names, figures.axes).to_dict(),
        "path": None if view is None else trajectory_panel(view, figures.plane_range).to_dict(),
        "names": names,
        "landmarks": [] if view is None else landmark_rows(view),
        "first": examples.first,
    }


def _axes(data: ReportData) -> list[dict[str, Any]]:
    """x, y and panel, with the values that a menu offers; a single value needs no menu."""
    x, y, facets = data.grid.x, data.grid.y, data.grid.facets
    axes = [(x.name, [plain(value) for value in x.values])]
    axes.append(("", [""]) if y is None else (y.name, [plain(value) for value in y.values]))
    axes.append(("panel", list(facets)))
    return [{"name": name, "values": values} for name, values in axes]


def _points(data: ReportData) -> dict[str, Any]:
    """Of every point: where it stands, what it is called, its number in words, and what its curves are over."""
    texts, name = _texts(data), data.with_unit(data.outcome)
    found = {}
    for point, place in data.grid.places.items():
        n = data.curves[point].n if point in data.curves else 0
        note = f"Median, and 10\u00a0% to 90\u00a0% of {plural(n, 'seed')}; dots at equal times."
        text = texts.get(point, "could not be told")
        found[str(point)] = {
            "place": place,
            "label": data.grid.label(point),
            "text": f"{name}: {text}",
            "note": note,
        }
    return found


def _texts(data: ReportData) -> dict[int, str]:
    if data.kind == "yes_no":
        return {share.point: told(share) for share in data.phases.shares(data.outcome)}
    if data.kind == "category":
        return {row.point: row.counts for row in data.phases.most_common(data.outcome)}
    return {row.point: row.text for row in data.phases.spreads(data.outcome)}
