"""Predicates of the claims on `mlp_regimes`, on made-up runs: each with runs that hold, and with near misses."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tests.support.claims import answers

Row = dict[str, Any]
SEEDS = range(8)


def run(seed: int, **values: Any) -> Row:
    """A run of Table 6.1's default that groks."""
    return {
        "preset": "digits", "seed": seed, "weight_scale": 5.0, "target_scale": 3.0, "input_scale": 1.0,
        "output_scale": 1.0, "l2": 1e-3, "generalization": "grokked", "grokked": True, "train_epoch": 100.0,
        "test_epoch": 1500.0 + seed, "delay": 15.0 + 0.01 * seed, "accuracy_gap": 0.6, "final_test_accuracy": 0.95,
        "kappa_at_train_epoch": 0.5 + 0.001 * seed, "final_kappa": 0.09, "final_d_eff": 9.0, **values,
    }  # fmt: skip


def ask(slug: str, runs: list[Row]) -> list[tuple[str, int, int]]:
    """The verdict, and n and k, of each row of a claim."""
    return [(row.outcome.verdict, row.outcome.n, row.outcome.k) for row in answers(slug, pa.Table.from_pylist(runs))]


def removed(delay: float, kind: str) -> list[Row]:
    """The default and smaller weights of each seed."""
    other = {"weight_scale": 1.0, "delay": delay, "generalization": kind, "grokked": kind == "grokked"}
    return [row for seed in SEEDS for row in (run(seed), run(seed, **other))]


def test_a_removal_leaves_no_delay() -> None:
    """Prompt runs hold, delayed ones do not, and of unresolved ones nothing is told."""
    [(verdict, n, k)] = ask("removals-remove", removed(1.1, "prompt"))
    assert (verdict, n, k) == ("holds", 8, 8)
    [(verdict, n, k)] = ask("removals-remove", removed(3.1, "delayed"))
    assert (verdict, n, k) == ("does not hold", 8, 0)
    [(_, n, _)] = ask("removals-remove", removed(1.1, "unresolved"))
    assert n == 0


def test_a_shorter_delay_is_one_beside_the_default_of_its_seed() -> None:
    """A delay of a fifth holds in the mean, and twice the delay is the reverse."""
    assert ask("removals-shorten", removed(3.1, "delayed"))[0][0] == "holds"
    assert ask("removals-shorten", removed(30.0, "grokked"))[0][0] == "the reverse holds"


def test_a_transition_ends_in_the_minimum_feature_regime() -> None:
    """kappa below 0.1 at the end holds; 0.11 is nearer than before, and no transition into the regime."""
    assert ask("transition-to-minimum", [run(seed) for seed in SEEDS]) == [("holds", 8, 8)]
    near = [run(seed, final_kappa=0.11) for seed in SEEDS]
    assert ask("transition-to-minimum", near) == [("does not hold", 8, 0)]
    assert ask("transition-toward-minimum", near)[0][0] == "holds"


def test_two_features_are_two_to_a_tenth() -> None:
    """2.03 is two; 2.2 is not."""
    for d_eff, expected in ((2.03, "holds"), (2.2, "does not hold")):
        runs = [
            {**run(seed), "target": "number", "final_d_eff": d_eff + 0.001 * seed, "final_kappa": 0.0} for seed in SEEDS
        ]
        assert ask("number-needs-two-features", runs)[0][0] == expected


def test_a_lazier_net_is_compared_with_its_own_seed() -> None:
    """Features that change a tenth as much hold; those that change more are the reverse."""
    for change, expected in ((0.1, "holds"), (1.5, "the reverse holds")):
        runs = []
        for seed in SEEDS:
            common = {"trained": "all", "start_d_eff": 15.0}
            rich = {"target_scale": 1.0, "final_feature_change": 1.0 + 0.01 * seed, **common}
            lazy = {"target_scale": 0.01, "final_feature_change": change, **common}
            runs += [run(seed, **rich), run(seed, **lazy)]
        assert ask("small-target-is-lazy", runs)[0][0] == expected
