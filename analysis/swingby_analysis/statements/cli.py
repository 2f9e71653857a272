"""The verb `claims` of the command."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, err, say
from swingby.errors import SwingbyError
from swingby.units import counted, duration

NOT_ALL = 1


def claims(
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="Where the folder `claims` with page and Markdown goes.")] = Path("out"),
    quick: Annotated[
        bool, typer.Option("--quick", help="The same sweeps with a few seeds each (not those on diffusion).")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="So many seeds in every sweep it trains, instead of their own.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="A file for the table as Markdown, besides the one beside the page.")
    ] = None,
    run: Annotated[bool, typer.Option("--run/--no-run", help="Train what is missing first, or only read.")] = True,
    local: Annotated[bool, typer.Option("--local", help="Train in a plain for-loop instead of Ray.")] = False,
    only: Annotated[list[str] | None, typer.Option(metavar="SLUG", help="Only this claim; repeatable.")] = None,
) -> None:
    """Judges the paper's claims: in how many seeds each holds, under whose conventions; prints the page's path.

    Trains the sweeps that it needs and does not find, keeps the result as the table `claims`, and writes one HTML page
    that works offline, with every query and its result, and a Markdown table beside it. Sweeps on diffusion take hours
    and are never trained by it: they are judged as they were run, else by recorded results, which the page says.
    Exit code 0: every claim has a verdict, but for those that lack sweeps of hours; 1: some lack another finished
    sweep, and the page says which; 2: bad input.

    Example:

        swingby claims --quick --local --only fig-2a-order
    """
    from swingby_analysis.claims import write_claims
    from swingby_analysis.train import QUICK_SEEDS

    if quick and seeds is not None:
        raise SwingbyError("--quick and --seeds exclude each other: --quick is a number of seeds")
    count = QUICK_SEEDS if quick else seeds
    began = time.perf_counter()
    written = write_claims(
        data,
        out,
        overrides=() if count is None else (f"seeds.count={count}",),
        run=(["--local"] if local else []) if run else None,
        only=only or (),
        markdown_file=markdown,
        command=" ".join(["swingby claims", *(["--quick"] if quick else []), *([f"--seeds {seeds}"] if seeds else [])]),
        say=lambda text: err.print(text, markup=False),
    )
    took = f"{counted(written.claims, 'claim')} took {duration(time.perf_counter() - began)}"
    err.print(f"{took}, {duration(written.training)} of it training" if written.training else took, markup=False)
    say(str(written.page))
    if written.waiting:
        names = ", ".join(written.hours)
        err.print(
            f"{written.waiting} claims have no verdict yet: they are about sweeps that take hours and are not trained "
            f"here ({names}); swingby run trains one",
            markup=False,
        )
    if written.missing:
        raise typer.Exit(NOT_ALL)
