"""The verbs that analysis adds to the command: report, figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, Overrides, say, tell
from swingby.errors import SwingbyError


def report(
    sweep: Annotated[
        str, typer.Argument(help="A sweep's name, its id (or the first digits), or a sweep file.", show_default=False)
    ],
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="Where the folder with the report goes.")] = Path("out"),
    png: Annotated[bool, typer.Option("--png/--no-png", help="Each figure as PNG.")] = True,
    svg: Annotated[bool, typer.Option("--svg/--no-svg", help="Each figure as SVG.")] = True,
    pdf: Annotated[bool, typer.Option("--pdf/--no-pdf", help="Each figure as PDF.")] = True,
    plane: Annotated[str, typer.Option(help="The two concepts (from 1) that trajectories are drawn over.")] = "1,2",
) -> None:
    """Draws a sweep: one HTML page that works offline, and every figure beside it as PNG, SVG and PDF; prints the path.

    Works on unfinished sweeps too: the page says what is missing. Where a drawing fails it says so and shows the rest.
    A sweep that was never run in the data folder, but whose results are shipped with all their curves, is unpacked
    there first, and the page says that these are recorded.

    Example:

        swingby report transient-memorization --out out
    """
    from swingby.archive import bring
    from swingby_analysis.report import write_report

    bring(data, sweep, tell)
    wanted = [kind for kind, asked in (("png", png), ("svg", svg), ("pdf", pdf)) if asked]
    written = write_report(sweep, data, out, wanted, _plane(plane), tell=tell)
    for warning in (*written.remarks, *written.faults):
        tell(f"warning: {warning}")
    say(str(written.page))


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
    from swingby_analysis.report import KINDS
    from swingby_analysis.train import QUICK_SEEDS

    laid = [*([f"seeds.count={QUICK_SEEDS}"] if quick else []), *(overrides or ())]
    options = ["--local"] if local else []
    kinds = KINDS if pictures else ()
    page = write_gallery(
        figure_names(names or ()), data, out, overrides=laid, run=options if run else None, kinds=kinds, say=tell
    )
    say(str(page))


def _plane(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"\s*(\d{1,3})\s*,\s*(\d{1,3})\s*", text)
    if match is None:
        raise SwingbyError(f"--plane {text!r} is no pair of concepts; write two numbers from 1 on, such as 1,2")
    return int(match[1]), int(match[2])
