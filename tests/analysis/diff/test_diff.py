"""Comparing sweeps: which cells belong together, how far curves lie apart, what tests say, the verb, and its page."""

from __future__ import annotations

import html
import itertools
import json
import math
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, fisher_exact, ttest_1samp

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.select.intervals import wilson
from swingby.store import Store, rebuild
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.diff import shares, summary
from swingby_analysis.diff.comparison import Diff, compared
from swingby_analysis.diff.gaps import gaps
from swingby_analysis.diff.nested import Nested
from swingby_analysis.diff.pairing import Pairing, pair
from swingby_analysis.diff.tables import tables
from swingby_analysis.stats import exact, intervals
from swingby_analysis.stats.intervals import Interval
from tests.support.command import swingby
from tests.support.packed import unpacked
from tests.support.places import MISBEHAVING

COUNTS = st.integers(0, 9)

# ------------------------------------------------------------------------------------------------------------ tests


@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=5))
def test_mcnemar_is_the_binomial_test(tables: list[tuple[int, int]]) -> None:
    """McNemar's exact test is scipy's binomial test of the pairs that differ; its least p is that of all one way."""
    up, down = (np.array(side) for side in zip(*tables, strict=True))
    p, least = exact.mcnemar(up, down)
    for place, (one, other) in enumerate(tables):
        expected = binomtest(one, one + other).pvalue if one + other else 1.0
        assert p[place] == pytest.approx(expected)
        assert least[place] == pytest.approx(binomtest(0, one + other).pvalue if one + other else 1.0)
        assert least[place] <= p[place] + 1e-12


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_flips_count_every_choice_of_signs(net: list[int]) -> None:
    """The sign-flip test is what counting all 2^n choices of signs gives; the direction does not matter."""
    sizes = [abs(value) for value in net if value]
    sums = [abs(sum(s * v for s, v in zip(signs, sizes, strict=True)))
            for signs in itertools.product((-1, 1), repeat=len(sizes))]  # fmt: skip
    found = exact.flips(net)
    assert found.p == pytest.approx(np.mean([value >= abs(sum(net)) for value in sums]))
    assert found.least == pytest.approx(min(1.0, np.mean([value >= sum(sizes) for value in sums])))
    assert exact.flips([-value for value in net]) == found


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_fisher_is_scipys(k_a: int, rest_a: int, k_b: int, rest_b: int) -> None:
    """Fisher's test is scipy's, and its least p that of the table with the same margins that is told apart best."""
    n_a, n_b = k_a + rest_a, k_b + rest_b
    found = exact.fisher(k_a, n_a, k_b, n_b)
    assert found.p == pytest.approx(fisher_exact([[k_a, rest_a], [k_b, rest_b]]).pvalue)  # pyright: ignore
    total = k_a + k_b
    tables = [(k, total - k) for k in range(max(0, total - n_b), min(total, n_a) + 1)]
    assert found.least == pytest.approx(min(exact.fisher(one, n_a, other, n_b).p for one, other in tables))


RANKED = st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.5, math.inf]), min_size=1, max_size=5)


@given(RANKED, RANKED)
def test_rank_sums_count_every_way_to_deal(a: list[float], b: list[float]) -> None:
    """The rank-sum test is what counting every way to deal out the values gives, ties and infinities included."""
    every = np.array([*a, *b])
    ranks = np.array([(every < value).sum() + ((every == value).sum() + 1) / 2 for value in every])
    middle = len(a) * ranks.mean()
    away = [abs(ranks[list(chosen)].sum() - middle) for chosen in itertools.combinations(range(len(every)), len(a))]
    found = exact.rank_sum(a, b)
    assert found.p == pytest.approx(np.mean([value >= abs(ranks[: len(a)].sum() - middle) - 1e-9 for value in away]))
    assert found.least <= found.p + 1e-12
    assert exact.rank_sum(b, a).p == pytest.approx(found.p)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_correction_is_holms_where_every_test_can_tell(p: list[float]) -> None:
    """Without a least p it is Holm's step-down, and never below p; with least p above the level no test takes part."""
    found = exact.corrected(p, np.zeros(len(p)))
    order = sorted(range(len(p)), key=lambda i: p[i])
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p) - rank) * p[index]))
        assert found[index] == pytest.approx(running)
    assert np.isnan(exact.corrected(p, np.full(len(p), 0.2))).all()


def test_false_alarms_stay_below_the_level() -> None:
    """Where A and B are the same but for chance, the corrected tests of 30 points raise any alarm in at most 5 %.

    Seeds share draws over the points, so that the tests hang together; outcomes are rare at some points.
    """
    rng, alarms, trials = np.random.default_rng(7), 0, 600
    rates = np.linspace(0.02, 0.6, 30)
    for _ in range(trials):
        luck = rng.random((2, 1, 20)) * 0.5 + rng.random((2, 30, 20)) * 0.5
        a, b = luck < rates[:, None]
        p, least = exact.mcnemar((b & ~a).sum(axis=1), (a & ~b).sum(axis=1))
        found = exact.corrected(p, least)
        assert np.isnan(found).sum() < 30 or not (least <= exact.LEVEL / 30).any()
        alarms += bool((found <= exact.LEVEL).any())
    assert alarms / trials <= exact.LEVEL + 3 * math.sqrt(exact.LEVEL * (1 - exact.LEVEL) / trials)


# -------------------------------------------------------------------------------------------------------- intervals


def of(k: float, n: float) -> tuple[float, Interval]:
    return k / n, Interval(*wilson(k, n))


def test_newcombes_intervals_are_those_in_print() -> None:
    """56 of 70 against 48 of 80: 0.0524 to 0.3339 (Newcombe 1998a, method 10); pairs 1, 1, 7, 12: -0.507 to -0.026."""
    (a, of_a), (b, of_b) = of(48, 80), of(56, 70)
    found = intervals.newcombe(a, of_a, b, of_b)
    assert (float(found.low), float(found.high)) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    both, up, down, neither = 1, 7, 1, 12  # Fagerland et al. 2014, before and after a transplantation
    (a, of_a), (b, of_b) = of(both + down, 21), of(both + up, 21)
    found = intervals.newcombe(b, of_b, a, of_a, intervals.phi(both, down, up, neither))
    assert (float(found.low), float(found.high)) == pytest.approx((-0.507, -0.026), abs=5e-4)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_a_mirrored_difference_has_the_mirrored_interval(both: int, up: int, down: int, neither: int) -> None:
    """B less A is minus A less B, holds the difference seen, and stays within -1 and 1."""
    n = both + up + down + neither
    if not n:
        return
    (a, of_a), (b, of_b) = of(both + down, n), of(both + up, n)
    alike = intervals.phi(both, up, down, neither)
    one, other = intervals.newcombe(a, of_a, b, of_b, alike), intervals.newcombe(b, of_b, a, of_a, alike)
    assert (float(one.low), float(one.high)) == pytest.approx((-float(other.high), -float(other.low)))
    assert -1 - 1e-9 <= one.low <= b - a + 1e-12
    assert b - a - 1e-12 <= one.high <= 1 + 1e-9


def test_seeds_that_err_together_count_as_few() -> None:
    """Cells that copy their seed are worth no more than the seeds; cells of their own are worth nearly themselves."""
    rng = np.random.default_rng(3)
    own = rng.random(40) < 0.4
    share, copied = intervals.by_units(50 * own, np.full(40, 50))
    assert copied.high - copied.low >= np.subtract(*wilson(own.sum(), 40)[::-1]) * 0.98
    mixed = rng.binomial(50, 0.4, 40)
    _, independent = intervals.by_units(mixed, np.full(40, 50))
    width = float(np.subtract(*wilson(mixed.sum(), 2000)[::-1]))
    assert width * 0.999 <= independent.high - independent.low <= 1.6 * width
    assert share == pytest.approx(own.mean())
    assert intervals.by_units(np.zeros(5), np.full(5, 100))[1].high == pytest.approx(float(wilson(0, 5)[1]))


@given(st.lists(st.integers(-8, 8), min_size=2, max_size=12))
def test_the_gain_of_seeds_has_students_interval(net: list[int]) -> None:
    """Of seeds with equally many cells it is that of the mean of their gains, cut off at -1 and 1; it is mirrored."""
    interval = intervals.of_nets(net, np.full(len(net), 8))
    known = ttest_1samp(np.array(net) / 8, 0).confidence_interval(0.95) if len(set(net)) > 1 else [net[0] / 8] * 2
    assert list(interval) == pytest.approx(np.clip(known, -1, 1))
    mirrored = intervals.of_nets([-one for one in net], np.full(len(net), 8))
    assert (mirrored.low, mirrored.high) == pytest.approx((-interval.high, -interval.low))


@given(st.integers(1, 60))
def test_the_interval_of_a_median_is_the_narrowest_that_is_sure_enough(n: int) -> None:
    """Its ends are ranks with at least 95 % between them by the sign test, and the next ranks inward have less."""
    middle, low, high = intervals.median_of(np.random.default_rng(n).permutation(n).astype(float))
    assert middle == (n - 1) / 2
    chance = lambda outside: 1 - binomtest(outside, n).pvalue if outside >= 0 else 1.0  # noqa: E731
    if math.isinf(low):
        assert chance(0) < 0.95
        return
    assert (low, high) == (low, n - 1 - low)
    assert chance(int(low)) >= 0.95 - 1e-12
    assert int(low) + 1 > (n - 1) / 2 or chance(int(low) + 1) < 0.95


# ----------------------------------------------------------------------------------------------------------- curves


def naive(
    one: Sequence[Any], other: Sequence[Any], steps: tuple[list[int], list[int]]
) -> tuple[int, float, int | None]:
    """Entries compared, the largest gap and the step where it is first."""
    worst, at, count = 0.0, None, 0
    for step in sorted(set(steps[0]) & set(steps[1])):
        count += 1
        pairs = zip(one[steps[0].index(step)], other[steps[1].index(step)], strict=True)
        for x, y in pairs:
            gap = 0.0 if x == y or (math.isnan(x) and math.isnan(y)) else abs(x - y)
            gap = math.inf if math.isnan(gap) else gap
            if gap > worst:
                worst, at = gap, step
    return count, worst, at


NUMBER = st.sampled_from([0.0, 1.0, -1.5, 2.25, 1e300, math.inf, -math.inf, math.nan])


@st.composite
def recorded(draw: st.DrawFn) -> tuple[list[int], list[list[float]]]:
    """Steps, and as many entries of two numbers."""
    steps = sorted(draw(st.sets(st.integers(0, 5), max_size=6)))
    return steps, [[draw(NUMBER), draw(NUMBER)] for _ in steps]


@settings(max_examples=60)
@given(st.lists(st.tuples(recorded(), recorded()), min_size=1, max_size=4))
def test_gaps_are_those_of_a_plain_loop(cells: list[Any]) -> None:
    """At common steps every value is compared, infinities and NaN too; mirrored, the same with A and B exchanged."""
    kind = pa.list_(pa.list_(pa.float64()))
    steps = [Nested.of(pa.array([cell[side][0] for cell in cells], pa.list_(pa.int64()))) for side in (0, 1)]
    curves = [Nested.of(pa.array([cell[side][1] for cell in cells], kind)) for side in (0, 1)]
    found = gaps("curve", curves[0], curves[1], (steps[0], steps[1]), 10)
    assert found["place"].to_list() == [10 + place for place in range(len(cells))]
    for row, (one, other) in zip(found.iter_rows(named=True), cells, strict=True):
        count, worst, at = naive(one[1], other[1], (one[0], other[0]))
        assert (row["entries"], row["step"]) == (count, at)
        assert row["largest"] == worst
        assert row["same"] == (one[0] == other[0] and worst == 0)
        assert (row["left_a"], row["left_b"]) == (len(one[0]) - count, len(other[0]) - count)
    mirrored = gaps("curve", curves[1], curves[0], (steps[1], steps[0]), 10)
    swapped = {"left_a": "left_b", "left_b": "left_a", "a": "b", "b": "a"}
    assert mirrored.rename(swapped).select(found.columns).equals(found)


def test_gaps_of_other_things_than_numbers() -> None:
    """Pictures are the same or not; entries of another size, cells without the curve and scalars are told as such."""
    steps = Nested.of(pa.array([[0, 5], [0, 5], [0, 5]]))
    pictures = [[[b"x", None], [b"y", b"z"]], [[b"x", None], [b"y", b"!"]]]
    sides = [Nested.of(pa.array([cell, pictures[0], None], pa.list_(pa.list_(pa.binary())))) for cell in pictures]
    found = gaps("samples", sides[0], sides[1], (steps, steps))
    assert found["place"].to_list() == [0, 1]
    assert found.select("same", "differ", "largest", "step", "entry").rows() == [
        (False, 1, 1.0, 5, 2),
        (True, 0, 0.0, None, None),
    ]
    wide, narrow = (Nested.of(pa.array([[[1.0] * n, [2.0]]])) for n in (3, 2))
    one = Nested.of(pa.array([[0, 5]]))
    assert gaps("w", wide, narrow, (one, one)).select("unlike", "differ", "same", "largest").rows() == [
        (1, 1, False, math.inf)
    ]
    flat = [Nested.of(pa.array([1.0, None, 0.0])), Nested.of(pa.array([1.5, 2.0, -0.0]))]
    assert gaps("s", flat[0], flat[1], None).select("place", "same", "largest", "relative").rows() == [
        (0, False, 0.5, pytest.approx(1 / 3)),
        (1, False, 0.0, 0.0),  # only one of them has it
        (2, False, 0.0, 0.0),  # the sign of a zero is a bit, too
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([2**53], [2**53 + 1], False),
        ([2**53 + 1], [2**53 + 1], True),
        ([3, None], [3, None], True),
        ([3, None], [3, 0], False),
        ([math.nan, None], [math.nan, None], True),
        ([math.nan], [None], False),
        ([2**53 + 1], [7.0], False),
    ],
)
def test_what_float64_cannot_tell_apart_is_told_apart(one: list[Any], other: list[Any], same: bool) -> None:
    """Integers too large for it are compared as integers, and null is no NaN."""
    sides = [
        Nested.of(
            pa.array([values], pa.list_(pa.float64() if any(isinstance(v, float) for v in values) else pa.int64()))
        )
        for values in (one, other)
    ]
    found = gaps("curve", sides[0], sides[1], None)
    assert found["same"].to_list() == [same]
    assert (found["largest"].to_list() == [0.0]) == same


# ---------------------------------------------------------------------------------------------------------- pairing


@dataclass
class Grid:
    """A sweep over x and perhaps y, made of the points, seeds and missing cells that a test wants."""

    letter: str
    xs: list[int]
    ys: list[float]
    seeds: list[int]
    lost: set[int] = field(default_factory=set)
    rate: float = 1.0

    @property
    def axes(self) -> list[str]:
        return ["x", *(["y.1"] if len(self.ys) > 1 else [])]

    @property
    def resolved(self) -> Mapping[str, Any]:
        return {"seeds": self.seeds}

    @property
    def parameters(self) -> list[str]:
        return ["x", "y", "rate"]

    @property
    def cells(self) -> pl.DataFrame:
        points = list(enumerate(itertools.product(self.xs, self.ys)))
        rows = [
            {"point": point, "preset": None, "x": x, "y": [0.0, y], "rate": self.rate, "seed": seed, "status": "ok",
             "cell_id": f"{self.letter}{point}-{seed}", "shard": "s"}
            for seed in self.seeds for point, (x, y) in points
        ]  # fmt: skip
        kept = [row for place, row in enumerate(rows) if place not in self.lost]
        return pl.DataFrame(kept or rows, schema_overrides={"preset": pl.String})


AXIS = st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True)


@st.composite
def grids(draw: st.DrawFn, letter: str) -> Grid:
    ys = [float(y) for y in draw(AXIS)]
    return Grid(
        letter, draw(AXIS), ys, draw(AXIS), draw(st.sets(st.integers(0, 30))), draw(st.sampled_from([1.0, 2.0]))
    )


@settings(max_examples=60)
@given(grids("a"), grids("b"))
def test_cells_are_paired_by_what_varies_and_seed(a: Grid, b: Grid) -> None:
    """Pairs are all cells with equal x, y and seed; whoever is left is told with the reason; mirrored, the same."""
    keys = {grid.letter: {(row["x"], row["y"][1], row["seed"]): row["cell_id"] for row in grid.cells.to_dicts()}
            for grid in (a, b)}  # fmt: skip
    begun = [{key[:2] for key in keys[letter]} for letter in "ab"]
    varies = len(a.ys) > 1 or len(b.ys) > 1
    if not varies and a.ys != b.ys:  # y is no axis of either: it may differ, and is told
        keys["b"] = {(x, a.ys[0], seed): cell for (x, _, seed), cell in keys["b"].items()}
        begun[1] = {(x, a.ys[0]) for x, _ in begun[1]}
    if not begun[0] & begun[1]:
        with pytest.raises(SwingbyError, match="no point of A is one of B"):
            pair(a, b)
        return
    found, mirrored = pair(a, b), pair(b, a)
    expected = {(keys["a"][key], keys["b"][key]) for key in keys["a"].keys() & keys["b"].keys()}
    assert set(found.pairs.select("cell_a", "cell_b").rows()) == expected
    assert set(mirrored.pairs.select("cell_b", "cell_a").rows()) == expected
    for side, grid in (("a", a), ("b", b)):
        left = found.unpaired[side]
        assert left.cells + found.pairs.height == grid.cells.height
        assert mirrored.unpaired["b" if side == "a" else "a"] == left
        other = b if side == "a" else a
        assert left.off_grid == sum(key[:2] not in begun[side == "a"] for key in keys[side])
        assert left.seeds == sum(key[:2] in begun[side == "a"] and key[2] not in other.seeds for key in keys[side])
    rates = [item.values for item in found.differing if item.name == "rate"]
    assert rates == ([[(a.rate, b.rate)]] if a.rate != b.rate else [])


def test_a_parameter_that_one_side_lacks_has_its_introduction_default() -> None:
    """A parameter that was added later stands at its introduction default in older cells; else it is an error."""

    class Older(Grid):
        @property
        def parameters(self) -> list[str]:
            return ["x", "rate"]

        @property
        def cells(self) -> pl.DataFrame:
            return super().cells.drop("y")

    a, b = Grid("a", [1, 2], [3.0, 4.0], [0, 1]), Older("b", [1, 2], [4.0], [0, 1])
    found = pair(a, b, {"y": [0.0, 4.0]})
    assert found.pairs.height == 4
    assert found.unpaired["a"].values == {"y.1": [3.0]}
    with pytest.raises(SwingbyError, match=r"b knows no parameter y"):
        pair(a, b)


# ----------------------------------------------------------------------------------------------------------- shares


def planted(changed: Sequence[int], seeds: int = 14, points: int = 12, seed: int = 1) -> shares.Samples:
    """Samples of two sweeps with the same runs, but for the points at which every run of B shows the outcome."""
    rng = np.random.default_rng(seed)
    rows = [(point, number) for point in range(points) for number in range(seeds)]
    shows = rng.random(len(rows)) < 0.1
    frames = []
    for side in "ab":
        values = [
            bool(show) or (side == "b" and point in changed) for show, (point, _) in zip(shows, rows, strict=True)
        ]
        frames.append(pl.DataFrame({
            "point": [point for point, _ in rows], "unit": [number for _, number in rows], "status": ["ok"] * len(rows),
            "cell_id": [f"{side}{point}-{number}" for point, number in rows],
            "shows": values, "height": [float(value) for value in values],
            "fate": ["far" if value else "near" for value in values],
        }))  # fmt: skip
    pairs = pl.DataFrame({"cell_a": frames[0]["cell_id"], "cell_b": frames[1]["cell_id"]})
    kinds: dict[str, Any] = {"shows": "yes_no", "height": "number", "fate": "category"}
    return shares.samples(frames[0], frames[1], pairs, kinds)


def test_a_planted_change_is_found_and_named() -> None:
    """A change at one point is told there, in every outcome that shows it, and nowhere else."""
    found = shares.compared(planted([7]))
    sure = found.filter((pl.col("corrected") <= exact.LEVEL) & pl.col("point").is_not_null())
    assert set(sure.select("point", "outcome").rows()) == {(7, "shows"), (7, "height"), (7, "fate")}
    row = found.row(by_predicate=(pl.col("point") == 7) & (pl.col("outcome") == "shows"), named=True)
    assert (row["k_b"], row["n_b"], row["down"]) == (14, 14, 0)
    assert row["up"] == 14 - row["k_a"]
    assert row["low"] > 0
    assert (row["a_low"], row["a_high"]) == pytest.approx(tuple(map(float, wilson(row["k_a"], 14))))
    whole = found.row(by_predicate=pl.col("point").is_null() & (pl.col("outcome") == "shows"), named=True)
    assert whole["n_a"] == 14 * 12
    assert whole["p"] == pytest.approx(2 * 0.5 ** row["up"])


def test_without_a_common_seed_samples_are_independent() -> None:
    """Where no seed is in both, the test at a point is Fisher's, and the planted point is found all the same."""
    given = planted([3], seeds=20)
    found = shares.compared(shares.Samples(None, given.alone, given.kinds, given.orders))
    row = found.row(by_predicate=(pl.col("point") == 3) & (pl.col("outcome") == "shows"), named=True)
    assert row["test"] == "Fisher"
    assert row["p"] == pytest.approx(
        fisher_exact([[row["k_a"], 20 - row["k_a"]], [20, 0]]).pvalue  # pyright: ignore[reportAttributeAccessIssue]
    )
    sure = found.filter((pl.col("corrected") <= exact.LEVEL) & pl.col("point").is_not_null())
    assert set(sure["point"]) == {3}
    assert found["up"].null_count() == found.height


# ------------------------------------------------------------------------------------------------- sweeps and pages

WALKS = """
name: {name}
title: "<b>walks</b>"
experiment: walk
base: {{rate: {rate}, length: 6, wants: {wants}}}
axes: {{width: {widths}}}
seeds: {seeds}
"""


def walked(data: Path, name: str = "walks", pilot: bool = False, **changes: Any) -> Path:
    """A data folder with a small sweep of walks, of a shard for each width, or several where there is a pilot."""
    values = {"rate": 1.0, "wants": "ok", "widths": [1, 2], "seeds": 6} | changes
    sweep = Sweep.parse(WALKS.format(name=name, **values), "walks.yaml")
    run_sweep(sweep, data, local=True, pilot=pilot, progress=Progress())
    return data


def sentences(diff: Diff) -> str:
    return " ".join(summary.sentences(diff))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Two data folders: one with the sweeps walks, faster and elsewhere, and one with walks trained again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(MISBEHAVING))
        one, two = (tmp_path_factory.mktemp("diff") / name for name in ("one", "two"))
        walked(walked(walked(one), "faster", rate=1.5), "elsewhere", widths=[7, 8], seeds=1)
        yield one, walked(two)


def test_the_same_sweep_trained_twice_is_bit_for_bit_the_same(folders: tuple[Path, Path]) -> None:
    """A sweep against itself, and against another training of it, differs in nothing, and that is said."""
    one, _ = folders
    for other in folders:
        with compared("walks", "walks", one, other) as diff:
            assert diff.same
            assert diff.finished.height == 12
            assert set(diff.columns["differ"]) == {0}
            assert diff.significant.is_empty()
            assert diff.worst(5).is_empty()
            assert diff.same_cells == (12 if other == one else 0)
            assert set(diff.shares["difference"]) == {0.0}
            assert all(
                "no pair differs" in row for table in tables(diff, 3, 3)[:1] for row in table.rows if "%" in row[1]
            )
            assert not any(table.rows for table in tables(diff, 3, 3, every=False))
            assert "Identical in all 12 cells" in sentences(diff)
            assert "No parameter differs" in sentences(diff)


def test_a_change_of_a_parameter_is_told_with_its_largest_effect(folders: tuple[Path, Path]) -> None:
    """Walks of rate 1.5 lie half a position of rate 1 apart, most where the walk is farthest; mirrored, the same."""
    data, _ = folders
    with Store.open(data) as store:
        positions = store.sql("from walk select position where rate = 1 and width < 3").rows()
    far = max(abs(place) for row in positions for place in row.position)
    with compared("walks", "faster", data) as diff, compared("faster", "walks", data) as mirrored:
        curve = diff.columns.row(by_predicate=pl.col("column") == "position", named=True)
        assert curve["largest"] == pytest.approx(0.5 * far)
        for whole, some in zip(tables(diff, 3, 3), tables(diff, 3, 3, every=False), strict=True):
            left = int(some.rest.split()[0]) if some.rest else 0
            assert len(some.rows) + left == len(whole.rows)
            assert [row for row in whole.rows if row in some.rows] == list(some.rows)
        assert curve["differ"] == 12
        assert "rate: 1 in A, 1.5 in B" in sentences(diff)
        worst = diff.worst(3)
        assert worst.height == 3
        again = summary.replays(worst.row(0, named=True), diff)
        assert f"swingby replay {worst['cell_b'][0][:12]} --data {data}" in again
        back = mirrored.columns.row(by_predicate=pl.col("column") == "position", named=True)
        assert (back["largest"], back["largest_step"]) == (curve["largest"], curve["largest_step"])
        for one, other in zip(diff.shares.iter_rows(named=True), mirrored.shares.iter_rows(named=True), strict=True):
            assert (one["up"], one["down"], one["p"]) == (other["down"], other["up"], other["p"])
            assert one["difference"] == pytest.approx(-other["difference"])


def test_what_is_not_finished_or_ended_otherwise_is_told(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """Of a sweep that lacks cells the rest is compared, and how many; cells that failed or diverged are told."""
    one, two = folders[0], walked(tmp_path / "two", wants="diverge", widths=[1, 2, 3], seeds=[0, 1, 2, 99])
    sorted((two / "shards").rglob("*.parquet"))[0].unlink()  # as if it were not trained yet
    rebuild(Records.open(two))
    with Store.open(two) as store:
        ended = [(row.width, row.seed) for row in store.sql("from walk select width, seed").rows()]
    expected = sum(width < 3 and seed < 6 for width, seed in ended)
    assert 0 < len(ended) < 12
    with compared("walks", "walks", one, two) as diff:
        assert diff.finished.height == diff.ended_differently.height == expected
        assert not diff.same
        text = sentences(diff)
    assert f"B is not finished: {len(ended)} of 12 cells have ended" in text
    assert f"{expected} pairs ended as ok in A and as diverged in B" in text
    assert f"Every curve is identical in all {expected} cells" in text
    assert "wants: ok in A, diverge in B" in text
    assert "with seeds that B does not have" in text


def test_of_sweeps_in_training_what_has_ended_in_both_is_compared(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """A cell that is under way takes no part, and is counted; so is what has not begun, on either side; and where no
    point has ended in both, the fault says that there is more to come."""
    one, records = folders[0], Records.open(walked(tmp_path / "two", pilot=True))
    name = max(records.shards(), key=lambda shard: records.read_shard(shard)[1].num_rows)
    header, rows = records.read_shard(name)
    assert 2 < rows.num_rows < 6
    records.shard_path(name).unlink()
    part = rows.slice(0, 2).drop_columns(["attempt"])
    for column, value in (("final", False), ("status", None), ("final_position", None)):
        place = part.column_names.index(column)
        part = part.set_column(place, column, pa.array([value] * 2, part.schema.field(column).type))
    records.write_shard(replace(header, attempt=header.attempt + 1), part)
    rebuild(records)
    left = 12 - rows.num_rows
    counts = f"{left} of 12 cells have ended (2 in progress, {rows.num_rows - 2} pending)"
    with compared("walks", "walks", one, records.data) as diff, compared("walks", "walks", records.data, one) as back:
        assert diff.finished.height == back.finished.height == left
        for found, unfinished, whole in ((diff, "B", "A"), (back, "A", "B")):
            assert f"{unfinished} is not finished: {counts}." in sentences(found)
            assert f"{whole} is not finished" not in sentences(found)
            assert f"Compared, of cells that have ended in both: {left} pairs" in sentences(found)
            assert found.curves_same
    with pytest.raises(SwingbyError, match=f"width: A has 1, 2; B has 7, 8\n  A is not finished: {re.escape(counts)}"):
        compared("walks", "elsewhere", records.data, one).__enter__()


@pytest.mark.slow
def test_a_sweep_is_compared_while_it_runs(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """Whenever it is asked: as many pairs as cells have ended, all the same as where the sweep is finished."""
    text = WALKS.format(name="walks", rate=1.0, wants="ok, pause: 1.0", widths=[1, 2], seeds=6)
    data, heights = tmp_path / "two", list[int]()
    sweep = Sweep.parse(text, "walks.yaml")
    options = {"local": True, "pilot": False, "progress": Progress()}
    runner = threading.Thread(target=run_sweep, args=(sweep, data), kwargs=options)
    runner.start()
    while runner.is_alive() or not heights or heights[-1] < 12:
        with suppress(SwingbyError), compared("walks", "walks", folders[0], data) as diff:
            heights.append(diff.finished.height)
            assert diff.b.ended == heights[-1]
            assert diff.curves_same
        assert runner.is_alive() or heights
    runner.join()
    assert heights == sorted(heights)
    assert set(heights) == {6, 12}  # a batch of each width


def test_the_verb_prints_and_writes(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """`swingby diff` prints tables, CSV and JSON, and writes a page that takes no text for markup."""
    data, out = folders[0], tmp_path / "out"
    done = swingby("diff", "walks", "faster", "--data", data, "--out", out, "--same")
    assert done.exit_code == 1, done.stderr
    page = out / "diff-walks-faster" / "diff.html"
    assert done.stdout.rstrip().endswith(str(page))
    for text in ("rate: 1 in A, 1.5 in B", "Curves and scalars", "swingby replay"):
        assert text in done.stdout
        assert text in html.unescape(page.read_text())
    panel = json.loads(unpacked(page.read_text()))
    assert panel["panel"]["names"][:2] == ["position in A", "position in B"]
    assert all(len(of["losses"]) == len(panel["panel"]["names"]) for of in panel["curves"]["of"].values())
    plain = ("--data", data, "--no-page", "--format")
    done = swingby("diff", "walks", "faster", *plain, "csv", "--rows", "cells")
    assert (done.exit_code, len(done.stdout.strip().splitlines())) == (0, 1 + 12 * 2), done.stderr
    done = swingby("diff", "walks", "faster", *plain, "json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["pairs"], found["same"]) == (0, 12, False), done.stderr
    assert {row["column"] for row in found["curves"]} == {"position", "final_position"}


def test_what_cannot_be_compared_is_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """Unknown sweeps, sweeps without a common point, a table that CSV cannot hold: each is an error that says why."""
    for arguments, why in (
        (("walks", "elsewhere"), "width: A has 1, 2; B has 7, 8"),
        (("walks", "walk"), "did you mean 'walks'"),
        (("walks",), "--other-data"),
        (("walks", "walks", "--format", "csv"), "--rows"),
        (("walks", "--other-data", tmp_path / "none"), "none"),
    ):
        done = swingby("diff", *arguments, "--data", folders[0], "--no-page")
        assert (done.exit_code, done.stdout) == (2, ""), done.stderr
        assert why in " ".join(done.stderr.split())


def test_pairing_is_what_its_rows_say() -> None:
    """A pairing without pairs compares independent samples."""
    found: Pairing = pair(Grid("a", [1], [1.0], [0]), Grid("b", [1], [1.0], [5]))
    assert not found.by_seed
    assert found.points.rows() == [(0, 0)]
    assert found.unpaired["a"].seeds == 1
