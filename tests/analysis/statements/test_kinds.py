"""Kinds of claim: what each rule says of seeds, and what rows and conventions make of it together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.errors import SwingbyError
from swingby.select.intervals import wilson
from swingby_analysis.statements import kinds
from swingby_analysis.statements.kinds import (
    ALWAYS,
    EXISTS,
    FAILS,
    HOLDS,
    LAW,
    LEAST,
    MEAN,
    MOST,
    NOT_SHOWN,
    REVERSE,
    SHOWN,
    UNTOLD,
    Outcome,
)
from swingby_analysis.statements.verdict import BOTH, FAILS_SOME, ONLY, RULE, SETTINGS, SETTINGS_UNTOLD, Answer, verdict
from swingby_analysis.stats.intervals import majority

PHRASES = {"paper": "the paper's conventions", "authors": "the authors' conventions"}
counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
samples = st.lists(st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3)), min_size=5, max_size=30)


# exists, always, most


@given(counts)
def test_one_seed_shows_and_no_number_of_seeds_refutes(count: tuple[int, int]) -> None:
    """What exists is shown by a seed that is named; without one it is not shown, and said how common it can be."""
    n, k = count
    found = kinds.exists(n, k, 17)
    assert found.verdict == (SHOWN if k else NOT_SHOWN)
    assert ("seed 17" in found.strength) == bool(k)
    if not k:
        assert f"{100 * float(wilson(0, n)[1]):.2g} %" in found.strength


@given(counts)
def test_one_exception_refutes_and_is_named(count: tuple[int, int]) -> None:
    """Without one it holds from enough seeds on, and says up to which share; with one it does not, of however few."""
    n, k = count
    found = kinds.always(n, k, 17)
    assert found.verdict == (FAILS if k < n else HOLDS if n >= LEAST[ALWAYS] else UNTOLD)
    assert ("seed 17" in found.strength) == (k < n)
    if found.verdict == HOLDS:
        assert f"{100 * float(wilson(0, n)[1]):.2g} %" in found.strength


@given(counts)
def test_most_turns_where_the_interval_passes_one_half(count: tuple[int, int]) -> None:
    """And nowhere else: it is that count from which the interval says the majority; both ways are alike."""
    n, k = count
    found, mirrored = kinds.most(n, k), kinds.most(n, n - k)
    needed = majority(n)
    assert (found.sign == 1) == (needed is not None and k >= needed)
    assert found.sign == -mirrored.sign
    assert found.few == (n < LEAST[MOST])
    if k < n:
        assert kinds.most(n, k + 1).sign >= found.sign


def test_no_share_of_seeds_is_a_cliff() -> None:
    """At 95 % of many seeds nothing turns; a share that says nothing of few seeds says much of many."""
    assert [kinds.most(100, k).verdict for k in (94, 95, 96)] == [HOLDS] * 3
    assert [kinds.most(n, 6 * n // 10).verdict for n in (10, 400)] == [UNTOLD, HOLDS]


# in the mean


@given(samples)
def test_a_mean_is_judged_by_its_interval_both_ways_alike(values: list[float]) -> None:
    """Turned round, it is the reverse; the scale is no matter; the verdict is where the interval lies."""
    seeds, effects = range(len(values)), np.array(values)
    found, turned = kinds.mean(seeds, effects), kinds.mean(seeds, -effects)
    assert found.effect is not None
    assert found.sign == -turned.sign
    assert found.sign == int(found.effect.low > 0) - int(found.effect.high < 0)
    assert kinds.mean(seeds, 4 * effects).sign == found.sign


def test_a_mean_below_zero_is_no_reverse_where_that_is_no_finding() -> None:
    """Then the claim does not hold; above zero, and where nothing is told, the verdict is that of any mean."""
    for effects, other in (([-2.0, -1.0, -1.5, -1.2, -1.8], FAILS), ([1.0, 2.0, 1.5, 1.2, 1.8], HOLDS)):
        assert kinds.mean(range(5), effects, reversible=False).verdict == other
    assert kinds.mean(range(5), [-2.0, -1.0, -1.5, -1.2, -1.8]).verdict == REVERSE
    assert kinds.mean(range(5), [-1.0, 1.0, 0.5, -0.5, 0.1], reversible=False).verdict == NOT_SHOWN


def test_numbers_of_one_seed_are_one_number() -> None:
    """Ten rows of each of three seeds are three seeds, which are too few; numbers that are not finite tell nothing."""
    assert kinds.mean([0, 1, 2] * 10, np.arange(30.0)).few
    whole = kinds.mean(range(6), np.arange(1.0, 7.0))
    again = kinds.mean([*range(6), *range(6), 7, 8], [*np.arange(1.0, 7.0)] * 2 + [np.nan, np.inf])
    assert (whole.verdict, whole.n) == (HOLDS, 6)
    assert whole == again


def test_a_tolerance_makes_it_a_claim_of_no_effect() -> None:
    """The whole interval has to lie within it; wholly beyond it the claim does not hold; across it, nothing is told."""
    spread = 0.1 * np.array([-1, -0.5, 0, 0.5, 1])
    for shift, verdict_ in ((0.0, HOLDS), (0.2, UNTOLD), (0.25, UNTOLD), (0.5, FAILS), (-0.5, FAILS)):
        found = kinds.mean(range(5), spread + shift, within=0.2)
        assert found.verdict == (NOT_SHOWN if verdict_ == UNTOLD else verdict_)


@given(samples, samples)
def test_two_samples_are_compared_both_ways_alike(one: list[float], other: list[float]) -> None:
    """With the sides exchanged it is the reverse; ranks alone decide; equal samples show nothing."""

    def larger(x: list[float], y: list[float], of: Callable[[float], float] = float) -> Outcome:
        values = [of(value) for value in (*x, *y)]
        return kinds.larger(range(len(values)), [True] * len(x) + [False] * len(y), values)

    found, turned = larger(one, other), larger(other, one)
    assert found.effect is not None
    assert turned.effect is not None
    assert found.sign == -turned.sign
    assert found.effect.value == pytest.approx(1 - turned.effect.value)
    assert larger(one, other, lambda x: x**3).sign == found.sign
    assert larger(one, one).sign == 0


def test_samples_apart_hold_and_samples_of_four_are_too_few() -> None:
    """Five against five that do not overlap hold, with an interval; four are too few."""
    for size, expected in ((5, HOLDS), (4, UNTOLD)):
        found = kinds.larger(range(2 * size), [True] * size + [False] * size, np.arange(2.0 * size)[::-1])
        assert found.verdict == expected
    assert kinds.larger(range(10), [False] * 5 + [True] * 5, np.arange(10.0)[::-1]).verdict == REVERSE


@pytest.mark.parametrize("spread", ["normal", "skewed"])
def test_a_mean_without_an_effect_is_rarely_taken_for_one(spread: str) -> None:
    """Of made-up samples of no effect about one in twenty has a verdict: the interval covers as often as it says."""
    rng = np.random.default_rng(5)
    draws = rng.normal(size=(400, 20)) if spread == "normal" else rng.exponential(size=(400, 40)) - 1
    told = np.mean([kinds.mean(range(len(row)), row).sign != 0 for row in draws])
    assert told == pytest.approx(0.05, abs=0.04)


# law


def errors_of(error: Callable[[float], float], seeds: int = 8, spread: float = 0.1) -> Outcome:
    """A law with the error of each of five parameters, which scatters over seeds; 1 % is allowed, the slope is 1."""
    rng = np.random.default_rng(3)
    parameters = [0.1, 0.03, 0.01, 0.003, 0.001]
    rows = [(seed, p, error(p) * float(np.exp(spread * rng.normal()))) for seed in range(seeds) for p in parameters]
    return kinds.law(*(list(column) for column in zip(*rows, strict=True)), within=0.01, slope=1.0)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (lambda p: p, HOLDS),
        (lambda p: 3 * p**2, HOLDS),
        (lambda p: max(p, 1e-7), HOLDS),
        (lambda p: p if p > 0.05 else 0.0, HOLDS),  # rounding: zero from some parameter on
        (lambda p: 0.0, HOLDS),
        (lambda p: 1e-16, HOLDS),
        (lambda p: p + 0.02, FAILS),  # near misses: it falls to too much
        (lambda p: 0.03 * p**0.1, FAILS),
        (lambda p: 0.005, FAILS),  # small enough, and not falling at all
        (lambda p: 1e-5 / p, FAILS),  # small at first, and growing
        (lambda p: np.inf if p < 0.002 else p, FAILS),
        (lambda p: 10 * p, UNTOLD),  # falls, to about what is allowed
    ],
)
def test_a_law_is_an_error_that_goes_to_zero(error: Callable[[float], float], expected: str) -> None:
    """By its exponent and by what is left; an error of zero, or of rounding, is a law that holds."""
    assert errors_of(error).verdict == expected


def test_the_exponent_of_a_law_is_that_of_its_error() -> None:
    """Its interval covers the exponent, which is given beside the expected one."""
    found = errors_of(lambda p: 0.5 * p**1.5)
    assert found.effect is not None
    assert found.effect.low < 1.5 < found.effect.high
    assert "1 expected" in found.strength


def test_a_law_needs_seeds_and_values() -> None:
    """Four seeds, or two values of the parameter, are too few; what no law can have is refused."""
    assert errors_of(lambda p: p, seeds=LEAST[LAW] - 1).few
    assert kinds.law(list(range(8)) * 2, [0.1] * 8 + [0.01] * 8, [0.1] * 8 + [0.001] * 8, within=0.01).few
    for parameter, error in ((0.0, 0.1), (-1.0, 0.1), (0.1, -0.1)):
        with pytest.raises(SwingbyError, match="a parameter above 0, and an error of 0 or more"):
            kinds.law([0], [parameter], [error], within=0.01)


# rows and conventions


def rows_of(kind: str, *signs: tuple[str, int | None]) -> list[Answer]:
    """Rows of a kind with a sign each; None for too few seeds."""
    return [
        Answer(convention, "", "", Outcome(kind, sign or 0, 20, 10, sign is None, "")) for convention, sign in signs
    ]


@pytest.mark.parametrize(
    ("kind", "rows", "expected"),
    [
        (MOST, [("paper", 1), ("authors", 1)], HOLDS),
        (MOST, [("paper", -1), ("authors", -1)], FAILS),
        (MOST, [("paper", 0)], UNTOLD),
        (MOST, [("paper", 1), ("authors", -1)], ONLY.format(PHRASES["paper"])),
        (MOST, [("paper", 1), ("authors", 0)], SETTINGS_UNTOLD),  # merely untold: not "only"
        (MOST, [("paper", 1), ("authors", -1), ("authors", 0)], SETTINGS),
        (MOST, [("paper", 1), ("authors", None)], HOLDS),  # too few seeds: left out
        (MOST, [("paper", -1), ("authors", 0)], FAILS_SOME),
        (MOST, [("paper", 1), ("paper", -1)], SETTINGS),
        (MEAN, [("paper", 1), ("paper", -1)], BOTH),
        (MEAN, [("paper", -1), ("paper", 0)], f"{REVERSE} in some settings"),
        (MEAN, [("paper", 0), ("authors", 0)], NOT_SHOWN),
        (ALWAYS, [("theory", 1), ("authors", -1), ("paper", -1)], ONLY.format("theory")),
        (EXISTS, [("paper", 0), ("paper", 0), ("authors", 1)], SHOWN),
        (EXISTS, [("paper", 0), ("authors", 0)], NOT_SHOWN),
        (LAW, [("paper", None), ("authors", None)], UNTOLD),
        (MOST, [], UNTOLD),
    ],
)
def test_rows_make_the_verdict_in_any_order(kind: str, rows: list[tuple[str, int | None]], expected: str) -> None:
    """Rows that agree give it; "only" needs every row of all others to be against it."""
    assert verdict(rows_of(kind, *rows), PHRASES) == expected
    assert verdict(rows_of(kind, *reversed(rows)), PHRASES) == expected


def test_the_page_says_every_kind_and_number() -> None:
    """The rules in words name each kind, each verdict, and the least numbers of seeds."""
    said = " ".join(RULE)
    for word in (SHOWN, NOT_SHOWN, HOLDS, REVERSE, FAILS, UNTOLD, SETTINGS, SETTINGS_UNTOLD, BOTH, FAILS_SOME):
        assert f'"{word}"' in said
    for kind, number in LEAST.items():
        assert f"{kind} {number}" in said
