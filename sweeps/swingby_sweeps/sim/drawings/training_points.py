"""The drawing `training_points`: the training set, the output's path, and the nearest point ([S] Figs 15, 16)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import polars as pl

from swingby_analysis.charts import plane_rows
from swingby_analysis.charts.paths import Floats, Runs, runs_of
from swingby_analysis.charts.plane_rows import Name
from swingby_analysis.charts.planes import Mark, Panel, Row, planes
from swingby_analysis.charts.style import INK, RED, VIOLET
from swingby_analysis.query import Query
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn

from .panels import (
    BUMP_SEED,
    MARKS,
    MEDIAN_SEED,
    PlaneOptions,
    columns_of,
    has_origin,
    plural_steps,
    spots,
)
from .subject import MEDIAN_RUN, SQL, SimDrawing, Subject

SAMPLE, NEAR = "training points (sample)", "the 50 nearest to the test point"
CIRCLE, NEAREST = "within min(mu)/2 of the test point", "to the nearest training point"
FIRST = 50
"""The number of recorded training points that are the nearest to the test point; the others are a regular sample."""
COLOURS = {SAMPLE: "#8f9aa6", NEAR: "#d08a1d", NEAREST: INK, CIRCLE: "#2f7d4f", MEDIAN_SEED: RED, BUMP_SEED: VIOLET}
READING = (
    "Points: training points of the median seed's run, the 50 nearest to the test point (amber) and a regular sample "
    "of the others (grey), in the units of the data. Squares: the centres of the training clusters; diamond: the test "
    "point. Green: the circle of radius min(mu)/2 around the test point, in which the truncated training set has no "
    "point. Dashed: from the test point to the nearest of all training points; its length is written above the panel, "
    "for this run and as median and range over all seeds. Red: the output at the test point over training; "
    "violet, where that run has no bump in its OOD loss but others have: that of the median seed of those. Arrowheads "
    "mark " + MARKS
)


class TrainingPoints(SimDrawing):
    """The training points with the path of the output at the test point."""

    name = "training_points"
    recordings = ("points",)
    Options = PlaneOptions
    title = "How near the training points come"
    reading = READING

    def charts(self, subject: Subject, options: PlaneOptions) -> Iterator[Drawn]:
        """One chart, a panel a point of the sweep, in the first of the planes."""
        concepts = options.planes(subject, self.name)[0]
        seeds = {point: subject.median_seed(point) for point in subject.points}
        queries = [
            Query("training_points", (subject.sweep_id, tuple(seeds), tuple(seeds.values())), SQL),
            Query("paths", (subject.sweep_id,), SQL),
        ]
        tables = subject.ask(queries[0]).partition_by("point", as_dict=True, maintain_order=True)
        if not tables:
            raise subject.cannot(self.name, "its runs drew no training points (moments: population)")
        runs = runs_of(subject.ask(queries[1]), "output")
        panels: list[Panel] = []
        rows: list[Row] = []
        for (point,), table in tables.items():
            seed = seeds[point]
            shown_seeds, plane = (seed, subject.bump_seed(point)), (concepts, has_origin(subject, point))
            drawn, every = _rows(str(point), table, runs[point], shown_seeds, plane)
            nearest, distances = table.filter(pl.col("seed") == seed)["nearest"][0], table["nearest"].to_numpy()
            low, high = distances.min(), distances.max()
            notes = (
                f"nearest training point at {nearest:.2f} (seed {seed})",
                f"{plural(table.height, 'seed')}: median {np.median(distances):.2f}, {low:.2f} to {high:.2f}",
                *redrawn(table),
                subject.bumps_in_words(point),
                f"an arrowhead every {plural_steps(every)}",
            )
            x, y = (f"concept {k}, in the units of the data" for k in concepts)
            # One range for both axes, with everything in it.
            values = [value for row in drawn for value in (row.x, row.y) if math.isfinite(value)]
            room = 0.04 * (max(values) - min(values))
            shown = round(min(values) - room, 3), round(max(values) + room, 3)
            panels.append(Panel(str(point), subject.label(point) or "all runs", notes, x, y, shown, shown))
            rows += drawn
        caption = (
            f"Training points, test point and the path of the output in the plane of concepts {concepts[0]} and "
            f"{concepts[1]}, for the median seed of each panel. {MEDIAN_RUN}"
        )
        yield Drawn(planes(panels, rows, COLOURS, columns_of(subject), side=300), caption, queries=queries)


def _rows(
    key: str, table: pl.DataFrame, runs: Runs, seeds: tuple[int, int | None], plane: tuple[tuple[int, int], bool]
) -> tuple[list[Row], float]:
    """The rows of one panel, and the interval of its marks; `plane`: its two concepts, and `has_origin`."""
    row, (concepts, origin) = table.row(by_predicate=pl.col("seed") == seeds[0], named=True), plane
    shown = [concept - 1 for concept in concepts]
    points, mu = np.array(row["training_point"], dtype=float)[:, shown], np.array(row["mu"], dtype=float)
    named = zip((BUMP_SEED, MEDIAN_SEED), reversed(seeds), strict=True)
    paths = {name: runs.plane(shown[0], shown[1]).of(seed) for name, seed in named if seed is not None}
    target, unit = mu[shown], np.where(mu == 0, 1.0, mu)[shown]
    places = {name: plane_rows.places(path / unit, runs.step) for name, path in paths.items()}
    every = plane_rows.interval(list(places.values()))
    rows: list[Row] = [
        Mark(key, "point", NEAR if k < FIRST else SAMPLE, 0, round(x, 4), round(y, 4))
        for k, (x, y) in enumerate(points.tolist())
    ]
    for name, path in paths.items():
        rows += plane_rows.line(Name(key, name), path)
        rows += [_unscaled(mark, unit) for mark in plane_rows.arrows(Name(key, name), places[name], every)]
    rows += plane_rows.line(Name(key, CIRCLE), circle(target, float(mu.min()) / 2))
    rows += plane_rows.line(Name(key, NEAREST), np.stack([target, points[0]]), "dashed")
    rows += [spot._replace(x=spot.x * target[0], y=spot.y * target[1]) for spot in spots(key, origin)]
    return rows, every


def _unscaled(mark: Mark, mu: Floats) -> Mark:
    """A mark in units of mu, moved to the units of the data, and turned to its angle there."""
    angle = math.radians(mark.angle)
    turned = math.degrees(math.atan2(math.sin(angle) * mu[0], math.cos(angle) * mu[1]))
    return mark._replace(x=mark.x * float(mu[0]), y=mark.y * float(mu[1]), angle=turned)


def circle(centre: Floats, radius: float) -> Floats:
    """Points around a circle, (65, 2); the last one is the first."""
    angle = np.linspace(0, 2 * math.pi, 65)
    return centre + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def redrawn(table: pl.DataFrame) -> list[str]:
    """A line on how many truncated training sets had a point drawn again; none unless their whole twins are stored."""
    known = table["again"].drop_nulls()
    return [f"{known.sum()} of {plural(len(known), 'seed')} had a point drawn again"] if len(known) else []
