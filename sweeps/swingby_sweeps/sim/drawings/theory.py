"""The drawing `theory`: arrival times and terminal rates, predicted by theory and measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from swingby.select.intervals import wilson
from swingby_analysis.charts.scatter import COLOURS, Dot, scatter
from swingby_analysis.query import Query
from swingby_analysis.report.prose import percent, plural
from swingby_analysis.report.query_drawing import Drawn

from ..detect import arrivals
from ..params import SYMMETRIC_FAMILY
from .subject import SimQueryDrawing, Subject

STRAIGHT = 0.98
"""The least R^2 of a fit to log |w_ij| that is drawn; below it, the entry turned or was down to rounding."""
LAST, OTHERS = "minor entries of the last concept", "other minor entries"
MINORS = {LAST: "#3a3a3a", OTHERS: "#9aa4af"}
MARKS = (
    "Line: the identity. Shaded: 10 % about it. Above each panel: how many marks lie within, and the 95 % Wilson "
    "interval of their share, which takes marks as independent; those of one run are not quite. Both axes are "
    "logarithmic, and the same in all panels."
)
FAMILY_TIMES = (
    "Symmetric family: when w_pp first reaches 0.9, predicted from W(0) alone: the logistic growth of eq 4.3, and the "
    "delay by the suppression from entries learned before. "
)
LAYER_TIMES = (
    "One layer without bias: the start of the final stretch of r_k = f_k / mu_k >= 0.9 on the trajectory of "
    "Theorem 4.1. That is a flow: descent whose steps lr a_k are not small arrives earlier. "
)
TIMES_EDGE = (
    " Triangles on the upper edge: concepts that had not arrived by the end of a run that was long enough; those for "
    "which the run was too short are left out."
)
FAMILY_RATES = (
    "Symmetric family: log(|1 - w_kk| / w_kk) falls at 2 a_k and log |w_ij| at a_i + a_j, in the time of eq 4.3. "
)
LAYER_RATES = (
    "One layer without bias: log |r_k - 1| falls at a_k once the initial noise is subtracted (Theorem 4.1); "
    "descent whose steps lr a_k are not small falls faster. "
)
RATES_FIT = (
    " Rates are fitted over the last visit to distances of 0.02 to 0.3 from the answer (minor entries: once all "
    "diagonal entries exceed 0.98); runs without five records there have none. Of minor entries only fits with R^2 of "
    f"{STRAIGHT} or more are drawn: the others did not fall exponentially. Each panel counts those that are left out."
)
FED = (
    " While a concept k is not yet learned, its minor entries feed the others by the noise term w_ki w_kj of eq 4.3, "
    "and the others fall no faster than they do: the predicted rates are those of the very end."
)


class Theory(SimQueryDrawing):
    """Two scatters of theory against measurement: arrival times, and terminal rates."""

    name = "theory"
    recordings = ("jacobian",)
    empty = "theory speaks of the symmetric family, and of one layer without bias, on whole clusters"

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """The scatters of every point with predictions.

        Raises:
            SwingbyError: no finished cell of the sweep has predictions.
        """
        arrived = rows.filter(pl.col("kind") == "arrival")
        predicted, measured, end = (arrived[name].to_numpy() for name in ("predicted", "measured", "steps"))
        times = arrived.filter(~np.isnan(arrivals.ratios(predicted, measured, end)))
        if times.is_empty():
            raise subject.cannot(self.name, self.empty)
        axes = ("predicted arrival at 0.9 (step)", "measured arrival at 0.9 (step)")
        chart = scatter(_dots(subject, times), _notes(subject, times), _series(times), axes)
        caption = f"When each concept arrives at 0.9, predicted by theory and measured, {_drawn(subject, times)}."
        reading = _spoken(subject, times, FAMILY_TIMES, LAYER_TIMES) + MARKS
        if any(math.isinf(value) for value in times["measured"]):
            reading += TIMES_EDGE
        yield Drawn(chart, caption, "When concepts arrive: theory and experiment", reading, "theory-times")
        rates = rows.filter(pl.col("kind") != "arrival")
        poor_fit = (pl.col("kind") == "minor") & ~(pl.col("r2") >= STRAIGHT).fill_null(False)
        left_out = dict(rates.filter(poor_fit).group_by("point").len().iter_rows())
        rates = rates.filter(~poor_fit)
        if not rates.is_empty():
            axes = ("predicted rate (1 / time)", "measured rate (1 / time)")
            chart = scatter(_dots(subject, rates), _notes(subject, rates, left_out), _series(rates), axes)
            caption = f"The rates of the terminal slow-down, predicted by theory and fitted, {_drawn(subject, rates)}."
            reading = _spoken(subject, rates, FAMILY_RATES, LAYER_RATES) + MARKS + RATES_FIT
            reading += _spoken(subject, rates, FED, "")
            yield Drawn(chart, caption, "The terminal slow-down: theory and experiment", reading, "theory-rates")


def _spoken(subject: Subject, rows: pl.DataFrame, family: str, layer: str) -> str:
    """The sentences about the models that are drawn."""
    models = set(subject.cells.filter(pl.col("point").is_in(rows["point"].unique().to_list()))["model"].to_list())
    return (family if models & {*SYMMETRIC_FAMILY} else "") + (layer if models - {*SYMMETRIC_FAMILY} else "")


def _drawn(subject: Subject, rows: pl.DataFrame) -> str:
    """The number of runs and points that are drawn, and of those that are left out, as text."""
    runs, points = rows.select("point", "seed").n_unique(), rows["point"].n_unique()
    silent = len(subject.points) - points
    diverged = sum(_diverged(subject).get(point, 0) for point in rows["point"].unique())
    text = f"a mark for each concept of a run: {plural(runs, 'run')} at {plural(points, 'point')} of the grid"
    text += f"; {diverged} that diverged left out" if diverged else ""
    if silent:
        text += f"; {plural(silent, 'point')} of which theory does not speak, or without anything to compare, left out"
    return text


def _diverged(subject: Subject) -> Mapping[int, int]:
    """Runs of each point that diverged, and so have predictions only."""
    text = """select point, count(*) from members join sim using (cell_id) join outcomes_theory as expected
        on expected.cell_id = sim.cell_id and expected.of_shard = sim.shard
        where sweep_id = $1 and a_p is not null and status = 'diverged' group by point"""
    return dict(subject.ask(Query("diverged", (subject.sweep_id,), inline=text)).iter_rows())


def _panel(subject: Subject, point: int) -> str:
    return subject.label(point) or "all runs"


def _series(rows: pl.DataFrame) -> Mapping[str, str]:
    """The colours of the concepts and of both kinds of minor entries that occur."""
    names = {_named(row) for row in rows.iter_rows(named=True)}
    concepts = sorted(rows.filter(pl.col("kind") != "minor")["i"].unique().to_list())
    colours = {_concept(k): COLOURS[(k - 1) % len(COLOURS)] for k in concepts} | MINORS
    return {name: colour for name, colour in colours.items() if name in names}


def _concept(k: int) -> str:
    return f"concept {k}"


def _named(row: Mapping[str, Any]) -> str:
    """The name of a row's series."""
    return (LAST if row["last"] else OTHERS) if row["kind"] == "minor" else _concept(row["i"])


def _dots(subject: Subject, rows: pl.DataFrame) -> list[Dot]:
    dots = []
    # Minor entries first, so that they lie below.
    for row in rows.sort("kind", "last", descending=[True, False]).iter_rows(named=True):
        entry = f"w_{row['i']}{row['j']}" if row["kind"] == "minor" else _concept(row["i"])
        panel = _panel(subject, row["point"])
        dots.append(Dot(panel, _named(row), entry, row["seed"], row["predicted"], row["measured"]))
    return dots


def _notes(subject: Subject, rows: pl.DataFrame, poor_fits: Mapping[int, int] | None = None) -> dict[str, list[str]]:
    """Lines for each panel, in the order of the grid: how many concepts, and minor entries of both kinds, are near.

    The last lines count what the panel leaves out: runs that diverged, and `poor_fits` (point -> minor entries).
    """
    minor, last = pl.col("kind") == "minor", pl.col("last")
    parts = {"concepts": ~minor, "minor, last": minor & last, "minor, other": minor & ~last}
    notes: dict[str, list[str]] = {}
    for point in subject.points:
        point_rows = rows.filter(pl.col("point") == point)
        shares = {
            label: _share(point_rows.filter(part)) for label, part in parts.items() if point_rows.filter(part).height
        }
        if not shares:
            continue
        lines = [f"within {percent(arrivals.TENTH)}:"]
        lines += [f"{label}: {count}, {interval}" for label, (count, interval) in shares.items()]
        if set(shares) == {"concepts"}:
            count, interval = shares["concepts"]
            lines = [f"{count} within {percent(arrivals.TENTH)}", f"({interval})"]
        diverged, poor = _diverged(subject).get(point, 0), (poor_fits or {}).get(point, 0)
        lines += [f"{plural(diverged, 'run')} diverged: left out"] if diverged else []
        lines += [f"R^2 < {STRAIGHT:g}: {poor:,} left out"] if poor else []
        notes[_panel(subject, point)] = lines
    return notes


def _share(rows: pl.DataFrame) -> tuple[str, str]:
    """How many of the rows are within 10 % of their prediction, as text, and the interval of that share."""
    k = int(arrivals.near(rows["measured"].to_numpy() / rows["predicted"].to_numpy()).sum())
    low, high = (100 * float(end) for end in wilson(k, rows.height))
    return f"{k:,} of {rows.height:,}", f"{low:.0f} to {percent(high / 100)}"
