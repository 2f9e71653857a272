"""The drawing `velocity`: what moves each entry of W, by eq 4.3, in the median run of each point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from swingby.model import drawing
from swingby_analysis.page import Figure
from swingby_analysis.query import Query

from .charts.jacobian import entry_name, first_step
from .charts.velocity import Moved, terms, velocity_chart
from .single import SYMMETRIC, curves_of, entries_of, kept_places, shades_of
from .subject import MEDIAN_RUN, SQL, SimDrawing, Subject

READING = (
    "Each panel is one entry of W, with a scale of its own. Its velocity W' (black) is by eq 4.3 growth less "
    "suppression less noise: G pushes it away from 0, -S towards 0, and -N, what the other entries do, either way. "
    "Where the three cancel, the entry turns or rests. Velocities are in 1/time of eq 4.3, whose time is twice that of "
    "the flow of L. The ground shows the stages of this run (growth green, suppression orange, terminal blue) by the "
    "definition of the drawing `stages`: a growth turns into a suppression where the minor entries of the concept just "
    "learned are largest, the next growth starts where the next major entry gains more than these lose, and terminal "
    "means that every major entry is at least 0.9 to the end. The axis starts at a round step before which no velocity "
    "changes by 1 % of the largest."
)


class Velocity(SimDrawing):
    """Eq 4.3 over time: a figure a point, of its median seed."""

    name: ClassVar[str] = "velocity"
    recordings: ClassVar[tuple[str, ...]] = ("jacobian", "velocity")

    def draw(self, subject: Subject, options: drawing.Options) -> Sequence[Figure]:
        """A figure for each point of the symmetric family.

        Raises:
            SwingbyError: no point is of the symmetric family, for which alone eq 4.3 speaks.
        """
        points = [point for point in subject.points if subject.runs(point)["model"][0] in SYMMETRIC]
        if not points:
            raise subject.cannot(self.name, f"eq 4.3 speaks of these models only: {', '.join(SYMMETRIC)}")
        seeds = tuple(subject.median_seed(point) for point in points)
        asked = [Query(name, (subject.sweep_id, tuple(points), seeds), SQL) for name in ("velocity", "entry_runs")]
        split, whole = ({row["point"]: row for row in subject.ask(query).iter_rows(named=True)} for query in asked)
        return [_figure(subject, place, split[point], whole[point], asked) for place, point in enumerate(points)]


def _figure(
    subject: Subject, place: int, split: Mapping[str, Any], whole: Mapping[str, Any], asked: Sequence[Query]
) -> Figure:
    label = subject.label(split["point"])
    rows = moved(split, whole)
    span = _span(rows)
    run = f"median seed {split['seed']}"
    spec = velocity_chart(rows, shades_of(whole), span, f"{label}, {run}" if label else run).to_dict()
    time = f"{2 * split['time_per_step']:g}"
    caption = f"Growth, suppression and noise (eq 4.3) of the entries of W in the run of the {run}"
    caption += f"{' at ' + label if label else ''}. One step is {time} of the time of eq 4.3."
    title = "What moves the entries of W" + (f": {label}" if label else "")
    return subject.figure(f"velocity-{place + 1}", title, caption, f"{READING} {MEDIAN_RUN}", spec, asked)


def moved(split: Mapping[str, Any], whole: Mapping[str, Any]) -> list[Moved]:
    """The rows of one run, at about 120 of its steps: every entry i <= j, major ones first."""
    s, step = split["s"], curves_of(whole)[0]
    G, S, N = (np.array(split[name], dtype=float)[: len(step)] for name in ("growth", "suppression", "noise"))
    return [
        Moved(entry_name(i, j, s), int(step[k]), *(float(term[k, i * s + j]) for term in (G, S, N)))
        for i, j in entries_of(s, symmetric=True)
        for k in kept_places(step)
    ]


def _span(rows: Sequence[Moved]) -> tuple[int, int]:
    """From where the first term leaves its first value by a hundredth of the largest velocity; to the end."""
    scale = max((abs(value) for row in rows for value in terms(row)), default=0.0) or 1.0
    lines = [(f"{row.entry} {k}", row.step, value / scale) for row in rows for k, value in enumerate(terms(row))]
    last = max(10, max(row.step for row in rows))
    return min(first_step(lines), last // 10), last
