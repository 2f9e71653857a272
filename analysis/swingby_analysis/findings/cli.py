"""The verb `findings` of the command."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, err, say
from swingby.errors import SwingbyError
from swingby.units import duration

NOT_ALL = 1


def findings(
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="Where the folder `findings` with page, figures and Markdown goes.")] = Path(
        "out"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="The same diagrams with a few seeds each.")] = False,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Train nothing: bring in the recorded results that are shipped.")
    ] = False,
    run: Annotated[bool, typer.Option("--run/--no-run", help="Train what is missing first, or only read.")] = True,
    local: Annotated[bool, typer.Option("--local", help="Train in a plain for-loop instead of Ray.")] = False,
    markdown: Annotated[
        Path | None, typer.Option(help="A file for the sentences as Markdown, besides the one beside the page.")
    ] = None,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Each figure as SVG too, ready for a paper.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="DIAGRAM", help="Only this diagram, such as rate-depth; repeatable.")
    ] = None,
) -> None:
    """Says what the project's own phase diagrams show, each sentence with the query that decides it; prints the path.

    Trains the sweeps `diagram-...` that it does not find (minutes each), or, with `--recorded`, takes the results that
    are shipped and says so. The page works offline; its sentences as Markdown and every figure as PNG lie beside it.
    Exit code 0: every diagram is there; 1: some lack a finished sweep, and the page says which; 2: bad input.

    Example:

        swingby findings --recorded --out out
    """
    from swingby_analysis.findings import write_findings
    from swingby_analysis.train import QUICK_SEEDS

    if recorded and quick:
        raise SwingbyError("--recorded and --quick exclude each other: the recorded results have all seeds")
    began = time.perf_counter()
    told = [name for name, asked in (("--quick", quick), ("--recorded", recorded), ("--no-run", not run)) if asked]
    written = write_findings(
        data,
        out,
        overrides=(f"seeds.count={QUICK_SEEDS}",) if quick else (),
        run=(["--local"] if local else []) if run and not recorded else None,
        recorded=recorded,
        only=only or (),
        vector=pictures,
        markdown_file=markdown,
        command=" ".join(["swingby findings", *told]),
        say=lambda text: err.print(text, markup=False),
    )
    err.print(f"{written.diagrams} diagrams took {duration(time.perf_counter() - began)}", markup=False)
    say(str(written.page))
    if written.missing:
        raise typer.Exit(NOT_ALL)
