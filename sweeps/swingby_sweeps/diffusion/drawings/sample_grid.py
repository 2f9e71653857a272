"""The drawing `sample_grid`: images generated of every class over training."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import ClassVar

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
"""Approximate width of a row of pictures, in px."""
READING = (
    "Each picture is one evaluation of one run, in the order of training; it has one row of images for each class, "
    "generated under the mean condition of the class. Classes that no training image shows are marked as held out. An "
    "image begins from the same noise at every evaluation, so that it can be followed from picture to picture. The "
    "images are examples: the numbers elsewhere are means over all images that were generated of a class."
)


class SampleOptions(drawing.Options):
    """The options of this drawing in a sweep file."""

    pictures: int = Field(
        default=8, ge=1, le=40, description="largest number of evaluations that are shown, evenly chosen"
    )


class SampleGrid(drawing.Drawing):
    """Kept samples, one row of pictures for each point."""

    name: ClassVar[str] = "sample_grid"
    experiments: ClassVar[tuple[str, ...]] = ("diffusion",)
    recordings: ClassVar[tuple[str, ...]] = ("samples",)
    Options: ClassVar[type[drawing.Options]] = SampleOptions

    def figures(self, subject: Subject, options: SampleOptions) -> Sequence[Figure]:
        """One figure with the first seed of every point that kept samples.

        Raises:
            SwingbyError: no run kept any.
        """
        query = Query("samples", (subject.sweep_id,), SQL)
        if "samples" not in subject.store.columns("diffusion"):
            raise subject.cannot(self.name, "no run was asked to record samples")
        rows: list[PictureRow] = []
        for row in subject.ask(query).iter_rows(named=True):
            kept = [
                Picture(int(step), png)
                for step, png in zip(row["step"], row["samples"], strict=False)
                if png is not None and png.startswith(MAGIC) and len(png) > 24
            ]
            if kept:
                trained = trained_of(row["trained"])
                labels = tuple(name if k in trained else f"{name} (held out)" for k, name in enumerate(CLASSES))
                title = subject.label(row["point"]) or "the only point"
                most = min(options.pictures, len(kept))
                at = sorted({round(k * (len(kept) - 1) / max(most - 1, 1)) for k in range(most)})
                rows.append(PictureRow(title, (f"seed {row['seed']}",), labels, [kept[k] for k in at]))
        if not rows:
            raise subject.cannot(self.name, "no run kept a readable sample")
        # A PNG's header holds its width and height in pixels.
        width, height = struct.unpack(">II", rows[0].pictures[0].png[16:24])
        scale = max(1, round(WIDTH / max(len(row.pictures) for row in rows) / width * 4)) / 4
        spec = picture_rows(rows, round(scale * width), round(scale * height)).to_dict()
        runs = "; ".join(f"{row.title}, {row.notes[0]}" for row in rows)
        caption = f"Images generated of every class over training, by one run for each point: {runs}."
        return [subject.figure("samples", "Samples over training", caption, READING, spec, [query])]
