"""The verb `import`: runs that were trained elsewhere become cells."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, say, tell
from swingby.errors import SwingbyError


def import_runs(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="A table (.csv, .tsv, .parquet, .json, .jsonl, .ndjson, perhaps with .gz or .zst behind), a file or "
            "folder that another tool left, or several files of one kind.",
            show_default=False,
        ),
    ],
    experiment: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The experiment, and the table with its cells. Default: after the project or study, else after the "
            "file or folder.",
            show_default=False,
        ),
    ] = None,
    data: DataFolder = DEFAULT_DATA,
    params: Annotated[
        str,
        typer.Option(
            metavar="A,B",
            help="The columns that are parameters, perhaps with a type: rate:float,width. Default: those that an "
            "export of a known tool marks.",
            show_default=False,
        ),
    ] = "",
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the seed. Default: the column `seed`, else runs of equal parameters are numbered "
            "from 0 on in the order of the file.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the step: a row is a step of a run. Without it a row is a run, and lists are curves.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --step: the column that tells runs apart that no seed tells apart.",
            show_default=False,
        ),
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column that says how a run ended: ok, finished, failed, crashed, diverged, ... Default: a column "
            "`status` or `state` that says so.",
            show_default=False,
        ),
    ] = None,
    from_name: Annotated[
        str | None,
        typer.Option(
            metavar="TEMPLATE",
            help="Settings in the names of runs or files: 'run-lr{lr}_s{seed}'; {_} and * stand for any text.",
            show_default=False,
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Of several studies, experiments or projects in one store, this.", show_default=False
        ),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="K,N",
            help="Of a table of counts: the columns that say how many of how many runs of a row are a yes.",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[
        str, typer.Option(metavar="A,B", help="The only results that are wanted. Default: all.", show_default=False)
    ] = "",
    ignore: Annotated[str, typer.Option(metavar="A,B", help="Columns that are left out.", show_default=False)] = "",
    outcome: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[: SQL]",
            help="What maps draw: a result, or an expression over one row, such as 'learned: loss[-1] < 0.1'; "
            "repeatable, and the first is drawn.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="SWEEP", help="The name of the sweep. Default: the experiment's.", show_default=False),
    ] = None,
    seed_mode: Annotated[
        str | None,
        typer.Option(
            metavar="common|independent",
            help="Whether runs of one seed share their random draws at all points. Default: independent.",
            show_default=False,
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take back cells that the file has with other values than before.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would become of the file; write nothing.")
    ] = False,
) -> None:
    """Imports runs that were trained elsewhere: they become cells, marked as imported, of an experiment without code.

    `report`, `sql`, `outcome`, `diff` and all other verbs that read work on them; nothing of them can be trained. What
    W&B, MLflow, TensorBoard, Optuna, Ray Tune, Hydra and Lightning leave on a disk is recognised by its content, and so
    are tables that they and `swingby export` write; none of them has to be installed. States such as `crashed` and
    `PRUNED` become failed cells. A run with a loss that is not finite has diverged.

    What is printed names the parameters, the column of the seeds, what differs among runs and is no axis, and what was
    left out and why. Where the outcome is a yes or no over a grid, ten cells that are worth training next come last.

    A second import of a file adds nothing; one of a file that has grown adds what is new. A cell whose values differ
    from those imported before is an error that names it, unless `--replace` takes the earlier ones back.

    Example:

        swingby import runs.csv --experiment theirs --params rate,width --step step
    """
    from swingby.imports.importing import ImportRequest
    from swingby.imports.importing import import_runs as import_file
    from swingby.imports.layout import ColumnRoles
    from swingby.imports.next_cells import next_cells
    from swingby.imports.tools.run import Hints

    if seed_mode not in (None, "common", "independent"):
        raise SwingbyError(f"--seed-mode {seed_mode!r} is none; allowed: common, independent")
    pair = _listed(counts or "")
    if counts is not None and len(pair) != 2:
        raise SwingbyError(f"--counts {counts!r} is no pair of columns; write --counts k,n")
    roles = ColumnRoles(_listed(params), seed, step, run, status, _listed(columns), _listed(ignore))
    mode, hints = cast("Any", seed_mode), Hints(from_name, study, cast("Any", pair or None))
    imported = import_file(
        data,
        paths,
        ImportRequest(experiment or "", roles, name, tuple(outcome or ()), mode, replace, hints),
        dry_run=dry_run,
    )
    for line in imported.lines():
        say(line) if dry_run else tell(line)
    if dry_run:
        for line in imported.plans():
            say(line)
        return
    say(str(imported))
    for line in next_cells(data, imported.sweep.sweep_id):
        say(line)
    tell(f"`swingby report {imported.sweep.name}` draws it, and says how it came")


def _listed(text: str) -> tuple[str, ...]:
    """The names in a list with commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
