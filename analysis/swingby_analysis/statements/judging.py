"""The verdicts on claims and the wordings of findings, from the rows of their queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from swingby.errors import SwingbyError
from swingby.store import Store
from swingby_analysis.statements import effect, kinds
from swingby_analysis.statements.compose import QueriedSweep, compose, number_columns
from swingby_analysis.statements.kinds import ALWAYS, EXISTS, LAW, MOST, Outcome
from swingby_analysis.statements.needed import Needed
from swingby_analysis.statements.statement import NO, YES, Statement
from swingby_analysis.statements.verdict import MISSING, Answer, verdict

COLUMNS = ("preset", "setting", "measured")
"""What the query of a claim returns besides the columns of its kind."""
NO_PRESET = "none"
"""The convention of runs whose experiment has no presets."""


@dataclass(frozen=True)
class Judged:
    """A claim with the rows of its query; without its sweeps: what is missing, and no verdict.

    Attributes:
        query: as asked; "" if it was not.
        frame: its rows, with the columns COLUMNS and those of its kind.
        missing: what is not there yet, in words.
        lacking: sweeps on which it could be judged besides, and how far they are, in words.
        recorded: of sweeps whose results are recorded ones, how these came about, in words.
        sweep_ids: of the sweeps it was asked of.
    """

    claim: Statement
    query: str = ""
    frame: pl.DataFrame | None = None
    answers: Sequence[Answer] = ()
    missing: Sequence[str] = ()
    lacking: Sequence[str] = ()
    recorded: Sequence[str] = ()
    sweep_ids: Sequence[str] = ()

    @property
    def verdict(self) -> str:
        """The verdict by the rule; `MISSING` where nothing was asked."""
        return MISSING if self.missing else verdict(self.answers, self.claim.shared.presets)


@dataclass(frozen=True)
class Sentence:
    """A finding in the wording that its query chose; without its sweeps: what is missing."""

    finding: Statement
    verdict: str
    text: str
    query: str = ""
    columns: Sequence[str] = ()
    row: Sequence[str] = ()
    missing: Sequence[str] = ()
    decision: str = ""


def judge(store: Store, claim: Statement, needed: Mapping[str, Needed]) -> Judged:
    """A claim with the rows of its query, if all its sweeps are finished; of sweeps that take hours, any.

    Raises:
        SwingbyError: the query is wrong.
    """
    sweeps = [needed[name] for name in claim.sweeps]
    lacking = [str(item) for item in sweeps if not item.finished]
    there = [item for item in sweeps if item.finished]
    if lacking and not (claim.hours and there):
        return Judged(claim, missing=lacking)
    query, frame = ask(store, claim, [item.queried for item in there])
    answers = [answer(claim, row) for row in frame.iter_rows(named=True)]
    known = list(claim.shared.presets)
    # The rows of a preset together, in the order of the presets; the query's own order within.
    answers.sort(key=lambda row: known.index(row.convention) if row.convention in known else len(known))
    recorded = [f"Sweep {item.name}: {item.recorded}" for item in there if item.recorded]
    return Judged(
        claim, query, frame, answers, lacking=lacking, recorded=recorded, sweep_ids=[item.sweep_id for item in there]
    )


def answer(claim: Statement, row: Mapping[str, Any]) -> Answer:
    """The answer in one row of a claim's query; runs of an experiment without presets are under `NO_PRESET`.

    Raises:
        SwingbyError: the numbers of a law are none that a law can have.
    """
    try:
        result = outcome(claim, row)
    except SwingbyError as error:
        raise SwingbyError(f"claim {claim.slug}: {error}") from error
    return Answer(row["preset"] or NO_PRESET, row["setting"], row["measured"], result)


def outcome(claim: Statement, row: Mapping[str, Any]) -> Outcome:
    """What the seeds of one row say, by the rule of the claim's kind.

    Raises:
        SwingbyError: as `answer`.
    """
    if claim.rule in (EXISTS, ALWAYS):
        return (kinds.exists if claim.rule == EXISTS else kinds.always)(row["n"], row["k"], row["example"], claim.least)
    if claim.rule == MOST:
        return kinds.most(row["n"], row["k"], claim.least)
    seeds, listed = row["seeds"], {name: row[f"{name}s"] for name in number_columns(claim)}
    if "side" in listed:
        return kinds.larger(seeds, listed["side"], _numbers(listed["value"]), claim.least)
    numbers = {name: _numbers(values) for name, values in listed.items()}
    if claim.within is not None and claim.rule == LAW:
        return kinds.law(seeds, numbers["parameter"], numbers["error"], claim.within, claim.slope, claim.least)
    return kinds.mean(seeds, numbers["effect"], claim.least, claim.within, claim.reverse)


def _numbers(values: Sequence[Any]) -> NDArray[np.float64]:
    """Numbers of a query, NaN where it has none."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def worded(store: Store, finding: Statement, requests: Sequence[QueriedSweep]) -> Sentence:
    """A finding in the wording that its query chooses on these sweeps.

    Raises:
        SwingbyError: the query is wrong, gives other than one row, or lacks a column that decides or is spoken of.
    """
    query, frame = ask(store, finding, requests)
    try:
        if frame.height != 1:
            raise SwingbyError(f"its query gives {frame.height} rows; it must give one")
        row = frame.row(0, named=True)
        decision = effect.decide(row, finding.either)
        text = effect.written(finding.words[decision], row)
    except SwingbyError as error:
        raise SwingbyError(f"finding {finding.slug}: {error}") from error
    shown = [effect.shown(value) for value in row.values()]
    return Sentence(
        finding, YES if finding.either and decision == NO else decision, text, query, frame.columns, shown, (), decision
    )


def conclude(store: Store, finding: Statement, needed: Mapping[str, Needed]) -> Sentence:
    """A finding in the wording that its query chooses, or which of its sweeps are not finished.

    Raises:
        SwingbyError: as `worded`.
    """
    sweeps = [needed[name] for name in finding.sweeps]
    lacking = [str(item) for item in sweeps if not item.finished]
    if lacking:
        return Sentence(finding, MISSING, f"Not run yet: {'; '.join(lacking)}.", missing=lacking)
    return worded(store, finding, [item.queried for item in sweeps])


def ask(store: Store, statement: Statement, requests: Sequence[QueriedSweep]) -> tuple[str, pl.DataFrame]:
    """The query of a statement over these sweeps, and its rows.

    Raises:
        SwingbyError: it is wrong.
    """
    try:
        query = compose(statement, requests, store.names())
        return query, store.sql(query).polars()
    except SwingbyError as error:
        raise SwingbyError(f"{'claim' if statement.claims else 'finding'} {statement.slug}: {error}") from error
