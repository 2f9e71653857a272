"""Judging: which sweeps a claim needs and how far they are, and what its query says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from analysis.claims.claim import Claim
from analysis.claims.verdict import MISSING, PHRASES, Answer, verdict
from analysis.report.data import ask
from analysis.report.queries import Query
from swingby.errors import SwingbyError
from swingby.run.lookup import standing
from swingby.store import Store
from swingby.sweep import Sweep

COLUMNS = ("convention", "setting", "n", "k", "measured")
"""What every claim's query returns."""


@dataclass(frozen=True)
class Needed:
    """A named sweep that claims need, with the overrides of this run, and how far it is.

    Attributes:
        done: cells with a result; `failed` ones ended without one, and are not waited for.
    """

    name: str
    sweep_id: str
    cells: int
    done: int = 0
    failed: int = 0

    @property
    def finished(self) -> bool:
        """Nothing is left to train, and something is there to read."""
        return self.done > 0 and self.done + self.failed == self.cells

    def __str__(self) -> str:
        return f"sweep {self.name}: {self.done:,} of {self.cells:,} cells"


@dataclass(frozen=True)
class Judged:
    """A claim with what its query said; without its sweeps: what is missing, and no verdict.

    Attributes:
        query: as asked; None if it was not.
        frame: its rows, with the columns COLUMNS.
        missing: what is not there yet, in words.
    """

    claim: Claim
    query: Query | None
    frame: pl.DataFrame | None
    answers: Sequence[Answer] = ()
    missing: Sequence[str] = ()

    @property
    def verdict(self) -> str:
        """By the rule; `MISSING` where nothing was asked."""
        return MISSING if self.missing else verdict(self.answers)


def wanted(claims: Sequence[Claim], overrides: Sequence[str]) -> dict[str, Needed]:
    """The sweeps that these claims need, by name, each once.

    Raises:
        SwingbyError: no such named sweep, or an override does not fit it.
    """
    loaded = {name: Sweep.load(name, overrides) for name in dict.fromkeys(n for c in claims for n in c.sweeps)}
    return {name: Needed(name, sweep.sweep_id, len(sweep)) for name, sweep in loaded.items()}


def progress(store: Store, needed: Mapping[str, Needed]) -> dict[str, Needed]:
    """The same sweeps with how far each is in the store."""
    found = {}
    for name, item in needed.items():
        counts = standing(store, "sim", item.sweep_id)
        found[name] = Needed(item.name, item.sweep_id, item.cells, counts["ok"] + counts["diverged"], counts["failed"])
    return found


def judge(store: Store, claim: Claim, needed: Mapping[str, Needed]) -> Judged:
    """What the claim's query says, if all its sweeps are finished.

    Raises:
        SwingbyError: the query is wrong, or returns other columns than `COLUMNS`.
    """
    sweeps = [needed[name] for name in claim.sweeps]
    missing = [str(item) for item in sweeps if not item.finished]
    if missing:
        return Judged(claim, None, None, missing=missing)
    query = claim.query(tuple(item.sweep_id for item in sweeps))
    try:
        frame = ask(store, query)
    except SwingbyError as error:
        raise SwingbyError(f"claim {claim.slug}: {error}") from error
    if tuple(frame.columns) != COLUMNS:
        raise SwingbyError(f"claim {claim.slug}: its query returns {frame.columns}; it must return {list(COLUMNS)}")
    told = (Answer(**row, together=claim.together) for row in frame.iter_rows(named=True))
    answers = sorted(told, key=_convention)
    return Judged(claim, query, frame, answers)


def _convention(answer: Answer) -> int:
    """The paper's rows first, then the authors', then the theory's; the query's own order within."""
    known = list(PHRASES)
    return known.index(answer.convention) if answer.convention in known else len(known)
