"""The drawing `twins`: where transient memorization is without sampling noise, and where SGD runs show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from swingby.select.intervals import wilson
from swingby_analysis.charts.maps import difference_map, is_fine, reach_of, share_map
from swingby_analysis.charts.summaries import Difference
from swingby_analysis.report import prose
from swingby_analysis.report.phases import Phases, boundary
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn
from swingby_analysis.stats import exact, intervals

from .subject import SimQueryDrawing, Subject

RUN, TWIN, BUMP, DIVERGED = "transient_memorization", "twin_gd_transient_memorization", "found_of_twin", "diverged"
PHENOMENON, PHENOMENON_TITLE = "transient memorization of the twin", "Where twins show transient memorization"
SEEN, SEEN_TITLE = "bump found in the run", "Where the runs beside them are seen to bump"
OF_RUNS = "transient memorization"
TWINS = (
    "The twin of a run starts from the run's weights and takes as many and as long steps, each down the loss over the "
    "run's whole training set: it has no sampling noise."
)
SIGN = (
    "The colour is the share among the runs less that among their twins: blue where fewer runs show it, white where "
    "there is no difference, orange where more runs do. {} McNemar's exact test on pairs of a run and its twin, "
    "corrected by Holm's method for all points, says that the two differ. A run counts by the detector's stricter "
    "rule, with its training loss and the way of its output, so that a bump may be found in a run that does not count "
    "here."
)


class Twins(SimQueryDrawing):
    """Maps of the phenomenon, of its detectability, and of what runs show less their twins."""

    name = "twins"
    recordings = ("twin_gd",)
    empty = "no run by SGD has a twin by full-batch descent with which it came to its end"

    def kept(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Runs that have a twin, and whether either of the two diverged."""
        return rows.filter("has_twin").with_columns((pl.col("run_diverged") | pl.col("twin_diverged")).alias(DIVERGED))

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterator[Drawn]:
        """The maps over the sweep's diagram, with one more where runs or twins diverged.

        Raises:
            SwingbyError: the sweep has no diagram, or no run came to its end with its twin.
        """
        if subject.data.resolved["diagram"] is None:
            raise subject.cannot(self.name, "it has no `diagram`, whose axes the maps take")
        runs = subject.cells.select("point", "seed", RUN, TWIN, BUMP).join(rows, on=("point", "seed"), how="inner")
        kept = runs.filter(~pl.col(DIVERGED))
        if kept.is_empty():
            raise subject.cannot(self.name, self.empty)
        left, points = _left_out(runs), plural(kept["point"].n_unique(), "point")
        caption = "The phenomenon: the share of the seeds whose twin by full-batch descent shows transient "
        caption += f"memorization, {plural(kept.height, 'twin')} at {points}.{left}"
        yield _shares(subject, kept, TWIN, ("phenomenon", PHENOMENON, PHENOMENON_TITLE), caption)
        if shown := kept.filter(TWIN).height:
            caption = f"Its detectability: of the {plural(shown, 'run')} whose twin shows transient memorization, the "
            caption += "share in which the detector finds a bump through the noise of SGD. Points at which no twin "
            caption += "shows it are blank."
            yield _shares(subject, kept, BUMP, ("found", SEEN, SEEN_TITLE), caption + left)
        yield _difference(subject, kept, left)
        if runs[DIVERGED].any():
            caption = f"The share of the seeds whose run or twin diverged, of {plural(runs.height, 'run')} with a "
            caption += "twin: the other maps leave them out."
            named = ("diverged", "run or twin diverged", "Where runs or their twins diverged")
            yield _shares(subject, runs, DIVERGED, named, caption)


def _shares(subject: Subject, runs: pl.DataFrame, outcome: str, named: tuple[str, str, str], caption: str) -> Drawn:
    """The map of one share; `named`: the end of its slug, what its legend says, and its title."""
    grid, rows = subject.data.grid, Phases(runs).shares(outcome)
    chart = share_map(grid, rows, boundary(grid, rows), named[1])
    reading = prose.SHARES_ALONG if grid.y is None else prose.SHARES_FINE if is_fine(grid) else prose.SHARES
    queries = [subject.data.queries["cells"]]
    return Drawn(chart, caption, named[2], f"{reading} {TWINS}", f"twins-{named[0]}", queries)


def _difference(subject: Subject, kept: pl.DataFrame, left: str) -> Drawn:
    """The map of what runs show less what their twins show."""
    grid, rows = subject.data.grid, differences(kept)
    chart = difference_map(grid, rows, OF_RUNS, reach_of(rows), ("twins", "runs"))
    fewer, more = (sum(row.sure and sign * row.difference > 0 for row in rows) for sign in (-1, 1))
    caption = "The difference: the share of runs that show transient memorization less the share of their twins, at "
    caption += f"{plural(len(rows), 'point')}. Fewer runs than twins show it, beyond chance, at {fewer}, more at "
    caption += f"{more}.{left}"
    marked = "A filled mark stands where" if grid.y is None else "A dot stands where"
    reading, queries = f"{SIGN.format(marked)} {TWINS}", [subject.data.queries["cells"]]
    return Drawn(chart, caption, "What runs show less what their twins show", reading, "twins-difference", queries)


def differences(runs: pl.DataFrame) -> list[Difference]:
    """Share of runs less share of twins with transient memorization at every point, with Newcombe's paired interval.

    Args:
        runs: a row a run, with `point` and both outcomes; a row in which one is null is left out.
    """
    both = runs.drop_nulls([RUN, TWIN])
    up, down = pl.col(RUN) & ~pl.col(TWIN), ~pl.col(RUN) & pl.col(TWIN)
    counts = both.group_by("point").agg(
        n=pl.len(), a=pl.col(TWIN).sum(), b=pl.col(RUN).sum(), up=up.sum(), down=down.sum()
    ).sort("point")  # fmt: skip
    n, k_a, k_b, ups, downs = (counts[name].to_numpy().astype(float) for name in ("n", "a", "b", "up", "down"))
    alike = intervals.phi(k_a - downs, ups, downs, n - k_a - ups)
    of_a, of_b = (intervals.Interval(*wilson(k, n)) for k in (k_a, k_b))
    low, high = intervals.newcombe(k_a / n, of_a, k_b / n, of_b, alike)
    sure = np.asarray(exact.corrected(*exact.mcnemar(ups, downs)) <= exact.LEVEL)
    rows = []
    for place, row in enumerate(counts.iter_rows(named=True)):
        difference = (row["b"] - row["a"]) / row["n"]
        text = f"{row['b']} of {row['n']} runs, {row['a']} of their twins: {difference:+.0%} "
        text += f"(95 % interval {low[place]:+.0%} to {high[place]:+.0%})"
        rows.append(
            Difference(row["point"], difference, float(low[place]), float(high[place]), bool(sure[place]), text)
        )
    return rows


def _left_out(runs: pl.DataFrame) -> str:
    """A sentence on runs that diverged or whose twin did, and where; "" if there are none."""
    diverged = runs.filter(DIVERGED)
    if diverged.is_empty():
        return ""
    runs_diverged, places = int(diverged["run_diverged"].sum()), plural(diverged["point"].n_unique(), "point")
    every = int(runs.group_by("point").agg(pl.col(DIVERGED).all())[DIVERGED].sum())
    alone = diverged.height - runs_diverged
    kinds = [f"{plural(runs_diverged, 'run')} that diverged"] if runs_diverged else []
    kinds += [f"{plural(alone, 'run')} whose twin alone diverged"] if alone else []
    text = f" Left out: {' and '.join(kinds)}, at {places}"
    return text + (f"; at {every} of these no run is left, and the map is blank." if every else ".")
