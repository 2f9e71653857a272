"""Pinned cells of each experiment: ids and numbers that change only together with its `stream_version`.

An experiment's pins lie in `tests/sweeps/FOLDER/pins/EXPERIMENT.yaml`. After a change that is meant,
`python -m tests.support.pins [EXPERIMENT ...]` writes what no longer holds anew, in the files of these or of all.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from swingby.model import registry
from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from tests.support import cells
from tests.support.places import ROOT

DIGITS = 12
"""Significant digits of a number that is written."""


class Pins(NamedTuple):
    """What is pinned of one experiment.

    Attributes:
        stream_version: the version whose numbers these are.
        rtol: how far a number may lie from its pin, relative to it; rounding differs between processors.
        atol: how far it may lie from a pin of zero.
        cells: by a label: `values`, the parameters that differ from the defaults, or from those of `preset`, where
            one is named; `seed`; `record`, as in a sweep file; `cell_id`; and `rows`: of a curve as many of its last
            records as stand there, of a scalar its value.
    """

    stream_version: int
    rtol: float
    atol: float
    cells: dict[str, dict[str, Any]]


def path(experiment: str) -> Path | None:
    """The file of an experiment's pins; None: there is none."""
    return next((ROOT / "tests" / "sweeps").glob(f"*/pins/{experiment}.yaml"), None)


def load(experiment: str) -> Pins:
    """The pins of an experiment; without cells where it has no file."""
    file = path(experiment)
    return Pins(**yaml.safe_load(file.read_text())) if file else Pins(0, 0, 0, {})


def cell(name: str, label: str) -> Cell:
    """The cell of an experiment that is pinned under this label."""
    pin = load(name).cells[label]
    return cells.cell(name, pin["seed"], pin.get("preset"), **pin["values"])


def numbers(name: str, label: str) -> dict[str, np.ndarray]:
    """The numbers of a pinned cell, trained here: as many records of each curve as the pin has; null is NaN."""
    pin, curves = load(name).cells[label], registry.experiment(name).curves
    segments = cells.trained([cell(name, label)], Recording(**pin["record"]))
    last = {}
    for column, pinned in pin["rows"].items():
        entries = [entry for row in segments for entry in row[column]] if column in curves else segments[-1][column]
        last[column] = np.array(entries, dtype=float)[-len(pinned) :] if column in curves else np.array(entries, float)
    return last


def holds(pins: Pins, pinned: Any, value: np.ndarray) -> bool:
    """Whether a number, or each of a list, is its pin."""
    expected = np.array(pinned, dtype=float)
    return value.shape == expected.shape and np.allclose(value, expected, pins.rtol, pins.atol, equal_nan=True)


def rewrite(name: str) -> None:
    """Writes the file of an experiment's pins anew; a number that still holds stays as it is written."""
    file, pins = path(name), load(name)
    if file is None:
        raise SystemExit(f"{name} has no pins: tests/sweeps/FOLDER/pins/{name}.yaml has to say of which cells")
    for label, pin in pins.cells.items():
        pin["cell_id"] = cell(name, label).cell_id
        for column, value in numbers(name, label).items():
            if not holds(pins, pin["rows"][column], value):
                pin["rows"][column] = rounded(value.tolist())
    version = registry.experiment(name).stream_version
    file.write_text(text({**pins._asdict(), "stream_version": version}))


def rounded(value: Any) -> Any:
    """A number, or those of lists in lists, with DIGITS digits."""
    return [rounded(entry) for entry in value] if isinstance(value, list) else float(f"{value:.{DIGITS}g}")


def text(content: Mapping[str, Any]) -> str:
    """The text of a file of pins."""
    return yaml.safe_dump(dict(content), sort_keys=False, default_flow_style=None, width=120)


if __name__ == "__main__":
    for experiment_name in sys.argv[1:] or filter(path, sorted(registry.offered(registry.EXPERIMENTS))):
        rewrite(experiment_name)
