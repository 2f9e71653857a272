"""What a report says in plain words: the summary with its intervals, the warnings, and every point as a table row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from analysis.charts.number_map import told as told_number
from analysis.charts.phase_diagram import Share
from analysis.report import phases
from analysis.report.data import ReportData
from analysis.report.figures import Made, spoken, unit
from analysis.seeds import Bump


def percent(share: float) -> str:
    """A share as a reader writes it."""
    return f"{100 * share:.0f} %"


def plural(count: int, noun: str) -> str:
    """ "1 point", "2,000 points"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def told(share: Share) -> str:
    """A share with its count and interval."""
    interval = f"95 % interval {percent(share.low)} to {percent(share.high)}"
    return f"{share.k} of {plural(share.n, 'seed')}, {percent(share.share)} ({interval})"


def warnings(data: ReportData) -> list[str]:
    """What a reader must know before believing a figure."""
    counts = data.counts
    found = []
    if counts.missing:
        found.append(
            f"This sweep is not finished: {counts.missing:,} of {plural(counts.planned, 'cell')} have no result yet. "
            f"`swingby run {data.sweep['name']}` goes on with it."
        )
    if counts.failed:
        found.append(
            f"{plural(counts.failed, 'cell')} failed with an error and are left out of every figure; `--retry-failed` runs them again."
        )
    if counts.diverged:
        found.append(f"{plural(counts.diverged, 'cell')} diverged. They count as runs, with the outcome “diverged”.")
    empty = counts.points - data.cells["point"].n_unique()
    if empty:
        found.append(f"{plural(empty, 'point')} of the grid have no finished run at all and are left blank.")
    dirty = [row for row in data.origins if row["git_dirty"]]
    if dirty:
        found.append("Some cells were computed by code with changes that no commit holds.")
    return found


def summary(made: Made) -> list[str]:
    """The sentences at the top of the page."""
    data, counts, seeds = made.data, made.data.counts, len(made.data.resolved["seeds"])
    first = (
        f"{counts.finished:,} of {plural(counts.planned, 'run')} are finished: {plural(counts.points, 'point')} of the grid "
        f"with {plural(seeds, 'seed')} each."
    )
    by_kind = {"yes_no": _shares, "category": _categories, "number": _numbers}
    sentences = [first, *by_kind[data.kind](data, data.outcome)]
    if data.outcome != "bump_height" and "bump_height" in data.kinds:
        sentences += _numbers(data, "bump_height")
    if made.bump is not None:
        sentences.append(bump_over_seeds(data, *made.bump))
    if data.outcome != "outcome" and "outcome" in data.kinds:
        sentences += _categories(data, "outcome")
    return sentences


def bump_over_seeds(data: ReportData, point: int, bump: Bump) -> str:
    """The test whether the bump of one point is there over its seeds, in words."""
    weak = f" With {plural(bump.n, 'seed')} the test has little power." if bump.weak else ""
    verdict = "so it is no accident of single runs" if bump.found else "so chance is not excluded"
    return (
        f"At {data.grid.label(point)} a rise located on all seeds but one and measured on the one left out is {bump.height:.2g} of "
        f"L_ref on average (95 % t-interval {bump.low:.2g} to {bump.high:.2g}, {plural(bump.n, 'seed')}), {verdict}.{weak}"
    )


def _shares(data: ReportData, outcome: str) -> list[str]:
    found, words = phases.shares(data.cells, outcome), spoken(outcome)
    if not found:
        return [f"For no run could it be told whether it shows {words}."]
    above = [share for share in found if share.low > 0.5]
    below = [share for share in found if share.high < 0.5]
    open_ = len(found) - len(above) - len(below)
    sentences = [
        f"{words.capitalize()} happens in most runs at {len(above):,} of {plural(len(found), 'point')} (the 95 % Wilson interval lies above "
        f"one half) and in a minority at {len(below):,} (below it); at {open_:,} the seeds do not tell (it contains one half)."
    ]
    facets = _by_facet(data, found)
    most, least = max(found, key=lambda share: share.low), min(found, key=lambda share: share.high)
    sentences += facets
    sentences.append(f"It is most frequent at {data.grid.label(most.point)}: {told(most)}.")
    if least.share < most.share:
        sentences.append(f"It is least frequent at {data.grid.label(least.point)}: {told(least)}.")
    expected = 0.05 * len(found)
    together = (
        " Seeds are common to all points, so neighbours err together." if data.resolved["seed_mode"] == "common" else ""
    )
    if len(found) > 1:
        sentences.append(
            f"Each interval stands for its own point: of {len(found):,} such intervals about {expected:.0f} miss the true share by "
            f"construction.{together}"
        )
    return sentences


def _by_facet(data: ReportData, found: Sequence[Share]) -> list[str]:
    if len(data.grid.facets) < 2:
        return []
    total = Counter(data.grid.places[share.point][2] for share in found)
    above = Counter(data.grid.places[share.point][2] for share in found if share.low > 0.5)
    parts = [f"{above[facet]} of {total[facet]} at {label}" for facet, label in enumerate(data.grid.facets)]
    return [f"By panel, points where most runs show it: {'; '.join(parts)}."]


def _categories(data: ReportData, outcome: str) -> list[str]:
    counts = Counter(data.cells[outcome].drop_nulls().to_list())
    total = counts.total()
    parts = [f"{counts[name]:,} {name}" for name in phases.categories(data.cells, outcome) if counts[name]]
    sentence = f"What became of the {plural(total, 'run')}: {', '.join(parts)}."
    if outcome == "outcome" and "certain" in data.cells.columns:
        unsure = int((~data.cells["certain"].fill_null(value=False)).sum())
        sentence += f" For {unsure:,} of them the run did not record what it takes to be certain." if unsure else ""
    return [sentence]


def _numbers(data: ReportData, outcome: str) -> list[str]:
    found, name = phases.spreads(data.cells, outcome), f"{spoken(outcome)}{unit(outcome)}"
    if not found:
        return [f"No run has a {name}."]
    most = max(found, key=lambda spread: spread.median)
    if outcome == "bump_height" and most.median == 0:
        return ["At no point does the median run have a bump."]
    return [f"The {name} is largest at {data.grid.label(most.point)}: {told_number(most)}."]


def table(data: ReportData) -> dict[str, Any]:
    """Every point with its numbers: what the figures show, for readers who cannot see them or want them exactly."""
    columns: dict[str, dict[int, tuple[str, ...]]] = {}
    headings: list[str] = []
    for outcome in dict.fromkeys([data.outcome, "outcome", "bump_height"]):
        if outcome not in data.kinds:
            continue
        heads, rows = _columns(data, outcome)
        headings += heads
        columns[outcome] = {point: row for point, row in rows.items()}
    widths = {outcome: len(next(iter(rows.values()), ())) for outcome, rows in columns.items()}
    body = [
        [
            data.grid.label(point),
            *(cell for outcome, rows in columns.items() for cell in rows.get(point, ("",) * widths[outcome])),
        ]
        for point in data.grid.places
    ]
    return {
        "caption": "The numbers behind the figures, a row a point of the grid. Intervals are for 95 %: Wilson's of a share, the bootstrap's of a median, both over seeds.",
        "headings": ["point", *headings],
        "rows": body,
    }


def _columns(data: ReportData, outcome: str) -> tuple[list[str], dict[int, tuple[str, ...]]]:
    words = spoken(outcome)
    if data.kinds[outcome] == "yes_no":
        shares = {
            s.point: (f"{s.k} of {s.n}", percent(s.share), f"{percent(s.low)} to {percent(s.high)}")
            for s in phases.shares(data.cells, outcome)
        }
        return [words, "share", "interval"], shares
    if data.kinds[outcome] == "category":
        found = phases.most_common(data.cells, outcome, phases.categories(data.cells, outcome))
        return [f"{words} (runs)"], {row.point: (row.counts,) for row in found}
    rows = {s.point: (f"{s.median:.3g}", f"{s.low:.3g} to {s.high:.3g}") for s in phases.spreads(data.cells, outcome)}
    return [f"median {words}{unit(outcome)}", "its interval"], rows
