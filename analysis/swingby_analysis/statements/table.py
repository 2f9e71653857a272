"""The tables `claims` and `claims_queries`: verdicts and their SQL; a run's rows replace those of the last run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pyarrow as pa

from swingby.data.files import utc_now
from swingby.data.records import Records
from swingby.store import Store, ingest
from swingby_analysis.statements.judging import Judged

KIND = "claims"
KEY = ("claim", "place")
VERSION = "4"
SCHEMA = pa.schema(
    [
        ("claim", pa.string()),
        ("place", pa.int64()),  # of the row among the claim's rows
        ("rank", pa.int64()),  # of the claim in the catalogue
        ("text", pa.string()),
        ("source", pa.string()),
        ("verdict", pa.string()),
        ("why", pa.string()),
        ("convention", pa.string()),
        ("setting", pa.string()),
        ("unit", pa.string()),  # what n and k count: UNIT
        ("n", pa.int64()),
        ("k", pa.int64()),
        ("share", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("row_verdict", pa.string()),
        ("measured", pa.string()),
        ("sweeps", pa.list_(pa.string())),
        ("lacking", pa.list_(pa.string())),  # sweeps on which the claim could be judged besides, and how far they are
        ("recorded", pa.list_(pa.string())),  # of which sweeps the results are recorded ones, and how they came about
        ("kind", pa.string()),  # of the claim: the rule by which it is judged
        ("effect", pa.float64()),  # of a claim in the mean its size, of a law its exponent
        ("effect_low", pa.float64()),
        ("effect_high", pa.float64()),
        ("example", pa.int64()),  # a seed that shows what exists, or that refutes what always is
        ("strength", pa.string()),  # how strongly the seeds speak for the verdict, in words
    ]
)
"""Columns of the table; a claim whose sweeps are not finished has one row, which says what is missing in `measured`."""
UNIT = "seed"
"""What n and k of a row count. Rows of versions before 4 may say "all seeds" instead."""
QUERIES, QUERIES_KEY = "claims_queries", ("claim",)
QUERIES_SCHEMA = pa.schema([("claim", pa.string()), ("query", pa.string())])
"""The SQL of each claim as it was asked, "" if it was not: apart, so that `from claims` can be read on a screen."""

Row = dict[str, Any]


def rows(rank: int, judged: Judged) -> list[Row]:
    """The rows of one claim; `rank` is its place in the catalogue."""
    claim, of = judged.claim, judged.verdict
    common: Row = {
        "claim": claim.slug,
        "rank": rank,
        "text": claim.text,
        "source": claim.source,
        "verdict": of,
        "why": claim.why,
        "sweeps": list(claim.sweeps),
        "unit": UNIT,
        "kind": claim.rule,
        "lacking": list(judged.lacking),
        "recorded": list(judged.recorded),
    }
    nothing: Row = dict.fromkeys(("share", "low", "high", "effect", "effect_low", "effect_high", "example"))
    if not judged.answers:
        why = "; ".join(judged.missing) or "the query gave no row"
        empty = {"place": 0, "convention": "", "setting": "", "n": 0, "k": 0, "strength": ""}
        return [{**common, **nothing, **empty, "row_verdict": of, "measured": why}]
    shown = []
    for place, answer in enumerate(judged.answers):
        result = answer.outcome
        words = {"convention": answer.convention, "setting": answer.setting, "measured": answer.measured}
        values: Row = {"place": place, "n": result.n, "k": result.k, "strength": result.strength, **words}
        values["example"] = result.example
        if result.share is not None:
            share = result.share.value if result.n else None
            values |= {"share": share, "low": result.share.low, "high": result.share.high}
        if result.effect is not None:
            values |= {
                "effect": result.effect.value, "effect_low": result.effect.low, "effect_high": result.effect.high
            }  # fmt: skip
        shown.append({**common, **nothing, **values, "row_verdict": result.verdict})
    return shown


def write(records: Records, store: Store, judged: Sequence[tuple[int, Judged]], known: Collection[str]) -> bool:
    """Makes these the rows of both tables, beside those of claims that were not judged now; says if any changed.

    Args:
        judged: claims with their places in the catalogue.
        known: every claim's slug; rows of others are dropped.
    """
    slugs = {item.claim.slug for _, item in judged}
    shown = [row for rank, item in judged for row in rows(rank, item)]
    queries = [{"claim": item.claim.slug, "query": item.query} for _, item in judged]
    version = f"{VERSION}.{''.join(filter(str.isdigit, utc_now()))}"
    changed, there = False, store.names()
    for kind, key, schema, fresh in ((KIND, KEY, SCHEMA, shown), (QUERIES, QUERIES_KEY, QUERIES_SCHEMA, queries)):
        stored = store.sql(f"select * from {kind}").arrow().to_pylist() if kind in there else []
        # A table of an older version may lack columns: its rows then have nulls.
        before = sorted(({name: row.get(name) for name in schema.names} for row in stored), key=_order(key))
        kept = [row for row in before if row["claim"] in known and row["claim"] not in slugs]
        now = sorted([*kept, *fresh], key=_order(key))
        if now != before:
            # A version of its own: the store shows the newest one whole, so that no row of an earlier run lingers.
            records.write_derived(kind, version, key, pa.Table.from_pylist(now, schema=schema))
            changed = True
    if changed:
        ingest(records)
    return changed


def _order(key: Sequence[str]) -> Callable[[Row], tuple[Any, ...]]:
    return lambda row: tuple(row[name] for name in key)
