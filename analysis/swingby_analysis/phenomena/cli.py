"""The verb `phenomena` of the command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, PAPERS, DataFolder, panel, say, tell


@panel(PAPERS)
def phenomena(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PHENOMENON]...", help="Phenomena such as stages; all, without.", show_default=False),
    ] = None,
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="Where the folder `phenomena` with page and figures goes.")] = Path("out"),
    sweep: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only runs of this sweep; repeatable.")
    ] = None,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Bring in the shipped results of the experiments' diagrams first.")
    ] = False,
    markdown: Annotated[
        Path | None, typer.Option(help="A file for the tables as Markdown, besides the one beside the page.")
    ] = None,
) -> None:
    """Says in which experiments, and where in their parameters, runs show a phenomenon; prints the path of the page.

    A phenomenon, such as learning in stages, is an SQL expression that an experiment's package declares over its runs.
    The page counts it over all sweeps of the data folder: the points at which every run shows it, some runs, or none,
    and the axis that moves it most. Where an expression tells regimes apart, such as lazy and rich, the page begins
    with one map of all sweeps along the axes that move them. Nothing is trained.

    Example:

        swingby phenomena --recorded
    """
    from swingby_analysis.phenomena import catalogue
    from swingby_analysis.phenomena.page import write_phenomena

    chosen = catalogue.phenomena(names or ())
    page = write_phenomena(
        data,
        out,
        chosen,
        sweeps=sweep or (),
        recorded=recorded,
        markdown_file=markdown,
        say=tell,
    )
    say(str(page))
