"""What a project found that its paper did not say: findings that come out again on seeds that had no part in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from swingby.store import Store
from swingby_analysis.statements.judging import Sentence, conclude
from swingby_analysis.statements.needed import Needed
from swingby_analysis.statements.statement import UNSURE, Statement
from swingby_analysis.statements.verdict import MISSING

MOST = 10
"""Sentences of such a list at most: a longer one is not read."""
REPLICATED, FAILED, WAITING = "replicated", "not replicated", "not run on fresh seeds"


@dataclass(frozen=True)
class Again:
    """A new finding, and what its sweeps on fresh seeds say.

    Attributes:
        first: the finding on the sweeps that suggested it.
        fresh: the same query on the sweeps of fresh seeds.
    """

    first: Sentence
    fresh: Sentence

    @property
    def verdict(self) -> str:
        """Whether the same wording was chosen on fresh seeds; what could not be told at first cannot be replicated."""
        if MISSING in (self.first.verdict, self.fresh.verdict):
            return WAITING
        alike = self.first.decision == self.fresh.decision and self.first.decision != UNSURE
        return REPLICATED if alike else FAILED


def on_fresh_seeds(finding: Statement) -> Statement:
    """The finding, asked of its sweeps on fresh seeds."""
    return replace(finding, sweeps=finding.fresh)


def again(store: Store, sentences: Sequence[Sentence], needed: Mapping[str, Needed]) -> list[Again]:
    """The new ones of these findings with their answers on fresh seeds: those that were replicated first.

    Raises:
        SwingbyError: a query is wrong.
    """
    new = [
        Again(sentence, conclude(store, on_fresh_seeds(sentence.finding), needed))
        for sentence in sentences
        if sentence.finding.fresh
    ]
    return sorted(new, key=lambda one: (REPLICATED, WAITING, FAILED).index(one.verdict))
