"""The entries of a run's Jacobian above its losses, on one axis of steps, with the run's stages shaded behind all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.curves import Band, Run

from ...report import OOD_LOSS, TRAINING_LOSS
from .stage_background import Shade, ground, log_steps, names, rows_of, stage_rows

FLAT = 0.01
"""The axis of steps starts where something that is drawn has moved by this much."""
BOUNDS = (-0.4, 1.4)
"""Entries are drawn within these; what runs away (w_recurrence) leaves the picture."""
FAR = 100.0
TICKS = (0, 0.01, 0.05, 0.1, 0.2, 0.5, 1)
"""Of the loss."""
MAJOR = ("#0b2545", "#5470e0", "#2f9e9a", "#7fc4e8")
MINOR = ("#8c2d04", "#e6550d", "#b5179e", "#f2a23a", "#7a5c00", "#d6589f")
DASHES = ((6, 2), (2, 2), (9, 3, 2, 3), (4, 2, 1, 2), (12, 3), (3, 3))
MAJORS, MINORS, LOSSES = 130, 110, 150
WIDTHS = {2: 390, 3: 300}
"""The width in px of a panel, by how many stand side by side; a page holds 1,200 px."""


class Line(NamedTuple):
    """An entry of the Jacobian of the run that a panel shows, at one step."""

    entry: str
    step: int
    value: float


class Spread(NamedTuple):
    """The same entry over the seeds of the panel's point: median, and 10 % and 90 % quantiles."""

    entry: str
    step: int
    median: float
    low: float
    high: float


class Panel(NamedTuple):
    """One run, with the seeds of its point behind it; `notes` are steps marked in words, `mark` one by a line."""

    title: Sequence[str]
    lines: Sequence[Line]
    spreads: Sequence[Spread]
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
    began: dict[str, float] = {}
    latest: dict[str, int] = {}
    moved: dict[str, int] = {}
    for name, step, value in lines:
        still = name not in moved and abs(value - began.setdefault(name, value)) <= FLAT
        if still:
            latest[name] = step
        else:
            moved.setdefault(name, latest.get(name, 0))
    until = max(1, min(moved.values(), default=1))
    power = 10 ** math.floor(math.log10(until))
    return max(k * power for k in (1, 2, 5) if k * power <= until)


def stage_chart(panels: Sequence[Panel], majors: Sequence[str], minors: Sequence[str], columns: int = 2) -> Any:
    """A panel a run: major entries, minor entries, losses (over L_ref); the stages shaded behind all, named on top.

    All panels have the same axes, so that they can be compared.

    Args:
        majors, minors: names of the entries, in the order of the legend.
    """
    span, colour = _span(panels), _colours(majors, minors, panels)
    tops = [run.value for panel in panels for run in panel.losses if run.value <= BOUNDS[1]]
    scales = {
        "major": _domain(panels, majors, (0.0, 1.05)),
        "minor": _domain(panels, minors, (-0.05, 0.05)),
        "loss": (0.0, 1.05 * max(tops, default=1.0)),
    }
    width = WIDTHS[columns]
    made = [_panel(number, panel, colour, span, scales, width) for number, panel in enumerate(panels)]
    rows = [
        {"panel": number, **row}
        for number, panel in enumerate(panels)
        for row in [*_rows(panel, span, majors), *stage_rows(panel.shades, span, width)]
    ]
    return style.finished(alt.concat(*made, columns=columns, spacing={"row": 26, "column": 34}), rows)


def _panel(
    number: int,
    panel: Panel,
    colour: Mapping[str, Any],
    span: tuple[int, int],
    scales: Mapping[str, tuple[float, float]],
    width: int,
) -> Any:
    title = alt.TitleParams(list(panel.title), anchor="start", fontSize=12, color=style.INK, frame="group", offset=4)
    kinds = {
        "major": ("major entries", MAJORS),
        "minor": ("minor entries", MINORS),
        "loss": ("loss / L_ref (square-root axis)", LOSSES),
    }
    parts = []
    for kind, (name, height) in kinds.items():
        part = _curves(f"datum.panel == {number}", kind, name, colour, span, scales[kind])
        parts.append(part.properties(width=width, height=height))
    return alt.vconcat(*parts, spacing=8).properties(title=title)


def _span(panels: Sequence[Panel]) -> tuple[int, int]:
    """First and last step of the axis."""
    lines = [(f"{n} {line.entry}", line.step, line.value) for n, panel in enumerate(panels) for line in panel.lines]
    lines += [(f"{n} {run.curve}", run.step, run.value) for n, panel in enumerate(panels) for run in panel.losses]
    last = max([10, *(step for _, step, _ in lines)])
    return min(first_step(lines), last // 10), last


def _domain(panels: Sequence[Panel], names: Sequence[str], least: tuple[float, float]) -> tuple[float, float]:
    """The range of the entries of these names, within BOUNDS, with a little room."""
    drawn = [line.value for panel in panels for line in panel.lines if line.entry in names]
    drawn += [v for panel in panels for row in panel.spreads if row.entry in names for v in (row.low, row.high)]
    low, high = max(BOUNDS[0], min([least[0], *drawn])), min(BOUNDS[1], max([least[1], *drawn]))
    room = 0.04 * (high - low)
    return low - room, high + room


def _rows(panel: Panel, span: tuple[int, int], majors: Sequence[str]) -> list[dict[str, Any]]:
    part = dict.fromkeys(majors, "major")
    single = [(part.get(line.entry, "minor"), line) for line in panel.lines]
    single += [("loss", Line(run.curve, run.step, run.value)) for run in panel.losses]
    rows: list[dict[str, Any]] = [
        {"kind": kind, "what": what, "step": step, "value": _drawable(value)} for kind, (what, step, value) in single
    ]
    seeds = [(part.get(row.entry, "minor"), row) for row in panel.spreads]
    seeds += [("loss", Spread(row.curve, row.step, row.median, row.low, row.high)) for row in panel.bands]
    for kind, (what, step, *quantiles) in seeds:
        median, low, high = (_drawable(float(value)) for value in quantiles)
        rows.append({"kind": f"{kind} seeds", "what": what, "step": step, "median": median, "low": low, "high": high})
    rows = [row for row in rows if row["step"] >= span[0]]
    rows += [{"kind": "note", "step": max(step, span[0]), "text": text} for step, text in panel.notes]
    rows += [{"kind": "mark", "step": panel.mark}] if panel.mark and span[0] <= panel.mark <= span[1] else []
    return rows


def _drawable(value: float) -> float:
    """Far outside every picture, but not so far that a renderer gives up on the whole line."""
    return min(max(value, -FAR), FAR) if math.isfinite(value) else FAR


def _colours(majors: Sequence[str], minors: Sequence[str], panels: Sequence[Panel]) -> dict[str, Any]:
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


def _curves(
    panel: str, kind: str, name: str, colour: Mapping[str, Any], span: tuple[int, int], domain: tuple[float, float]
) -> Any:
    """Ground, spread over the seeds, and lines of one part of a panel."""
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
    area = seeds.mark_area(opacity=0.13, clip=True).encode(x=x, y=y("low"), y2="high:Q", color=colour["color"])
    middle = seeds.mark_line(opacity=0.5, strokeWidth=0.9, clip=True).encode(x=x, y=y("median"), **colour)
    line = rows_of(panel, kind).mark_line(strokeWidth=2.2, clip=True).encode(x=x, y=y("value"), **colour)
    layers = [ground(panel, x), *([] if kind == "loss" else [_zero(panel)]), area, middle, line, _rule(panel, x)]
    words = {"major": names, "minor": _note}
    layers.append(
        rows_of(panel, "mark").mark_rule(color=style.INK, strokeWidth=1.4, strokeDash=[8, 3, 2, 3]).encode(x=x)
    )
    return alt.layer(*layers, *(words[kind](panel, x) if kind in words else []))


def _zero(panel: str) -> alt.Chart:
    once = rows_of(panel, "stage").transform_aggregate(n="count()")
    return once.mark_rule(color=style.FAINT, strokeWidth=0.6).encode(y=alt.datum(0))


def _rule(panel: str, x: alt.X) -> alt.Chart:
    return rows_of(panel, "note").mark_rule(color=style.INK, strokeDash=[2, 2]).encode(x=x)


def _note(panel: str, x: alt.X) -> list[alt.Chart]:
    text = rows_of(panel, "note").mark_text(align="left", baseline="bottom", dx=5, dy=-3, fontSize=10, color=style.INK)
    return [text.encode(x=x, y=alt.value(MINORS), text="text:N")]
