"""Single runs for drawings: which run represents a point, its Jacobian entries and its stages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from swingby_analysis.report.prose import plural
from swingby_analysis.signals import bumps
from swingby_analysis.signals.extrema import Floats

from ..detect.stages import stages
from .stage_background import Shade
from .subject import Subject

COARSE, FINE = (f"{100 * level:g} %" for level in (bumps.FLOOR, bumps.FINE))
"""Sizes over L_ref: drops of the OOD loss beyond them count in `descents`, and without noise in `descents_fine`."""
KEPT = 120
"""About how many steps of each line are drawn."""


class PanelRun(NamedTuple):
    """One run that has a panel: its point, its seed, and lines about why it was chosen and its outcome."""

    point: int
    seed: int
    why: tuple[str, ...]


def chosen(
    subject: Subject, common_seed: bool, most: bool, preferred: Mapping[int, Collection[int]] | None = None
) -> list[PanelRun]:
    """The runs that have a panel: for each point its median seed, or one seed for each preset (`common_seed`).

    With `most`, the run with the most descents follows. A common seed is one with a result at every point of its
    preset, if there is any; of these, one that is `preferred` (point -> seeds) at the most points of the preset.
    """
    shown, shared = list[PanelRun](), dict[str, int]()
    for point in subject.points:
        runs = subject.runs(point)
        seed, why = subject.median_seed(point), "median seed"
        if common_seed:
            preset = runs["preset"][0]
            why = "the same seed" if preset in shared else "seed"
            if preset not in shared:
                shared[preset] = usual_seed(subject, _preferred_runs(subject, runs, preferred or {}))
            seed = shared[preset]
        run = runs.filter(pl.col("seed") == seed)
        if run.height:
            outcome, *descents = _outcome_lines(run)
            shown.append(PanelRun(point, seed, (f"{why} {seed}: {outcome}", *descents)))
        if most:
            shown += most_descents(runs, point)
    return shown


def _preferred_runs(subject: Subject, runs: pl.DataFrame, preferred: Mapping[int, Collection[int]]) -> pl.DataFrame:
    """The runs of a point whose seed is wanted at the most points of their preset.

    Seeds with a result at every point of the preset come first; others count only where there are none of these.
    """
    cells = subject.cells.filter(pl.col("preset") == runs["preset"][0])
    points = cells["point"].unique()
    counts = cells.group_by("seed").agg(pl.col("point").n_unique())
    everywhere = runs.filter(pl.col("seed").is_in(counts.filter(pl.col("point") == len(points))["seed"].to_list()))
    candidates = everywhere if everywhere.height else runs
    times = {seed: sum(seed in preferred.get(point, ()) for point in points) for seed in candidates["seed"]}
    most = max(times.values())
    return candidates.filter(pl.col("seed").is_in([seed for seed, count in times.items() if count == most]))


def usual_seed(subject: Subject, runs: pl.DataFrame) -> int:
    """The median seed among the runs of a point with the most common outcome, `diverged` included."""
    common = runs["outcome"].value_counts().sort(["count", "outcome"], descending=[True, False])["outcome"][0]
    return subject.medoid(runs["point"][0], runs.filter(pl.col("outcome") == common)["seed"].to_list())


def _outcome_lines(run: pl.DataFrame) -> tuple[str, ...]:
    """Outcome and descents of one run, a line each."""
    row = run.row(0, named=True)
    coarse, fine = row["descents"], row["descents_fine"]
    if coarse is None:
        return (row["outcome"],)
    if fine in (None, coarse):
        return row["outcome"], plural(coarse, "descent")
    return row["outcome"], f"{plural(coarse, 'descent')} by {COARSE}, {fine} by {FINE} of L_ref"


def most_descents(runs: pl.DataFrame, point: int) -> list[PanelRun]:
    """The run of a point with the most descents of the OOD loss; empty if no run has a count.

    Drops by more than 0.1 % of L_ref count, or with sampling noise those above the noise. Of equal runs the one with
    the most drops by more than 1 % wins, then the one with the highest bump.
    """
    counted = pl.coalesce("descents_fine", "descents").alias("counted")
    ended = runs.filter((pl.col("status") == "ok") & pl.col("descents").is_not_null()).with_columns(counted)
    order = ["counted", "descents", "bump_height", "seed"]
    best = ended.sort(order, descending=[True, True, True, False]).head(1)
    shown = list[PanelRun]()
    for seed, count, coarse, fine, outcome in best.select(
        "seed", "counted", "descents", "descents_fine", "outcome"
    ).iter_rows():
        equal = ended.filter(pl.col("counted") == count).height
        sizes = (f" by {FINE} of L_ref", f" (by {COARSE}: {coarse})") if fine is not None else ("", "")
        why = f"seed {seed} has the most descents{sizes[0]}: {count}{sizes[1]}"
        have = "has" if equal == 1 else "have"
        shown.append(
            PanelRun(point, seed, (why, f"{equal} of {plural(runs.height, 'seed')} {have} as many; {outcome}"))
        )
    return shown


def pairs_of(shown: Sequence[PanelRun]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The points and the seeds of runs, without repeated pairs."""
    pairs = list(dict.fromkeys((run.point, run.seed) for run in shown))
    return tuple(point for point, _ in pairs), tuple(seed for _, seed in pairs)


def entries_of(concepts: int, symmetric: bool) -> list[tuple[int, int]]:
    """The entries (i, j) that are drawn, major ones first; of a symmetric W each minor entry once."""
    minors = [(i, j) for i in range(concepts) for j in range(concepts) if i < j or (i > j and not symmetric)]
    return [(i, i) for i in range(concepts)] + minors


def curves_of(run: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """The recorded steps of a run, (T,), and its Jacobian there, (T, s, s), up to the last record that is finite."""
    W = np.array(run["jacobian"], dtype=float).reshape(-1, run["s"], run["s"])
    last = int(np.logical_and.accumulate(np.isfinite(W).all(axis=(1, 2))).sum())
    return np.array(run["step"])[:last], W[:last]


def shades_of(run: Mapping[str, Any]) -> list[Shade]:
    """The stages of a run, in steps."""
    step, W = curves_of(run)
    if not len(step):
        return []
    return [Shade(stage.name, stage.kind, int(step[stage.start]), int(step[stage.end])) for stage in stages(W)]


def kept_places(step: Floats, count: int = KEPT) -> list[int]:
    """The first record in each of `count` bins of log(1 + step), and the last record."""
    if not len(step):
        return []
    bins = np.floor(count * np.log1p(step) / max(np.log1p(step[-1]), 1e-9))
    return sorted({*np.unique(bins, return_index=True)[1].tolist(), len(step) - 1})
