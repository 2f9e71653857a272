"""The data with which the page of a comparison shows the curves of both sides at the point that is pointed at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from swingby.model import registry
from swingby_analysis.charts.bands import waiting_bands
from swingby_analysis.diff.comparison import Diff
from swingby_analysis.diff.side import Side
from swingby_analysis.page import Figure
from swingby_analysis.page.plain_files import rows_of
from swingby_analysis.report import singles
from swingby_analysis.report.curves import PointCurves, differences, packed_value, unit_of
from swingby_analysis.report.interactive import menus
from swingby_analysis.report.point_curves import curves_at
from swingby_analysis.report.prose import plural
from swingby_analysis.report.shown import ShownCurve, scales_of, shown_curves
from swingby_analysis.report.singles import Single

MOST_CURVES = 2
"""Curves of the panel, each of A and of B."""


def interactive(diff: Diff, figures: Sequence[Figure]) -> dict[str, Any] | None:
    """What the page's script reads (see `report.interactive`); None where there is no curve of both sides to show."""
    if not figures or not registry.known(diff.a.experiment):
        return None
    common = diff.common[0]
    shown = [one for one in shown_curves(registry.experiment(diff.a.experiment)) if one.column in common][:MOST_CURVES]
    matched = {int(b): int(a) for a, b in diff.pairing.points.select("point_a", "point_b").iter_rows()}
    sides = [_read(diff.a, shown, {point: point for point in matched.values()}), _read(diff.b, shown, matched)]
    points = [point for point in diff.grid.places if all(point in curves for curves, _ in sides)] if shown else []
    if not points:
        return None
    both = [curves[point].values for curves, _ in sides for point in points]
    names = [(one, side) for one in shown for side in range(2)]
    scales = scales_of(shown, both)
    axes = {f"{one.title} in {'AB'[side]}": (f"{one.axis} in {'AB'[side]}", scales[one.title]) for one, side in names}
    steps: dict[tuple[int, ...], int] = {}

    def index(step: np.ndarray) -> int:
        return steps.setdefault(tuple(differences(step)), len(steps))

    curves, runs = dict[str, Any](), dict[str, Any]()
    for point in points:
        of = [side_curves[point] for side_curves, _ in sides]
        curves[str(point)] = {
            "steps": [index(of[side].step) for _, side in names],
            "losses": [
                [packed_value(row, scales[one.title]) for row in of[side].values[one.title]] for one, side in names
            ],
        }
        runs[str(point)] = [
            [index(run.step), *(_packed(run, one, scales) if side == here else None for one, here in names)]
            for side, (_, side_runs) in enumerate(sides)
            for run in side_runs.get(point, ())
        ]
    listed = [list(step) for step in steps]
    last = max(int(side_curves[point].step[-1]) for side_curves, _ in sides for point in points)
    main = figures[0]
    return {
        "figures": {figure.slug: figure.spec for figure in figures},
        "panel": {
            "figure": main.slug,
            "linked": {figure.slug: figure.title for figure in figures},
            "losses": waiting_bands(axes, last).to_dict(),
            "path": None,
            "names": list(axes),
            "units": [None if scales[one.title].log else unit_of(scales[one.title]) for one, _ in names],
            "landmarks": [],
            "first": points[0],
        },
        "grid": menus(diff.grid),
        "points": _points(diff, main, [side_curves for side_curves, _ in sides], runs),
        "curves": {"steps": listed, "of": curves},
        "runs": {"steps": listed, "coarseness": singles.COARSENESS, "of": runs},
    }


def _read(
    side: Side, shown: Sequence[ShownCurve], matched: Mapping[int, int]
) -> tuple[dict[int, PointCurves], dict[int, list[Single]]]:
    """The curves and single runs of one side, by the points of A."""
    if not shown:
        return {}, {}
    here = (side.sweep["sweep_id"], side.experiment)
    curves = curves_at(side.store, shown, here)
    runs = singles.read(side.store, singles.queries(here, shown, 2 * len(matched)))
    return (
        {matched[point]: curve for point, curve in curves.items() if point in matched},
        {matched[point]: point_runs for point, point_runs in runs.items() if point in matched},
    )


def _packed(run: Single, one: ShownCurve, scales: Mapping[str, Any]) -> list[Any] | None:
    values = run.values.get(one.title)
    return None if values is None else packed_value(values, scales[one.title], singles.COARSENESS)


def _points(
    diff: Diff, main: Figure, curves: Sequence[Mapping[int, PointCurves]], runs: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """Of every point: its place, its label, what the main figure says of it, and over how many seeds its curves are."""
    texts = {row["point"]: row["text"] for row in rows_of(main.spec) if "text" in row and "point" in row}
    points = {}
    for point, place in diff.grid.places.items():
        n = [side_curves[point].n if point in side_curves else 0 for side_curves in curves]
        thin = f" Thin: {len(runs.get(str(point), ()))} single runs." if runs.get(str(point)) else ""
        points[str(point)] = {
            "place": place,
            "label": diff.grid.label(point),
            "text": f"{main.title}: {texts.get(point, 'not compared')}",
            "note": f"Median, and 10\u00a0% to 90\u00a0% of {plural(n[0], 'seed')} in A and {n[1]:,} in B.{thin}",
        }
    return points
