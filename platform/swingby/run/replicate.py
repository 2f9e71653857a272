"""Training the extreme points of a sweep's map on fresh seeds; which they are, and what they show, analysis says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.points import PointWriter
from swingby.run.driver import run
from swingby.run.forecast import summary
from swingby.run.options import RunOptions
from swingby.run.preview import plan
from swingby.run.progress import Progress
from swingby.sweepfile.axes import Axis
from swingby.sweepfile.parameters import PRESET, split
from swingby.sweepfile.sweep import Sweep

SUFFIX = "-replicated"
"""What the name of such a sweep ends with, behind that of the other."""
LONGEST = 64
"""Letters of a sweep's name at most."""
BLOCK = 1_000_000
"""Fresh seeds begin at a multiple of this number, above every seed of the sweep, also of one that grows later."""


def replicate(
    sweep: Sweep,
    data: Path,
    outcome: str | None = None,
    top: int = 3,
    seeds: int = 200,
    options: RunOptions | None = None,
    progress: Progress | None = None,
    dry_run: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> Any:
    """Trains the extreme points on fresh seeds, and compares; a `swingby_analysis.replication.Replication`.

    What is trained is a sweep of its own with the same parameters; trained cells are not trained again, also if the run
    was stopped.

    Args:
        sweep: it has to be finished in the data folder.
        outcome: of yes or no, or a number; None: what its diagram shows, or the sweep sums up.
        top: points at either end.
        seeds: fresh seeds of each point.
        options: how to train; None: as `swingby run` does.
        dry_run: train nothing, and write no plan; `say` hears what there would be to do.
        say: hears a line about the choice.

    Raises:
        SwingbyError: the points cannot be chosen, or the training cannot begin.
    """
    options = options or RunOptions()
    chosen = registry.function("swingby_analysis.replication:choose")(sweep, data, outcome, top, seeds, say)
    ran = None
    if dry_run:
        say(summary(plan(chosen.sweep, Records.open(data, create=False), replace(options, pilot=False))))
    else:
        (ran,) = run([chosen.sweep], data, options, progress=progress)
    return registry.function("swingby_analysis.replication:compared")(chosen, data, ran)


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
