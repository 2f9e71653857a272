"""Results on fresh seeds: cells of the sweeps that trained extreme points of another sweep again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from swingby.store import Store
from swingby_analysis.query import Query, ask
from swingby_analysis.report.cells import cells_query
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.outcomes import among, current, with_written
from swingby_analysis.report.phases import Phases


def replications(store: Store, sweep_id: str) -> dict[str, Mapping[int, int]]:
    """The sweeps that trained points of this one on fresh seeds, by id: which of its points each of theirs is.

    They count for every sweep of the same name over the same points, also after it was given more seeds.
    """
    resolved = json.loads(ask(store, Query("sweep", (sweep_id,))).row(0, named=True)["resolved"])
    points_of = dict[str, Mapping[int, int]]()
    rows = ask(store, Query("replications", (resolved["name"],)))
    for other_id, text, origin in rows.select("sweep_id", "resolved", "origin").iter_rows():
        replicates = json.loads(text)["replicates"]
        if replicates["sweep_id"] == sweep_id or (origin is not None and _grid(json.loads(origin)) == _grid(resolved)):
            points_of[other_id] = dict(enumerate(replicates["points"]))
    return points_of


def _grid(resolved: Mapping[str, Any]) -> list[Any]:
    return [resolved.get(key) for key in ("axes", "where", "common", "base")]


def fresh_phases(store: Store, data: ReportData) -> Phases | None:
    """The outcomes on seeds that the sweep never used, at those of its points that were replicated; None without any.

    The points are numbered as in the sweep itself.
    """
    seeds, frames = data.resolved["seeds"], list[pl.DataFrame]()
    for sweep_id, places in replications(store, data.sweep["sweep_id"]).items():
        cells = ask(store, cells_query(store, data.sweep["experiment"], sweep_id)).filter(pl.col("status") != "failed")
        cells, _ = with_written(store, sweep_id, cells, current(store, sweep_id, data.resolved))
        cells = among(cells, data.reported.among)
        known = [name for name in data.outcomes if name in cells.columns]
        points = pl.col("point").replace_strict(places, return_dtype=cells.schema["point"])
        frames.append(cells.filter(~pl.col("seed").is_in(seeds)).select("cell_id", points.alias("point"), *known))
    if not frames:
        return None
    # Points that were extreme twice, before and after the sweep was given more seeds, have the same fresh seeds.
    together = pl.concat(frames, how="diagonal_relaxed").unique("cell_id", maintain_order=True)
    return (
        Phases(together, {name: one.column.order for name, one in data.outcomes.items()}) if together.height else None
    )
