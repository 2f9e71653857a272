"""The detector `learnability_gap`: how far measured learnabilities are from those of theory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Row, RowDetector, curve, known

TIGHT = 0.02
"""The largest gap at which theory counts as exact."""
SURE = 3.0
"""Standard errors by which a gap must be beyond it to be told."""


class LearnabilityGap(RowDetector):
    """The largest distance of the mean L_k(D) from L_k over the modes that a cell lists."""

    name: ClassVar[str] = "learnability_gap"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("linear",)
    needs: ClassVar[tuple[str, ...]] = (
        "target_ratio", "listed_modes", "learnability", "sample_learnability", "learnability_error", "full_rank",
        "ridge",
    )  # fmt: skip
    required = needs[1:]
    outcomes: ClassVar[Mapping[str, Column]] = {
        "gap": Column(
            pa.float64(),
            "largest |mean L_k(D) - L_k| over the listed modes; null where the kernel's rank is lost in rounding",
            title="gap of learnability",
        ),
        "gap_mode": Column(pa.int64(), "the mode of this gap"),
        "gap_error": Column(pa.float64(), "standard error of mean L_k(D) there; null of a single sample"),
        "theory_fits": Column(
            pa.bool_(), f"the gap is at most {TIGHT:g}; null where it is larger by less than {SURE:g} standard errors"
        ),
        "ratio_gap": Column(
            pa.float64(), "largest |<f^|e_k>/<f*|e_k> - L_k| over the listed modes that the target has"
        ),
    }
    kinds = drawn_as(outcomes, "gap", "gap_mode", "gap_error", "theory_fits", "ratio_gap")

    def outcomes_of(self, row: Row) -> Mapping[str, Any]:
        """The outcomes of one cell."""
        if not (row["full_rank"] or row["ridge"] > 0):
            return {}
        L = curve(row["learnability"])
        distances = np.abs(curve(row["sample_learnability"]) - L)
        at = int(np.argmax(distances))
        gap, error = float(distances[at]), row["learnability_error"][at]
        decided = gap <= TIGHT or (error is not None and gap - SURE * error > TIGHT)
        ratios = np.abs(curve(row["target_ratio"] or [np.nan] * len(L)) - L)
        return known(
            gap=gap,
            gap_mode=int(row["listed_modes"][at]),
            gap_error=error,
            theory_fits=gap <= TIGHT if decided and error is not None else None,
            ratio_gap=float(np.nanmax(ratios)) if np.isfinite(ratios).any() else None,
        )
