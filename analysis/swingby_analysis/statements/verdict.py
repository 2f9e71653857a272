"""The verdict on a claim: one rule, from the share of seeds in which it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swingby_analysis.stats.shares import wilson

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
DIFFUSION_LEAST = 3
"""Seeds of a row of a claim on diffusion that have to tell."""
ONLY = "holds under {} only"
PHRASES = {
    "paper": "the paper's conventions",
    "authors": "the authors' conventions",
    "theory": "the assumptions of the theory",
    "small": "the small setting's conventions",
}
"""How a verdict names the conventions of a row."""

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

Claims on diffusion are of sweeps that take hours. They are not trained for this page: each claim is judged on those of
its sweeps that were run, or whose recorded results are shipped, and says which. Rows by the judge that measures the
generated images and by the trained classifier are settings of their own. They have few seeds and
short curves: a row has a verdict where {DIFFUSION_LEAST} seeds tell or more; and where a claim is about a bend or a
rise, a seed tells if its thresholds could have shown a move to halfway between the corners of two classes. Both have
been asked since results of these sweeps were seen.

The predicates and their thresholds stand in the queries below. They were written before results of these sweeps were
seen, except where a claim has the mark {MARK}: afterwards its query had to be repaired, as a comment in it says too, or
the claim was added, split, reworded or asked of other sweeps. What was done and why, and whether the predicate was
there already, stands below each of them.

The words under "measured" and the reasons under "Why" were written after results were seen, and some queries made to
measure more for them; neither enters a verdict.
"""
RULE = tuple(" ".join(paragraph.split()) for paragraph in _RULE.strip().split("\n\n"))
"""The rule in words, for the page."""


@dataclass(frozen=True)
class Answer:
    """One row that a claim's query gave, with what follows from it.

    Attributes:
        convention: paper, authors, theory, or small.
        setting: in words, made by the query from the stored parameters.
        n, k: seeds that tell, and those of them in which the claim holds.
        measured: a number in words, made by the query.
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


def verdict(answers: Sequence[Answer]) -> str:
    """The verdict on a claim from all its rows; `RULE` says how."""
    told: dict[str, list[str]] = {}
    for answer in answers:
        if answer.verdict != UNTOLD:
            told.setdefault(answer.convention, []).append(answer.verdict)
    if not told:
        return UNTOLD
    of = {convention: _together(verdicts) for convention, verdicts in told.items()}
    holding = [convention for convention, found in of.items() if found == HOLDS]
    if len(holding) == 1 and len(of) > 1:
        return ONLY.format(PHRASES.get(holding[0], holding[0]))
    return _together(list(of.values()))


def _together(verdicts: Sequence[str]) -> str:
    kinds = set(verdicts)
    if len(kinds) == 1:
        return kinds.pop()
    return SOME if SOME in kinds else SETTINGS
