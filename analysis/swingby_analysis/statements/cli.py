"""The verbs `claims` and `findings` of the command."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, PAPERS, DataFolder, panel, say, tell
from swingby.cli.options import Local
from swingby.errors import SwingbyError
from swingby.units import counted, duration

NOT_ALL = 1

Experiment = Annotated[
    str | None, typer.Argument(metavar="[EXPERIMENT]", help="Only what is said of this experiment.", show_default=False)
]
Run = Annotated[bool, typer.Option("--run/--no-run", help="Train what is missing first, or only read.")]


@panel(PAPERS)
def claims(
    experiment: Experiment = None,
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="Where the folder `claims` with page and Markdown goes.")] = Path("out"),
    quick: Annotated[
        bool, typer.Option("--quick", help="The same sweeps with a few seeds each (not those that take hours).")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="So many seeds in every sweep it trains, instead of their own.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="A file for the table as Markdown, besides the one beside the page.")
    ] = None,
    run: Run = True,
    local: Local = False,
    only: Annotated[list[str] | None, typer.Option(metavar="SLUG", help="Only this claim; repeatable.")] = None,
) -> None:
    """Judges each claim of a paper over many seeds: verdicts, intervals, whose conventions; prints the page's path.

    Trains the sweeps that it needs and does not find, keeps the result as the table `claims`, and writes one HTML page
    that works offline, with every query and its result, and a Markdown table beside it. Sweeps that take hours are
    never trained by it: they are judged as they were run, else by recorded results, which the page says.
    Exit code 0: every claim has a verdict, but for those that lack sweeps of hours; 1: some lack another finished
    sweep, and the page says which; 2: bad input.

    Example:

        swingby claims --quick --local --only fig-2a-order
    """
    from swingby_analysis.statements.claims import write_claims
    from swingby_analysis.train import QUICK_SEEDS

    if quick and seeds is not None:
        raise SwingbyError("--quick and --seeds exclude each other: --quick is a number of seeds")
    count = QUICK_SEEDS if quick else seeds
    began = time.perf_counter()
    options = [
        *([experiment] if experiment else []), *(["--quick"] if quick else []), *([f"--seeds {seeds}"] if seeds else [])
    ]  # fmt: skip
    written = write_claims(
        data,
        out,
        experiment=experiment,
        overrides=() if count is None else (f"seeds.count={count}",),
        run=(["--local"] if local else []) if run else None,
        only=only or (),
        markdown_file=markdown,
        command=" ".join(["swingby claims", *options]),
        say=tell,
    )
    costs = f"{counted(written.claims, 'claim')} took {duration(time.perf_counter() - began)}"
    tell(f"{costs}, {duration(written.training)} of it training" if written.training else costs)
    say(str(written.page))
    if written.waiting:
        names = ", ".join(written.hours)
        tell(
            f"{written.waiting} claims have no verdict yet: they are about sweeps that take hours and are not trained "
            f"here ({names}); swingby run trains one"
        )
    if written.missing:
        raise typer.Exit(NOT_ALL)


@panel(PAPERS)
def findings(
    experiment: Experiment = None,
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="Where the folder `findings` with page, figures and Markdown goes.")] = Path(
        "out"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="The same diagrams with a few seeds each.")] = False,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Train nothing: bring in the recorded results that are shipped.")
    ] = False,
    run: Run = True,
    local: Local = False,
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
    from swingby_analysis.statements.findings import write_findings
    from swingby_analysis.train import QUICK_SEEDS

    if recorded and quick:
        raise SwingbyError("--recorded and --quick exclude each other: the recorded results have all seeds")
    began = time.perf_counter()
    options = [name for name, chosen in (("--quick", quick), ("--recorded", recorded), ("--no-run", not run)) if chosen]
    written = write_findings(
        data,
        out,
        experiment=experiment,
        overrides=(f"seeds.count={QUICK_SEEDS}",) if quick else (),
        run=(["--local"] if local else []) if run and not recorded else None,
        recorded=recorded,
        only=only or (),
        vector=pictures,
        markdown_file=markdown,
        command=" ".join(["swingby findings", *([experiment] if experiment else []), *options]),
        say=tell,
    )
    tell(f"{written.diagrams} diagrams took {duration(time.perf_counter() - began)}")
    say(str(written.page))
    if written.missing:
        raise typer.Exit(NOT_ALL)
