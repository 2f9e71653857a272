"""The columns of a cell of `features`, with what they mean."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from swingby.model.experiment import Column
from swingby_sweeps.dynamics.columns import COUNT, LIST, NUMBER, ROWS, columns_of
from swingby_sweeps.dynamics.metrics import COLUMNS

SETS = {"": "test points", "train_": "training points"}
"""The two samples on which features are measured, by the prefix of their columns."""

_FIT = {
    "train_loss": "loss on the training points, weight decay aside",
    "test_loss": "loss on the test points",
    "train_accuracy": "share of the training points whose label, as trained on, has the largest output",
    "test_accuracy": "share of the test points whose label has the largest output",
    "output_variance": "variance of the outputs over that of the target, summed over outputs, on the training points",
}
MEASURES = (
    *("kappa_cka", "evenness", "containment", "learned_rank", "target_rank", "modes"),
    *("d_eff_intensity", "d_eff_quality", "d_eff_utilization"),
    *("quality_at_classes", "utilization_at_classes", "constant_overlap"),
)
COLLAPSE = ("nc1", "cdnv", "nc2", "nc3", "nc4")
_SOURCES = {
    "kappa_cka": "[T] Definition 2",
    "d_eff_intensity": "[T] (2.6); of a step all intensities count alike, as in [T] 1.5.3",
    "d_eff_quality": "[T] (2.3)",
    "d_eff_utilization": "[T] (2.5); of a step that of the learned function alone, as in [T] 1.5.3",
    "utilization_at_classes": "of a step that of the learned function alone",
}


def _curves() -> dict[str, Column]:
    texts = {name: COLUMNS[name] + (f" ({_SOURCES[name]})" if name in _SOURCES else "") for name in MEASURES}
    measures = [(f"{prefix}{name}", f"{texts[name]}; on the {of}") for prefix, of in SETS.items() for name in MEASURES]
    collapse = [(name, f"{COLUMNS[name]}; null of a step, or where a class has no point") for name in COLLAPSE]
    return columns_of(LIST, **_FIT, **dict([*measures, *collapse]))


CURVES: Mapping[str, Column] = _curves()
SCALARS: Mapping[str, Column] = {
    **{
        f"final_{name}": Column(NUMBER, f"{column.meaning}, at the end")
        for name, column in CURVES.items()
        if name in {*_FIT, *MEASURES, *COLLAPSE, "train_kappa_cka"}
    },
    "steps_per_epoch": Column(COUNT, "steps in one pass over the training points", "steps"),
    "test_points": Column(COUNT, "number of test points"),
    "feature_count": Column(COUNT, "p, the number of features: inputs of the last layer"),
    "output_count": Column(COUNT, "number of outputs: C, or 1 of a step"),
}
SPECTRA = 64
"""The most entries of a recorded spectrum."""
SPECTRA_TIMES = 12
RECORDINGS: Mapping[str, Mapping[str, Column]] = {
    "spectra": {
        "spectra_step": Column(pa.list_(COUNT), f"{SPECTRA_TIMES} log-spaced steps of the spectra", "steps"),
        "intensities": Column(
            ROWS, f"the first {SPECTRA} intensities rho_k on the test points, at each of them; 0: none"
        ),
        "qualities": Column(ROWS, f"the first {SPECTRA} of Q*_k on the test points, at each of them"),
        "utilizations": Column(ROWS, f"the first {SPECTRA} of U^_k on the test points, at each of them"),
    }
}
