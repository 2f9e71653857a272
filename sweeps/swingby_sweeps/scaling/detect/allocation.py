"""The detector `best_allocation`: how the best split of compute C = T N into time and width grows with C."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Row, RowDetector, curve, known

from .. import theory
from .exponents import WINDOW, slope
from .rows import PARAMETERS, REQUIRED, lag, pace

_NUMBERS = {
    "width_exponent": "d ln N / d ln C of the best width: least squares over the last two decades of C",
    "theory_width_exponent": "1/(alpha + 2) ([T] 4.43)",
    "last_time": "u_N = 2 eta S p_N T at the best width, at the end of the curve: the last basis function's own time",
    "predicted_last_time": "this time by theory; it depends on alpha and S/R(0) alone",
    "last_strength": "R_N/S at the best width, at the end of the curve",
    "learned_share": "share of the best width's basis functions with R > S/2, at the end of the curve",
}


class Allocation(RowDetector):
    """The best width over compute; null of curves of one width."""

    name: ClassVar[str] = "best_allocation"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("multilinear",)
    needs: ClassVar[tuple[str, ...]] = ("x", "best_width", *PARAMETERS)
    required = ("x", "best_width", *REQUIRED)
    outcomes: ClassVar[Mapping[str, Column]] = {
        name: Column(pa.float64(), meaning) for name, meaning in _NUMBERS.items()
    }
    kinds = drawn_as(outcomes, *_NUMBERS)

    def outcomes_of(self, row: Row) -> Mapping[str, Any]:
        """The outcomes of one curve."""
        if row["bottleneck"] != "compute" or row["width"] is not None:
            return {}
        alpha, c, x, n = row["alpha"], lag(row), curve(row["x"]), curve(row["best_width"])
        inside = x >= x[-1] / 10**WINDOW * (1 - 1e-9)
        u = pace(row) * theory.frequency(alpha, row["skills"], 1) * x[-1] / n[-1]  # u_1
        last = u * n[-1] ** -(alpha + 1)
        # R > S/2 where u_k = u_1 k^-(alpha + 1) > ln c; of the linear model, where u_k > 2 ln 2.
        half = math.log(c) if c else 2 * math.log(2)
        return known(
            width_exponent=slope(np.log(x[inside]), np.log(n[inside])) if inside.sum() > 1 else None,
            theory_width_exponent=theory.width_exponent(alpha),
            last_time=float(last),
            predicted_last_time=theory.best_last_time(alpha, c),
            last_strength=float(theory.strength(np.array(last), c)),
            learned_share=min(float((u / half) ** (1 / (alpha + 1)) / n[-1]), 1.0) if half > 0 else 1.0,
        )
