"""What nets in training have in common, whatever trains them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .observed import Sample

Array = np.ndarray


class Trained(Protocol):
    """Cells in training, between two recorded steps."""

    def advance(self, begin: int, end: int) -> None:
        """Take the steps begin, ..., end - 1."""
        ...

    def samples(self) -> tuple[list[Sample], list[Sample]]:
        """Of each cell, what its net gives on training points and on test points."""
        ...

    def last_weights(self) -> Array:
        """The last layer's weights of each cell, (B, C, p), float64."""
        ...

    def freeze(self, cells: Array) -> None:
        """Stop the cells of a mask (B,), without an effect on the others."""
        ...
