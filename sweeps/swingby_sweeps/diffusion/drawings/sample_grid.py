"""The drawing `sample_grid`: images generated of every class over training."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import polars as pl
from pydantic import Field

from swingby.model import drawing
from swingby_analysis.charts.pictures import Picture, PictureRow, picture_rows
from swingby_analysis.page import Figure
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.subject import Subject

from ..detect.path import CLASSES, trained_of

MAGIC = b"\x89PNG\r\n\x1a\n"
WIDTH = 1000
"""Approximate width of a row of pictures, in px."""


class SampleOptions(drawing.Options):
    """The options of this drawing in a sweep file."""

    pictures: int = Field(
        default=8, ge=1, le=40, description="largest number of evaluations that are shown, evenly chosen"
    )


class SampleGrid(QueryDrawing):
    """Kept samples, one row of pictures for each point, of its first seed that kept some."""

    name = "sample_grid"
    experiments = ("diffusion",)
    recordings = ("samples",)
    Options = SampleOptions
    sql = "samples"
    title = "Samples over training"
    empty = "no run kept a readable sample"
    reading = (
        "Each picture is one evaluation of one run, in the order of training; it has one row of images for each class, "
        "generated under the mean condition of the class. Classes that no training image shows are marked as held out. "
        "An image begins from the same noise at every evaluation, so that it can be followed from picture to picture. "
        "The images are examples: the numbers elsewhere are means over all images that were generated of a class."
    )

    def figures(self, subject: Subject, options: SampleOptions) -> Sequence[Figure]:
        """One figure.

        Raises:
            SwingbyError: no run kept any.
        """
        if "samples" not in subject.store.columns("diffusion"):
            raise subject.cannot(self.name, "no run was asked to record samples")
        return super().figures(subject, options)

    def draw(self, rows: pl.DataFrame, subject: Subject, options: SampleOptions) -> Iterable[Drawn]:
        """One chart."""
        pictures = list[PictureRow]()
        for row in rows.iter_rows(named=True):
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
                pictures.append(PictureRow(title, (f"seed {row['seed']}",), labels, [kept[k] for k in at]))
        if not pictures:
            raise subject.cannot(self.name, self.empty)
        # A PNG's header holds its width and height in pixels.
        width, height = struct.unpack(">II", pictures[0].pictures[0].png[16:24])
        scale = max(1, round(WIDTH / max(len(row.pictures) for row in pictures) / width * 4)) / 4
        runs = "; ".join(f"{row.title}, {row.notes[0]}" for row in pictures)
        caption = f"Images generated of every class over training, by one run for each point: {runs}."
        yield Drawn(picture_rows(pictures, round(scale * width), round(scale * height)), caption, slug="samples")
