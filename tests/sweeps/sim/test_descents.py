"""What the detector says of curves whose truth is known, and that it agrees with a slow reading of the definitions."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from swingby.errors import SwingbyError
from swingby.model.cell import philox
from swingby_analysis.signals import kernels
from swingby_analysis.signals.calibration import bumpy, monotone, noise_of
from swingby_analysis.signals.extrema import zigzag
from swingby_sweeps.sim.detect.descents import TWINS, Descents

Row = dict[str, Any]
DETECTOR = Descents()
TYPES = {
    "sigma": pa.list_(pa.float64()), "mu": pa.list_(pa.float64()), "a": pa.list_(pa.float64()),
    "step": pa.list_(pa.int64()), "ood_loss": pa.list_(pa.float64()), "train_loss": pa.list_(pa.float64()),
    "output": pa.list_(pa.list_(pa.float64())), "jacobian": pa.list_(pa.list_(pa.float64())),
    "hierarchy_loss": pa.list_(pa.list_(pa.float64())), "status": pa.string(), "model": pa.string(),
    **{f"{twin}_{loss}": pa.list_(pa.float64()) for twin in TWINS for loss in ("ood_loss", "train_loss")},
    **{f"{twin}_output": pa.list_(pa.list_(pa.float64())) for twin in TWINS},
    "drive": pa.string(), "sigma_is": pa.string(), "dtype": pa.string(), "zero_cluster": pa.bool_(), "bias": pa.bool_(),
}  # fmt: skip


def table(rows: list[Row]) -> pa.Table:
    """Rows as the store hands them over: every column the detector reads, absent values null."""
    columns = {
        name: pa.array([row.get(name) for row in rows], TYPES.get(name, pa.float64())) for name in DETECTOR.needs
    }
    return pa.table({"cell_id": pa.array([row["cell_id"] for row in rows], pa.string()), **columns})


def detect(rows: list[Row]) -> list[Row]:
    """The detector's rows."""
    return DETECTOR.detect(table(rows)).to_pylist()


def run(output: np.ndarray, mu: tuple[float, ...] = (1.0, 2.0), train: np.ndarray | None = None, **other: Any) -> Row:
    """A run whose output at the test point is given, (T, s), with the loss that follows from it."""
    loss = 0.5 * ((output - np.array(mu)) ** 2).sum(axis=1)
    row: Row = {
        "cell_id": "0" * 32, "status": "ok", "model": "linear", "drive": "flow", "mu": list(mu),
        "sigma": [0.05] * len(mu), "sigma_is": "sd", "zero_cluster": False, "bias": False, "dtype": "float64",
        "time_per_step": 0.1, "narrowest": 64.0, "layers": 2.0,
        "step": list(range(len(output))), "ood_loss": loss.tolist(), "output": output.tolist(),
        "train_loss": (0.1 * np.linspace(1, 0, len(output)) if train is None else train).tolist(),
    }  # fmt: skip
    return {**row, **other}


def path(*corners: tuple[float, ...], points: int = 40) -> np.ndarray:
    """Outputs along straight lines through the corners, `points` records a line."""
    lines = [np.linspace(a, b, points, endpoint=False) for a, b in pairwise(corners)]
    return np.concatenate([*lines, np.array([corners[-1]])])


# the swing-by: starts at 0, moves toward (1, 2), bends back toward the cluster at (0, 2), and arrives
SWING = path((0.0, 0.0), (0.7, 1.6), (0.1, 2.0), (1.0, 2.0))


# a slow reading of the definitions, one curve at a time


def slow_zigzag(values: list[float], scale: list[float], floor: float) -> list[tuple[int, int]]:
    """Turning points (place, +1 peak or -1 trough): walk along, turn when far enough beyond the extreme so far."""
    found, way, low, high = [], 0, 0, 0
    for t in range(1, len(values)):
        up = values[t] - values[low] > max(floor, scale[low], scale[t]) and way <= 0
        down = values[high] - values[t] > max(floor, scale[high], scale[t]) and way >= 0
        if up:
            found.append((low, -1))
            way, high = 1, t
        elif down:
            found.append((high, 1))
            way, low = -1, t
        if values[t] < values[low]:
            low = t
        if values[t] > values[high]:
            high = t
    if way:
        found.append((high, 1) if way > 0 else (low, -1))
    return found


def slow_sd(values: list[float], steps: list[float]) -> list[float]:
    """1.4826 x the running median of |residual from the line through both neighbours|, normalised."""
    n, residuals = len(values), []
    if n < 3:
        return [0.0] * n
    for t in range(1, n - 1):
        weight = (steps[t + 1] - steps[t]) / (steps[t + 1] - steps[t - 1])
        line = weight * values[t - 1] + (1 - weight) * values[t + 1]
        residuals.append(abs(values[t] - line) / math.sqrt(1 + weight**2 + (1 - weight) ** 2))
    sds = []
    for t in range(n):
        centre = min(max(t - 1, 15), len(residuals) - 16)
        window = residuals if len(residuals) <= 31 else residuals[centre - 15 : centre + 16]
        sds.append(1.4826 * median(window))
    return sds


def slow_monotone(values: list[float]) -> tuple[list[float], list[int]]:
    """The falling least-squares fit, and how many records share each value: pools that rise are merged."""
    pools = [[x] for x in values]
    while rising := [
        i for i in range(len(pools) - 1) if sum(pools[i]) / len(pools[i]) <= sum(pools[i + 1]) / len(pools[i + 1])
    ]:
        i = rising[0]
        pools[i : i + 2] = [pools[i] + pools[i + 1]]
    fit = [sum(part) / len(part) for part in pools for _ in part]
    return fit, [len(part) for part in pools for _ in part]


def slow_slowness(curve: list[float], sd: list[float], alive: list[bool]) -> tuple[float, int]:
    """What a fall, the largest rise and a fall leave, over sd: root mean square, and of how many records."""
    best, start, peak = 0.0, 0, 0
    for t in range(len(curve)):
        low = min(range(t + 1), key=lambda i: (curve[i], i))
        local = max(sd[low], sd[t])
        if local > 0 and (curve[t] - curve[low]) / local > best:
            best, start, peak = (curve[t] - curve[low]) / local, low, t
    squares = []
    for first, stop, sign in ((0, start, 1), (start, peak, -1), (peak, len(curve), 1)):
        part = [sign * x for x in curve[first:stop]]
        fit, size = slow_monotone(part)
        squares += [
            ((y - f) / sd[first + i]) ** 2
            for i, (y, f, n) in enumerate(zip(part, fit, size, strict=True))
            if alive[first + i] and n >= 3 and sd[first + i] > 0
        ]
    return (math.sqrt(sum(squares) / len(squares)) if squares else 0.0), len(squares)


def slow_blocks(times: int) -> list[list[int]]:
    """The records of each block: single ones up to 300 records, else single ones and then ever longer blocks."""
    if times <= 300:
        return [[t] for t in range(times)]
    dense = min(m for m in range(2, 200) if m * math.expm1(math.log(times / m) / (200 - m)) >= 1)
    tail = [round(dense * (times / dense) ** (i / (200 - dense))) for i in range(200 - dense)]
    starts = sorted({*range(dense), *tail})
    return [list(range(a, b)) for a, b in pairwise([*starts, times])]


def mean(values: list[float], places: list[int]) -> float:
    return sum(values[p] for p in places) / len(places)


def smooth(values: list[float]) -> list[float]:
    """Running median over five; at the ends over as many on each side as there are."""
    n = len(values)
    return [median(values[t - min(2, t, n - 1 - t) : t + min(2, t, n - 1 - t) + 1]) for t in range(n)]


def slow_bumps(loss: list[float], scale: list[float]) -> tuple[int, list[tuple[int, int]]]:
    """Number of drops, and (trough, peak) of every rise with a drop on either side."""
    turns = slow_zigzag(loss, scale, 0.01)
    drops = sum(1 for first, _ in pairwise(turns) if first[1] > 0)
    rises = [
        (turns[i][0], turns[i + 1][0])
        for i in range(1, len(turns) - 2)
        if turns[i][1] < 0
    ]  # fmt: skip
    return drops, rises


def slow_read(values: list[float], steps: list[float], least: float) -> tuple[list[float], list[float], Row]:
    """The curve as it is read, its threshold at every place, and what else is told of its noise."""
    blocks = slow_blocks(len(values))
    coarse, coarse_steps = [mean(values, b) for b in blocks], [mean(steps, b) for b in blocks]
    sd = slow_sd(coarse, coarse_steps)
    alive = [s > 0.1 * max(sd) and x > least for s, x in zip(sd, coarse, strict=True)]
    curve = coarse if len(coarse) < 32 else smooth(coarse)
    factor = 20.0
    if len(coarse) >= 32:
        slowness, telling = slow_slowness(curve, sd, alive)
        factor = 10.0 if telling < 10 else min(max(12 * slowness, 5.0), 20.0)
    living = [s for s, a in zip(sd, alive, strict=True) if a]
    told = {"noise_sd": median(living) if living else 0.0, "tau": max([0.01, *(factor * s for s in living)])}
    return curve, [factor * s for s in sd], told


def slow_detect(row: Row) -> Row:
    """Everything about bumps, retreat and order of one run, from the definitions."""
    mu, steps = row["mu"], [float(s) for s in row["step"]]
    l_ref = sum(m * m for m in mu) / 2
    usable = 0
    while (
        usable < len(steps)
        and math.isfinite(row["ood_loss"][usable])
        and math.isfinite(row["train_loss"][usable])
        and row["ood_loss"][usable] <= 1e6 * l_ref
    ):
        usable += 1
    diverged = row["status"] == "diverged" or usable < len(steps)
    steps = steps[:usable]
    loss = [x / l_ref for x in row["ood_loss"][:usable]]
    train = [x / l_ref for x in row["train_loss"][:usable]]
    output = row["output"][:usable]
    centres = [[m if i == p else 0.0 for i, m in enumerate(mu)] for p in range(len(mu))]
    if row["zero_cluster"]:
        centres.append([0.0] * len(mu))
    distance = [min(math.dist(f, c) for c in centres) for f in output]
    noisy, zero = row["drive"] == "sgd", [0.0] * usable
    fine = slow_zigzag(loss, zero, 0.001)
    blocks, scale, train_scale, told = [[t] for t in range(usable)], zero, zero, {"noise_sd": 0.0, "tau": 0.01}
    if noisy:
        blocks = slow_blocks(usable)
        loss, scale, told = slow_read(loss, steps, 0.01)
        train, train_scale, _ = slow_read(train, steps, 0.01)
        distance = smooth([distance[(b[0] + b[-1]) // 2] for b in blocks])
    drops, rises = slow_bumps(loss, scale)
    a = [x * x + m * m / len(centres) for x, m in zip(row["sigma"], mu, strict=True)]
    step_by_curvature = row["time_per_step"] * 2 * max(a)  # of two layers
    transient = any(
        distance[peak] < distance[low]
        and max(train[j] - min(train[low : j + 1]) for j in range(low, peak + 1))
        <= max(0.01, *train_scale[low : peak + 1])
        and steps[(blocks[peak][0] + blocks[peak][-1]) // 2] - steps[(blocks[low][0] + blocks[low][-1]) // 2] >= 5
        for low, peak in rises
    )  # fmt: skip
    result: Row = {
        **told,
        "descents": drops,
        "descents_fine": None if noisy else sum(a > 0 > b for (_, a), (_, b) in pairwise(fine)),
        "non_monotone": drops >= 2,
        "transient_memorization": drops >= 2 and transient and step_by_curvature < 2,
        "bump_height": 0.0,
        "bump_start": None,
        "bump_peak": None,
        "bump_end": None,
    }
    if rises:
        low, peak = max(rises, key=lambda rise: loss[rise[1]] - loss[rise[0]])
        back = [t for t in range(peak + 1, len(loss)) if loss[t] <= loss[low]]
        end = back[0] if back else min(range(peak + 1, len(loss)), key=lambda t: loss[t])
        start, top, finish = (int(steps[(blocks[t][0] + blocks[t][-1]) // 2]) for t in (low, peak, end))
        result |= {"bump_height": loss[peak] - loss[low], "bump_start": start, "bump_peak": top, "bump_end": finish}
    result["retreat"] = any(slow_retreat([f[k] / mu[k] for f in output], steps, noisy) for k in range(len(mu)))
    t90 = [math.inf if diverged else slow_t90([f[k] / mu[k] for f in output], steps) for k in range(len(mu))]
    return result | {"t90": t90, "learning_order": sorted(range(len(mu)), key=lambda k: t90[k])}


def slow_retreat(r: list[float], steps: list[float], noisy: bool) -> bool:
    scale = [0.0] * len(r)
    # The noise is only measured where r retreats by 0.02 as recorded.
    if noisy and not slow_retreat(r, steps, False):
        return False
    if noisy:
        fallen, scale, _ = slow_read([-x for x in r], steps, -math.inf)
        r = [-x for x in fallen]
    turns = slow_zigzag(r, scale, 0.02)
    return any(
        turns[i][1] > 0 and max(r[turns[i + 1][0] :]) > r[turns[i][0]]
        for i in range(1, len(turns) - 1)
    )  # fmt: skip


def slow_t90(r: list[float], steps: list[float]) -> float:
    place = len(r)
    while place and r[place - 1] >= 0.9:
        place -= 1
    return steps[place] if place < len(r) else math.inf


def random_runs(count: int) -> list[Row]:
    """Runs of every sort: exact and noisy, evenly and log-spaced, short and long, cut, with and without a bump."""
    rng, rows = philox("tests", "random runs"), []
    for i in range(count):
        times = int(rng.choice([1, 2, 3, 5, 20, 40, 120, 200] if i % 20 else [430]))
        noisy, concepts = bool(rng.random() < 0.6), int(rng.integers(1, 4))
        mu = tuple(float(m) for m in rng.uniform(0.5, 3, concepts))
        corners = np.cumsum(rng.normal(0.3, 0.5, (6, concepts)), axis=0)
        if rng.random() < 0.5:  # a swing-by: toward the answer, to a centre, to the answer
            corners[0], corners[1], corners[2], corners[3] = 0, rng.uniform(0.6, 0.9), np.eye(concepts)[-1], 1
        corners = corners * np.array(mu)
        output = np.stack([np.interp(np.linspace(0, 5, times), np.arange(6), c) for c in corners.T], axis=1)
        output = output + noisy * 10 ** rng.uniform(-4, -1.5) * rng.standard_normal(output.shape)
        step = np.unique(np.geomspace(1, 5000, times).round() if rng.random() < 0.5 else np.arange(times))
        output = output[: len(step)]
        train = np.abs(rng.normal(0.1, 0.02)) * np.linspace(1, rng.uniform(0, 1.5), len(step))
        row = run(
            output, mu, train, cell_id=f"{i:032x}", drive="sgd" if noisy else "gd", step=step.astype(int).tolist()
        )
        if rng.random() < 0.1 and len(step) > 4:
            row["ood_loss"][-2:] = [1e9, math.nan]
            row["status"] = "diverged"
        if i % 23 == 0:  # a plateau from some record on
            row["ood_loss"] = row["ood_loss"][: len(step) // 2 + 1] + [row["ood_loss"][len(step) // 2]] * (
                len(step) - len(step) // 2 - 1
            )
        if i % 37 == 0 and len(step) > 4:  # not a number, on the way
            row["train_loss"][int(rng.integers(1, len(step)))] = math.nan
        row["zero_cluster"] = bool(rng.random() < 0.5)
        rows.append(row)
    return rows


@pytest.mark.parametrize("count", [400, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_detector_agrees_with_a_slow_reading_of_the_definitions(count: int) -> None:
    """On hundreds of random runs, in one table, every count, step and verdict is that of plain loops over one curve."""
    rows = random_runs(count)
    found = detect(rows)
    slow = [slow_detect(row) for row in rows]
    assert 0.1 * count < sum(item["non_monotone"] for item in slow) < 0.9 * count
    assert sum(item["transient_memorization"] for item in slow) > 0.05 * count
    assert sum(item["retreat"] for item in slow) > 0.05 * count
    for row, got, expected in zip(rows, found, slow, strict=True):
        assert got["cell_id"] == row["cell_id"]
        assert {k: got[k] for k in expected} == {
            k: pytest.approx(v, rel=1e-9, abs=1e-12) if isinstance(v, float) else v for k, v in expected.items()
        }, row["cell_id"]


def test_a_cell_is_told_of_by_itself() -> None:
    """In a table of 600 with other grids, lengths and ends, alone, or in another order: the same to the last bit."""
    rows = random_runs(600)
    found = detect(rows)
    assert detect(rows[::-1])[::-1] == found
    assert [detect([row])[0] for row in rows[::20]] == found[::20]


@given(st.integers(0, 10_000), st.sampled_from([(31, 31), (31, 32), (61, 200), (1, 5), (3, 40)]))
@settings(max_examples=25, deadline=None)
def test_the_running_median_is_that_of_the_sorted_window(seed: int, shape: tuple[int, int]) -> None:
    """Ties included, for every row by itself; the ends repeat the outermost whole window."""
    window, count = shape
    values = np.random.default_rng(seed).integers(0, 9, (3, count)) / 4
    found = kernels.running_median(values, np.argsort(values, axis=1), window, 2, 1.5)
    half = window // 2
    for row, medians in zip(values, found, strict=True):
        whole = [1.5 * median(row[t - half : t + half + 1]) for t in range(half, count - half)]
        assert medians.tolist() == [whole[0]] * (half + 2) + whole + [whole[-1]] * (half + 2)


@pytest.mark.parametrize("count", [1, 7, 8, 127, 128, 129, 300, 4721])
def test_sums_are_taken_in_the_order_of_numpy(count: int) -> None:
    """To the last bit, so that a rate that was told once stays what it was."""
    values = philox("tests", "sums").standard_normal(count) * 10.0 ** philox("tests", "powers").uniform(-3, 3, count)
    assert kernels.pairwise(values) == values.sum()


# laws of the zig-zag

curves = st.lists(st.integers(-40, 40), min_size=1, max_size=40)


def turns(values: list[float], floor: float, scale: list[float] | None = None) -> list[tuple[int, int]]:
    found = zigzag(np.array([values], float), np.array([scale or [0.0] * len(values)]), np.array([floor]))
    return list(zip(found.at.tolist(), found.sign.tolist(), strict=True))


@given(curves, st.integers(0, 30), st.integers(-1000, 1000), st.sampled_from([0.25, 2.0, 1024.0]))
def test_shifting_and_scaling_leave_the_turns_where_they_are(
    values: list[int], tau: int, shift: int, scale: float
) -> None:
    """Turns of scale x (curve + shift) at scale x tau are the turns of the curve at tau."""
    moved = [scale * (v + shift) for v in values]
    assert turns(moved, scale * tau) == turns([float(v) for v in values], tau)


@given(curves, st.integers(1, 30), st.integers(0, 10))
def test_a_plateau_at_the_end_changes_nothing(values: list[int], tau: int, more: int) -> None:
    """Holding the last value does not move, add or remove a turn."""
    floats = [float(v) for v in values]
    assert turns([*floats, *[floats[-1]] * more], tau) == turns(floats, tau)


@given(curves, st.integers(0, 30))
def test_upside_down_peaks_are_troughs(values: list[int], tau: int) -> None:
    """The mirrored curve turns at the same places, the other way."""
    mirrored = turns([float(-v) for v in values], tau)
    assert mirrored == [(at, -sign) for at, sign in turns([float(v) for v in values], tau)]


@given(curves, st.integers(0, 30))
def test_backwards_there_are_as_many_turns(values: list[int], tau: int) -> None:
    """Whether a curve moves by more than tau does not depend on the way in which it is read."""
    assert len(turns([float(v) for v in reversed(values)], tau)) == len(turns([float(v) for v in values], tau))


@given(curves, st.integers(0, 30))
def test_turns_alternate_and_lie_further_apart_than_tau(values: list[int], tau: int) -> None:
    """Neighbouring turns differ in sign and by more than tau, and no move between them exceeds tau the other way."""
    found = turns([float(v) for v in values], tau)
    for (a, up), (b, down) in pairwise(found):
        assert up == -down
        assert a < b
        assert (values[a] - values[b]) * up > tau
        between = values[a : b + 1]
        backwards = max((between[j] - between[i]) * up for i in range(len(between)) for j in range(i, len(between)))
        assert backwards <= tau


@given(curves, st.integers(0, 20), st.data())
def test_the_zigzag_is_the_walk(values: list[int], tau: int, data: st.DataObject) -> None:
    """With a threshold of its own at every place, the vectorised zig-zag is the walk along one curve."""
    scale = data.draw(st.lists(st.integers(0, 40), min_size=len(values), max_size=len(values)))
    floats, scales = [float(v) for v in values], [float(s) for s in scale]
    assert turns(floats, tau, scales) == slow_zigzag(floats, scales, tau)


# laws of the detector


def changed(row: Row, **values: Any) -> Row:
    return {**row, **values}


def comparable(row: Row, without: tuple[str, ...] = ()) -> Row:
    def rounded(value: Any) -> Any:
        if isinstance(value, list):
            return [rounded(v) for v in value]
        return float(f"{value:.9g}") if isinstance(value, float) else value

    return {name: rounded(value) for name, value in row.items() if name not in ("cell_id", *without)}


def test_a_swing_by_is_transient_memorization() -> None:
    """The loss falls, rises and falls while the output bends to a centre, concept 1 rises, falls, and rises beyond."""
    (found,) = detect([run(SWING)])
    assert (found["descents"], found["non_monotone"], found["transient_memorization"]) == (2, True, True)
    assert found["retreat"] is True
    loss = 0.5 * ((SWING - np.array([1, 2])) ** 2).sum(axis=1) / 2.5
    assert found["bump_peak"] == 80
    assert found["bump_start"] == int(loss[:80].argmin())
    assert loss[found["bump_end"]] <= loss[found["bump_start"]] < loss[found["bump_end"] - 1]
    assert found["bump_height"] == pytest.approx(loss[80] - loss[:80].min())
    assert found["outcome"] == "generalized"


def test_a_bump_of_a_step_too_large_is_not_transient_memorization() -> None:
    """The same output with a training loss that rises over the bump is non-monotone and nothing more."""
    train = 0.1 + 0.5 * np.exp(-(((np.arange(len(SWING)) - 80) / 20) ** 2))
    (found,) = detect([run(SWING, train=train)])
    assert (found["non_monotone"], found["transient_memorization"]) == (True, False)


def test_a_bump_away_from_every_centre_is_not_transient_memorization() -> None:
    """The loss falls, rises and falls while the output swings out beyond the answer, away from the clusters."""
    (found,) = detect([run(path((0.0, 0.0), (0.9, 1.9), (1.6, 2.6), (1.0, 2.0)))])
    assert (found["non_monotone"], found["transient_memorization"]) == (True, False)


def test_the_cluster_at_the_origin_counts_only_where_there_is_one() -> None:
    """A swing back toward the origin nears a training centre only where a cluster sits there."""
    back = path((0.0, 0.0), (0.55, 1.2), (0.01, 0.55), (1.0, 2.0))
    with_origin, without = detect([run(back, zero_cluster=True), run(back, zero_cluster=False)])
    assert with_origin["transient_memorization"]
    assert without["non_monotone"]
    assert not without["transient_memorization"]


def test_what_counts_begins_at_its_threshold() -> None:
    """A bump at 1 % of L_ref, a fine one at 0.1 %, a retreat at a fall of 0.02 in r_k; a twentieth below, none does."""

    def bump(height: float) -> Row:
        loss = 2.5 * np.interp(np.arange(41), [0, 10, 20, 40], [1, 0.5, 0.5 + height, 0])
        return run(np.zeros((41, 2)), ood_loss=loss.tolist())

    def retreat(fall: float) -> Row:
        return run(path((0.0, 0.0), (0.5, 2.0), (0.5 - fall, 2.0), (1.0, 2.0)))

    below, above = 0.95, 1.05
    assert [row["descents"] for row in detect([bump(0.01 * below), bump(0.01 * above)])] == [1, 2]
    assert [row["descents_fine"] for row in detect([bump(0.001 * below), bump(0.001 * above)])] == [1, 2]
    assert [row["retreat"] for row in detect([retreat(0.02 * below), retreat(0.02 * above)])] == [False, True]


def test_a_rise_that_no_fall_follows_is_no_bump() -> None:
    """A loss that falls and then rises for good has one descent and no height."""
    (found,) = detect([run(path((0.0, 0.0), (0.9, 1.8), (0.0, 2.0)))])
    assert (found["descents"], found["non_monotone"], found["bump_height"]) == (1, False, 0.0)
    assert found["bump_start"] is None


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from([0.5, 4.0]))
def test_scaling_the_problem_changes_nothing(seed: int, scale: float) -> None:
    """Lengths times c, and so losses and L_ref times c^2, leave every outcome as it is, noise included."""
    rng = np.random.default_rng(seed)
    output = SWING + 0.01 * rng.standard_normal(SWING.shape)
    small = run(output, drive="sgd")
    large = run(scale * output, (scale, 2 * scale), scale**2 * np.array(small["train_loss"]), drive="sgd")
    large["a"] = small["a"] = [1.0, 2.0]
    first, second = detect([small, large])
    assert comparable(first) == comparable(second)


def test_more_of_the_same_at_the_end_changes_nothing() -> None:
    """A noiseless run that holds its last state for longer has the same outcomes."""
    longer = np.concatenate([SWING, np.repeat(SWING[-1:], 50, axis=0)])
    train = np.append(0.1 * np.linspace(1, 0, len(SWING)), np.zeros(50))
    first, second = detect([run(SWING), run(longer, train=train)])
    assert comparable(first) == comparable(second)


def test_chunked_and_sliced_tables_read_alike() -> None:
    """How Arrow holds the table, in chunks or as a slice, is irrelevant."""
    rows = random_runs(12)
    whole = DETECTOR.detect(table(rows))
    chunked = pa.concat_tables([table(rows[:5]), table(rows[5:])])
    assert DETECTOR.detect(chunked).equals(whole)
    assert DETECTOR.detect(table(rows).slice(3, 6)).equals(whole.slice(3, 6).combine_chunks())


def test_runs_without_a_result_have_no_outcome() -> None:
    """Rows that failed or are running come back with nulls alone."""
    failed, running = run(SWING, status="failed"), run(SWING[:10], status="running")
    failed |= {"step": None, "ood_loss": None, "train_loss": None, "output": None}
    for found in detect([failed, running]):
        assert {value for name, value in found.items() if name != "cell_id"} == {None}


def test_what_was_not_recorded_is_not_told() -> None:
    """Without output, what hangs on it is null, and what hangs on the loss alone is told."""
    (found,) = detect([changed(run(SWING), output=None)])
    assert found["non_monotone"] is True
    assert {found[n] for n in ("transient_memorization", "retreat", "t90", "learning_order", "order_follows_a")} == {
        None
    }


@pytest.mark.parametrize("name", ["ood_loss", "train_loss", "output"])
def test_curves_that_do_not_fit_are_named(name: str) -> None:
    """A curve shorter than its steps is a fault that names the cell and the curve."""
    row = run(SWING, cell_id="f" * 32)
    row[name] = row[name][:-1]
    with pytest.raises(SwingbyError, match=f"{'f' * 32}.*{name}|{name}.*{'f' * 32}"):
        detect([run(SWING), row])


# outcome

STUCK = path((0.0, 0.0), (0.0, 2.0))
STILL = {"gradient_norm": 1e-9, "growth_rate": -0.1}


@pytest.mark.parametrize(
    ("row", "outcome", "certain"),
    [
        (run(SWING), "generalized", True),
        (run(STUCK), "plateau", False),
        (changed(run(STUCK), **STILL), "failed", True),
        (changed(run(STUCK), **(STILL | {"growth_rate": 0.1})), "plateau", True),
        (changed(run(STUCK), **(STILL | {"gradient_norm": 0.1})), "plateau", True),
        (run(STUCK, gradient_norm=0.1), "plateau", True),
        (run(STUCK, gradient_norm=1e-9), "plateau", False),
        (changed(run(STUCK), **STILL, narrowest=1.0), "structural", True),
        (changed(run(STUCK), **STILL, model="relu", narrowest=1.0), "failed", True),
        (changed(run(STUCK), **STILL, model="symmetric"), "failed", False),
        (changed(run(STUCK), **STILL, model="symmetric", rank0=2.0), "failed", True),
        (changed(run(STUCK), **STILL, model="symmetric", rank0=1.0), "structural", True),
        (run(SWING, model="w_recurrence", smallest_eigenvalue=-1e-8, trace=1.0), "artefact", True),
        (run(SWING, model="w_recurrence", smallest_eigenvalue=-1e-8, trace=1.0, dtype="float32"), "generalized", True),
        (run(SWING, model="w_recurrence"), "generalized", False),
        (run(SWING, model="symmetric", smallest_eigenvalue=-1e-8, trace=1.0), "generalized", True),
        (run(SWING, status="diverged"), "diverged", True),
        (run(STUCK, ood_loss=[1.0] * (len(STUCK) - 1) + [math.inf]), "diverged", True),
        (run(STUCK, ood_loss=[1.0] * (len(STUCK) - 1) + [2.5e6 * 1.01]), "diverged", True),
        (run(STUCK, ood_loss=[1.0] * (len(STUCK) - 1) + [2.5e6 * 0.99]), "plateau", False),
        (run(STUCK, ood_loss=[math.nan] * len(STUCK)), "diverged", True),
    ],
)
def test_the_outcome_is_the_first_that_applies(row: Row, outcome: str, certain: bool) -> None:
    """diverged, artefact, structural, generalized, failed, plateau; certain where the run recorded what it takes."""
    (found,) = detect([row])
    assert (found["outcome"], found["certain"]) == (outcome, certain)


def ended_at(share: float) -> Row:
    """A run whose last OOD loss is this share of L_ref."""
    return run(STUCK, ood_loss=[1.0] * (len(STUCK) - 1) + [2.5 * share])


@pytest.mark.parametrize("single", [False, True])
def test_outcomes_change_at_their_thresholds(single: bool) -> None:
    """1 % of L_ref; a gradient of 1e-6 L_ref (1e-4 in float32), a growth rate of 1e-6 a_max; -1e-9 (-1e-5) of trace W.

    A twentieth to either side of each tells the two outcomes apart.
    """
    dtype, still, negative = ("float32", 1e-4, -1e-5) if single else ("float64", 1e-6, -1e-9)
    recurrence = {"model": "w_recurrence", "trace": 3.0}
    pairs = {
        ("generalized", "plateau"): lambda by: ended_at(0.01 * by),
        ("failed", "plateau"): lambda by: run(STUCK, gradient_norm=still * 2.5 * by, growth_rate=-0.1),
        ("failed", "plateau", "rate"): lambda by: run(STUCK, gradient_norm=0.0, a=[0.5, 4.0], growth_rate=4e-6 * by),
        ("generalized", "artefact"): lambda by: run(SWING, **recurrence, smallest_eigenvalue=3 * negative * by),
    }
    for (within, beyond, *_), made in pairs.items():
        rows = [changed(made(by), dtype=dtype) for by in (0.95, 1.05)]
        assert [row["outcome"] for row in detect(rows)] == [within, beyond]


def test_after_divergence_nothing_is_read() -> None:
    """A run that leaves its bounds is read up to there, and has learned nothing in the end."""
    loss = run(SWING)["ood_loss"]
    (found,) = detect([run(SWING, ood_loss=[*loss[:-1], math.inf])])
    assert found["descents"] == 2
    assert found["t90"] == [math.inf, math.inf]
    assert found["order_follows_a"] is None


# order


def test_the_first_crossing_is_not_the_time_of_learning() -> None:
    """Concept 1 passes 0.9 early, swings back, and is learned at its last crossing; concept 2 comes first."""
    output = path((0.0, 0.0), (0.95, 1.0), (0.3, 2.0), (1.0, 2.0), points=100)
    (found,) = detect([run(output)])
    r = output / np.array([1.0, 2.0])
    expected = [int(np.flatnonzero(r[:, k] < 0.9)[-1]) + 1 for k in (0, 1)]
    assert found["t90"] == expected
    assert found["learning_order"] == [1, 0]
    assert found["order_follows_a"] is True


@pytest.mark.parametrize(
    ("corners", "a", "follows"),
    [
        ([(0.0, 0.0), (1.0, 0.0), (1.0, 2.0)], [3.0, 1.0], True),
        ([(0.0, 0.0), (1.0, 0.0), (1.0, 2.0)], [1.0, 3.0], False),
        ([(0.0, 0.0), (1.0, 0.0), (1.0, 2.0)], [1.0, 1.0], None),
        ([(0.0, 0.0), (1.0, 2.0)], [1.0, 3.0], None),
        ([(0.0, 0.0), (0.0, 2.0)], [1.0, 3.0], True),
        ([(0.0, 0.0), (0.0, 2.0)], [3.0, 1.0], False),
        ([(0.0, 0.0), (0.5, 0.5)], [3.0, 1.0], None),
        ([(0.0, 0.0), (1.0, 0.0), (1.0, 2.0)], [1.001, 1.0], True),
        ([(0.0, 0.0), (1.0, 1.95), (1.0, 2.0)], [3.0, 1.0], None),  # at 36 and 37
        ([(0.0, 0.0), (1.0, 1.92), (1.0, 2.0)], [3.0, 1.0], True),  # at 36 and 38
    ],
)
def test_the_order_is_told_only_where_there_is_one(corners: Any, a: list[float], follows: bool | None) -> None:
    """A tie in a or within one recording interval, or a pair that is never learned, leaves the order untold."""
    (found,) = detect([run(path(*corners), a=a)])
    assert found["order_follows_a"] is follows


def test_a_is_that_of_the_conventions_where_it_was_not_recorded() -> None:
    """sigma as sd or variance and the cluster at the origin decide a_p = sigma_p^2 + mu_p^2 / C, and so the order."""
    output = path((0.0, 0.0), (1.0, 0.0), (1.0, 2.0))
    # sd: a = (1.5^2 + 1/2, 2.) = (2.75, 2.0025); variance: (1.5 + 1/2, 2.05).
    sd, variance = (run(output, sigma=[1.5, 0.05], sigma_is=kind) for kind in ("sd", "variance"))
    assert [row["order_follows_a"] for row in detect([sd, variance])] == [True, False]


@pytest.mark.parametrize(
    ("top", "bottom", "broken"), [(1.0, 1.0195, 0), (1.0, 1.0225, 1), (0.0, 0.00095, 0), (0.0, 0.00105, 1)]
)
def test_a_pair_is_out_of_order_beyond_its_slack(top: float, bottom: float, broken: int) -> None:
    """At l(u) > 1.02 l(v) + 1e-3, a twentieth of either to both sides."""
    hierarchy = [[0.0, bottom, 0.0, top]] * 3
    (found,) = detect([run(np.zeros((3, 2)), hierarchy_loss=hierarchy)])
    assert found["order_violations"] == pytest.approx(broken / 5)


def test_the_hierarchy_is_counted_pair_by_pair() -> None:
    """Violations of B.2 are the pairs u < v with l(u) > 1.02 l(v) + 1e-3, found here among all pairs of vectors."""
    rng, concepts = philox("tests", "hierarchy"), 3
    hierarchy = rng.uniform(0, 0.01, (5, 8))
    vectors = [[v >> p & 1 for p in range(concepts)] for v in range(8)]
    shares: dict[bool, list[float]] = {True: [], False: []}
    for record in hierarchy:
        for inner, kept in shares.items():
            broken = [
                record[u] > 1.02 * record[v] + 1e-3
                for u in range(8) for v in range(8)
                if u != v and not (inner and u == 0)
                and all(x <= y for x, y in zip(vectors[u], vectors[v], strict=True))
            ]  # fmt: skip
            kept.append(sum(broken) / len(broken))
    output = np.zeros((5, 3))
    (found,) = detect([run(output, (1.0, 1.0, 1.0), hierarchy_loss=hierarchy.tolist())])
    assert found["order_violations"] == pytest.approx(np.mean(shares[False]))
    assert found["order_violations_worst"] == pytest.approx(max(shares[False]))
    assert found["order_violations_inner"] == pytest.approx(np.mean(shares[True]))


# terminal slow-down


def test_the_symmetric_flow_slows_down_at_the_rates_of_eq_4_3() -> None:
    """Along a solution of eq 4.3 the last concept comes in at 2 a_k, the minor entry dies at a_i + a_j: within 1 %."""
    a, d, times = np.array([1.0, 0.4]), 2, 400

    def slope(_: float, flat: np.ndarray) -> np.ndarray:
        w = flat.reshape(d, d)
        new = np.empty_like(w)
        for i in range(d):
            for j in range(d):
                suppress = 0.5 * w[i, j] * (w[i, i] * (3 * a[i] + a[j]) + (i != j) * w[j, j] * (3 * a[j] + a[i]))
                noise = 0.5 * sum(w[k, i] * w[k, j] * (a[i] + a[j] + 2 * a[k]) for k in range(d) if k not in (i, j))
                new[i, j] = w[i, j] * (a[i] + a[j]) - suppress - noise
        return new.ravel()

    time = np.linspace(0, 40, times)  # the time of eq 4.3, twice that of the flow of L
    start = np.array([[0.02, 0.01], [0.01, 0.02]])
    solved = solve_ivp(slope, (0, 40), start.ravel(), t_eval=time, rtol=1e-10, atol=1e-14).y.T
    mu = np.array([1.0, 1.5])
    output = solved.reshape(-1, d, d) @ mu
    row = run(output, (1.0, 1.5), model="symmetric", jacobian=solved.tolist(), a=a.tolist())
    (found,) = detect([changed(row, time_per_step=time[1] / 2)])
    assert found["terminal_predicted"] == pytest.approx(2 * a)
    assert found["terminal_rate"][1] == pytest.approx(2 * a[1], rel=0.01)
    assert found["terminal_r2"][1] > 0.999
    assert found["minor_predicted"] == pytest.approx([a.sum()])
    assert found["minor_rate"] == pytest.approx([a.sum()], rel=0.01)


def test_one_layer_slows_down_at_a_k() -> None:
    """Along Theorem 4.1 the rate is a_k to rounding once the initial-noise term is taken off, for any initial W."""
    a, mu, w0 = np.array([1.3, 0.7]), np.array([1.0, 2.0]), np.array([[0.1, -0.2], [0.3, 0.05]])
    time = 0.05 * np.arange(200)
    decay = np.exp(-np.outer(time, a))
    output = (1 - decay) * mu + np.einsum("ti,ki,i->tk", decay, w0, mu)
    jacobian = np.repeat(w0.reshape(1, 4), 200, axis=0)  # only its first record is read
    given = {"model": "one_layer", "drive": "closed_form", "a": a.tolist(), "time_per_step": 0.05}
    with_noise, biased = detect(
        [run(output, jacobian=jacobian.tolist(), **given), run(output, jacobian=jacobian.tolist(), **given, bias=True)]
    )
    assert with_noise["terminal_rate"] == pytest.approx(a, rel=1e-9)
    assert with_noise["terminal_predicted"] == pytest.approx(a)
    assert biased["terminal_predicted"] is None
    assert biased["terminal_rate"] != pytest.approx(a, rel=1e-3)


def test_the_rate_is_that_of_the_last_visit() -> None:
    """A concept that comes close, leaves, and comes back at another pace has the pace of its return."""
    t = np.arange(100)
    away = np.concatenate([np.exp(-0.30 * t[:50]), 0.8 * np.exp(-0.1 * t[:50])])
    output = np.stack([1 - away, np.full(100, 2.0)], axis=1)
    (found,) = detect([run(output, time_per_step=1.0)])
    assert found["terminal_rate"] == [pytest.approx(0.1, rel=1e-9), None]


def approach(size: np.ndarray, **other: Any) -> Row:
    """The terminal rates of a run whose first concept is missing by these shares, one unit of time a record."""
    (found,) = detect([run(np.stack([1 - size, np.full(len(size), 2.0)], axis=1), time_per_step=1.0, **other)])
    return found


def test_a_rate_is_that_between_three_tenths_and_a_fiftieth() -> None:
    """Of a curve that goes ever faster it is the slope of a line through the logarithms of just those records."""
    t = np.arange(300)
    size = 0.9 * np.exp(-0.01 * t - 1e-4 * t**2)
    visited = (size >= 0.02) & (size <= 0.3)
    found = approach(size)
    assert found["terminal_rate"][0] == pytest.approx(-np.polyfit(t[visited], np.log(size[visited]), 1)[0], rel=1e-9)
    assert found["terminal_r2"][0] == pytest.approx(np.corrcoef(t[visited], np.log(size[visited]))[0, 1] ** 2, rel=1e-9)


@pytest.mark.parametrize(("records", "told"), [(4, False), (5, True)])
def test_fewer_than_five_records_give_no_rate(records: int, told: bool) -> None:
    """A curve that passes from 0.3 to 0.02 in four records has no rate; in five it has one."""
    found = approach(np.concatenate([[0.9, 0.8, 0.5], np.geomspace(0.25, 0.03, records), np.full(9, 0.001)]))
    assert (found["terminal_rate"] is not None) is told


@pytest.mark.parametrize("late", [1, 2])
def test_a_minor_entry_is_followed_from_all_diagonals_at_098_down_to_a_thousandth(late: int) -> None:
    """Its rate is the slope of a line through the logarithms of just those records, of an entry that goes ever faster.

    Before the latest diagonal is at 0.98, its own or that of another concept, and after the first record below a
    thousandth, it does otherwise.
    """
    t = np.arange(300)
    later = np.minimum(1 - 0.5 * np.exp(-0.05 * t), 0.999999)
    begun = int(np.argmax(later > 0.98))
    size = 0.1 * np.exp(np.where(t < begun, 0.01, -0.03 - 1e-4 * (t - begun)) * (t - begun))
    ended = int(np.argmax(size <= 1e-3 * size[begun]))
    size[ended + 1 :] = 0.05
    W = np.zeros((300, 3, 3)) + 0.99 * np.eye(3)
    W[:, 0, 1] = W[:, 1, 0] = size
    W[:, late, late] = later
    output = W @ np.array([1.0, 2.0, 3.0])
    jacobian = W.reshape(300, 9).tolist()
    (found,) = detect([run(output, model="symmetric", mu=(1.0, 2.0, 3.0), jacobian=jacobian, time_per_step=0.5)])
    followed = slice(begun, ended)
    assert found["minor_rate"][0] == pytest.approx(-np.polyfit(t[followed], np.log(size[followed]), 1)[0], rel=1e-9)


# noise


@pytest.mark.parametrize("spacing", ["even", "log"])
def test_the_noise_of_a_straight_line_is_found_at_any_spacing(spacing: str) -> None:
    """White noise of sd 0.01 L_ref on a line is measured within 10 %, however the records are spaced."""
    rng = philox("tests", "noise", spacing)
    steps = np.unique(np.geomspace(1, 1e5, 220).round()) if spacing == "log" else np.arange(200)
    line = (0.9 - 0.4 * steps / steps[-1]) * 2.5
    rows = []
    for i in range(50):
        loss = line + 0.01 * 2.5 * rng.standard_normal(len(steps))
        row = run(np.zeros((len(steps), 2)), drive="sgd", step=steps.astype(int).tolist(), ood_loss=loss.tolist())
        rows.append(changed(row, cell_id=f"{i:032x}"))
    found = detect(rows)
    assert np.mean([row["noise_sd"] for row in found]) == pytest.approx(0.01, rel=0.1)
    assert not any(row["non_monotone"] for row in found)


@pytest.mark.parametrize("drive", ["gd", "flow", "closed_form"])
def test_without_mini_batches_there_is_no_noise(drive: str) -> None:
    """Runs driven by anything but mini-batches are read at 1 % of L_ref, however rough they look."""
    rng = philox("tests", "rough")
    rough = SWING + 0.02 * rng.standard_normal(SWING.shape)
    exact, noisy = detect([run(rough, drive=drive), run(rough, drive="sgd")])
    assert (exact["noise_sd"], exact["tau"]) == (0.0, 0.01)
    assert noisy["tau"] > 0.01
    assert exact["descents"] > noisy["descents"]


def test_bumps_stand_out_of_noise_that_they_exceed() -> None:
    """At 0.1 % noise a bump of 7 % is found and placed within a tenth of the records; a monotone curve shows none."""
    rng = philox("tests", "bumps")
    clean = 2.5 * bumpy(rng, 40, 200, 0.2)
    noise = 2.5 * 0.001 * noise_of(rng, 40, 200, 0.0)
    falls = 2.5 * monotone(rng, 40, 200) + noise
    flat = np.zeros((200, 2))
    bumps = [
        run(flat, drive="sgd", ood_loss=loss.tolist(), cell_id=f"{i:032x}") for i, loss in enumerate(clean + noise)
    ]
    nulls = [run(flat, drive="sgd", ood_loss=loss.tolist(), cell_id=f"{i:032x}") for i, loss in enumerate(falls)]
    for found, curve in zip(detect(bumps), clean, strict=True):
        assert found["descents"] == 2
        rise = int(np.argmax(np.diff(curve) > 1e-12))
        assert abs(found["bump_start"] - rise) <= 20
        assert abs(found["bump_peak"] - (rise + 40)) <= 20
        assert found["bump_height"] == pytest.approx(0.07, abs=0.01)
    assert sum(found["non_monotone"] for found in detect(nulls)) == 0
