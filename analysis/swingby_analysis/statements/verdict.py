"""The verdict on a claim: one rule, from the share of seeds in which it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swingby.select.intervals import wilson

MOST, FEWEST = 0.95, 0.05
"""A share of seeds from `MOST` on is "holds", up to `FEWEST` "does not hold"."""

HOLDS, SOME, FAILS, SETTINGS, UNTOLD, MISSING = (
    "holds",
    "holds for some initialisations",
    "does not hold",
    "holds in some settings",
    "cannot be told",
    "not run yet",
)
ONLY = "holds under {} only"

MARK = "†"
"""Stands beside a claim that was added, split or repaired after results had been seen."""

_RULE = f"""
A row is one convention and one setting. If the claim is true of at least {MOST:.0%} of its seeds, its verdict is
"{HOLDS}"; if of at most {FEWEST:.0%}, "{FAILS}"; else "{SOME}"; without a seed that tells, "{UNTOLD}".

Rows of one convention that agree give its verdict. If none is in between, but some hold and others do not:
"{SETTINGS}"; else "{SOME}".

A statement about all seeds at once, such as about their mean, has no share and no interval: it is true, false, or the
seeds are too few to tell. True is "{HOLDS}", false "{FAILS}".

Conventions that agree give the verdict of the claim. If exactly one of them holds: "{ONLY.format("...")}", however
near the others come; else "{SETTINGS}" or "{SOME}", by the same rule as for rows.

The interval beside a share is Wilson's at 95 %. It does not enter the verdict: where seeds are few, read it as well.
"""
RULE = tuple(" ".join(paragraph.split()) for paragraph in _RULE.strip().split("\n\n"))
"""The rule in words, for the page."""


@dataclass(frozen=True)
class Answer:
    """One row that a claim's query gave, with what follows from it.

    Attributes:
        convention: the preset of its runs, or what the query puts in its place.
        setting: in words, from the stored parameters.
        n, k: seeds that tell, and those of them in which the claim holds.
        measured: numbers in words, made by the query.
        together: one statement about all seeds; n and k count it, not seeds.
        least: seeds that have to tell before it has a verdict.
    """

    convention: str
    setting: str
    n: int
    k: int
    measured: str
    together: bool = False
    least: int = 1

    @property
    def share(self) -> float | None:
        """k/n; None without a seed that tells, and of a statement about all seeds."""
        return self.k / self.n if self.n and not self.together else None

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """Wilson's interval of the share at 95 %; (0, 1) without a seed, None twice of a statement about all seeds."""
        if self.together:
            return None, None
        low, high = wilson(self.k, self.n)
        return float(low), float(high)

    @property
    def verdict(self) -> str:
        """The row's own verdict."""
        if self.n < self.least:
            return UNTOLD
        share = self.k / self.n
        return HOLDS if share >= MOST else FAILS if share <= FEWEST else SOME


def verdict(answers: Sequence[Answer], phrases: Mapping[str, str]) -> str:
    """The verdict on a claim from all its rows, as `RULE` says; `phrases` name the conventions of presets."""
    decided: dict[str, list[str]] = {}
    for answer in answers:
        if answer.verdict != UNTOLD:
            decided.setdefault(answer.convention, []).append(answer.verdict)
    if not decided:
        return UNTOLD
    of = {convention: _together(verdicts) for convention, verdicts in decided.items()}
    holding = [convention for convention, own in of.items() if own == HOLDS]
    if len(holding) == 1 and len(of) > 1:
        return ONLY.format(phrases.get(holding[0], holding[0]))
    return _together(list(of.values()))


def _together(verdicts: Sequence[str]) -> str:
    kinds = set(verdicts)
    if len(kinds) == 1:
        return kinds.pop()
    return SOME if SOME in kinds else SETTINGS
