"""The page of the claims: static HTML without a script, in which every number stands beside the query that gave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swingby import __version__
from swingby.data.files import utc_now
from swingby.store import Store
from swingby_analysis.claims.catalogue import CATALOGUE
from swingby_analysis.claims.claim import asked
from swingby_analysis.claims.judging import Judged
from swingby_analysis.claims.table import UNITS
from swingby_analysis.claims.verdict import FAILS, HOLDS, MARK, MISSING, RULE, SETTINGS, SOME, UNTOLD
from swingby_analysis.query import Query, ask
from swingby_analysis.report.page import own, plain_page

ROWS, COUNTS = Query("claims-rows"), Query("claims-counts")
MADE = {experiment: Query("claims-made", (experiment,)) for experiment in ("sim", "diffusion")}
"""What the verdicts rest on, by experiment: a query is asked where the store has runs of it."""
HOURS = {claim.slug for claim in CATALOGUE if claim.hours}
"""Claims about sweeps that take hours."""
AFTER = {claim.slug: claim.after for claim in CATALOGUE if claim.after}
"""What was done to a claim after results had been seen, by slug."""
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


def page(store: Store, judged: Mapping[str, Judged]) -> str:
    """The page, from the table `claims`.

    Args:
        judged: by slug, what was judged in this run; claims judged before are shown from the table alone.
    """
    shown = []
    for rows in by_claim(store):
        found = judged.get(rows[0]["claim"])
        frame = None if found is None else found.frame
        shown.append(Shown(rows, None if frame is None else frame.columns, None if frame is None else frame.rows()))
    ids, tables = _sweep_ids(judged), store.tables()
    origins = [Query("claims-origins", (ids, experiment)) for experiment in MADE if experiment in tables]
    asked_of = [query for experiment, query in MADE.items() if experiment in tables]
    content = {
        "shown": shown,
        "counts": ask(store, COUNTS).to_dicts(),
        "origins": [row for query in origins for row in ask(store, query).to_dicts()],
        "rule": RULE,
        "missing": MISSING,
        "after": AFTER,
        "mark": MARK,
        "made": made(store),
        "hours": HOURS,
        "queries": [*origins, ROWS, COUNTS, *asked_of],
        "kind": lambda verdict: KINDS.get(verdict, "some"),
        "bar": bar,
        "together": UNITS[True],
        "asked": asked,
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


def made(store: Store) -> Row:
    """What the verdicts rest on: claims, runs, sweeps, fewest and most seeds a sweep, and the last run's day."""
    tables = store.tables()
    found = [ask(store, query).row(0, named=True) for name, query in MADE.items() if name in tables]
    parts = [part for part in found if part["cells"]]
    return {
        "claims": sum(ask(store, COUNTS)["claims"]),
        **{name: sum(part[name] for part in parts) for name in ("sweeps", "cells")},
        "fewest": min((part["fewest"] for part in parts), default=None),
        "most": max((part["most"] for part in parts), default=None),
        "trained": max((part["trained"] for part in parts), default=None),
    }


def _sweep_ids(judged: Mapping[str, Judged]) -> tuple[str, ...]:
    asked = (item.query for item in judged.values())
    ids = (name for query in asked if query is not None for name in query.parameters[0])  # pyright: ignore
    return tuple(dict.fromkeys(str(name) for name in ids))


def bar(row: Row) -> dict[str, str]:
    """Where an interval's bar starts, how wide it is, and where the share stands on it, in pixels."""
    share = 0.0 if row["share"] is None else row["share"]
    low, high = BAR * row["low"], BAR * row["high"]
    return {"x": f"{low:.1f}", "width": f"{max(high - low, 1):.1f}", "at": f"{BAR * share:.1f}"}
