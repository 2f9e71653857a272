"""Predicates of the claims on `parity_net`, on made-up runs: each with runs that hold, and with near misses."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.claims import Case, Row


def usual(seed: int) -> Row:
    """A net of five skills that learns them in turn and as the multilinear model says."""
    return {
        "seed": seed, "outcome": "all", "bottleneck": "time", "skills": 5, "m": 3, "width": 10, "samples": 1000,
        "batch_size": 200, "training_steps": 1000, "counts": [500, 200, 100, 50, 20],
        "final_strength": [1.0, 0.8, 0.6, 0.4, 0.2], "predicted_printed": [1.0, 0.8, 0.6, 0.4, 0.2],
        "predicted_mean": [1.0, 0.8, 0.6, 0.4, 0.2], "predicted_width": [1.0, 0.8, 0.6, 0.4, 0.2],
        "emergence_times": [100.0, 200.0, 300.0, 400.0, 500.0],
        "predicted_emergence_times": [100.0, 200.0, 300.0, 400.0, 500.0], "rise_ratio": 3.0,
        "predicted_rise_ratio": 2.0, "inverse_b2": [22.0], "order_violated": False,
    }  # fmt: skip


def strengths(*values: float, skills: int = 5) -> Row:
    """Strengths at the end."""
    return {"final_strength": list(values), "skills": skills}


def off(skill: int, by: float) -> list[float]:
    """The usual strengths with that of one skill moved."""
    return [value + by * (place == skill) for place, value in enumerate((1.0, 0.8, 0.6, 0.4, 0.2), start=1)]


def times(*values: float | None) -> Row:
    """Steps to half the strength."""
    return {"emergence_times": list(values)}


def rare(measured: float, printed: float, others: float = 0.9) -> Row:
    """A training set on which the last skill alone has few samples, with its strength and that of (5.5)."""
    return DATA | {
        "final_strength": [1.0, 0.9, 0.8, others, measured], "predicted_printed": [1.0, 0.9, 0.8, 0.25, printed],
    }  # fmt: skip


def learned(printed: Sequence[float], mean: Sequence[float]) -> Row:
    """The predictions of both laws."""
    return DATA | {"predicted_printed": list(printed), "predicted_mean": list(mean)}


DATA: Row = {"bottleneck": "data", "counts": [500, 200, 100, 0, 1]}
WIDTH: Row = {"bottleneck": "width"}
GONE: Row = {"outcome": "diverged"}
CASES = (
    Case("time-order", [{}], [times(100.0, 300.0, 200.0, 400.0, 500.0), times(100.0, None, None, None, None)],
         [GONE | times(200.0, 100.0, None, None, None)]),
    Case("time-order", [times(100.0, 200.0, None, None, None)],
         [times(100.0, None, 200.0, None, None), times(200.0, 100.0, None, None, None)]),
    Case("time-predicted", [times(900.0, 249.0, 226.0, 499.0, 376.0)],
         [times(100.0, 251.0, 300.0, 400.0, 500.0), times(100.0, 200.0, 300.0, 400.0, 374.0)],
         [GONE | times(100.0, 900.0, 900.0, 900.0, 900.0),
          {"training_steps": 249} | times(None, None, None, None, None)]),
    Case("time-predicted", [{}], [{"training_steps": 625} | times(100.0, 200.0, 300.0, 400.0, None)]),
    Case("time-saturates-slowly", [{"rise_ratio": 2.01}], [{"rise_ratio": 1.99}],
         [GONE | {"rise_ratio": 1.0}, {"rise_ratio": None} | times(None, 100.0)]),
    Case("time-saturates-slowly", [{"rise_ratio": None} | times(100.0)], [{"rise_ratio": 1.99}]),
    Case("calibrated-b2", [{"inverse_b2": [24.9]}], [{"inverse_b2": [25.1]}, {"inverse_b2": [18.9]}],
         [{"m": 4, "inverse_b2": [99.0]}, GONE | {"inverse_b2": [99.0]}]),
    Case("calibrated-n-c", [WIDTH | {"width": 4} | strengths(0.91, skills=1)],
         [strengths(0.89, skills=1), strengths(1.11, skills=1)],
         [GONE | strengths(0.0, skills=1), {"width": 5} | strengths(0.0, skills=1)]),
    Case("data-law", [learned(off(3, 0.1), off(4, -0.11))], [learned(off(3, 0.1), off(4, -0.09))],
         [{"outcome": "unfitted"} | learned(off(3, 1.0), off(3, 0.0)), GONE | learned(off(3, 1.0), off(3, 0.0)),
          WIDTH | {"predicted_printed": off(3, 1.0)}]),
    Case("data-abrupt", [rare(0.1, 0.2)], [rare(0.3, 0.2), rare(0.1, 0.2) | {"counts": [500, 200, 100, 50, 20]}],
         [{"outcome": "unfitted"} | rare(0.9, 0.2)]),
    Case("data-abrupt", [rare(0.1, 0.29, others=0.0)], [rare(0.3, 0.29)]),
    Case("data-predicted", [learned(off(1, 0.9), off(1, 0.9))],
         [learned(off(2, 0.41), off(2, 0.0)), learned(off(2, 0.0), off(5, -0.41))],
         [{"outcome": "unfitted"} | learned(off(2, 0.9), off(2, 0.9))]),
    Case("data-predicted", [learned(off(2, 0.39), off(5, -0.39))], [learned(off(2, 0.41), off(5, -0.41))]),
    Case("width-order", [WIDTH | strengths(0.5, 0.49, 0.48, 0.47, 0.46)], [strengths(0.5, 0.49, 0.48, 0.47, 0.471)],
         [GONE | strengths(0.1, 0.2, 0.3, 0.4, 0.5), {"bottleneck": "data"} | strengths(0.1, 0.2, 0.3, 0.4, 0.5)]),
    Case("width-predicted", [WIDTH | {"width": 5, "predicted_width": off(2, 0.19)},
          WIDTH | {"predicted_width": off(1, 0.9)}],
         [[WIDTH | {"predicted_width": off(2, 0.21)}, WIDTH], [WIDTH | {"predicted_width": off(5, -0.21)}, WIDTH]],
         [GONE | {"predicted_width": off(2, 0.9)}, {"bottleneck": "time", "predicted_width": off(2, 0.9)}]),
    Case("order-violated", [{"order_violated": True}], [{"order_violated": False}], [GONE | {"order_violated": False}]),
)  # fmt: skip
CLAIMS = {"parity_net": ((usual, CASES),)}
