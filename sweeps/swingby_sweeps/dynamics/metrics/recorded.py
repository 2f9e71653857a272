"""What `cell.features` records of a last layer: its metrics as columns, of one sample or of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from swingby.function.values import MisuseError, as_array

from .arrays import warn_if_few
from .measure import SAMPLES, Metrics, as_columns, measured


class LastLayer:
    """The columns of one call of `cell.features`, or of `cells.features` for each of its cells.

    Attributes:
        names: of the columns.
        warned: whether a sample had few points a feature.

    Args:
        sample: "train", "test", or None where there is one sample (`as_columns`).
        spectrum: whether those that need a spectrum are among them.
        weighted: whether the last layer's weights are given.
        warned: whether this cell was warned of before.

    Raises:
        MisuseError: another word for a sample, or weights for test points.
    """

    def __init__(self, sample: str | None, spectrum: bool, weighted: bool, warned: bool) -> None:
        if sample not in SAMPLES:
            raise MisuseError(f"features() was given sample={sample!r}; allowed: None, 'train', 'test'")
        if weighted and sample == "test":
            raise MisuseError("features() was given weights for test points; they are for NC3, of training points")
        self._sample, self._spectrum = sample, spectrum
        self.names = list(as_columns(Metrics(), sample, spectrum))
        self.warned = warned

    def values(self, step: int, phi: Any, outputs: Any, labels: Any, weights: Any = None) -> dict[str, Any] | None:
        """The metrics of one cell by the names of columns; None: features or outputs are not finite.

        Warns:
            FeaturesWarning: there are fewer than 4 points a feature, the first time.

        Raises:
            MisuseError: arrays that make no sense, or fewer points than classes, which show no class beside the others.
        """
        if not all(np.isfinite(as_array(each)).all() for each in (phi, outputs)):
            return None
        points, *classes = np.shape(as_array(outputs))
        if np.ndim(as_array(labels)) == 1 and classes and points < classes[0]:
            text = f"there are {points} points for {classes[0]} classes; each class needs at least one"
            raise MisuseError(f"features({step}): {text}")
        if len(np.shape(as_array(phi))) == 2 and not self.warned:
            self.warned = warn_if_few(*np.shape(as_array(phi)))
        collapse = self._sample != "test"
        try:
            metrics = measured(phi, outputs, labels, weights, spectrum=self._spectrum, collapse=collapse, strict=False)
        except ValueError as error:
            raise MisuseError(f"features({step}): {error}") from error
        return as_columns(metrics, self._sample, self._spectrum)
