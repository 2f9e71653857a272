"""The drawing `centre_trajectories`: the outputs at the test point and at the training centres ([S] Fig 18)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from swingby_analysis.charts import plane_rows
from swingby_analysis.charts.paths import Runs, runs_of
from swingby_analysis.charts.plane_rows import Name
from swingby_analysis.charts.planes import Corner, Mark, Row, Spot, planes
from swingby_analysis.charts.style import RED
from swingby_analysis.report.query_drawing import Drawn

from .panels import (
    BANDS,
    MARKS,
    PlaneOptions,
    columns_of,
    counted,
    ended,
    has_origin,
    in_rows,
    panel,
    plural_steps,
    spoken_planes,
    spots,
)
from .subject import MEDIAN_RUN, SimQueryDrawing, Subject

CENTRES = ("#2a6f97", "#e08a1e", "#5b3f8c", "#3d8b5f")
"""The colours of the centres' paths, in turn."""
READING = (
    "Each line is the output for one input as training goes on, in the run of the median seed: for the test point "
    "(red) and for the centre of each training cluster, each concept in units of its own mu. The output is right where "
    "a line ends at its own input: the diamond, or the square of its cluster. "
    + BANDS
    + "Bands and squares have the colours of their lines. A centre at the origin has no line: without a bias the "
    "output there stays 0. Arrowheads mark, for all lines of a panel alike, so that they can be compared at one time, "
    + MARKS
)


class CentreTrajectories(SimQueryDrawing):
    """Paths of the outputs at the test point and at the training centres."""

    name = "centre_trajectories"
    recordings = ("centres",)
    Options = PlaneOptions
    sql = "centre_paths"
    title = "Test and training outputs"
    reading = READING
    empty = "no run is finished"

    def draw(self, rows: pl.DataFrame, subject: Subject, options: PlaneOptions) -> Iterator[Drawn]:
        """One chart, with a panel for each point and plane."""
        pairs = options.planes(subject, self.name)
        runs, centres = runs_of(rows, "output", "mu"), runs_of(rows, "centre_output", "mu")
        heads: list[tuple[str, str, list[str], tuple[int, int]]] = []
        marks: list[Row] = []
        columns = columns_of(subject)
        for point, concepts in in_rows(list(runs), pairs, columns):
            key, seed = f"{point}:{concepts[0]}", subject.median_seed(point)
            lines, every = _rows(key, runs[point], centres[point], concepts, seed)
            notes = [f"median seed {seed}; an arrowhead every {plural_steps(every)}", *ended(subject, point)]
            heads.append((key, subject.label(point) or "all runs", notes, concepts))
            marks += [*lines, *(_coloured(spot, concepts) for spot in spots(key, has_origin(subject, point)))]
        panels = [panel(*head, plane_rows.shown_range(marks)) for head in heads]
        caption = (
            f"The outputs at the test point and at the training centres over training, in {spoken_planes(pairs)}: the "
            f"median seed, and the band of {counted(runs)} seeds. {MEDIAN_RUN}"
        )
        yield Drawn(planes(panels, marks, colours(runs), columns, ("output for the input",), 300, 0.3), caption)


def colours(runs: Mapping[int, Runs]) -> dict[str, str]:
    """The colour of each input's line."""
    concepts = next(iter(runs.values())).values.shape[2]
    return {"test point": RED, **{centre(p): CENTRES[p % len(CENTRES)] for p in range(concepts)}}


def centre(p: int) -> str:
    """The name of the centre of cluster p, counted from 0, in the legend."""
    return f"centre of cluster {p + 1}"


def _coloured(spot: Spot, concepts: tuple[int, int]) -> Spot:
    """A landmark; the centre of a cluster whose own concept spans the panel gets the colour of its line."""
    if spot.kind != "centre" or (spot.x, spot.y) == (0, 0):
        return spot
    k = concepts[0] if spot.x else concepts[1]
    return spot._replace(kind="own", what=f"cluster {k}", line=centre(k - 1))


def _rows(
    key: str, test: Runs, centres: Runs, concepts: tuple[int, int], seed: int
) -> tuple[list[Corner | Mark], float]:
    """The rows of one panel, and the interval of its arrowheads in steps."""
    s, (first, second) = test.values.shape[2], (k - 1 for k in concepts)
    # Row p of the centres' s x s numbers is the output at centre p.
    inputs = {"test point": test.plane(first, second)}
    inputs |= {centre(p): centres.plane(p * s + first, p * s + second) for p in range(s)}
    paths = {name: plane_rows.places(runs.of(seed), runs.step) for name, runs in inputs.items()}
    every = plane_rows.interval(list(paths.values()))
    rows: list[Corner | Mark] = []
    for name, runs in inputs.items():
        rows += plane_rows.band(Name(key, name), runs)
        rows += plane_rows.line(Name(key, name), runs.of(seed))
        rows += plane_rows.arrows(Name(key, name), paths[name], every)
    return rows, every
