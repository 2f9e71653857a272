"""The detector `wide_regime`: lazy or rich, how descent ended, and what Theorem 1 says of both beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import Detector, drawn_as
from swingby.model.experiment import Column

from ...detect_columns import Array, first_case, known, number, outcomes, text
from .. import theory

SETTLED = 1e-3
"""A run has settled once |theta - S| is at most this share of |S - S_0|."""
CATAPULT = 1.0001
"""A loss above this many times the first one has been thrown up by the length of a step."""
REGIMES = ("lazy", "crossover", "rich", "saddle", "unresolved", "diverged")
DESCENTS = ("monotone", "catapult", "unresolved", "diverged")
_NUMBER = pa.float64()


class WideRegime(Detector):
    """Reads scalars alone, so that it tells of archived results as well."""

    name: ClassVar[str] = "wide_regime"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("wide_scalar",)
    needs: ClassVar[tuple[str, ...]] = (
        "status", "drive", "target", "second_moment", "loss_factor", "normaliser", "start_overlap", "start_sum",
        "time_per_step", "final_theta", "final_loss", "final_aligned", "final_opposed", "peak_loss",
    )  # fmt: skip
    outcomes: ClassVar[Mapping[str, Column]] = {
        "target_ratio": Column(_NUMBER, "rho = S/Sigma_0"),
        "start_ratio": Column(_NUMBER, "s0 = S_0/Sigma_0, from -1 to 1"),
        "settled": Column(pa.bool_(), f"|theta - S| ends at or below {SETTLED:g} |S - S_0|"),
        "regime": Column(
            pa.string(),
            "lazy: the kernel changed by less than a factor of 1.1; rich: by more than 2; saddle: no weight is aligned "
            "with the target, and theta ends at 0; unresolved: the run ended before it settled",
            order=REGIMES,
        ),
        "predicted_regime": Column(pa.string(), "lazy, crossover, rich or saddle, by S/Sigma_0 and s0", order=REGIMES),
        "kernel_ratio": Column(
            _NUMBER, "K at the end over K at the start; null unless the run settled", title="K_inf / K_0"
        ),
        "predicted_kernel_ratio": Column(_NUMBER, "sqrt(1 - s0^2 + rho^2); 0 on a saddle"),
        "gamma_end": Column(
            _NUMBER, "Sigma + theta at the end over its start, gamma_+ of a flow; null unless settled", title="gamma_+"
        ),
        "predicted_gamma_end": Column(_NUMBER, "gamma_+ by (6.14); null where A = Sigma_0 + S_0 = 0"),
        "descent": Column(
            pa.string(),
            "gd. monotone: settled, the loss never more than 0.01 % above its start; catapult: settled, but it was; "
            "unresolved: not settled by the end of the run",
            order=DESCENTS,
            title="fate of descent",
        ),
        "step_at_start": Column(_NUMBER, "lr c E K_0, the curvature at the start times lr"),
        "step_at_end": Column(_NUMBER, "lr c E K_inf, at the end of the flow; descent can stay there below 2"),
        "step_at_flattest": Column(_NUMBER, "lr c E K of the flattest solution, K = 2|S|/Z; from 2 on none is stable"),
        "predicted_descent": Column(
            pa.string(),
            "monotone: the steps at the start and at the end of the flow are below 2; catapult: one of them is not, "
            "but that at the flattest solution is below 2 and that at the start below 4; else diverged",
            order=DESCENTS,
        ),
    }  # fmt: skip
    kinds = drawn_as(
        outcomes, "settled", "regime", "predicted_regime", "kernel_ratio", "gamma_end", "predicted_gamma_end",
        "descent", "predicted_descent", "step_at_end",
    )  # fmt: skip

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""
        S, start, size = (number(table, name) for name in ("target", "start_overlap", "start_sum"))
        theta, aligned, opposed = (number(table, f"final_{name}") for name in ("theta", "aligned", "opposed"))
        status, drive = text(table, "status"), text(table, "drive")
        A, B, rho, s0 = size + start, size - start, S / size, start / size
        diverged, ended = status == "diverged", (status == "ok") & np.isfinite(theta) & np.isfinite(size)
        settled = ended & (np.abs(theta - S) <= SETTLED * np.abs(S - start))
        end_A = np.where(S >= 0, aligned, opposed)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (aligned + opposed) / (2 * size)
            gamma, expected_gamma = end_A / A, np.where(A > 0, theory.gamma_end(A, B, S), np.nan)
            step = number(table, "time_per_step") * number(table, "loss_factor") * number(table, "second_moment")
            at_start = step * 2 * size / number(table, "normaliser")
            rise = number(table, "peak_loss") / (_loss_at(table, start))
        at_end, at_flattest = at_start * theory.root(A, B, S) / size, at_start * theory.flattest(rho)
        saddle = ended & theory.is_saddle(rho, s0) & (np.abs(theta) <= SETTLED * np.abs(S))
        there = np.isfinite(rho) & np.isfinite(s0)
        descends = (drive == "gd") & (diverged | ended)
        fate = first_case(
            (diverged, "diverged"), (ended & ~settled, "unresolved"), (rise > CATAPULT, "catapult"), (ended, "monotone")
        )
        values = {
            "target_ratio": rho,
            "start_ratio": s0,
            "settled": known(settled, ended),
            "regime": first_case(
                (diverged, "diverged"), (saddle, "saddle"), (ended & ~settled, "unresolved"), *_regimes(ratio, ended)
            ),
            "predicted_regime": first_case(
                (there & theory.is_saddle(rho, s0), "saddle"), *_regimes(theory.kernel_ratio(rho, s0), there)
            ),
            "kernel_ratio": np.where(settled, ratio, np.nan),
            "predicted_kernel_ratio": theory.kernel_ratio(rho, s0),
            "gamma_end": np.where(settled, gamma, np.nan),
            "predicted_gamma_end": expected_gamma,
            "descent": known(fate, descends),
            "step_at_start": at_start,
            "step_at_end": at_end,
            "step_at_flattest": at_flattest,
            "predicted_descent": known(
                _expected(at_start, at_end, at_flattest), np.isfinite(at_start) & (drive == "gd")
            ),
        }
        return outcomes(table, self.outcomes, values)


def _loss_at(table: pa.Table, theta: Array) -> Array:
    return number(table, "loss_factor") * number(table, "second_moment") / 2 * (theta - number(table, "target")) ** 2


def _regimes(ratio: Array, where: Array) -> list[tuple[Array, str]]:
    with np.errstate(divide="ignore"):
        change = np.abs(np.log(ratio))
    lazy, rich = np.log(theory.LAZY), np.log(theory.RICH)
    return [(where & (change > rich), "rich"), (where & (change < lazy), "lazy"), (where, "crossover")]


def _expected(at_start: Array, at_end: Array, at_flattest: Array) -> Array:
    calm = np.maximum(at_start, at_end) < 2
    return first_case((calm, "monotone"), ((at_flattest < 2) & (at_start < 4), "catapult"), (at_start > 0, "diverged"))
