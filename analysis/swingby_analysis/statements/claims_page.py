"""The page of the claims: static HTML without a script, in which every number stands beside the query that gave it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swingby import __version__
from swingby.data.files import utc_now
from swingby.store import Store
from swingby_analysis.query import Query, ask
from swingby_analysis.statements.compose import shared_of
from swingby_analysis.statements.judging import Judged
from swingby_analysis.statements.pages import own, plain_page
from swingby_analysis.statements.statement import Statement
from swingby_analysis.statements.table import UNITS
from swingby_analysis.statements.verdict import FAILS, HOLDS, MARK, MISSING, RULE, SETTINGS, SOME, UNTOLD

ROWS, COUNTS = Query("statements/rows"), Query("statements/verdicts")
TITLE = "What is claimed, and in how many seeds it holds"
_AFTERWARDS = f"""
The predicates and their thresholds stand in the queries below. They were written before results of these sweeps were
seen, except where a claim has the mark {MARK}: afterwards its query had to be repaired, as a comment in it says too, or
the claim was added, split, reworded or asked of other sweeps. What was done and why, and whether the predicate was
there already, stands below each of them.

The words under "measured" and the reasons under "Why" were written after results were seen, and some queries made to
measure more for them; neither enters a verdict.
"""
AFTERWARDS = tuple(" ".join(paragraph.split()) for paragraph in _AFTERWARDS.strip().split("\n\n"))
"""What is said below the rule, of the mark and of what was written later."""
KINDS = {HOLDS: "yes", SOME: "some", SETTINGS: "some", FAILS: "no", MISSING: "none", UNTOLD: "none"}
"""The colour of a verdict; "holds under ... only" is in between like "some"."""
BAR = 120
"""Width of an interval's bar, in pixels."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """One claim as the page shows it: its rows of the table, and what its query was and gave.

    Attributes:
        columns, result: what the query returned; None if it was not asked in this run.
    """

    rows: list[Row]
    columns: list[str] | None
    result: list[tuple[Any, ...]] | None

    @property
    def first(self) -> Row:
        """What all of its rows share."""
        return self.rows[0]


def page(store: Store, claims: Sequence[Statement], judged: Mapping[str, Judged]) -> str:
    """The page, from the table `claims`.

    Args:
        claims: every installed claim.
        judged: by slug, what was judged in this run; claims judged before are shown from the table alone.
    """
    shown = []
    for rows in by_claim(store):
        found = judged.get(rows[0]["claim"])
        frame = None if found is None else found.frame
        shown.append(Shown(rows, None if frame is None else frame.columns, None if frame is None else frame.rows()))
    shared = shared_of(claims)
    origins = _origins(store, judged.values())
    content = {
        "shown": shown,
        "counts": ask(store, COUNTS).to_dicts(),
        "origins": [row for query in origins for row in ask(store, query).to_dicts()],
        "title": next((text for item in shared for text in item.said("title of claims")), TITLE),
        "lead": [text for item in shared for text in item.said("lead of claims")],
        "rule": [*RULE, *(text for item in shared for text in item.said("note on claims")), *AFTERWARDS],
        "missing": MISSING,
        "after": {claim.slug: claim.after for claim in claims if claim.after},
        "questions": {claim.slug: claim.question for claim in claims},
        "mark": MARK,
        "made": made(store, claims),
        "hours": {claim.slug for claim in claims if claim.hours},
        "queries": [*origins, ROWS, COUNTS, *_made_of(store, claims)],
        "kind": lambda verdict: KINDS.get(verdict, "some"),
        "bar": bar,
        "together": UNITS[True],
        "written": utc_now()[:16].replace("T", " ") + " UTC",
        "version": __version__,
    }
    return plain_page("claims.html", content, own("claims.css"))


def by_claim(store: Store) -> list[list[Row]]:
    """The rows of the table `claims`, claim by claim, in the catalogue's order."""
    found: dict[str, list[Row]] = {}
    for row in ask(store, ROWS).iter_rows(named=True):
        found.setdefault(row["claim"], []).append(row)
    return list(found.values())


def made(store: Store, claims: Sequence[Statement]) -> Row:
    """What the verdicts rest on: claims, runs, sweeps, fewest and most seeds a sweep, and the last run's day."""
    found = [ask(store, query).row(0, named=True) for query in _made_of(store, claims)]
    parts = [part for part in found if part["cells"]]
    return {
        "claims": sum(ask(store, COUNTS)["claims"]),
        **{name: sum(part[name] for part in parts) for name in ("sweeps", "cells")},
        "fewest": min((part["fewest"] for part in parts), default=None),
        "most": max((part["most"] for part in parts), default=None),
        "trained": max((part["trained"] for part in parts), default=None),
    }


def _made_of(store: Store, claims: Sequence[Statement]) -> list[Query]:
    """What the verdicts rest on, one query an experiment of which the store has runs."""
    names = dict.fromkeys(name for item in shared_of(claims) for name in item.experiments)
    tables = store.tables()
    return [Query("statements/made", (name,)) for name in names if name in tables]


def _origins(store: Store, judged: Iterable[Judged]) -> list[Query]:
    """The sweeps behind these claims, one query an experiment."""
    ids: dict[str, dict[str, None]] = {}
    for item in judged:
        for experiment in item.claim.shared.experiments if item.query else ():
            ids.setdefault(experiment, {}).update(dict.fromkeys(item.sweep_ids))
    tables = store.tables()
    return [Query("statements/sweeps", (tuple(names), name)) for name, names in ids.items() if name in tables]


def bar(row: Row) -> dict[str, str]:
    """Where an interval's bar starts, how wide it is, and where the share stands on it, in pixels."""
    share = 0.0 if row["share"] is None else row["share"]
    low, high = BAR * row["low"], BAR * row["high"]
    return {"x": f"{low:.1f}", "width": f"{max(high - low, 1):.1f}", "at": f"{BAR * share:.1f}"}
