"""The detectors on synthetic curves whose answers are known, with what they could have seen, and on near misses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from swingby_sweeps.layerwise import theory
from swingby_sweeps.layerwise.detect import times
from swingby_sweeps.layerwise.detect.mode_stages import ModeStages
from swingby_sweeps.layerwise.detect.net_modes import NetModes
from tests.support.cells import detected


def modes_row(E: tuple[float, ...], a0: float, end: float, points: int = 200, **other: Any) -> dict[str, Any]:
    """A row of two equal layers at S = 1, with logistic curves."""
    t = np.append(0, np.geomspace(end / 1000, end, points - 1))
    c = 1 / a0**2 - 1
    r = expit(2 * np.array(E) * t[:, None] - np.log(c))
    row = {
        "cell_id": "x", "status": "ok", "system": "diagonal", "layers": 2, "target": 1.0, "lr": 1.0, "step": t.tolist(),
        "strength": r.tolist(), "moment": list(E), "start_weights": [a0] * (2 * len(E)), "second_moments": None,
        "alpha": None, "start": a0,
    }  # fmt: skip
    return {**row, **other}


def test_logistic_modes_are_read_exactly() -> None:
    """Times and overlaps of logistic curves are exact however far records lie apart, and the theory's own."""
    for points in (12, 200):
        found = detected(ModeStages(), modes_row((1.0, 0.3, 0.1), 1e-2, 200, points))
        assert found["law_error"] < 1e-9
        np.testing.assert_allclose(found["pair_overlaps"], found["predicted_pair_overlaps"], rtol=1e-9)
        assert found["fate"] == "saturated"
        assert found["in_order"]
        assert found["stages"] == found["predicted_stages"] == 2


def test_stages_end_at_the_first_pair_that_overlaps() -> None:
    """The first pair is a stage, the second is not, and the third does not count; a mode out of order is seen."""
    found = detected(ModeStages(), modes_row((1.0, 0.2, 0.15, 0.01), 1e-2, 3000))
    assert np.array(found["pair_overlaps"])[[0, 2]].max() < 0.05 < found["pair_overlaps"][1]
    assert found["stages"] == 1
    assert found["stage_like"]
    swapped = modes_row((1.0, 0.3), 1e-2, 200)
    swapped["strength"] = [pair[::-1] for pair in swapped["strength"]]
    assert detected(ModeStages(), swapped)["in_order"] is False


def test_what_lies_beyond_the_run_is_null() -> None:
    """A mode that has not come has no times; its pair has no overlap, and how many stages there are is not known."""
    found = detected(ModeStages(), modes_row((1.0, 0.5, 0.01, 0.005), 1e-2, 30))
    assert found["fate"] == "unfinished"
    assert found["half_time"][2:] == [None, None]
    assert found["predicted_half_time"][2] == pytest.approx(np.log(9999) / 0.02)
    assert found["pair_overlaps"][2] is None
    assert found["stages"] is None
    assert found["in_order"] is None
    assert detected(ModeStages(), modes_row((1.0, 0.5), 1e-2, 1))["fate"] == "waiting"
    gone = detected(ModeStages(), modes_row((1.0, 0.5), 1e-2, 1, status="diverged"))
    assert gone["fate"] == "diverged"
    assert gone["half_time"] is None


def test_overlaps_between_coarse_records() -> None:
    """Of modes that are not logistic an overlap is told to 0.01, or not at all where records lie too far apart."""
    told_at = []
    for points in (20, 60, 200, 400):
        t = np.append(0, np.geomspace(1, 1000, points - 1))
        r1, r2 = (1 - (1 - expit(rate * t - 8)) ** 2 for rate in (0.3, 0.2))
        fine = np.linspace(1, 60, 600_001)
        one, two = (1 - (1 - expit(rate * fine - 8)) ** 2 for rate in (0.3, 0.2))
        exact = two[np.argmax(one + two >= 1)]
        found = times.overlap(r1, r2, logistic=False)
        assert np.isnan(found) or abs(found - exact) < 0.01
        told_at.append(bool(np.isfinite(found)))
    assert told_at == sorted(told_at)
    assert told_at[-1]
    assert not told_at[0]


@pytest.mark.parametrize("points", [30, 60, 200])
def test_how_exact_times_of_other_curves_are(points: int) -> None:
    """Of curves that are not logistic, an exponential and a sharper one, times are read to the share said here."""
    t = np.append(0, np.geomspace(0.1, 100, points - 1))
    for r, inverse in (
        (1 - np.exp(-0.1 * t), lambda level: -10 * np.log(1 - level)),
        (expit(0.3 * t - 8) ** 2, lambda level: (8 - np.log(level**-0.5 - 1)) / 0.3),
    ):
        for level in (0.05, 0.5, 0.95):
            bound = {30: 0.01, 60: 2e-3, 200: 2e-4}[points]
            assert times.passing(t, r, level) == pytest.approx(inverse(level), rel=bound)


def net_row(times_at: tuple[float, ...], end: float, **other: Any) -> dict[str, Any]:
    """A row of a white net of p = 3 units whose modes are half learned at these times, as the law says."""
    rho = np.array([3.0, 2.0, 1.0])[: len(times_at)]
    t = np.linspace(0, end, 400)
    r = expit(2 * rho * (t[:, None] - np.array(times_at)))
    alignment = np.sqrt(rho / (1 + np.exp(2 * rho * np.array(times_at))))
    row = {
        "cell_id": "x", "status": "ok", "width": 3, "d": 8, "rho": rho.tolist(), "input_spectrum": 1.0,
        "init": "normal", "imbalance": 0.0, "training_steps": 1, "lr": 1.0, "step": t.tolist(), "strength": r.tolist(),
        "effective_rank": [0.0, 3.0], "kernel_distance": [0.0, 0.4], "alignment": alignment.tolist(),
        "alignment_alone": (1.1 * alignment).tolist(),
    }  # fmt: skip
    return {**row, **other}


def test_nets_are_told_apart() -> None:
    """Learned in order; out of order; too narrow; stalled where theory has a time that passed; unfinished before it."""
    found = detected(NetModes(), net_row((2.0, 3.0, 6.0), 30))
    assert (found["fate"], found["rank"], found["order_follows_rho"]) == ("learned", 3, True)
    assert found["law_error"] < 1e-6
    assert found["decoupling_error"] > 0.01
    assert detected(NetModes(), net_row((4.0, 3.0, 6.0), 30))["order_follows_rho"] is False
    late = net_row((2.0, 3.0, 6.0), 5)
    assert detected(NetModes(), late)["fate"] == "unfinished"
    lost = {"strength": [[a, b, 0.0] for a, b, _ in net_row((2.0, 3.0, 6.0), 30)["strength"]]}
    stalled = detected(NetModes(), net_row((2.0, 3.0, 6.0), 30, **lost))
    assert (stalled["fate"], stalled["law_error"]) == ("stalled", np.inf)
    narrow = detected(NetModes(), net_row((2.0, 3.0, 6.0), 30, **lost, width=2, alignment=[0.01, 0.01, 0.0]))
    assert (narrow["fate"], narrow["structural"], narrow["order_follows_rho"]) == ("structural", True, True)
    assert narrow["law_time"][2] == np.inf


def test_theory_is_silent_where_it_has_no_word() -> None:
    """No law on coloured inputs, and with an imbalance the end of the kernel instead."""
    coloured = detected(NetModes(), net_row((2.0, 3.0, 6.0), 30, input_spectrum=0.5))
    assert coloured["law_time"] is coloured["law_error"] is coloured["decoupling_error"] is None
    kernel = detected(NetModes(), net_row((2.0, 3.0, 6.0), 30, init="lambda", imbalance=2.0))
    assert kernel["law_time"] is None
    assert 0 < kernel["predicted_kernel_distance"] < 1


def closed_row(layers: int, points: int, **other: Any) -> dict[str, Any]:
    """A row of two modes of any number of equal layers, at S = 1, recorded in even ratios of times."""
    E, a0 = np.array([1.0, 0.3]), 0.02
    t = np.append(0, np.geomspace(1, 1e5, points - 1))
    curves = {
        1: lambda e: theory.linear(t, e, 1.0, a0),
        2: lambda e: theory.two_layers(t, e, 1.0, a0, a0),
    }
    r = np.array([curves.get(layers, lambda e: theory.deep(t, e, 1.0, a0, layers))(e) for e in E]).T
    return modes_row(
        (1.0, 0.3),
        a0,
        1,
        layers=layers,
        step=t.tolist(),
        strength=r.tolist(),
        start_weights=[a0] * (2 * layers),
        **other,
    )


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
@pytest.mark.parametrize("points", [40, 300])
def test_no_spacing_of_records_is_taken_for_an_error_of_theory(layers: int, points: int) -> None:
    """Of runs that are the closed form, times agree with it to 1e-5 at any spacing of records, or are not compared."""
    found = detected(ModeStages(), closed_row(layers, points))
    assert found["law_error"] is None or found["law_error"] < 1e-5
    assert (found["law_error"] is None) <= (layers > 2 or points == 40)
    assert None not in found["half_time"]
    for measured, predicted in zip(found["saturation_time"], found["predicted_saturation_time"], strict=True):
        assert measured is None or measured == pytest.approx(predicted, rel=1e-4)


def test_equal_moments_have_no_order() -> None:
    """Of modes of equal second moments none comes first: neither a tie nor the noise of a start tells an order."""
    for E in ((1.0, 1.0, 1.0), (1.0, 0.3, 0.3)):
        assert detected(ModeStages(), modes_row(E, 1e-2, 200))["in_order"] is None
    assert detected(ModeStages(), modes_row((1.0, 0.3), 1e-2, 200))["in_order"] is True
