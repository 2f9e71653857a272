"""Where the cells behind statements come from: which sweeps, trained where and when, by which code."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from swingby.store import Store
from swingby_analysis.page import Code, Table
from swingby_analysis.query import Query, ask

HEADINGS = ("sweep", "id", "cells", "seeds", "diverged", "trained", "on", "by", "commit", "training")


def origins(store: Store, ids: Mapping[str, Collection[str]]) -> tuple[list[Query], list[dict[str, Any]]]:
    """The queries for the cells of these sweeps, one an experiment, and their rows: one a sweep and kind of results.

    Args:
        ids: experiment -> ids of its sweeps; an experiment of which the store has no cell is left out.
    """
    queries = [
        Query("statements/origins", (tuple(sweeps), experiment))
        for experiment, sweeps in sorted(ids.items())
        if experiment in store.names()
    ]
    return queries, [row for query in queries for row in ask(store, query).to_dicts()]


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The rows of `origins` as a page shows them."""
    shown = []
    for row in rows:
        days = row["first_day"] if row["first_day"] == row["last_day"] else f"{row['first_day']} to {row['last_day']}"
        numbers = [f"{row[name]:,}" for name in ("cells", "seeds", "diverged")]
        trained = f"{days}, recorded" if row["recorded"] else days
        seconds = "" if row["seconds"] is None else f"{row['seconds']:,.1f} s"
        texts = [row["hosts"] or "", row["engines"] or "", row["commits"] or ""]
        shown.append([row["name"], Code(row["sweep_id"]), *numbers, trained, *texts, seconds])
    return Table(HEADINGS, shown)
