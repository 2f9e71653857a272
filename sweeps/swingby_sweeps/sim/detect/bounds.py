"""The detector `bounds`: how far the records of a SIM cell are from what App. D, E.1 and Theorem 4.1 say of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import Detector
from swingby.model.experiment import Column

from .. import theory
from ..assumptions import (
    Constants,
    assumptions,
    first_phase_steps,
    lower_growth,
    lower_major,
    upper_growth,
    upper_major,
)
from .curves import lists
from .theory import CONSTANTS

Array = np.ndarray
Row = dict[str, Any]
LIST, FLAGS = pa.list_(pa.float64()), pa.list_(pa.bool_())

CONSTANT_SETS: Sequence[Constants] = (CONSTANTS, Constants(K=20.0, C=1.5, P=math.exp(219), kappa=1.11))
"""Constants of App. D.1: the most lenient ones, and some under which all of its assumptions can hold at once."""
LEVEL = 0.85
"""Lambda of D.36: a major entry is followed up to it."""
ROUNDING = 1e-6
"""By so much the log of an entry may miss its bound."""
TINY = 1e-300
"""Stands for an entry of 0, whose logarithm is infinite."""

_EACH = "for each set of constants that is asked about"
OUTCOMES: dict[str, Column] = {
    "app_d_K": Column(LIST, f"the constant K, {_EACH}; null, like all of App. D, where it does not speak of the cell"),
    "app_d_C": Column(LIST, f"the constant C, {_EACH}"),
    "app_d_log_P": Column(LIST, f"log of the constant P, {_EACH}"),
    "app_d_kappa": Column(LIST, f"the constant kappa, {_EACH}"),
    "app_d_met": Column(FLAGS, f"all of App. D's assumptions hold, the a_p ascending, {_EACH}"),
    "d_11_beyond": Column(LIST, f"largest log of |w_ij| over its upper bound D.11 after the start, {_EACH}"),
    "d_11_kept": Column(FLAGS, f"D.11 holds for every entry at every record, {_EACH}"),
    "d_23_beyond": Column(LIST, f"largest log of the lower bound D.23 over |w_ij| in the initial phase, {_EACH}"),
    "d_23_kept": Column(
        FLAGS, f"D.23 holds for every entry in the initial phase, with the sign it began with, {_EACH}"
    ),
    "d_36_beyond": Column(LIST, f"largest log of the lower bound D.36 over w_ii after the initial phase, {_EACH}"),
    "d_36_kept": Column(FLAGS, f"D.36 holds for every major entry up to 0.85; null without such a record, {_EACH}"),
    "major_least": Column(pa.float64(), "least w_ii at any record"),
    "major_most": Column(pa.float64(), "largest w_ii at any record"),
    "major_bound": Column(LIST, f"1 + 2/K, the upper bound of w_ii in Lemma D.5, {_EACH}"),
    "minor_beyond": Column(LIST, f"largest log of |w_ij| over P beta omega, the edge of the initial phase, {_EACH}"),
    "omega_exponent": Column(
        pa.float64(), "(a_1 - a_2) / (2 a_1): as this power of the start's scale the peak of w_12 goes (two concepts)"
    ),
    "e_1_major": Column(pa.float64(), "mean of w_pp(0) from a normal start (E.1)"),
    "e_1_minor_spread": Column(pa.float64(), "standard deviation of w_12(0) from a normal start (E.1)"),
    "theorem_4_1_off": Column(pa.float64(), "largest distance of the output from growth and noise, over ||x^||"),
    "theorem_4_1_growth_off": Column(pa.float64(), "largest distance of the output from growth alone, over ||x^||"),
    "theorem_4_1_noise": Column(pa.float64(), "largest |noise_k| over mu_k"),
    "theorem_4_1_beyond": Column(
        pa.float64(), "largest (|f_k - growth_k| - sum_i |w_ki(0)| mu_i) over mu_k: property (iii) asks for 0 or less"
    ),
    "theorem_4_1_end_off_noise": Column(pa.float64(), "largest |f_k - growth_k - noise_k| over mu_k at the end"),
    "theorem_4_1_end_off_zero": Column(pa.float64(), "largest |f_k - growth_k| over mu_k at the end"),
}


class Bounds(Detector):
    """Distances of a cell's records from bounds and predictions that are proved or stated for it.

    App. D: the symmetric family with as many directions as concepts, from the recorded W(0). Theorem 4.1: one layer
    under SGD, from its recorded map at the start. Rows without these records, and those that diverged, are null, but
    for what follows from parameters alone.
    """

    name: ClassVar[str] = "bounds"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("sim",)
    outcomes: ClassVar[Mapping[str, Column]] = OUTCOMES
    needs: ClassVar[tuple[str, ...]] = (
        "status", "model", "drive", "s", "d", "width", "init", "init_gain", "mu", "a", "time_per_step", "step",
        "jacobian", "output",
    )  # fmt: skip

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""
        curves = {name: lists(table[name]) for name in ("step", "jacobian", "output")}
        rows: list[Row] = []
        for place, cell in enumerate(table.drop_columns(list(curves)).to_pylist()):
            step, jacobian, output = (curve.row(place) for curve in curves.values())
            symmetric = cell["model"] in ("symmetric", "w_recurrence")
            row = _from_parameters(cell) if symmetric else {}
            known = all(cell[name] is not None for name in ("s", "d", "a", "mu", "time_per_step"))
            if cell["status"] == "ok" and known and step is not None and jacobian is not None:
                W = jacobian.reshape(len(step), cell["s"], cell["s"])
                if symmetric and cell["d"] == cell["s"]:
                    row |= _app_d(cell, step[:, 0], W)
                elif cell["model"] == "one_layer" and cell["drive"] == "sgd" and output is not None:
                    row |= _theorem_4_1(cell, step[:, 0], W[0], output)
            rows.append(row)
        return self.table(table["cell_id"], rows)


def _from_parameters(cell: Row) -> Row:
    """The columns that parameters alone decide: the exponent of omega, and E.1."""
    row: Row = {}
    if cell["s"] == 2 and cell["a"]:
        a_2, a_1 = sorted(cell["a"])
        row["omega_exponent"] = theory.omega_exponent(a_1, a_2)
    if cell["init"] == "normal" and cell["width"] is not None and cell["init_gain"] is not None:
        row["e_1_major"], row["e_1_minor_spread"] = theory.normal_start(cell["width"], cell["init_gain"])
    return row


def _app_d(cell: Row, steps: Array, W: Array) -> Row:
    """The columns of App. D. A step is 2 `time_per_step` in its time, and 0 of D.2 where a flow drives the cell."""
    a, eta = np.asarray(cell["a"]), 2 * cell["time_per_step"]
    major = np.diagonal(W, axis1=1, axis2=2)
    minor = np.abs(W)[:, ~np.eye(W.shape[-1], dtype=bool)]
    row: Row = {name: [] for name, column in OUTCOMES.items() if column.type in (LIST, FLAGS)}
    for constants in CONSTANT_SETS:
        held = assumptions(W[0], a, constants, 0.0 if cell["drive"] == "flow" else eta)
        edge = math.log(constants.P) + math.log(float(np.abs(W[0]).max()))
        values = {
            "app_d_K": constants.K,
            "app_d_C": constants.C,
            "app_d_log_P": math.log(constants.P),
            "app_d_kappa": constants.kappa,
            "app_d_met": held.all_ascending,
            "major_bound": upper_major(constants.K),
            **_growth(W, a, eta, steps, constants),
            **_later(major, edge, a, eta, steps, constants),
            "minor_beyond": float(np.log(max(minor.max(), TINY)) - edge) if minor.size else None,
        }
        for name, value in values.items():
            row[name].append(value)
    return row | {"major_least": float(major.min()), "major_most": float(major.max())}


def _growth(W: Array, a: Array, eta: float, steps: Array, constants: Constants) -> Row:
    """D.11 over all records, and D.23 over those of the initial phase; entries that are 0 have no log for D.11."""
    size, after = np.abs(W), (steps > 0)[:, None, None]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        above = np.log(size) - np.log(upper_growth(W[0], a, eta, steps, constants.kappa))
        below = np.log(lower_growth(W[0], a, eta, steps, constants.kappa)) - np.log(np.maximum(size, TINY))
    first = (steps <= first_phase_steps(a, eta, constants.P, constants.kappa))[:, None, None]
    signs = W * W[0] >= 0
    there = size > 0
    return {
        "d_11_beyond": _largest(above[there & after]),
        "d_11_kept": bool((above[there] <= ROUNDING).all()) if there.any() else None,
        "d_23_beyond": _largest(below[np.broadcast_to(first & after, W.shape)]),
        "d_23_kept": bool(((below <= ROUNDING) & signs)[np.broadcast_to(first, W.shape)].all()),
    }


def _later(major: Array, edge: float, a: Array, eta: float, steps: Array, constants: Constants) -> Row:
    """D.36 of each major entry, from the record at which its log passes `edge` until it is at `LEVEL`.

    Args:
        edge: log of P beta omega, where the initial phase ends.
    """
    beyond: list[Array] = []
    for entry, signal in zip(major.T, a, strict=True):
        left = np.flatnonzero(np.log(np.maximum(entry, TINY)) >= edge)
        grown = np.flatnonzero(entry >= LEVEL)
        stretch = slice(left[0], grown[0] if len(grown) else None) if len(left) else slice(0, 0)
        if len(entry[stretch]):
            since = steps[stretch] - steps[left[0]]
            bound = lower_major(entry[left[0]], signal, eta, since, constants.kappa, LEVEL)
            beyond.append(np.log(bound) - np.log(np.maximum(entry[stretch], TINY)))
    if not beyond:
        return {"d_36_beyond": None, "d_36_kept": None}
    every = np.concatenate(beyond)
    return {"d_36_beyond": _largest(every), "d_36_kept": bool((every <= ROUNDING).all())}


def _largest(values: Array) -> float | None:
    return float(values.max()) if values.size else None


def _theorem_4_1(cell: Row, steps: Array, W0: Array, output: Array) -> Row:
    a, mu = np.asarray(cell["a"]), np.asarray(cell["mu"])
    growth, noise = theory.theorem_4_1(a, mu, W0, steps * cell["time_per_step"])
    rest, length = output - growth, float(np.linalg.norm(mu))
    bound = np.abs(W0) @ mu
    return {
        "theorem_4_1_off": float(np.linalg.norm(rest - noise, axis=1).max()) / length,
        "theorem_4_1_growth_off": float(np.linalg.norm(rest, axis=1).max()) / length,
        "theorem_4_1_noise": float((np.abs(noise) / mu).max()),
        "theorem_4_1_beyond": float(((np.abs(rest) - bound) / mu).max()),
        "theorem_4_1_end_off_noise": float((np.abs(rest - noise)[-1] / mu).max()),
        "theorem_4_1_end_off_zero": float((np.abs(rest)[-1] / mu).max()),
    }
