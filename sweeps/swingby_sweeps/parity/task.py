"""Multitask sparse parity ([T] 4.2.1): which bits are a skill's, and how often it comes.

An input is a skill k and a code, a whole number whose binary digits are the fair bits. Bits m (k - 1), ..., m k - 1
belong to skill k; which bits they are does not matter, since weights start exchangeable.
"""

from __future__ import annotations

import numpy as np

from .theory import frequencies

Array = np.ndarray


def masks(skills: int, m: int) -> Array:
    """The bits of each skill as a number, shape (skills,), int64."""
    return ((1 << m) - 1) << (m * np.arange(skills, dtype=np.int64))


def cumulated(alpha: float, skills: int) -> Array:
    """p_1 + ... + p_k, shape (skills,); the last one is 1 to the bit."""
    sums = np.cumsum(frequencies(alpha, skills))
    sums[-1] = 1.0
    return sums


def codes(draws: Array, bits: int) -> Array:
    """Numbers of [0, 1) as codes of that many fair bits, int64."""
    return (draws * 2.0**bits).astype(np.int64)


def chosen(draws: Array, alpha: float, skills: int) -> Array:
    """Numbers of [0, 1) as skills, counted from 0, int64."""
    return np.searchsorted(cumulated(alpha, skills), draws, side="right").astype(np.int64)
