"""Pictures over training steps: a row of them for each setting, every picture with a line of images a class."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style
from swingby_analysis.charts.style import headed


class Picture(NamedTuple):
    """A PNG at a step."""

    step: int
    png: bytes

    @property
    def uri(self) -> str:
        """The picture as an address that holds it."""
        return f"data:image/png;base64,{base64.b64encode(self.png).decode()}"


class PictureRow(NamedTuple):
    """The pictures of one run, and what stands above them; `labels` name the lines of a picture from the top on."""

    title: str
    notes: tuple[str, ...]
    labels: tuple[str, ...]
    pictures: Sequence[Picture]


def picture_rows(rows: Sequence[PictureRow], width: int, height: int) -> Any:
    """The rows under each other; each picture is `width` x `height` px large."""
    charts = [_row(number, row, width, height) for number, row in enumerate(rows)]
    table = [item for number, row in enumerate(rows) for item in _table(number, row, height)]
    chart = alt.concat(*charts, columns=1, data=style.LATER, spacing=16)
    return style.finished(chart, table)


def _table(number: int, row: PictureRow, height: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"row": number, "kind": "picture", "at": at, "url": picture.uri, "text": f"step {picture.step:,}"}
        for at, picture in enumerate(row.pictures)
    ]
    line = height / len(row.labels)
    return found + [
        {"row": number, "kind": "label", "px": round((k + 0.5) * line, 2), "text": text}
        for k, text in enumerate(row.labels)
    ]


def _row(number: int, row: PictureRow, width: int, height: int) -> Any:
    count, gap = len(row.pictures), 8
    whole = count * (width + gap)
    here = alt.Chart().transform_filter(f"datum.row == {number}")
    x = alt.X("at:Q", scale=alt.Scale(domain=[-0.5, count - 0.5], nice=False, zero=False), axis=None)
    pictures = here.transform_filter("datum.kind == 'picture'").encode(x=x)
    names = here.transform_filter("datum.kind == 'label'").encode(y=alt.Y("px:Q", scale=None, axis=None))
    images = pictures.mark_image(width=width, height=height, baseline="middle", aspect=False)
    look = {"fontSize": 11, "color": style.INK}
    layers = [
        images.encode(url="url:N", y=alt.value(height / 2), tooltip=alt.Tooltip("text:N", title="at")),
        pictures.mark_text(baseline="top", **look).encode(y=alt.value(height + 6), text="text:N"),
        names.mark_text(align="right", baseline="middle", **look).encode(x=alt.value(-2), text="text:N"),
    ]
    return alt.layer(*layers).properties(width=whole, height=height + 18, title=headed(row.title, row.notes))
