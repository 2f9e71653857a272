"""The verb `figures`: every figure of the paper on the identity-mapping task, redrawn from its own sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, Overrides, say, tell

TITLE = "The figures of the swing-by paper on the identity-mapping task"
LEAD = (
    "Each redrawn from its own sweep, over many seeds, under the conventions of the paper's text and under those of "
    "the code behind its figures."
)


def figures(
    names: Annotated[
        list[str] | None, typer.Argument(help="Figures such as 2a or figure-7; all, without.", show_default=False)
    ] = None,
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="Where the page and the folders with the reports go.")] = Path("out"),
    quick: Annotated[bool, typer.Option("--quick", help="A few seeds of each: what is trained counts later.")] = False,
    overrides: Overrides = None,
    run: Annotated[bool, typer.Option("--run/--no-run", help="Train what is missing, or draw what is there.")] = True,
    local: Annotated[bool, typer.Option("--local", help="Train in a plain for-loop instead of Ray.")] = False,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Each figure as PNG, SVG and PDF, ready for a paper.")
    ] = True,
) -> None:
    """Redraws the figures of the swing-by paper: trains their sweeps, writes each one's report, and a page with all.

    Every figure is a sweep of its own, over many seeds and under both presets; `swingby run figure-2a` and
    `swingby report figure-2a` are the same for a single one. A second call trains nothing.

    Example:

        swingby figures 2a 5 --quick
    """
    from swingby_analysis.gallery import figure_names, write_gallery
    from swingby_analysis.page.pictures import KINDS
    from swingby_analysis.train import QUICK_SEEDS

    laid = [*([f"seeds.count={QUICK_SEEDS}"] if quick else []), *(overrides or ())]
    options = ["--local"] if local else []
    kinds = KINDS if pictures else ()
    page = write_gallery(
        figure_names(names or (), "sim"),
        data,
        out,
        overrides=laid,
        run=options if run else None,
        kinds=kinds,
        title=TITLE,
        lead=LEAD,
        say=tell,
    )
    say(str(page))
