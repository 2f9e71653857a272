"""The verbs of recorded results: pack, unpack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swingby import plugins
from swingby.cli.console import DEFAULT_DATA, DataFolder, say
from swingby.errors import SwingbyError
from swingby.run.progress import size


def pack(
    sweeps: Annotated[list[str], typer.Argument(help="Finished sweeps, by name or id.", show_default=False)],
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="Where the files go, one a sweep.")] = Path("recorded"),
    digits: Annotated[int, typer.Option(min=1, max=15, help="Significant digits of results that are floats.")] = 3,
    curves: Annotated[int, typer.Option(min=0, help="Cells that keep their curves, spread over the sweep.")] = 200,
    points: Annotated[int, typer.Option(min=2, help="Recorded points that such a curve keeps.")] = 40,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A scalar, or detector.outcome, to leave out; repeatable."),
    ] = None,
) -> None:
    """Records what sweeps came to in files small enough to ship: outcomes, rounded scalars, a few thin curves.

    `swingby unpack` brings them into a data folder, marked as recorded. Parameters and seeds are kept whole.

    Example:

        swingby pack transient-memorization --out recorded --without seconds
    """
    from swingby.recorded import pack

    for sweep in sweeps:
        done = pack(data, sweep, out, digits=digits, curves=curves, points=points, without=without or ())
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

    What is trained there already stays. A recorded cell has no full curve: a run of its sweep trains it again.

    Example:

        swingby unpack diagram-rate-depth --data data
    """
    from swingby.recorded import shipped, unpack

    known = {path.stem: path for path in shipped().values()}
    for source in sources or sorted(known):
        path = Path(source) if source.endswith(".parquet") else known.get(source)
        if path is None:
            raise SwingbyError(f"no recorded results of {source!r} are shipped; {plugins.nearest(source, list(known))}")
        say(str(unpack(data, path)))
