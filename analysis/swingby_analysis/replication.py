"""Replication: the extreme points of a sweep's map, trained again on seeds that had no part in choosing them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.points import PointWriter
from swingby.options import option
from swingby.run.outcomes import derive
from swingby.store import Store, ingest
from swingby.store.lookup import find_sweep
from swingby.store.refined import only_refined
from swingby.store.status import final_counts
from swingby.sweepfile.axes import Axis
from swingby.sweepfile.parameters import PRESET, split
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.grid import Grid
from swingby_analysis.query import Query, ask
from swingby_analysis.report import data as report_data
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.extremes import Extreme, Extremes, extremes
from swingby_analysis.report.fresh import fresh_phases

Say = Callable[[str], None]
SUFFIX = "-replicated"
"""What the name of a sweep of fresh seeds ends with, behind that of the other."""
LONGEST = 64
"""Letters of a sweep's name at most."""
BLOCK = 1_000_000
"""Fresh seeds begin at a multiple of this number, above every seed of the sweep, also of one that grows later."""


@dataclass(frozen=True)
class Replication:
    """The extreme points of a sweep on fresh seeds.

    Attributes:
        sweep: the sweep of fresh seeds.
        outcome: what the points are extreme in.
        extremes: the points; `fresh` of each as far as its fresh seeds are trained.
        read: what the map is made from.
        run: how the training went; None where nothing was to be trained.
    """

    sweep: Sweep
    outcome: str
    extremes: Extremes
    read: ReportData = field(repr=False)
    run: Any = None

    @property
    def grid(self) -> Grid:
        """Where the points stand."""
        return self.read.grid

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Headings, and a row a point: what its own seeds show, the shrunken estimate, and what fresh seeds show."""
        return self.extremes.table(self.grid.label)

    def plain(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {
            "sweep": self.sweep.name,
            "sweep_id": self.sweep.sweep_id,
            "replicates": dict(self.sweep.replicates or {}),
            "outcome": self.outcome,
            "points_of_the_map": self.extremes.points,
            "fresh_seeds": [self.sweep.seeds[0], self.sweep.seeds[-1]],
            "extremes": [_plain(row, self.grid.label(row.point)) for row in self.extremes.rows],
        }

    def polars(self) -> Any:
        """The extreme points as a polars frame, a row a point."""
        import polars as pl

        return pl.DataFrame([_flat(row) for row in self.plain()["extremes"]])

    def __str__(self) -> str:
        headings, rows = self.table()
        return "\n".join([" | ".join(headings), *(" | ".join(row) for row in rows)])


def _plain(row: Extreme, label: str) -> dict[str, Any]:
    return {
        "end": row.end,
        "point": row.point,
        "label": label,
        "seen": row.seen._asdict(),
        "shrunken": {"estimate": row.estimate, "low": row.low, "high": row.high},
        "fresh": None if row.fresh is None else row.fresh._asdict(),
    }


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    nested = {
        f"{name}_{key}": value
        for name in ("seen", "shrunken", "fresh")
        for key, value in (row[name] or {}).items()
        if key != "point"
    }
    return {"end": row["end"], "point": row["point"], "label": row["label"], **nested}


def choose(
    sweep: Sweep, data: Path, outcome: str | None = None, top: int = 3, seeds: int = 200, say: Say = lambda text: None
) -> Replication:
    """Chooses the extreme points of a sweep's map by their shrunken estimates, and makes the sweep of fresh seeds.

    Args:
        sweep: it has to be finished in the data folder.
        outcome: of yes or no, or a number; None: what its diagram shows, or the sweep sums up.
        top: points at either end.
        seeds: fresh seeds of each point.
        say: hears a line about the choice.

    Raises:
        SwingbyError: the sweep is not finished here, there is no such outcome, it has no extremes, or a number is not
            allowed.
    """
    for name, value in (("top", top), ("seeds", seeds)):
        if value < 1:
            raise SwingbyError(f"{option(name, value)} trains nothing; allowed: 1 or more")
    if sweep.replicates is not None:
        raise SwingbyError(f"{sweep.name!r} is a replication itself; replicate {sweep.replicates['name']!r}")
    records = Records.open(data, create=False)
    ingest(records)
    outcomes = {sweep.sweep_id: sweep.outcomes}
    _check_finished(data, sweep)
    derive(records, list(outcomes), outcomes)
    with Store.open(data) as store:
        find_sweep(store, sweep.sweep_id)  # columns of an experiment that is a function are known by its results
        read = report_data.read(store, sweep.sweep_id, presentation=sweep.presentation, shown=[])
        chosen = _outcome(sweep, read, outcome)
        used = ask(store, Query("largest_seed", (sweep.name,))).item()
    extreme = extremes(read.phases, chosen, read.outcomes[chosen].kind, top)
    if extreme is None:
        raise SwingbyError(f"{sweep.name!r} has no two points to compare, so none is extreme")
    fresh = replication(sweep, [row.point for row in extreme.rows], chosen, seeds, int(used or 0))
    say(
        f"{fresh.name} ({fresh.sweep_id}): {len(fresh.points)} extreme points of {extreme.points:,} by {chosen}, "
        f"{seeds} fresh seeds each, from {fresh.seeds[0]:,} on"
    )
    return Replication(fresh, chosen, extreme, read)


def compared(chosen: Replication, data: Path, ran: Any = None) -> Replication:
    """The extreme points with what fresh seeds show, as far as they are trained."""
    with Store.open(data) as store:
        fresh = fresh_phases(store, chosen.read)
    return replace(chosen, extremes=with_fresh(chosen.extremes, fresh, chosen.outcome), run=ran)


def with_fresh(extremes: Extremes, fresh: Any, outcome: str) -> Extremes:
    """The extreme points with what fresh seeds show there."""
    if fresh is None:
        return extremes
    rows = fresh.shares(outcome) if extremes.kind == "yes_no" else fresh.spreads(outcome)
    at = {row.point: row for row in rows}
    return replace(extremes, rows=[replace(row, fresh=at.get(row.point)) for row in extremes.rows])


def _check_finished(data: Path, sweep: Sweep) -> None:
    """Refuses a sweep of which cells have no result.

    Raises:
        SwingbyError: says how many, and how to train them.
    """
    with Store.open(data) as store:
        known = store.sql("select resolved from sweeps where sweep_id = ?", [sweep.sweep_id]).rows()
        counts = final_counts(store, sweep.experiment_name, sweep.sweep_id) if known else {}
        is_refined = only_refined(store, sweep.sweep_id) is not None
    done = sum(counts.values())
    if not known:
        raise SwingbyError(f"{sweep.name!r} has not been run here yet, so it has no extreme points: run it first")
    if done < len(sweep) and is_refined:
        raise SwingbyError(
            f"{sweep.name!r} is refined: {done:,} of its grid's {len(sweep):,} cells were trained, so that points have "
            "different numbers of seeds, and none is extreme by its seeds alone; "
            f"a run with {option('refine', False)} trains the rest"
        )
    if done < len(sweep):
        raise SwingbyError(
            f"{sweep.name!r} is not finished: {done:,} of {len(sweep):,} cells have ended, and which points are "
            "extreme may change: run it to its end"
        )


def _outcome(sweep: Sweep, read: ReportData, requested: str | None) -> str:
    """The outcome that is meant.

    Raises:
        SwingbyError: there is no such one, or it is a category.
    """
    able = [name for name, one in read.outcomes.items() if one.kind != "category"]
    named = None if sweep.diagram is None else sweep.diagram.outcome
    chosen = requested or named or sweep.outcome
    if chosen is None:
        raise SwingbyError(
            f"{sweep.name!r} has no diagram: name an outcome, such as "
            f"{option('outcome', (able or ['NAME'])[0])}; allowed: {', '.join(able)}"
        )
    if chosen not in read.outcomes:
        raise SwingbyError(f"{sweep.name!r} has no outcome {chosen!r}; {registry.nearest_offered(chosen, able)}")
    if chosen not in able:
        raise SwingbyError(
            f"{chosen!r} is a category, and of categories no point is extreme; {registry.nearest_offered(chosen, able)}"
        )
    return chosen


def as_json(replicated: Replication) -> str:
    """Everything of a replication as JSON."""
    return json.dumps(replicated.plain(), indent=2, default=str)


def replication(sweep: Sweep, places: Sequence[int], outcome: str, count: int, used: int) -> Sweep:
    """The sweep that trains some points of another on fresh seeds; everything but points and seeds is as there.

    Its points stand along one axis of all parameters that vary, in the order given. The same arguments give the same
    sweep, so that a run of it which was stopped goes on.

    Args:
        sweep: the other sweep.
        places: the points, as indices into `sweep.points`, each once.
        outcome: the outcome that the points were chosen by; a report of the new sweep sums it up.
        count: the number of seeds, 1 or more.
        used: the largest seed that the other sweep ever used.

    Raises:
        SwingbyError: no point, or no seed.
    """
    if not places or count < 1:
        raise SwingbyError(f"{len(places)} points on {count} seeds are no sweep; allowed: at least one of each")
    writer = PointWriter(sweep.experiment_name, sweep.points.stream_version, sweep.points.params, sweep.points.seeds)
    for place in places:
        writer.add(dict(sweep.points[place].params))
    points = writer.points()
    names = tuple(name for axis in sweep.axes for name in axis.names)
    values = tuple(tuple(_value(sweep, place, name) for name in names) for place in places)
    first = (max(used, *sweep.seeds) // BLOCK + 1) * BLOCK
    origin = (
        f"Made by `swingby replicate {sweep.name}`: {len(places)} points of the sweep {sweep.name} "
        f"({sweep.sweep_id}), at either end of its map of {outcome}, on {count} seeds from {first} on, which that "
        "sweep never used."
    )
    return replace(
        sweep,
        name=f"{sweep.name[: LONGEST - len(SUFFIX)]}{SUFFIX}",
        axes=(Axis(names, values),) if names else (),
        where=None,
        points=points,
        presets=tuple(sweep.presets[place] for place in places),
        seeds=tuple(range(first, first + count)),
        diagram=None,
        drawings=(),
        outcome=outcome,
        title=f"Extreme points on fresh seeds: {sweep.title or sweep.name}",
        description=origin,
        notes=origin,
        unread=(),
        replicates={
            "name": sweep.name,
            "sweep_id": sweep.sweep_id,
            "outcome": outcome,
            "points": list(places),
        },
    )


def _value(sweep: Sweep, place: int, name: str) -> object:
    """What a parameter of an axis is at a point; of an entry of a vector, that entry."""
    if name == PRESET:
        return sweep.presets[place]
    parameter, entry = split(name)
    value = getattr(sweep.points[place].params, parameter)
    return value if entry is None else value[entry]
