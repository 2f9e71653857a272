"""The drawing `sample_grid`: images generated of every class over training."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from swingby.model import drawing
from swingby_analysis.charts.pictures import Picture, PictureRow, picture_rows
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.subject import Subject

from ..detect.path import CLASSES, trained_of
from . import SQL

MAGIC = b"\x89PNG\r\n\x1a\n"
WIDTH = 1000
"""About as wide as a row of pictures is, in px."""
READING = (
    "Each picture is one evaluation of one run, in the order of training; in it a line of images for every class, "
    "generated from the class's mean condition. Classes that no training image shows are marked as held out. The same "
    "images (the same noise) are generated at every evaluation, so that a column of one picture can be followed "
    "through the others. Images are examples: what is said of a class elsewhere is over all that were generated of it."
)


class SampleOptions(drawing.Options):
    """What a sweep file may set."""

    pictures: int = Field(8, ge=1, le=40, description="evaluations that are shown at most, evenly chosen")


class SampleGrid(drawing.Drawing):
    """Kept samples, a row of pictures a point."""

    name: ClassVar[str] = "sample_grid"
    experiments: ClassVar[tuple[str, ...]] = ("diffusion",)
    recordings: ClassVar[tuple[str, ...]] = ("samples",)
    Options: ClassVar[type[drawing.Options]] = SampleOptions

    def figures(self, subject: Subject, options: SampleOptions) -> Sequence[Figure]:
        """One figure: of every point its first seed that kept samples.

        Raises:
            SwingbyError: no run kept any.
        """
        query = Query("samples", (subject.sweep_id,), SQL)
        if "samples" not in {name for name, _ in subject.store.tables()["diffusion"]}:
            raise subject.cannot(self.name, "no run was asked to record samples")
        rows = [_row(subject, row, options.pictures) for row in subject.ask(query).iter_rows(named=True)]
        rows = [row for row in rows if row.pictures]
        if not rows:
            raise subject.cannot(self.name, "no run kept a readable sample")
        width, height = _size(rows[0].pictures[0].png)
        scale = max(1, round(WIDTH / max(len(row.pictures) for row in rows) / width * 4)) / 4
        spec = picture_rows(rows, round(scale * width), round(scale * height)).to_dict()
        caption = f"Images generated of every class over training, by one run a point: {'; '.join(_runs(rows))}."
        return [subject.figure("samples", "Samples over training", caption, READING, spec, [query])]


def _row(subject: Subject, row: Mapping[str, Any], most: int) -> PictureRow:
    kept = [Picture(int(step), png) for step, png in zip(row["step"], row["samples"], strict=False) if _is_png(png)]
    at = sorted({round(k * (len(kept) - 1) / max(most - 1, 1)) for k in range(most)}) if len(kept) > most else None
    trained = trained_of(row["trained"])
    labels = tuple(name if k in trained else f"{name} (held out)" for k, name in enumerate(CLASSES))
    title = subject.label(row["point"]) or "the only point"
    return PictureRow(title, (f"seed {row['seed']}",), labels, kept if at is None else [kept[k] for k in at])


def _is_png(png: bytes | None) -> bool:
    return png is not None and png.startswith(MAGIC) and len(png) > 24


def _size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG in pixels, from its header."""
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def _runs(rows: Sequence[PictureRow]) -> list[str]:
    return [f"{row.title}, {row.notes[0]}" for row in rows]
