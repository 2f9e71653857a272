"""The verbs that keep a data folder: merge, retract, gc."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import ANYWHERE, DEFAULT_DATA, DataFolder, complain, say, tell
from swingby.units import counted, size

LEFT_OUT = 2
SHOWN = 40
"""The most paths that are listed one by one."""

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; write and remove nothing.")]


def merge(
    other: Annotated[
        Path, typer.Argument(help="The other data folder; it is only read.", show_default=False, **ANYWHERE)
    ],
    data: DataFolder = DEFAULT_DATA,
    dry_run: DryRun = False,
) -> None:
    """Copies the records of another data folder into this one: plans, results, outcomes and retractions.

    Every file is checked before it is kept. Torn and foreign files are named and left out (exit code 2). A second merge
    of the same folder changes nothing, the order of several merges makes no difference, and a merge that was stopped
    can be repeated. Of a cell that was trained in both folders one result is shown: the one with more recordings, else
    the one that was finished first. Both are kept.

    Example:

        swingby merge /backup/data --data data
    """
    from swingby.maintenance import merge as bring_in

    done = bring_in(data, other, dry_run)
    say(str(done))
    for name, reason in done.left_out:
        complain(f"left out {name}: {reason}")
    if done.taken is not None:
        if done.taken.upgrade:
            tell(done.taken.upgrade)
        for name, reason in done.taken.bad:
            complain(f"not in the store: {name}: {reason}")
    if done.left_out or (done.taken is not None and done.taken.bad):
        raise typer.Exit(LEFT_OUT)


def retract(
    what: Annotated[list[str], typer.Argument(help="A sweep, or cells by their ids.", show_default=False)],
    reason: Annotated[str, typer.Option(help="Why, on one line; it is kept for good.", show_default=False)],
    data: DataFolder = DEFAULT_DATA,
    dry_run: DryRun = False,
) -> None:
    """Takes back results of a sweep or of cells: no reader sees them any more, and the next run trains the cells again.

    A record keeps the reason, who took back which results, and when; `swingby sql "from retractions"` shows it. The
    files stay. There is no undo: results that were taken back by mistake have to be trained again. What was computed
    over many cells (`claims`, say) changes when its verb is run again.

    Example:

        swingby retract my-first --reason "the learning rate was read wrongly before version 0.2"
    """
    from swingby.maintenance import retract as take_back

    done = take_back(data, what, reason, dry_run)
    verb = "would take back" if dry_run else "took back"
    say(f"{verb} what {counted(done.cells, 'cell')} left in {counted(done.shards, 'shard')}")
    for name, count in sorted(done.sweeps.items()):
        say(f"  {name}: {counted(count, 'cell')} of it; `swingby run` with its name, or its file, trains them again")
    if done.record:
        say(f"  {done.record}")


def gc(
    data: DataFolder = DEFAULT_DATA,
    dry_run: DryRun = False,
    older_than: Annotated[
        float,
        typer.Option(
            min=0.0,
            metavar="HOURS",
            help="Age from which a file is abandoned where it cannot be seen whether its writer lives.",
        ),
    ] = 24.0,
) -> None:
    """Removes files that nobody needs: unfinished ones of dead writers, checkpoints of finished cells, copies of the
    store that no pointer names, and those that killed queries left.

    Records are never touched, nor any file that is being written or that a running sweep may need.

    Example:

        swingby gc --dry-run
    """
    from swingby.maintenance import collect

    done = collect(data, dry_run, older_than)
    for path, count in done.removed[:SHOWN]:
        say(f"{path}  {size(count)}")
    if len(done.removed) > SHOWN:
        say(f"... and {len(done.removed) - SHOWN:,} more")
    verb = "would remove" if dry_run else "removed"
    say(f"{verb} {counted(len(done.removed), 'path')}: {size(done.bytes)}")
    for reason in done.left:
        tell(f"left alone: {reason}")
