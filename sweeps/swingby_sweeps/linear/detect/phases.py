"""The detector `fitting_phases`: when the signal is learned, when the noise is fitted, and how far these lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.detector import drawn_as
from swingby.model.experiment import Column
from swingby.model.row_detector import Array, Row, RowDetector, curve, known

from .. import theory

LEARNED = 0.9
"""Share of the signal that counts as learned."""
LEFT = 0.25
"""Share of the noise's squares that is left where the noise counts as half fitted."""
APART = 10.0
"""A window of at least this factor between the two times counts as open."""
PHASES = ("nothing", "signal", "both", "noise", "diverged")
WINDOWS = ("open", "narrow", "none", "censored", "diverged")
_NUMBERS = {
    "signal_time": f"eta t at which <f^|f*> is {LEARNED:.0%} of its value in the fit that is judged, without noise",
    "noise_time": f"eta t at which a share of {LEFT:g} of the squared noise is left on the training points",
    "fit_window": "noise_time over signal_time",
    "predicted_signal_time": f"eta t at which the target's mode is at {LEARNED:.0%} by (1.26); null of several modes",
    "predicted_noise_time": "n ln 2 / T, at which the tail alone has fitted half of the noise; null without a tail",
    "predicted_fit_window": "the second over the first",
    "population_gap": "largest distance, over the recorded times, of <f^|f*>/<f*|f*> from that of (1.26)",
}


class FittingPhases(RowDetector):
    """What of signal and noise is fitted at the end of the curves, and the times of both."""

    name: ClassVar[str] = "fitting_phases"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("linear",)
    needs: ClassVar[tuple[str, ...]] = (
        "status", "eta_t", "aligned", "population", "noise_left", "final_aligned",
        "features", "spectrum", "alpha", "d", "tail", "n", "p", "target", "mode", "end_time",
    )  # fmt: skip
    required = ("status", "eta_t", "aligned", "population", "noise_left")
    outcomes: ClassVar[Mapping[str, Column]] = {
        "phase": Column(
            pa.string(),
            f"what is fitted at the end of the curves: the signal where <f^|f*>/<f*|f*> is at least {LEARNED:g}, the "
            f"noise where at most {LEFT:g} of its squares is left; or it diverged",
            order=PHASES,
            title="phase of fitting",
        ),
        "predicted_phase": Column(
            pa.string(),
            "what is fitted by then by the two predicted times, those of flow without a ridge with more modes than "
            "points; null where one is missing",
            order=PHASES[:4],
            title="phase of fitting by theory",
        ),
        "window_state": Column(
            pa.string(),
            f"open: the noise is half fitted {APART:g} times later than the signal is learned, or more; narrow: later; "
            "none: sooner; censored: one of the times lies outside the curves; diverged",
            order=WINDOWS,
            title="window between signal and noise",
        ),
        **{name: Column(pa.float64(), meaning) for name, meaning in _NUMBERS.items()},
    }
    kinds = drawn_as(outcomes, *("phase", "predicted_phase", "window_state"), *_NUMBERS)

    def outcomes_of(self, row: Row) -> Mapping[str, Any]:
        """The outcomes of one cell."""
        outcomes = predicted(row)
        if row["status"] == "diverged":
            return {**outcomes, "phase": "diverged", "window_state": "diverged"}
        aligned, left = curve(row["aligned"]), curve(row["noise_left"])
        signal, noise = aligned[-1] >= LEARNED, left[-1] <= LEFT
        outcomes["phase"] = phase_of(signal, noise)
        outcomes["population_gap"] = float(np.abs(aligned - curve(row["population"])).max())
        if row["final_aligned"] is None:
            return outcomes
        times = curve(row["eta_t"])
        end = row["final_aligned"]  # 0: no signal is ever learned
        signal_time = crossing(times, aligned / end - LEARNED) if end else float("nan")
        noise_time = crossing(times, LEFT - left)
        window = noise_time / signal_time
        state = "none" if window < 1 else "narrow" if window < APART else "open"
        return {
            **outcomes,
            **known(signal_time=signal_time, noise_time=noise_time, fit_window=window),
            "window_state": state if np.isfinite(window) else "censored",
        }


def phase_of(signal: bool, noise: bool) -> str:
    """The name of what is fitted."""
    return ("both" if noise else "signal") if signal else ("noise" if noise else "nothing")


def crossing(times: Array, above: Array) -> float:
    """The time at which a curve first comes above 0, between recorded times linear in their logarithm; NaN where it
    begins above, or does not come there. Descent may begin at time 0, which has no logarithm and is left out."""
    late = times > 0
    times, above = np.log(times[late]), above[late]
    up = np.flatnonzero(above >= 0)
    if not len(up) or up[0] == 0:
        return float("nan")
    after, before = up[0], up[0] - 1
    share = -above[before] / (above[after] - above[before])
    return float(np.exp(times[before] + share * (times[after] - times[before])))


def predicted(row: Row) -> dict[str, Any]:
    """The times by theory, from parameters alone."""
    if row["features"] == "kernel":
        return {}
    rho = {"power": lambda: float(row["mode"]) ** -row["alpha"], "two_level": lambda: _level(row)}
    one = row["target"] == "mode" and row["spectrum"] in rho
    signal = theory.signal_time(rho[row["spectrum"]]()) if one else None
    noise = theory.noise_time(row["n"], row["tail"]) if row["spectrum"] == "two_level" else None
    times = {"predicted_signal_time": signal, "predicted_noise_time": noise}
    if signal is None or noise is None:
        return known(**times)
    phase = phase_of(row["end_time"] >= signal, row["end_time"] >= noise)
    return known(**times, predicted_fit_window=noise / signal, predicted_phase=phase)


def _level(row: Row) -> float:
    """The intensity of the target's mode in a spectrum of two levels."""
    return 1.0 if row["mode"] <= row["d"] else row["tail"] / (row["p"] - row["d"])
