"""Small sweeps of the experiment with made-up curves, on which laws over everything installed are tried."""

from __future__ import annotations

from pathlib import Path

from swingby.run.outcomes import derive
from swingby.sweepfile.sweep import Sweep
from tests.support import synthetic_diffusion

LINE = "  contrast: [0.2, 0.6]"
SQUARE = "  contrast: [0.15, 0.6]\n  size_contrast: [0.2, 0.4]"
COPIES = "  images: [16, 1024]"
LONG = {"figure-6-small": 5, "figure-6-learned": 10, "figure-6-swing": 20, "learning-order": 3}
"""Named sweeps behind claims that take hours, and how many seeds they have; one of two behind most is left out."""


def write(data: Path) -> list[Sweep]:
    """Leaves a data folder with these sweeps, whose runs ended, failed or go on; gives them."""
    line = synthetic_diffusion.sweep("example-line", LINE, seeds=2, also="trained, samples")
    square = synthetic_diffusion.sweep("example-square", SQUARE, seeds=1)
    copies = synthetic_diffusion.sweep("example-copies", COPIES, seeds=1, also="nearest")
    for sweep in (line, square, copies):
        records = synthetic_diffusion.write(data, sweep)
    derive(records)
    return [line, square, copies]


def write_long(data: Path) -> None:
    """Adds made-up results of the sweeps in `LONG` to a data folder."""
    for name in LONG:
        synthetic_diffusion.write(data, Sweep.load(name))
