"""Theory of emergence in multitask sparse parity: the extended multilinear model ([T] 5.2), and laws of our own.

Symbols: p_k frequency of skill k, R_k its strength, S the target, c the factor of the loss c/2 E(f - y)^2, eta the
learning rate, d_k the samples of skill k, D_c and N_c the samples and units that one skill takes. A net learns a skill
B^2 = 1/inverse_b2 times as fast as a product of two weights does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray


def growth_constant(m: int) -> float:
    """g = 1 / max over |v| = 1 of E[parity(x) relu(v . (x, 1))] = 2^m sqrt(m) / C(m - 2, floor(m/2) - 1) (ours).

    From a small start one unit grows as its product of weights does: d ln R/dt = 2 c S / g, so that B^2 = 1/g at first.
    The unit that grows fastest weighs the m bits equally, floor(m/2) of them negatively, and has no bias.
    """
    return 2**m * math.sqrt(m) / math.comb(m - 2, m // 2 - 1)


def frequencies(alpha: float, skills: int) -> Array:
    """p_k = A k^-(alpha + 1), k = 1, ..., skills, with sum 1 ([T] 4.1)."""
    powers = np.arange(1, skills + 1, dtype=np.float64) ** -(alpha + 1)
    return powers / powers.sum()


def start_strength(sigma: float) -> float:
    """R(0) = sigma^2 / 3.6, which reproduces when nets from a normal start of that sd leave it (ours)."""
    return sigma**2 / 3.6


def rate(p: Any, inverse_b2: float, c: float, lr: float, S: float) -> Any:
    """2 c eta p B^2 S: how fast (5.2) approaches S, per step."""
    return 2 * c * lr * p * S / inverse_b2


def strength_in_time(t: Any, p: Any, inverse_b2: float, c: float, lr: float, S: float, r0: float) -> Any:
    """R_k/S after t steps, (5.2) with the factor c; the arguments broadcast.

    It is the flow of a model in which B scales the feature and the target. In (5.1) as printed B scales the feature
    alone, and the exponent has B in place of B^2; the calibrated number is that of the rate either way.
    """
    return 1 / (1 + (S / r0 - 1) * np.exp(-rate(p, inverse_b2, c, lr, S) * t))


def time_to(level: float, p: Any, inverse_b2: float, c: float, lr: float, S: float, r0: float) -> Any:
    """Steps until R_k/S = level: the inverse of (5.2)."""
    return math.log((S / r0 - 1) * level / (1 - level)) / rate(p, inverse_b2, c, lr, S)


def inverse_b2(half_time: Any, p: Any, c: float, lr: float, S: float, r0: float) -> Any:
    """1/B^2 with which (5.2) gives this time to R_k/S = 1/2: 2 c eta p S t / ln(S/R_0 - 1)."""
    return 2 * c * lr * p * S * half_time / math.log(S / r0 - 1)


def sharpness(S: float, r0: float) -> float:
    """t(.95)/t(.05) by (5.2): (l + ln 19)/(l - ln 19), l = ln(S/R_0 - 1); no calibration enters."""
    start = math.log(S / r0 - 1)
    return (start + math.log(19)) / (start - math.log(19))


def strength_in_data(d: Any, D_c: float) -> Any:
    """R_k/S of d samples as printed, (5.5): 1 - sqrt(1 - d/D_c)."""
    return 1 - np.sqrt(1 - np.minimum(np.asarray(d) / D_c, 1))


def mean_strength_in_data(d: Any, D_c: float) -> Any:
    """R_k/S of d samples, on average over the samples: min(1, d/D_c) (ours).

    The strength of the ridgeless fit is the squared length of the projection of a fixed unit vector on d random
    directions of D_c, which has the distribution Beta(d/2, (D_c - d)/2).
    """
    return np.minimum(np.asarray(d) / D_c, 1)


def strength_in_width(width: float, N_c: float, skills: int) -> Array:
    """R_k/S of that many units, (5.9), k = 1, ..., skills: N_c units for each skill in turn, the last one in part."""
    return np.clip((width - N_c * np.arange(skills)) / N_c, 0, 1)
