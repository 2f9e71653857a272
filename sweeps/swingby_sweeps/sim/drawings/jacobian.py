"""The entries of a run's Jacobian above its losses, on one axis of steps, over the run's stages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.curves import Band, Run

from ..report import OOD_LOSS, TRAINING_LOSS
from .stage_background import Shade, background, log_steps, names, rows_of, stage_rows

FLAT = 0.01
"""The axis of steps starts where the first line has moved by this much."""
BOUNDS = (-0.4, 1.4)
"""The range in which entries are drawn; entries that grow without bound (w_recurrence) leave the picture."""
FAR = 100.0
TICKS = (0, 0.01, 0.05, 0.1, 0.2, 0.5, 1)
"""Ticks of the loss."""
MAJOR = ("#0b2545", "#5470e0", "#2f9e9a", "#7fc4e8")
MINOR = ("#8c2d04", "#e6550d", "#b5179e", "#f2a23a", "#7a5c00", "#d6589f")
DASHES = ((6, 2), (2, 2), (9, 3, 2, 3), (4, 2, 1, 2), (12, 3), (3, 3))
MAJORS, MINORS, LOSSES = 130, 110, 150
WIDTHS = {2: 390, 3: 300}
"""The width in px of a panel, by how many stand side by side; a page holds 1,200 px."""


class EntryValue(NamedTuple):
    """An entry of the Jacobian of the run that a panel shows, at one step."""

    entry: str
    step: int
    value: float


class EntryQuantiles(NamedTuple):
    """An entry of the Jacobian at one step over the seeds of a point: median, and 10 % and 90 % quantiles."""

    entry: str
    step: int
    median: float
    low: float
    high: float


class StagePanel(NamedTuple):
    """One run, with the seeds of its point behind it; `notes`: steps with a text, `mark`: a step with a line."""

    title: Sequence[str]
    lines: Sequence[EntryValue]
    spreads: Sequence[EntryQuantiles]
    losses: Sequence[Run]
    bands: Sequence[Band]
    shades: Sequence[Shade]
    notes: Sequence[tuple[int, str]] = ()
    mark: int | None = None


def entry_name(i: int, j: int, concepts: int) -> str:
    """w_ij as text; indices come counted from 0 and are written from 1 on."""
    return f"w_{i + 1}{j + 1}" if concepts < 10 else f"w_{i + 1},{j + 1}"


def first_step(lines: Iterable[tuple[str, int, float]]) -> int:
    """A round step (1, 2 or 5 times a power of ten) up to which every line stays within FLAT of its first value.

    Args:
        lines: (name of the line, step, value), each line by increasing step.
    """
    first: dict[str, float] = {}
    latest: dict[str, int] = {}
    moved: dict[str, int] = {}
    for name, step, value in lines:
        still = name not in moved and abs(value - first.setdefault(name, value)) <= FLAT
        if still:
            latest[name] = step
        else:
            moved.setdefault(name, latest.get(name, 0))
    until = max(1, min(moved.values(), default=1))
    power = 10 ** math.floor(math.log10(until))
    return max(k * power for k in (1, 2, 5) if k * power <= until)


def stage_chart(panels: Sequence[StagePanel], majors: Sequence[str], minors: Sequence[str], columns: int = 2) -> Any:
    """A panel a run: major entries, minor entries, losses (over L_ref); the stages shaded behind all, named on top.

    All panels have the same axes, so that they can be compared.

    Args:
        majors, minors: names of the entries, in the order of the legend.
    """
    lines = [(f"{n} {line.entry}", line.step, line.value) for n, panel in enumerate(panels) for line in panel.lines]
    lines += [(f"{n} {run.curve}", run.step, run.value) for n, panel in enumerate(panels) for run in panel.losses]
    last = max([10, *(step for _, step, _ in lines)])
    span, width, colour = (min(first_step(lines), last // 10), last), WIDTHS[columns], _colours(majors, minors, panels)
    tops = [run.value for panel in panels for run in panel.losses if run.value <= BOUNDS[1]]
    parts = {
        "major": ("major entries", MAJORS, _domain(panels, majors, (0.0, 1.05))),
        "minor": ("minor entries", MINORS, _domain(panels, minors, (-0.05, 0.05))),
        "loss": ("loss / L_ref (square-root axis)", LOSSES, (0.0, 1.05 * max(tops, default=1.0))),
    }
    charts: list[Any] = []
    rows: list[dict[str, Any]] = []
    for number, panel in enumerate(panels):
        stacked = [
            _part(f"datum.panel == {number}", kind, name, colour, span, domain).properties(width=width, height=height)
            for kind, (name, height, domain) in parts.items()
        ]
        title = alt.TitleParams(
            list(panel.title), anchor="start", fontSize=12, color=style.INK, frame="group", offset=4
        )
        charts.append(alt.vconcat(*stacked, spacing=8).properties(title=title))
        panel_rows = [*_rows(panel, span, majors), *stage_rows(panel.shades, span, width)]
        rows += [{"panel": number, **row} for row in panel_rows]
    return style.finished(alt.concat(*charts, columns=columns, spacing={"row": 26, "column": 34}), rows)


def _domain(panels: Sequence[StagePanel], names: Sequence[str], least: tuple[float, float]) -> tuple[float, float]:
    """The range of the entries of these names, within BOUNDS, with a little room."""
    drawn = [line.value for panel in panels for line in panel.lines if line.entry in names]
    drawn += [v for panel in panels for row in panel.spreads if row.entry in names for v in (row.low, row.high)]
    low, high = max(BOUNDS[0], min([least[0], *drawn])), min(BOUNDS[1], max([least[1], *drawn]))
    room = 0.04 * (high - low)
    return low - room, high + room


def _rows(panel: StagePanel, span: tuple[int, int], majors: Sequence[str]) -> list[dict[str, Any]]:
    part = dict.fromkeys(majors, "major")
    single = [(part.get(line.entry, "minor"), line) for line in panel.lines]
    single += [("loss", EntryValue(run.curve, run.step, run.value)) for run in panel.losses]
    rows: list[dict[str, Any]] = [
        {"kind": kind, "what": what, "step": step, "value": _drawable(value)} for kind, (what, step, value) in single
    ]
    seeds = [(part.get(row.entry, "minor"), row) for row in panel.spreads]
    seeds += [("loss", EntryQuantiles(row.curve, row.step, row.median, row.low, row.high)) for row in panel.bands]
    for kind, (what, step, *quantiles) in seeds:
        median, low, high = (_drawable(float(value)) for value in quantiles)
        rows.append({"kind": f"{kind} seeds", "what": what, "step": step, "median": median, "low": low, "high": high})
    rows = [row for row in rows if row["step"] >= span[0]]
    rows += [{"kind": "note", "step": max(step, span[0]), "text": text} for step, text in panel.notes]
    rows += [{"kind": "mark", "step": panel.mark}] if panel.mark and span[0] <= panel.mark <= span[1] else []
    return rows


def _drawable(value: float) -> float:
    """The value, limited to numbers far outside of the picture: renderers drop a line with larger ones."""
    return min(max(value, -FAR), FAR) if math.isfinite(value) else FAR


def _colours(majors: Sequence[str], minors: Sequence[str], panels: Sequence[StagePanel]) -> dict[str, Any]:
    """Colour and dash of every line, and one legend for all."""
    curves = list(dict.fromkeys(run.curve for panel in panels for run in panel.losses))
    losses = {OOD_LOSS: style.RED, TRAINING_LOSS: style.BLUE}
    names = [*majors, *minors, *curves]
    colours = [MAJOR[k % len(MAJOR)] for k in range(len(majors))]
    colours += [MINOR[k % len(MINOR)] for k in range(len(minors))] + [losses[curve] for curve in curves]
    dashes = [[1, 0]] * len(majors) + [list(DASHES[k % len(DASHES)]) for k in range(len(minors))]
    dashes += [[1, 0]] * len(curves)
    legend = alt.Legend(
        title="Jacobian entries: major solid, minor dashed. Thick: the run named above. Thin and shaded: all seeds, "
        "median and 10 % to 90 %.",
        titleLimit=900, orient="bottom", direction="horizontal", columns=11, symbolType="stroke",
        symbolStrokeWidth=2.4, symbolSize=420, symbolOpacity=1,
    )  # fmt: skip
    return {
        "color": alt.Color("what:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        "strokeDash": alt.StrokeDash("what:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
    }


def _part(
    panel: str, kind: str, name: str, colour: Mapping[str, Any], span: tuple[int, int], domain: tuple[float, float]
) -> Any:
    """One part of a panel: the stages in the background, the spread over the seeds, and the lines of the run."""
    x = log_steps(span, labels=kind == "loss")
    # On a square-root axis the last descents show beside the first, and 0 still has a place.
    scale = alt.Scale(type="sqrt" if kind == "loss" else "linear", domain=list(domain), nice=False, zero=False)
    axis = alt.Axis(title=name, grid=False, format="~g", tickCount=5)
    if kind == "loss":
        ticks = [tick for tick in TICKS if tick <= domain[1]]
        axis = alt.Axis(
            title=name,
            titleFontSize=11,
            grid=False,
            format="~g",
            values=ticks,
            tickCount=len(ticks),
            labelOverlap=False,
        )

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=scale, axis=axis)

    seeds = rows_of(panel, f"{kind} seeds")
    note, once = rows_of(panel, "note"), rows_of(panel, "stage").transform_aggregate(n="count()")
    zero = once.mark_rule(color=style.FAINT, strokeWidth=0.6).encode(y=alt.datum(0))
    mark = rows_of(panel, "mark").mark_rule(color=style.INK, strokeWidth=1.4, strokeDash=[8, 3, 2, 3])
    layers = [
        background(panel, x),
        *([] if kind == "loss" else [zero]),
        seeds.mark_area(opacity=0.13, clip=True).encode(x=x, y=y("low"), y2="high:Q", color=colour["color"]),
        seeds.mark_line(opacity=0.5, strokeWidth=0.9, clip=True).encode(x=x, y=y("median"), **colour),
        rows_of(panel, kind).mark_line(strokeWidth=2.2, clip=True).encode(x=x, y=y("value"), **colour),
        note.mark_rule(color=style.INK, strokeDash=[2, 2]).encode(x=x),
        mark.encode(x=x),
    ]
    if kind == "major":
        layers += names(panel, x)
    if kind == "minor":
        text = note.mark_text(align="left", baseline="bottom", dx=5, dy=-3, fontSize=10, color=style.INK)
        layers.append(text.encode(x=x, y=alt.value(MINORS), text="text:N"))
    return alt.layer(*layers)
