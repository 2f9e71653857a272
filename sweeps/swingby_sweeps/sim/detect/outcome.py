"""The outcome of a run: the first category that applies, and whether the run recorded what it takes to be sure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from swingby_analysis.signals.extrema import Floats

from ..report import GENERALIZED

OUTCOMES = ("diverged", "artefact", "structural", "generalized", "failed", "plateau")
"""Outcomes, in the order in which they are tried."""
ORDER = ("generalized", "plateau", "failed", "structural", "artefact", "diverged")
"""Outcomes, in the order of legends: from generalization to divergence."""
NEGATIVE = {"float64": 1e-9, "float32": 1e-5}
"""Share of the trace of W, by dtype; an eigenvalue below minus this share is negative beyond rounding."""
STILL = {"float64": 1e-6, "float32": 1e-4}
"""Gradient norm over L_ref below which a run stands still."""
GROWING = 1e-6
"""Growth rate over the largest a_p above which a direction grows."""
Mask = NDArray[np.bool_]


def outside_cone(eigenvalue: Floats, trace: Floats, dtype: NDArray[np.object_] | str) -> Mask:
    """Whether each W, given by its smallest eigenvalue and trace, is not positive semidefinite; False for NaN."""
    return eigenvalue < -np.where(np.asarray(dtype) == "float32", NEGATIVE["float32"], NEGATIVE["float64"]) * trace


def judge(
    diverged: Mask,
    final_loss: Floats,
    model: NDArray[np.object_],
    dtype: NDArray[np.object_],
    concepts: NDArray[np.int64],
    l_ref: Floats,
    largest_a: Floats,
    certificates: Mapping[str, Floats],
) -> tuple[NDArray[np.int64], Mask]:
    """Place of the outcome in OUTCOMES, and whether it is certain, each (C,).

    Args:
        diverged: whether the run diverged.
        final_loss: last finite OOD loss over L_ref.
        model, dtype: of the run.
        concepts: s.
        l_ref: the unit of loss, in loss units.
        largest_a: the largest a_p; the unit of growth rates.
        certificates: `gradient_norm`, `growth_rate`, `smallest_eigenvalue`, `trace`, `rank0`, `narrowest`, each (C,);
            NaN where the run did not record it.
    """
    eigenvalue, trace = certificates["smallest_eigenvalue"], certificates["trace"]
    rank, narrowest = certificates["rank0"], certificates["narrowest"]
    gradient, growth = certificates["gradient_norm"], certificates["growth_rate"]
    single = dtype == "float32"
    recurrence, symmetric = model == "w_recurrence", model == "symmetric"
    bounded = symmetric | (model == "linear")

    artefact = recurrence & outside_cone(eigenvalue, trace, dtype)
    structural = bounded & ((rank < concepts) | (narrowest < concepts))
    generalized = final_loss <= GENERALIZED
    still = gradient < np.where(single, STILL["float32"], STILL["float64"]) * l_ref
    failed = still & (growth <= GROWING * largest_a)
    tried = [diverged, artefact, structural, generalized, failed, np.ones_like(diverged)]
    outcome = np.argmax(np.stack(tried), axis=0)

    checked_cone = ~recurrence | ~(np.isnan(eigenvalue) | np.isnan(trace))
    checked_rank = ~bounded | (~np.isnan(narrowest) & ~(symmetric & np.isnan(rank)))
    checked_rest = ~(np.isnan(gradient) | np.isnan(growth))
    certain = np.stack(
        [
            np.ones_like(diverged),
            np.ones_like(diverged),
            checked_cone,
            checked_cone,
            checked_cone & checked_rank,
            checked_cone & checked_rank & (checked_rest | (gradient >= 0) & ~still),
        ]
    )
    return outcome, certain[outcome, np.arange(len(outcome))]
