"""The verb that trains the extreme points of a sweep on fresh seeds."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, Overrides, give, table, tell
from swingby.cli.options import CELLS_FAILED, Address, ConfirmAbove, Deadline, Device, Local, Processes, SweepName
from swingby.errors import SwingbyError
from swingby.model import registry


def replicate(
    sweep: SweepName,
    data: DataFolder = DEFAULT_DATA,
    outcome: Annotated[
        str | None,
        typer.Option(help="The outcome in which points are extreme; default: that of the sweep's diagram."),
    ] = None,
    top: Annotated[int, typer.Option(help="How many points at either end of the map.")] = 3,
    seeds: Annotated[int, typer.Option(help="Fresh seeds of each point.")] = 200,
    overrides: Overrides = None,
    confirm_above: ConfirmAbove = 100_000,
    local: Local = False,
    address: Address = None,
    processes: Processes = 1,
    device: Device = None,
    deadline: Deadline = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which points would be trained; train nothing, write no plan.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Trains the extreme points of a finished sweep on fresh seeds: shares (or medians) as seen, shrunken, and fresh.

    The largest of many shares is one that chance has lifted: seeds that chose a point cannot say how large its share
    is. The points are chosen by shrunken estimates (empirical Bayes over all points). The fresh seeds were never used
    by the sweep. They are a sweep of their own, SWEEP-replicated, stored like all others: a second call trains nothing,
    and after Ctrl-C the same command goes on. The report of SWEEP shows the fresh numbers beside its map.

    Exit code 0: every fresh cell has a result; 1: some failed or are missing; 2: bad input.

    Example:

        swingby replicate transient-memorization --top 3 --seeds 200
    """
    from swingby.imports.notice import told_if_imported
    from swingby.run.extend import last_seeds
    from swingby.run.options import RunOptions
    from swingby.run.replicate import replicate as train
    from swingby.store import Store
    from swingby.sweepfile.sweep import Sweep

    if not (data / "swingby.json").exists():
        raise SwingbyError(f"{data} holds no results yet, so no point is extreme: swingby run {sweep}")
    with told_if_imported(data, sweep):
        loaded = Sweep.load(sweep, overrides or (), None)
    with Store.open(data) as store:
        known = store.sql("select 1 from sweeps where sweep_id = ?", [loaded.sweep_id]).rows()
    if not known:  # its last run may have had more seeds than the file says
        loaded = Sweep.load(sweep, last_seeds(sweep, data, overrides or ()), None)
    if (cells := 2 * top * seeds) > confirm_above:
        raise SwingbyError(
            f"--top {top} on --seeds {seeds} are {cells:,} cells; allowed: {confirm_above:,}, or more with "
            f"--confirm-above {cells}"
        )
    options = RunOptions(
        local=local, address=address, processes=processes, device=cast("Any", device), deadline=deadline
    )
    replication = train(loaded, data, outcome, top, seeds, options, None, dry_run, tell)
    if json:
        give(registry.function("swingby_analysis.replication:as_json")(replication))
    else:
        table(*replication.table())
    if replication.run is not None:
        tell(str(replication.run))
        if replication.run.failed or replication.run.missing:
            raise typer.Exit(CELLS_FAILED)
