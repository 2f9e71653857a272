"""The verbs `publish` and `pages`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, LOOK, DataFolder, panel, say, sweep_names, tell


@panel(LOOK)
def publish(
    sweep: Annotated[
        str,
        typer.Argument(
            help="A finished sweep: its name, its id (or the first digits), or its file.",
            show_default=False,
            autocompletion=sweep_names,
        ),
    ],
    to: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder; one that was published before is replaced.")],
    data: DataFolder = DEFAULT_DATA,
    author: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'FAMILY, GIVEN'",
            help="An author, perhaps with an ORCID iD behind; repeatable. Default: user.name of git.",
            show_default=False,
        ),
    ] = None,
    licence: Annotated[
        str,
        typer.Option(
            help="CC-BY-4.0, CC0-1.0 or the like, or the address of its text; it has to be said.", show_default=False
        ),
    ] = "",
    title: Annotated[str, typer.Option(help="Default: that of the sweep, else its name.", show_default=False)] = "",
    date: Annotated[
        str,
        typer.Option(
            metavar="DAY", help="Day of publication. Default: when the last result was computed.", show_default=False
        ),
    ] = "",
    engine: Annotated[
        bool, typer.Option("--engine/--no-engine", help="Whether the page answers SQL by itself, for 8 MB more.")
    ] = True,
    address: Annotated[
        str, typer.Option(metavar="URL", help="Where the folder will lie, for texts that name it.", show_default=False)
    ] = "",
) -> None:
    """Publishes a finished sweep as a folder that can be cited, queried by URL, and taken in by others.

    It has the report as one page, figures, Parquet of cells and curves, the sweep, the code of the experiment, a data
    card, and descriptions in Croissant, RO-Crate and CITATION.cff. The same results give the same bytes, PDF figures
    apart. Put the folder on any web server or archive; `swingby get` takes it in elsewhere.

    Example:

        swingby publish transient-memorization --to published --author 'Lovelace, Ada' --licence CC-BY-4.0
    """
    from swingby.archive import unpack_shipped
    from swingby_analysis.publish.about import Options
    from swingby_analysis.publish.folder import publish

    unpack_shipped(data, sweep, tell)
    options = Options(title, author or (), licence, date, address)
    say(str(publish(sweep, data, to, options, engine=engine, say=tell)))


@panel(LOOK)
def pages(
    folder: Annotated[Path, typer.Argument(help="The folder of the site.", show_default=False)],
    data: DataFolder = DEFAULT_DATA,
    redraw: Annotated[bool, typer.Option("--redraw", help="Draw every report again, changed or not.")] = False,
) -> None:
    """Writes a site of all reports of a data folder: an index with search, and a page for each sweep; prints its path.

    The site works from a folder and on any web server, without a network of its own. Of several sweeps of one name the
    newest is shown. Reports that would be as they are (same results, same code) are not drawn again.

    Example:

        swingby pages site --data data
    """
    from swingby_analysis.publish.site import write_site

    say(str(write_site(folder, data, redraw, tell)))
