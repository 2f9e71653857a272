"""Predicates of the claims on `features`, on made-up runs: each with runs that hold, and with near misses."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from scipy.stats import spearmanr

from tests.support.claims import answers

Row = dict[str, Any]
SEEDS = range(8)


def run(seed: int, **values: Any) -> Row:
    """A run on digits that ends with minimum features; what is not said is None."""
    row = {
        "preset": "digits", "seed": seed, "cell_id": f"{seed}-{sorted(values.items())}", "data": "digits", "n": 1000,
        "layers": 4, "width": 64, "activation": "relu", "batch_norm": False, "loss": "mse", "trained": "all",
        "lr": 0.05, "weight_decay": 1e-3, "separation": 2.0, "classes": None, "output_count": 10, "regime": "minimum",
        "minimum_features": True, "collapse": "full", "leaves": False, "least_kappa": 0.04, "final_kappa_cka": 0.05,
        "final_train_kappa_cka": 0.02, "final_evenness": 0.97, "final_test_accuracy": 0.98, "final_test_loss": 0.05,
        "final_train_accuracy": 1.0, "final_train_loss": 1e-3, "final_constant_overlap": 0.97,
        "final_d_eff_utilization": 10.2, "final_d_eff_intensity": 10.6, "final_utilization_at_classes": 0.98,
        "final_quality_at_classes": 0.9, "final_d_eff_quality": 1.1, "final_nc1": 1e-3, "final_nc2": 0.1,
        "final_nc3": 0.1, "final_nc4": 0.0,
    }  # fmt: skip
    return {**row, **values}


def ask(slug: str, runs: list[Row]) -> list[tuple[str, int, int]]:
    """The verdict, and n and k, of each row of a claim."""
    return [(row.outcome.verdict, row.outcome.n, row.outcome.k) for row in answers(slug, pa.Table.from_pylist(runs))]


def verdicts(slug: str, runs: list[Row]) -> list[str]:
    return [verdict for verdict, *_ in ask(slug, runs)]


def pairs(first: Row, second: Row, **jitter: float) -> list[Row]:
    """Both settings of each seed; numbers of `jitter` grow a little with the seed in the second."""
    rows = []
    for seed in SEEDS:
        moved = {name: second[name] + by * seed for name, by in jitter.items()}
        rows += [run(seed, **first), run(seed, **{**second, **moved})]
    return rows


def test_two_ways_of_training_are_two_regimes() -> None:
    """All layers minimal and the last alone not; a last layer that is minimal, too, is against it."""
    last = {"trained": "last", "minimum_features": False}
    assert verdicts("two-ways-of-training", pairs({}, last)) == ["holds", "holds"]
    last["minimum_features"] = True
    assert sorted(verdicts("two-ways-of-training", pairs({}, last))) == ["does not hold", "holds"]


@pytest.mark.parametrize(("intensity", "expected"), [(10.6, "holds"), (11.5, "does not hold")])
def test_dimensions_are_classes_to_a_tenth(intensity: float, expected: str) -> None:
    """10.6 features are 10, and 11.5 are not."""
    runs = [run(seed, classes=10, final_d_eff_intensity=intensity + 0.01 * seed) for seed in SEEDS]
    assert sorted(verdicts("dimensions-are-classes", runs)) == sorted(["holds", expected])


def test_first_features_miss_at_most_a_twentieth() -> None:
    """Quality of the first C of all features; what lies behind them is missed."""
    for behind, expected in ((0.1, "holds"), (1.5, "does not hold")):
        spectrum = [1.0] * 10 + [behind / 4] * 4
        runs = [run(seed, classes=10, qualities=[[0.0] * 14, spectrum]) for seed in SEEDS]
        assert sorted(verdicts("first-features-suffice", runs)) == sorted(["holds", expected])


def test_a_constant_feature_overlaps_by_95_percent() -> None:
    """One seed at 0.94 is against it."""
    runs = [run(seed) for seed in SEEDS]
    assert verdicts("first-feature-is-constant", runs) == ["holds"]
    runs[3]["final_constant_overlap"] = 0.94
    assert verdicts("first-feature-is-constant", runs) == ["does not hold"]


def test_minimal_features_without_collapse_are_against_strictness() -> None:
    """Linear nets: small kappa, and classes that vary within."""
    runs = pairs({}, {"activation": "linear", "collapse": "none", "final_nc1": 0.5})
    assert verdicts("minimal-is-stricter-than-collapse", runs) == ["does not hold", "holds"]
    far = [{**row, "final_train_kappa_cka": 0.2} for row in runs]
    assert verdicts("minimal-is-stricter-than-collapse", far) == []


def curve(seed: int, after: float) -> list[Row]:
    """A learning curve of exponent -0.3 up to 160 points and `after` from there on, where kappa falls below 0.1."""
    rows = []
    for n in (40, 80, 160, 320, 640):
        error = 0.2 * (n / 160) ** (-0.3 if n <= 160 else after)
        kappa = 0.3 if n < 160 else 0.05
        values = {"final_kappa_cka": kappa, "minimum_features": kappa < 0.1, "final_test_loss": error}
        rows.append(run(seed, n=n, final_test_accuracy=1 - error * (1 + 0.01 * seed), **values))
    return rows


def test_a_learning_curve_breaks_where_features_become_minimal() -> None:
    """Steeper from there on holds, flatter is the reverse; the seed begins extended and ends minimal."""
    steeper = [row for seed in SEEDS for row in curve(seed, -1.0)]
    assert verdicts("curve-breaks-at-the-minimum", steeper) == ["holds", "holds"]
    flatter = [row for seed in SEEDS for row in curve(seed, -0.1)]
    assert verdicts("curve-breaks-at-the-minimum", flatter) == ["the reverse holds", "the reverse holds"]
    assert verdicts("points-lead-to-minimum", steeper) == ["holds"]
    assert verdicts("points-lead-to-minimum", [row for row in steeper if row["n"] > 100]) == ["does not hold"]


@pytest.mark.parametrize(
    ("slug", "base", "better"),
    [
        ("decay-tightens", {"weight_decay": 0.0}, {"final_kappa_cka": 0.02}),
        ("decay-improves", {"weight_decay": 0.0}, {"final_test_accuracy": 0.99}),
        ("norm-tightens", {}, {"batch_norm": True, "final_kappa_cka": 0.02}),
        ("norm-improves", {}, {"batch_norm": True, "final_test_accuracy": 0.99}),
        ("norm-evens", {}, {"batch_norm": True, "final_evenness": 0.99}),
        ("rate-tightens-at-equal-time", {"lr": 0.01}, {"lr": 0.1, "final_kappa_cka": 0.02}),
        ("rate-improves-at-equal-time", {"lr": 0.01}, {"lr": 0.1, "final_test_accuracy": 0.99}),
        ("linear-nets-tighter", {}, {"activation": "linear", "final_kappa_cka": 0.02}),
        ("linear-nets-worse", {}, {"activation": "linear", "final_test_accuracy": 0.93}),
    ],
)
def test_an_effect_is_one_beside_the_run_of_its_seed(slug: str, base: Row, better: Row) -> None:
    """What is said holds, and exchanged values are the reverse."""
    (measure,) = [name for name in better if name.startswith("final_")]
    usual = run(0)[measure]
    step = (better[measure] - usual) * 0.01
    assert verdicts(slug, pairs(base, better, **{measure: step})) == ["holds"]
    worse = {**better, measure: usual - (better[measure] - usual)}
    assert verdicts(slug, pairs(base, worse, **{measure: step})) == ["the reverse holds"]


def test_batch_norm_leads_to_the_minimum_only_from_outside() -> None:
    """Seeds that are minimal without batch norm tell nothing."""
    outside = pairs({"final_kappa_cka": 0.3}, {"batch_norm": True, "final_kappa_cka": 0.05})
    assert ask("norm-leads-to-minimum", outside) == [("holds", 8, 8)]
    assert ask("norm-leads-to-minimum", pairs({}, {"batch_norm": True}))[0][1] == 0


def test_leaving_is_ending_outside_after_having_entered() -> None:
    """One that ends minimal has not left; simple data must neither leave nor end outside."""
    gone = [run(seed, minimum_features=False, leaves=True) for seed in SEEDS]
    assert verdicts("hard-data-leave", gone) == ["holds"]
    assert verdicts("hard-data-leave", [run(seed, leaves=True) for seed in SEEDS]) == ["does not hold"]
    assert verdicts("simple-data-stay", [run(seed, separation=6.0) for seed in SEEDS]) == ["holds"]
    assert verdicts("simple-images-stay", gone) == ["does not hold"]


def test_ranks_are_over_twice_the_classes() -> None:
    """Quality in the order of the intensities holds; what follows the first 2C features does not count."""
    falling, noise = [float(30 - k) for k in range(30)], [5.0] * 20 + [99.0] * 10
    for quality, expected in ((falling, "holds"), (falling[::-1], "the reverse holds")):
        rows = [
            run(seed, intensities=[falling], qualities=[[*quality[:19], quality[19] + seed / 10, *noise[20:]]],
                utilizations=[falling])
            for seed in SEEDS
        ]  # fmt: skip
        assert sorted(verdicts("intensity-goes-with-quality", rows))[-1] == expected


def test_tighter_is_better_within_and_across() -> None:
    """Test error in the order of kappa holds, in the other order it is the reverse."""
    for sign, expected in ((1, "holds"), (-1, "the reverse holds")):
        rows = []
        for seed in SEEDS:
            for place in range(6):
                accuracy = 0.9 - sign * 0.01 * (place + (0.6 if place == seed % 6 else 0) * (-1) ** seed * 2.5)
                decay = {"weight_decay": 10.0**-place, "final_kappa_cka": 0.02 * (1 + place)}
                rows.append(run(seed, final_test_accuracy=accuracy, **decay))
        assert set(verdicts("tighter-is-better", rows)) == {expected}


def test_equal_errors_share_the_mean_of_their_ranks() -> None:
    """Kappa falls while the errors of four runs are equal: Spearman's correlation is scipy's."""
    rows = []
    for seed in SEEDS:
        for place in range(6):
            decay = {"weight_decay": 10.0**-place, "final_kappa_cka": 0.02 * (6 - place)}
            rows.append(run(seed, final_test_accuracy=0.95 - 0.01 * max(place - 3, 0), **decay))
    expected = spearmanr([6 - place for place in range(6)], [max(place - 3, 0) for place in range(6)])[0]
    told = {row.measured for row in answers("tighter-is-better", pa.Table.from_pylist(rows))}
    assert told == {f"Spearman's correlation of kappa and test error {expected:.2f} (mean over the seeds)"}


@pytest.mark.parametrize("backwards", [False, True])
def test_one_of_two_best_rates_may_be_the_tightest(backwards: bool) -> None:
    """Equal accuracies at two rates: the tightest of them counts, in whatever order runs are stored."""
    rows = [
        run(seed, lr=lr, final_test_accuracy=accuracy, final_kappa_cka=kappa)
        for seed in SEEDS
        for lr, accuracy, kappa in ((0.001, 0.9, 0.5), (0.01, 0.97, 0.2), (0.1, 0.97, 0.05))
    ]
    assert verdicts("best-rate-is-tightest", rows[::-1] if backwards else rows) == ["holds"]


def test_random_labels_need_one_minimal_seed_that_learned() -> None:
    """One seed shows it; one that has not learned its labels does not."""
    rows = [run(seed, layers=4, minimum_features=False) for seed in SEEDS]
    assert verdicts("random-labels-minimal", rows) == ["not shown"]
    rows[5]["minimum_features"] = True
    assert verdicts("random-labels-minimal", rows) == ["shown"]
    rows[5]["final_train_accuracy"] = 0.8
    assert verdicts("random-labels-minimal", rows) == ["not shown"]


def test_twenty_sines_leave_a_two_hundredth() -> None:
    """20 features that leave 1/(20 pi^2) of the step are against the claim; 4e-6 would do."""
    for left, expected in ((0.00507, "does not hold"), (4e-6, "holds")):
        start = [(1 - 2 * left) / 20] * 20 + [0.0] * 44
        rows = [run(seed, width=200, qualities=[start, start]) for seed in SEEDS]
        assert verdicts("toy-twenty-features", rows) == [expected]


def test_a_step_is_learned_by_one_feature() -> None:
    rows = [run(seed, width=200, final_d_eff_utilization=1.0) for seed in SEEDS]
    assert verdicts("toy-single-feature", rows) == ["holds"]
    assert verdicts("toy-single-feature", [run(seed, width=200) for seed in SEEDS]) == ["does not hold"]
    ends = {"d_eff_quality": [3.2, 1.1], "d_eff_utilization": [1.8, 1.0], "d_eff_intensity": [1.6, 1.2]}
    rows = [run(seed, width=200, **{k: [v[0] + 0.01 * seed, v[1]] for k, v in ends.items()}) for seed in SEEDS]
    assert verdicts("toy-fewer-features", rows) == ["holds"] * 3
