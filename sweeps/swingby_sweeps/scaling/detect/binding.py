"""The detector `binding_resource`: which limit, of time, data or width, costs most of the loss at a curve's end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Row, RowDetector, known

from .. import theory
from .rows import PARAMETERS, REQUIRED, lag, pace

RESOURCES = ("time", "data", "width")
NOTHING = 0.01
"""Share of the loss; where no resource alone would remove as much, none binds."""
_LIST = {f"removed_{name}": f"share of the loss that unlimited {name} alone would remove" for name in RESOURCES}
_REACHED = {
    f"reached_{name}": f"skills that the loss amounts to with {name} limited alone, by theory (null if it is not)"
    for name in RESOURCES
}


class Binding(RowDetector):
    """Which resource binds where all three are limited; null of other curves."""

    name: ClassVar[str] = "binding_resource"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("multilinear",)
    needs: ClassVar[tuple[str, ...]] = (
        "x", "loss", "loss_any_time", "loss_any_data", "loss_any_width", *PARAMETERS,
    )  # fmt: skip
    required = ("x", "loss", "loss_any_time", "loss_any_data", "loss_any_width", *REQUIRED)
    outcomes: ClassVar[Mapping[str, Column]] = {
        **{name: Column(pa.float64(), meaning) for name, meaning in {**_LIST, **_REACHED}.items()},
        "binds": Column(
            pa.string(),
            f"the resource whose removal removes most of the loss; none: each removes less than {NOTHING:.0%} of it, "
            "since at least two limit it alike, or nothing is left",
            order=(*RESOURCES, "none"),
            title="the resource that binds",
        ),
        "predicted_binds": Column(
            pa.string(), "the resource that reaches the fewest skills alone, by theory", order=RESOURCES
        ),
        "slack": Column(
            pa.float64(), "log10 of the skills that the second scarcest resource reaches over those of the scarcest"
        ),
    }
    kinds = drawn_as(outcomes, *_LIST, "binds", "predicted_binds", "slack")

    def outcomes_of(self, row: Row) -> Mapping[str, Any]:
        """The outcomes of one curve, at its end."""
        if row["bottleneck"] != "all":
            return {}
        loss = row["loss"][-1]
        removed = {name: 1 - row[f"loss_any_{name}"][-1] / loss if loss > 0 else 0.0 for name in RESOURCES}
        most = max(removed, key=lambda name: removed[name])
        skills = reached(row)
        ordered = sorted(skills.values())
        return known(
            **{f"removed_{name}": share for name, share in removed.items()},
            **{f"reached_{name}": value for name, value in skills.items()},
            binds=most if removed[most] >= NOTHING else "none",
            predicted_binds=min(skills, key=lambda name: skills[name]),
            slack=math.log10(ordered[1] / ordered[0]) if len(ordered) > 1 else None,
        )


def reached(row: Row) -> dict[str, float]:
    """The number of skills that each limited resource reaches alone, by `theory.reached` of its power law."""
    alpha, skills, s, c = row["alpha"], row["skills"], row["s"], lag(row)
    amounts = {"time": row["x"][-1], "data": row["data"], "width": row["width"]}
    by_resource = {}
    for name, amount in amounts.items():
        prefactor, e = theory.prefactor(name, alpha, skills, s, c, pace(row)), theory.exponent(name, alpha)
        if amount is not None and prefactor is not None and e is not None:
            by_resource[name] = theory.reached(alpha, skills, s, prefactor * amount**e)
    return by_resource
