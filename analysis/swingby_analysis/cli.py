"""The verbs that analysis adds to the command: report, extend."""

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
    plane: Annotated[str, typer.Option(help="The two entries (from 1) that paths are drawn over.")] = "1,2",
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


def extend(
    sweep: Annotated[str, typer.Argument(help="A sweep file, or the name of a packaged sweep.", show_default=False)],
    data: DataFolder = DEFAULT_DATA,
    steps: Annotated[float | None, typer.Option(help="Make every run so many times as long.", metavar="FACTOR")] = None,
    half_width: Annotated[
        float | None,
        typer.Option(help="Add seeds until half of every point's 95 % interval is at most this.", metavar="SHARE"),
    ] = None,
    outcome: Annotated[
        str | None, typer.Option(help="The outcome whose share is meant; default: the diagram's.", metavar="OUTCOME")
    ] = None,
    most: Annotated[int, typer.Option(help="Never more seeds than this.")] = 1000,
    overrides: Overrides = None,
    local: Annotated[bool, typer.Option("--local", help="Train in a plain for-loop instead of Ray.")] = False,
) -> None:
    """Trains a sweep further: every run longer, or more seeds until the shares are known well enough.

    It begins with the seeds of the sweep's last run; what is trained already counts. A longer run is another cell, and
    repeats the shorter one's steps. Seeds that are added until an interval is narrow make it a little too narrow: the
    stop depends on what was seen. `swingby report` shows the extended sweep, which has the same name.

    Example:

        swingby extend figure-13 --half-width 0.15
    """
    from swingby.sweepfile.sweep import Sweep
    from swingby_analysis.extend import extend_seeds, last_seeds, longer, with_seeds
    from swingby_analysis.train import train

    options = ["--local"] if local else []
    if (steps is None) == (half_width is None):
        raise SwingbyError("say how to extend it: --steps FACTOR for longer runs, or --half-width SHARE for more seeds")
    if steps is not None:
        laid = last_seeds(sweep, data, overrides or ())
        laid = [*laid, *longer(Sweep.load(sweep, laid), steps)]
        train([sweep], data, laid, options)
    else:
        count = extend_seeds(sweep, data, outcome, half_width or 0.0, most, overrides or (), options, tell)
        laid = with_seeds(overrides or (), count)
    say(f"extended: swingby run {sweep} {' '.join(f'--set {item}' for item in laid)}")


def _plane(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"\s*(\d{1,3})\s*,\s*(\d{1,3})\s*", text)
    if match is None:
        raise SwingbyError(f"--plane {text!r} is no pair of entries; write two numbers from 1 on, such as 1,2")
    return int(match[1]), int(match[2])
