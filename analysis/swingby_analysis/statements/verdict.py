"""The verdict on a claim from the rows of its conventions and settings, and the rules in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swingby_analysis.statements.kinds import (
    EXISTS,
    FAILS,
    HOLDS,
    LEAST,
    NOT_SHOWN,
    PARAMETERS,
    REVERSE,
    SHOWN,
    UNTOLD,
    ZERO,
    Outcome,
)

MISSING = "not run yet"
SETTINGS, BOTH = "holds in some settings", "holds in some settings, the reverse in others"
SETTINGS_UNTOLD = "holds in some settings, the rest cannot be told"
FAILS_SOME = f"{FAILS} in some settings"
ONLY = f"{HOLDS} under {{}} only"

MARK = "†"
"""Stands beside a claim that was added, split, reworded, repaired or named in kind after results had been seen."""

_RULE = f"""
A row is one convention and one setting. What has to be true of its seeds depends on what the claim says: that is its
kind, given with each claim. All intervals are 95 % intervals, and a verdict depends on the side of a bound on which an
interval lies; no fixed share of seeds is required. Each row is judged by itself, so about one row in twenty may be
wrong by chance.

Exists: one seed is enough, and is named: "{SHOWN}". If no seed shows it, the verdict is "{NOT_SHOWN}", and never that
it does not exist; the upper end of Wilson's interval says how common it can still be.

In the mean: an effect is measured in every seed, and 0 is no effect. If Student's interval of the mean over seeds lies
above 0: "{HOLDS}"; below 0: "{REVERSE}", or "{FAILS}" if the opposite is no finding of its own;
else "{NOT_SHOWN}". Two independent samples are compared by the
probability that a value of one exceeds one of the other (one half: no difference), its interval, and the two-sided test
of Mann and Whitney, which have to agree. A claim that a mean is zero has a tolerance, within which the whole interval
has to lie; where all of it lies beyond, on one side: "{FAILS}".

In most seeds: Wilson's interval of the share of seeds lies above one half: "{HOLDS}"; below: "{FAILS}"; else
"{UNTOLD}".

Law: an error is to go to 0 with a small parameter. It holds where the interval of the mean error at the smallest
parameter lies within what the claim allows, and the exponent (the slope of log error against log parameter, of each
seed; its interval is over seeds) lies above 0. It does not hold where that error lies beyond what is allowed, or the
exponent below 0, or below half of the one that theory gives; else "{UNTOLD}". Errors of at most {ZERO:g} of what is
allowed count as zero: a law whose errors are zero at the smallest parameter needs no exponent.

Always: one seed against it refutes it, and is named: "{FAILS}". Without any it is said to hold, with the share below
which exceptions lie.

A row has a verdict if enough seeds have an answer: {", ".join(f"{kind} {number}" for kind, number in LEAST.items())},
or as many as the claim asks for; of two samples in each; of a law at {PARAMETERS} values of the parameter or more. One
seed is enough to show what is said to exist, or to refute what is said always to be. Other rows are left out.

Something exists if some row shows it. Otherwise rows that all agree give the verdict of the claim, whatever their
convention. If exactly one convention holds, in all of its rows, and the intervals of all other rows are against the
claim: "{ONLY.format("...")}". If some rows hold and others are against it: "{SETTINGS}", and of a mean whose reverse
holds elsewhere: "{BOTH}"; if none is against it, but some are undecided: "{SETTINGS_UNTOLD}". If no row holds, but some
are against it: "{FAILS_SOME}".
"""
RULE = tuple(" ".join(paragraph.split()) for paragraph in _RULE.strip().split("\n\n"))
"""The rules in words, for the page."""


@dataclass(frozen=True)
class Answer:
    """One row of a claim.

    Attributes:
        convention: the preset of its runs, or what the query puts in its place.
        setting: in words, from the stored parameters.
        measured: numbers in words, made by the query.
        outcome: what follows from its seeds, by the rule of the claim's kind.
    """

    convention: str
    setting: str
    measured: str
    outcome: Outcome


def verdict(answers: Sequence[Answer], phrases: Mapping[str, str]) -> str:
    """The verdict on a claim from all its rows, as `RULE` says; `phrases` name the conventions of presets."""
    decided = [answer for answer in answers if not answer.outcome.few]
    if not decided:
        return UNTOLD
    signs: dict[str, set[int]] = {}
    for answer in decided:
        signs.setdefault(answer.convention, set()).add(answer.outcome.sign)
    words = {answer.outcome.sign: answer.outcome.verdict for answer in decided}
    if decided[0].outcome.kind == EXISTS:
        return words.get(1, NOT_SHOWN)
    holding = [convention for convention, directions in signs.items() if directions == {1}]
    if len(holding) == 1 and len(signs) > 1 and all(directions in ({1}, {-1}) for directions in signs.values()):
        return ONLY.format(phrases.get(holding[0], holding[0]))
    if len(words) == 1:
        return words.popitem()[1]
    if 1 in words:
        if -1 not in words:
            return SETTINGS_UNTOLD
        return BOTH if words[-1] == REVERSE else SETTINGS
    return f"{words[-1]} in some settings"
