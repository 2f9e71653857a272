"""The verbs of recorded results: pack, unpack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, say
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.units import size


def pack(
    sweeps: Annotated[list[str], typer.Argument(help="Finished sweeps, by name or id.", show_default=False)],
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="Where the files go, one a sweep.")] = Path("recorded"),
    whole: Annotated[
        bool, typer.Option("--whole", help="Every cell keeps all its curves: a report can be drawn of it.")
    ] = False,
    digits: Annotated[
        int | None,
        typer.Option(min=1, max=15, help="Significant digits of results that are floats; 3, and 4 of a whole file."),
    ] = None,
    curves: Annotated[
        int | None, typer.Option(min=0, help="Cells that keep thin curves, spread over the sweep; 200, without.")
    ] = None,
    points: Annotated[
        int | None, typer.Option(min=2, help="Recorded points that such a curve keeps; 40, without.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A scalar, detector.outcome, or curve of a whole file, to leave out; repeatable."
        ),
    ] = None,
) -> None:
    """Records what sweeps came to in files small enough to ship: outcomes, rounded scalars, a few thin curves or all.

    `swingby unpack` brings them into a data folder, marked as recorded. Parameters and seeds are kept whole; paths and
    the names of machines are not.

    Example:

        swingby pack transient-memorization --out recorded --without seconds
    """
    from swingby.archive.pack import CURVES, POINTS, pack

    if whole and (curves is not None or points is not None):
        raise SwingbyError("--whole keeps every curve whole; --curves and --points are of files that do not")
    kept = CURVES if curves is None else curves
    for sweep in sweeps:
        done = pack(
            data,
            sweep,
            out,
            whole=whole,
            digits=digits,
            curves=kept,
            points=points or POINTS,
            without=without or (),
        )
        say(f"{done.path}: {done.cells:,} results, {done.curves:,} with curves, {size(done.size)}")


def unpack(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files that `pack` wrote, or names of shipped ones; all shipped, without.", show_default=False
        ),
    ] = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Brings recorded results into a data folder, so that they can be read and asked without training them.

    What is trained there already stays. A run of the sweep trains the recorded cells again. `swingby report` draws
    those that were packed whole; of a sweep that was never run it unpacks them by itself.

    Example:

        swingby unpack diagram-rate-depth --data data
    """
    from swingby.archive import shipped, unpack

    known = {path.stem: path for path in shipped().values()}
    for source in sources or sorted(known):
        path = Path(source) if source.endswith(".parquet") else known.get(source)
        if path is None:
            raise SwingbyError(
                f"no recorded results of {source!r} are shipped; {registry.nearest(source, list(known))}"
            )
        say(str(unpack(data, path)))
