"""The verbs of a sweep's life: validate, plan, run, extend, status, failures, replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, Overrides, say, sweep_names, table, tell
from swingby.cli.options import (
    CELLS_FAILED,
    Address,
    Budget,
    Code,
    ConfirmAbove,
    Deadline,
    Device,
    Local,
    Processes,
    Refine,
    SweepName,
    is_refined,
    older,
    with_budget,
)
from swingby.errors import SwingbyError
from swingby.units import duration, size

if TYPE_CHECKING:  # imported where they are used: every verb, and --help, begins with this module
    from swingby.store import Store
    from swingby.store.status import Labels, SweepStatus

MOST_SHOWN = 10
"""Cells in progress that are listed of a sweep."""
MOST_SWEEPS = 20
"""Sweeps that are listed unless all are asked for."""
STAMP = 8
"""Digits of an id that are shown."""


def validate(sweep: SweepName, overrides: Overrides = None, confirm_above: ConfirmAbove = 100_000) -> None:
    """Checks a sweep file and shows its grid, or every fault in it at once.

    An axis that no run reads is a fault, and so are points that differ in nothing that is read: they would be trained
    several times. A value of `base` that no run reads is noted.

    Example:

        swingby validate transient-memorization --set seeds.count=3
    """
    from swingby.store.tables import check_experiment
    from swingby.sweepfile.sweep import Sweep

    loaded = Sweep.load(sweep, overrides or (), confirm_above)
    check_experiment(loaded.experiment)
    say(f"{loaded.name}: {loaded.title or ''}".rstrip(": "))
    preset = loaded.preset or ("by axis" if any(loaded.presets) else "(none)")
    say(f"  experiment {loaded.experiment_name}, preset {preset}, sweep id {loaded.sweep_id}")
    for axis in loaded.axes:
        texts = [", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in value) for value in axis.values]
        if len(axis.names) > 1:
            texts = [f"({text})" for text in texts]
        shown = texts if len(texts) <= 8 else [*texts[:4], "...", texts[-1]]
        say(f"  {' + '.join(axis.names)}: {len(texts)} values: {', '.join(shown)}")
    say(f"  {len(loaded.points):,} points x {len(loaded.seeds)} seeds ({loaded.seed_mode}) = {len(loaded):,} cells")
    for sentence in (*loaded.sharing, *loaded.unread):
        say(f"  note: {sentence}")


def plan(
    sweep: SweepName,
    data: DataFolder = DEFAULT_DATA,
    overrides: Overrides = None,
    confirm_above: ConfirmAbove = 100_000,
    pilot: Annotated[
        bool,
        typer.Option("--pilot/--no-pilot", help="Train a few cells to measure the cost; they are kept as results."),
    ] = True,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Count failed cells as missing.")] = False,
    processes: Processes = 1,
    device: Device = None,
    deadline: Deadline = None,
    refine: Refine = None,
    budget: Budget = None,
) -> None:
    """Shows what a run would do: cells done and missing, batches, and a forecast measured from pilot cells.

    Cells that another command trains now are listed with its sweep and process; a run leaves them to that command.
    Of a refined sweep the first round and the budget are shown: what comes between depends on results.

    Example:

        swingby plan transient-memorization --set seeds.count=3
    """
    from swingby.data.records import Records
    from swingby.imports.notice import told_if_imported
    from swingby.run.forecast import summary
    from swingby.run.options import RunOptions
    from swingby.run.preview import plan as plan_sweep
    from swingby.run.progress import progress_for
    from swingby.sweepfile.sweep import Sweep

    with told_if_imported(data, sweep):
        loaded = Sweep.load(sweep, with_budget(overrides, budget), confirm_above)
    options = RunOptions(
        retry_failed=retry_failed,
        pilot=pilot,
        processes=processes,
        device=cast("Any", device),
        deadline=deadline,
        refine=is_refined(loaded, refine, budget),
    )
    say(summary(plan_sweep(loaded, Records.open(data), options, progress_for())))


def run(
    sweeps: Annotated[
        list[str],
        typer.Argument(
            help="Sweep files, or names of packaged sweeps.", show_default=False, autocompletion=sweep_names
        ),
    ],
    data: DataFolder = DEFAULT_DATA,
    overrides: Overrides = None,
    confirm_above: ConfirmAbove = 100_000,
    local: Annotated[bool, typer.Option("--local", help="A plain for-loop in this process instead of Ray.")] = False,
    ray: Annotated[
        bool,
        typer.Option("--ray", help="Use Ray even where the run would end before Ray has started."),
    ] = False,
    address: Address = None,
    code: Code = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Train failed cells again.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what a run would do; train nothing, write no plan.")
    ] = False,
    pilot: Annotated[bool, typer.Option("--pilot/--no-pilot", help="Measure the cost on a few cells first.")] = True,
    processes: Processes = 1,
    device: Device = None,
    deadline: Deadline = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Count results that another version of the experiment's code made.")
    ] = False,
    retrain: Annotated[
        bool, typer.Option("--retrain", help="Take such results back and train these cells again.")
    ] = False,
    refine: Refine = None,
    budget: Budget = None,
    wait_rounds: Annotated[
        bool,
        typer.Option("--wait-rounds", help="Of a refined sweep, choose cells only once all earlier ones are trained."),
    ] = False,
) -> None:
    """Trains every cell of the sweeps that has no result yet; a second run of a finished sweep does no work.

    Several sweeps share one start of Ray, and a cell that is in several sweeps is trained once. What is forecast to be
    over before Ray would be up is trained by worker processes of this command, unless --ray asks for Ray. A cell that
    another command is training is waited for; if that command ends without a result of it, this run trains the cell.

    Ctrl-C once: running batches finish, the rest is left for the next run. Twice: stop now; nothing finished is lost.
    While the cost is measured on a few cells, the first Ctrl-C ends those in progress.

    With --refine cells are trained in rounds, each where the results so far leave it open on which side of a line a
    point lies, until that is known well enough or the budget is spent. All cells count later: a larger --budget, more
    seeds, or --no-refine for the whole grid go on from there.

    A batch whose process dies, or is past its deadline, is tried again, then in halves until the cells at fault are
    found: these fail with the reason, and all others get their results. With --local a deadline interrupts only Python
    code, neither compiled code that never returns nor a frozen process; and a cell that kills its process ends the run.

    Exit code 0: every cell has a result; 1: some failed or are missing; 2: bad input.

    Example:

        swingby run transient-memorization --set seeds.count=3 --local
    """
    from swingby.data.records import Records
    from swingby.imports.notice import told_if_imported
    from swingby.run import driver
    from swingby.run.forecast import summary, unmeasured_lines
    from swingby.run.options import RunOptions
    from swingby.run.preview import plan as plan_sweep
    from swingby.run.resources import check_request
    from swingby.sweepfile.sweep import Sweep

    loaded = list[Sweep]()
    for sweep in sweeps:
        with told_if_imported(data, sweep):
            loaded.append(Sweep.load(sweep, with_budget(overrides, budget), confirm_above))
    if local and ray:
        raise SwingbyError("--local and --ray exclude each other: a for-loop in this process needs no Ray")
    options = RunOptions(
        local=local,
        ray=ray,
        address=address,
        code=cast("Any", code),
        retry_failed=retry_failed,
        pilot=pilot,
        processes=processes,
        device=cast("Any", device),
        deadline=deadline,
        older=older(keep, retrain),
        wait_rounds=wait_rounds,
    )
    refined = [is_refined(one, refine, budget) for one in loaded]
    for one, is_one in zip(loaded, refined, strict=True):
        if not is_one and len(one) > confirm_above:
            raise SwingbyError(
                f"the whole grid of {one.name!r} has {len(one):,} cells; allowed: {confirm_above:,}, or more with "
                f"--confirm-above {len(one)}"
            )
    if dry_run:
        for one, is_one in zip(loaded, refined, strict=True):
            check_request(one, options)
            if (data / "swingby.json").exists():
                dry = replace(options, pilot=False, refine=is_one)
                say(summary(plan_sweep(one, Records.open(data, create=False), dry)))
            else:
                say(f"{one.name}: {len(one):,} cells, none done ({data} does not exist yet)")
                say("\n".join(unmeasured_lines(one, len(one), driver.worker_count(options) or 1)))
        return
    if retrain:
        from swingby.maintenance.retract import retract_older

        for one in loaded:
            if (taken := retract_older(data, one)) is not None:
                say(f"{one.name}: the results of {taken.cells:,} cells were taken back ({taken.record})")
    whole = [one for one, is_one in zip(loaded, refined, strict=True) if not is_one]
    results = driver.run(whole, data, options) if whole else []
    for one, is_one in zip(loaded, refined, strict=True):
        if is_one and not any(result.drained for result in results):
            results += driver.run([one], data, replace(options, refine=True))
    for result in results:
        say(str(result))
    if any(result.failed or result.missing for result in results):
        raise typer.Exit(CELLS_FAILED)


def extend(
    sweep: SweepName,
    data: DataFolder = DEFAULT_DATA,
    steps: Annotated[float | None, typer.Option(help="Make every run FACTOR times as long.", metavar="FACTOR")] = None,
    half_width: Annotated[
        float | None,
        typer.Option(
            help="Add seeds until half of the 95 % interval of every point's share is at most this.", metavar="SHARE"
        ),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            help="The outcome whose share is estimated; default: that of the sweep's diagram.", metavar="OUTCOME"
        ),
    ] = None,
    most: Annotated[int, typer.Option(help="The most seeds of a point.")] = 1000,
    overrides: Overrides = None,
    local: Local = False,
) -> None:
    """Extends a sweep that has run: longer runs, or more seeds until the share of an outcome is known well enough.

    The first round has the seeds of the sweep's last run; cells with a result are not trained again. A longer run is
    another cell, and repeats the steps of the shorter one. Intervals of seeds that were added until they are narrow are
    a little too narrow: where to stop depends on the results. `swingby report` shows the extended sweep by its name.

    Example:

        swingby extend transient-memorization --half-width 0.15
    """
    from swingby.imports.notice import told_if_imported
    from swingby.run import driver
    from swingby.run.extend import extend_seeds, last_seeds, longer, with_seeds
    from swingby.run.options import RunOptions
    from swingby.sweepfile.sweep import Sweep

    options = RunOptions(local=local)
    if (steps is None) == (half_width is None):
        raise SwingbyError("say how to extend it: --steps FACTOR for longer runs, or --half-width SHARE for more seeds")
    with told_if_imported(data, sweep):
        Sweep.load(sweep, overrides or ())
    if steps is not None:
        extended = last_seeds(sweep, data, overrides or ())
        extended = [*extended, *longer(Sweep.load(sweep, extended), steps)]
        tell(str(driver.run([Sweep.load(sweep, extended)], data, options)[0]))
    else:
        count = extend_seeds(sweep, data, outcome, half_width or 0.0, most, overrides or (), options, tell)
        extended = with_seeds(overrides or (), count)
    say(f"extended: swingby run {sweep} {' '.join(f'--set {item}' for item in extended)}")


def status(
    sweep: Annotated[
        str | None,
        typer.Argument(help="A sweep's name or id; without it, all.", show_default=False, autocompletion=sweep_names),
    ] = None,
    data: DataFolder = DEFAULT_DATA,
    tag: Annotated[str | None, typer.Option(help="Only sweeps with this tag in their file.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List all sweeps, not only the newest ones.")] = False,
) -> None:
    """Shows how many cells of each sweep have a result, failed or are missing, who runs it, and cells in progress.

    Of one sweep also its failures by their cause, what is known of a refinement, tags and notes as its last run had
    them, and where results come from that were not trained here.

    Example:

        swingby status --data data
    """
    from swingby.data.records import Records
    from swingby.model.registry import nearest
    from swingby.store import Store
    from swingby.store.status import aside_lines, in_progress, labels, shards_to_ingest, sweep_status

    records = Records.open(data, create=False)
    with Store.held_open(), Store.open(data) as store:  # opened once for all that follows
        rows, aside = sweep_status(data, sweep), aside_lines(store)
        if not rows:
            say(f"no sweep in {data} yet; `swingby run transient-memorization` makes one")
            for line in aside:
                say(line)
            return
        labels_of = labels(store)
        if tag is not None:
            known = sorted({each for row in rows for each in labels_of[row.sweep_id].tags})
            rows = [row for row in rows if tag in labels_of[row.sweep_id].tags]
            if not rows:
                raise SwingbyError(f"no sweep of {data} has the tag {tag!r}; {nearest(tag, known)}")
        shown = rows if every else rows[:MOST_SWEEPS]
        _table_of(shown)
        if len(rows) > len(shown):
            say(f"and {len(rows) - len(shown):,} more: --all")
        if len(rows) == 1:
            _details(store, rows[0], labels_of[rows[0].sweep_id], sweep or rows[0].name)
        for row in rows:
            if row.holder is not None:
                say(f"running now: {row.name} by {row.holder}")
            if row.holder is None and len(rows) > 1:
                continue
            cells = in_progress(records, [(row.experiment, row.sweep_id)])
            for one in cells[:MOST_SHOWN]:
                say(f"{'running now' if row.holder else 'in progress'}: {one}")
            if len(cells) > MOST_SHOWN:
                say(f"and {len(cells) - MOST_SHOWN} cells more")
        for line in aside:
            say(line)
        if waiting := shards_to_ingest(store, records):
            say(f"shards not in the store yet: {waiting}; a running driver ingests them by itself, or `swingby ingest`")
        if len(rows) > 1:
            tell("swingby status NAME: failures, notes and cells in progress of one")


def _table_of(rows: Sequence[SweepStatus]) -> None:
    """A line a sweep; sweeps of one name also have the time of their newest plans."""
    repeated = len({row.name for row in rows}) < len(rows)
    columns = ["sweep", "sweep id", *(["planned"] if repeated else []), "cells", "ok", "diverged", "failed", "missing"]
    lines = [
        [row.name, row.sweep_id[:STAMP], *([f"{row.created:%m-%d %H:%M}"] if repeated else []),
         row.cells, row.ok, row.diverged, row.failed, row.missing]
        for row in rows
    ]  # fmt: skip
    table(columns, lines, cut=True)


def _details(store: Store, row: SweepStatus, labels: Labels, name: str) -> None:
    """What a line of the table has no room for; `name` is what the user calls the sweep."""
    from swingby.imports.notice import imported_results
    from swingby.store.failures import failure_lines, failures_of
    from swingby.store.recorded import recorded_results

    say(f"{row.name} ({row.sweep_id}), planned {row.created:%Y-%m-%d %H:%M} UTC")
    if labels.tags:
        say(f"tags: {', '.join(labels.tags)}")
    if labels.notes:
        say(" ".join(labels.notes.split()))
    if row.refined is not None:
        for line in (row.refined.spent, *row.refined.lines()):
            say(line)
    imported = imported_results(store, row.sweep_id)
    if row.failed:
        say(f"{row.failed:,} FAILED:")
        for line in failure_lines(failures_of(store, row.experiment, row.sweep_id), name, imported is not None):
            say(line)
    for known in (recorded_results(store, row.sweep_id), imported):
        if known is not None:
            say(str(known))


def failures(
    sweep: Annotated[
        str, typer.Argument(help="A sweep's name, id or file.", show_default=False, autocompletion=sweep_names)
    ],
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Lists why cells of a sweep failed: each reason with how many cells, their parameters, and one whole message.

    Messages that differ in numbers only are one reason.

    Example:

        swingby failures my-first
    """
    from swingby.store import Store
    from swingby.store.failures import failures_of
    from swingby.store.lookup import find_sweep

    with Store.open(data) as store:
        known = find_sweep(store, sweep)
        grouped = failures_of(store, known.experiment, known.sweep_id)
    if not grouped:
        say(f"no cell of {known.name} failed")
        return
    for one in grouped:
        say(str(one))
        say(f"  such as cell {one.cell_id}:")
        for line in one.message.splitlines():
            say(f"    {line}")


def replay(
    cell: Annotated[str, typer.Argument(help="A cell's id, or its first digits.", show_default=False)],
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[
        Path | None, typer.Option(help="The file of the full recording; default: replay-CELL.parquet")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda")] = "cpu",
) -> None:
    """Trains one cell again, recorded at every step with its weights, and compares it with the store.

    Exit code 1 if the stored curve and the new one differ by more than the experiment's tolerance, which covers
    rounding and, for a flow, the error of its adaptive steps.

    Example:

        swingby replay 3f2a --out cell.parquet
    """
    from swingby.run.replay import replay_cell

    result = replay_cell(data, cell, out, device)
    file = f"{result.path} ({size(result.path.stat().st_size)})"
    say(f"cell {result.cell_id}: {result.steps:,} steps recorded in {duration(result.seconds)} -> {file}")
    rows = [
        (d.column, d.points, f"{d.largest:.3g}", f"{d.relative:.3g}", "equal" if d.equal else "DIFFERS")
        for d in result.differences
    ]
    table(("curve", "points compared", "largest difference", "relative", ""), rows)
    if not result.equal:
        raise typer.Exit(CELLS_FAILED)
