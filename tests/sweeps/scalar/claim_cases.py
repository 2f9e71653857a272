"""Predicates of the claims on scalar nets, on made-up runs: each with runs that hold, and with near misses."""

from __future__ import annotations

import math

from tests.support.claims import Case, Row, law


def usual(seed: int) -> Row:
    """A settled run of a wide net on Theorem 1, with what a sparse diagonal net has beside it."""
    return {
        "seed": seed, "loss_factor": 1.0, "divisor_power": 0.5, "divisor": 1.0, "width": 100, "target": 3.0, "lr": 0.1,
        "second_moment": 1.0, "sd_a": 1.0, "settled": True, "start_overlap": 0.5, "target_ratio": 0.9,
        "gamma_end": 1.2, "kernel_ratio": 1.05, "regime": "lazy", "nonlinearity": 0.0, "off_theorem": 1e-7,
        "off_printed": 1e-7, "points": 20, "dimension": 100, "nonzeros": 3, "decay": 0.01,
        "step_factor": 0.1, "critical": 0.04, "critical_start": 0.2, "final_test_error": 0.01, "generalizes": True,
        "delay": 3.0, "imbalance_off": 0.0, "off_law": 0.0,
    }  # fmt: skip


def delays(large: float, small: float) -> list[Row]:
    """Delays of runs from a large and a small start, with one between them that tells nothing."""
    starts = ((4.0, large), (1.0, 100.0), (0.05, small))
    return [{"alpha": alpha, "delay": delay} for alpha, delay in starts]


def bounded(gamma: float, ratio: float, target: float = 3.0, overlap: float = 0.5) -> Row:
    """The end of a run: gamma_+ beside S/Sigma_0, and S beside S_0."""
    return {"gamma_end": gamma, "target_ratio": ratio, "target": target, "start_overlap": overlap}


def kernels(*changes: float, regimes: tuple[str, str] = ("lazy", "rich")) -> list[Row]:
    """Runs at seven decades of the target, from .001 on, whose log of the kernel changes by these."""
    first, last = regimes
    return [
        {"target": 10.0 ** (place - 3), "kernel_ratio": math.exp(change if place % 2 else -change), "regime": regime}
        for place, (change, regime) in enumerate(zip(changes, [first, *["between"] * 5, last], strict=True))
    ]


def scaled(at_hundredth: float, at_one: float, at_hundred: float = 9.0) -> list[Row]:
    """Runs with alpha = 1/100, 1 and 100, whose log of the kernel changes by these; and one of another target."""
    values = zip((1000.0, 10.0, 0.1, 1.0), (at_hundredth, at_one, at_hundred, 7.0), strict=True)
    return [{"target": target, "kernel_ratio": math.exp(change)} for target, change in values]


def ways(target: float = 5.0, inputs: float = 5.0, weights: float = 5.0, divisor: float = 5.0) -> list[Row]:
    """The lazy net, whose gamma_+ ends at 2, and the four ways out of laziness, with where theirs ends."""
    return [
        {"gamma_end": 2.0},
        {"gamma_end": target, "target": 30.0},
        {"gamma_end": inputs, "target": 30.0, "second_moment": 0.01},
        {"gamma_end": weights, "sd_a": 0.3},
        {"gamma_end": divisor, "divisor": 10.0},
    ]


RISING = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
CASES = (
    law("imbalance", "step_factor", "imbalance_off", slope=1.0, within=0.1, own={"alpha": 1.0}),
    Case("no-decay", [{"alpha": 0.2, "final_test_error": 0.05}, {"alpha": 0.201, "final_test_error": 0.051}],
         [{"alpha": 0.2, "final_test_error": 0.051}, {"alpha": 0.201, "final_test_error": 0.05}],
         [{"critical": None, "alpha": 0.2, "final_test_error": 0.051}]),
    Case("smaller-start", delays(3.0, 2.0), [delays(2.0, 3.0)]),
    law("test-time", "decay", "off_law", slope=1.0, within=0.02, own={"alpha": 1.0},
        aside=[{"alpha": 0.5, "off_law": 1.0}]),
    Case("theorem-1-printed", [{"off_printed": 1e-6}], [{"off_printed": 1.01e-6}],
         [{"loss_factor": 2.0, "off_printed": 1.0}]),
    Case("theorem-1", [{"off_theorem": 1e-6, "off_printed": 1.0}, {"loss_factor": 2.0}], [{"off_theorem": 1.01e-6}]),
    Case("theorem-1-whole-square", [{"loss_factor": 2.0, "off_printed": 1e-6}], [{"off_printed": 1.01e-6}],
         [{"loss_factor": 1.0, "off_printed": 1.0}]),
    law("theorem-1-descent", "lr", "off_theorem", slope=1.0, within=0.01),
    Case("gamma-bound",
         [bounded(1.2, 1.202), bounded(0.9, 0.9, 0.4), bounded(0.9991, 0.9, 3.0), bounded(1.0009, 0.9, 0.4)],
         [bounded(1.2, 1.203), bounded(1.2, 0.9, 0.4), bounded(0.9, 0.9, 3.0), bounded(0.9989, 0.9, 3.0)],
         [{"settled": False, "gamma_end": 0.5}, {"target": -1.0, "gamma_end": 0.5}]),
    law("downscaling", "target", "nonlinearity", slope=2.0, within=0.001),
    Case("lazier-at-smaller-target", kernels(*RISING),
         [kernels(0.05, 0.1, 0.2, 0.41, 0.4, 1.6, 3.2), kernels(*RISING, regimes=("between", "rich")),
          kernels(*RISING, regimes=("lazy", "between"))], [{"kernel_ratio": 0.0}]),
    Case("alpha-below-one", scaled(1.0, 1.1), [scaled(1.1, 1.0)]),
    law("ntk", "width", "nonlinearity", slope=-1.0, within=0.001, values=(100, 1000, 10000, 100000)),
    Case("four-ways-out", ways(2.1, 2.1, 2.1, 2.1),
         [ways(target=1.9), ways(inputs=2.0), ways(weights=1.9), ways(divisor=1.9)]),
)  # fmt: skip
CLAIMS = {"wide_scalar": ((usual, CASES),)}
