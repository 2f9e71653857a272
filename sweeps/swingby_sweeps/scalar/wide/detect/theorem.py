"""The detector `theorem_1`: how far the recorded theta(t) is from Theorem 1, as corrected and as printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import Detector, drawn_as
from swingby.model.experiment import Column

from ...detect_columns import number, outcomes, text
from .. import theory


class Theorem1(Detector):
    """The largest distance over all records, in units of the way |S - S_0| that theta has to go."""

    name: ClassVar[str] = "theorem_1"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("wide_scalar",)
    needs: ClassVar[tuple[str, ...]] = (
        "status", "step", "theta", "target", "second_moment", "loss_factor", "normaliser", "start_overlap",
        "start_sum", "time_per_step",
    )  # fmt: skip
    outcomes: ClassVar[Mapping[str, Column]] = {
        "off_theorem": Column(
            pa.float64(),
            "largest |theta - theta of Theorem 1 with exponent 2 q c E t/Z| over |S - S_0|; null where S = S_0, or the "
            "run diverged",
        ),
        "off_printed": Column(pa.float64(), "this distance with the printed exponent, 4 q E t/Z whatever c"),
        "steepest_step": Column(pa.float64(), "lr c E times the larger of K at the start and at the end of the flow"),
    }
    kinds = drawn_as(outcomes, "off_theorem", "off_printed")

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""
        S, start, size, Z = (number(table, name) for name in ("target", "start_overlap", "start_sum", "normaliser"))
        E, c, step_time = (number(table, name) for name in ("second_moment", "loss_factor", "time_per_step"))
        A, B = size + start, size - start
        q = theory.root(A, B, S)
        rows = table.num_rows
        off_theorem, off_printed = np.full((2, rows), np.nan)
        steps, theta = table["step"].to_pylist(), table["theta"].to_pylist()
        ended = text(table, "status") == "ok"
        with np.errstate(divide="ignore", invalid="ignore"):
            for row in np.flatnonzero(ended & (np.abs(S - start) > 0)):
                if steps[row] is None or theta[row] is None or len(steps[row]) != len(theta[row]):
                    continue
                at = q[row] * E[row] * step_time[row] / Z[row] * np.array(steps[row], dtype=np.float64)
                measured, way = np.array(theta[row], dtype=np.float64), abs(S[row] - start[row])
                corrected = theory.theta(A[row], B[row], S[row], 2 * c[row] * at)
                printed = theory.theta_printed(A[row], B[row], S[row], 2 * at)
                off_theorem[row] = np.abs(measured - corrected).max(initial=0) / way
                off_printed[row] = np.abs(measured - printed).max(initial=0) / way
        steepest = step_time * c * E * 2 * np.maximum(size, q) / Z
        values = {"off_theorem": off_theorem, "off_printed": off_printed, "steepest_step": steepest}
        return outcomes(table, self.outcomes, values)
