"""Single runs, for drawings that show one where others show the median: which run, its entries, its stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from analysis.charts.ground import Shade
from analysis.drawings.subject import Subject
from analysis.extrema import Floats
from analysis.report.prose import plural
from analysis.stages import stages

SYMMETRIC = ("symmetric", "w_recurrence")
KEPT = 120
"""About how many steps of each line are drawn."""


class Shown(NamedTuple):
    """One run that has a panel: its point, its seed, and what the seed was chosen for."""

    point: int
    seed: int
    why: str


def chosen(subject: Subject, common_seed: bool, most: bool) -> list[Shown]:
    """Which runs have a panel: of each point its median seed, or one seed a preset; then that with most descents.

    A common seed is one with a result at every point of the preset, if there is any.
    """
    found, shared = list[Shown](), dict[str, int]()
    for point in subject.points:
        runs = subject.runs(point)
        seed, why = subject.median_seed(point), "median seed"
        if common_seed:
            preset = runs["preset"][0]
            why = "the same seed" if preset in shared else "seed"
            seed = shared[preset] if preset in shared else usual_seed(_everywhere(subject, runs))
            shared[preset] = seed
        run = runs.filter(pl.col("seed") == seed)
        found += [Shown(point, seed, f"{why} {seed}: {_became(run)}")] if run.height else []
        if most:
            found += most_descents(runs, point)
    return found


def _everywhere(subject: Subject, runs: pl.DataFrame) -> pl.DataFrame:
    """Those runs of a point whose seed has a result at every point of its preset; all of them if there is none."""
    cells = subject.cells.filter(pl.col("preset") == runs["preset"][0])
    counts = cells.group_by("seed").agg(pl.col("point").n_unique())
    whole = counts.filter(pl.col("point") == cells["point"].n_unique())["seed"]
    kept = runs.filter(pl.col("seed").is_in(whole.to_list()))
    return kept if kept.height else runs


def usual_seed(runs: pl.DataFrame) -> int:
    """The median seed by bump height among the runs of the most common outcome, be it that they diverge."""
    common = runs["outcome"].value_counts().sort(["count", "outcome"], descending=[True, False])["outcome"][0]
    ordered = runs.filter(pl.col("outcome") == common).sort("bump_height", "seed", nulls_last=True)
    return int(ordered["seed"][(ordered.height - 1) // 2])


def _became(run: pl.DataFrame) -> str:
    """Descents and outcome of one run."""
    row = run.row(0, named=True)
    return row["outcome"] if row["descents"] is None else f"{plural(row['descents'], 'descent')}, {row['outcome']}"


def most_descents(runs: pl.DataFrame, point: int) -> list[Shown]:
    """The run of a point with the most descents of the OOD loss, of equals the one with the largest bump; or none."""
    ended = runs.filter((pl.col("status") == "ok") & pl.col("descents").is_not_null())
    best = ended.sort(["descents", "bump_height", "seed"], descending=[True, True, False]).head(1)
    found = list[Shown]()
    for seed, descents in best.select("seed", "descents").iter_rows():
        equal = ended.filter(pl.col("descents") == descents).height
        why = f"seed {seed} has the most descents: {descents}; {equal} of {runs.height} seeds have as many"
        found.append(Shown(point, seed, why))
    return found


def pairs_of(shown: Sequence[Shown]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Points and seeds, as a query takes them."""
    pairs = list(dict.fromkeys((one.point, one.seed) for one in shown))
    return tuple(point for point, _ in pairs), tuple(seed for _, seed in pairs)


def entries_of(concepts: int, symmetric: bool) -> list[tuple[int, int]]:
    """Which entries are drawn, major ones first; of a symmetric W each minor one once."""
    minors = [(i, j) for i in range(concepts) for j in range(concepts) if i < j or (i > j and not symmetric)]
    return [(i, i) for i in range(concepts)] + minors


def curves_of(run: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """The recorded steps of a run, (T,), and its Jacobian there, (T, s, s), as long as it is finite."""
    W = np.array(run["jacobian"], dtype=float).reshape(-1, run["s"], run["s"])
    last = int(np.logical_and.accumulate(np.isfinite(W).all(axis=(1, 2))).sum())
    return np.array(run["step"])[:last], W[:last]


def shades_of(run: Mapping[str, Any]) -> list[Shade]:
    """The stages of a run, in steps."""
    step, W = curves_of(run)
    if not len(step):
        return []
    return [Shade(stage.name, stage.kind, int(step[stage.start]), int(step[stage.end])) for stage in stages(W)]


def kept_places(step: Floats, wanted: int = KEPT) -> list[int]:
    """The first record in each of `wanted` bins of log(1 + step), and the last one."""
    if not len(step):
        return []
    bins = np.floor(wanted * np.log1p(step) / max(np.log1p(step[-1]), 1e-9))
    return sorted({*np.unique(bins, return_index=True)[1].tolist(), len(step) - 1})
