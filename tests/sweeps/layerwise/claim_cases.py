"""Predicates of the claims on `modes` and `linear_net`, on made-up runs: each with runs that hold, and near misses."""

from __future__ import annotations

import math

from tests.support.claims import Case, Row, law


def usual(seed: int) -> Row:
    """A run of modes that are learned one after the other, with what a linear net records beside it."""
    return {
        "seed": seed, "system": "diagonal", "status": "ok", "layers": 2, "modes": 2, "drive": "flow",
        "start": 0.01, "target": 5.0, "lr": 0.01, "alpha": 0.5, "d": 3, "width": 8, "c": 1.0, "sigma": 0.01,
        "fate": "learned", "in_order": True, "stages": 4, "pair_overlaps": [0.01, 0.02, 0.03, 0.04],
        "delay": [0.3, 0.3],
        "second_moments": [1.0, 0.5], "overlap": 0.04, "printed_overlap": 0.04, "predicted_overlap": 0.04,
        "law_error": 0.0005, "decoupling_error": 0.0005, "naive_delay": [1.0, 1.0, 1.1], "order_follows_rho": True,
        "drift": [0.0, 1e-9], "rank": 3, "final_effective_rank": 3.0,
        "strength": [[0.0] * 4, [1.0, 0.999, 0.995, 0.001]],
        "emergent_time": [1.0, 1.1, 2.0], "half_time": [2.0, 2.2, 4.0], "saturation_time": [2.0, 2.2, 4.0],
    }  # fmt: skip


def times(beta: float = 1.1, gamma: float = 2.0) -> Row:
    """Times of beta and of gamma over those of alpha, to each level alike."""
    ratios = [1.0, beta, gamma]
    return {
        "system": "parity3", "emergent_time": ratios, "half_time": [2 * x for x in ratios],
        "saturation_time": [3 * x for x in ratios],
    }  # fmt: skip


def late(name: str, beta: float, gamma: float) -> Row:
    """The usual times of the parity net, with those of one level moved."""
    usual_times = times()
    return usual_times | {name: [usual_times[name][0] * ratio for ratio in (1.0, beta, gamma)]}


def ends(*strengths: float) -> list[list[float]]:
    """Strengths at the start and the end."""
    return [[0.0] * len(strengths), list(strengths)]


def growing(rate: float, square: bool) -> Row:
    """A first mode of which the strength, or its square, is a sigmoid in rate x 2 rho_1 t, over steps of 0.01."""
    values = [1 / (1 + math.exp(6.5 - rate * 2 * 0.01 * step)) for step in range(400)]
    strength = [[math.sqrt(value) if square else value] for value in values]
    return {"step": list(range(400)), "rho": [1.0], "strength": strength}


DESCENT = {"drive": "gd", "drift": [0.0, 0.1]}
PARITY = {"system": "parity3", "in_order": True}
NARROW = {"width": 2, "rank": 2, "strength": ends(1.0, 0.991, 0.009)}
LEVELS = ("emergent_time", "half_time", "saturation_time")
CASES = (
    Case("net-balanced", [{}], [{"fate": "stalled"}]),
    Case("net-rank", [{"strength": ends(1.0, 0.999, 0.991)}],
         [{"rank": 2, "strength": ends(1.0, 0.999, 0.991)}, {"strength": ends(1.0, 0.999, 0.989)}]),
    Case("net-rank", [NARROW],
         [{"rank": 3}, {"strength": ends(1.0, 0.989, 0.009)}, {"strength": ends(1.0, 0.999, 0.011)},
          {"strength": ends(1.0, 0.999, -0.011)}]),
    Case("net-conserved", [{"drift": [0.0, 9e-7, 1e-8]}, DESCENT],
         [[{"drift": [0.0, 2e-6, 1e-8]}, DESCENT]], [DESCENT]),
    law("net-times-naive", "sigma", "decoupling_error", slope=None, within=0.01),
    Case("net-square-printed", [growing(1.0, square=True), growing(1.09, square=True)],
         [growing(1.0, square=False), growing(1.11, square=True), growing(0.89, square=True)]),
    Case("net-order", [{}], [{"order_follows_rho": False}],
         [{"order_follows_rho": None}]),
    law("net-times-law", "sigma", "law_error", slope=1.0, within=0.01),
    Case("all-stages", [{}], [{"stages": 3}]),
    Case("pair-rule", [{"overlap": 0.04039, "printed_overlap": 0.9}], [{"overlap": 0.04041}, {"overlap": 0.03959}]),
    Case("mode-delay", [{"delay": [0.3, 0.201]}], [{"delay": [0.3, 0.199]}], [{"layers": 1, "delay": [0.0, 0.0]}]),
    Case("parity-order", [PARITY], [{"in_order": False}], [{"system": "parity3_printed", "in_order": False}]),
    Case("at-once", [{"layers": 1, "delay": [0.01, 0.049]}], [{"delay": [0.01, 0.051]}],
         [{"layers": 2, "delay": [0.3, 0.3]}]),
    Case("parity-third", [times(gamma=2.19)], [times(gamma=2.21), times(gamma=1.79)]),
    law("descent", "lr", "law_error", slope=1.0, within=0.02, own={"drive": "gd"},
        aside=[{"drive": "flow", "law_error": 1.0}]),
    law("overlap-vanishes", "start", "overlap", slope=2 / 3, within=0.05),
    Case("order", [{}], [{"in_order": False}], [{"layers": 1, "in_order": False}, {"in_order": None}]),
    Case("pair-rule-printed", [{"overlap": 0.04039, "predicted_overlap": 0.9}],
         [{"overlap": 0.04041}, {"overlap": 0.03959}]),
    Case("parity-second", [times(beta=1.24)], [times(beta=1.26)], [times(beta=2.0) | {"system": "parity3_printed"}]),
    Case("sigmoid", [{"law_error": 0.00099}], [{"law_error": 0.00101}],
         [{"drive": "gd", "law_error": 1.0}, {"layers": 1, "law_error": 1.0}]),
    *(Case("parity-second", [times()], [late(level, 1.6, 2.0)]) for level in LEVELS),
    *(Case("parity-third", [times()], [late(level, 1.1, 3.0)]) for level in LEVELS),
    Case("parity-printed", [{"system": "parity3_printed", "fate": "saturated"}], [{"fate": "stalled"}],
         [{"system": "parity3", "fate": "saturated"}]),
)  # fmt: skip
CLAIMS = {"modes": ((usual, CASES),)}
