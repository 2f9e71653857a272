"""Judging: which sweeps a claim needs and how far they are, and what its query says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from swingby.archive import of_record
from swingby.errors import SwingbyError
from swingby.run.lookup import standing
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.claims.claim import Claim
from swingby_analysis.claims.verdict import MISSING, PHRASES, Answer, verdict
from swingby_analysis.query import Query, ask

COLUMNS = ("convention", "setting", "n", "k", "measured")
"""What every claim's query returns."""


@dataclass(frozen=True)
class Needed:
    """A named sweep that claims need, with the overrides of this run, and how far it is.

    Attributes:
        experiment: whose runs it is of.
        hours: it takes hours: it is not trained for claims, and no override of theirs changes it.
        done: cells with a result; `failed` ones ended without one, and are not waited for.
        recorded: how its results came about, in words, if recorded ones are among them; else "".
    """

    name: str
    sweep_id: str
    experiment: str
    cells: int
    hours: bool = False
    done: int = 0
    failed: int = 0
    recorded: str = ""

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
        lacking: sweeps on which it could be judged besides, and how far they are, in words.
        recorded: of sweeps whose results are recorded ones, how these came about, in words.
    """

    claim: Claim
    query: Query | None
    frame: pl.DataFrame | None
    answers: Sequence[Answer] = ()
    missing: Sequence[str] = ()
    lacking: Sequence[str] = ()
    recorded: Sequence[str] = ()

    @property
    def verdict(self) -> str:
        """By the rule; `MISSING` where nothing was asked."""
        return MISSING if self.missing else verdict(self.answers)


def wanted(claims: Sequence[Claim], overrides: Sequence[str]) -> dict[str, Needed]:
    """The sweeps that these claims need, by name, each once; overrides change none that takes hours.

    Raises:
        SwingbyError: no such named sweep, or an override does not fit it.
    """
    hours = {name: claim.hours for claim in claims for name in claim.sweeps}
    loaded = {name: Sweep.load(name, () if long else overrides) for name, long in hours.items()}
    return {
        name: Needed(name, sweep.sweep_id, sweep.experiment_name, len(sweep), hours[name])
        for name, sweep in loaded.items()
    }


def progress(store: Store, needed: Mapping[str, Needed]) -> dict[str, Needed]:
    """The same sweeps with how far each is in the store."""
    found = {}
    for name, item in needed.items():
        counts, told = standing(store, item.experiment, item.sweep_id), of_record(store, item.sweep_id)
        recorded = "" if told is None else str(told)
        done = counts["ok"] + counts["diverged"]
        found[name] = replace(item, done=done, failed=counts["failed"], recorded=recorded)
    return found


def judge(store: Store, claim: Claim, needed: Mapping[str, Needed]) -> Judged:
    """What the claim's query says, if all its sweeps are finished; of sweeps that take hours, any.

    Raises:
        SwingbyError: the query is wrong, or returns other columns than `COLUMNS`.
    """
    sweeps = [needed[name] for name in claim.sweeps]
    lacking = [str(item) for item in sweeps if not item.finished]
    there = [item for item in sweeps if item.finished]
    if lacking and not (claim.hours and there):
        return Judged(claim, None, None, missing=lacking)
    query = claim.query(tuple(item.sweep_id for item in there))
    try:
        frame = ask(store, query)
    except SwingbyError as error:
        raise SwingbyError(f"claim {claim.slug}: {error}") from error
    if tuple(frame.columns) != COLUMNS:
        raise SwingbyError(f"claim {claim.slug}: its query returns {frame.columns}; it must return {list(COLUMNS)}")
    told = (Answer(**row, together=claim.together, least=claim.least) for row in frame.iter_rows(named=True))
    answers = sorted(told, key=_convention)
    recorded = [f"Sweep {item.name}: {item.recorded}" for item in there if item.recorded]
    return Judged(claim, query, frame, answers, lacking=lacking, recorded=recorded)


def _convention(answer: Answer) -> int:
    """The paper's rows first, then the authors', then the theory's; the query's own order within."""
    known = list(PHRASES)
    return known.index(answer.convention) if answer.convention in known else len(known)
