"""Training sets of the multitask problem: which skills their samples are of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import theory
from .levels import HEAD, Levels

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class TrainingSets:
    """Nested training sets: each has the samples of the one before, and more.

    Attributes:
        sizes: numbers of samples, not decreasing, (n,).
        head: samples of the skills 1, 2, ..., at most HEAD, in each set, (n, skills).
        tail: the skill of each sample of a skill beyond, in the order of the draw.
        drawn: how many of `tail` each set has, (n,).
    """

    sizes: Array
    head: Array
    tail: Array
    drawn: Array


def draw(random: np.random.Generator, alpha: float, skills: int | None, sizes: Array) -> TrainingSets:
    """Draw training sets of these sizes, each with the samples of those before it.

    Skills up to HEAD are drawn as counts (multinomial), rarer ones sample by sample from a Pareto distribution of k,
    rounded: its frequencies are p_k to 1e-6 of each.
    """
    k = np.arange(1.0, min(skills or HEAD, HEAD) + 1)
    frequencies = theory.frequency(alpha, skills, k)
    rest = max(1 - frequencies.sum(), 0.0) if theory.mass_beyond(alpha, skills, HEAD) > 0 else 0.0
    frequencies = np.append(frequencies, rest) / (frequencies.sum() + rest)
    counts = random.multinomial(np.diff(sizes, prepend=0), frequencies).cumsum(0)
    drawn = counts[:, -1]
    # The tail's distribution function (k + 1/2)^-alpha, turned round.
    first = (HEAD + 0.5) ** -alpha
    last = 0.0 if skills is None else (skills + 0.5) ** -alpha
    with np.errstate(over="ignore", divide="ignore"):
        tail = np.rint((last + (first - last) * random.random(drawn[-1])) ** (-1 / alpha))
    return TrainingSets(sizes, counts[:, :-1], np.clip(tail, HEAD + 1, skills or np.inf), drawn)


def unseen_mass(alpha: float, skills: int | None, sets: TrainingSets) -> Array:
    """The frequency of all skills without a sample, in each set, (n,); 0 where every skill has one."""
    unseen = (sets.head == 0) @ theory.frequency(alpha, skills, np.arange(1.0, sets.head.shape[1] + 1))
    kinds, first = np.unique(sets.tail, return_index=True)
    beyond = theory.mass_beyond(alpha, skills, HEAD)
    known = np.searchsorted(np.sort(first), sets.drawn)
    seen = np.append(0.0, np.cumsum(theory.frequency(alpha, skills, kinds[np.argsort(first)])))[known]
    every = known == (np.inf if skills is None else max(skills - HEAD, 0))
    return unseen + np.where(every, 0.0, np.maximum(beyond - seen, 0.0))


def levels(alpha: float, skills: int | None, width: int | None, sets: TrainingSets) -> Levels:
    """The levels of the last set, for a model of `width` basis functions (None: one for each skill)."""
    kinds, counts = np.unique(sets.tail, return_counts=True)
    k = np.concatenate([np.arange(1.0, sets.head.shape[1] + 1), kinds])
    counts = np.concatenate([sets.head[-1], counts])
    last = np.inf if width is None else width
    seen = (counts > 0) & (k <= last)
    # Skills of one count share a level.
    samples, level = np.unique(-counts[seen], return_inverse=True)
    weight = np.bincount(level, theory.frequency(alpha, skills, k[seen]), len(samples))
    missing = 0.0 if width is None else theory.mass_beyond(alpha, skills, width)
    idle = max(1.0 - missing - weight.sum(), 0.0)
    whole = skills is not None and np.count_nonzero(seen) == min(skills, last)
    return Levels(-samples / sets.sizes[-1], weight, 0.0 if whole else idle, missing)
