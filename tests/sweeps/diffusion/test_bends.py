"""The detector of concept space: what it says of curves of known truth, turned, mirrored and scaled, and of nulls."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby_sweeps.diffusion.detect.bend import SharedBend, aside, bend, bridged, shared_bend
from swingby_sweeps.diffusion.detect.bends import BOTH, OUTCOMES, Bends, measured
from swingby_sweeps.diffusion.detect.descent import descents, error_of
from swingby_sweeps.diffusion.detect.detectability import ASIDE, RISE
from swingby_sweeps.diffusion.detect.path import CLASSES, Path, path_of
from swingby_sweeps.diffusion.detect.runs import smoothed
from swingby_sweeps.diffusion.detect.speed import slowdown, speeds
from swingby_sweeps.diffusion.params import CLASSES as TRAINED_ON
from tests.support.synthetic_diffusion import STEPS, Truth, mirrored, run

SWUNG = Truth(color=600, size=2000, swing=0.5)
scales = st.floats(200, 6000)
truths = st.builds(
    Truth,
    color=scales,
    size=scales,
    swing=st.floats(0, 0.6),
    spread=st.floats(0.01, 0.3),
    jitter=st.floats(0, 0.05),
    blind=st.integers(0, 8),
)
seeds = st.integers(0, 2**32 - 1)


def outcomes_of(truth: Truth, seed: int = 0, **more: Any) -> dict[str, Any]:
    """What the detector says of one run."""
    row = {"cell_id": "c", **run(truth, np.random.default_rng(seed), **more)}
    return Bends().detect(table([row])).to_pylist()[0]


def table(rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as the store hands them over: what is not recorded as nulls."""
    names = ["cell_id", *Bends.needs]
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def still(truth: Truth, seed: int, *, turned: bool = False) -> dict[str, Any]:
    """Every outcome by the measured judge, of a run or of its mirror image."""
    row = run(truth, np.random.default_rng(seed))
    found = path_of(mirrored(row) if turned else row)
    assert found is not None
    return measured(found)


def same(one: Any, other: Any) -> bool:
    """Equal, save for the rounding of numbers."""
    return one == (pytest.approx(other, rel=1e-6, abs=1e-9) if isinstance(other, float) else other)


def path(place: np.ndarray, noise: float = 0.0, steps: np.ndarray = STEPS) -> Path:
    """A path of blue-small through given places."""
    error = np.full(place.shape, noise)
    return Path(3, (0, 1, 2), steps.astype(float), np.arange(len(steps)), place, error)


# what it says of known truths


def test_classes_are_numbered_as_the_experiment_numbers_them() -> None:
    """Both sides of the store call the classes the same."""
    assert CLASSES == TRAINED_ON


def test_the_swing_is_found() -> None:
    """A held-out class that goes back toward blue-big and returns: two descents, memorized on the way."""
    found = outcomes_of(SWUNG)
    assert found["non_monotone"]
    assert found["transient_memorization"]
    assert found["mse_descents"] == 2
    assert 3000 < found["bump_peak"] < 8000
    assert found["bump_start"] < found["bump_peak"] < found["bump_end"]
    assert found["bend_toward"] == "color"
    assert found["transient_bend"]
    assert found["learned"]


@pytest.mark.parametrize(
    ("color", "size", "which"),
    [(600, 4000, "color first"), (4000, 600, "size first"), (1000, 1000, "tie"), (math.inf, math.inf, "neither")],
)
def test_the_order_is_that_of_the_time_scales(color: float, size: float, which: str) -> None:
    """The concept with the shorter time scale is first; equal ones tie; those never learned are neither."""
    found = outcomes_of(Truth(color=color, size=size, spread=0.001))
    assert found["learning_order"] == which
    assert found["learned"] == math.isfinite(color)
    assert found["color_first"] is (None if which == "neither" else which == "color first")
    for name, scale in (("t_color", color), ("t_size", size)):
        expected = scale * math.log(10) if math.isfinite(scale) else math.inf
        gap = np.diff(STEPS).max()
        assert found[name] == expected or expected - 1 <= found[name] <= expected + gap


@pytest.mark.parametrize(
    ("later", "which"), [(0, "tie"), (1, "tie"), (2, "color first"), (-1, "tie"), (-2, "size first")]
)
def test_a_tie_is_within_one_evaluation(later: int, which: str) -> None:
    """Size right so many evaluations after color."""
    at = np.arange(len(STEPS))
    found = measured(path(np.stack([at >= 20, at >= 20 + later], axis=1).astype(float)))
    assert found["learning_order"] == which


def test_one_concept_alone_is_first() -> None:
    """A concept that is never learned is last."""
    found = outcomes_of(Truth(color=800, size=math.inf))
    assert found["learning_order"] == "color first"
    assert found["t_size"] == math.inf
    assert not found["learned"]


def test_a_step_too_large_is_no_memorization() -> None:
    """Where the diffusion loss rises with the held-out error, the run is non-monotone and nothing more."""
    row = run(SWUNG, np.random.default_rng(0))
    loss = np.array(row["loss_diffusion"])
    found = path_of(row)
    assert found is not None
    jump = loss + 2 * np.exp(-(((np.sqrt(STEPS) - np.sqrt(6000)) / 12) ** 2))
    assert measured(found, loss)["transient_memorization"]
    assert measured(found, jump)["non_monotone"]
    assert not measured(found, jump)["transient_memorization"]


def test_what_the_loss_does_has_to_be_known() -> None:
    """Without a loss, or with two values of it, a rise toward a trained class is not called; a run without one is."""
    row = run(SWUNG, np.random.default_rng(0))
    swung, plain = path_of(row), path_of(run(Truth(), np.random.default_rng(0)))
    assert swung is not None
    assert plain is not None
    few = np.where(np.arange(len(STEPS)) < 2, 1.0, np.nan)
    for loss in (None, few):
        assert measured(swung, loss)["non_monotone"]
        assert measured(swung, loss)["transient_memorization"] is None
        assert measured(plain, loss)["transient_memorization"] is False


@pytest.mark.parametrize(("rise", "drops"), [(0.008, 1), (0.012, 2)])
def test_without_noise_a_rise_counts_from_one_per_cent_on(rise: float, drops: int) -> None:
    """On a path of straight pieces, on which nothing scatters."""
    at = np.interp(np.arange(60), [0, 20, 40, 59], [0.2, 0.7, 1 - math.sqrt(0.09 + rise), 1.0])
    found = measured(path(np.stack([at, at], axis=1), steps=np.arange(60)))
    assert found["mse_descents"] == drops
    assert found["non_monotone"] == (drops == 2)


@given(st.floats(-0.1, 0.3), st.floats(0, 0.01))
def test_an_approach_counts_beyond_its_noise(closer: float, noise: float) -> None:
    """A rise around a trained class's corner memorizes if it ends nearer to it by more than eight times the noise and
    1 % of the side; a step nearer that is smaller, and one farther off, are none, however much the error rises."""
    part = np.clip((np.linspace(0, 1, len(STEPS)) - 0.5) / 0.25, -1, 1)  # 0: at (1, 0.8), beside the corner (1, 0)
    angle = np.pi / 2 - np.pi / 4 * (1 - np.abs(part))
    radius = 0.8 - closer * (1 - np.abs(part))
    around = np.array([1, 0]) + radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    way = np.linspace(0.2, 1, len(STEPS) // 4)[:, None] * np.array([1, 0.8])
    found = path(np.concatenate([way, around[len(way) :]]), noise)
    rises = descents(found).rises
    loss = np.linspace(2, 1, len(STEPS))
    called = measured(found, loss)["transient_memorization"]
    assert len(rises) == 1
    assert rises[0].nearer == pytest.approx(-closer, abs=0.03)
    assert rises[0].near_threshold >= max(0.01, 8 * noise)
    assert called == (rises[0].nearer < -rises[0].near_threshold)
    assert called or closer < 0.2
    assert not called or closer > 0


@pytest.mark.parametrize("number", range(4))
def test_any_class_can_be_the_held_out_one(number: int) -> None:
    """Whichever corner the class has, its outcomes are those of the default's mirror images."""
    expected, found = outcomes_of(SWUNG), outcomes_of(SWUNG, number=number)
    for name in ("learning_order", "non_monotone", "transient_memorization", "transient_bend", "bend_toward"):
        assert found[name] == expected[name]
    assert found["bend"] == pytest.approx(expected["bend"], abs=0.1)


def test_the_trained_judge_speaks_for_itself() -> None:
    """What one judge recorded is told of that judge alone."""
    row, other = (run(truth, np.random.default_rng(1)) for truth in (Truth(400, 5000), Truth(5000, 400)))
    both = {**row, **{f"trained_{name}": other[name] for name in ("color", "size", "color_sd", "size_sd")}}
    found = Bends().detect(table([{"cell_id": "c", **both}])).to_pylist()[0]
    assert found["learning_order"] == "color first"
    assert found["learning_order_by_trained"] == "size first"
    alone = outcomes_of(Truth(400, 5000), 1)
    assert all(alone[f"{name}_by_trained"] is None for name in BOTH)


# laws


@given(truths, seeds)
def test_mirrored_runs_have_mirrored_outcomes(truth: Truth, seed: int) -> None:
    """Exchanging color and size, and so blue-big and red-small, exchanges what is said of them and nothing else."""
    one, other = still(truth, seed), still(truth, seed, turned=True)
    swap = {"color first": "size first", "size first": "color first", "color": "size", "size": "color"}
    for name in ("learning_order", "bend_toward"):
        assert other.get(name) == swap.get(one.get(name, ""), one.get(name))
    assert (one["t_color"], one["t_size"]) == (other["t_size"], other["t_color"])
    if "bend" in one:
        assert other["bend"] == pytest.approx(-one["bend"], abs=1e-9)
    changed = {"learning_order", "bend_toward", "t_color", "t_size", "bend", "color_first"}
    assert one.keys() == other.keys()
    for name in one.keys() - changed:
        assert same(other[name], one[name]), name


@given(truths, seeds, st.integers(2, 50))
def test_slower_training_changes_times_alone(truth: Truth, seed: int, factor: int) -> None:
    """With every step k times as long, times are k times as long, rates a k-th, and all else the same."""
    row = run(truth, np.random.default_rng(seed))
    slow = {**row, "step": [factor * step for step in row["step"]]}
    one, other = (measured(found) for r in (row, slow) if (found := path_of(r)) is not None)
    times = {"t_color", "t_size", "bump_start", "bump_peak", "bump_end", "bend_step"}
    for name in one:
        scale = factor if name in times else 1 / factor if name == "speed_rate" else None
        assert same(other[name], one[name] if scale is None else one[name] * scale), name


@given(st.floats(-0.3, 0.6), st.floats(-0.3, 0.6), scales)
def test_a_straight_way_has_no_bend(x: float, y: float, scale: float) -> None:
    """A path straight to its target, at any speed and from anywhere, has no bend and descends once at most."""
    share = -np.expm1(-STEPS / scale)[:, None]
    straight = path(np.array([[x, y]]) * (1 - share) + share)
    found = measured(straight)
    assert found["bend"] == pytest.approx(0, abs=1e-9)
    assert found["bend_toward"] == "neither"
    assert not found["transient_bend"]
    assert found["mse_descents"] <= 1


@given(st.floats(0.05, 0.45), st.booleans())
def test_the_bend_is_the_distance_from_the_straight_way(height: float, color: bool) -> None:
    """A detour of known height is measured, with the side's sign, and comes back."""
    part = np.linspace(0, 1, len(STEPS))
    detour = height * np.sin(np.pi * part) ** 2 * (1 if color else -1)
    place = np.stack([part + detour / math.sqrt(2), part - detour / math.sqrt(2)], axis=1)
    found = bend(path(place))
    assert found is not None
    assert found.size == pytest.approx(height if color else -height, abs=0.01)
    assert aside(path(place))[0] == pytest.approx(detour, abs=1e-9)
    assert found.beyond == (abs(found.size) > 0.1)
    assert found.back is found.beyond
    stays = bend(path(place[: int(np.abs(detour).argmax()) + 1], steps=STEPS[: int(np.abs(detour).argmax()) + 1]))
    assert stays is not None
    assert stays.back is (None if stays.beyond and abs(stays.size) <= 2 * stays.least else False)


@pytest.mark.parametrize(("rest", "back"), [(0.25, False), (0.15, True)])
def test_a_bend_is_back_at_half_of_its_distance(rest: float, back: bool) -> None:
    """A detour of 0.4 returns by more than its threshold either way, and is transient if that is half of it or more."""
    part = np.linspace(0, 1, 60)
    detour = np.interp(part, [0, 0.5, 0.9, 1], [0, 0.4, rest, rest]) / math.sqrt(2)
    found = bend(path(np.stack([part + detour, part - detour], axis=1), steps=np.arange(60)))
    assert found is not None
    assert (found.beyond, found.back) == (True, back)
    assert found.least == pytest.approx(0.1)


def test_a_path_that_stays_aside_does_not_come_back() -> None:
    """Color learned and size never: a bend toward color, and no transient one."""
    found = outcomes_of(Truth(color=500, size=math.inf))
    assert found["bend_toward"] == "color"
    assert not found["transient_bend"]


@given(truths, seeds, st.integers(0, 59))
def test_a_blind_evaluation_changes_no_other(truth: Truth, seed: int, at: int) -> None:
    """An evaluation without circles is left out, and the rest stays where it was."""
    row = run(truth, np.random.default_rng(seed))
    whole = path_of(row)
    for name in ("color", "size", "color_sd", "size_sd"):
        row[name][at] = [math.nan] * 4
    row["found"][at] = [0.0] * 4
    left = path_of(row)
    assert whole is not None
    assert left is not None
    kept = whole.record != at
    assert np.array_equal(left.place, whole.place[kept])
    assert np.array_equal(left.steps, whole.steps[kept])
    assert all(value is None or isinstance(value, str) or not np.isnan(value) for value in measured(left).values())


def ending_blind(row: dict[str, Any], count: int) -> dict[str, Any]:
    """The same run, with a circle in one image of ten in its last evaluations."""
    found = [*row["found"][: len(row["found"]) - count], *[[0.1] * 4] * count]
    return {**row, "found": found}


@given(truths, seeds, st.integers(1, 20))
def test_what_has_no_circle_at_the_end_is_not_learned(truth: Truth, seed: int, count: int) -> None:
    """Where the last evaluations have no circles, neither concept ends right, whenever it was right before; how it
    descended and bent until then is told as of a run that stopped there."""
    row = run(truth, np.random.default_rng(seed))
    gone = path_of(ending_blind(row, count))
    stopped = path_of({name: v[:-count] if isinstance(v, list) else v for name, v in row.items()})
    assert gone is not None
    assert stopped is not None
    assert stopped.ended
    assert not gone.ended
    found, before = measured(gone), measured(stopped)
    assert (found["learned"], found["mse_final"], found["color_first"]) == (False, None, None)
    assert (found["learning_order"], found["t_color"], found["t_size"]) == ("neither", math.inf, math.inf)
    ends = {"learned", "mse_final", "color_first", "learning_order", "t_color", "t_size"}
    assert {name: found[name] for name in found.keys() - ends} == {name: before[name] for name in before.keys() - ends}


def test_nothing_is_told_of_runs_without_a_place() -> None:
    """No circle ever, no held-out class, no curves, or too few evaluations: nulls; others have outcomes."""
    blind = run(Truth(blind=len(STEPS)), np.random.default_rng(0))
    whole = run(Truth(), np.random.default_rng(0))
    rows = [blind, {**whole, "trained": ", ".join(CLASSES)}, {}, {**whole, "step": whole["step"][:2]}, whole]
    rows[2] = {"trained": whole["trained"], "judged": 32, "judged_trained": 8}
    outcomes = Bends().detect(table([{"cell_id": str(k), **row} for k, row in enumerate(rows)])).to_pylist()
    for found in outcomes[:4]:
        assert all(found[name] is None for name in OUTCOMES)
    assert outcomes[4]["learned"]


# noise


NULLS = [
    Truth(spread=0.1),
    Truth(spread=0.5),
    Truth(spread=0.1, jitter=0.1),
    Truth(spread=0.1, jitter=0.05, memory=0.5),
    Truth(spread=0.1, jitter=0.1, memory=0.8),
]


@pytest.mark.parametrize("null", NULLS, ids=str)
@pytest.mark.parametrize("rest", [1.0, 0.6])
def test_nulls_hardly_ever_alarm(null: Truth, rest: float) -> None:
    """Straight paths that rest anywhere, with noise of images and of weights (AR(1) up to 0.8): 2 % alarms at most."""
    rng, count = np.random.default_rng(7), 100
    alarms: Counter[str] = Counter()
    for _ in range(count):
        scale = rng.uniform(300, 5000)
        row = run(Truth(scale, scale, spread=null.spread, jitter=null.jitter, memory=null.memory, rest=rest), rng)
        found = path_of(row)
        assert found is not None
        alarms.update(name for name, value in measured(found).items() if value is True)
    assert alarms["non_monotone"] <= 0.02 * count
    assert alarms["transient_memorization"] <= alarms["non_monotone"]
    assert alarms["transient_bend"] <= 0.02 * count


def test_what_the_detector_can_see() -> None:
    """At an sd of 0.1 over 32 images, a swing of 0.5 is found in nine runs of ten or more, one of 0.1 in none."""
    rng, found = np.random.default_rng(3), Counter[float]()
    for swing in (0.1, 0.5):
        for _ in range(40):
            seen = path_of(run(Truth(600, 2000, swing=swing), rng))
            assert seen is not None
            found[swing] += measured(seen)["non_monotone"]
    assert found[0.5] >= 36
    assert found[0.1] == 0


def fewer(row: dict[str, Any], count: int) -> dict[str, Any]:
    """The same run with about so many of its evaluations, evenly spaced in the root of the step."""
    root = np.sqrt(np.array(row["step"]))
    at = np.unique([int(np.abs(root - part).argmin()) for part in np.linspace(root[0], root[-1], count)])
    return {
        name: [curve[k] for k in at] if isinstance(curve, list) and len(curve) == len(root) else curve
        for name, curve in row.items()
    }


POWER = [
    # evaluations, sd over images: how many of 20 swings back by half are found at least and at most, and how many of 20
    # runs without one say, by their threshold, that one would have been.
    (60, 0.01, (20, 20), (20, 20)),
    (60, 0.1, (19, 20), (19, 20)),
    (60, 0.3, (0, 0), (0, 0)),
    (24, 0.01, (20, 20), (0, 4)),
    (24, 0.1, (4, 14), (3, 14)),
    (16, 0.01, (0, 0), (0, 0)),
    (16, 0.1, (0, 3), (0, 0)),
]


@pytest.mark.parametrize(("count", "spread", "found", "telling"), POWER)
def test_what_a_run_says_it_could_have_seen(
    count: int, spread: float, found: tuple[int, int], telling: tuple[int, int]
) -> None:
    """Swings back by half are found in nearly all of 60 evaluations, in some of 24, in hardly any of 16; and runs
    without one claim by their threshold to have had no more sight than that."""
    seen = {}
    for swing in (0.0, 0.5):
        truth = Truth(600, 2000, swing=swing, spread=spread)
        rows = [fewer(run(truth, np.random.default_rng(seed)), count) for seed in range(20)]
        seen[swing] = [measured(one) for row in rows if (one := path_of(row)) is not None]
    hits = sum(one["non_monotone"] for one in seen[0.5])
    tells = sum(one["mse_threshold"] <= RISE for one in seen[0.0])
    assert found[0] <= hits <= found[1]
    assert telling[0] <= tells <= telling[1]
    assert tells <= hits + 3
    assert not any(one["non_monotone"] for one in seen[0.0])


@pytest.mark.parametrize("count", [16, 24, 60])
def test_a_bend_is_seen_with_few_evaluations_too(count: int) -> None:
    """A bend of 0.46 that takes the whole way is found in 16 evaluations as in 60, at an sd of 0.1 over images; at 0.3
    neither are all found, nor does a straight run say that one would have been."""
    for spread, sees in ((0.1, True), (0.3, False)):
        bent, straight = (
            [
                measured(one)
                for seed in range(20)
                if (one := path_of(fewer(run(truth, np.random.default_rng(seed)), count))) is not None
            ]
            for truth in (Truth(500, 4000, spread=spread), Truth(1500, 1500, spread=spread))
        )
        found = sum(one["bend_toward"] == "color" for one in bent)
        telling = sum(one["bend_threshold"] <= ASIDE for one in straight)
        assert (found >= 19, telling >= 18) == (sees, sees)
        assert sees or telling == 0
        assert all(one["bend_toward"] == "neither" for one in straight)


@given(st.integers(0, 59), st.floats(0, 0.2))
def test_a_path_that_only_rests_tells_of_no_bend(at: int, noise: float) -> None:
    """From start to end between two evaluations: none is on the way, and no bend of any height could have been seen."""
    jump = path(np.repeat([[0.0, 0.0], [1.0, 1.0]], [at + 1, 60 - at], axis=0), noise, np.arange(61))
    assert measured(jump)["bend_threshold"] == math.inf
    assert measured(jump)["bend_toward"] == "neither"


def test_the_height_is_halfway_between_two_classes() -> None:
    """Half a side from its corner the error is as large, and the straight way as far, as is asked for."""
    halfway = np.array([[0.0, 0.0], [1.0, 0.5], [1.0, 1.0]])
    assert error_of(halfway)[1] == pytest.approx(RISE)
    assert abs(aside(path(halfway, steps=np.arange(3)))[0][1]) == pytest.approx(ASIDE)


# bends over seeds


def together(rng: np.random.Generator, seeds: int, sd: float, height: float = 0.0, stays: bool = False) -> np.ndarray:
    """Paths to (1, 1) with one bend of this height toward color, which comes back or stays, and white noise."""
    part = -np.expm1(-(np.linspace(0, 60, 24) ** 2) / np.exp(rng.uniform(np.log(200), np.log(3000))))
    aside = height * (np.sin(np.pi / 2 * part) if stays else np.sin(np.pi * part)) / math.sqrt(2)
    return np.stack([part + aside, part - aside], axis=1) + sd * rng.normal(size=(seeds, 24, 2))


def over(progress: np.ndarray) -> SharedBend:
    """The test, which must be possible."""
    found = shared_bend(np.arange(progress.shape[1], dtype=float), progress)
    assert found is not None
    return found


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("sd", [0.02, 0.1])
def test_straight_ways_share_no_bend(count: int, sd: float) -> None:
    """False alarms: at most a fifth by the 95 % interval, as is said of it, and at most 7 % by the 99 % interval."""
    rng = np.random.default_rng(11)
    found = [over(together(rng, count, sd)) for _ in range(300)]
    assert sum(one.significant for one in found) <= 0.2 * len(found)
    assert sum(one.sure for one in found) <= 0.07 * len(found)
    assert sum(one.returns for one in found) <= 0.1 * len(found)


def test_what_five_seeds_can_see() -> None:
    """Under noise of 0.1 five seeds show a bend of 0.4 in nine of ten samples, of 0.2 in half; one that stays is none
    that comes back in nine of ten."""
    rng = np.random.default_rng(5)
    large, small = ([over(together(rng, 5, 0.1, height)) for _ in range(100)] for height in (0.4, 0.2))
    stay = [over(together(rng, 5, 0.1, 0.4, stays=True)) for _ in range(100)]
    assert sum(one.side == "color" for one in large) >= 90
    assert sum(one.returns for one in large) >= 70
    assert sum(one.side == "color" for one in small) >= 50
    assert sum(one.side == "color" for one in stay) >= 90
    assert sum(one.returns for one in stay) <= 20
    assert all(one.weak for one in large)


@given(seeds, st.floats(0, 0.5), st.booleans())
def test_mirrored_seeds_share_the_mirrored_bend(seed: int, height: float, stays: bool) -> None:
    """Exchanging color and size turns the sign and nothing else; the order of the seeds is irrelevant."""
    progress = together(np.random.default_rng(seed), 5, 0.05, height, stays)
    one, other, turned = over(progress), over(progress[..., ::-1]), over(progress[::-1])
    assert (other.size, other.low, other.high) == pytest.approx((-one.size, -one.high, -one.low))
    assert (other.back, other.significant, other.returns, other.step) == pytest.approx(
        (one.back, one.significant, one.returns, one.step)
    )
    assert (turned.size, turned.back) == pytest.approx((one.size, one.back))


def test_gaps_are_bridged_and_ends_stay_open() -> None:
    """A straight line with a gap is whole again; what lies before the first place or after the last is not made up."""
    line = np.linspace(0, 1, 9)[None, :, None] * np.ones((2, 1, 2))
    gappy = line.copy()
    gappy[0, [0, 3, 4, 8]] = np.nan
    filled = bridged(gappy)
    assert filled[:, 1:8] == pytest.approx(line[:, 1:8])
    assert np.isnan(filled[0, [0, 8]]).all()
    assert np.isnan(bridged(np.full((1, 4, 2), np.nan))).all()


def test_no_bend_is_told_of_too_few() -> None:
    """One seed, seeds that start beside the target, and seeds never seen together: None."""
    paths = together(np.random.default_rng(0), 3, 0.01)
    steps = np.arange(24.0)
    assert shared_bend(steps, paths[:1]) is None
    assert shared_bend(steps, 1 + 0.1 * (paths - 1)) is None
    apart = np.full((2, 24, 2), np.nan)
    apart[0, :12], apart[1, 12:] = paths[0, :12], paths[1, 12:]
    assert shared_bend(steps, apart) is None


# speed


@given(scales)
def test_an_exponential_slows_down_exponentially(scale: float) -> None:
    """Without noise the rate is that of the truth, with R^2 = 1.

    So long as there is none: nearer to its end than exp(-25) a place in doubles moves by its rounding.
    """
    steps = np.arange(0, min(20_001, 25 * scale), 250)
    share = -np.expm1(-steps / scale)
    found = slowdown(speeds(path(np.stack([share, share], axis=1), steps=steps)))
    if found is not None:  # too fast a one is over before it can be told
        assert found.exponential.slope == pytest.approx(-1 / scale, rel=1e-3)
        assert found.exponential.r2 == pytest.approx(1, abs=1e-6)
        assert found.law in ("exponential", "either")


@given(st.floats(0.3, 1.5))
def test_a_power_law_slows_down_as_one(exponent: float) -> None:
    """Without noise the exponent is that of the truth."""
    steps = np.geomspace(100, 20_000, 60)
    share = 1 - (steps / 100) ** -exponent
    found = slowdown(speeds(path(np.stack([share, share], axis=1), steps=steps)))
    assert found is not None
    assert found.power.slope == pytest.approx(-1 - exponent, rel=0.05)
    assert found.law == "power law"


def test_the_speed_of_noise_is_not_fitted() -> None:
    """A class that rests has no slow-down to be told."""
    rng = np.random.default_rng(0)
    place = 0.6 + 0.02 * rng.normal(size=(len(STEPS), 2))
    assert slowdown(speeds(path(place, 0.02))) is None


# smoothing


@given(st.floats(0.3, 5), st.lists(st.floats(-1, 2), min_size=3, max_size=40))
def test_smoothing_keeps_what_does_not_vary_and_leaves_no_range(width: float, values: list[float]) -> None:
    """A constant stays, nothing leaves the range of the values, and a width of 0 changes nothing."""
    curve = np.array(values)
    assert smoothed(np.full_like(curve, 0.7), width) == pytest.approx(0.7)
    found = smoothed(curve, width)
    assert curve.min() - 1e-9 <= found.min() <= found.max() <= curve.max() + 1e-9
    assert np.array_equal(smoothed(curve, 0), curve)


def test_smoothing_flattens_a_bump() -> None:
    """Why it is off unless asked for: what two checkpoints of smoothing leave of a bump of two checkpoints."""
    at = np.arange(60.0)
    bump = np.exp(-(((at - 30) / 1.5) ** 2))
    error = error_of(np.stack([1 - bump, 1 - bump], axis=1))
    assert smoothed(error, 2.0).max() < 0.55 * error.max()
