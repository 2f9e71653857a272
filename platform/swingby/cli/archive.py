"""The verbs of recorded results: pack, unpack, get."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, say, tell
from swingby.errors import SwingbyError
from swingby.units import size


def pack(
    sweeps: Annotated[list[str], typer.Argument(help="Finished sweeps, by name or id.", show_default=False)],
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="The folder of the files, one for each sweep.")] = Path("recorded"),
    whole: Annotated[
        bool, typer.Option("--whole", help="Every cell keeps all its curves: a report can be drawn of it.")
    ] = False,
    digits: Annotated[
        int | None,
        typer.Option(
            min=1, max=15, help="Significant digits of results that are floats; default: 3, and 4 with --whole."
        ),
    ] = None,
    curves: Annotated[
        int | None, typer.Option(min=0, help="Cells that keep thin curves, spread over the sweep; default: 200.")
    ] = None,
    points: Annotated[
        int | None, typer.Option(min=2, help="Recorded points that such a curve keeps; default: 40.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A scalar or detector.outcome to leave out, or a curve with --whole; repeatable."
        ),
    ] = None,
) -> None:
    """Records the results of sweeps in files small enough to ship: outcomes, rounded scalars, a few thin curves or all.

    `swingby unpack` adds the files to a data folder, where the results are marked as recorded. Parameters and seeds are
    kept exactly; paths and the names of machines are left out.

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
            help="Files that `pack` wrote, or names of shipped ones; default: all shipped ones.", show_default=False
        ),
    ] = None,
    data: DataFolder = DEFAULT_DATA,
) -> None:
    """Adds recorded results to a data folder, so that they can be queried without training them.

    Cells that are trained there already keep their results. A run of the sweep trains the recorded cells again.
    `swingby report` draws results that were packed whole; of a sweep that was never run here, it unpacks them first.

    Example:

        swingby unpack diagram-rate-depth --data data
    """
    from swingby.archive import shipped, unpack
    from swingby.model import registry

    known = {path.stem: path for path in shipped().values()}
    for source in sources or sorted(known):
        path = Path(source) if source.endswith(".parquet") else known.get(source)
        if path is None:
            raise SwingbyError(
                f"no recorded results of {source!r} are shipped; {registry.nearest_offered(source, list(known))}"
            )
        say(str(unpack(data, path)))


def get(
    source: Annotated[
        str,
        typer.Argument(metavar="FOLDER|URL", help="What `swingby publish` wrote, or its address.", show_default=False),
    ],
    data: DataFolder = DEFAULT_DATA,
    limit: Annotated[str, typer.Option(help="The largest archive that is taken.")] = "4GB",
    memory: Annotated[str, typer.Option(help="Memory that taking it in may use.")] = "4GB",
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that taking it in may take.")] = 900.0,
) -> None:
    """Gets a sweep that others published, from a folder or an address, as recorded results of theirs.

    The files are held to the sizes and digests of the folder's manifest. No code of theirs is run, no link followed;
    what is damaged or too large is refused, and the data folder stays as it was. `sql` then reads the results, and
    `report` and `status` say whose they are. Cells that were trained here keep their results.

    Example:

        swingby get https://example.org/transient-memorization --data data
    """
    from swingby.archive.get import get
    from swingby.units import count_of_bytes

    say(str(get(source, data, limit=count_of_bytes(limit), memory=count_of_bytes(memory), seconds=timeout, say=tell)))
