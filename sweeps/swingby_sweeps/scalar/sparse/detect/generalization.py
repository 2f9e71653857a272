"""The detector `generalization`: when a diagonal net fits and generalizes, and when its laws say that it does."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import Detector, drawn_as
from swingby.model.experiment import Column

from ...detect_columns import first_case, known, number, outcomes, text
from .. import theory

LATE = 3.0
"""A run that generalizes this many times later than it fits its points has grokked."""
MOVING = 0.02
"""A test error that falls by more than this over the last fifth of a run has not come to its end."""
FATES = ("prompt", "grokked", "memorised", "shrunk", "unresolved", "diverged")
_NUMBER = pa.float64()
_points_needed = cache(theory.points_needed)


class Generalization(Detector):
    """Reads scalars alone, so that it tells of archived results as well."""

    name: ClassVar[str] = "generalization"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("sparse_diagonal",)
    needs: ClassVar[tuple[str, ...]] = (
        "status", "alpha", "decay", "dimension", "points", "nonzeros", "train_time", "test_time", "final_train_error",
        "final_test_error", "late_test_error", "critical",
    )  # fmt: skip
    outcomes: ClassVar[Mapping[str, Column]] = {
        "fate": Column(
            pa.string(),
            f"prompt: generalizes less than {LATE:g} times later than it fits its points; grokked: later; memorised: "
            f"fits at some time, never generalizes; shrunk: never fits, as decay holds the weights back; unresolved: "
            f"the test error fell by more than {MOVING:g} over the last fifth, or without decay points were not fitted",
            order=FATES,
        ),
        "generalizes": Column(pa.bool_(), "|theta - w|^2 reaches .05; null where unresolved"),
        "delay": Column(_NUMBER, "test time over train time; null where one of them is", title="delay"),
        "predicted_fate": Column(
            pa.string(),
            "memorised: no C*, or no decay and alpha^2 > C*; prompt: alpha^2 <= C*; else grokked",
            order=FATES,
        ),
        "predicted_test_time": Column(
            _NUMBER, "ln(alpha^2/C*)/(2 decay); null where alpha^2 <= C*, or without C* or decay", "flow time"
        ),
        "off_law": Column(_NUMBER, "|test time over the predicted one - 1|"),
        "critical_start": Column(_NUMBER, "sqrt(C*), the largest alpha that generalizes without decay"),
        "enough_points": Column(
            pa.bool_(), "n/d is above the l1 recovery threshold of k/d for large d (statistical dimension)"
        ),
    }
    kinds = drawn_as(outcomes, "fate", "generalizes", "delay", "predicted_fate", "off_law", "critical_start")

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""
        alpha, decay, C = (number(table, name) for name in ("alpha", "decay", "critical"))
        trained, tested = number(table, "train_time"), number(table, "test_time")
        late, end = number(table, "late_test_error"), number(table, "final_test_error")
        status = text(table, "status")
        ok, diverged, there = (status == "ok") & np.isfinite(end), status == "diverged", np.isfinite(alpha)
        fits, generalizes, moving = np.isfinite(trained), np.isfinite(tested), late - end > MOVING
        with np.errstate(divide="ignore", invalid="ignore"):
            delay = tested / trained
            predicted = theory.test_time(alpha, decay, C)
            predicted = np.where(there & (decay > 0) & (alpha**2 > C), predicted, np.nan)
            off = np.abs(tested / predicted - 1)
        n, d, k = (number(table, name) for name in ("points", "dimension", "nonzeros"))
        enough = np.array(
            [b > _points_needed(a) if a == a and b == b else None for a, b in zip(k / d, n / d, strict=True)]
        )
        unfitted = ok & ~fits
        fate = first_case(
            (diverged, "diverged"),
            (unfitted & (moving | (decay == 0)), "unresolved"),
            (unfitted, "shrunk"),
            (ok & generalizes & (delay >= LATE), "grokked"),
            (ok & generalizes, "prompt"),
            (ok & moving, "unresolved"),
            (ok, "memorised"),
        )
        values = {
            "fate": fate,
            "generalizes": known(generalizes, ok & (fate != "unresolved") | (ok & generalizes)),
            "delay": delay,
            "predicted_fate": first_case(
                (~np.isfinite(C) | ((decay == 0) & (alpha**2 > C)), "memorised"),
                (alpha**2 <= C, "prompt"),
                (there, "grokked"),
            ),
            "predicted_test_time": predicted,
            "off_law": off,
            "critical_start": np.sqrt(C),
            "enough_points": enough,
        }
        values["predicted_fate"] = known(values["predicted_fate"], there & ok)
        return outcomes(table, self.outcomes, values)
