"""The drawing `theory`: arrival times and terminal rates, as theory predicts them and as they were measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from swingby.select.intervals import wilson
from swingby_analysis.charts.scatter import COLOURS, Dot, scatter
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.prose import percent, plural

from .subject import SQL, SimDrawing, Subject

WITHIN = 0.1
STRAIGHT = 0.98
"""The least R^2 at which log |w_ij| of a minor entry fell along a line; below, it turned or was rounding."""
LAST, OTHERS = "minor entries of the last concept", "other minor entries"
MINORS = {LAST: "#3a3a3a", OTHERS: "#9aa4af"}
FAMILY = ("symmetric", "w_recurrence")
MARKS = (
    "Line: the identity. Shaded: 10 % about it. In each panel: how many lie within, and the 95 % Wilson interval of "
    "their share; it takes them as independent, which those of one run are not quite. Both axes are logarithmic, and "
    "the same in all panels."
)
FAMILY_TIMES = (
    "Symmetric family: when w_pp first reaches 0.9, from W(0) alone: the logistic growth of eq 4.3, and the delay by "
    "the suppression of what the entries learned before have taken away. "
)
LAYER_TIMES = (
    "One layer without bias: the start of the final stretch of r_k = f_k / mu_k >= 0.9 on the trajectory of "
    "Theorem 4.1. That is a flow: descent whose steps lr a_k are not small arrives earlier. "
)
TIMES_EDGE = (
    " Triangles on the upper edge had not arrived by the end of a run that was long enough; those that the run was too "
    "short for are left out."
)
FAMILY_RATES = (
    "Symmetric family: log(|1 - w_kk| / w_kk) falls at 2 a_k and log |w_ij| at a_i + a_j, in the time of eq 4.3. "
)
LAYER_RATES = (
    "One layer without bias: log |r_k - 1| falls at a_k once the noise of the start is taken off (Theorem 4.1); "
    "descent whose steps lr a_k are not small falls faster. "
)
RATES_FIT = (
    " Rates are fitted over the last visit to distances of 0.02 to 0.3 from the answer (minor entries: once both "
    "diagonal entries exceed 0.98); runs without five records there have none. Of minor entries only fits with R^2 of "
    f"{STRAIGHT} or more are drawn: the others did not fall exponentially. Each panel says how many that leaves out."
)
FED = (
    " While a concept k is still to come, its minor entries feed the others by the noise term w_ki w_kj of eq 4.3, and "
    "these fall no faster than they do: the predicted rates are those of the very end."
)


class Theory(SimDrawing):
    """Two scatters of theory against measurement: arrival times, and terminal rates."""

    name: ClassVar[str] = "theory"
    recordings: ClassVar[tuple[str, ...]] = ("jacobian",)

    def draw(self, subject: Subject, options: Any) -> Sequence[Figure]:
        """The scatters of every point of which theory speaks.

        Raises:
            SwingbyError: theory speaks of none of the sweep's finished cells.
        """
        query = Query("theory", (subject.sweep_id,), SQL)
        rows = subject.ask(query)
        times, rates = rows.filter(pl.col("kind") == "arrival"), rows.filter(pl.col("kind") != "arrival")
        crooked = (pl.col("kind") == "minor") & ~(pl.col("r2") >= STRAIGHT).fill_null(False)
        bent = dict(rates.filter(crooked).group_by("point").len().iter_rows())
        rates = rates.filter(~crooked)
        if times.is_empty():
            spoken = "theory speaks of the symmetric family, and of one layer without bias, on whole clusters"
            raise subject.cannot(self.name, spoken)
        drawn = [_times(subject, times, query)]
        return drawn if rates.is_empty() else [*drawn, _rates(subject, rates, query, bent)]


def _times(subject: Subject, rows: pl.DataFrame, query: Query) -> Figure:
    title = "When concepts arrive: theory and experiment"
    axes = ("predicted arrival at 0.9 (step)", "measured arrival at 0.9 (step)")
    spec = scatter(_dots(subject, rows), _notes(subject, rows), _series(rows), axes).to_dict()
    caption = f"When each concept arrives at 0.9, as theory predicts it and as it came, {_what(subject, rows)}."
    reading = _spoken(subject, rows, FAMILY_TIMES, LAYER_TIMES) + MARKS
    if any(math.isinf(value) for value in rows["measured"]):
        reading += TIMES_EDGE
    return subject.figure("theory-times", title, caption, reading, spec, [query])


def _rates(subject: Subject, rows: pl.DataFrame, query: Query, bent: Mapping[int, int]) -> Figure:
    title = "The terminal slow-down: theory and experiment"
    axes = ("predicted rate (1 / time)", "measured rate (1 / time)")
    spec = scatter(_dots(subject, rows), _notes(subject, rows, bent), _series(rows), axes).to_dict()
    caption = f"The rates of the terminal slow-down, as theory predicts them and as fitted, {_what(subject, rows)}."
    reading = _spoken(subject, rows, FAMILY_RATES, LAYER_RATES) + MARKS + RATES_FIT
    return subject.figure("theory-rates", title, caption, reading + _spoken(subject, rows, FED, ""), spec, [query])


def _spoken(subject: Subject, rows: pl.DataFrame, family: str, layer: str) -> str:
    """The sentences about the models that are drawn."""
    models = set(subject.cells.filter(pl.col("point").is_in(rows["point"].unique().to_list()))["model"].to_list())
    return (family if models & {*FAMILY} else "") + (layer if models - {*FAMILY} else "")


def _what(subject: Subject, rows: pl.DataFrame) -> str:
    runs, points = rows.select("point", "seed").n_unique(), rows["point"].n_unique()
    silent = len(subject.points) - points
    left = f"; {plural(silent, 'point')} of which theory does not speak, or had nothing to be compared, left out"
    gone = sum(_diverged(subject, point) for point in rows["point"].unique())
    said = f"a mark a concept of a run: {plural(runs, 'run')} at {plural(points, 'point')} of the grid"
    return said + (f"; {gone} that diverged left out" if gone else "") + (left if silent else "")


def _diverged(subject: Subject, point: int) -> int:
    """Runs of a point that diverged, and so have predictions only."""
    return subject.runs(point).filter((pl.col("status") == "diverged") & pl.col("a_p").is_not_null()).height


def _panel(subject: Subject, point: int) -> str:
    return subject.label(point) or "all runs"


def _series(rows: pl.DataFrame) -> Mapping[str, str]:
    """Colours by concept, and for both kinds of minor entries."""
    names = {_named(row) for row in rows.iter_rows(named=True)}
    concepts = sorted(rows.filter(pl.col("kind") != "minor")["i"].unique().to_list())
    colours = {_concept(k): COLOURS[(k - 1) % len(COLOURS)] for k in concepts} | MINORS
    return {name: colour for name, colour in colours.items() if name in names}


def _concept(k: int) -> str:
    return f"concept {k}"


def _named(row: Mapping[str, Any]) -> str:
    """The series of one row."""
    return (LAST if row["last"] else OTHERS) if row["kind"] == "minor" else _concept(row["i"])


def _dots(subject: Subject, rows: pl.DataFrame) -> list[Dot]:
    found = []
    # Minor entries first, so that they lie below.
    for row in rows.sort("kind", "last", descending=[True, False]).iter_rows(named=True):
        entry = f"w_{row['i']}{row['j']}" if row["kind"] == "minor" else _concept(row["i"])
        panel = _panel(subject, row["point"])
        found.append(Dot(panel, _named(row), entry, row["seed"], row["predicted"], row["measured"]))
    return found


def _notes(subject: Subject, rows: pl.DataFrame, bent: Mapping[int, int] | None = None) -> dict[str, list[str]]:
    """For each panel, in the order of the grid: how many lie within 10 %, of concepts and of both minor kinds.

    Below that, what the panel leaves out: runs that diverged, and the minor entries of `bent` (point -> count).
    """
    minor, last = pl.col("kind") == "minor", pl.col("last")
    parts = {"concepts": ~minor, "minor, last": minor & last, "minor, other": minor & ~last}
    notes: dict[str, list[str]] = {}
    for point in subject.points:
        own = rows.filter(pl.col("point") == point)
        shares = {label: _share(own.filter(part)) for label, part in parts.items() if own.filter(part).height}
        if set(shares) == {"concepts"}:
            notes[_panel(subject, point)] = [
                f"{shares['concepts'][0]} within {percent(WITHIN)}",
                f"({shares['concepts'][1]})",
            ]
        elif shares:
            lines = [f"{label}: {count}, {interval}" for label, (count, interval) in shares.items()]
            notes[_panel(subject, point)] = [f"within {percent(WITHIN)}:", *lines]
        if shares:
            notes[_panel(subject, point)] += _left_out(_diverged(subject, point), (bent or {}).get(point, 0))
    return notes


def _left_out(diverged: int, bent: int) -> list[str]:
    runs = [f"{plural(diverged, 'run')} diverged: left out"] if diverged else []
    return runs + ([f"R^2 < {STRAIGHT:g}: {bent:,} left out"] if bent else [])


def _share(rows: pl.DataFrame) -> tuple[str, str]:
    """k of n, and the interval of the share."""
    k = sum(_within(predicted, measured) for predicted, measured in rows.select("predicted", "measured").iter_rows())
    low, high = (100 * float(end) for end in wilson(k, rows.height))
    return f"{k:,} of {rows.height:,}", f"{low:.0f} to {percent(high / 100)}"


def _within(predicted: float, measured: float) -> bool:
    return predicted == measured or (math.isfinite(predicted) and abs(measured - predicted) <= WITHIN * predicted)
