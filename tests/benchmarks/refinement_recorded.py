"""Recorded sweeps as cases: a surface fitted to the recorded labels is the truth from which labels are drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.special import expit

from swingby.archive.file import read
from swingby.select.boundary.boundary import fitted
from swingby.select.boundary.kernel import Numbers
from swingby.select.boundary.space import Space
from swingby.select.boundary.verdicts import Goal
from tests.support.boundaries import Case

DEMO = Path(__file__).parent / "refinement_demo.json"
"""Counts of the demo's labels: its sweep is trained by `make demo` and not shipped as recorded results."""
DIVERGED = "diverged"
SWEEPS = (
    ("diagram-width-gain", "retreat"),
    ("diagram-width-gain", DIVERGED),
    ("diagram-ratio-start", "transient_memorization"),
    ("diagram-ratio-spread", "retreat"),
    ("diagram-ratio-gain", "retreat"),
    ("diagram-concepts-start", "retreat"),
    ("diagram-rate-depth", "retreat"),
    ("diagram-rate-depth", DIVERGED),
    ("diagram-depth-gain", DIVERGED),
    ("diagram-dimension-width", "retreat"),
    ("diagram-distance", "transient_memorization"),
    ("diagram-latent-concepts", "retreat"),
)
"""Sweeps and outcomes; `diverged` is the status of that name."""


def recorded(cache: Path) -> dict[str, Callable[[], Case]]:
    """The cases of recorded sweeps, by name; a fitted surface is kept in the folder `cache`."""
    demo = {
        f"demo, {outcome.replace('_', ' ')}": partial(_demo, outcome, cache)
        for outcome in ("retreat", "transient_memorization")
    }
    names = {
        (sweep, outcome): f"{sweep.removeprefix('diagram-')}, {outcome.replace('_', ' ')}" for sweep, outcome in SWEEPS
    }
    return demo | {name: partial(_swept, name, *of, cache) for of, name in names.items()}


def _demo(outcome: str, cache: Path) -> Case:
    kept = json.loads(DEMO.read_text())
    count, seeds = int(np.prod(kept["shape"])), kept["seeds"]
    space = Space(tuple(kept["shape"]), np.zeros(count, np.int64), np.arange(count), seeds)
    return _case(
        f"demo, {outcome.replace('_', ' ')}", space, np.array(kept[outcome], float), np.full(count, float(seeds)), cache
    )


def _swept(name: str, sweep: str, outcome: str, cache: Path) -> Case:
    recording, table = read(Path(str(files("swingby_sweeps.sim"))) / "archive" / f"{sweep}.parquet")
    if outcome == DIVERGED:
        labels = pa.array([status == DIVERGED for status in table["status"].to_pylist()])
    else:
        labels = table[f"descents.{outcome}"]
    each = pa.table({"point": table["point"], "yes": labels.cast(pa.int64())})
    counts = each.group_by("point").aggregate([("yes", "sum"), ("yes", "count")]).sort_by("point")
    groups, columns = [axis["names"] for axis in recording.resolved["axes"]], dict[str, list[object]]()
    first = np.unique(table["point"].to_numpy(), return_index=True)[1]
    for one in {one for group in groups for one in group}:
        column, _, item = one.partition(".")
        values = table[column].take(first).to_pylist()
        columns[one] = [value[int(item)] for value in values] if item else values
    seeds = max(table.group_by("point").aggregate([("seed", "count")])["seed_count"].to_pylist())
    space = Space.of(groups, columns, seeds=seeds)
    yes, n = (counts[column].to_numpy().astype(float) for column in ("yes_sum", "yes_count"))
    return _case(name, space, np.nan_to_num(yes), n, cache)


def _case(name: str, space: Space, yes: Numbers, n: Numbers, cache: Path) -> Case:
    """The case whose truth is the share at the mean of the logit that the labels say."""
    goal, kept = Goal(), cache / f"{name.replace(', ', '-').replace(' ', '-')}.npy"
    if not kept.exists():
        cache.mkdir(parents=True, exist_ok=True)
        np.save(kept, expit(fitted(space, goal, yes, n).mean))
    return Case(name, space, np.load(kept), np.ones(len(space)), goal)
