"""Predicates of the claims on `multilinear`, on made-up runs: each with runs that hold, and with near misses."""

from __future__ import annotations

from tests.support.claims import Case, Row


def usual(seed: int) -> Row:
    """A curve of infinitely many skills on which every law holds, with an alpha of its own a seed."""
    alpha = round(0.3 + 0.01 * seed, 2)
    return {
        "seed": 0, "model": "mean", "bottleneck": "time", "alpha": alpha, "skills": None, "width": None,
        "drawn": False, "regime": "scaling", "r0": 0.01, "lr": 0.05, "theory_exponent": -0.5, "bias": 0.0,
        "predicted_bias": 0.0, "width_exponent": 0.4, "theory_width_exponent": 0.4, "last_strength": 0.6,
        "learned_share": 0.9, "stages": 9, "predicted_stages": 9, "prefactor": 2.0, "predicted_prefactor": 2.0,
        "followed_law": "table", "change_times_k": -alpha, "predicted_change_times_k": -alpha, "growth_ratio": 1.0,
        "printed_growth_ratio": 1.0, "step": [0, 1], "strength": [[0.2, 0.1, 0.1], [0.9, 0.8, 0.7]],
        "x": [1.0, 2.0, 4.0], "loss": [2.0, 2.0, 2.0],
    }  # fmt: skip


def training_set(seed: int) -> Row:
    """A curve over samples, whose seed is that of its training set."""
    return usual(0) | {"seed": seed, "bottleneck": "data", "drawn": True}


def off(share: float) -> Row:
    """Changes of the loss by a skill that are off by a share of alpha, the predicted ones exact."""
    return {"change_times_k": lambda row: -row["alpha"] * (1 + share)}


def curve(*above: float) -> Row:
    """A curve of one width, with its distances from 2 x^(-1/2) as shares of it."""
    return {"width": 32, "loss": [2.0 * x**-0.5 * (1 + part) for x, part in zip((1.0, 2.0, 4.0), above, strict=True)]}


COMPUTE = {"bottleneck": "compute"}
NOT_YET: Row = {"regime": "start"}
FINITE: Row = {"skills": 1000}
NO_LAW: Row = {"theory_exponent": None}


def exponent(slug: str, bottleneck: str) -> Case:
    """The exponent of Table 4.1 over a resource, of endless curves that scale."""
    own: Row = {"bottleneck": bottleneck}
    others = [name for name in ("time", "width", "compute") if name != bottleneck]
    changes = [NOT_YET, FINITE, NO_LAW, *({"bottleneck": name} for name in others)]
    aside = [change | {"bias": 0.5} for change in changes]
    return Case(slug, [own | {"bias": 0.0099}], [{"bias": 0.0101}, {"bias": -0.0101}], aside)


CASES = (
    exponent("table-4-1-time", "time"),
    exponent("table-4-1-width", "width"),
    exponent("table-4-1-compute", "compute"),
    Case("skill-delay", [{}], [{"strength": [[0.2, 0.1, 0.1], [0.9, 0.7, 0.8]]}]),
    Case("stage-like", [{}], [{"stages": 8}], [{"stages": None}]),
    Case("eq-4-13", [off(0.009)],
         [off(0.011), off(-0.011), {"predicted_change_times_k": lambda row: -row["alpha"] * 1.0195}]),
    Case("eq-4-13", [off(0.0195) | {"predicted_change_times_k": lambda row: -row["alpha"] * 1.0195}],
         [off(0.0205) | {"predicted_change_times_k": lambda row: -row["alpha"] * 1.0205}]),
    Case("eq-4-12-printed", [off(-2.009)], [off(0.0), off(-2.011), off(-1.989)]),
    Case("prefactors", [{"prefactor": 2.0198}], [{"prefactor": 2.0202}, {"prefactor": 1.9798}],
         [NOT_YET | {"prefactor": 3.0}, NO_LAW | {"prefactor": 3.0}]),
    Case("best-width", [COMPUTE | {"width_exponent": 0.40399}],
         [{"width_exponent": 0.40401}, {"width_exponent": 0.39599}],
         [change | {"width_exponent": 1.0} for change in (NOT_YET, FINITE, NO_LAW, {"bottleneck": "time"})]),
    Case("best-width-fits-all", [COMPUTE | {"last_strength": 0.5}], [{"last_strength": 0.499}],
         [change | {"last_strength": 0.0} for change in (NOT_YET, FINITE, NO_LAW, {"bottleneck": "time"})]),
    Case("best-width-fits-most", [COMPUTE | {"learned_share": 0.501}], [{"learned_share": 0.5}],
         [change | {"learned_share": 0.0} for change in (NOT_YET, FINITE, NO_LAW, {"bottleneck": "time"})]),
    Case("envelope", [{}, curve(0.5, 0.029, 0.3), curve(0.1, -0.0099, 0.1)],
         [[{}, curve(0.5, 0.031, 0.3)], [{}, curve(0.1, -0.0101, 0.1)]],
         [curve(0.5, 0.031, 0.3) | {"width": 31}, curve(0.5, 0.1, 0.031), FINITE | curve(0.5, 0.031, 0.3),
          {"width": 16, "predicted_prefactor": 9.0}, FINITE | {"predicted_prefactor": 9.0}]),
    Case("eq-b-9", [{"growth_ratio": 1.0099, "printed_growth_ratio": 2.0}],
         [{"growth_ratio": 1.0101}, {"growth_ratio": 0.9899}]),
    Case("eq-b-8-printed", [{"growth_ratio": 2.0099, "printed_growth_ratio": 2.0}],
         [{"growth_ratio": 1.0}, {"growth_ratio": 2.0101}, {"growth_ratio": 1.9899}]),
    Case("finite-skills", [FINITE | {"bias": 0.32, "predicted_bias": 0.3}], [{"bias": 0.33}, {"bias": 0.27}],
         [change | {"bias": 1.0} for change in (NOT_YET, NO_LAW, {"skills": None}, {"bottleneck": "width"})]),
    Case("small-alpha", [FINITE | {"bias": lambda row: 1 - row["alpha"]}],
         [{"bias": lambda row: 1 - row["alpha"] + 0.011}], [NO_LAW | {"bias": 5.0}]),
)  # fmt: skip
SETS = (
    Case("table-data", [{"bias": 0.019}], [{"bias": 0.021}, {"bias": -0.021}],
         [{"followed_law": "nothing left", "bias": 1.0}]),
    Case("table-data", [{"bias": 0.019, "followed_law": None}], [{"bias": 0.021}]),
    Case("expected-loss", [{"prefactor": 2.0198}], [{"prefactor": 2.0202}, {"prefactor": 1.9798}],
         [{"predicted_prefactor": None, "prefactor": 9.0}]),
)  # fmt: skip
CLAIMS = {"multilinear": ((usual, CASES), (training_set, SETS))}
