"""Shares, categories, medians, contours and bumps over seeds: their laws, and agreement with scipy and brute force."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

from swingby.errors import SwingbyError
from swingby.model.cell import philox
from swingby_analysis.signals.contour import contour, rows
from swingby_analysis.stats.seeds import band, bump_over_seeds, common_steps, resampled
from swingby_analysis.stats.shares import categories, medians, pivot, shares, wilson

counts = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def interval(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    low, high = wilson(k, n, confidence)
    return float(low), float(high)


# Wilson


@given(counts, st.floats(0.5, 0.999))
def test_wilson_is_scipys(kn: tuple[int, int], confidence: float) -> None:
    """The interval is that of scipy's binomtest at any confidence."""
    found = binomtest(*kn).proportion_ci(confidence, method="wilson")
    assert interval(*kn, confidence) == pytest.approx((found.low, found.high), abs=1e-12)


@given(counts)
def test_wilson_holds_the_share_and_lies_within_0_and_1(kn: tuple[int, int]) -> None:
    """0 <= low <= k/n <= high <= 1."""
    low, high = interval(*kn)
    assert 0 <= low <= kn[0] / kn[1] <= high <= 1


@given(counts)
def test_wilson_is_symmetric(kn: tuple[int, int]) -> None:
    """Counting the seeds without the outcome mirrors the interval."""
    k, n = kn
    low, high = interval(k, n)
    assert interval(n - k, n) == pytest.approx((1 - high, 1 - low), abs=1e-15)


@given(counts, st.integers(2, 10))
def test_wilson_narrows_with_seeds_and_widens_with_confidence(kn: tuple[int, int], times: int) -> None:
    """More seeds with the same share make it narrower; more confidence makes it wider."""
    k, n = kn
    low, high = interval(k, n)
    more_low, more_high = interval(times * k, times * n)
    sure_low, sure_high = interval(k, n, 0.99)
    assert more_high - more_low < high - low < sure_high - sure_low


@pytest.mark.parametrize(("k", "n", "confidence"), [(-1, 3, 0.95), (4, 3, 0.95), (1, 3, 0.0), (1, 3, 1.0)])
def test_wilson_refuses_what_cannot_be(k: int, n: int, confidence: float) -> None:
    """Counts outside 0..n and confidences outside (0, 1) are errors."""
    with pytest.raises(ValueError, match="wilson"):
        wilson(k, n, confidence)


# shares, categories, medians

cells = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([True, False, None])), min_size=1, max_size=60)


@given(cells, st.randoms())
def test_shares_count_what_was_told(rows_: list[tuple[int, bool | None]], order: object) -> None:
    """k and n are those of a plain count without nulls, per point in order, whatever the order of the cells."""
    frame = pl.DataFrame({"point": [p for p, _ in rows_], "o": [o for _, o in rows_]}, schema={"point": int, "o": bool})
    found = shares(frame, "o")
    told = [(p, o) for p, o in rows_ if o is not None]
    for row in found.iter_rows(named=True):
        k, n = sum(o for p, o in told if p == row["point"]), sum(p == row["point"] for p, _ in told)
        low, high = interval(k, n)
        assert (row["k"], row["n"], row["low"], row["high"]) == (k, n, low, high)
        assert row["share"] == (k / n if n else None)
        assert row["half_width"] == (high - low) / 2
        assert row["ambiguous"] == (low <= 0.5 <= high)
    assert found["point"].to_list() == sorted({p for p, _ in rows_})
    assert shares(frame.sample(fraction=1, shuffle=True, seed=1).to_arrow(), "o").equals(found)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["a", "b", "c", None])), min_size=1, max_size=40))
def test_the_most_common_category_is_that_of_a_plain_count(rows_: list[tuple[int, str | None]]) -> None:
    """Its count is the largest; of equal ones the first in the given order stands; all counts add up to n."""
    frame = pl.DataFrame({"point": [p for p, _ in rows_], "o": [o for _, o in rows_]}, schema={"point": int, "o": str})
    order = ["c", "a", "b"]
    found = {row["point"]: row for row in categories(frame, "o", order=order).iter_rows(named=True)}
    for point in {p for p, _ in rows_}:
        counter = Counter(o for p, o in rows_ if p == point and o is not None)
        if not counter:
            assert point not in found
            continue
        best = min(counter, key=lambda name: (-counter[name], order.index(name)))
        assert (found[point]["category"], found[point]["k"]) == (best, counter[best])
        assert found[point]["n"] == counter.total()
        assert {c["category"]: c["k"] for c in found[point]["counts"]} == dict(counter)


def test_medians_do_not_hang_on_their_neighbours() -> None:
    """A point's median and interval are the same alone, among others, in any order; the latter holds the median."""
    rng = philox("tests", "medians")
    frame = pl.DataFrame({"point": np.repeat(np.arange(5), 30), "t": rng.exponential(100, 150)})
    whole = medians(frame, "t")
    assert medians(frame.filter(pl.col("point") == 3), "t").equals(whole.filter(pl.col("point") == 3))
    assert medians(frame.reverse(), "t").equals(whole)
    assert whole["median"].to_list() == pytest.approx(
        frame.group_by("point", maintain_order=True).agg(pl.median("t"))["t"]
    )
    assert ((whole["low"] <= whole["median"]) & (whole["median"] <= whole["high"])).all()


def test_the_bootstrap_interval_holds_the_true_median_about_as_often_as_it_says() -> None:
    """Over 400 points of 31 exponential draws the 90 % interval holds ln 2 in 85 to 95 % of them."""
    rng = philox("tests", "coverage")
    frame = pl.DataFrame({"point": np.repeat(np.arange(400), 31), "t": rng.exponential(1, 400 * 31)})
    found = medians(frame, "t", confidence=0.9, resamples=500)
    held = ((found["low"] <= math.log(2)) & (found["high"] >= math.log(2))).mean()
    assert isinstance(held, float)
    assert 0.85 <= held <= 0.95


def test_times_that_never_come_take_part() -> None:
    """Infinite times move the median and the interval; nulls and NaN are not counted; no value at all gives nulls."""
    frame = pl.DataFrame({"point": [0, 0, 0, 1, 1, 2], "t": [1.0, math.inf, math.inf, None, 3.0, math.nan]})
    found = medians(frame, "t").rows(named=True)
    assert (found[0]["n"], found[0]["median"], found[0]["high"], found[0]["low"]) == (3, math.inf, math.inf, 1.0)
    assert (found[1]["n"], found[1]["median"], found[1]["low"], found[1]["high"]) == (1, 3.0, 3.0, 3.0)
    assert (found[2]["n"], found[2]["median"], found[2]["low"], found[2]["quartile_high"]) == (0, None, None, None)


def test_a_missing_column_is_named() -> None:
    """What is there is said."""
    with pytest.raises(SwingbyError, match=r"no column z; there are: point, o"):
        shares(pl.DataFrame({"point": [1], "o": [True]}), "o", by=("z",))


def test_a_pivot_puts_every_number_in_its_place() -> None:
    """Sorted axes, NaN where no row is, and an error where two rows stand at one place."""
    frame = pl.DataFrame({"x": [2.0, 1.0, 2.0], "y": [1, 1, 5], "v": [0.5, None, 0.25]})
    found = pivot(frame, "x", "y", "v")
    assert (found.x, found.y) == ((1.0, 2.0), (1, 5))
    np.testing.assert_array_equal(found.values, [[np.nan, 0.5], [np.nan, 0.25]])
    with pytest.raises(SwingbyError, match="more than one row"):
        pivot(pl.concat([frame, frame]), "x", "y", "v")


# contour

surfaces = st.integers(2, 6).flatmap(
    lambda w: st.integers(2, 6).flatmap(
        lambda h: st.lists(
            st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.6, 0.8, 1.0]), min_size=w, max_size=w),
            min_size=h,
            max_size=h,
        )
    )
)


@given(surfaces)
def test_the_contour_crosses_exactly_the_edges_whose_ends_differ(surface: list[list[float]]) -> None:
    """Every edge of the grid with one end above and one below is crossed once, where interpolation has the level."""
    values = np.array(surface)
    height, width = values.shape
    expected = set()
    for j in range(height):
        for i in range(width):
            for dj, di in ((0, 1), (1, 0)):
                if j + dj < height and i + di < width and (values[j, i] >= 0.5) != (values[j + dj, i + di] >= 0.5):
                    share = (0.5 - values[j, i]) / (values[j + dj, i + di] - values[j, i])
                    expected.add((j, i, dj, round(i + di * share, 9), round(j + dj * share, 9)))
    places = Counter((round(x, 9), round(y, 9)) for line in contour(range(width), range(height), values) for x, y in
                     list(zip(line.x, line.y, strict=True))[: -1 if line.closed else None])  # fmt: skip
    assert places == Counter((x, y) for *_, x, y in expected)


@given(surfaces)
def test_lines_end_at_the_border_or_nowhere(surface: list[list[float]]) -> None:
    """A line without missing values is closed or runs from border to border, and each piece stays in one square."""
    values = np.array(surface)
    height, width = values.shape
    for line in contour(range(width), range(height), values):
        ends = [(line.x[0], line.y[0]), (line.x[-1], line.y[-1])]
        assert line.closed == (ends[0] == ends[1] and len(line.x) > 2) or len({*ends}) == 1
        if not line.closed:
            assert all(x in (0, width - 1) or y in (0, height - 1) for x, y in ends)
        assert (np.abs(np.diff(line.x)) <= 1).all()
        assert (np.abs(np.diff(line.y)) <= 1).all()


@given(surfaces, st.floats(-5, 5), st.sampled_from([0.5, 2.0]))
def test_the_contour_moves_with_its_axes(surface: list[list[float]], shift: float, scale: float) -> None:
    """Positions shifted and scaled give the same lines, shifted and scaled."""
    values = np.array(surface)
    x, y = np.arange(values.shape[1]), np.arange(values.shape[0])
    for line, moved in zip(contour(x, y, values), contour(scale * x + shift, y, values), strict=True):
        np.testing.assert_allclose(moved.x, scale * line.x + shift, atol=1e-9)
        np.testing.assert_array_equal(moved.y, line.y)


def test_the_contour_of_a_plane_is_straight() -> None:
    """On values that are linear in x and y, interpolation is exact."""
    x, y = np.array([0.0, 0.5, 2.0, 3.0]), np.array([-1.0, 0.0, 4.0])
    (line,) = contour(x, y, 0.2 * x[None, :] + 0.1 * y[:, None])
    np.testing.assert_allclose(0.2 * line.x + 0.1 * line.y, 0.5)
    assert not line.closed


def test_a_missing_value_interrupts_the_contour() -> None:
    """Squares with a NaN corner have no line; rows name the line and the order of its corners."""
    values = np.array([[0.0] * 5, [1.0] * 5])
    (whole,) = contour(range(5), range(2), values)
    assert whole.x.tolist() == [0, 1, 2, 3, 4]
    values[1, 2] = np.nan
    lines = contour(range(5), range(2), values)
    assert [line.x.tolist() for line in lines] == [[0, 1], [3, 4]]
    assert [(place.line, place.order, place.x) for place in rows(lines)] == [(0, 0, 0), (0, 1, 1), (1, 0, 3), (1, 1, 4)]


def test_a_grid_that_does_not_fit_is_refused() -> None:
    """Values need one row a y and one column an x."""
    with pytest.raises(ValueError, match="expected"):
        contour([0, 1], [0, 1, 2], np.zeros((2, 3)))


# curves over seeds


def test_a_band_over_equal_curves_is_the_curve() -> None:
    """Seeds that agree have no spread, at every recorded step."""
    step, loss = np.array([0, 1, 2, 5, 10]), np.array([1.0, 0.8, 0.9, 0.3, 0.1])
    found = band([step] * 4, [loss] * 4)
    for values in (found.low, found.median, found.high):
        np.testing.assert_array_equal(values, loss)
    np.testing.assert_array_equal(found.step, step)
    assert found.n == 4


def test_a_diverged_seed_counts_as_infinite_after_its_end() -> None:
    """Two of five seeds that end early raise the upper quantile and leave the median finite."""
    step = np.arange(6.0)
    whole, ended = np.linspace(1, 0, 6), np.array([1.0, 5.0, np.nan, 1.0, 1.0, 1.0])
    found = band([step] * 4 + [step[:2]], [whole] * 3 + [ended, ended[:2]])
    np.testing.assert_allclose(found.median, np.where(step == 1, 0.8, whole))
    assert found.high[1] == 5.0
    assert np.isinf(found.high[2:]).all()
    assert (found.low == whole).all()


def test_curves_are_resampled_along_their_lines() -> None:
    """At their own steps curves keep their values, between them they are straight, beyond them `after` stands."""
    found = resampled([[0, 10], [0, 5]], [[0.0, 1.0], [2.0, 1.0]], [0, 5, 10])
    np.testing.assert_array_equal(found, [[0, 0.5, 1], [2, 1, np.nan]])


@given(st.lists(st.lists(st.integers(0, 1000), min_size=1, max_size=300, unique=True), min_size=1, max_size=4))
def test_common_steps_are_recorded_ones_from_first_to_last(steps: list[list[int]]) -> None:
    """Shared steps are kept as they are; others are thinned to 200 of those recorded, the ends included."""
    sorted_steps = [sorted(s) for s in steps]
    found, union = common_steps(sorted_steps).tolist(), sorted(set().union(*steps))
    assert set(found) <= set(union)
    assert (found[0], found[-1]) == (union[0], union[-1])
    if all(s == sorted_steps[0] for s in sorted_steps):
        assert found == union
    else:
        assert len(found) <= 200


def bumps(seeds: int, height: float, noise: float, key: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps (60,) and losses (seeds, 60) that fall, rise by `height` between steps 20 and 40, and fall."""
    step = np.arange(60.0)
    curve = np.interp(step, [0, 20, 40, 59], [1, 0.4, 0.4 + height, 0])
    return step, curve + noise * philox("tests", key).standard_normal((seeds, 60))


def test_the_bump_is_measured_on_the_seed_left_out() -> None:
    """Place on the mean of the others by brute force, height on the one, t-interval by scipy: the same numbers."""
    step, loss = bumps(6, 0.1, 0.03, "brute")
    heights = []
    for i in range(6):
        others = np.delete(loss, i, axis=0).mean(axis=0)
        best, place = -np.inf, (0, 0)
        for start in range(60):
            for peak in range(start + 1, 60):
                fall, again = others[: start + 1].max() - others[start], others[peak] - others[peak:].min()
                leg = min(fall, others[peak] - others[start], again)
                if leg > best:
                    best, place = leg, (start, peak)
        heights.append(loss[i, place[1]] - loss[i, place[0]])
    found = bump_over_seeds(step, loss)
    expected = ttest_1samp(heights, 0).confidence_interval(0.95)
    assert (found.n, found.height) == (6, pytest.approx(np.mean(heights)))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.significant == (expected.low > 0)


def test_a_common_bump_is_found_and_placed() -> None:
    """20 seeds with a bump of three noise sds show it, by rotation and by halves, placed within 5 steps."""
    found = bump_over_seeds(*bumps(20, 0.15, 0.05, "present"))
    assert found.significant
    assert found.confirmed
    assert not found.weak
    assert found.height == pytest.approx(0.15, abs=0.05)
    assert abs(found.start - 20) <= 5
    assert abs(found.peak - 40) <= 5


@pytest.mark.parametrize("seeds", [5, 20])
def test_where_there_is_no_bump_none_is_confirmed(seeds: int) -> None:
    """Of 300 samples around a fall with a plateau at most 5 % are confirmed; rotation alone calls more than that."""
    tries = [bump_over_seeds(*bumps(seeds, 0.0, 0.05, f"absent {i}")) for i in range(300)]
    assert sum(item.confirmed for item in tries) <= 15 < sum(item.significant for item in tries)


def test_the_height_of_a_bump_proves_nothing() -> None:
    """Where the mean of each seed's own largest rise is far above 0, noise alone, no bump is confirmed."""
    step, loss = np.arange(60.0), philox("tests", "noise alone").standard_normal((12, 60))
    own = [max(curve[j] - curve[: j + 1].min() for j in range(60)) for curve in loss]
    assert ttest_1samp(own, 0).confidence_interval(0.95).low > 2
    assert not bump_over_seeds(step, loss).confirmed


@given(st.integers(2, 8), st.integers(0, 1000))
def test_a_bump_says_how_many_seeds_it_is_over(seeds: int, key: int) -> None:
    """n is told, few seeds are called weak, shifts do not matter, and the order of the seeds does not either."""
    step, loss = bumps(seeds, 0.1, 0.05, f"order {key}")
    found = bump_over_seeds(step, loss, "median")
    assert (found.n, found.weak) == (seeds, seeds <= 5)
    back = bump_over_seeds(step, loss[::-1], "median")
    assume(found.low != 0)
    assert back[:3] == pytest.approx(found[:3])


def test_one_seed_cannot_tell() -> None:
    """With a single seed nobody is left to place the bump."""
    with pytest.raises(ValueError, match="2 seeds"):
        bump_over_seeds(*bumps(1, 0.1, 0.0, "one"))
