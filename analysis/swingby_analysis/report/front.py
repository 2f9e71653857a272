"""The lines below the map of a report: how much is known, each in plain words, with what it means behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from swingby_analysis.charts.summaries import level_text
from swingby_analysis.page import Block, Code, Fold, Statement, Table, Text
from swingby_analysis.report import prose
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.extremes import raw
from swingby_analysis.report.prose import plural
from swingby_analysis.report.summary import finished

MEANING = "What does this mean?"


def front_lines(data: ReportData) -> list[Statement]:
    """A line each about the runs, on which side of one half points lie, and the extreme point."""
    lines = [*_runs(data), *_sides(data), *_largest(data)]
    return [Statement(slug, text, None, [Fold(MEANING, blocks)]) for slug, text, blocks in lines]


Line = tuple[str, str, list[Block]]


def _runs(data: ReportData) -> Iterator[Line]:
    """How many runs there are, and what became of them."""
    mode = prose.SEED_MODES[data.resolved["seed_mode"]]
    yield (
        "runs",
        finished(data),
        [
            Text(
                "A point is one combination of the values on the axes. A seed repeats it with other random numbers, so "
                f"that the spread over seeds is chance. Seeds here are {mode}. Runs that diverged count as results; "
                "those that failed with an error do not, and have a colour of their own where no other run is left."
            )
        ],
    )


def _sides(data: ReportData) -> Iterator[Line]:
    """On which side of the level how many points lie."""
    shares = data.phases.shares(data.outcome) if data.kind == "yes_no" else []
    if len(shares) < 2 or not any(one.k for one in shares):
        return
    fits, level = data.fitted(data.outcome), level_text(data.level(data.outcome))
    if fits:
        sides = Counter(fit.verdict for fit in fits.values())
        above, below, whole = sides["above"], sides["below"], sides.total()
        how = f"This is decided by a smooth map fitted to all results. {prose.FITTED}"
    else:
        above, below = sum(one.low > 0.5 for one in shares), sum(one.high < 0.5 for one in shares)
        whole = len(shares)
        how = f"A point counts as clear where the 95 % Wilson interval of its share lies on one side of {level}."
    rest = whole - above - below
    text = f"More than {level} of the runs show it at {above:,} of {plural(whole, 'point')}, fewer at {below:,}"
    text += f"; {rest:,} {'is' if rest == 1 else 'are'} too close to call." if rest else "."
    yield "sides", text, [Text(f"{how} {prose.ONE_IN_TWENTY}")]


def _largest(data: ReportData) -> Iterator[Line]:
    """The extreme point, with what is left of it when chance is taken off."""
    extremes = data.extremes.get(data.outcome)
    top = None if extremes is None else next(iter(extremes.at("largest")), None)
    if extremes is None or top is None:
        return
    seen, kept = extremes.number(raw(top.seen)), extremes.number(top.estimate)
    text = f"Largest at {data.grid.label(top.point)}: {seen}"
    if top.alike > 1:
        text += f", as at {top.alike - 1:,} other {'point' if top.alike == 2 else 'points'}"
    of = plural(extremes.points, "point")
    text += f"; the largest of {of} is partly luck, and about {kept} is likelier." if kept != seen else f", of {of}."
    headings, rows = extremes.table(data.grid.label)
    how = (
        f"The extreme points of {extremes.points:,}. The largest of many shares or medians is one that chance has "
        "lifted, the smallest one that chance has lowered: the column “its seeds” shows too much at both ends. "
        "Shrunken: what is left when the spread over all points is known (empirical Bayes), with its 95\u00a0% "
        "interval. Fresh seeds, which had no part in the choice, have no such fault:"
    )
    if data.coverage:
        how = f"{data.coverage}. {how}"
    words = [how, " ", Code(f"swingby replicate {data.source}"), " trains them."]
    yield "extremes", text, [Text(words), Table(headings, rows, name="extremes")]
