"""Pictures over training steps: a row of them for each setting, every picture with a line of images a class."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from swingby_analysis.charts import style

GAP = 8
"""Pixels between two pictures."""


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
    charts, table, look = list[Any](), list[dict[str, Any]](), {"fontSize": 11, "color": style.INK}
    for number, row in enumerate(rows):
        count, line = len(row.pictures), height / len(row.labels)
        for at, picture in enumerate(row.pictures):
            text = f"step {picture.step:,}"
            table.append({"row": number, "kind": "picture", "at": at, "url": picture.uri, "text": text})
        for k, text in enumerate(row.labels):
            table.append({"row": number, "kind": "label", "px": round((k + 0.5) * line, 2), "text": text})
        here = alt.Chart().transform_filter(f"datum.row == {number}")
        x = alt.X("at:Q", scale=alt.Scale(domain=[-0.5, count - 0.5], nice=False, zero=False), axis=None)
        pictures = here.transform_filter("datum.kind == 'picture'").encode(x=x)
        names = here.transform_filter("datum.kind == 'label'").encode(y=alt.Y("px:Q", scale=None, axis=None))
        images = pictures.mark_image(width=width, height=height, baseline="middle", aspect=False)
        layers = [
            images.encode(url=alt.Url("url:N"), y=alt.value(height / 2), tooltip=alt.Tooltip("text:N", title="at")),
            pictures.mark_text(baseline="top", **look).encode(y=alt.value(height + 6), text=alt.Text("text:N")),
            names.mark_text(align="right", baseline="middle", **look).encode(x=alt.value(-2), text=alt.Text("text:N")),
        ]
        size = {"width": count * (width + GAP), "height": height + 18}
        charts.append(alt.layer(*layers).properties(**size, title=style.headed(row.title, row.notes)))
    return style.finished(alt.concat(*charts, columns=1, data=style.LATER, spacing=16), table)
