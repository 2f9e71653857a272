"""The verbs that keep a data folder: merge, retract, delete, rename, gc."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import ANYWHERE, DEFAULT_DATA, DataFolder, complain, say, sweep_names, tell
from swingby.errors import SwingbyError
from swingby.units import counted, size

LEFT_OUT = 2
DECLINED = 1
"""Exit status of a command that was told not to go on."""
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
    reason: Annotated[
        str | None, typer.Option(help="Why, on one line; it is kept for good.", show_default=False)
    ] = None,
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

    if reason is None and not dry_run:
        raise SwingbyError("say why, on one line, by --reason; it is kept for good")
    done = take_back(data, what, reason or "", dry_run)
    verb = "would take back" if dry_run else "took back"
    say(f"{verb} what {counted(done.cells, 'cell')} left in {counted(done.shards, 'shard')}")
    for name, count in sorted(done.sweeps.items()):
        say(f"  {name}: {counted(count, 'cell')} of it; `swingby run` with its name, or its file, trains them again")
    if done.record:
        say(f"  {done.record}")


def delete(
    sweep: Annotated[
        str,
        typer.Argument(help="A sweep's name, id or file.", show_default=False, autocompletion=sweep_names),
    ],
    data: DataFolder = DEFAULT_DATA,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Deletes a sweep from the data folder: plans, results, outcomes, checkpoints. Asks first; there is no undo.

    Cells that another sweep has stay, with their results. A sweep that is being run is left alone, and so are its file,
    reports that were drawn, and archives that were packed. Whatever ends the command, nothing of other sweeps is lost;
    the same command goes on where it stopped. A merge with a folder that has the sweep brings it back.

    Exit code 1: the answer was no.

    Example:

        swingby delete my-first --dry-run
    """
    from swingby.imports.notice import imported_results
    from swingby.maintenance import delete as delete_sweep
    from swingby.store import Store
    from swingby.store.recorded import recorded_results

    planned = delete_sweep(data, sweep, dry_run=True)
    known = planned.sweep
    say(f"{known.name} ({known.stamp}): {counted(known.cells, 'cell')}")
    files = len(planned.shards) + len(planned.derived)
    costs = f", which took {planned.costs}" if planned.costs else ""
    say(f"  goes: {counted(planned.cells, 'cell')}, {planned.trained:,} of them with results{costs}")
    say(f"        {counted(files, 'file')} of results and outcomes, and checkpoints: {size(planned.bytes)}")
    for name, count in planned.shared.items():
        say(f"  stays: {counted(count, 'cell')} that {name} has, too")
    if planned.mixed:
        say(f"  stays: {counted(len(planned.mixed), 'file')} with such cells; the others in them are taken back")
    with Store.open(data) as store:
        if (imported := imported_results(store, known.sweep_id)) is not None:
            say(f"  {imported}")
        elif (recorded := recorded_results(store, known.sweep_id)) is not None:
            say(f"  {recorded}")
    if dry_run:
        return
    if not yes:
        if not sys.stdin.isatty():
            raise SwingbyError("nobody is there to be asked: add --yes")
        if not typer.confirm("delete it?"):
            raise typer.Exit(DECLINED)
    done = delete_sweep(data, known.sweep_id)
    say(f"deleted {counted(done.cells, 'cell')} of {known.name}: {size(done.bytes)}")


def rename(
    sweep: Annotated[
        str,
        typer.Argument(help="A sweep's name, id or file.", show_default=False, autocompletion=sweep_names),
    ],
    name: Annotated[str, typer.Argument(help="Its new name.", show_default=False)],
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Gives a sweep another name in the data folder, for `status`, `report`, `sql` and all that reads results.

    Nothing else changes: `swingby run` takes the sweep's file as before. Do not write the new name into that file: it
    would be another sweep. The name in the file goes on working here until another sweep has it.

    Example:

        swingby rename my-first wide-nets
    """
    from swingby.maintenance import rename as rename_sweep

    before = rename_sweep(data, sweep, name)
    say(f"{before.name} ({before.stamp}) is called {name} now")


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
