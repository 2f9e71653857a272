"""The summary of a comparison: what was compared, what is the same, and what differs after correction."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from swingby_analysis.diff.comparison import Diff
from swingby_analysis.diff.side import unfinished
from swingby_analysis.grid import plain
from swingby_analysis.report.prose import between, chance, number, plural, points, shown
from swingby_analysis.stats.exact import LEVEL

Row = Mapping[str, Any]
MOST_NAMED = 6
"""Values of a parameter that are named in a sentence."""
_RULES = f"""
Two cells are a pair if they have the same seed and the same value of every parameter that varies in A or in B. Other
parameters may differ; they are listed. Only cells that have ended are compared.

Curves are compared at the steps that both cells recorded. The largest difference is absolute, in the curve's own unit,
or relative to the largest absolute value of the two curves. Identical means that no bit of any number differs.

Shares have 95 % intervals: at a point Wilson's, and Newcombe's for the difference of paired or of independent shares.
Over all points together, where a seed has the same random draws at every point, the runs of a seed are not independent:
Wilson's interval is then taken at the effective number of cells (Korn and Graubard), estimated from the variation
between seeds. Where a share is 0 or 1 it is the number of seeds, and the difference of paired shares then has the
interval of what each seed gains (Student's).

Where both sweeps have the same seeds, only pairs are compared. At a point the test is McNemar's exact test, which uses
the pairs that differ (for numbers: the sign test). Over all points it is an exact permutation test that flips the sign
of whole seeds. Where no seed is in both, it is Fisher's exact test, and the rank-sum test for numbers and for shares of
seeds.

There are two families of tests: those over all points, and those at single points. Each holds all outcomes, and is
corrected by Holm's method, so that the chance of any false alarm in it is at most {100 * LEVEL:.0f} %. A test with so
few differing seeds that no result could be significant is left out (Tarone's method); its corrected p is a dash.
"""
RULES = tuple(" ".join(paragraph.split()) for paragraph in _RULES.strip().split("\n\n"))
"""How cells are matched and numbers computed, a paragraph each."""


def headline(diff: Diff) -> str:
    """The first sentence: whether the curves are the same."""
    count = diff.finished.height
    if not diff.pairing.by_seed:
        return "The sweeps have no seed in common: their outcomes are compared as independent samples."
    if not count:
        return "There is no pair of finished cells yet, so no curve can be compared."
    if diff.same:
        return f"Identical in all {plural(count, 'cell')}, bit for bit: every curve, every scalar, and how each ended."
    if diff.curves_same:
        return f"Every curve is identical in all {plural(count, 'cell')}; a scalar or how a cell ended differs."
    alike = count - diff.curves.filter(~pl.col("same"))["place"].n_unique() if diff.curves.height else 0
    return f"Of {plural(count, 'pair')} of cells, {alike:,} have identical curves and {count - alike:,} do not."


def sentences(diff: Diff) -> list[str]:
    """The comparison in sentences: the headline, which cells, which parameters, their curves, their outcomes."""
    changes, sources = list(settings(diff, diff.pairing.points.height)), list(origins(diff))
    parameters = [
        f"Set differently: {_listed(changes)}." if changes else "No parameter differs at the points compared."
    ]
    if sources:
        parameters.append(f"Computed differently: {_listed(sources)}.")
    statuses = diff.ended_differently.group_by("status_a", "status_b").len().sort("status_a", "status_b")
    outcomes = [
        f"{plural(row['len'], 'pair')} ended as {row['status_a']} in A and as {row['status_b']} in B."
        for row in statuses.iter_rows(named=True)
    ]
    significant = diff.significant
    over_all = significant.filter(pl.col("point").is_null())
    outcomes += [
        f"Over all points together, {diff.name_of(row)} differs significantly: {compared(row)}."
        for row in over_all.iter_rows(named=True)
    ]
    if over_all.is_empty():
        whole = diff.shares.filter(pl.col("point").is_null())
        lacking = whole.filter(pl.col("corrected").is_nan()).height
        few = f"; {lacking:,} of them have too few differing seeds to show any" if lacking else ""
        outcomes.append(
            f"Over all points together, none of {plural(whole.height, 'test')} finds a significant difference of an "
            f"outcome{few}."
        )
    at_points = diff.shares.filter(pl.col("point").is_not_null())
    if at_points.height:
        sure = significant.height - over_all.height
        lacking = at_points.filter(pl.col("corrected").is_nan()).height
        where = f", at {plural(significant['point'].drop_nulls().n_unique(), 'point')}" if sure else ""
        outcomes.append(
            f"At single points, {sure:,} of {plural(at_points.height, 'test')} find a significant difference{where}; "
            f"{lacking:,} have too few differing seeds to show any."
        )
    return [headline(diff), *_cells(diff), *parameters, *_curves(diff), *outcomes]


def _cells(diff: Diff) -> Iterator[str]:
    """Which cells were compared, and which were left out."""
    pairing, at = diff.pairing, diff.pairing.points.height
    still_running = list(unfinished(*diff.sides))
    yield from still_running
    if pairing.by_seed:
        seeds = pairing.pairs.group_by("point").len()["len"]
        # Counts are numbers; by polars' types a least value may be anything.
        low, high = int(seeds.min() or 0), int(seeds.max() or 0)  # pyright: ignore[reportArgumentType]
        keys = f"{', '.join(pairing.keys)} and seed" if pairing.keys else "seed"
        only = ", of cells that have ended in both" if still_running else ""
        shared = plural(pairing.pairs["point"].n_unique(), "point")
        yield (
            f"Compared{only}: {plural(pairing.pairs.height, 'pair')} at {shared}, "
            f"{between(low, high)} seeds each, matched by {keys}."
        )
    else:
        counts = [f"{side.ended - pairing.unpaired[side.letter.lower()].off_grid:,} cells of {side.letter}"
                  for side in diff.sides]  # fmt: skip
        only = ", of cells that have ended" if still_running else ""
        yield f"Compared{only}: {' and '.join(counts)}, at {plural(at, 'point')} that both have."
    if diff.same_cells:
        yield f"{plural(diff.same_cells, 'pair')} are one and the same cell, which both sweeps have."
    for side, other in ((diff.a, diff.b), (diff.b, diff.a)):
        left, parts = pairing.unpaired[side.letter.lower()], []
        if left.off_grid:
            named = []
            for key, values in left.values.items():
                texts = [*map(shown, values[:MOST_NAMED]), *(["..."] if len(values) > MOST_NAMED else [])]
                named.append(f"{key} {', '.join(texts)}")
            where = f" ({'; '.join(named)})" if named else ""
            parts.append(f"{left.off_grid:,} at points where {other.letter} has no finished cell{where}")
        if pairing.by_seed and left.seeds:
            parts.append(f"{left.seeds:,} with seeds that {other.letter} does not have")
        if pairing.by_seed and left.waiting:
            parts.append(f"{left.waiting:,} whose partner in {other.letter} has no result")
        if parts:
            yield f"Only in {side.letter}, and left out: {', '.join(parts)}."


Setting = tuple[str, str, str, str]
"""What differs, its value in A, its value in B, and where it differs if not everywhere."""


def _listed(differences: list[Setting]) -> str:
    return "; ".join(f"{name}: {one} in A, {other} in B{where}" for name, one, other, where in differences)


def settings(diff: Diff, points: int) -> Iterator[Setting]:
    """What the plans of A and B set differently at the matched points."""
    for item in diff.pairing.differing:
        where = "" if item.points == points else f" (at {item.points:,} of {plural(points, 'point')})"
        one, other = (" or ".join(dict.fromkeys(map(shown, side))) for side in zip(*item.values, strict=True))
        yield item.name, one, other, f", among others{where}" if item.more else where
    recorded = [", ".join(side.sweep["recording"] or ()) for side in diff.sides]
    modes = [str(side.resolved["seed_mode"]) for side in diff.sides]
    for name, (one, other) in (("recorded", recorded), ("seeds", modes)):
        if one != other:
            yield name, one, other, ""


def origins(diff: Diff) -> Iterator[Setting]:
    """What computed the cells of A and B, where it differs: stream version, engine, code."""
    for name, (one, other, count) in diff.texts.items():
        yield name, one, other, f" (in {count:,} of {plural(diff.finished.height, 'pair')})"
    codes = []
    for side in diff.sides:  # the commits; + for changes that no commit holds
        commits = [(row["git_commit"] or "unknown")[:10] + ("+" if row["git_dirty"] else "") for row in side.origins]
        codes.append(", ".join(dict.fromkeys(commits)) or "unknown")
    versions = [str(side.sweep["stream_version"]) for side in diff.sides]
    for name, (one, other) in (("stream version", versions), ("code", codes)):
        if one != other:
            yield name, one, other, ""


def _curves(diff: Diff) -> Iterator[str]:
    """Curves and scalars that differ, each with its worst place; steps and curves of one side only."""
    _, only_a, only_b = diff.common
    for letter, names in (("A", only_a), ("B", only_b)):
        if names:
            yield f"Recorded only in {letter}: {', '.join(names)}."
    if diff.columns.is_empty():
        return
    rows = [row for row in diff.columns.iter_rows(named=True) if row["kind"] == "curve"]
    left = [sum(row[f"left_{side}"] for row in rows) for side in "ab"]
    if any(left):
        yield f"Steps recorded on one side only are left out: {left[0]:,} entries of A, {left[1]:,} of B."
    for row in rows:
        if not row["differ"]:
            continue
        where = f"at {place(diff, row, 'largest')}"
        relative = f"relative to the curve's largest value at most {number(row['relative'])}"
        largest = f"by {number(row['largest'])} at most ({where}; {relative})"
        if math.isinf(row["largest"]):
            largest = f"where one is not a number or has another size, {where}"
        pairs = f"{row['differ']:,} of {plural(row['pairs'], 'pair')}"
        yield f"{row['column']} differs in {pairs}, {largest}."


def place(diff: Diff, row: Row, prefix: str = "") -> str:
    """Where a difference lies: point, seed, step, entry."""
    at = {key: row[f"{prefix}_{key}" if prefix else key] for key in ("point", "seed", "step", "entry")}
    parts = [diff.label(at["point"]), f"seed {at['seed']}"]
    parts += [f"step {at['step']:,}"] if at["step"] is not None else []
    parts += [f"entry {at['entry']}"] if at["entry"] is not None else []
    return ", ".join(part for part in parts if part)


def by_units(row: Row, *sides: str) -> str:
    """What an interval is by, if not by the cells that are counted beside it, whose runs of a seed may err together."""
    units = [row[f"units_{side}"] for side in sides]
    fewer = any(row[f"units_{side}"] < row[f"n_{side}"] for side in sides)
    return f"by {' and '.join(map(str, dict.fromkeys(units)))} seeds: " if fewer else ""


def compared(row: Row) -> str:
    """An outcome in A and in B, the difference, its interval and the corrected p."""
    p = chance(row["corrected"])
    if row["kind"] == "share":
        interval = f"{by_units(row, *'ab')}{points(row['low'])} to {points(row['high'])}"
        return (
            f"{row['k_a']:,} of {row['n_a']:,} in A, {row['k_b']:,} of {row['n_b']:,} in B, difference "
            f"{points(row['difference'])} ({interval}), corrected p {p}"
        )
    moved = "" if row["up"] is None else f"; larger in {row['up']:,} pairs, smaller in {row['down']:,}"
    return f"median {number(row['a'])} in A, {number(row['b'])} in B{moved}, corrected p {p}"


def replays(row: Row, diff: Diff) -> list[str]:
    """The commands that train both cells of a pair again."""
    sides = ((side, row[f"cell_{side.letter.lower()}"]) for side in diff.sides)
    return list(
        dict.fromkeys(f"swingby replay {cell[:12]} --data {shlex.quote(str(side.data))}" for side, cell in sides)
    )


def values(row: Row) -> str:
    """The values of A and B at the worst place."""
    if row["a"] is None or row["b"] is None:
        return "not the same"
    return f"{plain(float(row['a']))} in A, {plain(float(row['b']))} in B"
