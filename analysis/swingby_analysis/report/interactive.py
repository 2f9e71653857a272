"""The data with which the page's script shows the curves of the point that is pointed at."""

from __future__ import annotations

from typing import Any

from swingby_analysis.charts.bands import waiting_bands
from swingby_analysis.charts.curves import log_panel
from swingby_analysis.charts.maps import MOST_FITTED
from swingby_analysis.charts.trajectories import landmark_rows, trajectory_panel
from swingby_analysis.grid import Grid, plain
from swingby_analysis.report import singles
from swingby_analysis.report.curves import DECLARED, packed, unit_of
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.figures import Figures
from swingby_analysis.report.prose import plural, share_text


def interactive(figures: Figures) -> dict[str, Any]:
    """The specs, the two empty panels, the grid's axes, what is known of each point, and its curves, as JSON values.

    Without a diagram to point at, or curves to show there, the specs alone.
    """
    data, specs = figures.data, {figure.slug: figure.spec for figure in figures.every}
    titles = {figure.slug: figure.title for figure in figures.every}
    if not figures.has_main or figures.first is None:
        return {"figures": specs, "titles": titles, "panel": None}
    view, names, grid, declared = data.view, figures.curve_titles, data.grid, data.reported.curves is not None
    scales = {} if declared else data.scales
    last = max(int(curve.step[-1]) for curve in data.curves.values())
    scale_of = {one.title: (one.axis, scales[one.title]) for one in data.shown if one.title in scales}
    panel = {
        "figure": figures.main.slug,
        # Every figure whose marks carry a point, and what its texts speak of.
        "linked": {figure.slug: figure.title for figure in figures.every if figure.points},
        "losses": (log_panel(names, figures.axes) if declared else waiting_bands(scale_of, last)).to_dict(
            validate=False
        ),
        "path": None if view is None else trajectory_panel(view, figures.plane_range).to_dict(validate=False),
        "names": names,
        # What a packed value is a multiple of; null: it is a thousandth of a decade.
        "units": [None if scale.log else unit_of(scale) for scale in (scales.get(name, DECLARED) for name in names)],
        "landmarks": [] if view is None else landmark_rows(view),
        "first": figures.first,
    }
    return {
        "figures": specs,
        "titles": titles,
        "panel": panel,
        "grid": menus(grid),
        "points": _points(data),
        "curves": packed(data.curves, scales),
        "runs": singles.packed(data.singles, names, scales),
    }


def menus(grid: Grid) -> list[dict[str, Any]]:
    """x, y and panel of a grid, with the values that a menu of the page offers; a single value needs no menu."""
    axes = [(axis.name, [plain(value) for value in axis.values]) if axis else ("", [""]) for axis in (grid.x, grid.y)]
    return [{"name": name, "values": values} for name, values in (*axes, ("panel", list(grid.facets)))]


def _points(data: ReportData) -> dict[str, Any]:
    """Of every point: its place, its label, its outcome in words, and over how many seeds its curves are."""
    name, phases = data.with_unit(data.outcome), data.phases
    if data.kind == "yes_no":
        texts = {point: f"no seed; {fit.text}" for point, fit in data.fitted(data.outcome).items()}
        for share in phases.shares(data.outcome):
            fit = texts.get(share.point, "").removeprefix("no seed")
            texts[share.point] = f"{share_text(share)}{fit}"
    elif data.kind == "category":
        texts = {row.point: row.counts for row in phases.most_common(data.outcome)}
    else:
        texts = {row.point: row.text for row in phases.spreads(data.outcome)}
    points, places = {}, data.grid.places
    for point, place in places.items():
        end = data.ended.get(point)
        if end is None and (point not in texts or len(places) > MOST_FITTED):
            continue
        amiss = "" if end is None or not end.text else f"; {end.text}"
        n, runs = data.curves[point].n if point in data.curves else 0, len(data.singles.get(point, ()))
        thin = "" if not runs else " Thin: each run." if runs == n else f" Thin: the first {runs} runs."
        points[str(point)] = {
            "place": place,
            "label": data.grid.label(point),
            "text": f"{name}: {texts.get(point, 'not known')}{amiss}",
            "note": f"Median, and 10\u00a0% to 90\u00a0% of {plural(n, 'seed')}"
            f"{'; dots at equal times' if data.plane is not None else ''}.{thin}",
        }
    return points
