"""Training the extreme points of a sweep's map on fresh seeds; which they are, and what they show, analysis says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from swingby.data.records import Records
from swingby.model import registry
from swingby.run.driver import run
from swingby.run.forecast import summary
from swingby.run.options import RunOptions
from swingby.run.preview import plan
from swingby.run.progress import Progress
from swingby.sweepfile.sweep import Sweep


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
