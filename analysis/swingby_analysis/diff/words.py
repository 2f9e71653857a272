"""What a comparison says in sentences: what was compared, what is the same, and what differs after correction."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from swingby_analysis.diff import Diff
from swingby_analysis.diff.pairing import Left
from swingby_analysis.diff.side import Side, waited_for
from swingby_analysis.grid import plain
from swingby_analysis.report.prose import between, plural, shown
from swingby_analysis.stats.exact import LEVEL

Row = Mapping[str, Any]
MOST_NAMED = 6
_RULES = f"""
Cells belong together where everything that varies in A or in B has the same value in both, and the seed is the same;
other parameters may differ, and are told. Only cells that have come to an end are compared.

Curves are compared at the steps that both cells recorded. The largest difference is absolute, in the curve's own unit,
or relative to the largest absolute value of the two curves. The same bit for bit means that no bit of any number
differs.

Shares have 95 % intervals: at a point Wilson's, and Newcombe's for the difference of paired or of independent shares.
Over all points together, where a seed has the same draws at every point, runs of a seed err together: Wilson's interval
is then taken at the effective number of cells (Korn and Graubard), estimated from seed to seed.

Where seeds are in both sweeps, only pairs are compared. At a point the test is McNemar's exact one, of the pairs that
differ (for numbers: the sign test). Over all points it flips the sign of whole seeds, exactly. Where no seed is in
both, it is Fisher's exact test, and the rank-sum test for numbers and for shares of seeds.

Two families of tests, those over all points and those at points, over all outcomes, are corrected by Holm's method,
each so that the chance of any false alarm in it is at most {100 * LEVEL:.0f} %. A test with so few seeds that differ
that it could not have come below that level takes no part (Tarone), and is told as a dash.
"""
RULES = tuple(" ".join(paragraph.split()) for paragraph in _RULES.strip().split("\n\n"))
"""How the numbers are made, a paragraph each."""


def headline(diff: Diff) -> str:
    """The one sentence that matters."""
    count = diff.finished.height
    if not diff.pairing.by_seed:
        return "No seed is in both sweeps: their outcomes are compared as those of independent samples."
    if not count:
        return "No pair of cells has a result on both sides yet, so no curve can be compared."
    if diff.same:
        return f"Bit for bit the same in all {plural(count, 'cell')}: every curve, every scalar, and how each ended."
    if diff.curves_same:
        return f"Every curve is bit for bit the same in all {plural(count, 'cell')}; something else differs."
    alike = count - diff.curves.filter(~pl.col("same"))["place"].n_unique() if diff.curves.height else 0
    return f"Of {plural(count, 'pair')} of cells, {alike:,} have bit for bit the same curves, {count - alike:,} do not."


def sentences(diff: Diff) -> list[str]:
    """Everything that is to be told in words, the most important first."""
    return [headline(diff), *_size(diff), *_parameters(diff), *_curves(diff), *_ends(diff), *_outcomes(diff)]


def _size(diff: Diff) -> Iterator[str]:
    pairs, points = diff.pairing.pairs, diff.pairing.points.height
    unfinished = list(waited_for(*diff.sides))
    yield from unfinished
    only = ", of cells that have ended on both sides" if unfinished else ""
    if pairs.height:
        seeds = pairs.group_by("point").len()["len"]
        low, high = int(seeds.min() or 0), int(seeds.max() or 0)  # pyright: ignore[reportArgumentType]
        keys = ", ".join(diff.pairing.keys) or "nothing that varies"
        yield (
            f"Compared{only}: {plural(pairs.height, 'pair')} at {plural(pairs['point'].n_unique(), 'point')}, "
            f"{between(low, high)} seeds each, matched by {keys} and seed."
        )
    else:
        counts = [
            side.ended - diff.pairing.left[letter].off_grid for letter, side in zip("ab", diff.sides, strict=True)
        ]
        cells = " and ".join(f"{count:,} cells of {letter}" for letter, count in zip("AB", counts, strict=True))
        ended = ", of cells that have ended" if unfinished else ""
        yield f"Compared{ended}: {cells}, at {plural(points, 'point')} that both have."
    if diff.same_cells:
        yield f"{plural(diff.same_cells, 'pair')} of them are one cell of one store, which is in both sweeps."
    for side, other, letter in ((diff.a, diff.b, "a"), (diff.b, diff.a, "b")):
        yield from _left(side, other, diff.pairing.left[letter], paired=diff.pairing.by_seed)


def _left(side: Side, other: Side, left: Left, paired: bool) -> Iterator[str]:
    parts = []
    if left.off_grid:
        only = "; ".join(f"{key} {_several(values)}" for key, values in left.values.items())
        where = f" ({only})" if only else ""
        parts.append(f"{left.off_grid:,} at points that {other.letter} has not, or has finished nothing at{where}")
    if paired and left.seeds:
        parts.append(f"{left.seeds:,} with seeds that {other.letter} has not")
    if paired and left.waiting:
        parts.append(f"{left.waiting:,} whose partner {other.letter} has not finished")
    if parts:
        yield f"Only in {side.letter}, and left out: {', '.join(parts)}."


def _several(values: Any) -> str:
    texts = [shown(value) for value in values]
    return ", ".join(texts[:MOST_NAMED]) + (", ..." if len(texts) > MOST_NAMED else "")


def _parameters(diff: Diff) -> Iterator[str]:
    points = diff.pairing.points.height
    asked, made = list(settings(diff, points)), list(makings(diff))
    yield f"Set otherwise: {_listed(asked)}." if asked else "No parameter differs at the points compared."
    if made:
        yield f"Made otherwise: {_listed(made)}."


Setting = tuple[str, str, str, str]
"""What differs, in A, in B, and where if not everywhere."""


def _listed(found: list[Setting]) -> str:
    return "; ".join(f"{name}: {one} in A, {other} in B{where}" for name, one, other, where in found)


def settings(diff: Diff, points: int) -> Iterator[Setting]:
    """Everything that was asked for otherwise at the matched points."""
    for item in diff.pairing.differing:
        where = "" if item.points == points else f" (at {item.points:,} of {plural(points, 'point')})"
        one, other = (" or ".join(dict.fromkeys(map(shown, side))) for side in zip(*item.values, strict=True))
        yield item.name, one, other, f", among others{where}" if item.more else where
    recorded = [", ".join(side.sweep["recording"] or ()) for side in diff.sides]
    modes = [str(side.resolved["seed_mode"]) for side in diff.sides]
    for name, (one, other) in (("recorded", recorded), ("seeds", modes)):
        if one != other:
            yield name, one, other, ""


def makings(diff: Diff) -> Iterator[Setting]:
    """By what the cells were trained otherwise: the version of the numbers, the engine, the code."""
    versions = [str(side.sweep["stream_version"]) for side in diff.sides]
    codes = [_codes(side) for side in diff.sides]
    for name, (one, other, count) in diff.texts.items():
        yield name, one, other, f" (in {count:,} of {plural(diff.finished.height, 'pair')})"
    for name, (one, other) in (("stream version", versions), ("code", codes)):
        if one != other:
            yield name, one, other, ""


def _codes(side: Side) -> str:
    """The commits that computed the cells of a side; + for changes that no commit holds."""
    texts = [(row["git_commit"] or "unknown")[:10] + ("+" if row["git_dirty"] else "") for row in side.origins]
    return ", ".join(dict.fromkeys(texts)) or "unknown"


def _curves(diff: Diff) -> Iterator[str]:
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
        if row["differ"]:
            yield f"{row['column']} {_gap(diff, row)}"


def _gap(diff: Diff, row: Row) -> str:
    where = f"at {place(diff, row, 'largest')}"
    relative = f"relative to the curve's largest value at most {number(row['relative'])}"
    if math.isinf(row["largest"]):
        largest = f"where one is not a number or has another size {where}"
    else:
        largest = f"by {number(row['largest'])} at most ({where}; {relative})"
    return f"differs in {row['differ']:,} of {plural(row['pairs'], 'pair')}, {largest}."


def place(diff: Diff, row: Row, prefix: str = "") -> str:
    """Where a difference is: point, seed, step, entry."""
    at = {key: row[f"{prefix}_{key}" if prefix else key] for key in ("point", "seed", "step", "entry")}
    parts = [diff.label(at["point"]), f"seed {at['seed']}"]
    parts += [f"step {at['step']:,}"] if at["step"] is not None else []
    parts += [f"entry {at['entry']}"] if at["entry"] is not None else []
    return ", ".join(part for part in parts if part)


def number(value: float | None) -> str:
    """A difference as a reader writes it."""
    if value is None or math.isnan(value):
        return "-"
    return "infinity" if math.isinf(value) else f"{value:.3g}"


def _ends(diff: Diff) -> Iterator[str]:
    table = diff.ended_otherwise
    for row in table.group_by("status_a", "status_b").len().sort("status_a", "status_b").iter_rows(named=True):
        yield f"{plural(row['len'], 'pair')} ended as {row['status_a']} in A and as {row['status_b']} in B."


def _outcomes(diff: Diff) -> Iterator[str]:
    found = diff.significant
    for row in found.filter(pl.col("point").is_null()).iter_rows(named=True):
        yield f"Over all points, {diff.name_of(row)} differs after correction: {compared(row)}."
    at_points = diff.shares.filter(pl.col("point").is_not_null())
    sure, able = found.height - found["point"].null_count(), at_points.filter(pl.col("corrected").is_not_nan()).height
    if not found["point"].null_count():
        yield "Over all points together, no outcome differs after correction."
    if at_points.height:
        where = f", at {plural(found['point'].drop_nulls().n_unique(), 'point')}" if sure else ""
        yield (
            f"At single points, of {plural(at_points.height, 'test')} {able:,} had enough seeds that differ to tell "
            f"anything; {sure:,} say after correction that A and B differ{where}."
        )


def compared(row: Row) -> str:
    """What A and B have, their difference, and its interval."""
    if row["kind"] == "share":
        return (
            f"{row['k_a']:,} of {row['n_a']:,} in A, {row['k_b']:,} of {row['n_b']:,} in B, difference "
            f"{points(row['difference'])} ({points(row['low'])} to {points(row['high'])}), corrected p {chance(row)}"
        )
    moved = "" if row["up"] is None else f"; larger in {row['up']:,} pairs, smaller in {row['down']:,}"
    return f"median {number(row['a'])} in A, {number(row['b'])} in B{moved}, corrected p {chance(row)}"


def points(share: float | None) -> str:
    """A difference of shares in percentage points, with its sign."""
    return "-" if share is None else f"{100 * share:+.1f}"


def chance(row: Row, name: str = "corrected") -> str:
    """A p-value; a dash for a test that takes no part."""
    value = row[name]
    if value is None or math.isnan(value):
        return "-"
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"


def replays(row: Row, diff: Diff) -> list[str]:
    """The commands that train both cells of a pair again."""
    sides = ((side, row[f"cell_{side.letter.lower()}"]) for side in diff.sides)
    return list(
        dict.fromkeys(f"swingby replay {cell[:12]} --data {shlex.quote(str(side.data))}" for side, cell in sides)
    )


def values(row: Row) -> str:
    """What A and B have at the worst place."""
    if row["a"] is None or row["b"] is None:
        return "not the same"
    return f"{plain(float(row['a']))} in A, {plain(float(row['b']))} in B"
