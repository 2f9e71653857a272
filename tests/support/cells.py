"""Cells of experiments by their names, what comes of them, and what a detector says of a made-up row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from swingby.model import registry
from swingby.model.cell import Cell, Point
from swingby.model.detector import Detector
from swingby.model.experiment import Batch, Recording

Row = dict[str, Any]


def params(experiment: str, preset: str | None = None, **values: Any) -> Any:
    """Parameters with these values; all others are those of the preset, or the defaults."""
    kind = registry.experiment(experiment)
    return kind.Params.model_validate({**(kind.presets[preset](values) if preset else {}), **values})


def cell(experiment: str, seed: int = 1000, preset: str | None = None, **values: Any) -> Cell:
    """A cell with such parameters, of the experiment's present version."""
    version = registry.experiment(experiment).stream_version
    return Point(experiment, version, params(experiment, preset, **values)).cell(seed)


def trained(cells: Sequence[Cell], recording: Recording | None = None) -> list[Row]:
    """The rows of one batch of cells, in the order in which the experiment yields them."""
    kind = registry.experiment(cells[0].point.experiment)
    batch = Batch(tuple(cells), recording or Recording())
    return [row for table in kind.run(batch) for row in table.to_pylist()]


def detected(detector: Detector, row: Mapping[str, Any]) -> Row:
    """The outcomes of one row."""
    (outcomes,) = detector.detect(pa.Table.from_pylist([dict(row)])).to_pylist()
    return outcomes
