"""Theory of the multilinear and the linear model in the thesis's symbols, each formula once ([T] chapter 4, B.1, C).

Skill k = 1, 2, ... comes up with frequency p_k = A k^-(alpha + 1), and its loss is S^2/2 h(u_k), where h is the share
that is left, u_k = `pace` q_k T the skill's own time, and q_k the frequency in the training set. A learned skill has h
near 0, and one that was never seen keeps h(0).
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import integrate, optimize, special

Array = np.ndarray


@cache
def normalisation(alpha: float, skills: float | None) -> float:
    """A of p_k = A k^-(alpha + 1) ([T] 4.1); `skills` None: of infinitely many."""
    beyond = 0.0 if skills is None else float(special.zeta(alpha + 1, skills + 1.0))
    return 1 / (float(special.zeta(alpha + 1, 1.0)) - beyond)


def mass_beyond(alpha: float, skills: float | None, k: float) -> float:
    """The frequency of all skills after k, sum_{j > k} p_j; 0 from the last skill on."""
    if skills is not None and k >= skills:
        return 0.0
    last = 0.0 if skills is None else float(special.zeta(alpha + 1, skills + 1.0))
    return normalisation(alpha, skills) * (float(special.zeta(alpha + 1, k + 1.0)) - last)


def frequency(alpha: float, skills: float | None, k: Any) -> Any:
    """p_k ([T] 4.1), of a number or an array of them."""
    return normalisation(alpha, skills) * k ** -(alpha + 1)


def pace(model: str, s: float, lr: float) -> float:
    """What turns q_k T into a skill's own time u_k: 2 eta S ([T] 4.11), 2 eta for the linear model (C.4)."""
    return 2 * lr * (s if model == "multilinear" else 1.0)


def lag(model: str, s: float, r0: float) -> float:
    """c = S/R(0) - 1 ([T] 4.11); 0 for the linear model, which has no delay."""
    return s / r0 - 1 if model == "multilinear" else 0.0


def left(u: Array, c: float) -> Array:
    """h(u) = (1 - R/S)^2 at a skill's own time u: (1 + e^u / c)^-2 ([T] B.2), e^-u for c = 0 ([T] C.4)."""
    decayed = np.exp(-u)
    if c == 0:
        return decayed
    decayed = decayed / (decayed + 1 / c)
    return decayed * decayed


def strength(u: Array, c: float) -> Array:
    """R/S at a skill's own time u: 1/(1 + c e^-u) ([T] B.1), 1 - e^(-u/2) for c = 0 ([T] C.4)."""
    return -np.expm1(-u / 2) if c == 0 else 1 / (1 + c * np.exp(-u))


def unseen(c: float) -> float:
    """h(0) = (1 - R(0)/S)^2, what a skill without a sample keeps ([T] B.11)."""
    return 1.0 if c == 0 else (c / (1 + c)) ** 2


def exponent(bottleneck: str, alpha: float) -> float | None:
    """The exponent of the loss ([T] Table 4.1); None for `all`."""
    exponents = {
        "time": -alpha / (alpha + 1),
        "data": -alpha / (alpha + 1),
        "width": -alpha,
        "compute": -alpha / (alpha + 2),
    }
    return exponents.get(bottleneck)


def width_exponent(alpha: float) -> float:
    """The exponent of the best width in the compute, N ~ C^(1/(alpha + 2)) ([T] 4.43)."""
    return 1 / (alpha + 2)


def lost_loss(bottleneck: str, alpha: float, skills: float | None, s: float, c: float) -> float:
    """L_C of the law of the bias, d ln L / d ln x = exponent (1 + L_C/L): the loss of the missing skills.

    It is what the skills beyond the last would add to the loss if they existed and were not learned, at the frequency
    A k^-(alpha + 1); 0 for infinitely many. [T] C.2 has S^2 A N^-alpha / (2 alpha) for it, over time and alpha small.
    By this law L + L_C is a power of x.
    """
    if skills is None:
        return 0.0
    share = unseen(c) if bottleneck in ("time", "data") else 1.0
    return s**2 / 2 * share * normalisation(alpha, skills) * float(special.zeta(alpha + 1, skills + 1.0))


def own_time_integral(alpha: float, c: float, a: float = 0.0) -> float:
    """The integral of u^(-1/(alpha + 1)) h(u) over u > a: all skills' losses in their own times."""
    power = 1 / (alpha + 1)
    # In v = u^(1 - power) the singularity at 0 is gone; h falls off beyond ln c.
    bends = [at ** (1 - power) for at in (max(math.log1p(c), 1.0), math.log1p(c) + 40)]
    pieces = [a ** (1 - power), *[bend for bend in bends if bend > a ** (1 - power)]]

    def integrand(v: float) -> float:
        return float(left(np.array(v ** (1 / (1 - power))), c))

    parts = (
        integrate.quad(integrand, low, high, epsabs=0, epsrel=1e-10, limit=200)[0] for low, high in pairwise(pieces)
    )
    return sum(parts) / (1 - power)


def time_prefactor(alpha: float, skills: float | None, s: float, c: float, pace: float) -> float:
    """P of L + L_C = P T^(-alpha/(alpha + 1)), which [T] 4.3.1 leaves open: the sum over k as an integral over u."""
    A = normalisation(alpha, skills)
    return s**2 / 2 * A / (alpha + 1) * (pace * A) ** (-alpha / (alpha + 1)) * own_time_integral(alpha, c)


def data_prefactor(alpha: float, skills: float | None, s: float, c: float) -> float:
    """P of E L + L_C = P D^(-alpha/(alpha + 1)): [T] 4.30 with (1 - p)^D as e^(-p D)."""
    A, e = normalisation(alpha, skills), alpha / (alpha + 1)
    return s**2 / 2 * unseen(c) * A / (alpha + 1) * A**-e * math.gamma(e)


def width_prefactor(alpha: float, skills: float | None, s: float) -> float:
    """P of L + L_C = P N^-alpha, S^2 A / (2 alpha) ([T] 4.38)."""
    return s**2 * normalisation(alpha, skills) / (2 * alpha)


@cache
def best_last_time(alpha: float, c: float) -> float:
    """a = `pace` p_N T at the best N for a compute C = T N: how far the last skill of the model is in its own time.

    It depends on alpha and c alone, so that T/N^(alpha + 1) = a / (`pace` A) is a constant ([T] 4.43).
    """
    optimum: Any = optimize.minimize_scalar(
        lambda log_a: _compute_share(alpha, c, math.exp(log_a)),
        bounds=(math.log(1e-3), math.log(50 + 10 * math.log1p(c))),
        method="bounded",
        options={"xatol": 1e-7},
    )
    return math.exp(optimum.x)


def _compute_share(alpha: float, c: float, a: float) -> float:
    """The loss at fixed compute as a function of a, without the factors that do not depend on a."""
    learned = a ** (-alpha / (alpha + 1)) / (alpha + 1) * own_time_integral(alpha, c, a)
    return a ** (alpha / (alpha + 2)) * (learned + 1 / alpha)


def compute_prefactor(alpha: float, skills: float | None, s: float, c: float, pace: float) -> float:
    """P of L + L_C = P C^(-alpha/(alpha + 2)) at the best N for each C ([T] 4.44)."""
    A = normalisation(alpha, skills)
    share = _compute_share(alpha, c, best_last_time(alpha, c))
    return s**2 / 2 * A * (pace * A) ** (-alpha / (alpha + 2)) * share


def prefactor(bottleneck: str, alpha: float, skills: float | None, s: float, c: float, pace: float) -> float | None:
    """P of L + L_C = P x^exponent over any resource; None for `all`."""
    match bottleneck:
        case "time":
            return time_prefactor(alpha, skills, s, c, pace)
        case "data":
            return data_prefactor(alpha, skills, s, c)
        case "width":
            return width_prefactor(alpha, skills, s)
        case "compute":
            return compute_prefactor(alpha, skills, s, c, pace)
        case _:
            return None


def reached(alpha: float, skills: float | None, s: float, loss: float) -> float:
    """The number of skills k that a loss amounts to: a model of k learned skills has it ([T] 4.38, turned round)."""
    return (loss / width_prefactor(alpha, skills, s)) ** (-1 / alpha)


def overlap(alpha: float, c: float, k: int) -> float:
    """The level R_(k+1)/S at which R_k + R_(k+1) = S, of skills k and k + 1 that start alike.

    1/(1 + c^((p_k - p_(k+1)) / (p_k + p_(k+1)))); a pair is stage-like where it is small, as [T] 4.2.4 assumes of all.
    """
    ratio = (1 + 1 / k) ** (alpha + 1)
    return 1 / (1 + c ** ((ratio - 1) / (ratio + 1)))


def lag_of_overlap(alpha: float, level: float, k: int) -> float:
    """The c at which `overlap` is at this level."""
    ratio = (1 + 1 / k) ** (alpha + 1)
    return (1 / level - 1) ** ((ratio + 1) / (ratio - 1))


def stages(alpha: float, c: float, within: float) -> int:
    """The number of consecutive pairs from the first on with an overlap of at most `within`.

    About (alpha + 1)/2 ln c / ln(1/within - 1), since the ratio of frequencies falls to 1 along k.
    """
    # The overlap rises with k, to 1/2.
    low, high = 0, 1
    while overlap(alpha, c, high) <= within:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if overlap(alpha, c, middle) <= within else (low, middle)
    return low


def change_per_skill(alpha: float, k: float, skills: float | None = None) -> float:
    """dL/L as skill k is learned after all before it: -p_k / sum_{j >= k} p_j, about -alpha/k ([T] 4.12, 4.13).

    The first form of 4.12 as printed lacks the minus.
    """
    return -frequency(alpha, skills, k) / mass_beyond(alpha, skills, k - 1)
