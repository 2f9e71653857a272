"""The detector `scaling_exponents`: the exponent of the loss over the last two decades, and what theory says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Array, Row, RowDetector, curve, known

from .. import theory
from .rows import PARAMETERS, REQUIRED, lag, pace

WINDOW = 2.0
"""Decades of the resource, up to the end of the curve, over which exponents are fitted."""
FEWEST = 8
"""The least number of different x in the window."""
NEAR = 0.05
"""An exponent agrees with another within this share of it."""
LOST_SHARE = 0.02
"""What the last skill may have lost before L_C is no longer constant: the law of the bias is then off by about this."""
HEAD: Mapping[str, float] = {"data": 10.0, "width": 50.0, "compute": 10.0}
"""Where scaling begins: p_1 D, N, the best N. Over time: u_1 of 3 ln c, and of 5 at least."""
REGIMES = ("head", "scaling", "exhausted", "both")
LAWS = ("power law", "corrected", "last skill", "neither", "nothing left")
_NUMBERS = {
    "exponent": "d ln L / d ln x: least squares over the last two decades of x",
    "exponent_low": "least local exponent in the window",
    "exponent_high": "largest local exponent in the window",
    "exponent_spread": "largest less least local exponent in the window, over the size of theory's",
    "theory_exponent": "exponent by [T] Table 4.1",
    "bias": "exponent over that of theory, less 1",
    "predicted_bias": "bias by the law of a constant L_C: d ln L / d ln x = theory's exponent (1 + L_C/L)",
    "boundary_bias": "bias by this law with what is left of the last skill's loss, L_C h(u) / h(0)",
    "corrected_bias": "least-squares exponent of L + L_C over that of theory, less 1",
    "lost_loss": "L_C, the loss of the missing skills ([T] C.2)",
    "lost_share": "L_C/L at the end of the curve",
    "last_gone": "share of its loss that the last skill has lost by the end of the curve",
    "first_learned": "skills above S/2 at the beginning of the window, (u_1/ln c)^(1/(alpha + 1)); over time",
    "last_learned": "this number at the end of the window",
    "prefactor": "(L + L_C) x^-exponent at the end of the curve, by theory's exponent",
    "predicted_prefactor": "this prefactor by theory",
}


class Exponents(RowDetector):
    """Exponents of the loss over time, data, width and best compute; null of other curves."""

    name: ClassVar[str] = "scaling_exponents"
    version: ClassVar[str] = "2"
    experiments: ClassVar[tuple[str, ...]] = ("multilinear",)
    needs: ClassVar[tuple[str, ...]] = ("x", "loss", *PARAMETERS)
    required = ("x", "loss", *REQUIRED)
    outcomes: ClassVar[Mapping[str, Column]] = {
        **{name: Column(pa.float64(), meaning) for name, meaning in _NUMBERS.items()},
        "regime": Column(
            pa.string(),
            "by theory: the window begins before scaling does (head), ends after the last skill has lost "
            f"{LOST_SHARE:.0%} of its loss (exhausted), both, or neither",
            order=REGIMES,
        ),
        "followed_law": Column(
            pa.string(),
            f"the first exponent within {NEAR:.0%} of the measured one: Table 4.1's (power law), that of the law of "
            "the bias (corrected), that with the last skill's own loss (last skill); neither of them; or no exponent, "
            "since the loss comes to 0 in the window",
            order=LAWS,
        ),
        "fitted_points": Column(pa.int64(), "different x in the window"),
    }
    kinds = drawn_as(outcomes, *_NUMBERS, "regime", "followed_law")

    def outcomes_of(self, row: Row) -> Mapping[str, Any]:
        """The outcomes of one curve."""
        e = theory.exponent(row["bottleneck"], row["alpha"])
        if e is None or (row["bottleneck"] == "compute" and row["width"] is not None):
            return {}
        x, first = np.unique(curve(row["x"]), return_index=True)
        loss = curve(row["loss"])[first]
        inside = x >= x[-1] / 10**WINDOW * (1 - 1e-9)
        x, loss = x[inside], loss[inside]
        outcomes: dict[str, Any] = {"theory_exponent": e, "regime": regime(row, x), "fitted_points": len(x)}
        if (loss <= 0).any():
            return outcomes | {"followed_law": "nothing left"}
        if len(x) < FEWEST or not np.isfinite(loss).all():
            return outcomes
        return outcomes | fit(row, x, loss, e)


def fit(row: Row, x: Array, loss: Array, e: float) -> dict[str, Any]:
    """The exponents of a window, measured and by the laws."""
    alpha, skills, s, c = row["alpha"], row["skills"], row["s"], lag(row)
    log_x, log_loss = np.log(x), np.log(loss)
    lost = theory.lost_loss(row["bottleneck"], alpha, skills, s, c)
    rest = still(row, x)
    measured, local = slope(log_x, log_loss), np.gradient(log_loss, log_x)
    laws = [slope(log_x, integral(log_x, e * (1 + lost * share / loss))) for share in (np.ones_like(x), rest)]
    bias, (predicted, boundary) = measured / e - 1, (law / e - 1 for law in laws)
    exponents = (0.0, predicted, boundary)
    near = [name for name, law in zip(LAWS, exponents, strict=False) if abs((1 + bias) / (1 + law) - 1) <= NEAR]
    learned = learned_by(row, x)
    expected = theory.prefactor(row["bottleneck"], alpha, skills, s, c, pace(row))
    return known(
        exponent=measured,
        exponent_low=float(local.min()),
        exponent_high=float(local.max()),
        exponent_spread=float(local.max() - local.min()) / abs(e),
        bias=bias,
        predicted_bias=predicted,
        boundary_bias=boundary,
        corrected_bias=slope(log_x, np.log(loss + lost)) / e - 1,
        lost_loss=lost,
        lost_share=lost / float(loss[-1]),
        last_gone=1 - float(rest[-1]),
        first_learned=learned[0],
        last_learned=learned[-1],
        prefactor=float((loss[-1] + lost) * x[-1] ** -e),
        predicted_prefactor=expected,
        followed_law=near[0] if near else "neither",
    )


def slope(x: Array, y: Array) -> float:
    """The slope of the least-squares line through points (n,)."""
    away = x - x.mean()
    return float(away @ y / (away @ away))


def integral(x: Array, y: Array) -> Array:
    """The integral of y over x from the first point on, by trapezia, (n,)."""
    return np.append(0.0, np.cumsum((y[1:] + y[:-1]) / 2 * np.diff(x)))


def still(row: Row, x: Array) -> Array:
    """The share of its loss that the last skill still has at each x, h(u)/h(0), (n,); 1 of infinitely many skills.

    By it the boundary term of [T] 4.23 at k = n_s is L_C, which C.2 takes to be constant.
    """
    if row["skills"] is None or row["bottleneck"] not in ("time", "data"):
        return np.ones_like(x)
    c, p = lag(row), theory.frequency(row["alpha"], row["skills"], row["skills"])
    if row["bottleneck"] == "data":
        return np.exp(x * math.log1p(-min(p, 1 - 1e-16)))
    return theory.left(pace(row) * p * x, c) / theory.unseen(c)


def learned_by(row: Row, x: Array) -> list[float]:
    """The number of skills with R > S/2 at each x, by theory; NaN except over time from a start below S/2."""
    c = lag(row)
    if row["bottleneck"] != "time" or c <= 1:
        return [math.nan] * len(x)
    u = pace(row) * theory.frequency(row["alpha"], row["skills"], 1) * x
    return ((u / math.log(c)) ** (1 / (row["alpha"] + 1))).tolist()


def regime(row: Row, x: Array) -> str:
    """Where the window lies by theory, from parameters alone."""
    alpha, skills, c = row["alpha"], row["skills"], lag(row)
    p_1 = theory.frequency(alpha, skills, 1)
    match row["bottleneck"]:
        case "time":
            head = pace(row) * p_1 * x[0] < max(3 * math.log(max(c, 1.0)), 5.0)
        case "data":
            head = p_1 * x[0] < HEAD["data"]
        case "width":
            head = x[0] < HEAD["width"]
        case _:
            best = (x[0] * pace(row) * p_1 / theory.best_last_time(alpha, c)) ** (1 / (alpha + 2))
            head = best < HEAD["compute"]
    exhausted = 1 - still(row, x)[-1] > LOST_SHARE
    return "both" if head and exhausted else "head" if head else "exhausted" if exhausted else "scaling"
