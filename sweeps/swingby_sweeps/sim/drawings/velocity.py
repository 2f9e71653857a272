"""The drawing `velocity`: what moves each entry of W, by eq 4.3, in the median run of each point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from swingby_analysis.charts import style
from swingby_analysis.query import Query
from swingby_analysis.report.query_drawing import Drawn

from ..params import SYMMETRIC_FAMILY
from ..theory import Velocity as Terms
from .jacobian import entry_name, first_step
from .single import curves_of, entries_of, kept_places, shades_of
from .stage_background import Shade, background, log_steps, names, stage_rows
from .subject import MEDIAN_RUN, SQL, SimDrawing, Subject

READING = (
    "Each panel is one entry of W, with a scale of its own. By eq 4.3 its velocity W' (black) is growth less "
    "suppression less noise: G pushes the entry away from 0, -S towards 0, and -N, the effect of the other entries, "
    "either way. Where the three cancel, the entry turns or rests. Velocities are in 1/time of eq 4.3, whose time is "
    "twice that of the flow of L. The background shows the stages of this run (growth green, suppression orange, "
    "terminal blue) by the definition of the drawing `stages`: a growth turns into a suppression where the minor "
    "entries of the concept just learned are largest, the next growth starts where the next major entry gains more "
    "than these lose, and terminal means that every major entry is at least 0.9 to the end. The axis starts at a round "
    "step before which no velocity changes by 1 % of the largest."
)


class Velocity(SimDrawing):
    """Eq 4.3 over time: a figure a point, of its median seed."""

    name = "velocity"
    recordings = ("jacobian", "velocity")
    reading = f"{READING} {MEDIAN_RUN}"

    def charts(self, subject: Subject, options: Any) -> Iterator[Drawn]:
        """A chart for each point of the symmetric family.

        Raises:
            SwingbyError: no point is of the symmetric family, for which alone eq 4.3 speaks.
        """
        points = [point for point in subject.points if subject.runs(point)["model"][0] in SYMMETRIC_FAMILY]
        if not points:
            raise subject.cannot(self.name, f"eq 4.3 speaks of these models only: {', '.join(SYMMETRIC_FAMILY)}")
        seeds = tuple(subject.median_seed(point) for point in points)
        queries = [Query(name, (subject.sweep_id, tuple(points), seeds), SQL) for name in ("velocity", "entry_runs")]
        terms_of, run_of = (
            {row["point"]: row for row in subject.ask(query).iter_rows(named=True)} for query in queries
        )
        for number, (point, seed) in enumerate(zip(points, seeds, strict=True), start=1):
            label, run = subject.label(point), f"median seed {seed}"
            rows = moved(terms_of[point], run_of[point])
            # The axis starts where the first term leaves its first value by a hundredth of the largest velocity.
            scale = max((abs(value) for row in rows for value in terms(row)), default=0.0) or 1.0
            lines = [
                (f"{row.entry} {k}", row.step, value / scale) for row in rows for k, value in enumerate(terms(row))
            ]
            last = max(10, max(row.step for row in rows))
            span = min(first_step(lines), last // 10), last
            chart = velocity_chart(rows, shades_of(run_of[point]), span, f"{label}, {run}" if label else run)
            time = f"{2 * terms_of[point]['time_per_step']:g}"
            caption = f"Growth, suppression and noise (eq 4.3) of the entries of W in the run of the {run}"
            caption += f"{' at ' + label if label else ''}. One step is {time} of the time of eq 4.3."
            title = "What moves the entries of W" + (f": {label}" if label else "")
            yield Drawn(chart, caption, title, slug=f"velocity-{number}", queries=queries)


def moved(split: Mapping[str, Any], whole: Mapping[str, Any]) -> list[EntryVelocity]:
    """The rows of one run, at about 120 of its steps: every entry i <= j, major ones first."""
    s, step = split["s"], curves_of(whole)[0]
    G, S, N = (np.array(split[name], dtype=float)[: len(step)] for name in ("growth", "suppression", "noise"))
    return [
        EntryVelocity(entry_name(i, j, s), int(step[k]), Terms(*(term[k, i * s + j] for term in (G, S, N))))
        for i, j in entries_of(s, symmetric=True)
        for k in kept_places(step)
    ]


TERMS = ("G: growth", "-S: suppression", "-N: noise", "W' = G - S - N")
COLOURS = ("#2c8c5a", "#d9650d", "#7a5bb5", style.INK)
WIDTH, HEIGHT = 270, 130


class EntryVelocity(NamedTuple):
    """The velocity of one entry at one step, in 1/time of eq 4.3; its terms are numbers."""

    entry: str
    step: int
    velocity: Terms


def velocity_chart(rows: Sequence[EntryVelocity], shades: Sequence[Shade], span: tuple[int, int], title: str) -> Any:
    """A panel an entry, in order of appearance, each with its own scale: G, -S, -N and their sum, and the stages.

    Args:
        span: first and last step of the axis.
        title: which run it is.
    """
    entries = list(dict.fromkeys(row.entry for row in rows))
    columns = 3
    table: list[dict[str, Any]] = [
        {"panel": 0, "kind": "term", "entry": row.entry, "step": row.step, "term": term, "value": value}
        for row in rows
        if row.step >= span[0]
        for term, value in zip(TERMS, terms(row), strict=True)
    ]
    table += [{"panel": 0, **row} for row in stage_rows(shades, span, WIDTH)]
    charts = [_panel(entry, number < columns, span) for number, entry in enumerate(entries)]
    head = alt.TitleParams(title, anchor="start", fontSize=13, color=style.INK, offset=10)
    return style.finished(alt.concat(*charts, columns=columns, spacing={"row": 18, "column": 26}), table, title=head)


def terms(row: EntryVelocity) -> tuple[float, float, float, float]:
    """G, -S, -N, and W', their sum."""
    velocity = row.velocity
    return float(velocity.growth), -float(velocity.suppression), -float(velocity.noise), float(velocity.total)


def _panel(entry: str, first: bool, span: tuple[int, int]) -> Any:
    """One entry; only the panels of the first row name the stages."""
    x = log_steps(span)
    y = alt.Y("value:Q", axis=alt.Axis(title="velocity (1 / time)", tickCount=5, grid=False, format="~g"))
    legend = alt.Legend(
        title=None, orient="bottom", direction="horizontal", symbolType="stroke", symbolStrokeWidth=3, symbolSize=300
    )
    colour = alt.Color("term:N", scale=alt.Scale(domain=list(TERMS), range=list(COLOURS)), legend=legend)
    width = alt.StrokeWidth("term:N", scale=alt.Scale(domain=list(TERMS), range=[1.6, 1.6, 1.6, 3]), legend=None)
    lines = alt.Chart().transform_filter(f"datum.kind == 'term' && datum.entry == '{entry}'").mark_line()
    zero = alt.Chart().transform_aggregate(n="count()").mark_rule(color=style.FAINT, strokeWidth=0.6)
    layers = [
        background("datum.panel == 0", x),
        zero.encode(y=alt.datum(0)),
        lines.encode(x=x, y=y, color=colour, strokeWidth=width),
    ]
    layers += names("datum.panel == 0", x) if first else []
    title = alt.TitleParams(entry, anchor="start", fontSize=12, color=style.INK, frame="group", offset=4)
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title)
