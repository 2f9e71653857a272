"""The summary of a report: the summary with its intervals, the warnings, and every point as a row of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from swingby.model import registry
from swingby.run.outcomes import AsPublished
from swingby_analysis.charts.summaries import level_text, written
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.examples import Examples
from swingby_analysis.report.extremes import ENDS, FEWEST, seen_text
from swingby_analysis.report.prose import percent, plural, share_text


def _remarks(cells: pl.DataFrame) -> list[str]:
    """What is said of results, such as that curves were thinned; texts that differ in numbers only are one."""
    remarks = cells.filter((pl.col("status") == "ok") & pl.col("message").is_not_null())
    alike = pl.col("message").str.replace_all(r"[-+]?[0-9][0-9.,eE+-]*", "#").alias("alike")
    counts = remarks.group_by(alike).agg(pl.col("message").first(), pl.len().alias("cells"))
    return [
        f"{plural(count, 'cell')}{', such as one' if count > 1 else ''}: {message}."
        for message, count in counts.sort("cells", descending=True).select("message", "cells").head(5).iter_rows()
    ]


def warnings(data: ReportData) -> list[str]:
    """The warnings above the figures: of results that are missing, failed, diverged or recorded."""
    counts = data.counts
    lines = [
        *data.remarks,
        *([data.slices] if data.slices else []),
        *(str(origin) for origin in (data.recorded, data.imported) if origin is not None),
    ]
    if data.thin:
        lines.append(
            "Few of the recorded results have curves, so figures that need curves are left out; "
            f"`swingby run {data.source}` trains the sweep to get them."
        )
    if data.refined is not None:
        lines.append(
            f"This sweep is {data.refined.spent}. Cells were trained where it was still uncertain on which side of a "
            "boundary a point lies. Points therefore have different numbers of seeds, and an average over points is "
            "not one over the grid. How much each axis explains can be computed of a whole grid only, and is left out."
            + (f" {data.refined.why_ended.capitalize()}." if data.refined.ended else "")
        )
    if counts.missing:
        origin = data.resolved.get("replicates")
        command = f"run {data.source}" if origin is None else f"replicate {origin['name']}"
        lines.append(
            f"This sweep is not finished: {counts.missing:,} of {plural(counts.planned, 'cell')} have no result yet. "
            f"`swingby {command}` goes on with it."
        )
    if counts.failed:
        again = "" if data.imported is not None else f" `swingby run {data.source} --retry-failed` runs them again."
        lines.append(
            f"{plural(counts.failed, 'cell')} failed with an error, and no share or median counts them: "
            f"{failed_cells(data)}.{again}"
        )
    if counts.diverged:
        untold = data.cells.filter(pl.col("status") == "diverged")[data.outcome].null_count()
        left = f"{untold:,} of them have no outcome “{data.title(data.outcome)}”, and its figures leave them out"
        lines.append(
            f"{plural(counts.diverged, 'cell')} diverged; {left if untold else 'they count as runs like all others'}."
        )
    lines += _remarks(data.cells) if data.imported is None else []
    empty = counts.points - len(data.ended)
    if empty and data.refined is None:
        lines.append(f"No run has finished at {plural(empty, 'point')} of the grid.")
    if any(row["git_dirty"] for row in data.origins):
        lines.append("Some cells were computed by code with uncommitted changes.")
    return lines


def failed_cells(data: ReportData) -> str:
    """The failed cells by reason, those of most cells first."""
    groups = data.failures
    more = len(groups) - MOST_REASONS
    return "; ".join([*map(str, groups[:MOST_REASONS]), *([plural(more, "more reason")] if more > 0 else [])])


MOST_REASONS = 3
"""Reasons of failures that a warning names; the section on the data has all."""


def as_published(published: AsPublished, unseen: int) -> list[str]:
    """Warnings about a data folder that cannot be written: results not in the store, and `unseen` by detectors."""
    lines = [str(published)]
    if unseen:
        lines.append(f"Figures of outcomes leave out {plural(unseen, 'cell')}: detectors have not processed them yet.")
    return lines


def sentences(data: ReportData, examples: Examples | None, summary: Sequence[str] = ()) -> list[str]:
    """The results in words; `summary` are the sentences of the experiment's own summary."""
    of_kind = {"yes_no": _shares, "category": _categories, "number": _numbers}
    if summary:  # they speak of the companions, too
        has_main = data.resolved["diagram"] is not None and data.outcome not in data.reported.summed
        return [*(of_kind[data.kind](data, data.outcome) if has_main else []), *summary]
    return [
        *of_kind[data.kind](data, data.outcome),
        *([] if examples is None else _bump(data, examples)),
        *(sentence for name in reversed(data.companions) for sentence in of_kind[data.outcomes[name].kind](data, name)),
    ]


def finished(data: ReportData) -> str:
    """How many runs are finished, at how many points, and how many of them did not end well."""
    counts, seeds = data.counts, len(data.resolved["seeds"])
    coverage = f"in the slices, {data.coverage}" if data.slices and data.coverage else data.coverage
    each = coverage or f"{plural(counts.points, 'point')} of the grid, {plural(seeds, 'seed')} each"
    amiss = [f"{count:,} {what}" for count, what in ((counts.diverged, "diverged"), (counts.failed, "failed")) if count]
    ends = f"; {', '.join(amiss)}" if amiss else ""
    return f"{counts.finished:,} of {plural(counts.planned, 'run')} are finished: {each}{ends}."


def _shares(data: ReportData, outcome: str) -> list[str]:
    known, named = data.phases.shares(outcome), f"“{data.title(outcome)}”"
    if not known:
        return [f"No run has a result for {named}."]
    fits = data.fitted(outcome)
    if data.refined is not None:  # few seeds a point, chosen by results: counts of them say little
        if not fits:
            k, n = (sum(getattr(share, name) for share in known) for name in ("k", "n"))
            return [f"{named} is true of {k:,} of {plural(n, 'run')}; that is not the share over the whole grid."]
        return [_sides(data, outcome, f"the share of runs of which {named} is true") + _fitted_ends(data, outcome)]
    above = [share for share in known if share.low > 0.5]
    below = [share for share in known if share.high < 0.5]
    undecided = len(known) - len(above) - len(below)
    most = (
        f"{named} is true of more than half of the runs at {len(above):,} of {plural(len(known), 'point')} of the grid "
        f"and of fewer than half at {len(below):,}: there the 95\u00a0% Wilson interval of the share lies wholly above "
        f"or below one half. At the other {undecided:,} the interval includes one half, and more seeds are needed."
    )
    if not any(share.k for share in known):
        return [most, f"{named} is true of no run."]
    if len(data.grid.facets) > 1 and above:
        of, there = ([share.point for share in chosen] for chosen in (known, above))
        most += f" Points with more than half, by panel: {_by_panel(data, there, of)}."
    if fits:
        most += f" {_sides(data, outcome, 'the share')}"
    lowest = sum(share.k == 0 for share in known)
    none = f"At {plural(lowest, 'point')} it is true of no run." if lowest > 1 else ""
    return [most, *_ends(data, outcome, "share", ENDS[:1] if lowest > 1 else ENDS, none)]


def _sides(data: ReportData, outcome: str, noun: str) -> str:
    """On which side of the level the fitted surface has how many points."""
    fits = data.fitted(outcome)
    verdicts, level = Counter(fit.verdict for fit in fits.values()), level_text(data.level(outcome))
    sides = (
        f"By a smooth surface fitted to the results of all points, {noun} is above {level} at "
        f"{verdicts['above']:,} of {plural(verdicts.total(), 'point')}, below it at {verdicts['below']:,} and close to "
        f"it at {verdicts['near']:,}; at {verdicts['unknown']:,} the fit is too uncertain to say."
    )
    if data.refined is not None and len(data.grid.facets) > 1 and verdicts["above"]:
        above = [point for point, fit in fits.items() if fit.verdict == "above"]
        sides += f" Points above {level}, by panel: {_by_panel(data, above, list(fits))}."
    return sides


def _fitted_ends(data: ReportData, outcome: str) -> str:
    """Where the fitted share is largest and smallest."""
    fits = data.fitted(outcome)
    least, most = (of(fits, key=lambda point: fits[point].mean) for of in (min, max))
    if fits[least].mean == fits[most].mean:
        return ""
    return (
        f" The fitted share is largest at {data.grid.label(most)}, {fits[most].between}, and smallest at "
        f"{data.grid.label(least)}, {fits[least].between}."
    )


def _by_panel(data: ReportData, there: Sequence[int], of: Sequence[int]) -> str:
    """How many points of each panel are among some, in words."""
    part, total = (Counter(data.grid.places[point][2] for point in points) for points in (there, of))
    return ", ".join(f"{part[facet]} of {total[facet]} at {label}" for facet, label in enumerate(data.grid.facets))


def _ends(data: ReportData, outcome: str, noun: str, ends: Sequence[str] = ENDS, more: str = "") -> list[str]:
    """A sentence about the extreme points of a map: what their seeds show never stands alone."""
    extremes = data.extremes.get(outcome)
    if extremes is None:
        shares = data.phases.shares(outcome)[:1] if data.outcomes[outcome].kind == "yes_no" else []
        of = f"The share of runs of which “{data.title(outcome)}” is true, at"
        return [f"{of} {data.grid.label(only.point)}: {share_text(only)}." for only in shares]
    sentences = []
    for end in ends:
        for row in extremes.at(end)[:1]:
            at = f"The {noun} is {end} at {data.grid.label(row.point)}: {seen_text(row.seen)}"
            sentences.append(f"{at}; {extremes.qualified(row)}.")
    if any(row.fresh is None for end in ends for row in extremes.at(end)[:1]) and outcome == data.outcome:
        sentences.append(f"`swingby replicate {data.source}` repeats these points with fresh seeds.")
    return [" ".join([*sentences, *([more] if more else [])])]


def _bump(data: ReportData, examples: Examples) -> list[str]:
    curves = data.reported.curves
    bump = None if curves is None else examples.bump()
    if bump is None or curves is None:
        return []
    place, seeds = data.grid.label(examples.first), plural(bump.n, "seed")
    verdict = (
        "Seeds rise at the same time" if bump.significant else "That seeds rise at the same time is not established"
    )
    weak = f" With {seeds} this test has little power." if bump.weak else ""
    interval = f"95\u00a0% t-interval {_plain(bump.low)} to {_plain(bump.high)}, {seeds}"
    rise = (
        f"the {next(iter(curves.titles.values()))} of a seed rises by {_plain(bump.height)}{curves.of_unit} on average"
    )
    steps = "between the steps at which that of all other seeds rises"
    return [f"At {place}, {rise} ({interval}) {steps}. {verdict}.{weak}{_chosen(data)}"]


def _chosen(data: ReportData) -> str:
    """A warning that a point was chosen for what its own seeds show."""
    points = data.cells["point"].n_unique()
    if points < FEWEST:
        return ""
    return f" The point was chosen by these very seeds, as the extreme of {points:,}: only fresh seeds can confirm it."


def _plain(height: float) -> str:
    """A height; what rounding leaves of nothing is 0."""
    return "0" if abs(height) < 1e-9 else f"{height:.2g}"


def _categories(data: ReportData, outcome: str) -> list[str]:
    counts = Counter(data.cells[outcome].drop_nulls().to_list())
    parts = [f"{counts[name]:,} {name}" for name in data.phases.categories(outcome) if counts[name]]
    certain = data.reported.doubted.get(outcome)
    doubt = ""
    if certain is not None and certain in data.cells:
        certainty = data.cells.filter(pl.col(outcome).is_not_null())[certain]
        unsure, untold = int((~certainty).sum()), certainty.null_count()
        detected = registry.detectors_for(data.sweep["experiment"])
        meaning = "".join(f": {one.outcomes[certain].meaning}" for one in detected if certain in one.outcomes)
        doubt += (
            f" {unsure:,} of these labels are uncertain; a label is certain under this condition{meaning}."
            if unsure
            else ""
        )
        doubt += f" Whether the label is certain is unknown of {plural(untold, 'run')}." if untold else ""
    return [f"The {data.title(outcome)} of the {plural(counts.total(), 'run')}: {', '.join(parts)}.{doubt}"]


def _numbers(data: ReportData, outcome: str) -> list[str]:
    known, name = data.phases.spreads(outcome), data.with_unit(outcome)
    if not known:
        return [f"No run has a {name}."]
    most = max(known, key=lambda spread: spread.median)
    absent = data.outcomes[outcome].column.absent
    if data.refined is not None:  # no point is extreme by a few seeds
        return []
    if absent and most.median == 0:
        return [f"At no point does the median run have a {absent}."]
    if len(known) > 1 and len({spread.median for spread in known}) == 1:
        return [f"The {name} has the same median at every point: {written(most.median)}."]
    ends = _ends(data, outcome, name, ENDS[:1])
    place = f"{'is largest ' if len(known) > 1 else ''}at {data.grid.label(most.point)}"
    return ends or [f"The {name} {place}: {most.text}."]


MOST_ROWS = 20_000
"""Points that the table lists; of a larger grid those with a seed."""


@dataclass(frozen=True)
class Table:
    """The numbers behind the figures, for readers who cannot see them or want them exactly: a row a point."""

    headings: list[str]
    rows: list[list[str]]
    caption: str = (
        "The numbers behind the figures, a row a point of the grid. Intervals are for 95\u00a0%: Wilson's for a share, "
        "the bootstrap's for a median, both over seeds; a fitted share also draws on the points around it."
    )

    @classmethod
    def of(cls, data: ReportData) -> Table:
        """Every point with the main outcome and its companions."""
        listed = data.grid.places if len(data.grid.places) <= MOST_ROWS else sorted(data.phases.trained)
        headings, rows = ["point"], {point: [data.grid.label(point)] for point in listed}
        for name in (data.outcome, *data.companions):
            title, kind = data.title(name), data.outcomes[name].kind
            if kind == "yes_no":
                heads, fits = [title, "share", "interval", "fitted"], data.fitted(name)
                texts = {point: ("no seed", "", "", fit.brief) for point, fit in fits.items()}
                for s in data.phases.shares(name):
                    seen = f"{s.k} of {s.n}", percent(s.share), f"{percent(s.low)} to {percent(s.high)}"
                    texts[s.point] = (*seen, fits[s.point].brief if s.point in fits else "")
            elif kind == "category":
                heads, texts = [f"{title} (runs)"], {s.point: (s.counts,) for s in data.phases.most_common(name)}
            else:
                heads = [f"median {data.with_unit(name)}", "interval", "runs"]
                texts = {
                    s.point: (written(s.median), f"{written(s.low)} to {written(s.high)}", str(s.n))
                    for s in data.phases.spreads(name)
                }
            headings += heads
            for point, row in rows.items():
                row += texts.get(point, ("",) * len(heads))
        left = len(data.grid.places) - len(rows)
        caption = f"{cls.caption} {left:,} points without a seed are left out." if left else cls.caption
        return cls(headings, list(rows.values()), caption)
