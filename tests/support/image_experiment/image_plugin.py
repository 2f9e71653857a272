"""A package of somebody else's whose runs look like those of image models: vectors and pictures at every evaluation."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.detector import Detector, OutcomeKind
from swingby.model.experiment import SEGMENT_COLUMNS, Batch, Column, Experiment
from swingby.model.params import Params

LIST, NESTED = pa.list_(pa.float64()), pa.list_(pa.list_(pa.float64()))
CLASSES, SIDE = 4, 8
MEASURES = tuple(f"measure_{index}" for index in range(18))


class ImagesParams(Params):
    """How bright it gets, at how many evaluations it is looked at, and in how many pieces that is told."""

    brightness: float = 1.0
    evaluations: int = 24
    pieces: int = 1
    sides: int = CLASSES


def png(pixels: np.ndarray) -> bytes:
    """Grey pixels (H, W), uint8, as a PNG file."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    size = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size)
    return head + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


class Images(Experiment):
    """Glows; every class of it and every measure of each class is recorded, and pictures where they are asked for."""

    name: ClassVar[str] = "images"
    stream_version: ClassVar[int] = 1
    Params: ClassVar[type[Params]] = ImagesParams
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "loss": Column(pa.list_(pa.float32()), "what is left to learn"),
        **{name: Column(NESTED, "of each class") for name in MEASURES},
    }
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {
        "pictures": {"picture": Column(pa.list_(pa.binary()), "all classes, PNG")},
        "faces": {"face": Column(pa.list_(pa.list_(pa.binary())), "each class, PNG")},
    }
    scalars: ClassVar[Mapping[str, Column]] = {
        "last_loss": Column(pa.float64(), "at the end"),
        "kept_in": Column(pa.string(), "where a file of it lies"),
    }

    def shape(self, params: Any) -> str:
        return "images"

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        for cell in batch.cells:
            steps = np.arange(cell.params.evaluations) * 100  # pyright: ignore[reportAttributeAccessIssue]
            values = made(cell)
            pieces = np.array_split(np.arange(len(steps)), cell.params.pieces)  # pyright: ignore[reportAttributeAccessIssue]
            for piece in pieces:
                yield self._rows(cell, batch, steps, values, piece)

    def _rows(
        self, cell: Cell, batch: Batch, steps: np.ndarray, values: Mapping[str, list[Any]], piece: np.ndarray
    ) -> pa.Table:
        final, also = piece[-1] == len(steps) - 1, batch.recording.also
        asked = [column for name in also for column in self.recordings[name]]
        columns: dict[str, list[Any]] = {
            "cell_id": [cell.cell_id],
            "from_step": [int(steps[piece[0]])],
            "to_step": [int(steps[piece[-1]])],
            "final": [bool(final)],
            "status": ["ok" if final else None],
            "message": ["its log: /home/somebody/images/log.txt" if final else None],
            "step": [steps[piece].tolist()],
            **{name: [[values[name][k] for k in piece]] for name in ("loss", *MEASURES, *asked)},
            "last_loss": [values["loss"][-1]],
            "kept_in": ["/home/somebody/images"],
        }
        declared = {**self.curves, **self.scalars, **{n: c for name in also for n, c in self.recordings[name].items()}}
        types = {**SEGMENT_COLUMNS, **{name: column.type for name, column in declared.items()}}
        return pa.table(columns, schema=pa.schema([(name, types[name]) for name in columns]))


def made(cell: Cell) -> dict[str, list[Any]]:
    """Everything that a cell records, an entry an evaluation."""
    params: Any = cell.params
    draw, count = cell.stream("glow"), params.evaluations
    glow = params.brightness * np.cumsum(draw.normal(size=(len(MEASURES), count, params.sides)), axis=1)
    pictures = (draw.random((count, SIDE, SIDE * params.sides)) * 256).astype(np.uint8)
    return {
        "loss": np.abs(glow).mean((0, 2)).tolist(),
        **{name: glow[index].tolist() for index, name in enumerate(MEASURES)},
        "picture": [png(picture) for picture in pictures],
        "face": [[png(face) for face in np.split(picture, params.sides, axis=1)] for picture in pictures],
    }


class Glow(Detector):
    """How bright the first class gets."""

    name: ClassVar[str] = "images_glow"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("images",)
    outcomes: ClassVar[Mapping[str, Column]] = {
        "brightest": Column(pa.float64(), "largest first measure of the first class"),
        "seen": Column(pa.bool_(), "whether there are pictures"),
    }
    kinds: ClassVar[Mapping[str, OutcomeKind]] = {"brightest": "number"}
    needs: ClassVar[tuple[str, ...]] = (MEASURES[0], "picture")

    def detect(self, table: pa.Table) -> pa.Table:
        brightest = [max(row[0] for row in rows) for rows in table[MEASURES[0]].to_pylist()]
        seen = [pictures is not None for pictures in table["picture"].to_pylist()]
        return pa.table({"cell_id": table["cell_id"], "brightest": brightest, "seen": seen})
