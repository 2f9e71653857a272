"""The table `claims`: what was judged, as derived records; each run's rows stand in the place of the last run's."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from analysis.claims.judging import Judged
from swingby.files import utc_now
from swingby.records import Records
from swingby.store import Store, ingest

KIND = "claims"
KEY = ("claim", "place")
VERSION = "1"
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
        ("n", pa.int64()),
        ("k", pa.int64()),
        ("share", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("row_verdict", pa.string()),
        ("measured", pa.string()),
        ("sweeps", pa.list_(pa.string())),
        ("query", pa.string()),
    ]
)
"""Columns of the table; a claim whose sweeps are not finished has one row, which says what is missing in `measured`."""

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
        "query": "" if judged.query is None else judged.query.readable,
    }
    if not judged.answers:
        said = "; ".join(judged.missing) or "the query gave no row"
        nothing = {"convention": "", "setting": "", "n": 0, "k": 0, "share": None, "low": 0.0, "high": 1.0}
        return [{**common, "place": 0, **nothing, "row_verdict": of, "measured": said}]
    found = []
    for place, answer in enumerate(judged.answers):
        low, high = answer.interval
        own = {name: getattr(answer, name) for name in ("convention", "setting", "n", "k", "share", "measured")}
        found.append({**common, "place": place, **own, "low": low, "high": high, "row_verdict": answer.verdict})
    return found


def write(records: Records, store: Store, judged: Sequence[tuple[int, Judged]], known: Collection[str]) -> bool:
    """Makes these the rows of the table `claims`, beside those of claims that were not judged now; says if it changed.

    Args:
        judged: claims with their places in the catalogue.
        known: every claim's slug; rows of others are dropped.
    """
    before = _rows(store)
    asked = {item.claim.slug for _, item in judged}
    kept = [row for row in before if row["claim"] in known and row["claim"] not in asked]
    fresh = sorted([*kept, *(row for rank, item in judged for row in rows(rank, item))], key=_key)
    if fresh == sorted(before, key=_key):
        return False
    # A version of its own: the store shows the newest one whole, so that no row of an earlier run lingers.
    version = f"{VERSION}.{''.join(filter(str.isdigit, utc_now()))}"
    records.write_derived(KIND, version, KEY, pa.Table.from_pylist(fresh, schema=SCHEMA))
    ingest(records)
    return True


def _rows(store: Store) -> list[Row]:
    if KIND not in store.tables():
        return []
    columns = ", ".join(f'"{name}"' for name in SCHEMA.names)
    return store.sql(f"select {columns} from {KIND}").arrow().to_pylist()


def _key(row: Row) -> tuple[int, int]:
    return row["rank"], row["place"]
