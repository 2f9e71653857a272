"""The verb that analysis adds to the command: report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, say, tell
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
    from swingby.archive import unpack_shipped
    from swingby_analysis.report import write_report

    unpack_shipped(data, sweep, tell)
    wanted = [kind for kind, asked in (("png", png), ("svg", svg), ("pdf", pdf)) if asked]
    written = write_report(sweep, data, out, wanted, _plane(plane), tell=tell)
    for warning in (*written.remarks, *written.faults):
        tell(f"warning: {warning}")
    say(str(written.page))


def _plane(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"\s*(\d{1,3})\s*,\s*(\d{1,3})\s*", text)
    if match is None:
        raise SwingbyError(f"--plane {text!r} is no pair of entries; write two numbers from 1 on, such as 1,2")
    return int(match[1]), int(match[2])
